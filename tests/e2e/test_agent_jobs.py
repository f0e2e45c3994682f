"""Jobs of an agent from the caller to the agent and back: the backend agent_local with a scripted agent of the deployed kind."""
import contextlib
import threading
import time
from collections import Counter

import pytest

from support.agents import enrolled
from support.wait import wait_until

MAX_CALLERS = 128  # who may wait for agents at a time
REFUSED = "Agent policy refused: job type agent_storage is not in the policy"


@pytest.fixture
def one(instance):
    instance.set(remote_agents_enabled="true")
    return instance


def configured(one, root, **more):
    """An enrolled agent whose share is the backend agent_local."""
    agent = enrolled(root, one.port, "dc1", **more)
    one.set(storage_agent_id=agent.id, storage_agent_share="docs")
    return agent


@contextlib.contextmanager
def working(agent, work):
    """Leases in a thread, one job after the other, and gives each to work(job)."""
    stop, seen = threading.Event(), []

    def run():
        while not stop.is_set():
            job = agent.leased()
            if job:
                seen.append(job)
                work(job)
            else:
                stop.wait(0.05)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join(timeout=60)


def probe(root):
    answer = root.post("/api/storage/test", {"backend": "agent_local"})
    assert answer.status == 200, answer
    return answer.json


def test_a_job_reaches_the_agent_signed_and_its_answer_the_caller(one, root):
    agent = configured(one, root, version="2.7.0")

    def work(job):
        assert agent.heartbeat(job, 90, "finishing").json == {"cancel_requested": False}
        assert agent.logs(job, ["Zürich \u001b[31mred\u007f tab\tend", "second"]).json == {"written": 2}
        done = agent.complete(job, {"assets": [{"name": "site.yml", "size": 7}], "audit_mode": False})
        assert (done.status, done.json) == (200, {"job_id": job["job_id"], "status": "completed"})
        # What a deployed agent sends when the answer to its completion did not arrive.
        assert agent.complete(job, error="ConnectionError").status == 409

    with working(agent, work) as seen:
        listed = root.get("/api/storage/list/agent_local")
    assert listed.status == 200, listed
    assert [item["name"] for item in listed.json["items"]] == ["site.yml"]
    assert set(seen[0]) == {"job_id", "job_type", "agent_id", "audience", "payload", "issued_at", "expires_at"}
    assert (seen[0]["job_type"], seen[0]["payload"]["op"], seen[0]["payload"]["share"]) == ("agent_storage", "list", "docs")


def test_a_refusal_of_the_agents_policy_reaches_the_caller(one, root):
    """What 2.3 does with a type that it does not know: no logs, one heartbeat, failed."""
    agent = configured(one, root, version="2.5.0")

    def work(job):
        agent.heartbeat(job, 90, "finishing")
        assert agent.complete(job, error=REFUSED).json["status"] == "failed"

    with working(agent, work):
        answer = probe(root)
    assert answer["ok"] is False and REFUSED in answer["error"], answer


def test_callers_of_a_slow_agent_are_bounded_and_delay_nobody_else(one, root):
    agent = configured(one, root, version="2.7.0")
    agent.leased(features=["ranges", "pages"])
    one.set(storage_active_backend="agent_local", agent_max_requests_per_minute="10000")
    count, answers = MAX_CALLERS + 10, []
    threads = [threading.Thread(target=lambda n=n: answers.append(root.get(f"/api/storage/fetch?name=f{n}.yml", timeout=120)))
               for n in range(count)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(answers) == count - MAX_CALLERS, what="the answers to those who are too many")
    assert {answer.status for answer in answers} == {503}, answers
    assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in answers)
    began = time.monotonic()
    assert one.login("root").get("/api/jobs").status == 200 and root.get("/api/storage/backends").status == 200
    assert time.monotonic() - began < 5
    with working(agent, lambda job: agent.complete(job, error="Not found: nothing here")) as seen:
        for thread in threads:
            thread.join()
        assert len(seen) == MAX_CALLERS
    assert Counter(answer.status for answer in answers) == {404: MAX_CALLERS, 503: 10}
    with working(agent, lambda job: agent.complete(job, {"assets": []})):
        assert root.get("/api/storage/list").status == 200, "their places are free again"


def test_the_password_goes_to_the_job_once_and_never_into_the_log(one, root):
    agent = configured(one, root, version="2.7.0")
    one.set(storage_agent_password="hunter2-hunter2")
    released = []

    def work(job):
        assert agent.secret(job, "other")[0].status == 409
        answer, secret = agent.secret(job, "docs")
        released.append(secret)
        assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
        assert agent.secret(job, "docs")[0].status == 409
        agent.complete(job, {"assets": []})
        assert agent.secret(job, "docs")[0].status == 409

    with working(agent, work):
        assert probe(root)["ok"] is True
    assert released == ["hunter2-hunter2"]
    trail = root.get("/api/audit?limit=100").text
    assert trail.count('"agent.share_secret"') == 2
    assert "hunter2" not in trail + "".join(one.log)

    one.set(dashboard_secrets_require_attested="true")
    statuses = []

    def refused(job):
        statuses.append(agent.secret(job, "docs")[0].status)
        agent.complete(job, error="no password")

    with working(agent, refused):
        assert probe(root)["ok"] is False
    assert statuses == [403]
