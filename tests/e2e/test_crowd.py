"""Many clients at once, from outside: nobody unknown holds the server's memory or its connections, and what a user
holds is a share."""
import concurrent.futures
import contextlib
import json
import resource
import socket
import threading
from pathlib import Path

import pytest

from support.instance import PASSWORD
from support.memory import resident_kib
from support.program import run
from support.storage import b64
from support.wait import wait_until

LIMIT = 2000  # connections
MIB = 1 << 20


@contextlib.contextmanager
def many_sockets():
    """Sockets that are closed at the end, as many as the limit of the process allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    made = []

    def connect(port, receive_buffer=None):
        s = socket.socket()
        if receive_buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        s.settimeout(30)
        s.connect(("127.0.0.1", port))
        made.append(s)
        return s

    yield connect
    for s in made:
        s.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def resident_bytes(instance):
    return resident_kib(instance.process.pid) << 10


def test_a_thousand_kept_connections_cost_little_memory(instance):
    """Behind a soft limit of 1,024 descriptors, as a shell has it."""
    with many_sockets() as connect:
        def ask(s):
            s.sendall(b"GET /livez HTTP/1.1\r\nHost: t\r\n\r\n")
            assert s.recv(4096).startswith(b"HTTP/1.1 200")

        ask(connect(instance.port))
        before = resident_bytes(instance)
        kept = [connect(instance.port) for _ in range(1000)]
        for s in kept:
            ask(s)
        assert resident_bytes(instance) - before < 32 * MIB
        for s in kept:  # and each of them is still served
            ask(s)


def status_of(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        s.sendall(request.encode())
        return int(s.makefile("rb").readline().split()[1])


def test_anonymous_bodies_do_not_lock_logins_out(instance):
    with many_sockets() as connect:
        for _ in range(340):
            s = connect(instance.port)
            s.sendall(b"POST /api/admission/check HTTP/1.1\r\nHost: t\r\nContent-Length: 1048576\r\n\r\n")
            with contextlib.suppress(OSError):  # refused by the head alone
                s.sendall(b"x" * (MIB - 1))
        for _ in range(5):
            instance.login("root")


def test_unfinished_logins_do_not_lock_logins_out(instance):
    with many_sockets() as connect:
        for _ in range(LIMIT + 50):
            connect(instance.port).sendall(
                b"POST /api/auth/login HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                b"Content-Length: 8000\r\n\r\nusername=root&password=" + b"x" * 7000)
        root = instance.login("root")
        assert root.get("/api/auth/me").status == 200


@pytest.mark.parametrize("sent", [b"", b"GET /livez HTTP/1.1\r\nHost:"], ids=["silent", "unfinished head"])
def test_idle_connections_refuse_nobody(instance, sent):
    kept = instance.login("root")
    with many_sockets() as connect:
        for _ in range(LIMIT + 100):
            connect(instance.port).sendall(sent)
        assert instance.anonymous.get("/livez").status == 200
        assert instance.anonymous.get("/readyz").status == 200
        assert kept.get("/api/auth/me").status == 200
        instance.login("root")


def test_idle_connections_make_room_when_descriptors_run_out(instance):
    instance.login("root")
    open_now = len(list(Path(f"/proc/{instance.process.pid}/fd").iterdir()))
    resource.prlimit(instance.process.pid, resource.RLIMIT_NOFILE, (open_now + 60, open_now + 60))
    with many_sockets() as connect:
        for _ in range(200):
            connect(instance.port)
        assert instance.anonymous.get("/livez", timeout=20).status == 200
        assert instance.login("root").get("/api/auth/me").status == 200
    assert instance.events("server.out_of_descriptors")


def test_downloads_that_nobody_reads_leave_buffers_for_others(make_instance, scratch):
    (scratch / "assets").mkdir()
    one = make_instance()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    for name in ("ann", "bob"):
        one.add_user(name)
    (scratch / "assets/big.rpm").write_bytes(b"x" * (48 * MIB))
    ann, bob = one.login("ann"), one.login("bob")
    with many_sockets() as connect:
        for _ in range(120):
            connect(one.port, receive_buffer=4096).sendall(
                f"GET /api/storage/fetch/big.rpm?raw=1 HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {ann.token}\r\n\r\n"
                .encode())
        body = {"filename": "up.rpm", "content_b64": b64(b"y" * (20 * MIB))}
        for _ in range(3):
            answer = bob.post("/api/storage/upload", body)
            assert answer.status == 201, answer
        free = lambda: int(wait_until(lambda: [line for line in one.anonymous.get("/metrics").body.decode().splitlines()
                                               if line.startswith("dashctl_part_buffers_free ")])[0].split()[1])
        wait_until(lambda: free() == 12, what="every buffer back")


def test_a_slow_reader_still_gets_all_of_its_download(make_instance, scratch):
    (scratch / "assets").mkdir()
    one = make_instance()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    data = bytes(range(256)) * (64 << 10)
    (scratch / "assets/big.rpm").write_bytes(data)
    root = one.login("root")
    with many_sockets() as connect:
        s = connect(one.port, receive_buffer=4096)
        s.sendall(f"GET /api/storage/fetch/big.rpm?raw=1 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n"
                  f"Authorization: Bearer {root.token}\r\n\r\n".encode())
        free = lambda: b"\ndashctl_part_buffers_free 12\n" in one.anonymous.get("/metrics").body
        wait_until(free, what="the buffer is given back")
        whole = b""
        while piece := s.recv(MIB):
            whole += piece
    head, body = whole.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 200 ")
    assert body == data


def test_many_users_behind_a_trusted_proxy_are_all_served(make_instance):
    one = make_instance(start=False)
    one.start("--trusted-proxy", "127.0.0.1")
    root = one.login("root")

    def ask(n):
        return root.get("/api/auth/me", headers={"X-Forwarded-For": f"198.51.{n // 250}.{n % 250 + 1}"}).status

    with many_sockets() as connect:
        for _ in range(LIMIT):
            connect(one.port)
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            assert set(pool.map(ask, range(500))) == {200}


def claim_body(code, filler=0):
    config = {"cloud1_region": "eu-west-1", **({"app_name": "x" * filler} if filler else {})}
    return {"config": config, "setup_code": code, "admin_username": "boss", "admin_password": PASSWORD}


def test_a_large_claim_needs_the_setup_code_in_its_head(make_instance):
    one = make_instance(admin=False)
    code = (one.folder / "setup-code").read_text().strip()
    large = claim_body(code, 200_000)
    assert one.anonymous.post("/api/setup/import", large).status == 403
    assert one.anonymous.post("/api/setup/import", large, headers={"X-Setup-Code": "0" * 32}).status == 403
    chunked = ("POST /api/setup/import HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
               f"{len(json.dumps(large)):x}\r\n{json.dumps(large)}\r\n0\r\n\r\n")
    assert status_of(one.port, chunked) == 413
    assert one.anonymous.post("/api/setup/import", large, headers={"X-Setup-Code": code}).status == 200
    one.login("boss")


def test_a_small_claim_needs_no_header(make_instance):
    one = make_instance(admin=False)
    code = (one.folder / "setup-code").read_text().strip()
    assert one.anonymous.post("/api/setup/import", claim_body(code)).status == 200


def test_the_claim_throttle_stops_guesses_and_never_the_right_code(make_instance):
    one = make_instance(admin=False)
    code = (one.folder / "setup-code").read_text().strip()
    statuses = [one.anonymous.post("/api/setup/import", claim_body("0" * 32)).status for _ in range(25)]
    assert statuses == [403] * 20 + [429] * 5
    assert one.anonymous.post("/api/setup/import", claim_body("0" * 32, 200_000),
                              headers={"X-Setup-Code": "0" * 32}).status == 429
    assert one.anonymous.post("/api/setup/import", claim_body(code, 200_000),
                              headers={"X-Setup-Code": code}).status == 200


def test_our_client_claims_with_a_large_bundle(make_instance, scratch):
    one, fresh = make_instance("one"), make_instance("fresh", admin=False)
    one.set(app_name="x" * 200_000)
    done = one.dashctl("migrate", "export", "--out", scratch / "bundle.json")
    assert done.code in (0, 5), done
    code = scratch / "code"
    code.write_text((fresh.folder / "setup-code").read_text())
    done = run("migrate", "import", "--bundle", scratch / "bundle.json", "--target", fresh.url, "--apply",
               "--setup-code-file", code, "--bootstrap-admin", "boss", "--bootstrap-password-file", "-", stdin=PASSWORD,
               env={"HOME": str(scratch)})
    assert done.code == 0, done
    fresh.login("boss")


def test_two_authorization_lines_are_400(instance, root):
    line = f"Authorization: Bearer {root.token}\r\n"
    ask = lambda lines: status_of(instance.port, f"GET /api/auth/me HTTP/1.1\r\nHost: t\r\n{lines}\r\n")
    assert ask(line) == 200
    assert ask(line * 2) == 400
    assert ask("authorization: Bearer x\r\n" + line) == 400


@pytest.mark.parametrize("value,status", [("100-continue", 100), ("100-Continue", 100), ("200-ok", 417),
                                          ("100-continue, other", 417), ("100-continue\r\nExpect: other", 417)])
def test_only_100_continue_may_be_expected(instance, value, status):
    assert status_of(instance.port, f"POST /api/auth/login HTTP/1.1\r\nHost: t\r\nExpect: {value}\r\n"
                                    "Content-Length: 5\r\n\r\n") == status


@pytest.mark.parametrize("query", ["", "?raw=1"], ids=["json", "raw"])
def test_a_download_during_replacements_is_one_version_and_never_412(make_instance, scratch, query):
    (scratch / "assets").mkdir()
    one = make_instance()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    root = one.login("root")
    versions = [bytes([65 + i]) * 3000 for i in range(8)]
    put = lambda data: root.post("/api/storage/upload", {"filename": "a.yml", "content_b64": b64(data)})
    assert put(versions[0]).status == 201
    over = threading.Event()

    def replace():
        while not over.is_set():
            for data in versions:
                assert put(data).status == 201

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        writer = pool.submit(replace)
        try:
            for headers in [{}, {"Range": "bytes=0-"}, {"Range": "bytes=10-19"}, {"If-None-Match": '"x"'}] * 60:
                answer = root.get("/api/storage/fetch/a.yml" + query, headers=headers)
                assert answer.status in (200, 206), answer
                if query:
                    assert len(set(answer.body)) == 1
        finally:
            over.set()
            writer.result()
    tag = root.get("/api/storage/fetch/a.yml?raw=1").headers["etag"]
    assert root.get("/api/storage/fetch/a.yml?raw=1", headers={"If-Match": tag}).status == 200
    assert put(b"other").status == 201
    assert root.get("/api/storage/fetch/a.yml?raw=1", headers={"If-Match": tag}).status == 412
