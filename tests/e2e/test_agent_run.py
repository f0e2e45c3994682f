"""An agent at a dashboard as the deployed ones are: enrolment, leases, storage jobs on folders, and what it refuses."""
import base64
import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from support.agent import POLICY, Agent
from support.agent_dashboard import AgentDashboard
from support.program import run
from support.wait import wait_until

REFUSED = "Agent policy refused: "


@pytest.fixture
def dashboard():
    server = AgentDashboard()
    yield server
    server.close()


@pytest.fixture
def agent(scratch, dashboard):
    made = Agent(scratch, dashboard)
    yield made
    made.kill()


@pytest.fixture
def running(agent):
    assert agent.enroll().code == 0
    agent.start().wait_for("agent.started")
    return agent


def content_of(end):
    return base64.b64decode(end["result"]["content_b64"])


def test_enrols_once_and_keeps_its_key_to_itself(agent, dashboard):
    done = agent.enroll()
    assert done.code == 0, done
    identity = agent.state / "identity.json"
    assert stat.S_IMODE(identity.stat().st_mode) == 0o600
    assert stat.S_IMODE(agent.state.stat().st_mode) == 0o700
    kept = json.loads(identity.read_text())
    assert kept["agent_id"] in dashboard.agents and kept["audience"] == dashboard.audience
    sent = dashboard.seen("enroll")[0]
    assert sent["agent_version"] == "2.7.0" and len(sent["policy_hash"]) == 64
    assert "dashctl/" in dashboard.requests[0][2]["User-Agent"]
    assert kept["url"] == dashboard.url
    again = agent.enroll()
    assert again.code == 12 and "enrolled already" in again.err
    assert len(dashboard.seen("enroll")) == 1 and identity.read_text() == json.dumps(kept, separators=(",", ":"))


def test_enrols_before_its_policy_is_written(agent, dashboard):
    (agent.folder / "code").write_text(dashboard.new_code())
    done = agent.dashctl("enroll", "--url", dashboard.url, "--code-file", agent.folder / "code", "--state-dir", agent.state)
    assert done.code == 0, done
    assert dashboard.seen("enroll")[0]["policy_hash"] == ""
    assert agent.dashctl("run", "--once", "--state-dir", agent.state).code == 2  # but runs without none
    assert agent.once().code == 0


def test_spends_no_code_when_this_machine_is_not_ready(agent, dashboard):
    code = dashboard.new_code()
    agent.state.write_text("a file is where the folder should be")
    assert agent.enroll(code=code).code == 2
    agent.state.unlink()
    agent.policy.write_text(POLICY + "nonsense: 1\n")
    refused = agent.enroll(code=code)
    assert refused.code == 2 and "policy.yaml:4:" in refused.err
    agent.policy.write_text(POLICY)
    agent.folder.joinpath("code").write_bytes("agte_x".encode("utf-16"))
    utf16 = agent.dashctl("enroll", "--url", dashboard.url, "--code-file", agent.folder / "code", *agent.files)
    assert utf16.code == 2 and "UTF-8" in utf16.err
    assert dashboard.requests == [] and dashboard.codes == {code}
    assert agent.enroll(code=code).code == 0


def test_a_wrong_code_and_a_dashboard_that_is_not_there_have_their_exit_codes(agent, dashboard):
    wrong = agent.enroll(code="agte_" + "0" * 64)
    assert wrong.code == 1 and "unknown, expired or used" in wrong.err
    away = agent.enroll(url="http://127.0.0.1:9")
    assert away.code == 7
    plain = agent.enroll(url="http://dash.example")
    assert plain.code == 2 and "https" in plain.err
    insecure = agent.dashctl("enroll", "--url", dashboard.url, "--code-file", agent.folder / "code", *agent.files,
                             env={"AGENT_INSECURE_TLS": "1"})
    assert insecure.code == 2 and "AGENT_INSECURE_TLS" in insecure.err
    assert not (agent.state / "identity.json").exists()


def test_talks_tls_to_whom_it_trusts_alone(scratch):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=dash", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", scratch / "key.pem", "-out",
                    scratch / "chain.pem"], check=True, capture_output=True)
    dashboard = AgentDashboard(certificate=(scratch / "chain.pem", scratch / "key.pem"))
    agent = Agent(scratch / "agent", dashboard)
    code = dashboard.new_code()
    stranger = agent.enroll(None, code)
    assert stranger.code == 7 and "TLS" in stranger.err and dashboard.codes == {code}
    assert agent.enroll(None, code, "--ca-bundle", scratch / "chain.pem").code == 0
    dashboard.queue("agent_storage", {"op": "list", "share": "lab", "subpath": ""})
    assert agent.once().code == 0  # it remembers whom it trusts
    assert dashboard.seen("complete")[0]["status"] == "completed"
    dashboard.close()


def test_lists_reads_writes_and_deletes_in_its_share(running, dashboard):
    (running.share / "b.sh").write_text("echo b")
    (running.share / "notes.txt").write_text("not an asset")
    (running.share / "folder.yml").mkdir()
    written = dashboard.upload("a.yml", b"- hosts: all\n")
    assert written["status"] == "completed" and written["result"]["size"] == 13, written
    assert (running.share / "a.yml").read_bytes() == b"- hosts: all\n"
    listed = dashboard.storage("list")["result"]
    assert [(f["name"], f["size"]) for f in listed["assets"]] == [("a.yml", 13), ("b.sh", 6)]
    assert listed["audit_mode"] is False
    assert content_of(dashboard.storage("fetch", name="a.yml")) == b"- hosts: all\n"
    gone = dashboard.storage("delete", name="a.yml")
    assert gone["result"]["deleted"] == "a.yml" and gone["result"]["existed"] is True
    assert not (running.share / "a.yml").exists()
    assert dashboard.storage("delete", name="a.yml")["result"]["existed"] is False
    missing = dashboard.storage("fetch", name="a.yml")
    assert missing["status"] == "failed" and missing["error"].startswith("Not found: ")
    assert dashboard.bad == []


def listening_sockets(pid):
    """The listening TCP and UDP sockets of a process and of its children's network."""
    own = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()}
    found = []
    for table, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == state and f"socket:[{fields[9]}]" in own:
                found.append((table, fields[1]))
    return found


def test_listens_nowhere(running, dashboard):
    assert dashboard.storage("list")["status"] == "completed"
    assert listening_sockets(running.process.pid) == []


def test_works_beneath_a_subpath_and_reads_ranges_and_pages(running, dashboard):
    assert dashboard.upload("deep.yml", b"x" * 196_608, subpath="a/b")["status"] == "completed"
    assert (running.share / "a/b/deep.yml").stat().st_size == 196_608
    whole = dashboard.storage("fetch", name="deep.yml", subpath="a/b")
    assert whole["status"] == "failed" and "196566" in whole["error"]
    part = dashboard.storage("fetch", name="deep.yml", subpath="a/b", offset=196_600, length=100)["result"]
    assert base64.b64decode(part["content_b64"]) == b"x" * 8 and part["size"] == 196_608 and part["etag"]
    for n in range(6000):
        (running.share / f"{n:05}-{'n' * 60}.yml").touch()
    names, cursor = [], ""
    while True:
        page = dashboard.storage("list", cursor=cursor)["result"]
        assert len(json.dumps(page, separators=(",", ":"))) <= 262_144
        names += [f["name"] for f in page["assets"]]
        cursor = page.get("cursor", "")
        if not cursor:
            break
    assert names == sorted(f.name for f in running.share.iterdir() if f.is_file())
    without = dashboard.storage("list")
    assert without["status"] == "failed" and "subpath" in without["error"]


def test_refuses_by_its_own_policy_with_three_texts(running, dashboard):
    (running.archive / "old.yml").write_text("old")
    read_only = dashboard.upload("x.yml", b"x", share="archive")
    assert read_only["error"].startswith(REFUSED) and "read-only" in read_only["error"]
    assert content_of(dashboard.storage("fetch", "archive", name="old.yml")) == b"old"
    unlisted = dashboard.storage("list", "secret")
    assert unlisted["error"].startswith(REFUSED) and "not named" in unlisted["error"]
    other_type = dashboard.do_job("agent_hypervisor", {"verb": "power_off"})
    assert other_type["status"] == "failed" and other_type["error"].startswith(REFUSED)
    running.stop()
    running.policy.write_text("targets: [{cidr: 10.0.0.0/24}]\njob_types: [agent_storage]\n")
    running.start()
    disabled = dashboard.storage("list")
    assert disabled["error"].startswith(REFUSED) and "not enabled" in disabled["error"]


def test_never_leaves_its_share(running, dashboard, scratch):
    (scratch / "outside.yml").write_text("secret of the machine")
    os.symlink(scratch / "outside.yml", running.share / "link.yml")
    os.symlink(scratch, running.share / "way-out")
    assert dashboard.storage("fetch", name="link.yml")["status"] == "failed"
    assert [f["name"] for f in dashboard.storage("list")["result"]["assets"]] == []
    for subpath in ("../", "way-out", "..", "/etc", "a/../.."):
        assert dashboard.storage("list", subpath=subpath).get("result") in ({}, {"assets": [], "audit_mode": False}), subpath
        assert dashboard.storage("fetch", subpath=subpath, name="outside.yml")["status"] == "failed", subpath
        assert dashboard.upload("outside.yml", b"overwritten", subpath=subpath)["status"] == "failed", subpath
    for name in ("../outside.yml", ".hidden.yml", "a/b.yml", "x.exe", "state.txt"):
        assert dashboard.upload(name, b"x")["status"] == "failed", name
    path = dashboard.do_job("agent_storage", {"op": "list", "share": "lab", "subpath": "", "path": "/etc"})
    assert path["status"] == "failed" and "'path'" in path["error"]
    assert (scratch / "outside.yml").read_text() == "secret of the machine"
    assert str(scratch) not in json.dumps([r["ends"] for r in dashboard.reports.values()])


def test_audit_mode_changes_nothing_and_says_so(agent, dashboard):
    assert agent.enroll().code == 0
    (agent.share / "kept.yml").write_text("kept")
    agent.start("--mode", "audit")
    for end in (dashboard.upload("new.yml", b"x"), dashboard.storage("delete", name="kept.yml")):
        assert end["status"] == "failed" and end["error"].startswith(REFUSED) and "audit" in end["error"]
    assert dashboard.storage("list")["result"]["audit_mode"] is True
    assert [f.name for f in agent.share.iterdir()] == ["kept.yml"]


def test_takes_no_job_that_is_not_the_dashboards_word_to_this_agent(running, dashboard):
    def envelope(signer=None, **members):
        job = {"job_id": "j-" + os.urandom(4).hex(), "job_type": "agent_storage", "agent_id": next(iter(dashboard.agents)),
               "audience": dashboard.audience, "payload": {"op": "delete", "share": "lab", "subpath": "", "name": "a.yml"},
               **members}
        return {"job": job, "signature": dashboard.sign(job, signer)}

    (running.share / "a.yml").write_text("a")
    changed = envelope()
    changed["job"]["payload"]["name"] = "b.yml"
    hostile = [envelope(Ed25519PrivateKey.generate()), envelope(agent_id="another"), envelope(audience="https://evil.test"),
               envelope(job_id="../lease"), changed, {**envelope(), "signature": None}]
    for sent in hostile:
        dashboard.queue_envelope(sent)
    wait_until(lambda: len(running.events("agent.lease_failed")) >= len(hostile), what="the refusals")
    assert all(not reports["ends"] for reports in dashboard.reports.values())
    assert (running.share / "a.yml").exists()


def test_does_no_job_twice_even_after_a_restart_and_none_that_expired(running, dashboard):
    now = int(dashboard.now())
    (running.share / "a.yml").write_text("a")
    payload = {"op": "delete", "share": "lab", "subpath": "", "name": "a.yml"}
    job = {"job_id": "once-1", "job_type": "agent_storage", "agent_id": next(iter(dashboard.agents)),
           "audience": dashboard.audience, "payload": payload}
    replayed = {"job": job, "signature": dashboard.sign(job)}
    dashboard.queue_envelope(replayed)
    assert dashboard.end_of("once-1")["status"] == "completed"
    (running.share / "a.yml").write_text("a new one")
    for again in range(2, 4):
        dashboard.queue_envelope(replayed)
        ends = wait_until(lambda n=again: len(dashboard.reports["once-1"]["ends"]) == n and dashboard.reports["once-1"]["ends"])
        assert ends[-1]["status"] == "failed" and "twice" in ends[-1]["error"]
        running.stop()
        running.start()
    expired = dashboard.do_job("agent_storage", payload, issued_at=now - 100, expires_at=now - 10)
    assert expired["status"] == "failed" and "expired" in expired["error"]
    assert (running.share / "a.yml").read_text() == "a new one"
    good = dashboard.do_job("agent_storage", payload, issued_at=now, expires_at=now + 60)
    assert good["status"] == "completed"


def test_ends_with_2_when_it_is_revoked_and_waits_when_it_is_throttled(running, dashboard):
    dashboard.put_in_the_way("lease", 429, b"{}", {"Retry-After": "1"})
    dashboard.put_in_the_way("lease", 503)
    dashboard.put_in_the_way("lease", 404)
    dashboard.put_in_the_way("lease", 200, b"<html>")
    assert dashboard.storage("list")["status"] == "completed"
    assert len(running.events("agent.lease_failed")) == 2
    dashboard.put_in_the_way("lease", 401)
    assert running.wait_for_end() == 2
    assert "revoked" in running.log_file.read_text()


def test_says_that_the_clock_is_off_when_that_is_why(agent, dashboard):
    assert agent.enroll().code == 0
    dashboard.clock_offset = -50
    ok = agent.start()
    now = int(dashboard.now())
    assert dashboard.do_job("agent_storage", {"op": "list", "share": "lab", "subpath": ""}, issued_at=now,
                            expires_at=now + 90)["status"] == "completed"
    dashboard.clock_offset = -90
    assert ok.wait_for_end() == 2
    assert "clock" in agent.log_file.read_text() and dashboard.bad == ["stale"]


@pytest.mark.parametrize("word", ["lease", "complete"])
def test_a_connection_that_breaks_costs_neither_the_job_nor_the_agent(running, dashboard, word):
    dashboard.cut.append(word)
    if word == "lease":
        wait_until(lambda: running.events("agent.lease_failed"), what="the broken lease")
    end = dashboard.storage("list")
    assert end["status"] == "completed"
    assert dashboard.bad == []  # no request was sent twice with one nonce
    if word == "complete":
        sent = dashboard.seen("complete")
        assert len(sent) == 2 and sent[0] == sent[1]


def test_waits_at_a_dashboard_that_lets_it_and_keeps_its_interval_elsewhere(agent, dashboard):
    assert agent.enroll().code == 0
    agent.start(env={"AGENT_POLL_INTERVAL": "3600"})
    wait_until(lambda: dashboard.seen("lease"), what="the first lease")
    assert dashboard.seen("lease") == [{"agent_version": "2.7.0", "features": ["ranges", "pages"],
                                        "job_types": ["agent_storage"], "wait_s": 25}]
    agent.stop()
    assert len(dashboard.seen("lease")) == 1
    dashboard.knows_wait = True
    agent.start(env={"AGENT_POLL_INTERVAL": "1"})
    wait_until(lambda: len(dashboard.seen("lease")) == 2, what="the waiting lease")
    assert dashboard.storage("list")["status"] == "completed"
    assert len(dashboard.seen("lease")) <= 4
    agent.stop()  # in the middle of a lease that waits


def test_the_environment_of_deployed_agents_starts_it(agent, dashboard):
    env = {"DASHBOARD_URL": dashboard.url, "AGENT_ENROLLMENT_CODE": dashboard.new_code(), "AGENT_STATE_DIR": agent.state,
           "AGENT_POLICY_FILE": agent.policy, "AGENT_SHARES_FILE": agent.shares, "AGENT_MODE": "audit"}
    env = {name: str(value) for name, value in env.items()}
    assert agent.dashctl("run", "--once", env=env).code == 0
    assert len(dashboard.seen("enroll")) == 1 and len(dashboard.seen("lease")) == 1
    assert agent.dashctl("run", "--once", env=env).code == 0  # the spent code does no harm
    assert len(dashboard.seen("enroll")) == 1
    wrong = agent.dashctl("run", "--once", env={**env, "AGENT_MODE": "careful"})
    assert wrong.code == 2 and "AGENT_MODE" in wrong.err


def test_runs_once_for_a_job_and_reports_what_keeps_it_from_one(agent, dashboard):
    nothing = agent.once()
    assert nothing.code == 2 and "enrol" in nothing.err
    assert agent.enroll().code == 0
    job = dashboard.queue("agent_storage", {"op": "list", "share": "lab", "subpath": ""})
    assert agent.once().code == 0
    assert dashboard.reports[job]["ends"][0]["status"] == "completed"
    dashboard.put_in_the_way("lease", 500)
    assert agent.once().code == 7
    agent.start()
    agent.wait_for("agent.started")
    second = agent.once()
    assert second.code == 12 and "another agent" in second.err


def test_check_says_what_run_would_end_with(agent):
    good = agent.dashctl("check", *agent.files, "--output", "json")
    assert good.code == 0 and good.json["job_types"] == ["agent_storage"]
    assert good.json["shares"] == [{"name": "lab", "write": True, "configured": True},
                                   {"name": "archive", "write": False, "configured": True}]
    faults = {"targets: [{cidr: 10.0.0.0/24}]\ntargets: [{cidr: 10.0.0.0/24}]\n": ":2: the key 'targets' occurs twice",
              POLICY.replace("write: true", 'write: "true"'): ":3: 'write' must be an unquoted",
              POLICY + "job_type: [x]\n": ":4: the policy has no key 'job_type'",
              "job_types: [agent_storage]\n": "targets"}
    for text, told in faults.items():
        agent.policy.write_text(text)
        bad = agent.dashctl("check", *agent.files)
        assert bad.code == 2 and told in bad.err, bad
        assert agent.once().code == 2
    agent.policy.write_text(POLICY + "ansible: {enabled: true}\nconnections: []\n")
    told = agent.dashctl("check", *agent.files)
    assert told.code == 0 and "'ansible'" in told.err and "'connections'" in told.err
    agent.shares.write_text("shares: [{name: lab}]\n")
    no_path = agent.dashctl("check", *agent.files)
    assert no_path.code == 2 and "shares.yaml:1:" in no_path.err


def test_a_broken_shares_file_fails_the_job_and_not_the_agent(running, dashboard):
    good = running.shares.read_text()
    running.shares.write_text("shares: [")
    assert dashboard.storage("list")["status"] == "failed"
    running.shares.write_text(good)
    assert dashboard.storage("list")["status"] == "completed"


def test_a_share_that_disappears_is_not_made_anew(running, dashboard):
    running.share.rmdir()
    for end in (dashboard.storage("list"), dashboard.upload("a.yml", b"x")):
        assert end["status"] == "failed" and "'lab' is not there" in end["error"]
    assert not running.share.exists()
    running.share.mkdir()
    assert dashboard.upload("a.yml", b"x")["status"] == "completed"


def test_seals_a_password_for_itself_alone(agent, dashboard, scratch):
    assert agent.enroll().code == 0
    (scratch / "password").write_text("hunter2-hunter2\n")
    sealed = agent.dashctl("seal", "--state-dir", agent.state, "--password-file", scratch / "password")
    assert sealed.code == 0 and sealed.out.startswith("sealed:") and "hunter2" not in sealed.out + sealed.err
    agent.shares.write_text("shares:\n  - {name: lab, path: '\\\\files\\lab', username: svc, "
                            f"password: \"{sealed.out.strip()}\"}}\n")
    assert agent.dashctl("check", *agent.files).code == 0
    other = Agent(scratch / "other", dashboard)
    assert other.enroll().code == 0
    stolen = run("agent", "check", "--state-dir", other.state, "--policy-file", agent.policy, "--shares-file", agent.shares)
    assert stolen.code == 2 and "another agent" in stolen.err
