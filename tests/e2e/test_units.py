"""The systemd units of launchers/, checked by systemd's own tool, and a restart with a socket that outlives the server."""
import concurrent.futures
import http.client
import os
import shutil
import signal
import socket
import subprocess
import threading

import pytest

from support.http_client import Http
from support.program import BINARY, ROOT, clean_environment
from support.wait import wait_until

UNITS = ("dashctl.service", "dashctl.socket")
EXPOSURE = 2.0  # of 10, the lower the better; `systemd-analyze security` calls this OK


def verify(folder, change=("", "")):
    """What systemd says against the units, which name the binary of this build."""
    for name in UNITS:
        text = (ROOT / "launchers" / name).read_text()
        assert change[0] in text or name != UNITS[0]
        (folder / name).write_text(text.replace("/usr/bin/dashctl", BINARY).replace(*change))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *(str(folder / name) for name in UNITS)], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_systemd_has_nothing_against_the_units(scratch):
    code, said = verify(scratch)
    assert (code, said) == (0, "")
    assert "KilMode" in verify(scratch, ("KillMode=", "KilMode="))[1]


def test_the_units_exposure_is_low(scratch):
    verify(scratch)
    words = ["systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={int(EXPOSURE * 10)}"]
    done = subprocess.run([*words, scratch / "dashctl.service"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert verify(scratch, ("CapabilityBoundingSet=\n", ""))[0] == 0
    assert subprocess.run([*words, scratch / "dashctl.service"], capture_output=True, check=False).returncode != 0


class SocketUnit:
    """Holds a listening socket as systemd does, and starts servers on it."""

    def __init__(self, instance, folder):
        self.instance, self.binary = instance, folder / "dashctl"
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.log = folder / "unit.log"
        self.process = None

    def install(self):
        """A new binary under the name of the old one."""
        shutil.copy(BINARY, f"{self.binary}.new")
        os.rename(f"{self.binary}.new", self.binary)

    def start(self):
        script = f'exec 3<&{self.listener.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve --data-dir "$1"'
        with self.log.open("a") as log:
            self.process = subprocess.Popen(["/bin/bash", "-c", script, self.binary, str(self.instance.folder)],
                                            pass_fds=[self.listener.fileno()], stderr=log, env=clean_environment(self.instance.env))
        wait_until(lambda: self.log.read_text().count('"event":"listening"') == self.starts + 1, what="the listening event")
        self.starts += 1

    starts = 0

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0


@pytest.fixture
def unit(make_instance, scratch):
    made = SocketUnit(make_instance(start=False), scratch)
    made.install()
    made.start()
    yield made
    made.stop()
    made.listener.close()


def test_a_new_binary_loses_no_request(unit):
    unit.instance.port = unit.port
    token = unit.instance.login("root").token
    done = threading.Event()

    def read_and_write(number):
        """Requests, each by a connection of its own, until the restarts are over."""
        statuses = []
        while not done.is_set():
            http_client = Http(unit.port, token)
            name = f"group-{number}-{len(statuses)}"
            statuses.append(http_client.get("/api/auth/me").status)
            statuses.append(http_client.post("/api/workgroups", {"name": name}).status)
        return statuses

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(read_and_write, number) for number in range(4)]
        for _ in range(3):
            before = unit.log.read_text().count('"event":"request"')
            wait_until(lambda before=before: unit.log.read_text().count('"event":"request"') > before + 20, what="requests")
            unit.stop()
            unit.install()
            unit.start()
        done.set()
        statuses = [status for client in clients for status in client.result()]
    assert set(statuses) <= {200, 201}, statuses
    made = [status for status in statuses if status == 201]
    kept = Http(unit.port, token).get("/api/workgroups").json
    assert len(kept) == len(made) > 0


def test_a_client_that_has_connected_and_not_yet_asked_is_served_to_the_end(unit):
    """Its request may be on its way when the server is stopped."""
    early = http.client.HTTPConnection("127.0.0.1", unit.port, timeout=30)
    early.connect()
    kept = http.client.HTTPConnection("127.0.0.1", unit.port, timeout=30)
    kept.request("GET", "/livez")
    assert kept.getresponse().read() is not None
    unit.process.send_signal(signal.SIGTERM)
    wait_until(lambda: '"event":"stopping"' in unit.log.read_text(), what="the stop")
    early.request("GET", "/livez")
    answer = early.getresponse()
    assert (answer.status, answer.getheader("Connection")) == (200, "close")
    assert unit.process.wait(timeout=60) == 0
    unit.install()
    unit.start()
