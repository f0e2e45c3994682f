"""A target that refuses, lies or changes its answers: what it refused is named, and nothing it says is taken on trust."""
import json

import pytest

from support.migrate import GOOD, importing, write_bundle
from support.program import run

IMPORT = ("POST", "/api/setup/import")
ROLLBACK = ("POST", "/api/setup/rollback")
OURS = {"/api/setup/config/history": (200, b'{"history": []}')}


def refusing(status, **members):
    return {**GOOD, **OURS, IMPORT: (status, json.dumps(members).encode())}


@pytest.mark.parametrize("output", [[], ["--output", "json"]])
def test_what_the_target_refused_is_named_when_the_rest_was_written(answering, scratch, output):
    server = answering(refusing(200, ok=True, keys_written=1, regions_merged=[], refused={"some_key": "live_state"}, change_id="c-1"))
    done = importing(server, scratch, *output)
    assert done.code == 5 and "some_key (live_state)" in done.err, done
    if output:
        assert done.json["applied"]["refused"] == {"some_key": "live_state"}


@pytest.mark.parametrize("output", [[], ["--output", "json"]])
def test_what_the_target_refused_is_named_when_nothing_was_written(answering, scratch, output):
    server = answering(refusing(400, detail="Every key was refused, nothing was written: some_key (hub_not_object_store)",
                                refused={"some_key": "hub_not_object_store"}))
    done = importing(server, scratch, *output)
    assert done.code == 5 and "some_key (hub_not_object_store)" in done.err, done
    assert "wrote 1" not in done.out and "undo" not in done.err and "undo: " not in done.out
    if output:
        assert done.json["applied"]["wrote"] is False and done.json["undo"] == ""
        assert done.json["applied"]["refused"] == {"some_key": "hub_not_object_store"}
        assert done.json["error"]["code"] == "partial"


def test_a_plain_400_is_no_refusal_of_keys(answering, scratch):
    done = importing(answering(refusing(400, detail="config must be a non-empty object.")), scratch)
    assert done.code == 1 and "non-empty object" in done.err, done


@pytest.mark.parametrize("door", ["--target", "--data-dir"])
def test_a_real_target_names_what_it_refused_by_either_door(pair, door):
    place = [door, pair.target.url if door == "--target" else pair.target.folder]
    login = door == "--target"
    mixed = write_bundle(pair.scratch / "mixed.json", config={"storage_active_backend": "obj_cloud1", "some_key": "1"})
    done = pair.migrate("import", "--bundle", mixed, *place, "--apply", login=login)
    assert done.code == 5 and "storage_active_backend (not_configured)" in done.err and "wrote 1 keys" in done.out, done
    assert pair.target_config() == {"some_key": "1"}
    only = pair.migrate("import", "--bundle", mixed, *place, "--apply", "--output", "json", login=login)
    assert only.code == 5 and only.json["applied"]["refused"] == {"storage_active_backend": "not_configured"}, only
    assert only.json["applied"]["wrote"] is False and only.json["undo"] == ""
    whole = write_bundle(pair.scratch / "whole.json",
                         config={"storage_active_backend": "obj_cloud1", "storage_obj_cloud1_bucket": "assets"})
    assert pair.migrate("import", "--bundle", whole, *place, "--apply", login=login).code == 0


@pytest.mark.parametrize("door", ["--target", "--data-dir"])
def test_a_target_that_nobody_owns_is_not_claimed_by_an_import_of_which_nothing_is_taken(pair, make_instance, door):
    fresh = make_instance("fresh", admin=False)
    place = [door, fresh.url if door == "--target" else fresh.folder]
    password = pair.scratch / "new-password"
    password.write_text("a long new password")
    bundle = write_bundle(pair.scratch / "b.json", config={"storage_active_backend": "obj_cloud1"})
    claim = ["--setup-code-file", fresh.folder / "setup-code", "--bootstrap-admin", "boss", "--bootstrap-password-file", password]
    done = pair.migrate("import", "--bundle", bundle, *place, "--apply", *claim, login=False)
    assert done.code == 5 and "not claimed" in done.err and "storage_active_backend (not_configured)" in done.err, done
    assert fresh.anonymous.get("/api/setup/status").json["complete"] is False


def test_our_client_says_how_region_sets_are_meant(answering, scratch):
    server = answering(refusing(200, ok=True, keys_written=1, regions_merged=[], refused={}, change_id=""))
    importing(server, scratch)
    importing(server, scratch, "--regions", "replace")
    sent = [json.loads(body) for method, path, body in server.bodies if (method, path) == IMPORT]
    assert [body["regions"] for body in sent] == ["merge", "replace"]


@pytest.mark.parametrize("body", [b"[]", b"null", b"5", b"{}", b'{"ok": true}', b'{"ok": true, "restored": 5}',
                                  b'{"ok": true, "restored": [5]}', b'{"restored": ["a"]}', b'{"ok": false, "restored": []}', b""])
@pytest.mark.parametrize("output", [[], ["--output", "json"]])
def test_a_rollback_that_is_answered_in_another_shape_is_never_called_done(answering, body, output):
    server = answering({**GOOD, **OURS, ROLLBACK: (200, body)})
    done = run("migrate", "rollback", "--change", "c", "--target", server.url, "--token", "a.b.c", *output)
    assert done.code == 1 and "restored" not in done.out and "unknown shape" in done.err, done


@pytest.mark.parametrize("change", ["x; touch pwned", "$(touch pwned)", "a\nrm -rf b", "\x1b[2J", "`id`", "x" * 1000])
def test_a_change_id_that_a_shell_would_run_is_not_printed(answering, scratch, change):
    server = answering(refusing(200, ok=True, keys_written=1, regions_merged=[], refused={}, change_id=change))
    done = importing(server, scratch)
    assert done.code == 1 and change not in done.out + done.err and "undo: " not in done.out, done


class PerCall(dict):
    """Answers a path with the next of its list at each call, and with the last from then on."""

    def get(self, key):
        found = super().get(key)
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found


@pytest.mark.parametrize("first, second, code", [
    ({"aws_vpc_id": "x"}, [], 5), ({"aws_vpc_id": "x"}, "text", 5), ({"cloud1_a": "x"}, {"aws_a": "y"}, 5),
    ({"a": "x"}, {"some_key": ["1"]}, 5), ({"a": "x"}, {"some_key": "1"}, 0)])
def test_an_instance_that_answers_another_shape_at_each_call_is_found_out(answering, scratch, first, second, code):
    answers = [(200, json.dumps(body).encode()) for body in (first, second)]
    server = answering(PerCall({**refusing(200, ok=True, keys_written=1, regions_merged=[], refused={}, change_id=""),
                                "/api/setup/config": answers}))
    done = importing(server, scratch)
    assert done.code == code and "terminate" not in done.err, done
    assert ("everything is SAME" in done.out) == (code == 0)


def test_an_instance_too_busy_to_say_what_it_is_gets_nothing_written(answering, scratch):
    server = answering({**GOOD, "/api/setup/config/history": (503, b'{"detail": "busy"}', {"Retry-After": "2"})})
    done = importing(server, scratch)
    assert done.code == 1 and "busy" in done.err, done
    assert not any(method == "POST" for method, _, _ in server.seen)


@pytest.mark.parametrize("path", ["/api/setup/config", "/api/setup/config/history", "/api/notifications/endpoints",
                                  "/api/setup/import", "/api/setup/rollback", "/api/auth/login", "/api/setup/status"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_by_no_request_of_any_action(answering, scratch, path, status):
    elsewhere = answering({})
    server = answering({**refusing(200, ok=True, keys_written=1, regions_merged=[], refused={}, change_id="c"),
                        ROLLBACK: (200, b'{"ok": true, "restored": []}'), path: (status, b"", {"Location": elsewhere.url + path}),
                        ("POST", path): (status, b"", {"Location": elsewhere.url + path})})
    password = scratch / "password"
    password.write_text("pw")
    bundle = write_bundle(scratch / "b.json", config={"some_key": "1"}, notification_endpoints=[{"name": "n", "url": "https://h"}])
    for words in (["export", "--source", server.url, "--out", scratch / "x.json"],
                  ["import", "--bundle", bundle, "--target", server.url, "--apply"],
                  ["rollback", "--change", "c", "--target", server.url]):
        for login in (["--token", "a.b.c"], ["--admin-user", "root", "--password-file", password]):
            run("migrate", *words, *login, env={"HOME": str(scratch)})
    assert elsewhere.seen == []
