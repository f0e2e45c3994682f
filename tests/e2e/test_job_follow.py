"""The log of a job while it is written: GET /api/jobs/{id}/logs?follow=1 and `dashctl job logs -f`."""
import os
import subprocess
import threading
from pathlib import Path

import pytest

from support.databases import DATABASES, new_database
from support.event_stream import EventStream
from support.fault import Fault
from support.http_client import Http
from support.instance import Instance
from support.jobs import MACHINE, executor, wait_for
from support.program import BINARY, clean_environment, run
from support.wait import wait_until

NAME = "cloud1-vm-deploy"


def connections(instance):
    lines = instance.anonymous.get("/metrics").text.splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("dashctl_connections "))


def path_of(job_id):
    return f"/api/jobs/{job_id}/logs?follow=1"


def begin_stepwise(instance, root):
    """Starts a job that prints a line for each step that the test makes; gives its id and its steps."""
    steps = instance.folder / "steps"
    steps.mkdir()
    executor(instance, NAME, f'''n=0
echo begun
while [ "$n" -lt 99 ]; do
    if [ -e {steps}/end ]; then exit "$(cat {steps}/end)"; fi
    if [ -e {steps}/$((n + 1)) ]; then n=$((n + 1)); echo "step $n"; else sleep 0.05; fi
done''')
    return root.post("/api/cloud1/deploy", MACHINE).json["job_id"], steps


@pytest.fixture
def stepwise(instance, root):
    job_id, steps = begin_stepwise(instance, root)
    yield job_id, steps
    (steps / "end").write_text("0")
    wait_for(root, job_id, "completed", "failed", "cancelled")


def step(steps, n):
    (steps / str(n)).write_text("")


def end(steps, code=0):
    (steps / "end.new").write_text(str(code))
    (steps / "end.new").rename(steps / "end")


def test_lines_come_while_the_job_runs_and_its_status_ends_the_stream(root, stepwise):
    job_id, steps = stepwise
    stream = EventStream(root, path_of(job_id))
    assert stream.status == 200 and stream.type == "text/event-stream"
    events = iter(stream)
    name, number, data = next(events)
    assert (name, number, data["n"], data["line"]) == ("message", "1", 1, "begun") and data["at"].endswith("Z")
    for n in (1, 2):
        step(steps, n)
        assert next(events)[2]["line"] == f"step {n}"
    end(steps)
    assert list(events) == [("end", None, {"status": "completed"})]


def test_a_stream_is_resumed_behind_the_last_line(root, stepwise):
    job_id, steps = stepwise
    first = EventStream(root, path_of(job_id))
    step(steps, 1)
    assert [e[1] for e in first.take(2)] == ["1", "2"]
    first.close()
    step(steps, 2)
    second = EventStream(root, path_of(job_id), last_id=2)
    assert [(e[1], e[2]["line"]) for e in second.take(1)] == [("3", "step 2")]
    assert EventStream(root, path_of(job_id) + "&after=1").take(1)[0][1] == "2"
    for wrong in ("x", "-1", "1.5"):
        assert EventStream(root, path_of(job_id), last_id=wrong).status == 400


def test_the_first_and_the_last_lines_are_kept_and_the_gap_is_named(instance, root):
    executor(instance, NAME, "seq 20500")
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_for(root, job_id, "completed")
    events = list(EventStream(root, path_of(job_id)))
    assert [e for e in events if e[0] != "message"] == [("gap", None, {"from": 10001, "to": 10500}), ("end", None, {"status": "completed"})]
    kept = [int(e[2]["line"]) for e in events if e[0] == "message"]
    assert kept == list(range(1, 10001)) + list(range(10501, 20501))
    assert [e[0] for e in EventStream(root, path_of(job_id), last_id=20500)] == ["end"]


def test_drain_ends_streams_in_order_and_without_their_end(instance, root, stepwise):
    job_id, steps = stepwise
    stream = EventStream(root, path_of(job_id))
    events = iter(stream)
    assert next(events)[2]["line"] == "begun"
    rest = []
    reader = threading.Thread(target=lambda: rest.extend(events))
    reader.start()
    instance.stop()
    reader.join(30)
    assert not reader.is_alive() and all(e[0] == "message" for e in rest)
    end(steps)
    instance.start()
    root.port = instance.port


def test_two_hundred_followers_hold_no_threads(instance, root, stepwise):
    job_id, steps = stepwise

    def threads():
        return len(os.listdir(f"/proc/{instance.process.pid}/task"))

    one = EventStream(root, path_of(job_id))
    assert one.take(1)[0][2]["line"] == "begun"
    before = threads()
    streams = [EventStream(root, path_of(job_id)) for _ in range(200)]
    for stream in streams:
        assert stream.take(1)[0][2]["line"] == "begun"
    assert threads() <= before + 2
    assert root.get("/api/auth/me").status == 200
    end(steps)
    assert all(list(stream) == [("end", None, {"status": "completed"})] for stream in streams)


def test_only_those_who_may_read_the_log_follow_it(instance, root, stepwise):
    job_id, _ = stepwise
    instance.add_user("eve")
    assert EventStream(instance.login("eve"), path_of(job_id)).status == 403
    assert EventStream(Http(instance.port, "nonsense"), path_of(job_id)).status == 401
    assert EventStream(root, path_of("none")).status == 404
    assert root.get(f"/api/jobs/{job_id}/logs?follow=perhaps").status == 422


@pytest.mark.parametrize("kind", DATABASES)
def test_another_process_of_the_instance_streams_too(make_instance, kind):
    instance = make_instance(env=new_database(kind))
    root = instance.login("root")
    job_id, steps = begin_stepwise(instance, root)
    other = Instance(instance.folder, instance.env)
    other.log_file = instance.folder.with_name("other.log")
    other.start("--workers", "0")
    try:
        events = iter(EventStream(other.login("root"), path_of(job_id)))
        assert next(events)[2]["line"] == "begun"
        step(steps, 1)
        assert next(events)[2]["line"] == "step 1"
        end(steps)
        assert next(events)[2] == {"status": "completed"}
        assert root.get(f"/api/jobs/{job_id}").json["exit_status"] == 0
    finally:
        other.stop()


def follow(job_id, url, token, *more):
    return subprocess.Popen([BINARY, "job", "logs", job_id, "-f", "--target", url, "--token-file", str(token), *more],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())


@pytest.fixture
def token(instance):
    path = Path(instance.folder.parent / "token")
    path.write_text(instance.token("root"))
    return path


def test_the_command_resumes_after_a_broken_connection_and_loses_no_line(instance, stepwise, token):
    job_id, steps = stepwise
    fault = Fault("follow", instance.port)
    try:
        command = follow(job_id, fault.url, token)
        assert command.stdout.readline() == "begun\n"
        fault.reset_after(0)
        step(steps, 1)
        wait_until(lambda: "connecting again" in command.stderr.readline(), what="the broken connection")
        fault.heal()
        assert command.stdout.readline() == "step 1\n"
        end(steps)
        out, err = command.communicate(timeout=30)
        assert command.returncode == 0 and out == "" and "completed" in err, err
    finally:
        fault.close()


def test_the_command_resumes_when_the_server_was_restarted(instance, root, token):
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]  # no executor: it waits
    before = connections(instance)
    command = follow(job_id, instance.url, token)
    wait_until(lambda: connections(instance) > before, what="the follower")
    port = instance.port
    instance.stop()
    executor(instance, NAME, "echo later")
    instance.start("--listen", f"127.0.0.1:{port}")
    out, err = command.communicate(timeout=60)
    assert command.returncode == 0 and out == "later\n", err


def test_the_command_ends_with_the_status_of_the_job(instance, root, token):
    executor(instance, NAME, "echo quota; exit 3")
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_for(root, job_id, "failed")
    for where in (["--target", instance.url, "--token-file", token], ["--data-dir", instance.folder]):
        done = run("job", "logs", job_id, "-f", *where)
        assert done.code == 1 and done.out == "quota\n" and "failed" in done.err, done
        told = run("job", "logs", job_id, "-f", "--output", "json", *where)
        assert told.code == 1 and told.json["status"] == "failed" and told.json["logs"][0]["line"] == "quota", told
    shown = root.get(f"/api/jobs/{job_id}").json
    assert shown["exit_status"] == 3 and shown["signal"] is None and shown["duration_seconds"] >= 0


@pytest.mark.long
def test_a_follower_whose_right_is_taken_away_is_cut_off(instance, root, stepwise):
    job_id, steps = stepwise
    instance.add_user("reader", grants=["jobs:read"])
    reader = instance.login("reader")
    stream = EventStream(reader, path_of(job_id))
    events = iter(stream)
    assert next(events)[2]["line"] == "begun"
    assert root.delete("/api/users/reader").status < 300
    assert list(events) == [] and stream.comments >= 1
    assert EventStream(reader, path_of(job_id)).status == 401
    end(steps)
