"""Settings have one door: page, API, command line, import, rollback and panels obey the same rules."""
import json

import pytest

from support.ports import free_port
from support.program import run

MASK = "•" * 8


def detail(answer):
    return answer.json["detail"]


def change_storage(root, **body):
    return root.patch("/api/storage/config", body)


def imported(root, config, **more):
    return root.post("/api/setup/import", {"config": config, **more})


def entries(root, action):
    return [e for e in root.get(f"/api/audit?action={action}").json["entries"] if e["action"] == action]


def test_every_door_refuses_automation_without_an_active_backend(instance, root):
    for answer in (root.patch("/api/setup/feature/ansible", {"enabled": True}),
                   root.put("/api/setup/config", {"ansible_enabled": "true"})):
        assert answer.status == 409 and "storage backend" in detail(answer), answer
    done = instance.dashctl("config", "set", "ansible_enabled", "true")
    assert done.code == 12 and "storage backend" in done.err, done
    done = imported(root, {"ansible_enabled": "true", "app_url": "https://one.example"})
    assert done.status == 200 and done.json["refused"] == {"ansible_enabled": "needs_storage"}, done
    assert instance.dashctl("config", "get", "ansible_enabled").code == 1


def test_every_door_refuses_a_backend_that_is_not_configured(instance, root):
    for answer in (change_storage(root, storage_active_backend="s3"),
                   root.put("/api/setup/config", {"storage_active_backend": "obj_cloud1"})):
        assert answer.status == 400 and "storage_obj_cloud1_bucket" in detail(answer), answer
    for name in ("set", "unset"):
        instance.set(storage_obj_cloud3_bucket="b", storage_active_backend="gcs")
        value = () if name == "unset" else ("",)
        done = instance.dashctl("config", name, "storage_gcs_bucket", *value)
        assert done.code == 1 and "Choose another backend first" in done.err, done
    done = imported(root, {"storage_active_backend": "s3", "app_url": "https://one.example"})
    assert done.status == 200 and done.json["refused"] == {"storage_active_backend": "not_configured"}
    assert root.get("/api/setup/config").json["app_url"] == "https://one.example"


def test_rules_look_at_the_values_as_they_will_be(root):
    both = {"storage_active_backend": "s3", "storage_s3_bucket": "b", "storage_hub_backend": "s3", "ansible_enabled": "1"}
    assert root.put("/api/setup/config", both).status == 200
    away = {"storage_active_backend": "local", "storage_hub_backend": None, "storage_s3_bucket": None,
            "storage_local_path": "/srv/assets"}
    assert root.put("/api/setup/config", away).status == 200


def test_the_hub_is_an_object_store_at_every_door(root):
    root.put("/api/setup/config", {"storage_local_path": "/srv/assets"})
    assert change_storage(root, storage_hub_backend="local").status == 400
    assert root.put("/api/setup/config", {"storage_hub_backend": "agent_local"}).status == 400
    assert imported(root, {"storage_hub_backend": "local", "app_url": "x"}).json["refused"] == {
        "storage_hub_backend": "hub_not_object_store"}


def test_the_panel_of_automation_obeys_the_rules_too(root):
    page = "/api/setup/feature/ansible"
    assert root.patch(page, {"enabled": True}).status == 409
    root.put("/api/setup/config", {"storage_local_path": "/srv/assets", "storage_active_backend": "local"})
    assert root.patch(page, {"enabled": True}).status == 200
    assert root.patch(page, {"automation_runner": "ecs"}).status == 400
    assert root.patch(page, {"automation_runner": "local"}).status == 200


def test_an_import_of_which_nothing_is_taken_names_its_keys_and_exits_5(instance, root, scratch):
    refused = imported(root, {"storage_active_backend": "s3"})
    assert refused.status == 400 and refused.json["refused"] == {"storage_active_backend": "not_configured"}, refused
    bundle = scratch / "b.json"
    bundle.write_text(json.dumps({"config": {"storage_hub_backend": "gcs"}, "regions": {}, "excluded": {}, "annotations": {}}))
    snapshot = ("--snapshot-out", scratch / "r.json")
    for target in (("--target", instance.url, "--token-file", "-"), ("--data-dir", instance.folder)):
        done = run("migrate", "import", "--bundle", bundle, "--apply", *snapshot, *target, stdin=root.token)
        assert done.code == 5 and "storage_hub_backend (not_configured)" in done.err, done


@pytest.fixture
def stateful(instance, root, bucket, scratch):
    """An active bucket that holds the state of a deploy, and a folder beside it."""
    instance.set(**bucket.settings)
    instance.set(storage_local_path=str(scratch / "assets"))
    bucket.put("iac-state/j1/terraform.tfstate", b"{}")
    return root


def test_live_state_is_guarded_at_every_door(instance, stateful, bucket, scratch):
    root = stateful
    away = {"storage_active_backend": "local"}
    assert change_storage(root, **away).status == 409
    assert root.put("/api/setup/config", away).status == 409
    assert root.put("/api/setup/config?migrate_iac_state=perhaps", away).status == 422
    done = instance.dashctl("config", "set", "storage_active_backend", "local")
    assert done.code == 12 and "migrate_iac_state=true" in done.err, done
    assert imported(root, {**away, "app_url": "x"}).json["refused"] == {"storage_active_backend": "live_state"}
    assert root.put("/api/setup/config", {"storage_s3_bucket": "another"}).status == 409
    # A store that answers is not given up.
    assert root.put("/api/setup/config?abandon_iac_state=true", away).status == 409
    assert change_storage(root, abandon_iac_state=True, **away).status == 409

    left = [{"backend": "obj_cloud1", "key": "iac-state/j1/terraform.tfstate"}]
    done = instance.dashctl("config", "set", "storage_active_backend", "local", "--migrate-state", "--output", "json")
    assert done.code == 0 and done.json["changed"] is True and done.json["iac_state_left"] == left, done
    assert (instance.folder / "deploy/j1/terraform.tfstate").read_bytes() == b"{}"
    change = root.get("/api/setup/config/history?key=storage_active_backend").json["history"][0]["change_id"]
    rollback = ("migrate", "rollback", "--change", change, "--target", instance.url, "--token-file", "-")
    assert run(*rollback, stdin=root.token).code == 12
    assert run(*rollback, "--migrate-state", stdin=root.token).code == 0
    assert root.get("/api/setup/config").json["storage_active_backend"] == "obj_cloud1"
    done = root.put("/api/setup/config?migrate_iac_state=true", away)
    assert done.status == 200 and done.json["iac_state_left"] == left and done.json["change_id"], done
    assert root.put("/api/setup/config", away).json == {"ok": True, "change_id": "", "iac_state_left": []}


def test_credentials_and_an_equal_endpoint_may_change(stateful, bucket):
    root = stateful
    assert root.put("/api/setup/config", {"cloud1_access_key_id": "AKIAOTHER"}).status == 200
    assert root.put("/api/setup/config", {"cloud1_access_key_id": bucket.access}).status == 200
    same = bucket.endpoint.replace("127.0.0.1", "localhost")
    assert change_storage(root, storage_s3_endpoint=same).status == 200
    assert change_storage(root, storage_s3_endpoint=f"http://127.0.0.1:{free_port()}").status == 409


def test_a_store_that_cannot_be_asked_counts_as_holding_state(instance, root, bucket, scratch):
    instance.set(**{**bucket.settings, "storage_obj_cloud1_endpoint": f"http://127.0.0.1:{free_port()}"})
    instance.set(storage_local_path=str(scratch / "assets"))
    away = {"storage_active_backend": "local"}
    refused = change_storage(root, **away)
    assert refused.status == 409 and "abandon_iac_state=true" in detail(refused), refused
    token = instance.token("root")
    by_token = type(root)(instance.port, token).patch("/api/storage/config", {**away, "abandon_iac_state": True})
    assert by_token.status == 403, by_token
    assert change_storage(root, abandon_iac_state=True, **away).status == 200
    assert [e["details"]["backend"] for e in entries(root, "storage_state_abandon")] == ["obj_cloud1"]


def test_what_looks_like_a_secret_is_one(instance, root):
    secrets = {"acme_access_key": "hunter2", "acme_connection_string": "hunter2", "acme_pem": "hunter2",
               "acme_url": "https://u:hunter2@acme.example/x", "app_url": "https://u:hunter2@one.example"}
    assert root.put("/api/setup/config", secrets).status == 200
    assert root.put("/api/setup/config", {"cloud1_region.r1.api_dsn": "hunter2", "cloud1_region.r1.vpc_id": "v"}).status == 200
    shown = root.get("/api/setup/config").json
    assert {shown[key] for key in secrets} == {MASK}
    assert json.loads(shown["cloud1_region_configs"]) == {"r1": {"api_dsn": MASK, "vpc_id": "v"}}
    # What is shown comes back and changes nothing.
    assert root.put("/api/setup/config", shown).json["change_id"] == ""
    assert imported(root, shown).json["change_id"] == ""
    assert imported(root, shown, regions="replace").json["change_id"] == ""
    for key, value in secrets.items():
        assert instance.dashctl("config", "get", key).code == 8
        assert instance.dashctl("config", "get", key, "--reveal").out == value + "\n"
    assert instance.dashctl("config", "get", "cloud1_region.r1.api_dsn", "--reveal").out == "hunter2\n"
    log = "".join(instance.log)
    audit = json.dumps(root.get("/api/audit?limit=200").json)
    assert "hunter2" not in log and "hunter2" not in audit
    assert "https://***@one.example" in audit


def test_an_export_leaves_masked_values_and_region_fields_behind(instance, root, scratch):
    root.put("/api/setup/config", {"acme_dsn": "hunter2", "acme_url": "https://u:hunter2@h", "acme_name": "n",
                                   "cloud1_region.r1.api_dsn": "hunter2", "cloud1_region.r1.vpc_id": "v"})
    out = scratch / "b.json"
    done = run("migrate", "export", "--source", instance.url, "--via", "http", "--token-file", "-", "--out", out,
               stdin=root.token)
    assert done.code == 0, done
    bundle = json.loads(out.read_text())
    assert "hunter2" not in out.read_text()
    assert bundle["config"]["acme_name"] == "n" and bundle["regions"] == {"cloud1": {"r1": {"vpc_id": "v"}}}
    for key in ("acme_dsn", "acme_url", "cloud1_region.r1.api_dsn"):
        assert bundle["excluded"][key] == "masked" and bundle["annotations"][key]["masked"] is True
    # Written back with --regions replace it keeps what the target has in their place.
    done = run("migrate", "import", "--bundle", out, "--target", instance.url, "--token-file", "-", "--regions", "replace",
               "--apply", "--snapshot-out", scratch / "r.json", stdin=root.token)
    assert done.code == 0 and "already matches" in done.out, done
    assert instance.dashctl("config", "get", "cloud1_region.r1.api_dsn", "--reveal").out == "hunter2\n"


def test_a_region_set_without_a_word_about_regions_replaces(root):
    def sets():
        return json.loads(root.get("/api/setup/config").json["cloud1_region_configs"])

    imported(root, {"cloud1_region.r1.vpc_id": "v1"})
    blob = {"aws_region_configs": {"r2": {"vpc_id": "v2"}}}
    assert imported(root, blob, regions="merge").status == 200
    assert sets() == {"r1": {"vpc_id": "v1"}, "r2": {"vpc_id": "v2"}}
    assert imported(root, blob).status == 200
    assert sets() == {"r2": {"vpc_id": "v2"}}
    refused = imported(root, {"aws_region_configs": {}, "app_url": "x"})
    assert refused.json["refused"] == {"aws_region_configs": "empty_region_set"}, refused
    assert sets() == {"r2": {"vpc_id": "v2"}}
    assert imported(root, {"aws_region_configs": {}}, regions="replace").status == 200
    assert sets() == {}


def test_the_spelling_does_not_show_among_the_settings(instance, root):
    instance.set(cloud_names="provider", cloud1_access_key_id="a")
    assert root.get("/api/setup/config").json == {"aws_access_key_id": "a"}


def test_nonsense_in_a_gate_setting_is_422_but_an_import_writes_it(root):
    nonsense = {"admission_prod_window": "[1"}
    assert root.put("/api/setup/config", nonsense).status == 422
    assert root.patch("/api/setup/feature/admission_control", nonsense).status == 422
    done = imported(root, nonsense)
    assert done.status == 200 and list(done.json["warnings"]) == ["admission_prod_window"]
    assert root.get("/api/setup/config").json == nonsense


def test_lint_finds_what_an_import_stored_with_a_warning(instance, root):
    for key, value in (("admission_prod_window", "someday"), ("admission_gated_actions", "cloud1:vm:deploi")):
        assert list(imported(root, {key: value}).json["warnings"]) == [key]
    found = instance.dashctl("config", "lint")
    assert found.code == 1 and "admission_prod_window" in found.out and "admission_gated_actions" in found.out, found


def test_every_door_refuses_a_number_that_nobody_could_use(instance, root):
    for answer in (root.put("/api/setup/config", {"approval_expiry_hours": "soon"}),
                   change_storage(root, storage_local_port="70000")):
        assert answer.status == 400 and "is a whole number from 1 to" in detail(answer), answer
    done = instance.dashctl("config", "set", "job_lease_seconds", "-5")
    assert done.code == 1 and "from 2 to 86400" in done.err, done
    done = imported(root, {"automation_timeout_seconds": "1.5", "app_url": "https://one.example"})
    assert done.status == 200 and done.json["refused"] == {"automation_timeout_seconds": "invalid_value"}, done


def test_vaults_are_for_administrators_whatever_the_body(instance):
    instance.add_user("bob")
    bob = instance.login("bob")
    for answer in (bob.get("/api/secrets/vaults"), bob.post("/api/secrets/vaults", {}), bob.delete("/api/secrets/vaults/x")):
        assert answer.status == 403, answer
