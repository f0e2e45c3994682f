"""A migration is a job: both forms of the request, progress, cancel, exclusion, bandwidth, and a process that dies."""
import json
import os
import signal
import socket
import subprocess

import pytest

from support.program import BINARY, clean_environment, run
from support.storage import PART, migrate, people, upload
from support.wait import wait_until

ASYNC = {"Prefer": "respond-async"}
SLOW = 1  # byte a second: the first piece never gets its turn


@pytest.fixture
def stopped(make_instance, bucket, scratch):
    """An instance that is not started, and its settings: a folder is the active backend, a bucket the other."""
    (scratch / "store").mkdir()
    settings = {"storage_local_path": str(scratch / "store"), "job_lease_seconds": "2"}
    return make_instance(start=False), settings | bucket.settings | {"storage_active_backend": "local"}


@pytest.fixture
def actors(stopped):
    instance, settings = stopped
    who = people(instance, settings)
    assert upload(who.ann, "a.yml", b"A").status == 201
    return who


def job_of(actors, job_id):
    return actors.root.get("/api/jobs/" + job_id).json


def jobs(actors, **only):
    found = [job for job in actors.root.get("/api/jobs").json["jobs"] if job["job_type"] == "storage:migrate"]
    return [job for job in found if all(job[key] == value for key, value in only.items())]


def start(actors, source="local", target="s3", **more):
    answer = actors.root.post("/api/storage/migrate", {"source": source, "target": target, **more}, headers=ASYNC)
    assert answer.status == 202, answer
    return answer.json["job_id"]


def ended(actors, job_id):
    final = ("completed", "failed", "cancelled")
    return wait_until(lambda: (job := job_of(actors, job_id))["status"] in final and job, what="the end of the job")


def test_with_respond_async_the_answer_is_the_job_and_a_worker_runs_it(actors, bucket):
    answer = actors.root.post("/api/storage/migrate", {"source": "local", "target": "s3"},
                              headers={"Prefer": "wait=5, Respond-Async"})
    assert answer.status == 202 and set(answer.json) == {"job_id", "status"}, answer
    assert answer.headers["location"] == "/api/jobs/" + answer.json["job_id"]
    assert answer.headers["preference-applied"] == "respond-async"
    job = ended(actors, answer.json["job_id"])
    assert job["status"] == "completed" and job["job_type"] == "storage:migrate", job
    assert job["result"]["copied"] == ["a.yml"] and job["result"]["job_id"] == job["id"]
    assert set(job["progress"]) == {"bytes_done", "bytes_total", "items_done", "items_total", "bytes_per_second",
                                    "eta_seconds"}
    assert (job["progress"]["items_done"], job["progress"]["bytes_total"]) == (1, 1)
    assert bucket.get("config-mgmt/a.yml") == b"A"
    assert actors.ann.get("/api/jobs/" + job["id"]).status in (403, 404)
    assert actors.ann.delete("/api/jobs/" + job["id"]).status in (403, 404)


def test_the_waiting_form_runs_where_no_worker_does(stopped):
    instance, settings = stopped
    instance.set(**settings)
    instance.start("--workers", "0")
    root = instance.login("root")
    upload(root, "a.yml", b"A")
    answer = migrate(root, "local", "s3")
    assert answer.status == 200 and answer.json["copied"] == ["a.yml"], answer
    assert root.get("/api/jobs/" + answer.json["job_id"]).json["status"] == "completed"
    again = run("storage", "migrate", "local", "s3", "--overwrite", "--target", instance.url, "--token-file", "-",
                "--output", "json", stdin=root.token)
    assert again.code == 0 and again.json["copied"] == ["a.yml"], again


def test_a_dry_run_makes_no_job_in_either_form(actors):
    for headers in ({}, ASYNC):
        dry = actors.root.post("/api/storage/migrate", {"source": "local", "target": "s3", "dry_run": True},
                               headers=headers)
        assert dry.status == 200 and dry.json["job_id"] is None and dry.json["copied"] == ["a.yml"], dry
    assert jobs(actors) == []


def test_refusals_make_no_job(actors):
    for headers in ({}, ASYNC):
        for body, status in (({"bwlimit": -1}, 400), ({"bwlimit": "fast"}, 422), ({"target": "local"}, 400),
                             ({"target": "gcs"}, 400)):
            wanted = {"source": "local", "target": "s3"} | body
            assert actors.root.post("/api/storage/migrate", wanted, headers=headers).status == status, body
        assert actors.ann.post("/api/storage/migrate", {"source": "local", "target": "s3"}, headers=headers).status == 403
    for rate in ("0", "-1", "fast", "1T", "10MB", "99999999999G"):
        done = run("storage", "migrate", "local", "s3", "--bwlimit=" + rate, "--data-dir", actors.instance.folder)
        assert done.code == 2 and "--bwlimit" in done.err, done
    assert jobs(actors) == []


def test_two_migrations_of_a_pair_exclude_each_other_until_the_first_is_cancelled(actors, bucket):
    first = start(actors, bwlimit=SLOW)
    for source, target in (("local", "s3"), ("s3", "local"), ("obj_cloud1", "local")):
        for headers in ({}, ASYNC):
            refused = actors.root.post("/api/storage/migrate", {"source": source, "target": target}, headers=headers)
            assert refused.status == 409 and first in refused.json["detail"], refused
    local = run("storage", "migrate", "s3", "local", "--data-dir", actors.instance.folder)
    assert local.code != 0 and first in local.err, local
    wait_until(lambda: job_of(actors, first)["status"] == "running", what="the worker")
    assert actors.root.delete("/api/jobs/" + first).status == 200
    assert ended(actors, first)["status"] == "cancelled"
    assert bucket.get("config-mgmt/a.yml") is None
    assert migrate(actors.root, "local", "s3").json["copied"] == ["a.yml"]


def test_a_client_that_leaves_cancels_what_it_waits_for(actors):
    body = json.dumps({"source": "local", "target": "s3", "bwlimit": SLOW}).encode()
    head = (f"POST /api/storage/migrate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {actors.root.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode()
    with socket.create_connection(("127.0.0.1", actors.instance.port)) as client:
        client.sendall(head + body)
        job = wait_until(lambda: jobs(actors, status="running"), what="the job")[0]
    assert ended(actors, job["id"])["status"] == "cancelled"
    assert migrate(actors.root, "local", "s3").status == 200


@pytest.mark.parametrize("where", ["--data-dir", "--target"])
def test_ctrl_c_cancels_the_job_of_the_command(actors, where):
    words = ["--data-dir", str(actors.instance.folder)] if where == "--data-dir" else [
        "--target", actors.instance.url, "--token", actors.root.token]
    with subprocess.Popen([BINARY, "storage", "migrate", "local", "s3", "--bwlimit", "1", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(actors.instance.env), text=True) as process:
        job = wait_until(lambda: jobs(actors, status="running"), what="the job")[0]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "what was copied stays" in err, err
    assert ended(actors, job["id"])["status"] == "cancelled"


def test_a_failed_item_ends_a_completed_job_and_the_command_with_5(actors, scratch):
    (scratch / "store/c.yml").mkdir()
    (scratch / "store/c.yml/inside.yml").write_bytes(b"x")
    actors.instance.set(storage_active_backend="s3")
    assert upload(actors.root, "c.yml", b"C").status == 201
    done = run("storage", "migrate", "s3", "local", "--target", actors.instance.url, "--token", actors.root.token,
               "--output", "json")
    assert done.code == 5, done
    job = jobs(actors, description="obj_cloud1 to local")[0]
    assert job["status"] == "completed"
    assert [item["name"] for item in job_of(actors, job["id"])["result"]["failed"]] == ["c.yml"]


def test_a_killed_process_leaves_a_job_that_goes_on_from_its_journal(actors, bucket):
    big = os.urandom(3 * PART)
    assert upload(actors.ann, "big.rpm", big).status == 201
    job_id = start(actors, bwlimit=6 << 20)
    wait_until(lambda: "config-mgmt/a.yml" in bucket.keys(), what="the first copy")
    actors.instance.kill()
    assert "config-mgmt/big.rpm" not in bucket.keys()
    actors.instance.start()
    actors.root = actors.instance.login("root")
    job = ended(actors, job_id)
    assert job["status"] == "completed", job
    assert job["result"]["copied"] == ["a.yml", "big.rpm"] and job["result"]["skipped"] == [], job["result"]
    assert bucket.get("config-mgmt/big.rpm") == big


def test_the_bandwidth_holds_over_all_copies_of_a_job(actors):
    for n in range(4):
        assert upload(actors.ann, f"{n}.yml", b"x" * 50_000).status == 201
    job = ended(actors, start(actors, bwlimit=100_000))
    assert job["status"] == "completed"
    assert job["progress"]["bytes_per_second"] <= 110_000, job["progress"]
    assert job["progress"]["bytes_done"] == job["progress"]["bytes_total"] == 200_001


def test_a_queued_migration_runs_only_while_its_requester_is_an_admin(stopped):
    instance, settings = stopped
    instance.set(**settings)
    instance.add_user("second", admin=True)
    instance.start("--workers", "0")
    second = instance.login("second")
    assert upload(second, "a.yml", b"A").status == 201
    queued = second.post("/api/storage/migrate", {"source": "local", "target": "s3"}, headers=ASYNC).json["job_id"]
    assert instance.login("root").patch("/api/users/second", {"is_admin": False}).status == 200
    instance.restart()
    root = instance.login("root")
    final = wait_until(lambda: (job := root.get("/api/jobs/" + queued).json)["status"] in ("completed", "failed") and job,
                       what="the end of the job")
    assert final["status"] == "failed" and "'second'" in final["error_message"], final
    assert migrate(root, "local", "s3").json["copied"] == ["a.yml"]


def test_a_killed_command_holds_no_second_run_up(stopped, bucket):
    """Where nobody serves, nobody sweeps the job of a process that died."""
    instance, settings = stopped
    instance.set(**settings)
    (instance.folder.parent / "store/a.yml").write_bytes(b"A")
    command = [BINARY, "storage", "migrate", "local", "s3", "--data-dir", str(instance.folder)]
    with subprocess.Popen([*command, "--bwlimit", "1"], env=clean_environment(instance.env), stderr=subprocess.DEVNULL) as process:
        found = wait_until(lambda: [job for job in instance.dashctl("job", "list", "--output", "json").json["jobs"]
                                    if job["status"] == "running"], what="the job")[0]
        live = instance.dashctl("storage", "migrate", "local", "s3")
        assert live.code == 12 and found["id"] in live.err, live
        process.kill()
    again = instance.dashctl("storage", "migrate", "local", "s3", "--output", "json")
    assert again.code == 0 and again.json["copied"] == ["a.yml"], again
    lost = instance.dashctl("job", "show", found["id"], "--output", "json").json
    assert lost["status"] == "failed" and again.json["job_id"] in lost["error_message"], lost
