"""What answers at --target may be anything: a captive portal, another program, a dashboard of another time. A command then says so
and fails; it neither crashes nor calls a thing done that nobody did."""
import json

import pytest

from support.instance import PASSWORD
from support.program import run
from support.scripted_server import ScriptedServer

TOKEN = [("storage", "list"), ("storage", "list", "--backend", "s3"), ("storage", "upload", "a.yml"), ("storage", "upload", "big.rpm"),
         ("storage", "fetch", "a.yml", "-o", "out"), ("storage", "fetch", "*", "-o", "out"), ("storage", "delete", "a.yml"),
         ("storage", "test", "s3"), ("storage", "test", "s3", "--deep"), ("storage", "migrate", "s3", "local"),
         ("storage", "verify", "s3", "local"), ("storage", "gc"), ("job", "list"), ("job", "show", "x"), ("job", "logs", "x"),
         ("job", "approve", "x"), ("job", "reject", "x"), ("job", "cancel", "x"), ("audit", "verify"), ("audit", "export"),
         ("audit", "prove", "--seq", "1"), ("policy", "check", "--action", "cloud1:vm:deploy", "--input", "in.json"),
         ("policy", "when", "--action", "cloud1:vm:deploy", "--input", "in.json"), ("policy", "lint"),
         ("token", "issue", "x"), ("token", "revoke", "x")]
LOGIN = [("config", "list"), ("config", "get", "x"), ("config", "set", "x", "y"), ("config", "unset", "x"), ("config", "history"),
         ("vault", "list"), ("vault", "add", "x", "aws_sm"), ("vault", "remove", "x"), ("user", "list"), ("token", "list")]
ACTIVE = {"active": True, "id": "local", "chunked_upload": True, "max_upload_bytes": 1 << 33}
BODIES = ["[]", "null", "5", "{}", '{"ok": 5}', '{"items": 5, "backends": 5, "jobs": 5, "history": 5}',
          '{"items": [5], "backends": [5], "jobs": [{"id": 5}], "history": [5], "entries": [5], "verdict": 5}',
          json.dumps({"backends": [{**ACTIVE, "inline_upload_bytes": "many"}]}),
          json.dumps({"backends": [ACTIVE], "handle": 5, "staged": 5, "ref": 5}),
          json.dumps({"backends": [ACTIVE], "handle": "h", "filename": "big.rpm", "staged": [1], "refs": [5, {"part": 2, "ref": 5}]})]


def documents(text):
    """The one document, or those of each line."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


class OneAnswer(dict):
    """The same body for whatever is asked, but for a login."""

    def __init__(self, body):
        super().__init__({"/api/auth/login": (200, b'{"access_token": "t"}')})
        self.body = body.encode()

    def get(self, key):
        if isinstance(key, tuple):
            return None
        return super().get(key) or (200, self.body)


@pytest.fixture
def folder(scratch):
    for name, text in {"token": "tok", "password": PASSWORD, "a.yml": "x", "in.json": "{}"}.items():
        (scratch / name).write_text(text)
    with open(scratch / "big.rpm", "wb") as file:
        file.truncate(20 << 20)
    return scratch


def test_a_change_that_the_answer_does_not_name_is_not_called_none(folder):
    words = ("config", "set", "x", "y", "--admin-user", "root", "--password-file", "password")
    for body, line, changed in (('{"ok": true}', "set x (the instance does not tell whether it differed)", None),
                                ('{"ok": true, "change_id": null}', "set x (the instance does not tell", None),
                                ('{"ok": true, "change_id": ""}', "x: nothing changed", False),
                                ('{"ok": true, "change_id": "c-1"}', "set x (change c-1)", True)):
        server = ScriptedServer(OneAnswer(body), "127.0.0.1")
        try:
            done, document = (run(*words, "--target", server.url, *more, cwd=folder) for more in ((), ("--output", "json")))
        finally:
            server.shutdown()
            server.server_close()
        assert done.code == 0 and done.out.startswith(line), (body, done)
        assert document.json["changed"] is changed, (body, document)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("output", ["text", "json"])
def test_an_answer_of_another_shape_is_an_error_and_never_a_crash(folder, body, output):
    server = ScriptedServer(OneAnswer(body), "127.0.0.1")
    try:
        for words in TOKEN + LOGIN:
            login = ["--token-file", "token"] if words in TOKEN else ["--admin-user", "root", "--password-file", "password"]
            done = run(*words, "--target", server.url, *login, "--output", output, cwd=folder,
                       env={"XDG_STATE_HOME": str(folder / "state")})
            if words == ("config", "list") and body.startswith("{"):
                continue  # any members are settings
            if words in (("user", "list"), ("token", "list")) and body == "[]":
                continue  # and so many tokens there may be
            assert 0 < done.code < 128, (words, done)
            assert "error: " in done.err and "terminate" not in done.err, (words, done)
            if output == "json":
                assert any("error" in document for document in documents(done.out)), (words, done)
        assert not (folder / "out").exists()
    finally:
        server.shutdown()
        server.server_close()
