"""What a clock wrote that was a year ahead holds no job for a year."""
import time

from support.databases import rows
from support.jobs import MACHINE, executor, wait_for
from support.wait import wait_until

YEAR = 365 * 24 * 3600 * 1_000_000


def test_a_lease_that_ends_in_a_year_is_over(instance, root):
    marks = instance.folder / "marks"
    executor(instance, "cloud1-vm-deploy", f"echo $$ > {marks}; exec sleep 600")
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_until(marks.exists, what="the run")
    instance.kill()
    rows(instance, "UPDATE jobs SET lease_until = lease_until + ?", YEAR)
    instance.start()
    assert wait_for(instance.login("root"), job_id, "failed")["reason"] == "worker_lost"


def test_another_try_that_was_put_off_for_a_year_is_due(instance, root):
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    rows(instance, "UPDATE jobs SET retry_after = ?", int(time.time() * 1e6) + YEAR)
    executor(instance, "cloud1-vm-deploy", "echo made")
    wait_for(root, job_id, "completed")


def test_a_worker_that_was_seen_in_a_year_is_forgotten(instance, root):
    wait_until(lambda: root.get("/api/worker/status").json.get("workers"), what="the first note")
    alive = root.get("/api/worker/status").json["configured"]["total"]
    rows(instance, "INSERT INTO workers (owner, threads, started_at, seen_at) VALUES ('ghost', 7, ?, ?)",
                int(time.time() * 1e6) + YEAR, int(time.time() * 1e6) + YEAR)
    shown = root.get("/api/worker/status").json
    assert shown["configured"]["total"] == alive, shown
    assert [w["alive"] for w in shown["workers"] if w["owner"] == "ghost"] == [False]
    instance.restart()
    root = instance.login("root")
    wait_until(lambda: "ghost" not in [w["owner"] for w in root.get("/api/worker/status").json["workers"]], what="its end")
