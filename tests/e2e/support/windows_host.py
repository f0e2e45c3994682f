"""A double of a Windows host (winrm_double.py) as a process: its port, what it was asked, and how it is kept."""
import json
import os
import subprocess
from pathlib import Path

from support.automation import ansible
from support.program import ROOT

PASSWORD = "planted-windows-4711"


def client_python():
    """The interpreter of ansible, which has its client of WinRM."""
    return Path(ansible()).resolve().parent / "python3"


class WindowsHost:
    def __init__(self, folder, *logins):
        self.folder = folder
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=win", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-keyout", folder / "winrm.key", "-out", folder / "winrm.pem"],
                       check=True, capture_output=True)
        self.process = subprocess.Popen([client_python(), ROOT / "tests/e2e/support/winrm_double.py", folder, *logins], stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "USER": "ops", "PASSWORD": PASSWORD})
        self.port = int(self.process.stdout.readline())

    @property
    def calls(self):
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def host(self, name, **more):
        return {"name": name, "address": "127.0.0.1", "port": self.port, "connection": "winrm", "user": "ops", "secret": PASSWORD,
                "host_key": (self.folder / "winrm.pem").read_text(), **more}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
