"""The dashboard's side of its agents, with a scripted agent that speaks as the deployed ones do."""
import json
import threading
import time
from pathlib import Path

import pytest

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.agents import ScriptedAgent, add_agent, canonical, enrolled
from support.program import run
from support.wait import wait_until

VECTORS = json.loads((Path(__file__).parents[2] / "testdata/agent/vectors.json").read_text(encoding="utf-8"))


@pytest.fixture
def one(instance):
    instance.set(remote_agents_enabled="true")
    return instance


def agent_of(root, name):
    answer = root.get(f"/api/agents/{name}")
    assert answer.status == 200, answer
    return answer.json


def actions(root):
    """What the audit log says of agents, oldest first."""
    entries = root.get("/api/audit?limit=100").json["entries"]
    return [entry["action"] for entry in reversed(entries) if entry["action"].startswith("agent.")]


def test_a_deployed_agent_of_2_3_enrols_leases_and_exits_when_it_is_revoked(one, root):
    agent = enrolled(root, one.port, "dc1")
    row = agent_of(root, "dc1")
    assert (row["status"], row["agent_version"], row["site"], row["last_seen_ip"]) == ("online", "2.3.0", "dc", "127.0.0.1")
    answer = agent.lease()
    assert (answer.status, answer.json) == (200, {"job": None, "poll_interval_s": 5})
    assert agent_of(root, "dc1")["reported_job_types"] == ["agent_discover", "agent_hypervisor"]
    assert agent.enroll("agte_" + "0" * 64).status == 400
    revoked = root.request("DELETE", "/api/agents/dc1")
    assert (revoked.status, revoked.json["jobs_cleared"]) == (200, 0)
    assert agent.lease().status == 401
    assert agent_of(root, "dc1")["status"] == "revoked"


def test_the_requests_of_a_deployed_agent_pass_byte_for_byte(one, root):
    """Signatures and bodies as its code computed them, but for nonce, time, identity and code, which are this instance's."""
    seed = bytes.fromhex(VECTORS["keys"]["agent_ed25519_seed_hex"])
    agent = ScriptedAgent(one.port, key=Ed25519PrivateKey.from_private_bytes(seed))
    assert agent.public_key == VECTORS["keys"]["agent_public"]
    for sent in VECTORS["agent_requests"]:
        assert canonical(json.loads(sent["body"])) == sent["body"].encode()
        if "X-Agent-Id" not in sent["headers"]:
            continue
        agent.id, agent.audience = sent["headers"]["X-Agent-Id"], "https://dash.example.test"
        path = sent["url"].split("/dash/", 1)[-1] if "/dash/" in sent["url"] else sent["url"].split(".test/", 1)[1]
        headers = agent.signed_headers("/" + path, sent["body"].encode(), sent["headers"]["X-Agent-Timestamp"],
                                       sent["headers"]["X-Agent-Nonce"])
        assert headers["X-Agent-Signature"] == sent["headers"]["X-Agent-Signature"], sent["name"]
    assert agent.enroll(add_agent(root, "dc1")["enrollment_code"]).status == 200
    for sent in VECTORS["agent_requests"]:
        if sent["url"].endswith("/api/agent/lease"):
            assert agent.send("/api/agent/lease", sent["body"].encode()).status == 200


def test_what_is_no_request_of_the_agent_is_401_and_nothing_else(one, root):
    agent = enrolled(root, one.port, "dc1")
    body = canonical({"agent_version": "2.3.0", "job_types": []})
    path = "/api/agent/lease"
    headers = agent.signed_headers(path, body)
    assert agent.http.post(path, body, headers=headers).status == 200
    assert agent.http.post(path, body, headers=headers).status == 401  # replayed
    assert agent.http.post(path, body + b" ", headers=agent.signed_headers(path, body)).status == 401
    assert agent.http.post(path, body).status == 401
    assert agent.send(path, body, timestamp=int(time.time()) - 300).status == 401
    other = ScriptedAgent(one.port)
    other.id, other.audience = agent.id, agent.audience
    assert other.lease().status == 401
    assert agent.send("/api/agent/jobs/no-such-job/heartbeat", {"message": "", "progress_pct": 1}).status == 409


def test_the_eleventh_bad_code_is_throttled_whatever_the_code(one, root):
    code = add_agent(root, "dc1")["enrollment_code"]
    agent = ScriptedAgent(one.port)
    for n in range(10):
        assert agent.enroll("agte_" + f"{n:064x}").status == 400
    answer = agent.enroll(code)
    assert answer.status == 429
    assert 0 < int(answer.headers["retry-after"]) <= 900


def test_an_agent_that_asks_too_often_is_429_and_never_401(one, root):
    one.set(agent_max_requests_per_minute="5")
    agent = enrolled(root, one.port, "dc1")
    answers = [agent.lease() for _ in range(7)]
    assert [answer.status for answer in answers] == [200] * 5 + [429] * 2
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_two_addresses_of_one_identity_are_a_warning_in_list_and_log(make_instance):
    one = make_instance(start=False)
    one.set(remote_agents_enabled="true")
    one.start("--trusted-proxy", "127.0.0.1")
    root = one.login("root")
    agent = enrolled(root, one.port, "dc1")
    for address in ("198.51.100.7", "203.0.113.5"):
        assert agent.lease(headers={"X-Forwarded-For": address}).status == 200
    assert "203.0.113.5" in agent_of(root, "dc1")["warning"]
    assert one.events("agent.two_addresses")
    listed = one.dashctl("agent", "list")
    assert "203.0.113.5" in listed.err and "dc1" in listed.out


def test_operators_manage_agents_by_the_command_and_over_the_api(one, root, tmp_path):
    added = one.dashctl("agent", "add", "dc1", "--site", "berlin", "--grant", "agent_storage")
    assert added.code == 0 and added.out.strip().startswith("agte_")
    assert one.dashctl("agent", "add", "dc1").code != 0
    token = tmp_path / "token"
    token.write_text(one.token("root"))

    def remote(*args):
        return run(*args, "--target", one.url, "--token-file", token)

    assert remote("agent", "grant", "dc1", "agent_automation").code == 0
    assert agent_of(root, "dc1")["allowed_job_types"] == ["agent_automation", "agent_storage"]
    assert remote("agent", "grant", "dc1", "--only").code == 0
    assert agent_of(root, "dc1")["allowed_job_types"] == []
    assert remote("agent", "grant", "dc1").code == 2
    local, over_api = (json.loads(run_.out) for run_ in (one.dashctl("agent", "show", "dc1", "--output", "json"),
                                                         remote("agent", "show", "dc1", "--output", "json")))
    assert local == over_api
    code = remote("agent", "code", "dc1").out.strip()
    agent = ScriptedAgent(one.port)
    assert agent.enroll(added.out.strip()).status == 400  # replaced
    assert agent.enroll(code).status == 200
    assert remote("agent", "remove", "dc1").code != 0
    assert one.dashctl("agent", "revoke", "dc1").code == 0
    assert agent.lease().status == 401
    assert remote("agent", "remove", "dc1").code == 0
    assert root.get("/api/agents").json == {"agents": []}
    assert actions(root) == ["agent.create", "agent.update", "agent.update", "agent.reissue_code", "agent.enroll",
                             "agent.revoke", "agent.remove"]


def test_a_waiting_lease_learns_at_once_that_a_command_revoked_it(one, root):
    agent = enrolled(root, one.port, "dc1")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(agent.lease(wait_s=25)))
    began = time.monotonic()
    waiting.start()
    wait_until(lambda: agent_of(root, "dc1")["reported_job_types"], what="the lease")
    assert one.dashctl("agent", "revoke", "dc1").code == 0
    waiting.join(timeout=60)
    assert answers[0].status == 401
    assert time.monotonic() - began < 25


def test_switched_off_there_are_no_agents(one, root):
    agent = enrolled(root, one.port, "dc1")
    one.set(remote_agents_enabled="false")
    assert agent.lease().status == 404
    assert ScriptedAgent(one.port).enroll("agte_" + "0" * 64).status == 404
    assert root.post("/api/agents", {"name": "dc2"}).status == 409
    assert agent.send("/api/agent/attest", {}).status == 404


def test_an_agent_without_a_name_lacks_a_member(one, root):
    refused = root.post("/api/agents", {"site": "berlin"})
    assert refused.status == 422 and refused.json["detail"][0]["loc"] == ["body", "name"], refused


def test_agents_are_for_admins(one, root):
    one.add_user("ada")
    ada = one.login("ada")
    add_agent(root, "dc1")
    for method, path in (("GET", ""), ("POST", ""), ("GET", "/dc1"), ("PATCH", "/dc1"), ("DELETE", "/dc1"), ("DELETE", "/dc1/record"),
                         ("POST", "/dc1/enrollment-code"), ("GET", "/audience"), ("DELETE", "/audience")):
        assert ada.request(method, "/api/agents" + path, body={}).status == 403, (method, path)


def test_the_audience_is_pinned_by_the_first_code(one, root):
    assert root.get("/api/agents/audience").json == {"audience": "", "pinned": False, "public_base_url": ""}
    issued = add_agent(root, "dc1")
    origin = f"http://127.0.0.1:{one.port}"
    assert issued["install"]["dashboard_url"] == origin
    one.set(public_base_url="https://dash.example")
    assert root.get("/api/agents/audience").json == {"audience": origin, "pinned": True, "public_base_url": "https://dash.example"}
    agent = ScriptedAgent(one.port)
    assert agent.enroll(issued["enrollment_code"]).json["audience"] == origin
    assert root.request("DELETE", "/api/agents/audience").json["audience"] == "https://dash.example"
    assert agent.lease().status == 401  # it signs for the old one
