"""`dashctl serve` as a process: how it is started, found, watched and ended by what runs it."""
import http.client
import json
import re
import os
import signal
import socket
import ssl
import subprocess
import threading

import pytest

from support.http_client import Http
from support.program import BINARY, clean_environment, run
from support.wait import wait_until


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.path))


def status_of(connection, path="/livez"):
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def notifications(folder):
    """A socket for NOTIFY_SOCKET and the states that came so far."""
    path = folder / "notify"
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(str(path))
    states = []

    def receive():
        while True:
            states.append(receiver.recv(100).decode())

    threading.Thread(target=receive, daemon=True).start()
    return path, states


def test_every_log_line_is_one_json_object(instance):
    Http(instance.port).get("/api/nothing?secret=hunter2")
    wait_until(lambda: instance.events("request"), what="the request's log line")
    instance.stop()
    events = [json.loads(line)["event"] for line in instance.log]
    assert events.index("listening") < events.index("request") < events.index("stopping") < events.index("stopped")
    assert "hunter2" not in "".join(instance.log)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_other_signals_drain_too(make_instance, number):
    instance = make_instance()
    instance.process.send_signal(number)
    assert instance.process.wait(timeout=60) == 0
    instance.process = None


def test_an_address_in_use_is_told_and_is_no_usage_error(instance, scratch):
    done = run("serve", "--data-dir", scratch / "other", "--listen", f"127.0.0.1:{instance.port}")
    assert done.code == 1
    assert f"cannot listen on 127.0.0.1:{instance.port}" in done.err


def test_the_service_manager_hears_of_start_and_stop(make_instance, scratch):
    path, states = notifications(scratch)
    instance = make_instance(env={"NOTIFY_SOCKET": str(path)})
    wait_until(lambda: states == ["READY=1"], what="READY=1")
    instance.stop()
    wait_until(lambda: states == ["READY=1", "STOPPING=1"], what="STOPPING=1")


def test_a_unix_socket_serves_and_goes_with_the_process(make_instance, scratch):
    path = scratch / "dashctl.sock"
    instance = make_instance(start=False).start("--listen", f"unix:{path}")
    assert status_of(UnixConnection(path)) == 200
    assert path.stat().st_mode & 0o777 == 0o660
    instance.stop()
    assert not path.exists()


def test_a_socket_file_of_a_killed_process_is_replaced(make_instance, scratch):
    path = scratch / "dashctl.sock"
    instance = make_instance(start=False).start("--listen", f"unix:{path}")
    instance.kill()
    assert path.exists()
    instance.start("--listen", f"unix:{path}")
    assert status_of(UnixConnection(path)) == 200


def test_it_takes_the_sockets_that_systemd_hands_over(scratch):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        # Descriptor 3, and the variables name the process that execs.
        script = f'exec 3<&{listener.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve --data-dir "$1"'
        process = subprocess.Popen(["/bin/bash", "-c", script, BINARY, str(scratch / "data")], pass_fds=[listener.fileno()],
                                   stderr=subprocess.PIPE, text=True, env=clean_environment())
    try:
        assert status_of(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) == 200
    finally:
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f'"addr":"127.0.0.1:{port}"' in log
    assert log.count('"event":"listening"') == 1


def test_tls_is_served_from_pem_files(make_instance, scratch):
    certificate, key = scratch / "cert.pem", scratch / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out",
                    str(certificate)], check=True, capture_output=True)
    instance = make_instance(start=False).start("--tls-cert", certificate, "--tls-key", key)
    trust = ssl.create_default_context(cafile=str(certificate))
    connection = http.client.HTTPSConnection("127.0.0.1", instance.port, context=trust, timeout=30)
    for _ in range(3):  # one connection, kept
        connection.request("GET", "/api/setup/status")
        answer = connection.getresponse()
        assert answer.status == 200 and json.loads(answer.read())["complete"] is True
    connection.close()
    with socket.create_connection(("127.0.0.1", instance.port), timeout=30) as plain:
        plain.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert not plain.recv(100).startswith(b"HTTP/")


def test_readiness_names_database_and_key(instance):
    ready = Http(instance.port).get("/readyz")
    assert ready.status == 200
    assert ready.json["ready"] is True
    assert ready.json["checks"]["database"] == "ok" and ready.json["checks"]["key"] == "ok"


def test_a_missing_engine_is_told_and_keeps_nobody_from_being_ready(make_instance):
    one = make_instance(env={"POLICY_BINARY": "/nonexistent/engine"})
    for switched_on in (False, True):
        one.set(admission_control_enabled="1" if switched_on else "0")
        ready = one.anonymous.get("/readyz")
        assert ready.status == 200 and ready.json["ready"] is True
        assert ready.json["checks"]["policy"] != "ok" and "/nonexistent" not in ready.json["checks"]["policy"]


def test_a_request_under_way_ends_before_the_process_does(instance):
    """A body half sent when SIGTERM comes is still read and answered, and the answer says that the connection ends."""
    form = b"username=root&password=wrong"
    client = socket.create_connection(("127.0.0.1", instance.port), timeout=30)
    client.sendall(b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                   b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(form))
    assert client.recv(100).startswith(b"HTTP/1.1 100")
    os.kill(instance.process.pid, signal.SIGTERM)

    def refused():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", instance.port)) != 0

    wait_until(refused, what="the listener to close")
    client.sendall(form)
    answer = client.recv(4000)
    assert answer.startswith(b"HTTP/1.1 401") and b"Connection: close" in answer
    client.close()
    assert instance.process.wait(timeout=60) == 0
    instance.process = None


def test_the_console_is_served_with_its_parts(instance):
    assert instance.anonymous.get("/").headers["location"] == "/console/"
    page = instance.anonymous.get("/console/")
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    parts = re.findall(r'(?:href|src)="(/console/[^"]+)"', page.text)
    assert "/console/main.js" in parts and "/console/console.css" in parts
    for part in parts:
        answer = instance.anonymous.get(part)
        assert answer.status == 200
        again = instance.anonymous.get(part, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status, again.body) == (304, b"")
    assert instance.anonymous.get("/console/none.js").status == 404
