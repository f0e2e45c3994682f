"""Crashes of `serve` and its workers at any moment: no job is lost, none runs twice at once, what waits goes on waiting."""
import json
import random
import threading

import pytest

from support.jobs import HELD, executor
from support.wait import wait_until

DEPLOY = {"region": "us-east-1", "instance_type": "t3.large", "image": "ami-1"}
FINAL = {"completed", "failed", "cancelled"}

# A run tells when it begins and when it ends, and holds a lock meanwhile: a second run of the same job at the same time says "twice".
RUN = """
id=$(sed 's/.*"job_id":"\\([^"]*\\)".*/\\1/')
exec 9> {marks}/$id.lock
flock -n 9 || echo twice >> {marks}/$id
echo begin >> {marks}/$id
for i in 1 2 3; do echo line $i; sleep 0.05; done
echo '{{"resource_id": "r-'$id'"}}'
echo end >> {marks}/$id
"""


def pause(seconds):
    """The one thing here that is not a condition: the random moment at which a crash comes."""
    threading.Event().wait(seconds)


def crash_loop(instance, kills, seed):
    chance = random.Random(seed)
    marks = instance.folder / "marks"
    marks.mkdir()
    instance.set(job_lease_seconds="2", admission_control_enabled="true", admission_enforce_needs_approval="true",
                 admission_gated_actions="cloud1:vm:deploy")
    (instance.folder / "policy" / "held.rego").write_text(HELD)
    for name in ("cloud2-vm-deploy", "cloud2-vm-destroy"):
        executor(instance, name, RUN.format(marks=marks))
    instance.start("--workers", "3")
    root = instance.login("root")
    held = root.post("/api/cloud1/deploy", {**DEPLOY, "name": "web"}).json["job_id"]
    booked = root.post("/api/cloud2/deploy", {**DEPLOY, "name": "later", "run_at": "2027-06-01T10:00"}).json["job_id"]
    made = {}
    for round_ in range(kills):
        root = instance.login("root")
        for i in range(4):
            name = f"vm-{round_}-{i}"
            made[root.post("/api/cloud2/deploy", {**DEPLOY, "name": name}).json["job_id"]] = "deploy"
            made[root.delete(f"/api/cloud2/vms/gone-{name}").json["job_id"]] = "destroy"
        batch = root.post("/api/cloud2/deploy", {**DEPLOY, "name": f"batch{round_}", "count": 3}).json
        made.update(dict.fromkeys(batch["job_ids"], "deploy"))
        pause(chance.uniform(0, 1.2))
        instance.kill()
        instance.start("--workers", "3")
    root = instance.login("root")

    def unfinished():
        jobs = {job_id: root.get(f"/api/jobs/{job_id}").json for job_id in made}
        return jobs if all(job["status"] in FINAL for job in jobs.values()) else None

    told = wait_until(unfinished, 240, "the end of every job")
    assert root.get(f"/api/jobs/{held}").json["status"] == "awaiting_approval"
    assert root.get(f"/api/jobs/{booked}").json["status"] == "scheduled"
    assert root.get("/api/audit/verify").json["ok"]
    lost = {"deploy": 0, "destroy": 0}
    for job_id, kind in made.items():
        job, mark = told[job_id], marks / job_id
        runs = mark.read_text().split() if mark.exists() else []
        assert "twice" not in runs, (job, runs)
        if job["status"] == "completed":
            assert runs[-1] == "end", (job, runs)
            # A teardown's is what was judged, whatever its program prints.
            assert job["resource_id"] == (f"r-{job_id}" if kind == "deploy" else None)
        else:
            assert job["reason"] == "worker_lost", job
            lost[kind] += 1
        if kind == "deploy":
            # Making a thing twice costs money: begun once at most, whatever became of it.
            assert runs.count("begin") <= 1, (job, runs)
            assert job["status"] == "completed" or "end" not in runs or job["reason"] == "worker_lost"
    return told, lost


@pytest.mark.parametrize("seed", [1])
def test_a_few_crashes(make_instance, seed):
    told, _ = crash_loop(make_instance(start=False), 4, seed)
    assert len(told) == 4 * 11


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])
def test_many_crashes(make_instance, seed):
    told, lost = crash_loop(make_instance(start=False), 25, seed)
    assert len(told) == 25 * 11
    # Crashes hit runs, or the loop proves nothing; a teardown runs again and is lost only when three workers died of it.
    assert lost["deploy"] > 0, json.dumps(lost)
