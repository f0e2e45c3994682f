"""A required, closed change window holds whoever leaves his workgroup out, and a booking whose window is gone does not run."""
from datetime import datetime, timedelta, timezone

import pytest

from support.databases import rows
from support.jobs import MACHINE
from support.wait import wait_until
from support.windows import clock, window

SIX = {
    "/api/cloud1/deploy": MACHINE, "/api/azure/deploy": {"name": "w", "image": "i"}, "/api/cloud3/deploy": {"name": "w", "image": "i"},
    "/api/oci/deploy": {"name": "w", "image": "i"}, "/api/databases": {"name": "d"}, "/api/k8s/clusters/provision": {"name": "k"},
}
ACTIONS = ["aws:ec2:deploy", "cloud2:vm:deploy", "gcp:gce:deploy", "cloud4:compute:deploy", "clouddb:provision", "k8s:provision"]
LEFT_OUT = [{}, {"workgroup": None}, {"workgroup": " \t"}]


@pytest.fixture
def closed(make_instance):
    """team-a may change nothing for six hours; alice is in it, both in team-b too, ned in none."""
    one = make_instance(env={"POLICY_BINARY": "/nonexistent/engine"})
    one.set(admission_gated_actions=",".join(ACTIONS))
    one.add_user("alice", workgroups=["team-a"])
    one.add_user("both", workgroups=["team-a", "team-b"])
    one.add_user("ned")
    root = one.login("root")
    later = window(root, "later", clock(6))["id"]
    assert root.patch("/api/workgroups/team-a", {"change_window_id": later}).status == 200
    return one, root


@pytest.mark.parametrize("path", SIX)
@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_leaving_the_workgroup_out_does_not_leave_the_window(closed, path, left_out):
    one, root = closed
    alice, both, ned = (one.login(name) for name in ("alice", "both", "ned"))
    body = {**SIX[path], **left_out}
    refused = alice.post(path, body)
    assert refused.status == 403 and refused.json["detail"]["error"] == "change_window", refused
    audited = root.get("/api/audit").json["entries"]
    asked = both.post(path, body)
    assert asked.status == 422, asked
    problem = asked.json["detail"][0]
    assert problem["type"] == "missing" and problem["loc"] == ["body", "workgroup"]
    assert "team-a" in problem["msg"] and "team-b" in problem["msg"]
    assert root.get("/api/audit").json["entries"] == audited
    assert both.post(path, {**body, "workgroup": "team-b"}).status in (200, 202)
    assert ned.post(path, body).status in (200, 202), "in no workgroup it stays empty"
    made = root.post(path, body)
    assert made.status in (200, 202) and root.get(f"/api/jobs/{made.json['job_id']}").json["workgroup"] is None


@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_a_bulk_deploy_and_a_count_do_not_either(closed, left_out):
    one, _ = closed
    alice, both = one.login("alice"), one.login("both")
    for spelling in ("cloud1", "aws"):
        for body, path in (({**MACHINE, "count": 2, **left_out}, "deploy"),
                           ({"image": "i", "items": [{"name": "a", **left_out}, {"name": "b"}]}, "bulk-deploy"),
                           ({"image": "i", "items": [{"name": "a"}, {"name": "b"}], **left_out}, "bulk-deploy"),
                           ({"image": "i", "items": [{"name": "a", "workgroup": "team-a"}, {"name": "b", **left_out}]}, "bulk-deploy")):
            refused = alice.post(f"/api/{spelling}/{path}", body)
            assert refused.status == 403 and refused.json["detail"]["error"] == "change_window", refused
            several = both.post(f"/api/{spelling}/{path}", body)
            assert several.status == 422 and several.json["detail"][0]["loc"] == ["body", "workgroup"], several


@pytest.mark.parametrize("when", [False, True])
def test_a_dry_run_judges_the_workgroup_that_would_be_judged(make_instance, when):
    one = make_instance()
    one.set(admission_control_enabled="true", admission_gated_actions=",".join([*ACTIONS, "cloud1:vm:destroy"]))
    one.add_user("alice", workgroups=["team-a"])
    one.add_user("both", workgroups=["team-a", "team-b"])
    (one.folder / "policy" / "groups.rego").write_text(
        'package admission.groups\nimport rego.v1\ndeny contains sprintf("is of %v", [input.request.workgroup])\n')
    alice, both, root = (one.login(name) for name in ("alice", "both", "root"))

    def reasons(http, action, request):
        answer = http.post("/api/admission/check", {"action": action, "request": request, "when": when})
        assert answer.status == 200, answer
        return (answer.json["now"] if when else answer.json)["reasons"]

    for action in ACTIONS:
        for left_out in LEFT_OUT:
            request = {"region": "us-east-1", "name": "w", **left_out}
            assert reasons(alice, action, request) == ["is of team-a"]
            several = both.post("/api/admission/check", {"action": action, "request": request, "when": when})
            assert several.status == 422, several
            assert several.json["detail"][0]["type"] == "missing" and several.json["detail"][0]["loc"] == ["body", "workgroup"]
            assert "team-a, team-b" in several.json["detail"][0]["msg"]
        assert reasons(both, action, {"name": "w", "workgroup": "team-b"}) == ["is of team-b"]
        assert reasons(root, action, {"name": "w", "workgroup": None}) == ["is of null"]
    assert reasons(alice, "cloud1:vm:destroy", {"name": "w", "workgroup": None}) == ["is of null"]


def test_an_unknown_workgroup_answers_as_one_that_he_is_not_in(closed):
    one, root = closed
    ned = one.login("ned")
    for path, body in SIX.items():
        known, unknown = ned.post(path, {**body, "workgroup": "team-a"}), ned.post(path, {**body, "workgroup": "team-x"})
        assert (known.status, unknown.status) == (403, 403)
        assert known.json["detail"].replace("team-a", "team-x") == unknown.json["detail"]
        assert root.post(path, {**body, "workgroup": "team-x"}).status == 400


@pytest.fixture
def booked(make_instance):
    """A job that was booked into a window which is open, for a time that comes at once."""
    one = make_instance()
    one.add_user("alice", workgroups=["team-a"])
    root, alice = one.login("root"), one.login("alice")
    open_now = window(root, "now", clock(-2), 240)["id"]
    soon = (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    made = alice.post("/api/cloud1/deploy", {**MACHINE, "run_at": soon, "change_window_id": open_now})
    assert made.json["status"] == "scheduled", made

    def let_it_come():
        """Puts the booked time before now, and an executor in place."""
        run_at = int((datetime.now(timezone.utc) - timedelta(minutes=1)).timestamp() * 1e6)
        rows(one, "UPDATE jobs SET run_at = ? WHERE id = ?", run_at, made.json["job_id"])
        (one.folder / "deploy").mkdir()
        path = one.folder / "deploy" / "cloud1-vm-deploy"
        path.write_text("#!/bin/sh\necho made\n")
        path.chmod(0o755)
        return wait_until(lambda: (lambda j: j if j["status"] in ("missed", "completed", "failed") else None)(
            alice.get(f"/api/jobs/{made.json['job_id']}").json), what="its end")

    return one, root, open_now, let_it_come


def test_a_booked_job_runs_while_its_window_holds_its_time(booked):
    _, root, open_now, let_it_come = booked
    assert root.put(f"/api/change-windows/{open_now}", {"duration_minutes": 241}).status == 200
    assert let_it_come()["status"] == "completed"


@pytest.mark.parametrize("change", ["disabled", "moved", "shortened", "deleted"])
def test_a_booked_job_whose_window_is_gone_is_missed(booked, change):
    one, root, open_now, let_it_come = booked
    if change == "deleted":
        assert root.delete(f"/api/change-windows/{open_now}").status == 409
        rows(one, "DELETE FROM change_windows")
    else:
        body = {"disabled": {"enabled": False}, "moved": {"start_at_local": clock(5)}, "shortened": {"duration_minutes": 30}}[change]
        assert root.put(f"/api/change-windows/{open_now}", body).status == 200
    ended = let_it_come()
    assert ended["status"] == "missed" and ended["reason"] == "change_window" and ended["started_at"] is None, ended


def test_a_time_zone_with_a_nul_is_422(closed):
    one, root = closed
    body = {"name": "z", "start_at_local": "02:00", "duration_minutes": 60, "timezone": "UTC\0x"}
    made = root.post("/api/change-windows", body)
    assert made.status == 422 and made.json["detail"][0]["loc"] == ["body", "timezone"], made
    listed = root.get("/api/change-windows").json["windows"][0]["id"]
    assert root.put(f"/api/change-windows/{listed}", {"timezone": "Europe/Berlin\0"}).status == 422
    booked = root.post("/api/cloud1/deploy", {**MACHINE, "run_at": "2027-01-01T10:00", "run_timezone": "UTC\0"})
    assert booked.status == 422 and booked.json["detail"][0]["loc"] == ["body", "run_timezone"], booked
    query = "/api/cloud1/instances/i-1?run_at=2027-01-01T10:00&run_timezone=UTC"
    assert root.delete(query + "%01").json["detail"][0]["loc"] == ["query", "run_timezone"]
    assert root.delete(query + "%00x").status == 400, "a NUL is not in a query"
    good = root.post("/api/cloud1/deploy", {**MACHINE, "run_at": "2027-01-01T10:00", "run_timezone": "Europe/Berlin"})
    moved = root.post(f"/api/jobs/{good.json['job_id']}/reschedule", {"run_at": "2027-01-02T10:00", "run_timezone": "UTC\0"})
    assert good.status == 200 and moved.status == 422
