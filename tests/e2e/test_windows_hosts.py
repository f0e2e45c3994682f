"""Windows hosts by WinRM: logins by NTLM and Basic, and PowerShell scripts. There is no Windows here: the host is a double
(support/winrm_double.py), which runs nothing. That it speaks the protocol is proved by pywinrm, the client that ansible uses."""
import subprocess

import pytest

from support.automation import ansible, log, outcomes, put_asset, run
from support.windows_host import PASSWORD, WindowsHost, client_python

PROOF = """
import sys, winrm
port, transport, password, chain = sys.argv[1:]
session = winrm.Session(f"https://127.0.0.1:{port}/wsman", auth=("ops", password), transport=transport, ca_trust_path=chain,
                        server_cert_validation="validate")
done = session.run_cmd("ver", ["/all"])
print(done.status_code, done.std_out.decode().strip())
"""


@pytest.fixture(params=["ntlm", "basic"])
def windows(request, scratch):
    with WindowsHost(scratch / "windows", request.param) as made:
        made.login = request.param
        yield made


@pytest.fixture
def one(make_instance, scratch):
    made = make_instance(start=False, env={"AUTOMATION_ANSIBLE": ansible()})
    (scratch / "assets").mkdir()
    made.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    return made.start()


def test_the_double_is_one_for_pywinrm(windows):
    transport = {"ntlm": "ntlm", "basic": "ssl"}[windows.login]

    def proved(password):
        return subprocess.run([client_python(), "-c", PROOF, str(windows.port), transport, password, windows.folder / "winrm.pem"],
                              capture_output=True, text=True, check=False)

    done = proved(PASSWORD)
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
    assert f"ran {ran['run']}" in text and PASSWORD not in text
    shown = root.get(f"/api/jobs/{done['id']}/playbook").json
    assert shown["generated"] and "cmd: asset.ps1" in shown["playbook"]
    failed = run(root, "hello.ps1", "wrong")
    assert failed["status"] == "failed" and outcomes(failed) == {"wrong": "unreachable"}, failed
    here = {"name": "here", "address": "127.0.0.1", "connection": "local"}
    assert root.post("/api/hosts", here).status == 201
    for asset, host in (("hello.ps1", "here"), ("hello.sh", "win")):
        assert root.post("/api/config-mgmt/run", {"asset": asset, "hosts": [host]}).status == 400
