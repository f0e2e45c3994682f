"""nginx and Caddy in front of the server, with the snippets of launchers/."""
import contextlib
import json
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from support.instance import Instance
from support.jobs import MACHINE, executor
from support.memory import peak_kib, with_children
from support.program import run
from support.proxies import PROXIES, Proxy
from support.s3_bucket import Bucket
from support.storage import upload
from support.wait import wait_until

MIB = 1 << 20


class Front:
    """An instance on a Unix socket, and a proxy in front of it."""

    def __init__(self, kind, folder, settings):
        self.folder = folder
        self.one = Instance(folder / "one", {"DASHCTL_TRUSTED_PROXY": "unix"})
        self.one.add_user("root", admin=True)
        self.one.set(**settings)
        self.socket = folder / "s.sock"
        self.one.start("--listen", f"unix:{self.socket}")
        self.root = self.one.login("root")
        self.token_file = folder / "token"
        self.token_file.write_text(self.one.token("root"))
        self.token_file.chmod(0o600)
        self.proxy = Proxy(kind, folder / "proxy", self.socket)

    def header(self):
        return f"Authorization: Bearer {self.token_file.read_text()}"

    def stop(self):
        self.proxy.stop()
        self.one.stop()


@pytest.fixture(scope="module", params=PROXIES)
def front(request, tmp_path_factory, s3_server):
    folder = tmp_path_factory.mktemp("proxy")
    for path in (folder, *folder.parents):
        if path != Path("/") and path.stat().st_uid == os.getuid():
            path.chmod(path.stat().st_mode | 0o711)
    made = Front(request.param, folder, Bucket(s3_server).settings)
    yield made
    made.stop()


def send_upload(front, proxy, size, name="big.deb"):
    """Uploads so many bytes through the proxy; the file they came from."""
    source = front.folder / name
    with source.open("wb") as file:
        for _ in range(size // (32 * MIB)):
            file.write(os.urandom(MIB) * 32)
    done = run("storage", "upload", source, "--target", proxy.url, "--ca-bundle", proxy.chain, "--token-file", front.token_file,
               timeout=3000)
    assert done.code == 0, done
    return source


def check_upload(front, size):
    source = send_upload(front, front.proxy, size)
    try:
        fetched = front.folder / "fetched.deb"
        done = run("storage", "fetch", source.name, "-o", fetched, "--target", front.proxy.url, "--ca-bundle", front.proxy.chain,
                   "--token-file", front.token_file, timeout=3000)
        assert done.code == 0, done
        assert subprocess.run(["cmp", source, fetched], check=False).returncode == 0
        assert "temporary file" not in front.proxy.log.read_text()
    finally:
        done = run("storage", "delete", source.name, "--target", front.proxy.url, "--ca-bundle", front.proxy.chain, "--token-file",
                   front.token_file)
        assert done.code == 0, done
        source.unlink()
        fetched.unlink(missing_ok=True)


def test_an_upload_and_its_download_pass_through_unbuffered(front):
    check_upload(front, 256 * MIB)


def peaks(front):
    """The most memory that the server and the proxy have had, in MiB."""
    pids = {"serve": [front.one.process.pid], "proxy": with_children(front.proxy.process.pid)}
    return {name: sum(map(peak_kib, of_one)) >> 10 for name, of_one in pids.items()}


@pytest.mark.long
def test_five_gigabytes_pass_through_unbuffered_and_take_no_more_memory_than_a_twentieth(front, capsys):
    check_upload(front, 256 * MIB)
    before = peaks(front)
    check_upload(front, 5 * 1024 * MIB)
    after = peaks(front)
    with capsys.disabled():
        print(f"\n  5 GiB through {front.proxy.kind}: MiB at most {after}, with 256 MiB {before}")
    assert all(after[name] - before[name] <= 16 for name in after), (before, after)


def test_nginx_would_say_so_if_it_buffered(scratch, bucket):
    """What the tests above look for does come where the snippet lacks its directive."""
    front = Front("nginx", scratch, bucket.settings)
    try:
        buffering = Proxy("nginx", front.folder / "second", front.socket, {"proxy_request_buffering off;": ""})
        try:
            send_upload(front, buffering, 32 * MIB)
            assert "a client request body is buffered to a temporary file" in buffering.log.read_text()
        finally:
            buffering.stop()
    finally:
        front.stop()


def test_a_refusal_arrives_before_the_body_was_sent(front):
    """As it cannot where a proxy gathers the body first."""
    words = ["curl", "-sS", "--http2", "--cacert", front.proxy.chain, "-H", "X-Upload-Handle: none", "-w", "%{http_code}\n", "-o",
             os.devnull, "-T", ".", f"{front.proxy.url}/api/storage/upload/part/1"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sender:
        sender.stdin.write("x" * 1024)
        sender.stdin.flush()
        timer = threading.Timer(60, sender.kill)
        timer.start()
        assert sender.stdout.readline() == "411\n"  # a part says its length
        timer.cancel()


def test_the_front_speaks_http_2(front):
    version, status, body = front.proxy.curl("/api/auth/me", "-H", front.header())
    assert (version, status, json.loads(body)["username"]) == ("2", 200, "root")


@pytest.mark.parametrize("path", ["/metrics", "/metrics?x=1", "/%6detrics", "//metrics", "/./metrics", "/api/../metrics", "/metrics/"])
def test_metrics_are_read_on_the_machine_itself_alone(front, path):
    _, status, body = front.proxy.curl(path)
    assert status in (307, 403, 404) and "dashctl_" not in body
    assert front.one.anonymous.get("/metrics").status == 200


def test_the_client_is_who_the_proxy_says_and_not_who_he_says(front):
    front.proxy.curl("/api/auth/login", "-H", "X-Forwarded-For: 198.51.100.7", "-d", "username=root&password=wrong")
    entry = wait_until(lambda: [e for e in front.one.events("request") if e["path"] == "/api/auth/login" and e["status"] == 401],
                       what="the line of the sign-in")[-1]
    assert entry["client"] == "127.0.0.1", entry


def test_a_followed_log_comes_line_by_line(front):
    go = front.folder / "go"
    executor(front.one, "cloud1-vm-deploy", f"echo first line; while [ ! -e {go} ]; do sleep 0.1; done; echo last line")
    job_id = front.root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    lines = []
    follower = subprocess.Popen(["curl", "-sSN", "--http2", "--cacert", str(front.proxy.chain), "-H", front.header(),
                                 f"{front.proxy.url}/api/jobs/{job_id}/logs?follow=1"], stdout=subprocess.PIPE, text=True)
    reader = threading.Thread(target=lambda: lines.extend(iter(follower.stdout.readline, "")))
    reader.start()
    with contextlib.ExitStack() as stack:
        stack.callback(reader.join)
        stack.callback(follower.wait)
        stack.callback(go.touch)
        wait_until(lambda: any("first line" in line for line in lines), what="the first line while the job runs")
        assert not any("last line" in line for line in lines)
    assert any("last line" in line for line in lines) and any("event: end" in line for line in lines)


def test_a_large_inline_upload_is_taken_and_a_larger_body_refused(front):
    big = front.folder / "inline.json"
    big.write_text(json.dumps({"filename": "inline.deb", "content_b64": "A" * (80 * MIB)}))
    sent = ["-H", front.header(), "-H", "Content-Type: application/json", "--data-binary", f"@{big}"]
    assert front.proxy.curl("/api/storage/upload", *sent)[1] in (200, 201)
    # By HTTP/2, where a refusal ends the stream and not the connection: by HTTP/1.1 a proxy may close it while the client
    # sends, and a client that sends may lose the answer (RFC 9112, 9.6).
    big.write_text(" " * (129 * MIB))
    assert front.proxy.curl("/api/storage/upload", *sent)[:2] == ("2", 413)
    big.unlink()


def test_a_server_that_is_away_is_said(front):
    """And it is back without a change of the proxy."""
    assert upload(front.root, "kept.deb", b"x").status in (200, 201)
    front.one.stop()
    assert front.proxy.curl("/livez")[1] in (502, 503)
    front.one.start("--listen", f"unix:{front.socket}")
    assert front.proxy.curl("/livez")[1] == 200


class SlowServer:
    """Answers a request on a Unix socket when it is let."""

    def __init__(self, path):
        self.go = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            self.go.wait()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")


@contextlib.contextmanager
def slow_front(kind, folder, changes=None):
    server = SlowServer(folder / "slow.sock")
    proxy = Proxy(kind, folder / "proxy", folder / "slow.sock", changes)
    try:
        yield server, proxy
    finally:
        proxy.stop()
        server.go.set()
        server.listener.close()


WAITS = {"nginx": ("proxy_read_timeout 30m;", "proxy_read_timeout 1s;"),
         "caddy": ("response_header_timeout 30m", "response_header_timeout 1s")}


@pytest.mark.parametrize("kind", PROXIES)
def test_the_snippets_own_timeout_decides_how_long_an_answer_may_take(kind, scratch):
    with slow_front(kind, scratch, dict([WAITS[kind]])) as (_, proxy):
        assert proxy.curl("/api/storage/migrate", "-d", "{}")[1] in (502, 504)


@pytest.mark.long
@pytest.mark.parametrize("kind", PROXIES)
def test_an_answer_may_take_longer_than_the_defaults_of_proxies(kind, scratch):
    with slow_front(kind, scratch) as (server, proxy):
        threading.Timer(75, server.go.set).start()  # nginx's default is 60 s
        assert proxy.curl("/api/storage/migrate", "-d", "{}")[1:] == (200, "ok")
