"""Accounts and their tokens under attack: a change is whole and recorded, or it is nothing."""
import json

import pytest

from support.http_client import Http
from support.instance import PASSWORD
from support.program import run
from support.terminal import Terminal

OTHER = "another good password"


@pytest.fixture
def nora(instance):
    instance.add_user("nora")
    return instance.login("nora")


def user_of(root, name):
    return next(user for user in root.get("/api/users").json if user["username"] == name)


def entries(root, **wanted):
    query = "&".join(f"{key}={value}" for key, value in wanted.items())
    return root.get(f"/api/audit?{query}").json["entries"]


def can_sign_in(instance, name, password):
    form = {"username": name, "password": password}
    return Http(instance.port).post("/api/auth/login", form=form).status == 200


# --- one transaction ---


def test_a_change_with_one_wrong_member_changes_nothing(instance, root, nora):
    before = user_of(root, "nora")
    for wrong in ({"grant": ["Bad Perm!"]}, {"ungrant": ["Bad Perm!"]}):
        answer = root.patch("/api/users/nora", {"password": OTHER, "is_admin": True, **wrong})
        assert answer.status == 400, answer
        assert user_of(root, "nora") == before
        assert not can_sign_in(instance, "nora", OTHER) and can_sign_in(instance, "nora", PASSWORD)
        assert nora.get("/api/auth/me").status == 200
        assert entries(root, action="user.update") == []
    assert root.patch("/api/users/nora", {"password": OTHER, "is_admin": True, "grant": ["jobs:read"]}).status == 200
    assert can_sign_in(instance, "nora", OTHER)
    assert entries(root, action="user.update")[0]["target"] == "nora"


def test_the_last_admin_stays_and_nothing_else_of_the_change_happens(instance, root):
    done = instance.dashctl("user", "add", "second", "--admin", "--password-file", "-", stdin=PASSWORD)
    assert done.code == 0, done
    assert root.patch("/api/users/second", {"is_active": False}).status == 200
    second = user_of(root, "second")
    # An admin who is disabled does not count, so root is the last one; the operator's change of root is refused whole.
    answer = root.patch("/api/users/root", {"grant": ["jobs:read"], "is_admin": False})
    assert answer.status == 400 and user_of(root, "root")["permissions"] == {}
    assert user_of(root, "second") == second


def test_a_user_with_one_wrong_member_is_not_added(instance, root):
    for wrong in ({"grants": ["Bad Perm!"]}, {"workgroups": ["Bad Name!"]}, {"password": ""}):
        answer = root.post("/api/users", {"username": "eve", "password": PASSWORD, "workgroups": ["new-team"], **wrong})
        assert answer.status == 400, answer
        assert [user["username"] for user in root.get("/api/users").json] == ["root"]
        assert root.get("/api/workgroups/new-team").status == 404
    assert entries(root, action="user.create") == entries(root, action="user.create", username="local")
    for unheard in ({"permissions": ["jobs:read"]}, {"permissions": {"jobs": "read"}}, {"is_active": False}):
        assert root.post("/api/users", {"username": "eve", "password": PASSWORD, **unheard}).status == 422, unheard
    assert root.post("/api/users", {"username": "eve", "password": PASSWORD, "workgroups": ["new-team"]}).status == 201
    assert entries(root, action="user.create", username="root")[0]["target"] == "eve"


def test_an_account_is_added_with_the_permissions_that_it_shows(root):
    wanted = {"change_windows": ["use", "write"]}
    made = root.post("/api/users", {"username": "ada", "password": PASSWORD, "permissions": wanted})
    assert made.status == 201 and made.json["permissions"] == wanted, made
    assert root.patch("/api/users/ada", {"permissions": {}}).status == 422
    assert user_of(root, "ada")["permissions"] == wanted
    assert root.patch("/api/users/ada", {"ungrant": ["change_windows:write"]}).json["permissions"] == {"change_windows": ["use"]}


def test_who_is_disabled_is_told_so_after_the_right_password_alone(instance, root, nora):
    assert root.patch("/api/users/nora", {"is_active": False}).status == 200
    anonymous = Http(instance.port)
    told = anonymous.post("/api/auth/login", form={"username": "nora", "password": PASSWORD})
    assert told.status == 403 and isinstance(told.json["detail"], str), told
    assert anonymous.post("/api/auth/login", form={"username": "nora", "password": OTHER}).status == 401


# --- tokens ---

NEEDS_A_SIGN_IN = [
    ("POST", "/api/users", {"username": "eve", "password": OTHER, "is_admin": True}),
    ("PATCH", "/api/users/root", {"password": OTHER, "current_password": PASSWORD}),
    ("PATCH", "/api/users/nora", {"password": OTHER}),
    ("PATCH", "/api/users/nora", {"is_admin": True}),
    ("PATCH", "/api/users/nora", {"grant": ["jobs:read"]}),
    ("PATCH", "/api/users/nora", {}),
    ("DELETE", "/api/users/nora", None),
    ("POST", "/api/tokens", {"name": "more"}),
    ("POST", "/api/tokens", {"name": "more", "username": "nora"}),
    ("DELETE", "/api/tokens/no-such-id", None),
    ("POST", "/api/workgroups", {"name": "team-b"}),
    ("PATCH", "/api/workgroups/team-a", {"description": "x"}),
    ("PATCH", "/api/workgroups/team-a", {"change_window_id": ""}),
    ("DELETE", "/api/workgroups/team-a", None),
    ("POST", "/api/workgroups/team-a/members", {"username": "nora"}),
    ("POST", "/api/workgroups/team-a/members/nora", None),
    ("DELETE", "/api/workgroups/team-a/members/nora", None),
]


def test_a_token_changes_no_account_and_a_sign_in_does(instance, root, nora):
    root.post("/api/workgroups", {"name": "team-a"})
    token, noras = (Http(instance.port, instance.token(name)) for name in ("root", "nora"))
    users, count = root.get("/api/users").json, root.get("/api/audit/verify").json["count"]
    for method, path, body in NEEDS_A_SIGN_IN:
        answer = token.request(method, path, body=body)
        assert answer.status == 403 and "sign in" in answer.json["detail"].lower(), (method, path, answer)
        for other, wrong in ((noras, body), (token, {"password": 5})):  # before rank and body are looked at
            answer = other.request(method, path, body=wrong)
            assert answer.status == 403 and "sign in" in answer.json["detail"].lower(), (method, path, answer)
    for path in ("/api/users", "/api/tokens", "/api/workgroups", "/api/workgroups/team-a", "/api/workgroups/team-a/members",
                 "/api/auth/me"):
        assert token.get(path).status == 200, path
    assert root.get("/api/users").json == users and root.get("/api/audit/verify").json["count"] == count
    assert not can_sign_in(instance, "root", OTHER) and nora.get("/api/auth/me").status == 200
    for method, path, body in NEEDS_A_SIGN_IN[3:5] + NEEDS_A_SIGN_IN[7:9] + NEEDS_A_SIGN_IN[10:12] + NEEDS_A_SIGN_IN[14:]:
        assert root.request(method, path, body=body).status < 300, (method, path)


def test_a_token_revokes_itself_and_no_other(instance, root, nora):
    for owner, session in (("root", root), ("nora", nora)):
        one, other = (Http(instance.port, instance.token(owner, name)) for name in ("one", "other"))
        ids = {token["name"]: token["id"] for token in session.get("/api/tokens").json}
        assert one.delete(f"/api/tokens/{ids['other']}").status == 403
        assert one.delete(f"/api/tokens/{ids['one']}").status == 200
        assert one.get("/api/auth/me").status == 401 and other.get("/api/auth/me").status == 200
        assert entries(root, action="token.revoke")[0]["target"] == ids["one"]
        assert session.delete(f"/api/tokens/{ids['other']}").status == 200


# --- passwords ---


def test_ones_own_password_needs_the_current_one(instance, root, nora):
    assert nora.patch("/api/users/nora", {"password": OTHER, "current_password": "not it at all"}).status == 403
    missing = nora.patch("/api/users/nora", {"password": OTHER})
    assert missing.status == 422, missing
    assert [(e["type"], e["loc"]) for e in missing.json["detail"]] == [("missing", ["body", "current_password"])]
    assert root.patch("/api/users/root", {"password": OTHER, "is_admin": True}).status == 422
    assert can_sign_in(instance, "nora", PASSWORD) and nora.get("/api/auth/me").status == 200
    assert entries(root, username="nora", action="user.login_failed")
    done = nora.patch("/api/users/nora", {"password": OTHER, "current_password": PASSWORD})
    assert done.status == 200, done
    assert nora.get("/api/auth/me").status == 401  # every session ends
    assert can_sign_in(instance, "nora", OTHER) and not can_sign_in(instance, "nora", PASSWORD)
    assert root.patch("/api/users/nora", {"password": PASSWORD}).status == 200  # another's: none is asked for


def test_wrong_current_passwords_count_as_failed_logins(instance, root, nora):
    for _ in range(10):
        assert nora.patch("/api/users/nora", {"password": OTHER, "current_password": "not it at all"}).status == 403
    stopped = nora.patch("/api/users/nora", {"password": OTHER, "current_password": PASSWORD})
    assert stopped.status == 429 and int(stopped.headers["retry-after"]) > 0, stopped
    form = {"username": "nora", "password": PASSWORD}
    assert instance.anonymous.post("/api/auth/login", form=form).status == 429
    assert len(entries(root, username="nora", action="user.login_failed")) == 10
    assert root.patch("/api/users/nora", {"password": OTHER}).status == 200
    assert can_sign_in(instance, "nora", OTHER)  # a reset lifts the lock


def test_a_reset_by_another_and_a_disabling_revoke_the_tokens_for_good(instance, root, nora):
    changes = [lambda: root.patch("/api/users/nora", {"password": OTHER}),
               lambda: root.patch("/api/users/nora", {"is_active": False}),
               lambda: root.delete("/api/users/nora"),
               lambda: root.patch("/api/users/nora", {"revoke_tokens": True})]
    for change in changes:
        token, mine = Http(instance.port, instance.token("nora")), Http(instance.port, instance.token("root"))
        assert token.get("/api/auth/me").status == 200
        assert change().status == 200
        assert token.get("/api/auth/me").status == 401 and mine.get("/api/auth/me").status == 200
        newest = entries(root, limit=2)
        assert {e["action"] for e in newest} == {"user.update", "tokens_revoked"}, newest
        assert {e["target"] for e in newest} == {"nora"}
        assert root.patch("/api/users/nora", {"is_active": True}).status == 200
        assert token.get("/api/auth/me").status == 401


def test_ones_own_change_revokes_the_tokens_only_when_asked_to(instance, nora):
    token = Http(instance.port, instance.token("nora"))
    change = {"password": OTHER, "current_password": PASSWORD}
    assert nora.patch("/api/users/nora", {**change, "revoke_tokens": False}).status == 200
    assert token.get("/api/auth/me").status == 200
    nora = instance.login("nora", OTHER)
    change = {"password": PASSWORD, "current_password": OTHER, "revoke_tokens": True}
    assert nora.patch("/api/users/nora", change).status == 200
    assert token.get("/api/auth/me").status == 401


def test_a_new_password_has_eight_characters(instance, root, nora):
    for short in ("", "1234567", "\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc"):
        assert root.post("/api/users", {"username": "eve", "password": short}).status == 400, short
        assert root.patch("/api/users/nora", {"password": short}).status == 400, short
        change = {"password": short, "current_password": PASSWORD}
        assert nora.patch("/api/users/nora", change).status == 400, short
        assert instance.dashctl("user", "passwd", "nora", "--password-file", "-", stdin=short).code != 0
        assert instance.dashctl("user", "add", "eve", "--password-file", "-", stdin=short).code != 0
    assert can_sign_in(instance, "nora", PASSWORD)
    assert root.post("/api/users", {"username": "eve", "password": "12345678"}).status == 201
    assert root.patch("/api/users/nora", {"password": "\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc\u00df"}).status == 200


def test_a_new_name_is_plain_ascii(instance, root):
    for bad in ("", "a b", "caf\u00e9", "a/b", "a\u202eb", "a:b", "a" * 101, "a\u0000b", "a*", "a\\b"):
        assert root.post("/api/users", {"username": bad, "password": PASSWORD}).status == 400, bad
    for good in ("a", "a" * 100, "A.Nice_one+tag@example-1.org"):
        made = root.post("/api/users", {"username": good, "password": PASSWORD})
        assert made.status == 201 and made.json["username"] == good.lower(), made
        assert can_sign_in(instance, good, PASSWORD)


# --- the command line ---


def test_passwd_at_the_shell_of_the_machine_asks_for_no_current_password(instance, root, nora):
    token = Http(instance.port, instance.token("root"))
    assert instance.dashctl("user", "passwd", "root", "--password-file", "-", stdin=OTHER).code == 0
    assert can_sign_in(instance, "root", OTHER)
    assert token.get("/api/auth/me").status == 401  # the operator is another


def secret(scratch, name, text):
    path = scratch / name
    path.write_text(text + "\n")
    return path


def test_passwd_over_the_api_takes_the_current_password_from_a_file(instance, scratch, nora):
    new, current = secret(scratch, "new", OTHER), secret(scratch, "current", PASSWORD)
    jwt = secret(scratch, "jwt", nora.token)
    wrong = secret(scratch, "wrong", "not it at all")
    words = ["user", "passwd", "nora", "--target", instance.url, "--password-file", new]
    login = ["--token-file", jwt]
    assert run(*words, *login).code == 2  # nobody there to be asked
    assert run(*words, *login, "--current-password-file", wrong).code == 8
    assert run(*words, *login, "--current-password-file", current).code == 0
    assert can_sign_in(instance, "nora", OTHER)


def test_passwd_signs_in_with_the_current_password_of_the_same_account(instance, scratch, nora):
    new, current = secret(scratch, "new", OTHER), secret(scratch, "current", PASSWORD)
    token = Http(instance.port, instance.token("nora"))
    done = run("user", "passwd", "nora", "--target", instance.url, "--admin-user", "nora", "--password-file", new,
               "--current-password-file", current, "--revoke-tokens")
    assert done.code == 0, done
    assert can_sign_in(instance, "nora", OTHER) and token.get("/api/auth/me").status == 401


def test_an_admin_resets_anothers_password_over_the_api(instance, scratch, nora):
    new, admin = secret(scratch, "new", OTHER), secret(scratch, "admin", PASSWORD)
    done = run("user", "passwd", "nora", "--target", instance.url, "--admin-user", "root", "--admin-password-file", admin,
               "--password-file", new)
    assert done.code == 0, done
    assert can_sign_in(instance, "nora", OTHER)


# Nothing listens on port 1: whoever asks it anything exits with 7.
NOWHERE = "http://127.0.0.1:1"


@pytest.mark.parametrize("words", [
    ("config", "list", "--target", NOWHERE, "--admin-user", "root", "--password-file", "PAT"),
    ("user", "list", "--target", NOWHERE, "--admin-user", "root", "--password-file", "PAT"),
    ("user", "add", "eve", "--target", NOWHERE, "--admin-user", "root", "--admin-password-file", "PAT", "--password-file", "NEW"),
    ("user", "passwd", "eve", "--target", NOWHERE, "--admin-user", "eve", "--current-password-file", "PAT", "--password-file",
     "NEW"),
    ("migrate", "export", "--source", NOWHERE, "--admin-user", "root", "--password-file", "PAT", "--out", "-"),
    ("migrate", "diff", "--bundle", "BUNDLE", "--target", NOWHERE, "--admin-user", "root", "--password-file", "PAT"),
    ("migrate", "import", "--bundle", "BUNDLE", "--target", NOWHERE, "--admin-user", "root", "--password-file", "PAT"),
    ("migrate", "rollback", "--change", "x", "--target", NOWHERE, "--admin-user", "root", "--password-file", "PAT"),
    ("user", "add", "eve", "--target", NOWHERE, "--token-file", "PAT", "--password-file", "NEW"),
    ("user", "passwd", "eve", "--target", NOWHERE, "--admin-user", "eve", "--password-file", "PAT"),
    ("user", "grant", "eve", "jobs:read", "--target", NOWHERE, "--token-file", "PAT"),
    ("token", "issue", "more", "--target", NOWHERE, "--token-file", "PAT"),
], ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("prefix", ["dash_", "vmcli_"])
def test_a_token_in_the_place_of_a_password_is_recognised_before_any_request(scratch, words, prefix):
    files = {"PAT": secret(scratch, "pat", prefix + "0123456789abcdef" * 4), "NEW": secret(scratch, "new", OTHER),
             "BUNDLE": scratch / "bundle.json"}
    files["BUNDLE"].write_text(json.dumps({"schema": 1, "config": {"a": "b"}, "regions": {}, "excluded": {}, "annotations": {}}))
    done = run(*[files.get(word, word) for word in words])
    assert done.code == 8 and "personal access token" in done.err, done


@pytest.mark.parametrize("words", [("config", "list", "--target", NOWHERE), ("migrate", "export", "--source", NOWHERE, "--out", "-")],
                         ids=lambda words: words[0])
def test_a_token_that_is_typed_for_a_password_is_recognised_before_any_request(words):
    at = Terminal(*words, "--admin-user", "root")
    done = at.answer(f"Password of root at {NOWHERE}: ", "dash_" + "0123456789abcdef" * 4).end()
    assert done.code == 8 and "personal access token" in done.err, done
