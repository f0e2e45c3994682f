"""The decision log: who asked, in which request, and why, also where nothing is enforced."""
import json

import pytest

from support.databases import rows
from support.jobs import HELD, MACHINE
from support.wait import wait_until


@pytest.fixture
def gate(instance):
    """An instance whose rules ask for an approval on which nobody insists, and alice."""
    instance.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy")
    (instance.folder / "policy" / "held.rego").write_text(HELD)
    instance.add_user("alice")
    return instance, instance.login("alice")


def decisions(instance):
    """(request id, user, verdict, reasons, enforced, dry run) of each decision, oldest first."""
    found = rows(instance, "SELECT request_id, username, verdict, reasons, enforced, dry_run FROM decisions ORDER BY seq")
    return [(request, user, verdict, json.loads(reasons), enforced, dry_run)
            for request, user, verdict, reasons, enforced, dry_run in found]


def logged(instance, count):
    wait_until(lambda: len(decisions(instance)) >= count, what=f"{count} decisions")
    return decisions(instance)


def test_an_approval_on_which_nobody_insists_is_logged(gate):
    instance, alice = gate
    made = alice.post("/api/cloud1/deploy", MACHINE, headers={"X-Request-Id": "request-1"})
    assert made.json["status"] == "pending", made
    checked = alice.post("/api/admission/check", {"action": "cloud1:vm:deploy", "request": MACHINE},
                         headers={"X-Request-Id": "request-2"})
    assert checked.json["verdict"] == "needs_approval", checked
    why = ["look twice"]
    assert logged(instance, 2) == [("request-1", "alice", "needs_approval", why, 0, 0),
                                   ("request-2", "alice", "needs_approval", why, 0, 1)]
    line = instance.events("jobs.needs_approval_not_enforced")[0]
    assert (line["username"], line["request_id"], json.loads(line["reasons"])) == ("alice", "request-1", why)
    instance.set(admission_enforce_needs_approval="true")
    held = alice.post("/api/cloud1/deploy", MACHINE, headers={"X-Request-Id": "request-3"})
    assert held.json["status"] == "awaiting_approval", held
    assert logged(instance, 3)[2] == ("request-3", "alice", "needs_approval", why, 1, 0)


def test_what_is_allowed_and_denied_is_logged(gate):
    instance, alice = gate
    alice.post("/api/cloud1/deploy", {**MACHINE, "name": "db"}, headers={"X-Request-Id": "request-1"})
    instance.set(admission_allowed_regions="eu-west-1")
    refused = alice.post("/api/cloud1/deploy", MACHINE, headers={"X-Request-Id": "request-2"})
    assert refused.status == 403, refused
    found = logged(instance, 2)
    assert found[0] == ("request-1", "alice", "allow", [], 1, 0)
    assert found[1] == ("request-2", "alice", "deny", refused.json["detail"]["reasons"], 1, 0)
