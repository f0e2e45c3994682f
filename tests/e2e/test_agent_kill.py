"""An agent that is killed once so many bytes have passed between it and its dashboard: it does no job twice, tears no file,
and works when it is started again."""
import pytest

from support.agent import Agent
from support.agent_dashboard import AgentDashboard, b64
from support.relay import Relay

OLD, NEW, OTHER = b"old content\n", b"new content, and longer\n" * 400, b"somebody else's\n"


@pytest.fixture
def world(scratch):
    dashboard = AgentDashboard()
    relay = Relay(dashboard.port)
    agent = Agent(scratch, dashboard)
    assert agent.enroll(url=relay.url).code == 0
    yield agent, dashboard, relay
    agent.kill()
    relay.close()
    dashboard.close()


def queue_upload(dashboard, number):
    job = {"job_id": f"round-{number}", "job_type": "agent_storage", "agent_id": next(iter(dashboard.agents)),
           "audience": dashboard.audience,
           "payload": {"op": "upload", "share": "lab", "subpath": "", "name": "a.yml", "content_b64": b64(NEW)}}
    envelope = {"job": job, "signature": dashboard.sign(job)}
    dashboard.queue_envelope(envelope)
    return envelope


def bytes_of_a_job(agent, dashboard, relay):
    """How much passes from the first byte of a lease to the end of its job."""
    relay.count()
    queue_upload(dashboard, "measured")
    assert agent.once().code == 0
    assert dashboard.end_of("round-measured")["status"] == "completed"
    return relay.count()


def kill_points(total, rounds):
    """Half of them over all bytes of a job, half over the last ones: those of its end, when its work is done."""
    spread = [total * n // (rounds // 2 + 1) for n in range(rounds // 2 + 1)]
    return spread + [total - 1 - 40 * n for n in range(rounds - len(spread))]


def kill_rounds(world, rounds):
    agent, dashboard, relay = world
    total = bytes_of_a_job(agent, dashboard, relay)
    identity = (agent.state / "identity.json").read_bytes()
    file = agent.share / "a.yml"
    killed, outcomes = 0, set()
    for number, point in enumerate(kill_points(total, rounds)):
        file.write_bytes(OLD)
        envelope = queue_upload(dashboard, number)
        relay.at(point, agent_killer(agent))
        agent.start()
        code = agent.wait_for_end()
        killed += code == -9
        assert file.read_bytes() in (OLD, NEW), number
        assert (agent.state / "identity.json").read_bytes() == identity
        was_done = file.read_bytes() == NEW
        outcomes.add(was_done)
        if was_done:
            file.write_bytes(OTHER)
        dashboard.jobs.clear()
        dashboard.queue_envelope(envelope)  # as a hostile replay, or a dashboard that lost its queue
        assert agent.once().code == 0
        assert file.read_bytes() in ((OTHER,) if was_done else (OLD, NEW)), number
        assert sum(end["status"] == "completed" for end in dashboard.reports[f"round-{number}"]["ends"]) <= 1
        listed = dashboard.queue("agent_storage", {"op": "list", "share": "lab", "subpath": ""})
        assert agent.once().code == 0
        assert [f["name"] for f in dashboard.end_of(listed)["result"]["assets"]] == ["a.yml"]
    assert killed == rounds and outcomes == {True, False}
    assert "replayed" not in dashboard.bad  # a request that was cut has no signature that holds


def agent_killer(agent):
    """Kills the process; the test itself waits for its end."""
    return lambda: agent.process and agent.process.kill()


def test_an_agent_that_is_killed_does_nothing_twice_and_tears_nothing(world):
    kill_rounds(world, 5)


@pytest.mark.long
def test_an_agent_that_is_killed_at_fifty_points(world):
    kill_rounds(world, 50)
