"""A plan waits for somebody else's approval, and exactly that plan is applied, by any replica, or none."""
import json

import pytest

from support.databases import new_database, rows
from support.deploys import PROGRAM, deploy, destroy, ended, log_of, put_module
from support.jobs import job, wait_for
from support.program import run
from support.wait import wait_until

pytestmark = pytest.mark.skipif(not PROGRAM, reason="no infrastructure program: scripts/setup iac builds one")


@pytest.fixture
def marks(scratch):
    return scratch / "marks"


def prepared(one, scratch, mode):
    (scratch / "assets").mkdir(exist_ok=True)
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local", deploy_plan_approval=mode)
    one.add_user("alice", workgroups=["team-a"])
    one.add_user("bob", grants=["change_windows:use"])


@pytest.fixture
def held(make_instance, scratch, marks):
    """An instance on which every plan waits, with alice who deploys and bob who approves."""
    one = make_instance(start=False, env={"IAC_BINARY": PROGRAM})
    prepared(one, scratch, "always")
    put_module(one.folder / "deploy", marks)
    one.start()
    return one, one.login("alice"), one.login("bob")


def waiting(http, job_id):
    return wait_for(http, job_id, "awaiting_approval", "failed", "completed")


def approve(http, job_id, **body):
    return http.post(f"/api/change-windows/approvals/{job_id}", body)


def approve_plan(http, job_id):
    return approve(http, job_id, approves="plan", digest=job(http, job_id)["approval_digest"])


def state_file(one, job_id):
    return one.folder / "deploy" / job_id / "terraform.tfstate"


def test_a_plan_waits_for_the_word_the_digest_and_somebody_else(held, marks):
    one, alice, bob = held
    name = "$(touch x)"
    job_id = deploy(alice, name)
    seen = waiting(alice, job_id)
    assert seen["status"] == "awaiting_approval", (seen, log_of(alice, job_id))
    assert {k: seen["plan"][k] for k in ("add", "change", "destroy")} == {"add": 1, "change": 0, "destroy": 0}
    assert seen["approvals"]["plan"] == {"required": True, "by": None, "at": None} and seen["approval_required"] is True
    assert "1 to add" in seen["progress_message"] and seen["approval_expires_at"]
    digest = seen["approval_digest"]
    assert job(bob, job_id) == seen, "an approver sees what waits"
    assert digest and not (marks / "made").exists()
    assert [j["id"] for j in bob.get("/api/change-windows/approvals").json["jobs"]] == [job_id]
    assert "terraform_data.machine" in log_of(bob, job_id), "an approver reads the plan"
    for body in ({}, {"digest": digest}, {"approves": "plan"}, {"approves": "policy", "digest": digest},
                 {"approves": "plan", "digest": digest[:-1]}, {"approves": "plan", "digest": seen["plan"]["digest"]}):
        refused = approve(bob, job_id, **body)
        assert refused.status == 409, (body, refused)
    one.add_user("dave")
    for who in (alice, one.login("dave")):
        assert approve(who, job_id, approves="plan", digest=digest).status == 403
    assert approve(bob, job_id, approves="all", digest=digest).status == 400
    assert alice.post(f"/api/jobs/{job_id}/reschedule", {"run_at": ""}).status == 409
    token = one.folder.parent / "token"
    token.write_text(one.token("bob"))
    remote = ("--target", one.url, "--token-file", token)
    assert "1 to add" in run("job", "show", job_id, *remote).out
    assert run("job", "approve", job_id, "--digest", digest, *remote).code == 12
    assert run("job", "approve", job_id, "--only", "plan", *remote).code == 12
    done = run("job", "approve", job_id, "--only", "plan", "--digest", digest, *remote)
    assert done.code == 0 and "is pending" in done.out, done
    made = ended(alice, job_id)
    assert made["status"] == "completed", (made, log_of(alice, job_id))
    assert (marks / "made").read_text() == name and made["approvals"]["plan"]["by"] == "bob"
    assert made["plan"] == seen["plan"], "the plan that was approved"

    destroy_id = destroy(alice, made["resource_id"])
    seen = waiting(alice, destroy_id)
    assert seen["status"] == "awaiting_approval" and seen["plan"]["destroy"] == 1, (seen, log_of(bob, destroy_id))
    assert not (marks / "destroyed").exists()
    assert approve_plan(bob, destroy_id).json["status"] == "pending"
    assert ended(alice, destroy_id)["status"] == "completed" and (marks / "destroyed").exists()
    database = b"".join(path.read_bytes() for path in one.folder.glob("dashctl.db*"))
    assert b"tfplan" not in database, "the plan is sealed"


def test_a_state_that_was_changed_by_hand_makes_the_plan_stale(held, marks):
    one, alice, bob = held
    made = deploy(alice)
    waiting(alice, made)
    assert approve_plan(bob, made).status == 200 and ended(alice, made)["status"] == "completed"
    destroy_id = destroy(alice, "web")
    waiting(alice, destroy_id)
    state = json.loads(state_file(one, made).read_text())
    state["serial"] += 1
    state_file(one, made).write_text(json.dumps(state))
    assert approve_plan(bob, destroy_id).status == 200
    stale = ended(alice, destroy_id)
    assert stale["status"] == "failed" and stale["reason"] == "stale_plan", (stale, log_of(alice, destroy_id))
    assert "serial" in stale["error_message"] and not (marks / "destroyed").exists()
    again = destroy(alice, "web")
    waiting(alice, again)
    assert approve_plan(bob, again).status == 200 and ended(alice, again)["status"] == "completed"


def test_rejected_cancelled_and_expired_plans_change_nothing(held, marks):
    one, alice, bob = held
    rejected, cancelled, expired = (deploy(alice, f"web-{n}") for n in range(3))
    for job_id in (rejected, cancelled, expired):
        assert waiting(alice, job_id)["status"] == "awaiting_approval"
    digest = job(bob, cancelled)["approval_digest"]
    assert bob.post(f"/api/jobs/{rejected}/reject", {"reason": "no"}).json["status"] == "rejected"
    assert alice.delete(f"/api/jobs/{cancelled}").json["status"] == "cancelled"
    for job_id in (rejected, cancelled):
        assert approve_plan(bob, job_id).status == 409
    assert approve(bob, cancelled, approves="plan", digest=digest).status == 409
    assert not (marks / "made").exists()
    # The rules and the setting may change while it waits: the plan is held all the same.
    one.set(deploy_plan_approval="off")
    assert job(bob, expired)["status"] == "awaiting_approval" and approve(bob, expired).status == 409
    rows(one, "UPDATE jobs SET approval_expires_at = 1 WHERE id = ?", expired)
    wait_for(bob, expired, "expired")
    assert approve_plan(bob, expired).status == 409
    wait_until(lambda: rows(one, "SELECT count(*) FROM job_plans") == [(0,)], what="the end of the plans")
    assert not (marks / "made").exists()


def test_only_what_changes_or_deletes_waits_with_changes(make_instance, scratch, marks):
    one = make_instance(start=False, env={"IAC_BINARY": PROGRAM})
    prepared(one, scratch, "changes")
    put_module(one.folder / "deploy", marks)
    root = one.start().login("root")
    assert one.dashctl("config", "set", "deploy_plan_approval", "sometimes").code == 1
    made = ended(root, deploy(root))
    assert made["status"] == "completed" and made["approvals"]["plan"]["required"] is False, made
    assert waiting(root, destroy(root, "web"))["status"] == "awaiting_approval"


def test_another_replica_applies_the_plan_of_one_that_has_gone(make_instance, scratch, marks, bucket):
    env = {"IAC_BINARY": PROGRAM, **new_database("postgres")}
    first = make_instance(start=False, env=env)
    prepared(first, scratch, "always")
    first.set(**bucket.settings)
    put_module(first.folder / "deploy", marks)
    alice = first.start().login("alice")
    job_id = deploy(alice)
    assert waiting(alice, job_id)["status"] == "awaiting_approval", log_of(alice, job_id)
    first.kill()
    key = {"DASHCTL_SIGNING_KEY_FILE": str(first.folder / "signing.key")}
    second = make_instance("two", start=False, admin=False, env={**env, **key})
    put_module(second.folder / "deploy", marks)
    bob = second.start().login("bob")
    assert approve_plan(bob, job_id).status == 200
    made = ended(bob, job_id)
    assert made["status"] == "completed" and (marks / "made").read_text() == "web", (made, log_of(bob, job_id))
