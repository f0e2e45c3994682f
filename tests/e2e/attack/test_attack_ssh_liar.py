"""An SSH server that lies: each export ends with an error in bounded time, and nothing of the reply reaches the terminal raw."""
import os
import socket
import threading

import pytest

from support.program import run

pytestmark = pytest.mark.attack


def endless(connection):
    while True:
        connection.sendall(b"banner \x1b]0;owned\x07" + b"x" * 4000 + b"\r\n")


LIES = {
    "closes at once": lambda c: None,
    "another protocol": lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    "version 1": lambda c: c.sendall(b"SSH-1.5-old\r\n"),
    "version without an end": lambda c: c.sendall(b"SSH-2.0-" + b"A" * 100_000),
    "terminal codes in its version": lambda c: c.sendall(b"SSH-2.0-\x1b[2J\x07evil\r\n"),
    "endless banner": endless,
    "key exchange cut": lambda c: (c.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"), c.recv(4096), c.sendall(b"\x00\x00\x05\xdc\x0a\x14" + b"k" * 100)),
    "a packet of four gigabytes": lambda c: (c.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"), c.recv(4096), c.sendall(b"\xff\xff\xff\xff" + b"k" * 4000)),
}


@pytest.fixture(params=LIES)
def liar(request):
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(30)
                try:
                    LIES[request.param](connection)
                except OSError:
                    pass

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def test_an_export_through_it_fails_in_words(liar, scratch):
    home = scratch / "home"
    (home / ".ssh").mkdir(parents=True)
    done = run("migrate", "export", "--via", "docker", "--container", "any", "--out", scratch / "bundle.json", "--docker-host",
               f"ssh://nobody@127.0.0.1:{liar}", "--accept-new-host-key", "--no-input", env={"HOME": str(home), "SSH_AUTH_SOCK": ""}, timeout=90)
    assert done.code in (7, 8, 9), done
    assert done.err.strip() and "\x1b" not in done.err + done.out and "\x07" not in done.err + done.out
    assert not (scratch / "bundle.json").exists() and not os.listdir(home / ".ssh")
