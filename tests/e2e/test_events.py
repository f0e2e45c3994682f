"""What changes in the lists, while it happens: GET /api/events."""
import os
import threading

import pytest

from support.databases import DATABASES, new_database
from support.event_stream import EventStream
from support.http_client import Http
from support.instance import Instance
from support.jobs import HELD, MACHINE, executor
from support.wait import wait_until
from support.working_agents import AgentProcess, agent_row

EVENTS = "/api/events"


def begin(client, **kw):
    """An open stream and its events behind the first one."""
    stream = EventStream(client, EVENTS, **kw)
    assert stream.status == 200 and stream.type == "text/event-stream"
    events = iter(stream)
    assert next(events)[0] == "ready"
    return stream, events


def next_job(events, job_id, status):
    """Reads on to this job in this state."""
    for name, _, data in events:
        if name == "job" and data["id"] == job_id and data["status"] == status:
            return data
    raise AssertionError(f"the stream ended before job {job_id} was {status}")


def test_a_job_is_followed_from_its_submission_to_its_end(instance, root):
    executor(instance, "cloud1-vm-deploy", "echo done")
    _, events = begin(root)
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    seen = next_job(events, job_id, "completed")
    assert seen == root.get(f"/api/jobs/{job_id}").json
    assert seen == root.get("/api/jobs").json["jobs"][0]


def test_an_approval_appears_to_those_who_may_give_it_and_goes(instance, root):
    instance.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy",
                 admission_enforce_needs_approval="true")
    (instance.folder / "policy" / "held.rego").write_text(HELD)
    for name, grants in (("alice", []), ("bob", ["change_windows:use"]), ("eve", [])):
        instance.add_user(name, workgroups=["team"], grants=grants)
    alice, bob, eve = (instance.login(name) for name in ("alice", "bob", "eve"))
    streams = {name: begin(client)[1] for name, client in (("alice", alice), ("bob", bob), ("eve", eve))}
    held = alice.post("/api/cloud1/deploy", MACHINE).json
    assert held["status"] == "awaiting_approval", held
    job_id = held["job_id"]
    for name in ("alice", "bob"):
        event, _, data = next(streams[name])
        assert (event, data) == ("approval", {"job_id": job_id, "status": "awaiting_approval", "awaiting": True, "total": 1}), name
        assert next(streams[name])[2]["approval_reasons"] == ["look twice"]
    assert bob.post(f"/api/change-windows/approvals/{job_id}").status == 200
    event, _, data = next(streams["bob"])
    assert (event, data["awaiting"], data["total"]) == ("approval", False, 0), data
    # Another user's job is in none of eve's lists: the first that she is shown is her own.
    own = eve.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    assert next(streams["eve"])[2]["job_id"] == own
    assert [job["id"] for job in eve.get("/api/jobs").json["jobs"]] == [own]


def test_a_stream_is_resumed_behind_the_last_event_and_tells_when_it_cannot(root):
    stream, events = begin(root)
    first = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    name, number, data = next(events)
    assert (name, data["id"]) == ("job", first)
    stream.close()
    second = root.post("/api/cloud1/deploy", {**MACHINE, "name": "other"}).json["job_id"]
    resumed = EventStream(root, EVENTS, last_id=number).take(2)
    assert resumed[0][2] == {"resumed": True} and resumed[1][2]["id"] == second
    # Of another database, or from before a copy was put back.
    assert EventStream(root, EVENTS, last_id=10**15).take(1)[0][2] == {"resumed": False}
    for wrong in ("x", "-1"):
        assert EventStream(root, EVENTS, last_id=wrong).status == 400


def test_an_admin_is_told_that_the_list_of_agents_changed(instance, root):
    instance.add_user("alice", workgroups=["team"])
    _, events = begin(root)
    _, others = begin(instance.login("alice"))
    instance.set(remote_agents_enabled="true", public_base_url="https://dash.example")
    made = root.post("/api/agents", {"name": "branch", "allowed_job_types": []})
    assert made.status == 201, made
    assert next(events) == ("agents", None, {})
    assert root.delete(f"/api/agents/{made.json['id']}").status == 200
    assert next(events)[0] == "agents"
    assert root.delete(f"/api/agents/{made.json['id']}/record").status in (200, 204)
    assert next(events)[0] == "agents"
    # The first that alice is shown is a job of hers.
    instance.login("alice").post("/api/cloud1/deploy", MACHINE)
    assert next(others)[0] == "job"


@pytest.mark.long
def test_an_agent_that_enrols_leases_goes_offline_and_comes_back_is_told(instance, root, scratch):
    instance.set(remote_agents_enabled="true", public_base_url="https://dash.example")
    _, events = begin(root)
    seen = []

    def read():
        for event in events:
            seen.append(event)

    threading.Thread(target=read, daemon=True).start()
    agent = AgentProcess(instance, root, scratch / "agent", "branch")

    def told(step, is_so):
        """Acts, and waits for an event after which the list shows what it led to."""
        seen.clear()
        step()
        wait_until(lambda: ("agents", None, {}) in seen and is_so(agent_row(root, agent.id)), 120, "the event and the row")

    told(agent.enroll, lambda row: row["status"] == "online" and row["agent_version"] == "2.7.0")
    told(agent.start, lambda row: row["reported_job_types"])
    told(agent.kill, lambda row: row["status"] == "offline")
    told(agent.start, lambda row: row["status"] == "online")
    agent.stop()


def test_nobody_and_a_wrong_token_follow_nothing(instance):
    assert EventStream(Http(instance.port, ""), EVENTS).status == 401
    assert EventStream(Http(instance.port, "nonsense"), EVENTS).status == 401
    assert EventStream(Http(instance.port, instance.token("root")), EVENTS).status == 200


def test_followers_hold_no_threads_and_the_drain_ends_them(instance, root):
    def threads():
        return len(os.listdir(f"/proc/{instance.process.pid}/task"))

    begin(root)
    before = threads()
    followers = [begin(root) for _ in range(100)]
    assert threads() <= before + 2
    rest = []
    readers = [threading.Thread(target=lambda e=events: rest.append(list(e))) for _, events in followers]
    for reader in readers:
        reader.start()
    instance.stop()
    for reader in readers:
        reader.join(30)
    assert rest == [[]] * 100


@pytest.mark.parametrize("kind", DATABASES)
def test_events_of_one_replica_reach_the_followers_of_another(make_instance, kind):
    instance = make_instance(env=new_database(kind))
    executor(instance, "cloud1-vm-deploy", "echo done")
    root = instance.login("root")
    other = Instance(instance.folder, instance.env)
    other.log_file = instance.folder.with_name("other.log")
    other.start("--workers", "0")
    try:
        _, events = begin(other.login("root"))
        job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
        assert next_job(events, job_id, "completed")["exit_status"] == 0
        assert root.delete("/api/jobs/none").status == 404
    finally:
        other.stop()


@pytest.mark.long
def test_a_follower_whose_session_ends_is_cut_off(instance, root):
    instance.add_user("reader")
    stream, events = begin(instance.login("reader"))
    assert root.delete("/api/users/reader").status < 300
    assert list(events) == [] and stream.comments >= 1
