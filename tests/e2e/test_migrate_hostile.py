"""Bundles that hands, editors and other programs have spoilt, and targets that are none or fail in the middle."""
import json
import socket
import threading

import pytest

from support.migrate import GOOD, counts, importing, keys_of, write_bundle
from support.program import run


def put(path, data):
    path.touch(mode=0o600)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# --- bundles ---


@pytest.mark.parametrize("data", [
    b"\xef\xbb\xbf" + b'{"config": {"some_key": "1"}}',
    b'{\r\n  "config": {\r\n    "some_key": "1"\r\n  }\r\n}\r\n',
    b'\n\n{"config":{"some_key":1}}\n\n',
    b'{"config": {" some_key ": true}}',
])
def test_what_editors_do_to_a_bundle_does_no_harm(filled, data):
    done = filled.apply(put(filled.scratch / "b.json", data))
    assert done.code == 0, done
    assert filled.target_config() == {"some_key": "1"}


@pytest.mark.parametrize("text, reason", [
    ('{"config": {"a": "1", "a": "2"}}', "'a' twice"),
    ('{"config": {"a": "1"}, "config": {"a": "2"}}', "'config' twice"),
    pytest.param('{"config": ' + "[" * 100000 + "]" * 100000 + "}", "nested deeper", id="deep"),
    ('{"config": {"a": 123456789012345678901234567890}}', "as text"),
    ('{"config": {"a": 1e999}}', "not JSON"),
    ('{"config": {"a": NaN}}', "not JSON"),
    ('{"config": {"a": "1"}} trailing', "not JSON"),
    ("{'config': {'a': '1'}}", "not JSON"),
    ('{"config": {"a": "\\ud800"}}', "not JSON"),
    (b'{"config": {"a": "\xff\xfe"}}', "not JSON"),
    ('{"config": {"a": "1"}, "notification_endpoints": {}}', "not a list"),
    ('{"config": {"a": "1"}, "regions": {"aws": []}}', "regions.aws"),
    ('{"schema": "1", "config": {"a": "1"}}', "whole number"),
    ('{"schema": 1.5, "config": {"a": "1"}}', "whole number"),
])
def test_a_spoilt_bundle_is_refused_with_the_reason_and_nothing_is_written(filled, text, reason):
    done = filled.apply(put(filled.scratch / "b.json", text))
    assert done.code == 9 and "b.json" in done.err and reason in done.err, done
    assert filled.target_config() == {}


def test_values_of_every_json_type_arrive_as_text(filled):
    bundle = write_bundle(filled.scratch / "b.json", config={
        "t": True, "f": False, "i": 5, "m": -7, "r": 1.5, "big": 9223372036854775807, "l": ["a", 1], "o": {"x": 1}, "n": None,
        "e": "", "schlüssel": "ü", "ключ": "😀", "tab": "a\tb\nc", "nul": "a\0b"})
    done = filled.apply(bundle)
    assert done.code == 0 and "'n' has no value" in done.err, done
    assert filled.target_config() == {
        "t": "1", "f": "0", "i": "5", "m": "-7", "r": "1.5", "big": "9223372036854775807", "l": '["a",1]', "o": '{"x":1}',
        "e": "", "schlüssel": "ü", "ключ": "😀", "tab": "a\tb\nc", "nul": "a\0b"}
    assert "already matches" in filled.apply(bundle).out


@pytest.mark.parametrize("key", ["", "k" * 129, "a\nb", "a\x7fb"])
def test_a_key_that_no_store_takes_is_refused_by_name_and_the_rest_is_written(filled, key):
    bundle = write_bundle(filled.scratch / "b.json", config={key: "1", "ok": "1"})
    done = filled.apply(bundle)
    assert done.code == 0 and "invalid_key" in done.err, done
    assert filled.target_config() == {"ok": "1"}
    assert "\n" not in key or "a\nb" not in done.err


def test_an_escape_sequence_in_a_key_does_not_reach_the_terminal(filled):
    bundle = write_bundle(filled.scratch / "b.json", config={"\x1b[2J": "1", "ok": "1"}, excluded={"\x1b[31m": "x"},
                          regions={"\x1b[1m": {}, "aws": {"\x1b]0;x\x07": {"vpc_id": "1"}}})
    for done in (filled.diff(bundle), filled.apply(bundle)):
        assert "\x1b" not in done.out + done.err and "\x07" not in done.out + done.err, done


def test_what_a_bundle_says_and_means_nothing_is_told(filled):
    bundle = write_bundle(filled.scratch / "b.json", config={"ok": "1"}, surprise=1, notification_endpoints=[{"name": "no url"}],
                          regions={"aws": {"us-east-1": "x", "": {"vpc_id": "1"}}, "mars": {"crater": {}}})
    done = filled.apply(bundle)
    assert done.code == 0, done
    for what in ("regions.aws.us-east-1", "'mars'", "'surprise'", "'no url'"):
        assert what in done.err, done
    assert filled.target_config() == {"ok": "1"}


@pytest.mark.parametrize("keys", [5_000, 100_000])
def test_many_keys_move_and_a_second_pass_finds_them_same(filled, keys):
    bundle = write_bundle(filled.scratch / "b.json", config={f"setting_{n}": str(n) for n in range(keys)})
    done = filled.apply(bundle, "--timeout", "300")
    assert done.code == 0 and counts(done)["ADD"] == keys, done.err
    again = filled.diff(bundle, "--exit-code")
    assert again.code == 0 and counts(again)["SAME"] == keys


def test_a_bundle_on_stdin_works(filled):
    done = filled.diff("-", stdin=json.dumps({"config": {"some_key": "1"}}))
    assert keys_of(done, "ADD") == ["some_key"]


def test_a_folder_and_a_device_are_no_bundles(filled):
    for path in (filled.scratch, "/dev/null"):
        done = filled.diff(path)
        assert done.code == 9 and str(path) in done.err, done


# --- addresses ---


@pytest.mark.parametrize("url", ["", "dash.example", "ftp://h", "http://", "http:///x", "https://h?x=1", "http://h#f",
                                 "http://user:secret@h", "http://user@h/x", "file:///etc/passwd", "http://h h"])
def test_what_is_no_address_of_an_instance_is_a_usage_error(scratch, url):
    bundle = write_bundle(scratch / "b.json", config={"a": "1"})
    done = run("migrate", "diff", "--bundle", bundle, f"--target={url}", "--token", "a.b.c", env={"HOME": str(scratch)})
    assert done.code == 2 and "secret" not in done.out + done.err, done


def test_slashes_prefixes_and_capitals_in_an_address_are_understood(filled, answering):
    bundle = write_bundle(filled.scratch / "b.json", config={"a": "1"})
    for url in (filled.target.url + "/", filled.target.url + "//", filled.target.url.replace("http", "HTTP", 1),
                filled.target.url.replace("127.0.0.1", "localhost")):
        done = filled.migrate("diff", "--bundle", bundle, "--target", url)
        assert done.code == 0, (url, done)
    server = answering({"/prefix/api/setup/status": (200, b'{"complete": true}'), "/prefix/api/setup/config": (200, b"{}")})
    done = run("migrate", "diff", "--bundle", bundle, "--target", server.url + "/prefix/", "--token", "a.b.c")
    assert done.code == 0 and counts(done)["ADD"] == 1, done


def test_an_ipv6_address_is_understood(filled, answering):
    server = answering({"/api/setup/status": (200, b'{"complete": true}'), "/api/setup/config": (200, b"{}")}, host="::1")
    bundle = write_bundle(filled.scratch / "b.json", config={"a": "1"})
    done = run("migrate", "diff", "--bundle", bundle, "--target", server.url, "--token", "a.b.c")
    assert server.url.startswith("http://[::1]:") and done.code == 0, done


# --- targets that are none, or fail ---


@pytest.mark.parametrize("status", [(200, b"<html>hello</html>", {"Content-Type": "text/html"}), (200, b""), (200, b"[]"),
                                    (200, b'{"complete": "yes"}'), (500, b"oops"), (404, b"{}"), (204, b""),
                                    (200, b'{"complete": true'), (503, b"{}", {"Retry-After": "7"})])
def test_a_status_that_is_none_means_cannot_reach(answering, scratch, status):
    server = answering({**GOOD, "/api/setup/status": status})
    done = importing(server, scratch)
    assert done.code == 7 and f"Cannot reach {server.url}" in done.err, done
    assert all(authorization is None for _, _, authorization in server.seen)


@pytest.mark.parametrize("config, code", [
    ((200, b"<html>login</html>", {"Content-Type": "text/html"}), 1), ((200, b"[]"), 1), ((200, b'{"a": {"b'), 1),
    ((500, b'{"detail": "boom"}'), 1), ((401, b'{"detail": "Invalid or expired token"}'), 8),
    ((403, b'{"detail": "Admin access required"}'), 8), ((302, b"", {"Location": "/setup"}), 1),
    ((301, b"", {"Location": "https://elsewhere.example/api/setup/config"}), 1),
])
def test_a_configuration_that_cannot_be_read_ends_the_import_before_it_writes(answering, scratch, config, code):
    server = answering({**GOOD, "/api/setup/config": config})
    done = importing(server, scratch)
    assert done.code == code and server.url in done.err, done
    assert not any(method == "POST" for method, _, _ in server.seen)
    assert not list(scratch.glob(".dashboard-migrate/rollback-*"))


@pytest.mark.parametrize("answer, code", [
    ((200, b"<html>ok</html>", {"Content-Type": "text/html"}), 1), ((200, b"{}"), 1), ((200, b""), 1),
    ((200, b'{"ok": true}'), 1), ((200, b'{"ok": true, "keys_written": "1"}'), 1), ((200, b'{"ok": false, "keys_written": 1}'), 1),
    ((302, b"", {"Location": "https://elsewhere.example/"}), 1), ((500, b'{"detail": "boom"}'), 1),
    ((502, b"bad gateway", {"Content-Type": "text/plain"}), 1), ((504, b""), 7), ((400, b'{"detail": "no"}'), 1),
    ((413, b'{"detail": "too large"}'), 1), ((401, b'{"detail": "Invalid or expired token"}'), 8),
    ((422, b'{"detail": [{"loc": ["body", "config"], "msg": "bad", "type": "x"}]}'), 1),
])
def test_an_import_that_is_not_answered_well_is_never_called_a_success(answering, scratch, answer, code):
    server = answering({**GOOD, ("POST", "/api/setup/import"): answer})
    done = importing(server, scratch)
    assert done.code == code and "wrote" not in done.out and "error: " in done.err, done
    if answer[0] in (200, 500, 502, 504):
        assert "Run the same import again" in done.err


def test_an_import_that_says_yes_and_keeps_nothing_is_found_out(answering, scratch):
    server = answering({**GOOD, "/api/setup/config/history": (200, b'{"changes": []}')})
    done = importing(server, scratch)
    assert done.code == 5 and "some_key" in done.err, done


def test_a_target_that_drips_is_given_up_at_the_deadline(scratch):
    listener = socket.create_server(("127.0.0.1", 0))

    def drip():
        connection, _ = listener.accept()
        connection.recv(65536)
        try:
            for byte in b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + b" " * 1000:
                connection.sendall(bytes([byte]))
                threading.Event().wait(0.05)
        except OSError:
            pass

    threading.Thread(target=drip, daemon=True).start()
    bundle = write_bundle(scratch / "b.json", config={"some_key": "1"})
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    done = run("migrate", "diff", "--bundle", bundle, "--target", url, "--token", "a.b.c", "--timeout", "1")
    listener.close()
    assert done.code == 7 and f"Cannot reach {url}" in done.err, done


def test_a_timeout_that_is_none_is_a_usage_error(scratch):
    for seconds in ("0", "-1", "x"):
        done = run("migrate", "export", "--source", "http://127.0.0.1:1", "--token", "a.b.c", f"--timeout={seconds}")
        assert done.code == 2, done


# --- one document in JSON mode, whatever happens ---


def test_every_error_of_every_action_is_one_document(filled, answering):
    good = write_bundle(filled.scratch / "good.json", config={"some_key": "1"})
    bad = put(filled.scratch / "bad.json", "{")
    plan = filled.scratch / "plan.json"
    assert filled.diff(good, "--plan-out", plan).code == 0
    filled.target.set(some_key="moved")
    url, source = filled.target.url, filled.source.url
    down = answering({})
    cases = [
        ("unreachable", 7, ["export", "--source", down.url, "--out", filled.scratch / "x"]),
        ("usage", 2, ["export", "--source", "nonsense"]),
        ("usage", 2, ["export", "--nonsense"]),
        ("usage", 2, ["export", "--via", "docker", "--container", "c1", "--docker-host", "ssh://"]),
        ("invalid", 1, ["export", "--source", source, "--out", filled.scratch]),
        ("integrity", 9, ["diff", "--bundle", bad, "--target", url]),
        ("unreachable", 7, ["diff", "--bundle", good, "--target", down.url]),
        ("integrity", 9, ["import", "--bundle", bad, "--target", url, "--apply"]),
        ("drift", 11, ["import", "--bundle", good, "--target", url, "--apply", "--plan", plan]),
        ("integrity", 9, ["import", "--bundle", good, "--target", url, "--apply", "--plan", bad]),
        ("not_found", 1, ["rollback", "--target", url, "--change", "no-such-change"]),
        ("not_found", 1, ["shred", filled.scratch / "nothing"]),
        ("usage", 2, ["shred"]),
        ("usage", 2, ["rollback"]),
    ]
    for word, code, words in cases:
        login = words[0] not in ("shred",) and "--nonsense" not in words
        done = filled.migrate(*words, "--output", "json", login=login)
        assert done.code == code, (words, done)
        assert done.json["schema"] == 1 and done.json["error"]["code"] == word, (words, done)
        assert f"error: {done.json['error']['message']}" in done.err, (words, done)


def test_what_each_action_did_is_one_document_too(filled):
    out = filled.scratch / "x.json"
    export = filled.migrate("export", "--source", filled.source.url, "--out", out, "--output", "json")
    assert export.json["schema"] == 1 and export.json["bundle"] == str(out) and export.json["keys"] > 0
    done = filled.apply(out, "--output", "json")
    assert done.json["applied"]["wrote"] and done.json["applied"]["change_id"] in done.json["undo"], done
    back = filled.migrate("rollback", "--target", filled.target.url, "--change", done.json["applied"]["change_id"],
                          "--output", "json")
    assert back.json["restored"] and back.json["schema"] == 1
    shredded = run("migrate", "shred", out, filled.scratch / "nothing", "--output", "json")
    assert shredded.code == 5 and shredded.json["shredded"] == [str(out)], shredded
    assert list(shredded.json["failed"]) == [str(filled.scratch / "nothing")] and not out.exists()
