"""The policy gate over HTTP: every action, rule and answer, in both spellings of the clouds, with the real engine."""
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.gate import ALL, DEPLOYS, DESTROYS, MACHINE, ROUTES

HELD = """package admission.held
import rego.v1
needs_approval contains "large machines need a second pair of eyes" if input.request.name == "web"
"""


@pytest.fixture
def gate(instance, root):
    """An instance whose gate is on for all ten actions, and its admin."""
    instance.set(admission_control_enabled="true", admission_gated_actions=ALL)
    return instance, root


def call(http, method, path):
    return http.request(method, path, body=MACHINE if method == "POST" else None)


def audited(http):
    return [entry["action"] for entry in http.get("/api/audit?after=0&limit=500").json["entries"] if ":" in entry["action"]]


def jobs(http):
    return http.get("/api/jobs").json["total"]


def add_rule(instance, name, text):
    (instance.folder / "policy" / f"{name}.rego").write_text(text)


def test_everything_is_untouched_while_the_gate_is_off(make_instance):
    one = make_instance(env={"POLICY_BINARY": "/nonexistent/engine"})
    root = one.login("root")
    for method, _, path in ROUTES:
        answer = call(root, method, path)
        assert answer.status in (200, 202), (path, answer)
        assert answer.json["status"] == "pending"
    assert audited(root) == []
    assert jobs(root) == len(ROUTES)


def test_an_action_that_is_not_listed_is_untouched_without_an_engine(make_instance):
    one = make_instance(env={"POLICY_BINARY": "/nonexistent/engine"})
    one.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy")
    root = one.login("root")
    for method, action, path in ROUTES:
        answer = call(root, method, path)
        assert answer.status == (403 if action == "cloud1:vm:deploy" else 202 if "k8s" in path else 200), (path, answer)


def test_a_region_that_is_not_listed_is_refused_on_every_deploy_and_on_no_teardown(gate):
    instance, root = gate
    instance.set(admission_allowed_regions='["us-east-1", "eu-west-1"]')
    denied = []
    for method, action, path in ROUTES:
        answer = call(root, method, path)
        if method == "DELETE":
            assert answer.status == 200, (path, answer)
            continue
        assert answer.status == 403, (path, answer)
        detail = answer.json["detail"]
        assert set(answer.json) == {"detail"} and set(detail) == {"error", "reasons"}
        assert detail["error"] == "policy"
        assert len(detail["reasons"]) == 1
        assert "mars-1" in detail["reasons"][0] and "us-east-1" in detail["reasons"][0] and "eu-west-1" in detail["reasons"][0]
        denied.append(f"{action}:denied")
    assert audited(root) == denied
    assert jobs(root) == 2 * len(DESTROYS)
    assert root.get("/api/audit/verify").json["ok"]


def test_sizes_and_frozen_days(gate):
    instance, root = gate
    instance.set(admission_denied_instance_types="T3.LARGE, p4d.24xlarge")
    assert call(root, "POST", "/api/cloud1/deploy").json["detail"]["reasons"] == ['instance type "t3.large" is blocked by policy']
    assert call(root, "DELETE", "/api/cloud1/instances/i-1").status == 200
    instance.set(admission_prod_window="mon,tue,wed,thu,fri,sat,sun")
    assert len(call(root, "POST", "/api/cloud1/deploy").json["detail"]["reasons"]) == 2
    frozen = call(root, "DELETE", "/api/cloud1/instances/i-1")
    assert frozen.status == 403 and "frozen" in frozen.json["detail"]["reasons"][0]


@pytest.mark.parametrize("setting", ["admission_allowed_regions", "admission_gated_actions", "admission_prod_window"])
def test_a_setting_that_cannot_be_parsed_closes_the_gate(gate, setting):
    instance, root = gate
    told = root.post("/api/setup/import", {"config": {setting: "[us-east-1", "cloud1_region": "us-east-2"}})
    assert told.status == 200 and list(told.json["warnings"]) == [setting] and told.json["refused"] == {}, told
    answer = call(root, "POST", "/api/cloud1/deploy")
    assert answer.status == 403 and answer.json["detail"]["error"] == "policy", answer
    assert audited(root) == ["cloud1:vm:deploy:denied"]


@pytest.mark.parametrize("key, value, says", [
    ("admission_allowed_regions", "[us-east-1", "array of strings"),
    ("admission_denied_instance_types", '{"a": 1}', "array of strings"),
    ("admission_gated_actions", "cloud1:vm:deploy, cloud1:vm:deplyo", "k8s:provision"),
    ("admission_prod_window", "sat, caturday", "mon, tue, wed"),
    ("admission_control_enabled", "perhaps", "true nor false"),
    ("admission_enforce_needs_approval", "7", "true nor false"),
    ("cloud_names", "neither", "canonical or provider"),
])
def test_nonsense_is_refused_when_it_is_written(gate, key, value, says):
    instance, root = gate
    before = root.get("/api/setup/config").json
    answer = root.request("PUT", "/api/setup/config", body={key: value, "cloud1_region": "us-west-2"})
    assert answer.status == 422 and says in json.dumps(answer.json) and key in json.dumps(answer.json), answer
    done = instance.dashctl("config", "set", key, "-", stdin=value)
    assert done.code == 1 and says in done.err, done
    assert root.get("/api/setup/config").json == before
    instance.set(**{key: ""})


def test_good_settings_are_taken_in_every_form(gate):
    instance, root = gate
    for key, value in (("admission_allowed_regions", '["East US"]'), ("admission_gated_actions", "aws:ec2:deploy"),
                       ("admission_prod_window", " Sat ,SUN"), ("cloud_names", "canonical"), ("admission_control_enabled", "on")):
        assert root.request("PUT", "/api/setup/config", body={key: value}).status == 200, key


def test_a_missing_engine_closes_the_gate(make_instance):
    one = make_instance(env={"POLICY_BINARY": "/nonexistent/engine"})
    one.set(admission_control_enabled="true", admission_gated_actions=ALL)
    root = one.login("root")
    for method, _, path in ROUTES:
        answer = call(root, method, path)
        assert answer.status == 403, (path, answer)
        assert answer.json["detail"]["error"] == "policy" and len(answer.json["detail"]["reasons"]) == 1
    assert len(audited(root)) == len(ROUTES)
    assert jobs(root) == 0


def test_a_broken_file_closes_the_gate_until_it_is_mended(gate):
    instance, root = gate
    assert call(root, "POST", "/api/cloud1/deploy").status == 200
    add_rule(instance, "broken", "package admission.broken\nimport rego.v1\ndeny contains")
    assert call(root, "POST", "/api/cloud1/deploy").status == 403
    assert call(root, "DELETE", "/api/cloud2/vms/a").status == 403
    (instance.folder / "policy" / "broken.rego").unlink()
    assert call(root, "POST", "/api/cloud1/deploy").status == 200


def test_needs_approval_proceeds_when_it_is_not_enforced(gate):
    instance, root = gate
    add_rule(instance, "held", HELD)
    assert call(root, "POST", "/api/cloud1/deploy").json["status"] == "pending"
    assert audited(root) == []


def test_needs_approval_holds_a_deploy_and_refuses_what_cannot_wait(gate):
    instance, root = gate
    add_rule(instance, "held", HELD.replace(' if input.request.name == "web"', ""))
    instance.set(admission_enforce_needs_approval="true")
    for method, action, path in ROUTES:
        before = len(audited(root))
        answer = call(root, method, path)
        if method == "POST" and "deploy" in action:
            assert answer.status == 200 and answer.json["status"] == "awaiting_approval", (path, answer)
            assert audited(root)[before:] == [f"{action}:needs_approval"]
        else:
            assert answer.status == 403 and answer.json["detail"]["error"] == "needs_approval", (path, answer)
            assert answer.json["detail"]["reasons"][0] == "large machines need a second pair of eyes"
            assert audited(root)[before:] == [f"{action}:denied"]


def test_deny_outranks_needs_approval(gate):
    instance, root = gate
    add_rule(instance, "held", HELD)
    instance.set(admission_enforce_needs_approval="true", admission_allowed_regions="us-east-1")
    assert call(root, "POST", "/api/cloud1/deploy").json["detail"]["error"] == "policy"


def test_the_provider_words_are_the_same_actions(gate):
    instance, root = gate
    instance.set(admission_gated_actions="aws:ec2:deploy, oci:compute:destroy", admission_prod_window="mon,tue,wed,thu,fri,sat,sun")
    for method, action, path in ROUTES:
        expected = 403 if action in ("cloud1:vm:deploy", "cloud4:compute:destroy") else 202 if "k8s" in path else 200
        assert call(root, method, path).status == expected, path


def test_two_spellings_that_disagree_are_refused_before_the_gate(gate):
    _, root = gate
    answer = root.post("/api/cloud2/deploy", {**MACHINE, "vm_size": "Standard_D96"})
    assert answer.status == 422, answer
    assert answer.json["detail"][0]["loc"][0] == "body"
    assert audited(root) == []


def test_only_admins_and_members_remove_machines(gate):
    instance, root = gate
    instance.add_user("bob", workgroups=["team-a"])
    bob = instance.login("bob")
    for path in [path for paths in DESTROYS.values() for path in paths]:
        assert bob.delete(path).status == 403
        assert instance.anonymous.delete(path).status == 401
    assert bob.post("/api/cloud1/deploy", {**MACHINE, "workgroup": "team-a"}).status == 200
    instance.add_user("carol", workgroups=["team-b"])
    assert instance.login("carol").post("/api/cloud1/deploy", {**MACHINE, "workgroup": "team-a"}).status == 403


def test_a_batch_is_all_or_nothing(gate):
    instance, root = gate
    rule = HELD.replace("needs_approval contains", "deny contains").replace('"web"', '"web-03"').replace("admission.held", "admission.third")
    add_rule(instance, "third", rule)
    assert root.post("/api/cloud1/deploy", {**MACHINE, "count": 3}).status == 403
    assert jobs(root) == 0 and audited(root) == ["cloud1:vm:deploy:denied"]
    made = root.post("/api/cloud1/deploy", {**MACHINE, "count": 2}).json
    assert made["count"] == 2 and made["names"] == ["web-01", "web-02"] and len(made["job_ids"]) == 2


@pytest.mark.parametrize("path", [path.replace("/deploy", "/bulk-deploy") for paths in DEPLOYS.values() for path in paths if "/deploy" in path])
def test_a_bulk_deploy_is_one_batch(gate, path):
    instance, root = gate
    instance.set(admission_allowed_regions="us-central1, us-east-1")
    items = [{"name": "web", "image": "ami-1"}, {"name": "db", "image": "ami-2", "instance_type": "big"}]
    made = root.post(path, {"items": items, "region": "us-central1", "instance_type": "small"})
    assert made.status == 200, made
    answer = made.json
    assert list(answer)[:7] == ["job_id", "status", "message", "count", "batch_id", "job_ids", "names"]
    assert (answer["status"], answer["count"], answer["names"]) == ("pending", 2, ["web", "db"])
    assert len(answer["batch_id"]) == 12 and len(answer["job_ids"]) == 2
    assert [root.get(f"/api/jobs/{i}").json["request"]["instance_type"] for i in answer["job_ids"]] == ["small", "big"]
    one = root.get(f"/api/jobs/{answer['job_id']}").json
    assert one["status"] == "pending" and one["job_type"].endswith(":bulk_deploy") and one["request"]["names"] == ["web", "db"]
    assert root.get(f"/api/jobs?batch_id={answer['batch_id']}").json["total"] == 2
    counted = root.get(f"/api/jobs/batches/{answer['batch_id']}").json
    assert counted == {"batch_id": answer["batch_id"], "total": 2,
                       "by_status": {"pending": 2, "running": 0, "completed": 0, "failed": 0, "cancelled": 0}}
    assert root.get("/api/jobs/batches/nothing").json["total"] == 0
    taken = root.post(path, {"items": [{"name": "new", "image": "i"}, items[0], {"name": "new", "image": "i"}], "region": "us-central1"})
    assert taken.status == 409, taken
    detail = taken.json["detail"]
    assert set(detail) == {"code", "message", "conflicts", "duplicates", "names"}
    assert (detail["code"], detail["conflicts"], detail["duplicates"], detail["names"]) == (
        "vm_name_collision", ["web"], ["new"], ["new", "web", "new"])
    assert root.delete(f"/api/jobs/{answer['batch_id']}").json["status"] == "cancelled"
    assert root.get(f"/api/jobs/batches/{answer['batch_id']}").json["by_status"]["cancelled"] == 2


def test_every_refused_item_of_a_bulk_deploy_is_named_and_recorded(gate):
    instance, root = gate
    instance.set(admission_allowed_regions="us-east-1", admission_denied_instance_types="huge")
    items = [{"name": "a", "image": "i", "region": "mars-1"}, {"name": "b", "image": "i"}, {"name": "c", "image": "i", "instance_type": "huge"}]
    answer = root.post("/api/aws/bulk-deploy", {"items": items, "region": "us-east-1"})
    assert answer.status == 403, answer
    assert answer.json["detail"]["reasons"] == ['a: region "mars-1" is not in the allowed list ["us-east-1"]',
                                                'c: instance type "huge" is blocked by policy']
    assert jobs(root) == 0
    entries = [e for e in root.get("/api/audit").json["entries"] if e["action"] == "cloud1:vm:deploy:denied"]
    assert len(entries) == 1 and entries[0]["details"]["names"] == ["a", "c"]


def test_a_batch_cannot_wait_for_an_approval(gate):
    instance, root = gate
    add_rule(instance, "held", HELD.replace('"web"', '"web-02"'))
    instance.set(admission_enforce_needs_approval="true")
    answer = root.post("/api/cloud1/deploy", {**MACHINE, "count": 3})
    assert answer.status == 403 and answer.json["detail"]["error"] == "needs_approval", answer
    assert answer.json["detail"]["reasons"][0] == "web-02: large machines need a second pair of eyes"
    assert jobs(root) == 0 and audited(root) == ["cloud1:vm:deploy:denied"]


def test_outputs_speak_the_instances_spelling(gate):
    instance, root = gate
    instance.set(cloud_names="provider")
    made = root.post("/api/cloud1/deploy", MACHINE).json
    assert root.get(f"/api/jobs/{made['job_id']}").json["job_type"] == "aws:ec2:deploy"
    assert root.get("/api/jobs").json["jobs"][0]["job_type"] == "aws:ec2:deploy"
    assert root.post("/api/admission/check", {"action": "cloud4:compute:deploy"}).json["action"] == "oci:compute:deploy"
    assert "azure:vm:destroy" in root.get("/api/settings/admission").json["gated_actions"]
    assert "azure:vm:destroy" in root.get("/api/setup/feature/admission_control").json["admission_gated_actions"]
    instance.set(admission_allowed_regions="us-east-1")
    assert call(root, "POST", "/api/cloud1/deploy").status == 403
    for asked in ("aws:ec2:deploy:denied", "cloud1:vm:deploy:denied", "aws:*", "cloud1:vm:*"):
        found = root.get(f"/api/audit?action={asked}").json["entries"]
        assert [entry["action"] for entry in found] == ["aws:ec2:deploy:denied"], asked
    exported = instance.dashctl("audit", "export").out
    assert '"cloud1:vm:deploy:denied"' in exported and "aws:ec2" not in exported
    assert instance.dashctl("job", "show", made["job_id"], "--output", "json").json["job_type"] == "aws:ec2:deploy"


def test_a_database_and_a_cluster_name_what_is_made(gate):
    _, root = gate
    made = root.post("/api/databases", {"name": "db", "engine": "postgres"})
    assert made.status == 200 and made.json["ok"] is True and made.json["db_id"] and made.json["job_id"], made
    made = root.post("/api/k8s/clusters/provision", {"name": "k"})
    assert made.status == 202 and made.json["ok"] is True and made.json["cluster_id"] and made.json["job_id"], made


@pytest.mark.parametrize("path", ["/api/databases", "/api/k8s/clusters/provision"])
def test_of_a_database_or_a_cluster_one_is_made_or_none(gate, path):
    _, root = gate
    assert root.post(path, {"name": "one", "count": 1}).status in (200, 202)
    for wrong in (0, 2, -1, 10 ** 15, "3", 1.5, True):
        refused = root.post(path, {"name": "many", "count": wrong})
        assert refused.status == 422 and refused.json["detail"][0]["loc"] == ["body", "count"], refused


def test_many_denials_at_once_keep_one_chain(gate):
    instance, root = gate
    instance.set(admission_allowed_regions="us-east-1")
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: call(root, "POST", "/api/cloud1/deploy").status, range(64)))
    assert answers == [403] * 64
    told = root.get("/api/audit/verify").json
    assert told["ok"] and audited(root).count("cloud1:vm:deploy:denied") == 64


def test_the_panel_changes_only_what_is_sent_and_refuses_nonsense(gate):
    instance, root = gate
    panel = "/api/setup/feature/admission_control"
    assert root.patch(panel, {"admission_allowed_regions": ["us-east-1"]}).json == {"ok": True}
    told = root.get(panel).json
    assert told["enabled"] is True and json.loads(told["admission_allowed_regions"]) == ["us-east-1"]
    assert call(root, "POST", "/api/cloud1/deploy").status == 403
    for nonsense in ({"admission_allowed_regions": "[us-east-1"}, {"admission_prod_window": "someday"}, {"enabled": "perhaps"},
                     {"admission_gated_actions": ["cloud9:vm:deploy"]}, {"admission_allowed_regions": [1]},
                     {"enabled": None}, {"enabled": " "}, {"admission_enforce_needs_approval": None}):
        assert root.patch(panel, nonsense).status == 422, nonsense
    assert root.get(panel).json["enabled"] is True
    assert root.patch(panel, {"enabled": False}).status == 200
    assert call(root, "POST", "/api/cloud1/deploy").status == 200
    assert root.patch("/api/setup/feature/nothing", {}).status == 404
    instance.add_user("bob")
    assert instance.login("bob").patch(panel, {"enabled": False}).status == 403
