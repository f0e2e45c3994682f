"""An agent in front of a real Samba: a password that it has itself, sealed or plain, and one that the dashboard holds."""
import base64
import contextlib
import json
import os
import shutil
import tempfile

import pytest

from support.agent import Agent
from support.agent_dashboard import AgentDashboard
from support.doubles import start_double, stop_double

POLICY = """targets: [{cidr: 10.0.0.0/24}]
job_types: [agent_storage]
storage: {enabled: true, shares: [{name: plain, write: true}, {name: sealed, write: true}, {name: held, write: true}]}
"""


@contextlib.contextmanager
def samba():
    folder = tempfile.mkdtemp(prefix="smb-", dir="/tmp")
    os.chmod(folder, 0o755)
    try:
        yield start_double("smb", folder), folder
    finally:
        stop_double("smb", folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def server():
    with samba() as (env, folder):
        yield {**env, "FOLDER": f"{folder}/smb-share"}


@pytest.fixture
def dashboard():
    made = AgentDashboard()
    yield made
    made.close()


@pytest.fixture
def agent(scratch, dashboard, server):
    made = Agent(scratch, dashboard, POLICY)
    assert made.enroll().code == 0
    (scratch / "password").write_text(server["SMB_PASS"])
    sealed = made.dashctl("seal", "--state-dir", made.state, "--password-file", scratch / "password").out.strip()
    common = f"path: '\\\\127.0.0.1\\{server['SMB_SHARE']}', username: {server['SMB_USER']}, port: {server['SMB_PORT']}"
    made.shares.write_text(f"shares:\n  - {{name: plain, {common}, password: {server['SMB_PASS']}}}\n"
                           f"  - {{name: sealed, {common}, password: \"{sealed}\"}}\n"
                           f"  - {{name: held, {common}, dashboard_secret: true}}\n")
    made.start().wait_for("agent.started")
    yield made
    made.kill()


def works(dashboard, share, folder):
    name = f"{share}.yml"
    written = dashboard.upload(name, b"over smb\n", share=share)
    assert written["status"] == "completed", written
    assert (folder / name).read_bytes() == b"over smb\n"
    assert name in [f["name"] for f in dashboard.storage("list", share)["result"]["assets"]]
    fetched = dashboard.storage("fetch", share, name=name)["result"]
    assert base64.b64decode(fetched["content_b64"]) == b"over smb\n"
    assert dashboard.storage("delete", share, name=name)["result"]["existed"] is True
    assert not (folder / name).exists()


def test_reaches_samba_with_a_password_on_either_side(agent, dashboard, server, scratch):
    folder = scratch.__class__(server["FOLDER"])
    dashboard.secrets["held"] = server["SMB_PASS"]
    for share in ("plain", "sealed", "held"):
        works(dashboard, share, folder)
    asked = dashboard.seen("secret")
    assert {ask["connection_ref"] for ask in asked} == {"held"} and len(asked) == 4
    assert len({ask["reply_key"] for ask in asked}) == len(asked)  # one key a job
    said = json.dumps([body for _, body, _ in dashboard.requests]) + agent.log_file.read_text()
    assert server["SMB_PASS"] not in said


def test_says_no_path_and_no_password_when_the_login_fails(agent, dashboard, server):
    dashboard.secrets["held"] = "a-wrong-password"
    refused = dashboard.storage("list", "held")
    assert refused["status"] == "failed" and refused["error"]
    del dashboard.secrets["held"]
    unset = dashboard.storage("list", "held")
    assert unset["status"] == "failed" and "dashboard_secret" in unset["error"]
    said = json.dumps([body for _, body, _ in dashboard.requests]) + agent.log_file.read_text()
    assert "a-wrong-password" not in said
    assert server["FOLDER"] not in refused["error"] and "storage_local_" not in refused["error"]
