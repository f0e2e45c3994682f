"""Windows hosts by WinRM: logins by NTLM and Basic, and PowerShell scripts. There is no Windows here: the host is a double
(support/winrm_double.py), which runs nothing. That it speaks the protocol is proved by pywinrm, the client that ansible uses."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from support.automation import ansible, log, outcomes, put_asset, run
from support.program import ROOT

PLANTED = "planted-windows-4711"
PROOF = """
import sys, winrm
port, transport, password, chain = sys.argv[1:]
session = winrm.Session(f"https://127.0.0.1:{port}/wsman", auth=("ops", password), transport=transport, ca_trust_path=chain,
                        server_cert_validation="validate")
done = session.run_cmd("ver", ["/all"])
print(done.status_code, done.std_out.decode().strip())
"""


def python():
    """The interpreter of ansible, which has its client of WinRM."""
    return Path(ansible()).resolve().parent / "python3"


class Windows:
    def __init__(self, folder, *logins):
        self.folder = folder
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=win", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-keyout", folder / "winrm.key", "-out", folder / "winrm.pem"],
                       check=True, capture_output=True)
        self.process = subprocess.Popen([python(), ROOT / "tests/e2e/support/winrm_double.py", folder, *logins], stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "USER": "ops", "PASSWORD": PLANTED})
        self.port = int(self.process.stdout.readline())

    @property
    def calls(self):
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def host(self, name, **more):
        return {"name": name, "address": "127.0.0.1", "port": self.port, "connection": "winrm", "user": "ops", "secret": PLANTED,
                "host_key": (self.folder / "winrm.pem").read_text(), **more}

    def stop(self):
        self.process.terminate()
        self.process.wait()


@pytest.fixture(params=["ntlm", "basic"])
def windows(request, scratch):
    made = Windows(scratch / "windows", request.param)
    made.login = request.param
    yield made
    made.stop()


@pytest.fixture
def one(make_instance, scratch):
    made = make_instance(start=False, env={"AUTOMATION_ANSIBLE": ansible()})
    (scratch / "assets").mkdir()
    made.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    return made.start()


def test_the_double_is_one_for_pywinrm(windows):
    transport = {"ntlm": "ntlm", "basic": "ssl"}[windows.login]

    def proved(password):
        return subprocess.run([python(), "-c", PROOF, str(windows.port), transport, password, windows.folder / "winrm.pem"],
                              capture_output=True, text=True, check=False)

    done = proved(PLANTED)
    assert done.returncode == 0 and done.stdout == "0 ver /all\n", done
    assert {"login": windows.login} in windows.calls and {"command": "ver /all"} in windows.calls
    assert "InvalidCredentials" in proved("another-password").stderr


def test_a_powershell_script_runs_on_windows_alone(one, windows):
    root = one.login("root")
    put_asset(root, "hello.ps1", "Write-Output 'hello'\n")
    put_asset(root, "hello.sh", "echo hello\n")
    assert root.post("/api/hosts", windows.host("win")).status == 201
    tested = root.post("/api/hosts/win/test").json
    assert tested["ok"] is True and tested["logged_in"] is True, tested
    assert windows.calls == [{"login": windows.login}]
    assert root.post("/api/hosts", windows.host("wrong", secret="another-password")).status == 201
    refused = root.post("/api/hosts/wrong/test").json
    assert refused["ok"] is False and refused["reason"] == "unauthenticated" and windows.login in refused["error"].lower(), refused

    done = run(root, "hello.ps1", "win")
    text = "\n".join(log(root, done["id"]))
    assert done["status"] == "completed" and outcomes(done) == {"win": "changed"}, (done, text)
    ran, = (call for call in windows.calls if "run" in call)
    assert ran["content"] == "Write-Output 'hello'\n" and ran["run"].endswith("asset.ps1")
    assert f"ran {ran['run']}" in text and PLANTED not in text
    shown = root.get(f"/api/jobs/{done['id']}/playbook").json
    assert shown["generated"] and "cmd: asset.ps1" in shown["playbook"]
    failed = run(root, "hello.ps1", "wrong")
    assert failed["status"] == "failed" and outcomes(failed) == {"wrong": "unreachable"}, failed
    here = {"name": "here", "address": "127.0.0.1", "connection": "local"}
    assert root.post("/api/hosts", here).status == 201
    for asset, host in (("hello.ps1", "here"), ("hello.sh", "win")):
        assert root.post("/api/config-mgmt/run", {"asset": asset, "hosts": [host]}).status == 400
