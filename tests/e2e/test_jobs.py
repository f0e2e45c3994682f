"""Jobs: approval, executors, cancelling, crashes of the worker."""
import os

import pytest

from support.jobs import HELD, MACHINE, executor, job, wait_for
from support.program import run
from support.wait import wait_until


@pytest.fixture
def held(instance, root):
    """An instance that holds deploys of "web", with alice who asks and bob who may approve."""
    instance.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy", admission_enforce_needs_approval="true")
    (instance.folder / "policy" / "held.rego").write_text(HELD)
    instance.add_user("alice")
    instance.add_user("bob", grants=["change_windows:use"])
    return instance, instance.login("alice"), instance.login("bob")


def approve(http, job_id):
    return http.post(f"/api/change-windows/approvals/{job_id}")


def test_a_held_job_runs_only_after_somebody_else_approved(held, root):
    instance, alice, bob = held
    executor(instance, "cloud1-vm-deploy", """echo making; echo '{"resource_id": "i-7"}'""")
    job_id = alice.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    assert approve(alice, job_id).status == 403
    instance.add_user("eve")
    assert approve(instance.login("eve"), job_id).status == 403
    assert approve(bob, "nothing").status == 404
    told = job(bob, job_id)
    assert told["status"] == "awaiting_approval" and told["approval_reasons"] == ["look twice"]
    answer = approve(bob, job_id)
    assert answer.status == 200 and answer.json["approved_by"] == "bob" and answer.json["already"] is False
    done = wait_for(alice, job_id, "completed")
    assert done["resource_id"] == "i-7"
    assert [line["line"] for line in alice.get(f"/api/jobs/{job_id}/logs").json["logs"]][0] == "making"
    actions = [entry["action"] for entry in root.get("/api/audit?after=0").json["entries"]]
    assert "cloud1:vm:deploy:needs_approval" in actions and "change_approved" in actions


def test_rejecting_and_cancelling(held):
    _, alice, bob = held
    first = alice.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    assert bob.post(f"/api/jobs/{first}/reject", {"reason": "not today"}).json["status"] == "rejected"
    assert approve(bob, first).status == 409
    second = alice.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    assert bob.delete(f"/api/jobs/{second}").status == 403
    assert alice.delete(f"/api/jobs/{second}").json["status"] == "cancelled"
    assert alice.delete(f"/api/jobs/{second}").status == 409


def test_an_approval_ends_when_the_rules_change(held):
    instance, alice, bob = held
    job_id = alice.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    (instance.folder / "policy" / "held.rego").write_text(HELD.replace("look twice", "look three times"))
    assert approve(bob, job_id).status == 409
    assert job(alice, job_id)["approval_reasons"] == ["look three times"]
    assert approve(bob, job_id).status == 200


def test_what_the_rules_refuse_at_claim_is_cancelled_and_audited(instance, root):
    instance.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy")
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    told = wait_until(lambda: job(root, job_id)["progress_message"], what="a word about the executor")
    assert "no executor for cloud1:vm:deploy" in told
    instance.set(admission_allowed_regions="eu-west-1")
    executor(instance, "aws-ec2-deploy", "exit 0")
    assert wait_for(root, job_id, "cancelled", "completed")["reason"] == "policy"
    assert "cloud1:vm:deploy:denied" in [e["action"] for e in root.get("/api/audit").json["entries"]]


def test_jobs_are_private(instance, root):
    instance.add_user("alice")
    instance.add_user("bob")
    alice, bob = instance.login("alice"), instance.login("bob")
    job_id = alice.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    assert bob.get(f"/api/jobs/{job_id}").status == 403
    assert bob.get("/api/jobs").json["jobs"] == []
    assert root.get("/api/jobs?status=pending&page_size=1").json["jobs"][0]["id"] == job_id
    for wrong in ("page=0", "page=9223372036854775807", "page_size=0", "page_size=101", "page=x"):
        refused = root.get("/api/jobs?" + wrong)
        assert refused.status == 422 and refused.json["detail"][0]["loc"] == ["query", wrong.split("=")[0]]
    assert root.get("/api/jobs?status=sleeping").status == 400
    assert alice.get("/api/jobs/nothing").status == 404


def test_cancelling_a_running_job_stops_it(instance, root):
    instance.set(job_lease_seconds="2")
    executor(instance, "cloud1-vm-deploy", "trap 'exit 1' TERM; echo started; while :; do sleep 0.1; done")
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_until(lambda: root.get(f"/api/jobs/{job_id}/logs").json["logs"], what="the first line")
    assert root.delete(f"/api/jobs/{job_id}").json["status"] == "running"
    wait_for(root, job_id, "cancelled")


@pytest.mark.parametrize("method, path, script, end", [
    ("POST", "/api/cloud1/deploy", "cloud1-vm-deploy", "failed"),
    ("DELETE", "/api/cloud1/instances/i-1", "cloud1-vm-destroy", "completed"),
])
def test_a_killed_worker_loses_nothing_and_runs_nothing_twice_at_once(instance, method, path, script, end):
    instance.set(job_lease_seconds="2")
    marks = instance.folder / "marks"
    # The first run hangs; each run tells its process.
    executor(instance, script, f'echo $$ >> {marks}; [ "$(wc -l < {marks})" -gt 1 ] || exec sleep 600')
    root = instance.login("root")
    job_id = root.request(method, path, body=MACHINE if method == "POST" else None).json["job_id"]
    wait_until(marks.exists, what="the first run")
    wait_until(lambda: marks.read_text().strip(), what="its process")
    first = int(marks.read_text().split()[0])
    instance.kill()

    def dead():
        try:
            os.kill(first, 0)
            return False
        except ProcessLookupError:
            return True

    wait_until(dead, what="the end of the orphan")
    instance.start()
    root = instance.login("root")
    told = wait_for(root, job_id, end)
    assert len(marks.read_text().split()) == (1 if end == "failed" else 2)
    if end == "failed":
        assert told["reason"] == "worker_lost"


def test_the_command_line_does_the_same(held):
    instance, alice, _ = held
    job_id = alice.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    shown = instance.dashctl("job", "show", job_id, "--output", "json")
    assert shown.code == 0 and shown.json["status"] == "awaiting_approval", shown
    listed = instance.dashctl("job", "list", "--status", "awaiting_approval", "--output", "json").json
    assert [j["id"] for j in listed["jobs"]] == [job_id]
    token = instance.folder.parent / "token"
    token.write_text(instance.token("bob"))
    approved = run("job", "approve", job_id, "--target", instance.url, "--token-file", token)
    assert approved.code == 0, approved
    cancelled = instance.dashctl("job", "cancel", job_id)
    assert cancelled.code == 0, cancelled
    assert instance.dashctl("job", "cancel", job_id).code == 12
    assert instance.dashctl("job", "show", "nothing").code == 1


def test_a_log_is_read_to_its_end(instance, root):
    executor(instance, "cloud1-vm-deploy", "seq 2500")
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    token = instance.folder.parent / "token"
    token.write_text(instance.token("root"))
    followed = run("job", "logs", job_id, "--follow", "--target", instance.url, "--token-file", token)
    assert followed.code == 0 and followed.out.split() == [str(n) for n in range(1, 2501)], followed
    local = instance.dashctl("job", "logs", job_id, "--output", "json")
    assert len(local.json["logs"]) == 2500
    page = root.get(f"/api/jobs/{job_id}/logs?after=2400").json["logs"]
    assert [line["n"] for line in page] == list(range(2401, 2501))


def test_a_job_is_booked_anew(instance, root):
    job_id = root.post("/api/cloud1/deploy", {**MACHINE, "run_at": "2027-01-01T10:00"}).json["job_id"]
    moved = root.post(f"/api/jobs/{job_id}/reschedule", {"run_at": "2027-01-02T10:00", "run_timezone": "Europe/Berlin"})
    assert moved.status == 200, moved
    assert moved.json == {"job_id": job_id, "status": "scheduled", "scheduled_for": "2027-01-02T09:00:00Z",
                          "window_ends_at": "2027-01-02T10:00:00Z", "schedule_state": "scheduled"}
    assert [j["id"] for j in root.get("/api/jobs?scheduled=true").json["jobs"]] == [job_id]
    now = instance.dashctl("job", "reschedule", job_id)
    assert now.code == 0 and "is pending" in now.out, now
    assert root.get("/api/jobs?scheduled=true").json["jobs"] == []
    assert [e["action"] for e in root.get("/api/audit").json["entries"]].count("change_rescheduled") == 2
    instance.add_user("eve")
    assert instance.login("eve").post(f"/api/jobs/{job_id}/reschedule", {}).status == 403
    assert root.delete(f"/api/jobs/{job_id}").status == 200
    assert root.post(f"/api/jobs/{job_id}/reschedule").status == 409


def test_the_workers_tell_of_themselves(make_instance):
    one = make_instance(start=False)
    one.start("--workers", "0")
    assert one.login("root").get("/api/worker/status").json == {"never_run": True}
    one.stop()
    one.start("--workers", "3")
    root = one.login("root")
    told = wait_until(lambda: (lambda t: t if "effective" in t else None)(root.get("/api/worker/status").json), what="a note")
    assert told["effective"] == {"total": 3} and told["clamp_reason"] is None and told["workers"][0]["alive"] is True
    one.add_user("bob")
    assert one.login("bob").get("/api/worker/status").status == 403


def test_a_teardown_forgets_only_the_machine_that_it_removed(instance, root):
    executor(instance, "cloud1-vm-deploy", """id=$(sed 's/.*"job_id":"\\([^"]*\\)".*/\\1/'); echo '{"resource_id": "i-'$id'"}'""")
    executor(instance, "cloud1-vm-destroy", "exit 0")
    made = []
    for _ in range(2):
        made.append(root.post("/api/cloud1/deploy", MACHINE).json["job_id"])
        wait_for(root, made[-1], "completed")
    assert root.delete("/api/cloud1/instances/web").status == 409, "two machines have the name"
    gone = root.delete(f"/api/cloud1/instances/i-{made[1]}").json["job_id"]
    wait_for(root, gone, "completed")
    # The older one of the same name still has its deploy job.
    for job_id, known in ((made[1], False), (made[0], True)):
        told = root.delete(f"/api/cloud1/instances/i-{job_id}").json["job_id"]
        assert job(root, told)["request"]["has_deploy_job"] is known
