"""Two replicas with two workers each on one PostgreSQL, behind one nginx: one instance, whoever answers."""
import os
import random
import shutil
import tempfile
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from support.http_client import Http
from support.jobs import MACHINE, wait_for
from support.replicas import Replicas
from support.s3_bucket import Bucket
from support.storage import PART, begin, commit, put, slices
from support.wait import wait_until
from support.windows import clock, window
from support.write_load import WriteLoad, check_kept


@pytest.fixture(scope="module")
def replicas(s3_server):
    folder = Path(tempfile.mkdtemp(prefix="e2e-", dir="/tmp"))
    folder.chmod(0o755)
    made = Replicas(folder, Bucket(s3_server).settings)
    for name in ("ann", "bob"):
        made.all[0].add_user(name, grants=["change_windows:use"] if name == "bob" else (), workgroups=["web"])
    yield made
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def root(replicas):
    return replicas.login("root")


def test_a_sign_in_counts_and_ends_at_every_replica(replicas):
    ann = replicas.login("ann")
    assert [client.get("/api/auth/me").status for client in replicas.each(ann.token)] == [200, 200]
    one, two = replicas.each(ann.token)
    assert one.post("/api/auth/logout").status == 200
    assert two.get("/api/auth/me").status == 401 and one.get("/api/auth/me").status == 401


def test_a_user_who_is_disabled_at_one_replica_is_out_at_the_other_at_once(replicas, root):
    replicas.all[0].add_user("eve")
    eve = replicas.each(replicas.login("eve").token)
    assert [client.get("/api/auth/me").status for client in eve] == [200, 200]
    assert replicas.each(root.token)[0].patch("/api/users/eve", {"is_active": False}).status == 200
    assert [client.get("/api/auth/me").status for client in eve] == [401, 401]


def test_a_setting_that_one_replica_takes_is_what_the_other_uses(replicas, root):
    one, two = replicas.each(root.token)
    for n in range(20):
        assert one.put("/api/setup/config", {"app_url": f"https://{n}.example"}).status == 200
        assert two.get("/api/setup/config").json["app_url"] == f"https://{n}.example"
        one, two = two, one


def test_approvals_and_windows_are_those_of_one_instance(replicas, root):
    ann, bob = replicas.login("ann"), replicas.login("bob")
    (ann_one, _), (_, bob_two) = replicas.each(ann.token), replicas.each(bob.token)
    later = (datetime.now(timezone.utc) + timedelta(hours=24)).strftime("%Y-%m-%dT%H:%M")
    booked = ann_one.post("/api/cloud1/deploy", {**MACHINE, "run_at": later, "workgroup": "web"})
    assert booked.json["status"] == "awaiting_approval", booked
    job_id = booked.json["job_id"]
    answers = []
    both = [threading.Thread(target=lambda c=c: answers.append(c.post(f"/api/change-windows/approvals/{job_id}")))
            for c in replicas.each(bob.token)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sorted((a.status, a.json.get("already")) for a in answers) in ([(200, False), (200, True)],), answers
    assert bob_two.get(f"/api/jobs/{job_id}").json["status"] == "scheduled"

    shut = window(replicas.each(root.token)[0], "later", clock(12), minutes=5)
    assert replicas.each(root.token)[1].patch("/api/workgroups/web", {"change_window_id": shut["id"]}).status == 200
    refused = [client.post("/api/cloud1/deploy", {**MACHINE, "workgroup": "web"}) for client in replicas.each(ann.token)]
    assert [(r.status, r.json.get("detail", r.json).get("error")) for r in refused] == [(403, "change_window")] * 2, refused
    assert root.patch("/api/workgroups/web", {"change_window_id": ""}).status == 200


def test_one_upload_goes_over_both(replicas, root):
    data = os.urandom(4 * PART + 7)
    handle = begin(root, "spread.rpm", len(data))["handle"]
    clients = replicas.each(root.token)
    for n, piece in enumerate(slices(data), 1):
        assert put(clients[n % 2], handle, n, piece).status == 200
    done = commit(clients[0], handle, 5)
    assert done.status == 201 and done.json["size"] == len(data), done
    assert root.get("/api/storage/fetch?name=spread.rpm&raw=1").body == data


def test_each_job_runs_once(replicas, root):
    ann = replicas.login("ann")
    answers = [ann.post("/api/cloud1/deploy", {**MACHINE, "name": f"vm-{n}", "workgroup": "web"}) for n in range(20)]
    assert {answer.status for answer in answers} == {200}, answers
    jobs = [answer.json["job_id"] for answer in answers]
    for job_id in jobs:
        wait_for(ann, job_id, "completed")
    assert [replicas.marks_of(job_id) for job_id in jobs] == [["begin", "end"]] * len(jobs)


def kill_rounds(replicas, rounds):
    """Kills one replica or the other at any moment of a load, and starts it again."""
    token = replicas.login("root").token
    clients = [lambda one=one: Http(one.port, token) for one in replicas.all]
    deploys, stop = [], threading.Event()

    def deploy():
        n = 0
        while not stop.is_set():
            try:
                answer = clients[n % 2]().post("/api/cloud1/deploy", {**MACHINE, "name": f"load-{rounds}-{n}"}, timeout=90)
                if answer.status == 200:
                    deploys.append(answer.json["job_id"])
            except OSError:
                pass
            n += 1
            stop.wait(0.1)

    thread = threading.Thread(target=deploy)
    with WriteLoad(clients) as load:
        thread.start()
        try:
            for n in range(rounds):
                load.wait_for(random.Random(n).randrange(3, 30))
                victim = replicas.all[n % 2]
                victim.kill()
                load.wait_for(3)
                replicas.start(victim)
        finally:
            stop.set()
            thread.join()
    check_kept(Http(replicas.all[0].port, token), load)
    return deploys


def settled(http, job_id):
    return wait_until(lambda: (lambda j: j if j["status"] in ("completed", "failed") else None)(http.get(f"/api/jobs/{job_id}").json),
                      seconds=150, what="the job")


def check_kills(replicas, rounds):
    deploys = kill_rounds(replicas, rounds)
    http = Http(replicas.all[0].port, replicas.all[0].login("root").token)
    for job_id in deploys:
        state, marks = settled(http, job_id)["status"], replicas.marks_of(job_id)
        assert "twice" not in marks and marks.count("end") <= 1, (job_id, marks)
        assert state == "failed" or marks.count("end") == 1, (job_id, marks)


def test_a_replica_that_is_killed_takes_nothing_with_it(replicas):
    check_kills(replicas, 5)


@pytest.mark.long
def test_a_replica_that_is_killed_takes_nothing_with_it_long(replicas):
    check_kills(replicas, 50)
