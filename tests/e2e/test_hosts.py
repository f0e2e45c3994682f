"""Hosts that runs reach: who may see, use and change them; their keys; their secrets. Against a real sshd, and a double of
WinRM that knows Identify alone."""
import base64
import http.server
import json
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from support.automation import root_sshd
from support.doubles import double
from support.http_client import Http
from support.ports import free_port
from support.program import run

PLANTED = "planted-Secret-42"
WEB = {"name": "web1", "address": "192.0.2.10", "workgroup": "web", "secret": PLANTED}


@pytest.fixture(scope="session")
def sshd():
    with double("ssh", "SSH_PORT") as env:
        yield env


class People:
    """An admin, a member of the host's workgroup, and a member of another one."""

    def __init__(self, one):
        self.one = one
        one.add_user("ada", workgroups=["web"])
        one.add_user("bob", workgroups=["db"])
        self.root, self.ada, self.bob = (one.login(name) for name in ("root", "ada", "bob"))


@pytest.fixture
def people(instance):
    return People(instance)


def host_keys(sshd):
    return {line.split()[1]: " ".join(line.split()[1:3]) for line in Path(sshd["SSH_KNOWN_HOSTS"]).read_text().splitlines()}


def ssh_host(sshd, **members):
    return {"name": "box", "address": "127.0.0.1", "port": int(sshd["SSH_PORT"]), "user": sshd["SSH_USER"],
            "secret": Path(sshd["SSH_KEY"]).read_text(), **members}


def test_a_host_is_seen_by_its_workgroup_and_kept_by_admins(people):
    made = people.root.post("/api/hosts", WEB)
    assert made.status == 201, made
    assert made.json["workgroup"] == "web" and made.json["port"] == 22 and made.json["secret_kind"] == "password"
    assert people.root.post("/api/hosts", WEB).status == 409
    assert [host["name"] for host in people.ada.get("/api/hosts").json["hosts"]] == ["web1"]
    assert people.bob.get("/api/hosts").json == {"hosts": []}
    for call in (people.bob.get, people.bob.delete, lambda path: people.bob.patch(path, {"user": "x"}),
                 lambda path: people.bob.post(path + "/test", {"accept_new_key": True})):
        there, absent = call("/api/hosts/web1"), call("/api/hosts/nobody")
        assert there.status == absent.status == 404
        assert there.text.replace("web1", "nobody") == absent.text
    assert people.ada.get("/api/hosts/web1").status == 200
    assert people.ada.patch("/api/hosts/web1", {"user": "x"}).status == 403
    assert people.ada.delete("/api/hosts/web1").status == 403
    assert people.ada.post("/api/hosts", {**WEB, "name": "mine"}).status == 403
    assert people.ada.post("/api/hosts/web1/test", {"accept_new_key": True}).status == 403
    for path in ("/api/hosts", "/api/hosts/web1"):
        assert people.one.anonymous.get(path).status == 401
    assert people.root.delete("/api/workgroups/web").status == 409
    assert people.root.delete("/api/hosts/web1").json == {"ok": True}
    assert people.root.delete("/api/hosts/web1").status == 404


def test_a_token_is_as_good_as_its_owner(people):
    people.root.post("/api/hosts", WEB)
    ada, root = (Http(people.one.port, people.one.token(name)) for name in ("ada", "root"))
    assert ada.get("/api/hosts/web1").status == 200 and ada.delete("/api/hosts/web1").status == 403
    assert root.patch("/api/hosts/web1", {"workgroup": "db"}).status == 200
    assert ada.get("/api/hosts/web1").status == 404 and people.bob.get("/api/hosts/web1").status == 200
    assert root.patch("/api/hosts/web1", {"workgroup": None}).status == 200
    assert people.bob.get("/api/hosts/web1").status == 404


REFUSED = [
    ({"secret": "aws_sm://vault/name"}, 400), ({"secret": "wlc://vault/name"}, 400), ({"secret": "short"}, 422),
    ({"secret": 1}, 422), ({"port": 0}, 422), ({"port": "22"}, 422), ({"pasword": "x"}, 422), ({"address": "-oProxyCommand=x"}, 400),
    ({"address": ""}, 422), ({"name": "../x"}, 400), ({"name": "all"}, 400), ({"connection": "telnet"}, 400),
    ({"workgroup": "nobody"}, 400), ({"variables": {"ansible_host": "127.0.0.1"}}, 400), ({"variables": []}, 422),
    ({"host_key": "ssh-ed25519 AAAA"}, 400), ({"connection": "local"}, 400), ({"groups": ["a b"]}, 400)]


def test_a_member_that_cannot_be_is_refused_at_add_and_at_change(people):
    assert people.root.post("/api/hosts", WEB).status == 201
    before = people.root.get("/api/hosts/web1").json
    for members, status in REFUSED:
        refused = people.root.post("/api/hosts", {**WEB, "name": "other", **members})
        assert refused.status == status and "detail" in refused.json and PLANTED not in refused.text, (members, refused)
        assert people.root.patch("/api/hosts/web1", members).status == status, members
    assert people.root.get("/api/hosts/web1").json == before
    assert people.root.get("/api/hosts/other").status == 404


def test_a_secret_is_written_and_never_read(people):
    people.root.post("/api/hosts", WEB)
    people.root.patch("/api/hosts/web1", {"secret": PLANTED + "-2"})
    seen = [people.root.get(path).text for path in ("/api/hosts", "/api/hosts/web1", "/api/audit?limit=100", "/api/setup/config")]
    seen += [people.one.dashctl("host", "show", "web1", "--output", "json").out, people.one.dashctl("audit", "export").out]
    seen += ["".join(people.one.log)]
    assert not any(PLANTED in text for text in seen)
    people.one.stop()
    for path in people.one.folder.rglob("*"):
        assert not path.is_file() or PLANTED.encode() not in path.read_bytes(), path


def test_changes_are_audited(people):
    people.root.post("/api/hosts", WEB)
    people.root.patch("/api/hosts/web1", {"secret": None, "port": 2222})
    people.root.delete("/api/hosts/web1")
    done = [json.loads(line) for line in people.one.dashctl("audit", "export").out.splitlines()]
    hosts = [entry for entry in done if entry.get("action", "").startswith("host_")]
    assert [entry["action"] for entry in hosts] == ["host_add", "host_change", "host_remove"]
    assert {"port", "secret"} <= set(json.dumps(hosts[1]).replace('\\"', '"').split('"'))


def test_a_key_is_pinned_once_and_only_on_request(people, sshd):
    assert people.root.post("/api/hosts", ssh_host(sshd)).status == 201
    first = people.root.post("/api/hosts/box/test").json
    assert first["ok"] is False and first["pinned"] is False and first["logged_in"] is False
    assert first["fingerprint"].startswith("SHA256:") and "--accept-new-key" in first["error"]
    pinned = people.root.post("/api/hosts/box/test", {"accept_new_key": True})
    assert pinned.json == {"ok": True, "fingerprint": first["fingerprint"], "pinned": True, "logged_in": True, "reason": None,
                           "error": None}, pinned
    assert people.root.get("/api/hosts/box").json["fingerprint"] == first["fingerprint"]
    assert people.root.post("/api/hosts/box/test").json["ok"] is True


def test_a_changed_key_is_refused_even_where_a_new_one_is_accepted(people, sshd):
    other = Path(sshd["SSH_KEY_ECDSA"] + ".pub").read_text()
    assert people.root.post("/api/hosts", ssh_host(sshd, host_key=other)).status == 201
    for accept in (False, True):
        refused = people.root.post("/api/hosts/box/test", {"accept_new_key": accept})
        assert refused.status == 409 and "CHANGED" in refused.text and "nothing secret was sent" in refused.text
    assert people.root.get("/api/hosts/box").json["host_key"] == " ".join(other.split()[:2])
    done = people.one.dashctl("host", "test", "box", "--accept-new-key")
    assert done.code == 12 and "CHANGED" in done.err
    assert people.one.dashctl("host", "change", "box", "--clear", "host_key").code == 0
    assert people.one.dashctl("host", "test", "box", "--accept-new-key").code == 0


def test_a_given_key_counts_as_pinned(people, sshd):
    people.root.post("/api/hosts", ssh_host(sshd, host_key=host_keys(sshd)["ssh-ed25519"]))
    assert people.root.post("/api/hosts/box/test").json["ok"] is True


def test_logins_by_key_and_password_are_tried(people, sshd):
    good = {"key": Path(sshd["SSH_KEY"]).read_text(), "ecdsa": Path(sshd["SSH_KEY_ECDSA"]).read_text(), "password": sshd["SSH_PASS"]}
    for name, secret in good.items():
        people.root.post("/api/hosts", ssh_host(sshd, name=name, secret=secret))
        answer = people.root.post(f"/api/hosts/{name}/test", {"accept_new_key": True}).json
        assert answer["ok"] and answer["logged_in"], (name, answer)
    people.root.patch("/api/hosts/password", {"secret": "not-the-password"})
    wrong = people.root.post("/api/hosts/password/test").json
    assert wrong["ok"] is False and wrong["reason"] == "unauthenticated" and wrong["pinned"] is True
    assert "not-the-password" not in json.dumps(wrong)
    people.root.patch("/api/hosts/password", {"secret": None})
    assert people.root.post("/api/hosts/password/test").json == {**wrong, "ok": True, "reason": None, "error": None}
    locked = people.root.post("/api/hosts", ssh_host(sshd, name="locked", secret=Path(sshd["SSH_KEY_LOCKED"]).read_text()))
    assert locked.status == 400 and "passphrase" in locked.text


def test_rsa_is_refused_with_what_to_do(people, sshd, scratch):
    """The library signs and verifies by SHA-1 alone before 1.11, and servers of today take none of that."""
    rsa = Path(sshd["SSH_KEY_RSA_PEM"]).read_text()
    assert people.root.post("/api/hosts", ssh_host(sshd, name="user", secret=rsa)).status == 201
    answer = people.root.post("/api/hosts/user/test", {"accept_new_key": True}).json
    assert answer["ok"] is False and answer["reason"] == "unauthenticated", answer
    assert "RSA key" in answer["error"] and "SHA-1" in answer["error"] and "ed25519" in answer["error"], answer
    with root_sshd(scratch, sshd, "host_rsa") as port:
        assert people.root.post("/api/hosts", ssh_host(sshd, name="host", port=port, user="root")).status == 201
        answer = people.root.post("/api/hosts/host/test", {"accept_new_key": True}).json
    assert answer["ok"] is False and answer["reason"] == "unreachable" and answer["pinned"] is False, answer
    assert "host key is RSA" in answer["error"] and "SHA-1" in answer["error"] and "ed25519" in answer["error"], answer


def test_members_reach_this_machine_only_where_the_setting_allows_it(people, sshd):
    key = host_keys(sshd)["ssh-ed25519"]
    for spelling in ("127.0.0.1", "localhost", "2130706433", "0x7f000001", "127.1", "::ffff:127.0.0.1"):
        people.root.post("/api/hosts", ssh_host(sshd, workgroup="web", address=spelling, host_key=key))
        refused = people.ada.post("/api/hosts/box/test")
        assert refused.status == 400 and "automation_targets" in refused.text, (spelling, refused)
        people.root.delete("/api/hosts/box")
    people.root.post("/api/hosts", ssh_host(sshd, workgroup="web", address="localhost", host_key=key))
    assert people.root.post("/api/hosts/box/test").json["ok"] is True
    for targets, status in (("127.0.0.0/8", 200), ("10.0.0.0/8", 400), ("localhost", 200), ("box", 400), ("", 400)):
        people.one.set(automation_targets=targets)
        assert people.ada.post("/api/hosts/box/test").status == status, targets


def test_a_host_that_does_not_answer_is_named_and_told_apart(people):
    people.root.post("/api/hosts", {"name": "gone", "address": "127.0.0.1", "port": free_port()})
    gone = people.root.post("/api/hosts/gone/test")
    assert gone.status == 200 and gone.json["ok"] is False and gone.json["reason"] == "unreachable"
    assert people.one.dashctl("host", "test", "gone").code == 7


def test_a_limit_that_cannot_be_read_is_refused_by_every_door(people):
    for key, bad in (("automation_targets", "10.0.0.0/99"), ("automation_targets", "a b"), ("automation_max_targets", "0"),
                     ("automation_max_targets", "many")):
        assert people.one.dashctl("config", "set", key, bad).code == 1
        assert people.root.put("/api/setup/config", {key: bad}).status == 400
        assert people.root.patch("/api/setup/feature/ansible", {key: bad}).status in (400, 422)
        imported = people.root.post("/api/setup/import", {"config": {key: bad}})
        assert imported.status == 400 and key in imported.text, imported
        assert people.one.dashctl("config", "get", key).code == 1
    assert people.root.patch("/api/setup/feature/ansible", {"automation_targets": "10.0.0.0/8"}).status == 200
    assert people.ada.put("/api/setup/config", {"automation_targets": ""}).status == 403


class Winrm(http.server.BaseHTTPRequestHandler):
    """Answers Identify to one user with a password."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        good = "Basic " + base64.b64encode(f"ops:{PLANTED}".encode()).decode()
        is_good = self.headers["Authorization"] == good and self.path == "/wsman" and "Identify" in body
        answer = b"<Envelope><Body><IdentifyResponse/></Body></Envelope>" if is_good else b""
        self.send_response(200 if is_good else 401)
        self.send_header("WWW-Authenticate", "Basic")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def winrm(scratch):
    """A double of WinRM with a certificate of its own: port and certificate."""
    key, chain = scratch / "winrm.key", scratch / "winrm.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=win", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", chain], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Winrm)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port, chain.read_text()
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_windows_host_must_have_a_valid_certificate(people, winrm):
    port, certificate = winrm
    host = {"name": "win", "address": "127.0.0.1", "port": port, "connection": "winrm", "user": "ops", "secret": PLANTED}
    assert people.root.post("/api/hosts", host).status == 201
    for accept in (False, True):
        untrusted = people.root.post("/api/hosts/win/test", {"accept_new_key": accept}).json
        assert untrusted["ok"] is False and untrusted["reason"] == "tls" and untrusted["pinned"] is False, untrusted
    assert people.root.patch("/api/hosts/win", {"host_key": certificate}).status == 200
    assert people.root.post("/api/hosts/win/test").json["ok"] is True
    people.root.patch("/api/hosts/win", {"address": "localhost"})
    assert people.root.post("/api/hosts/win/test").json["reason"] == "tls"  # the certificate names 127.0.0.1
    people.root.patch("/api/hosts/win", {"address": "127.0.0.1", "secret": "another-password"})
    assert people.root.post("/api/hosts/win/test").json["reason"] == "unauthenticated"
    assert people.one.dashctl("host", "test", "win").code == 8


def test_the_command_prints_one_document_both_ways(people, scratch):
    (scratch / "secret").write_text(PLANTED + "\n")
    (scratch / "token").write_text(people.one.token("root"))
    remote = ["--target", people.one.url, "--token-file", scratch / "token"]
    words = ["host", "add", "web1", "--address", "192.0.2.10", "--user", "ops", "--workgroup", "web", "--group", "db",
             "--variable", "port=80", "--variable", "motd=hello there", "--secret-file", scratch / "secret", "--output", "json"]
    made = run(*words, *remote)
    assert made.code == 0 and made.json["variables"] == {"port": 80, "motd": "hello there"} and PLANTED not in made.out
    assert people.one.dashctl(*words).code == 12
    for action in (["show", "web1"], ["list"]):
        one, other = (call("host", *action, "--output", "json") for call in
                      (people.one.dashctl, lambda *a: run(*a, *remote)))
        assert one.code == 0 and one.json == other.json
    assert run("host", "change", "web1", "--port", "2222", *remote).code == 0
    assert people.one.dashctl("host", "change", "web1").code == 2
    assert people.one.dashctl("host", "change", "web1", "--user", "x", "--clear", "user").code == 2
    assert people.one.dashctl("host", "show", "nobody").code == 1
    assert run("host", "remove", "web1", *remote).code == 0
    assert people.one.dashctl("host", "list", "--output", "json").json["hosts"] == []
    assert "--password" not in run("host", "add", "--help").out.replace("--password-file", "")


@pytest.mark.long
def test_a_host_that_accepts_and_never_speaks_is_given_up(people):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        people.root.post("/api/hosts", {"name": "mute", "address": "127.0.0.1", "port": silent.getsockname()[1]})
        answer = people.root.post("/api/hosts/mute/test", {"accept_new_key": True}, timeout=90).json
    assert answer["ok"] is False and answer["reason"] == "timeout" and answer["pinned"] is False
