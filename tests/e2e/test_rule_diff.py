"""The recorded decisions over HTTP, and what another text of a rule would change."""
import threading

import pytest

from support.http_client import Http
from support.instance import Instance
from support.jobs import MACHINE
from support.wait import wait_until

NO_BIG = 'package admission.no_big\n\nimport rego.v1\n\ndeny contains "too big" if input.request.instance_type == "t3.large"\n'
# Counts to ten thousand million, without keeping anything: takes far longer than the limit.
SLOW = """package admission.no_big

import rego.v1

deny contains "late" if count({a | some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a + b == 0}) == 1
"""


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    """An instance with three decisions about changes and one dry run; its admin and alice."""
    one = Instance(tmp_path_factory.mktemp("rules") / "one")
    one.add_user("root", admin=True)
    one.add_user("alice", workgroups=["team"])
    one.add_user("bob", workgroups=["ops"])
    one.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy",
            admission_allowed_regions="us-east-1")
    one.start()
    root, alice, bob = (one.login(name) for name in ("root", "alice", "bob"))
    machine = {**MACHINE, "region": "us-east-1", "instance_type": "t3.large"}
    assert alice.post("/api/cloud1/deploy", machine).status == 200
    assert bob.post("/api/cloud1/deploy", {**machine, "name": "db"}).status == 200
    assert alice.post("/api/cloud1/deploy", {**machine, "region": "mars-1"}).status == 403
    assert alice.post("/api/admission/check", {"action": "cloud1:vm:deploy", "request": machine}).status == 200
    yield one, root, alice
    one.stop()


def listed(root, query=""):
    answer = root.get("/api/admission/decisions" + query)
    assert answer.status == 200, answer
    return answer.json


def test_decisions_are_listed_newest_first_and_filtered(gate):
    one, root, alice = gate
    everything = listed(root)
    assert everything["total"] == 3 and [d["verdict"] for d in everything["decisions"]] == ["deny", "allow", "allow"]
    newest = everything["decisions"][0]
    assert newest["actor"] == "alice" and newest["workgroup"] == "team" and newest["enforced"] is True
    assert newest["rules"] == ["allowed_regions"] and newest["input"]["request"]["region"] == "mars-1"
    for query, total in (("?verdict=deny", 1), ("?actor=bob", 1), ("?workgroup=team", 2), ("?workgroup=tea", 0),
                         ("?workgroup=TEAM", 0), ("?action=aws:ec2:deploy", 3), ("?action=cloud2:vm:deploy", 0),
                         ("?until=2020-01-01T00:00:00Z", 0), ("?since=2020-01-01T00:00:00Z", 3),
                         ("?dry_run=1", 1), ("?actor=alice&verdict=allow", 1), ("?verdict=&actor=&workgroup=&action=&since=&page=", 3), ("?workgroup=%25", 0)):
        assert listed(root, query)["total"] == total, query
    second = listed(root, "?page=2&page_size=1")
    assert second["total"] == 3 and [d["id"] for d in second["decisions"]] == [everything["decisions"][1]["id"]]
    assert listed(root, "?dry_run=1")["decisions"][0]["dry_run"] is True
    for wrong, status in (("?verdict=maybe", 400), ("?since=yesterday", 400), ("?page=0", 422), ("?page_size=201", 422)):
        assert root.get("/api/admission/decisions" + wrong).status == status, wrong
    assert alice.get("/api/admission/decisions").status == 403
    assert one.anonymous.get("/api/admission/decisions").status == 401


def diff(client, text, rule_id="no_big", **kw):
    return client.post("/api/admission/diff", {"rule_id": rule_id, "text": text}, **kw)


def test_a_new_rule_is_compared_over_the_recorded_decisions_and_changes_nothing(gate):
    one, root, _ = gate
    before = root.get("/api/settings/admission").json["policy_digest"]
    answer = diff(root, NO_BIG)
    assert answer.status == 200, answer
    found = answer.json
    assert (found["rule_id"], found["file"], found["compared"], found["changed"]) == ("no_big", None, 3, 3)
    turned = [c for c in found["changes"] if c["old"]["verdict"] != c["new"]["verdict"]]
    assert len(turned) == 2 and all(c["new"] == {"verdict": "deny", "reasons": ["too big"]} for c in turned)
    assert not (one.folder / "policy" / "no_big.rego").exists()
    assert root.get("/api/settings/admission").json["policy_digest"] == before
    assert listed(root)["total"] == 3


def test_the_text_of_a_rule_in_use_is_replaced_in_the_comparison(gate):
    _, root, _ = gate
    never = "package admission.allowed_regions\n\nimport rego.v1\n\ndeny contains \"never\" if false\n"
    found = diff(root, never, "allowed_regions").json
    assert found["file"] == "allowed_regions.rego" and found["changed"] == 1
    assert found["changes"][0]["old"]["verdict"] == "deny" and found["changes"][0]["new"]["verdict"] == "allow"


def test_a_text_that_cannot_be_a_rule_is_named_with_its_line(gate):
    _, root, _ = gate
    for text, rule_id, words in (("package admission.no_big\n\ndeny contains", "no_big", "line 3"),
                                 ("package admission.other\n\nimport rego.v1\n\ndeny contains \"x\" if true\n", "no_big", "would never evaluate"),
                                 ('package admission.no_big\n\nimport rego.v1\n\ndeny contains "x" if http.send({"method": "get", "url": "http://x"}).status_code == 200\n', "no_big", "http.send"),
                                 (NO_BIG, "../no_big", "rule_id"), (NO_BIG, "", "rule_id")):
        answer = diff(root, text, rule_id)
        assert answer.status == 422 and words in answer.text, (words, answer)
    assert root.post("/api/admission/diff", {"rule_id": "x"}).status == 422


def test_only_an_admins_session_compares(gate):
    one, _, alice = gate
    assert diff(alice, NO_BIG).status == 403
    assert diff(Http(one.port, one.token("root")), NO_BIG).status == 403
    assert diff(one.anonymous, NO_BIG).status == 401


def test_a_heavy_rule_is_given_up_and_runs_alone(gate):
    _, root, alice = gate
    answers = []

    def run_slow():
        # Until it is not the other one that runs.
        answers.append(wait_until(lambda: (answer := diff(root, SLOW)).status != 409 and answer, what="the heavy comparison"))

    slow = threading.Thread(target=run_slow)
    slow.start()
    wait_until(lambda: diff(root, NO_BIG).status == 409, what="the comparison that runs")
    # The gate's own engine goes on.
    check = {"action": "cloud1:vm:deploy", "request": {**MACHINE, "region": "us-east-1"}}
    assert alice.post("/api/admission/check", check).json["verdict"] == "allow"
    slow.join(60)
    assert answers[0].status == 503 and "too long" in answers[0].text, answers
    assert diff(root, NO_BIG).status == 200
