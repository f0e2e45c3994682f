"""Many connections of callers who are not known, or who do not read: everybody else is served meanwhile."""
import resource
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.http_client import Http
from support.instance import PASSWORD, sign_in
from support.storage import PART, begin, people, put, upload
from support.wait import wait_until

pytestmark = pytest.mark.attack


@pytest.fixture(autouse=True)
def descriptors():
    """Both this process and the servers that it starts may hold some thousand connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Crowd:
    """Connections that send what they are given and then hold on, without reading."""

    def __init__(self, port):
        self.port, self.sockets = port, []

    def join(self, count, data):
        for _ in range(count):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(20)
            one.connect(("127.0.0.1", self.port))
            self.sockets.append(one)
            try:
                one.sendall(data)
            except OSError:
                pass  # refused, and that is an answer too
        return self

    def leave(self):
        for one in self.sockets:
            one.close()


@pytest.fixture
def crowd():
    crowds = []

    def gather(port):
        crowds.append(Crowd(port))
        return crowds[-1]

    yield gather
    for one in crowds:
        one.leave()


def unfinished(method, path, size=1 << 20, sent=64 << 10, extra=""):
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n{extra}\r\n"
    return head.encode() + b" " * min(sent, size)


@pytest.mark.parametrize("path", ["/api/auth/login", "/api/setup/import", "/api/users", "/api/storage/upload", "/api/tokens"])
def test_anonymous_bodies_lock_no_login_out(instance, crowd, figures, path):
    crowd(instance.port).join(332, unfinished("POST", path))
    shown = figures(f"sign-in beside 332 unfinished bodies at {path}")
    for _ in range(20):
        assert shown.time(lambda: sign_in(instance, "root", PASSWORD)).status == 200
    shown.print()


def test_anonymous_claims_lock_no_claim_out(make_instance, crowd):
    one = make_instance(admin=False)
    code = (one.folder / "setup-code").read_text().strip() if (one.folder / "setup-code").exists() else None
    crowd(one.port).join(332, unfinished("POST", "/api/setup/import"))
    assert code, sorted(p.name for p in one.folder.iterdir())
    body = {"config": {"cloud1_region": "us-east-1"}, "admin_username": "root", "admin_password": PASSWORD, "setup_code": code}
    answer = Http(one.port).post("/api/setup/import", body, headers={"X-Setup-Code": code})
    assert answer.status == 200, answer


@pytest.mark.parametrize("data", [b"", b"GET /api/auth/me HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_idle_connections_refuse_nobody(instance, crowd, figures, data):
    crowd(instance.port).join(1000, data)
    health, login = figures("/livez beside 1,000 idle connections"), figures("sign-in beside 1,000 idle connections")
    for _ in range(20):
        assert health.time(lambda: Http(instance.port).get("/livez")).status == 200
        assert Http(instance.port).get("/readyz").status == 200
        assert login.time(lambda: sign_in(instance, "root", PASSWORD)).status == 200
    health.print()
    login.print()


def test_downloads_that_nobody_reads_starve_no_upload(make_instance, bucket, crowd, figures):
    who = people(make_instance(start=False), bucket.settings)
    assert upload(who.bob, "large.rpm", b"x" * (40 << 20)).status == 201
    head = (f"GET /api/storage/fetch?name=large.rpm&raw=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {who.bob.token}\r\n\r\n")
    crowd(who.instance.port).join(120, head.encode())
    shown = figures("a part of 8 MiB beside 120 downloads that nobody reads")
    data = b"y" * PART
    handle = begin(who.ann, "mine.rpm", 5 * PART)["handle"]
    for n in range(1, 6):
        answer = shown.time(lambda n=n: put(who.ann, handle, n, data))
        assert answer.status == 200, answer
    shown.print()
    reader = Http(who.instance.port, who.ann.token)
    assert reader.get("/api/storage/fetch?name=large.rpm&raw=1").status == 200


def test_a_proxy_with_many_users_is_not_cut(make_instance, crowd, figures):
    one = make_instance(start=False)
    one.start("--trusted-proxy", "127.0.0.1")
    busy = crowd(one.port)
    for n in range(400):
        busy.join(1, f"GET /livez HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.{n // 250}.{n % 250 + 1}\r\n\r\n".encode())
    shown = figures("sign-in through a proxy that holds 400 connections of as many users")
    with ThreadPoolExecutor(8) as pool:
        def one_login(n):
            return shown.time(lambda: Http(one.port).post("/api/auth/login", form={"username": "root", "password": PASSWORD},
                                                          headers={"X-Forwarded-For": f"198.51.100.{n + 1}"}).status)
        assert set(pool.map(one_login, range(40))) == {200}
    shown.print()


def test_memory_comes_back_when_the_crowd_leaves(instance, crowd):
    def resident():
        with open(f"/proc/{instance.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    crowd(instance.port).join(300, unfinished("POST", "/api/setup/import")).leave()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(sign_in(instance, "root", PASSWORD).status)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 8
    wait_until(lambda: resident() < 300 << 10, what="less than 300 MiB")
