"""SIGHUP: the TLS files are read again where TLS is on and there is no terminal; a terminal that closes ends the server."""
import http.client
import os
import pty
import signal
import ssl
import subprocess

import pytest

from support.certificates import make_certificate
from support.program import BINARY, clean_environment
from support.wait import wait_until


class TlsServer:
    def __init__(self, instance, scratch):
        self.scratch = scratch
        self.chain, self.key = scratch / "cert.pem", scratch / "key.pem"
        self.install("first")
        self.one = instance
        self.one.start("--tls-cert", self.chain, "--tls-key", self.key)

    def install(self, name):
        chain, key = make_certificate(self.scratch, name)
        os.replace(key, self.key)
        os.replace(chain, self.chain)

    def connect(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.one.port, context=context, timeout=30)

    def name(self):
        """The common name that a new connection is shown."""
        pem = ssl.get_server_certificate(("127.0.0.1", self.one.port), timeout=30)
        done = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=pem, capture_output=True, text=True, check=True)
        return done.stdout.strip().rpartition("= ")[2]

    def hang_up(self, event):
        before = len(self.one.events(event))
        self.one.process.send_signal(signal.SIGHUP)
        wait_until(lambda: len(self.one.events(event)) == before + 1, what=event)


def status(connection, path="/livez"):
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    return answer.status


@pytest.fixture
def server(make_instance, scratch):
    instance = make_instance(start=False)
    instance.wrapper = ["setsid"]  # without the controlling terminal that the tests may have
    return TlsServer(instance, scratch)


def test_a_new_certificate_is_served_and_no_connection_dropped(server):
    kept = server.connect()
    assert status(kept) == 200
    half = server.connect()
    half.putrequest("GET", "/livez")
    half.endheaders()
    for name in ("second", "third"):
        server.install(name)
        server.hang_up("tls.reloaded")
        wait_until(lambda name=name: server.name() == name, what="the new certificate")
        assert status(kept) == 200
    assert half.getresponse().status == 200


def test_a_certificate_that_cannot_be_used_changes_nothing(server):
    server.key.write_text("no key")
    server.hang_up("tls.reload_failed")
    assert server.name() == "first"
    assert str(server.key) in server.one.events("tls.reload_failed")[0]["message"]
    server.install("second")
    server.hang_up("tls.reloaded")
    wait_until(lambda: server.name() == "second", what="the new certificate")


def serve_words(server, data):
    return [BINARY, "serve", "--data-dir", str(data), "--listen", "127.0.0.1:0", "--tls-cert", str(server.chain), "--tls-key", str(server.key)]


def test_nohup_is_left_alone(server, scratch):
    log = scratch / "nohup.log"
    with log.open("w") as file:
        process = subprocess.Popen(["nohup", *serve_words(server, scratch / "two")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=file, env=clean_environment())
    try:
        wait_until(lambda: '"event":"listening"' in log.read_text(), what="the listening event")
        ignored = next(line.split()[1] for line in open(f"/proc/{process.pid}/status", encoding="ascii") if line.startswith("SigIgn"))
        assert int(ignored, 16) & 1 << signal.SIGHUP - 1
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        assert "tls.reload" not in log.read_text()
    finally:
        process.kill()


def test_a_terminal_that_closes_ends_the_server(server, scratch):
    log = scratch / "terminal.log"
    child, terminal = pty.fork()
    if child == 0:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT, 0o600), 2)
        words = serve_words(server, scratch / "two")
        os.execve(words[0], words, clean_environment())
    wait_until(lambda: log.exists() and '"event":"listening"' in log.read_text(), what="the listening event")
    os.close(terminal)
    _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == 0
    assert '"event":"stopped"' in log.read_text() and "tls.reload" not in log.read_text()
