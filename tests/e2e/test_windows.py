"""Change windows and workgroups over HTTP; the engine is never needed."""
from datetime import datetime, timedelta, timezone

import pytest

from support.windows import clock, window

MACHINE = {"region": "us-east-1", "instance_type": "t3.large", "image": "ami-1", "name": "web", "workgroup": "team-a"}


@pytest.fixture
def team(make_instance):
    """An instance without an engine, a workgroup with alice in it, cloud1 deploys listed."""
    one = make_instance(env={"POLICY_BINARY": "/nonexistent/engine"})
    one.set(admission_gated_actions="aws:ec2:deploy")
    one.add_user("alice", workgroups=["team-a"])
    return one, one.login("root"), one.login("alice")


def attach(root, window_id, **more):
    answer = root.patch("/api/workgroups/team-a", {"change_window_id": window_id, **more})
    assert answer.status == 200, answer
    return answer.json


def test_outside_of_the_window_a_change_is_refused_and_can_be_booked(team):
    _, root, alice = team
    later = window(root, "later", clock(6))
    attached = attach(root, later["id"])
    assert attached["require_change_window"] is True and attached["change_window_name"] == "later"
    for path in ("/api/cloud1/deploy", "/api/aws/deploy"):
        answer = alice.post(path, MACHINE)
        assert answer.status == 403, answer
        detail = answer.json["detail"]
        assert detail["error"] == "change_window" and len(detail["reasons"]) == 1
        assert set(detail["schedule"]) == {"change_window_id", "window_name", "next_start", "next_end"}
    actions = [entry["action"] for entry in root.get("/api/audit").json["entries"]]
    assert actions.count("cloud1:vm:deploy:denied") == 2
    booked = alice.post("/api/cloud1/deploy", {**MACHINE, "change_window_id": detail["schedule"]["change_window_id"]})
    assert booked.status == 200 and booked.json["status"] == "scheduled", booked
    assert booked.json["scheduled_for"] == detail["schedule"]["next_start"]


def test_inside_of_the_window_and_on_other_actions_changes_are_admitted(team):
    _, root, alice = team
    attach(root, window(root, "now", clock(-1), 120)["id"])
    assert alice.post("/api/cloud1/deploy", MACHINE).json["status"] == "pending"
    attach(root, window(root, "later", clock(6))["id"])
    assert alice.post("/api/cloud2/deploy", MACHINE).status == 200
    attach(root, window(root, "later still", clock(8))["id"], require_change_window=False)
    assert alice.post("/api/cloud1/deploy", MACHINE).status == 200


def test_booked_changes_are_approved_on_their_own(team):
    one, root, alice = team
    one.set(change_approval_required="true")
    one.add_user("bob", grants=["change_windows:use"])
    run_at = (datetime.now(timezone.utc) + timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M")
    booked = alice.post("/api/cloud1/deploy", {**MACHINE, "run_at": run_at, "run_timezone": "UTC"})
    assert booked.json["status"] == "awaiting_approval", booked
    assert alice.post("/api/cloud1/deploy", MACHINE).json["status"] == "pending"
    approved = one.login("bob").post(f"/api/change-windows/approvals/{booked.json['job_id']}")
    assert approved.status == 200 and approved.json["status"] == "scheduled", approved


def test_windows_are_edited_by_who_may(team):
    one, root, alice = team
    assert alice.post("/api/change-windows", {"name": "x"}).status == 403
    one.add_user("dave", grants=["change_windows:write"])
    dave = one.login("dave")
    made = window(dave, "nights", "02:00", 240, timezone="America/New_York", schedule_days="0000011")
    assert made["summary"] == "Sat, Sun 02:00–06:00 (America/New_York), 4h" and made["next_start"]
    assert alice.get("/api/change-windows").json["windows"][0]["id"] == made["id"]
    assert dave.post("/api/change-windows", {"name": "nights", "start_at_local": "01:00", "duration_minutes": 5}).status == 409
    assert dave.post("/api/change-windows", {"name": "y", "start_at_local": "25:00", "duration_minutes": 5}).status == 400
    assert dave.post("/api/change-windows", {"start_at_local": "05:00", "duration_minutes": 5}).status == 422
    changed = dave.put(f"/api/change-windows/{made['id']}", {"enabled": False})
    assert changed.json["enabled"] is False and "next_start" not in changed.json
    assert dave.get("/api/change-windows?enabled_only=true").json["windows"] == []
    overlapping = window(dave, "more nights", "03:00", timezone="America/New_York")
    dave.put(f"/api/change-windows/{made['id']}", {"enabled": True})
    assert any("overlaps" in w for w in dave.put(f"/api/change-windows/{overlapping['id']}", {"description": "d"}).json["warnings"])
    assert dave.delete(f"/api/change-windows/{made['id']}").json == {"deleted": made["id"]}
    assert dave.delete(f"/api/change-windows/{made['id']}").status == 404


def test_a_workgroup_in_use_stays(team):
    _, root, alice = team
    assert alice.get("/api/workgroups").json[0]["members"] == ["alice"]
    assert alice.post("/api/workgroups", {"name": "team-b"}).status == 403
    assert root.post("/api/workgroups", {"name": "team-b"}).status == 201
    assert root.post("/api/workgroups", {"name": "team-b"}).status == 409
    assert root.post("/api/workgroups", {"name": "Bad Name!"}).status == 400
    assert root.post("/api/workgroups/team-b/members", {"username": "alice"}).status == 204
    kept = root.delete("/api/workgroups/team-b")
    assert kept.status == 409 and kept.json == {"detail": "Cannot delete workgroup 'team-b': it has members (1)"}
    assert root.delete("/api/workgroups/team-b/members/alice").status == 204
    assert root.post("/api/workgroups/TEAM-B/members/alice").status == 204
    assert root.post("/api/workgroups/team-b/members/ghost").status == 404
    assert alice.get("/api/workgroups/team-b/members").json == ["alice"]
    shown = alice.get("/api/workgroups/Team-B").json
    assert (shown["id"], shown["name"], shown["member_count"]) == ("team-b", "team-b", 1)
    assert root.delete("/api/workgroups/team-b/members/alice").status == 204
    assert root.delete("/api/workgroups/team-b").status == 204
    gone = root.get("/api/workgroups/team-b")
    assert gone.status == 404 and gone.json == {"detail": "Workgroup 'team-b' not found"}
    assert root.patch("/api/workgroups/team-b", {}).status == 404
    assert root.patch("/api/workgroups/team-a", {"require_change_window": True}).status == 400
