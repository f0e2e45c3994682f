"""Runs through a remote agent (`runner: agent:<name>`): real ansible at the agent, real sshd behind it."""
import json
import os
from pathlib import Path

import pytest

from support.agents import add_agent, enrolled
from support.automation import ASKS, ansible, ended, hangs, host_key, log, outcomes, put_asset, ssh_host, ssh_servers
from support.compose import COMPOSE, compose_calls, compose_plugin, compose_up
from support.databases import rows
from support.doubles import double
from support.instance import Instance
from support.ports import free_port
from support.run_secrets import LEAK, PLANTED as LEAKED, check_leak_hidden
from support.wait import wait_until
from support.windows_host import PASSWORD, WindowsHost
from support.working_agents import AUTOMATION, STORAGE, AgentProcess

PLANTED = "planted-secret-4711"
PLAYBOOK = ASKS + """    - name: Use the secret
      ansible.builtin.command: echo "{{ token | default('none') }}"
"""
HANGS = hangs(4712)


class World:
    def __init__(self, folder, servers, windows):
        self.folder, self.servers, self.windows = folder, servers, windows
        self.one = Instance(folder / "one")  # without an ansible of its own
        self.one.add_user("root", admin=True)
        self.one.set(storage_local_path=str(folder / "assets"), storage_active_backend="local", ansible_enabled="true",
                     remote_agents_enabled="true", automation_targets="127.0.0.1")
        (folder / "assets").mkdir()
        self.one.add_user("ann", workgroups=["web"])
        self.one.start("--workers", "4")
        self.root, self.ann = self.one.login("root"), self.one.login("ann")
        first, second = servers
        for host in (ssh_host("by-key", first, workgroup="web"), ssh_host("by-password", second, secret=second["SSH_PASS"]),
                     ssh_host("gone", {**first, "SSH_PORT": str(free_port())}),
                     ssh_host("changed", second, host_key=host_key(first)),
                     ssh_host("elsewhere", {**first, "SSH_HOST": "192.0.2.1"}), windows.host("win"),
                     {"name": "here", "address": "127.0.0.1", "connection": "local"}):
            assert self.root.post("/api/hosts", host).status == 201
        put_asset(self.root, "site.yml", PLAYBOOK)
        put_asset(self.root, "hangs.yml", HANGS)
        put_asset(self.root, "hello.sh", "#!/bin/sh\necho hello from $(id -un)\n")
        self.agent = AgentProcess(self.one, self.root, folder / "agent", "edge", grants=(AUTOMATION,))
        # 127.0.0.1 is denied to every agent unless its policy names that very address.
        ports = sorted({int(s["SSH_PORT"]) for s in servers} | {int(self.gone_port()), windows.port})
        self.agent.write_policy(targets=("127.0.0.1/32",), ports=ports)
        self.agent.enroll().start()

    def gone_port(self):
        return self.root.get("/api/hosts/gone").json["port"]

    def run(self, http, asset, *hosts, path="/api/config-mgmt/run", runner="agent:edge", **more):
        answer = http.post(path, {"asset": asset, "hosts": list(hosts), "runner": runner, **more})
        assert answer.status == 200, answer
        return ended(http, answer.json["job_id"])

    def audited(self, action):
        return [json.loads(details) for details, in
                rows(self.one, "SELECT details FROM audit_log WHERE action = ? ORDER BY seq", action)]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    os.environ["AUTOMATION_ANSIBLE"] = ansible()
    folder = tmp_path_factory.mktemp("agentruns")
    for path in (folder, *folder.parents):
        if path != Path("/") and path.stat().st_uid == os.getuid():
            path.chmod(path.stat().st_mode | 0o711)
    with double("ssh", "SSH_PORT") as first, ssh_servers(1) as others, WindowsHost(folder / "windows", "ntlm") as windows:
        made = World(folder, [first, *others], windows)
        yield made
        made.agent.stop()
        made.one.stop()


def test_the_hosts_have_their_outcomes_and_the_job_its_log(world):
    done = world.run(world.root, "site.yml", "by-key", "by-password", "gone", "changed", secret_vars={"token": PLANTED})
    assert outcomes(done) == {"by-key": "changed", "by-password": "changed", "gone": "unreachable", "changed": "unreachable"}
    assert done["status"] == "failed" and done["exit_status"] == 4, done
    text = "\n".join(log(world.root, done["id"]))
    assert "hello by-key" in text and "hello by-password" in text
    assert PLANTED not in text and PLANTED not in json.dumps(done)
    own = world.run(world.ann, "hello.sh", "by-key")
    assert own["status"] == "completed" and any("hello from" in line for line in log(world.ann, own["id"])), own


def test_a_batch_has_a_job_for_each_host(world):
    bulk = world.root.post("/api/config-mgmt/run-bulk", {"asset": "hello.sh", "runner": "agent:edge",
                                                         "inventory_ids": ["by-key", "by-password", "gone"]})
    assert bulk.status == 200, bulk
    jobs = {entry["target"]: ended(world.root, entry["job_id"]) for entry in bulk.json["jobs"]}
    assert {name: j["hosts"][0]["outcome"] for name, j in jobs.items()} == {
        "by-key": "changed", "by-password": "changed", "gone": "unreachable"}
    assert {name: j["status"] for name, j in jobs.items()} == {
        "by-key": "completed", "by-password": "completed", "gone": "failed"}


def test_secrets_are_released_one_by_one_and_stand_in_no_job(world):
    before = len(world.audited("agent.host_secret"))
    done = world.run(world.root, "hello.sh", "by-key", "by-password")
    assert done["status"] == "completed", done
    released = [entry["host"] for entry in world.audited("agent.host_secret")[before:]]
    assert sorted(released) == ["by-key", "by-password"]
    for payload, result, summary in rows(world.one, "SELECT payload, result, summary FROM agent_jobs"):
        assert payload is None and result is None
        assert "PRIVATE KEY" not in summary and world.servers[1]["SSH_PASS"] not in summary


def test_the_agents_targets_decide_where_it_goes(world):
    done = world.run(world.root, "hello.sh", "elsewhere")
    assert done["status"] == "failed", done
    assert "192.0.2.1" in json.dumps(done) and "policy" in json.dumps(done).lower()


def test_no_piece_of_a_secret_comes_back_from_the_agent(world):
    put_asset(world.root, "leak.yml", LEAK)
    done = world.run(world.root, "leak.yml", "by-key", secret_vars={"token": LEAKED})
    check_leak_hidden(world.root, done)


def test_a_cancelled_run_ends_at_the_agent(world):
    begun = world.root.post("/api/config-mgmt/run", {"asset": "hangs.yml", "hosts": ["by-key"], "runner": "agent:edge"})
    job_id = begun.json["job_id"]
    wait_until(lambda: any("begun" in line or "changed: [by-key]" in line for line in log(world.root, job_id)), seconds=90,
               what="the first task")
    assert world.root.delete(f"/api/jobs/{job_id}").status == 200
    assert ended(world.root, job_id)["status"] == "cancelled"
    after = world.run(world.root, "hello.sh", "by-key")  # it takes jobs again
    assert after["status"] == "completed", after


def test_a_windows_host_is_reached_through_the_agent(world):
    put_asset(world.root, "hello.ps1", "Write-Output 'hello'\n")
    done = world.run(world.root, "hello.ps1", "win")
    text = "\n".join(log(world.root, done["id"]))
    assert done["status"] == "completed" and outcomes(done) == {"win": "changed"}, (done, text)
    ran, = (call for call in world.windows.calls if "run" in call)
    assert ran["content"] == "Write-Output 'hello'\n" and {"login": "ntlm"} in world.windows.calls
    assert f"ran {ran['run']}" in text and PASSWORD not in text + world.agent.log_file.read_text()
    for asset, host in (("hello.ps1", "by-key"), ("hello.sh", "win")):
        refused = world.root.post("/api/config-mgmt/run", {"asset": asset, "hosts": [host], "runner": "agent:edge"})
        assert refused.status == 400 and "winrm" in refused.json["detail"], refused


def test_a_compose_file_is_deployed_through_the_agent(world):
    put_asset(world.root, "shop.yml", COMPOSE)
    with compose_plugin(world.servers[0]["SSH_USER"]) as home:
        path = "/api/config-mgmt/compose-deploy"
        done = world.run(world.ann, "shop.yml", "by-key", path=path, project="shop-2")
        assert done["status"] == "completed" and outcomes(done) == {"by-key": "changed"}, (done, log(world.ann, done["id"]))
        folder = home / ".dashctl/compose/shop-2"
        assert (folder / "compose.yml").read_text(encoding="utf-8") == COMPOSE
        assert compose_calls(home) == [str(folder), *compose_up("shop-2")]
        failed = world.run(world.ann, "shop.yml", "by-key", path=path, project="broken")
        assert failed["status"] == "failed" and outcomes(failed) == {"by-key": "failed"}, failed


def test_nobody_elses_rights_are_taken_on_the_agents_own_machine(world):
    play = "- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.command: id\n"
    put_asset(world.root, "here.yml", play)
    before = world.root.get("/api/jobs").json
    for text, more in ((play + "      become: true\n", {}), (play + '      "bec\\x6fme": "{{ yes }}"\n', {}),
                       (play, {"extra_vars": {"ansible_become": True}}), (play + "    - include_tasks: more.yml\n", {})):
        put_asset(world.root, "become.yml", text)
        refused = world.root.post("/api/config-mgmt/run", {"asset": "become.yml", "hosts": ["here"], "runner": "agent:edge", **more})
        assert refused.status == 400 and "become" in refused.json["detail"], (text, refused)
    put_asset(world.root, "made.deb", b"!<arch>\n")
    refused = world.root.post("/api/config-mgmt/run", {"asset": "made.deb", "hosts": ["here"], "runner": "agent:edge"})
    assert refused.status == 400 and "become" in refused.json["detail"], refused
    member = world.ann.post("/api/config-mgmt/run", {"asset": "here.yml", "hosts": ["here"], "runner": "agent:edge"})
    assert member.status == 404, member
    assert world.root.get("/api/jobs").json == before
    # Its own rights are another matter: this agent's policy names 127.0.0.1.
    done = world.run(world.root, "here.yml", "here")
    assert done["status"] == "completed" and outcomes(done) == {"here": "changed"}, done


def test_the_setting_chooses_the_agent_and_warns_of_one_that_cannot(world):
    answer = world.root.patch("/api/setup/feature/ansible", {"automation_runner_aws": "agent:edge"})
    assert answer.status == 200 and not answer.json.get("warnings"), answer
    done = world.run(world.root, "hello.sh", "by-key", runner="", cloud="cloud1")
    assert done["status"] == "completed" and done["request"]["runner"] == "agent:edge", done
    answer = world.root.patch("/api/setup/feature/ansible", {"automation_runner_aws": "agent:nobody"})
    assert answer.status == 200 and "nobody" in json.dumps(answer.json["warnings"]), answer
    world.root.put("/api/setup/config", {"automation_runner_aws": None})


def test_what_an_agent_may_not_is_refused_by_name_before_a_job_exists(world):
    def refused(runner, text):
        before = world.root.get("/api/jobs").json
        answer = world.root.post("/api/config-mgmt/run", {"asset": "hello.sh", "hosts": ["by-key"], "runner": runner})
        assert answer.status == 409 and text in answer.json["detail"], answer
        assert world.root.get("/api/jobs").json == before

    refused("agent:", "names no agent")
    refused("agent:nobody", "nobody")
    row = add_agent(world.root, "sleeper", types=(AUTOMATION,))
    refused("agent:sleeper", "enrol")
    assert world.root.delete(f"/api/agents/{row['id']}").status == 200
    refused("agent:sleeper", "revoked")
    world.root.patch(f"/api/agents/{world.agent.id}", {"allowed_job_types": [STORAGE]})
    refused("agent:edge", AUTOMATION)
    world.root.patch(f"/api/agents/{world.agent.id}", {"allowed_job_types": [AUTOMATION]})


def scripted(world, name):
    agent = enrolled(world.root, world.one.port, name, types=(AUTOMATION,), version="2.7.0", job_types=(AUTOMATION,))
    agent.leased()
    return agent


def leased_run(world, agent, name, asset, *hosts, **more):
    """Requests a run and gives the job that it leased for it; and the run's id."""
    begun = world.root.post("/api/config-mgmt/run", {"asset": asset, "hosts": list(hosts), "runner": f"agent:{name}", **more})
    assert begun.status == 200, begun
    return wait_until(agent.leased, what="the job of the agent"), begun.json["job_id"]


def test_the_asset_is_given_to_the_agent_of_the_run_while_it_is_what_was_requested(world):
    put_asset(world.root, "late.sh", "#!/bin/sh\necho one\n")
    agent, thief = scripted(world, "slow"), scripted(world, "thief")
    leased, run_id = leased_run(world, agent, "slow", "late.sh", "by-key")
    assert leased["payload"]["asset"] == "late.sh" and "echo" not in json.dumps(leased["payload"])
    got = agent.report(leased, "asset", {})
    assert got.status == 200 and got.body == b"#!/bin/sh\necho one\n", got
    assert thief.report(leased, "asset", {}).status == 409
    put_asset(world.root, "late.sh", "#!/bin/sh\necho two\n")
    assert agent.report(leased, "asset", {}).status == 409
    assert agent.complete(leased, error="Agent policy refused: not here").status == 200
    done = ended(world.root, run_id)
    assert done["status"] == "failed" and "not here" in done["error_message"], done
    assert agent.report(leased, "asset", {}).status == 409


def test_lines_that_are_sent_again_count_once(world):
    agent = scripted(world, "stutterer")
    leased, run_id = leased_run(world, agent, "stutterer", "hello.sh", "by-key")

    def sent(first, *lines):
        answer = agent.report(leased, "logs", {"first": first, "lines": list(lines)})
        assert answer.status == 200, answer
        return answer.json["written"]

    # As after an answer that was lost: the same batch, under another nonce; then one that overlaps.
    assert [sent(1, "one", "two"), sent(1, "one", "two"), sent(2, "two", "three"), sent(3, "three")] == [2, 0, 1, 0]
    for wrong in (0, -1, "1", 1 << 62):
        answer = agent.report(leased, "logs", {"first": wrong, "lines": ["x"]})
        assert answer.status in (400, 422) or answer.json["written"] == 0, (wrong, answer)
    agent.complete(leased, {"hosts": [{"name": "by-key", "outcome": "ok", "error": ""}], "exit_status": 0, "signal": None,
                            "reason": "exited"})
    done = ended(world.root, run_id)
    assert done["status"] == "completed" and done["exit_status"] == 0, done
    assert [line for line in log(world.root, run_id) if line in ("one", "two", "three", "x")] == ["one", "two", "three"]


def test_an_agent_gets_each_secret_once_and_only_those_of_its_run(world):
    agent = scripted(world, "asker")
    leased, run_id = leased_run(world, agent, "asker", "hello.sh", "by-password", secret_vars={"token": PLANTED})
    assert leased["payload"]["hosts"][0]["has_secret"] is True
    assert PLANTED not in json.dumps(leased) and world.servers[1]["SSH_PASS"] not in json.dumps(leased)
    assert agent.secret(leased, "by-key")[0].status == 409
    answer, secret = agent.secret(leased, "by-password")
    assert secret == world.servers[1]["SSH_PASS"] and answer.headers["cache-control"] == "no-store"
    assert agent.secret(leased, "by-password")[0].status == 409
    assert json.loads(agent.secret(leased, "secret_vars:")[1]) == {"token": PLANTED}
    assert world.root.delete(f"/api/jobs/{run_id}").status == 200
    wait_until(lambda: agent.heartbeat(leased).json["cancel_requested"], what="the cancellation")
    agent.complete(leased, {"hosts": [{"name": "by-password", "outcome": "skipped", "error": ""}], "exit_status": None,
                            "signal": 15, "reason": "cancelled"})
    assert ended(world.root, run_id)["status"] == "cancelled"
    assert agent.secret(leased, "by-password")[0].status == 409
