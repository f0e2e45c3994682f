"""The chunked upload lane against a real S3 server: states, order, resume, replicas, crashes."""
import base64
import hashlib
import json
import os
import pty
import re
import signal
import socket
import subprocess
import time

import pytest

from support.holding_relay import HoldingRelay
from support.ports import free_port
from support.memory import peak_kib
from support.program import BINARY, clean_environment, run
from support.storage import PART, begin, commit, p8, people, put, scope, slices
from support.wait import wait_until


@pytest.fixture
def actors(make_instance, bucket):
    return people(make_instance(start=False), bucket.settings)


def test_parts_become_one_object_at_commit_and_not_before(actors, bucket):
    data = os.urandom(2 * PART + 100)
    begun = begin(actors.ann, "big.rpm", len(data))
    assert (begun["part_bytes"], begun["parts"]) == (PART, 3)
    refs = []
    for n, piece in enumerate(slices(data), 1):
        answer = put(actors.ann, begun["handle"], n, piece)
        assert (answer.status, answer.json["part"], answer.json["bytes"]) == (200, n, len(piece))
        refs.append({"part": n, "ref": answer.json["ref"]})
        assert bucket.keys() == []
    done = commit(actors.ann, begun["handle"], refs)
    assert done.status == 201, done
    assert (done.json["size"], done.json["parts"], done.json["digest"]) == (len(data), 3, p8(data))
    assert bucket.get("config-mgmt/big.rpm") == data
    item = actors.bob.get("/api/storage/list").json["items"][0]
    assert (item["name"], item["size"], item["digest"]) == ("big.rpm", len(data), p8(data))


@pytest.mark.parametrize("parts", [2, [1, 2], [2, 1], [{"part": 1}, {"part": 2}]])
def test_commit_takes_count_numbers_or_parts(actors, parts):
    handle = begin(actors.ann, "a.rpm", PART + 1)["handle"]
    for n, piece in enumerate((b"x" * PART, b"y"), 1):
        assert put(actors.ann, handle, n, piece).status == 200
    assert commit(actors.ann, handle, parts).status == 201


def test_begin_refuses_what_the_table_says(actors):
    code = lambda name, size: actors.ann.post("/api/storage/upload/begin", {"filename": name, "size": size}).status
    assert code("a.txt", 1) == 400 and code("a.rpm", 0) == 400 and code("a.rpm", -1) == 400
    assert code("a.rpm", 5368709121) == 413 and code("a.rpm", "1") == 422 and code("a.rpm", 1.5) == 422
    assert begin(actors.ann, "a.rpm", 5368709120)["parts"] == 640


def test_order_length_and_number_are_enforced_and_stage_nothing(actors, bucket):
    handle = begin(actors.ann, "a.rpm", 2 * PART + 5)["handle"]
    assert put(actors.ann, handle, 2, b"x" * PART).status == 400
    assert put(actors.ann, handle, 1, b"x" * (PART - 1)).status == 400
    assert put(actors.ann, handle, 1, b"x" * (PART + 1)).status == 413
    assert put(actors.ann, handle, 4, b"x" * 5).status == 400
    assert put(actors.ann, handle, 0, b"").status == 400
    assert put(actors.ann, handle, "one", b"x").status == 422
    assert put(actors.ann, "", 1, b"x" * PART).status == 400
    status = lambda: actors.ann.get("/api/storage/upload/status", headers={"X-Upload-Handle": handle}).json["staged"]
    assert status() == []
    assert put(actors.ann, handle, 1, b"x" * PART).status == 200
    assert put(actors.ann, handle, 1, b"y" * PART).status == 200  # the last one again
    assert put(actors.ann, handle, 3, b"z" * 5).status == 400
    assert put(actors.ann, handle, 2, b"y" * PART).status == 200
    assert put(actors.ann, handle, 1, b"x" * PART).status == 400
    assert status() == [1, 2]
    assert commit(actors.ann, handle, 3).status == 400
    assert put(actors.ann, handle, 3, b"z" * 5).status == 200
    assert commit(actors.ann, handle, 3).status == 201
    assert bucket.get("config-mgmt/a.rpm") == b"y" * (2 * PART) + b"z" * 5


def test_a_handle_belongs_to_its_user_and_cannot_be_forged(actors):
    handle = begin(actors.ann, "a.rpm", 3)["handle"]
    forged = handle[:-2] + ("AA" if handle[-2:] != "AA" else "BB")
    refusals = [put(actors.bob, handle, 1, b"abc"), put(actors.ann, forged, 1, b"abc"), put(actors.ann, "x", 1, b"abc")]
    assert [answer.status for answer in refusals] == [400, 400, 400]
    assert len({answer.body for answer in refusals}) == 1
    assert put(actors.ann, handle, 1, b"abc").status == 200
    assert commit(actors.bob, handle, 1).status == 400
    assert commit(actors.ann, handle, 1).status == 201


def test_a_part_is_checked_against_content_digest(actors):
    handle = begin(actors.ann, "a.rpm", 3)["handle"]
    digest = lambda data: "sha-256=:" + base64.b64encode(hashlib.sha256(data).digest()).decode() + ":"
    assert put(actors.ann, handle, 1, b"abc", {"Content-Digest": digest(b"abd")}).status == 400
    assert put(actors.ann, handle, 1, b"abc", {"Content-Digest": digest(b"abc")}).status == 200


def test_an_aborted_upload_is_gone_and_abort_never_fails(actors, bucket):
    handle = begin(actors.ann, "a.rpm", PART + 1)["handle"]
    put(actors.ann, handle, 1, b"x" * PART)
    assert len(bucket.open_uploads()) == 1
    abort = lambda http, text: http.post("/api/storage/upload/abort", {"handle": text})
    assert abort(actors.bob, handle).json["aborted"] is False
    assert abort(actors.ann, "rubbish").json["ok"] is True
    assert abort(actors.ann, handle).json == {"ok": True, "aborted": True}
    assert abort(actors.ann, handle).status == 200
    assert bucket.open_uploads() == [] and bucket.keys() == []
    assert put(actors.ann, handle, 2, b"y").status == 400
    assert commit(actors.ann, handle, 2).status == 400


def test_scope_is_asked_at_begin_and_again_at_commit(actors, bucket):
    bucket.put("config-mgmt/web.rpm", b"x")
    handle = begin(actors.bob, "web.rpm", 3)["handle"]
    assert put(actors.bob, handle, 1, b"abc").status == 200
    assert scope(actors.root, "web.rpm", "web").status == 200
    assert commit(actors.bob, handle, 1).status == 409
    assert actors.bob.post("/api/storage/upload/begin", {"filename": "web.rpm", "size": 3}).status == 409
    assert bucket.get("config-mgmt/web.rpm") == b"x"


def test_two_replicas_share_an_upload_and_a_restart_does_not_end_it(actors, bucket):
    one = actors.instance
    two = type(one)(one.folder)
    two.start()
    try:
        data = os.urandom(3 * PART + 1)
        handle = begin(actors.ann, "a.rpm", len(data))["handle"]
        other = two.login("ann")
        for n, piece in enumerate(slices(data), 1):
            assert put(other if n % 2 else actors.ann, handle, n, piece).status == 200, n
            if n == 2:
                one.kill()
                one.start()
                actors.ann.port = one.port
        assert commit(other, handle, 4).status == 201
        assert bucket.get("config-mgmt/a.rpm") == data
    finally:
        two.stop()


@pytest.mark.parametrize("body, status", [
    ({"filename": "a.rpm", "size": 0}, 400), ({"filename": "a.rpm", "size": -1}, 400), ({"filename": "a.rpm", "size": 1.5}, 422),
    ({"filename": "a.rpm", "size": "1"}, 422), ({"filename": "a.rpm", "size": None}, 422), ({"filename": "a.rpm", "size": True}, 422),
    ({"filename": "a.rpm", "size": [1]}, 422), ({"filename": "a.rpm", "size": 1 << 63}, 422), ({"filename": "a.rpm"}, 422),
    ({"size": 1}, 422), ({"filename": 5, "size": 1}, 422), ({"filename": "a.rpm", "size": 5368709121}, 413),
    ([], 422), ("{", 422)])
def test_a_begin_that_makes_no_sense_begins_nothing(actors, bucket, body, status):
    answer = actors.ann.post("/api/storage/upload/begin", body)
    assert answer.status == status, answer
    assert bucket.open_uploads() == []


def raw_part(http, handle, head, body):
    """A part's request with a head of our own; the status."""
    with socket.create_connection((http.host, http.port), timeout=120) as s:
        s.sendall(f"PUT /api/storage/upload/part/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {http.token}\r\n"
                  f"X-Upload-Handle: {handle}\r\nConnection: close\r\n{head}\r\n\r\n".encode() + body)
        return int(s.makefile("rb").readline().split()[1])


def test_a_part_is_exactly_what_its_head_says(actors, bucket):
    handle = begin(actors.ann, "a.rpm", 5)["handle"]
    assert raw_part(actors.ann, handle, "Content-Length: 4", b"abcd") == 400
    assert raw_part(actors.ann, handle, "Content-Length: 6", b"abcdef") == 400
    assert raw_part(actors.ann, handle, "Content-Length: 0", b"") == 400
    assert raw_part(actors.ann, handle, "Content-Length: 99999999999", b"") == 413
    assert raw_part(actors.ann, handle, "Content-Length: five", b"abcde") == 400
    assert raw_part(actors.ann, handle, "Transfer-Encoding: chunked", b"4\r\nabcd\r\n0\r\n\r\n") in (400, 411)
    assert raw_part(actors.ann, handle, "Transfer-Encoding: chunked", b"6\r\nabcdef\r\n0\r\n\r\n") in (400, 411)
    for digest in ("sha-256=:AAAA:", "sha-256=", "md5=:AAAA:", "nonsense"):
        assert put(actors.ann, handle, 1, b"abcde", {"Content-Digest": digest}).status in (200, 400), digest
    assert put(actors.ann, handle, 1, b"abcde", {"Content-Digest": "sha-256=:" + "A" * 43 + "=:"}).status == 400
    assert put(actors.ann, handle, 1, b"abcde").status == 200
    assert commit(actors.ann, handle, 1).status == 201
    assert bucket.get("config-mgmt/a.rpm") == b"abcde"


@pytest.mark.parametrize("parts", [0, 1, 3, -1, "2", 2.0, None, True, {}, [], [1], [1, 1], [1, 2, 3], [1, 2, 2], ["1", "2"], [1, None],
                                   [{"part": 1}], [{"part": 1}, {"part": 1}], [{"part": 1}, {"n": 2}], [{"part": "1"}, {"part": 2}],
                                   [{"part": 1, "ref": "x"}, {"part": 2, "ref": "y"}], [{"part": 1, "ref": 7}, {"part": 2}], [[1], [2]]])
def test_a_commit_that_names_other_parts_commits_nothing(actors, bucket, parts):
    handle = begin(actors.ann, "a.rpm", PART + 1)["handle"]
    for n, piece in enumerate((b"x" * PART, b"y"), 1):
        assert put(actors.ann, handle, n, piece).status == 200
    answer = commit(actors.ann, handle, parts)
    assert answer.status in (400, 422), answer
    assert bucket.keys() == []
    assert commit(actors.ann, handle, 2).status == 201


def test_refs_of_another_upload_or_in_another_place_are_refused(actors, bucket):
    one, two = (begin(actors.ann, "a.rpm", PART + 1)["handle"] for _ in range(2))
    refs = {}
    for handle in (one, two):
        refs[handle] = [put(actors.ann, handle, n, piece).json["ref"] for n, piece in enumerate((b"x" * PART, b"y"), 1)]
    swapped = [{"part": 1, "ref": refs[one][1]}, {"part": 2, "ref": refs[one][0]}]
    foreign = [{"part": n, "ref": refs[two][n - 1]} for n in (1, 2)]
    assert commit(actors.ann, one, swapped).status == 400
    assert commit(actors.ann, one, foreign).status == 400
    assert bucket.keys() == []
    assert commit(actors.ann, one, [{"part": n, "ref": refs[one][n - 1]} for n in (2, 1)]).status == 201


def test_a_committed_handle_says_so_again_and_takes_nothing_more(actors, bucket):
    handle = begin(actors.ann, "a.rpm", 3)["handle"]
    ref = put(actors.ann, handle, 1, b"abc").json["ref"]
    first = commit(actors.ann, handle, [{"part": 1, "ref": ref}])
    assert (first.status, commit(actors.ann, handle, 1).json["digest"]) == (201, first.json["digest"])
    assert put(actors.ann, handle, 1, b"xyz").status == 400
    aborted = actors.ann.post("/api/storage/upload/abort", {"handle": handle})
    assert aborted.status == 200 and aborted.json["aborted"] is False
    assert bucket.get("config-mgmt/a.rpm") == b"abc"
    assert actors.ann.post("/api/storage/upload/abort", {"handle": 5}).status == 422
    assert actors.ann.post("/api/storage/upload/abort", {}).status == 422


LATER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *now) {
  int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, now);
  if (id == CLOCK_REALTIME) now->tv_sec += SECONDS;
  return result;
}
"""


def later(actors, scratch, seconds):
    """Another process on the same data directory, whose clock is ahead."""
    library = scratch / f"later{seconds}.so"
    subprocess.run(["cc", "-shared", "-fPIC", f"-DSECONDS={seconds}", "-x", "c", "-o", library, "-"], input=LATER, text=True, check=True)
    other = type(actors.instance)(actors.instance.folder, {"LD_PRELOAD": str(library)})
    return other.start()


def test_a_handle_is_refused_like_a_forged_one_after_twelve_hours(actors, scratch, bucket):
    handle = begin(actors.ann, "a.rpm", 3)["handle"]
    assert put(actors.ann, handle, 1, b"abc").status == 200
    before, after = later(actors, scratch, 12 * 3600 - 900), later(actors, scratch, 12 * 3600 + 1)
    try:
        assert "exactly 3" in put(before.login("ann"), handle, 1, b"abcd").json["detail"]
        ann = after.login("ann")
        forged = put(ann, "x", 1, b"abc")
        refused = [put(ann, handle, 1, b"abc"), commit(ann, handle, 1),
                   ann.get("/api/storage/upload/status", headers={"X-Upload-Handle": handle})]
        assert {(answer.status, answer.body) for answer in refused} == {(400, forged.body)}
        aborted = ann.post("/api/storage/upload/abort", {"handle": handle})
        assert (aborted.status, aborted.json["ok"], aborted.json["aborted"]) == (200, True, False)
        assert bucket.keys() == []
    finally:
        before.stop()
        after.stop()
    assert commit(actors.instance.login("ann"), handle, 1).status == 201  # the later clock ended the session


def test_gc_spares_what_may_still_be_committed(actors, cli, bucket):
    handle = begin(actors.ann, "a.rpm", 3)["handle"]
    assert put(actors.ann, handle, 1, b"abc").status == 200
    nothing = {"ok": True, "applied": True, "items": [], "swept": 0}
    assert cli("gc", "--apply", "--output", "json").json == {"schema": 1} | nothing
    assert len(bucket.open_uploads()) == 1
    swept = cli("gc", "--backend", "s3", "--older-than", "12")
    assert swept.code == 0 and swept.out == "", swept
    assert commit(actors.ann, handle, 1).status == 201
    assert actors.ann.post("/api/storage/gc", {}).status == 403
    for hours in (11, 0, -1, 10**15):
        assert actors.root.post("/api/storage/gc", {"older_than_hours": hours, "apply": True}).status == 400, hours
    assert actors.root.post("/api/storage/gc", {"apply": "yes"}).status == 422
    assert [cli("gc", "--backend", "ftp").code, cli("gc", "--older-than", "11").code] == [1, 1]


def test_a_handle_ends_when_the_bucket_changes(actors):
    handle = begin(actors.ann, "a.rpm", 3)["handle"]
    actors.instance.set(storage_obj_cloud1_bucket="another")
    assert put(actors.ann, handle, 1, b"abc").status == 400
    assert commit(actors.ann, handle, 1).status == 400


# --- the command line -----------------------------------------------------------------------------

@pytest.fixture
def cli(actors, scratch):
    token = scratch / "token"
    token.write_text(actors.instance.token("root"))
    env = {"XDG_STATE_HOME": str(scratch / "state")}

    def call(*args, **kw):
        return run("storage", *args, "--target", actors.instance.url, "--token-file", token, env=env, **kw)

    def start(relay, path, **kw):
        """The upload of `path` through `relay`, under way."""
        command = [BINARY, "storage", "upload", str(path), "--target", relay.url, "--token-file", str(token)]
        return subprocess.Popen(command, env=clean_environment(env), stdout=subprocess.DEVNULL,
                                **{"stderr": subprocess.DEVNULL} | kw)

    def journals():
        return list((scratch / "state/dashctl/uploads").glob("*.json"))

    call.env, call.token, call.start, call.journals = env, token, start, journals
    return call


@pytest.fixture
def relay(actors):
    """Between a command and the instance."""
    made = HoldingRelay(actors.instance.port)
    yield made
    made.close()


def test_commands_through_the_api_and_on_the_data_directory_print_the_same(actors, cli, scratch, bucket):
    for name in ("a.yml", "b.sh"):
        (scratch / name).write_text("content of " + name)
    done = cli("upload", scratch / "*.yml", scratch / "b.sh")
    assert done.code == 0, done
    assert sorted(bucket.keys()) == ["config-mgmt/a.yml", "config-mgmt/b.sh"]
    through, direct = cli("list"), actors.instance.dashctl("storage", "list")
    assert through.code == direct.code == 0 and through.out == direct.out and "a.yml" in through.out
    through, direct = cli("list", "--output", "json"), actors.instance.dashctl("storage", "list", "--output", "json")
    assert through.json == direct.json and through.json["count"] == 2
    assert cli("fetch", "a.yml", "-o", "-").out == "content of a.yml"
    assert actors.instance.dashctl("storage", "fetch", "a.yml", "-o", scratch / "copy").code == 0
    assert (scratch / "copy").read_text() == "content of a.yml"
    assert cli("delete", "a.yml").code == 0
    assert actors.instance.dashctl("storage", "delete", "b.sh").code == 0
    assert bucket.keys() == []


def test_exit_codes_and_records_of_an_upload(cli, scratch, bucket):
    (scratch / "a.yml").write_text("x")
    (scratch / "a.txt").write_text("x")
    dry = cli("upload", "--dry-run", scratch / "a.yml")
    assert dry.code == 0 and bucket.keys() == []
    mixed = cli("upload", scratch / "a.yml", scratch / "a.txt", "--output", "json")
    assert mixed.code == 5, mixed
    records = [json.loads(line) for line in mixed.out.splitlines()]
    assert [record.get("ok") for record in records[:2]] == [True, False]
    assert cli("upload", scratch / "none.yml").code == 1
    assert cli("upload", scratch / "a.txt").code == 1
    assert cli("fetch", "none.yml").code == 1
    assert cli("delete", "none.yml").code == 1
    assert cli("list", "--backend", "ftp").code == 1
    assert cli("test", "obj_cloud1").code == 0
    assert cli("test", "gcs").code != 0
    assert cli("test", "obj_cloud1", "--deep").code == 0
    assert cli("upload", scratch / "a.yml", "--backend", "gcs").code == 1


def test_exit_codes_one_by_one(actors, cli, relay, scratch, bucket):
    (scratch / "a.yml").write_text("x")
    (scratch / "big.rpm").write_bytes(os.urandom(4 * PART))
    (scratch / "wrong").write_text("no token")
    (scratch / "bob").write_text(actors.instance.token("bob"))
    as_who = lambda token, *args: run("storage", *args, "--target", actors.instance.url, "--token-file", scratch / token, env=cli.env)
    assert cli("upload", scratch / "a.yml").code == 0
    assert cli("upload", scratch / "none.yml").code == 1
    assert cli("upload", scratch).code == 1
    assert cli("upload").code == 2
    assert cli("fetch", "a.yml", "b.yml", "-o", scratch / "file").code == 2
    assert cli("upload", scratch / "a.yml", scratch / "none.yml").code == 5
    assert cli("delete", "none.yml", "a.yml").code == 5
    nobody = run("storage", "list", "--target", f"http://127.0.0.1:{free_port()}", "--token-file", cli.token)
    assert nobody.code == 7, nobody
    assert as_who("wrong", "list").code == 8
    assert as_who("bob", "list", "--backend", "obj_cloud1").code == 8
    bucket.put("config-mgmt/web.yml", b"x")
    assert scope(actors.root, "web.yml", "web").status == 200
    (scratch / "web.yml").write_text("y")
    assert as_who("bob", "upload", scratch / "web.yml").code == 12
    assert as_who("bob", "fetch", "web.yml", "-o", "-").code == 1
    relay.hold_after(3 * PART)
    client = cli.start(relay, scratch / "big.rpm")
    relay.wait_held()
    client.send_signal(signal.SIGINT)
    assert client.wait(timeout=300) == 130
    assert cli("upload", scratch / "big.rpm").code == 0


def test_a_file_above_the_ceiling_is_refused_with_the_reason(cli, scratch, bucket):
    with open(scratch / "huge.rpm", "wb") as file:
        file.truncate(5368709121)
    refused = cli("upload", scratch / "huge.rpm")
    assert refused.code == 1 and "5368709120" in refused.err, refused
    assert bucket.keys() == [] and bucket.open_uploads() == []


def test_fetch_takes_several_names_and_patterns(actors, cli, scratch, bucket):
    data = {"a.yml": b"of a", "b.yml": os.urandom(2 * PART + 9), "dir/in.yml": b"nested", "empty.sh": b"", "n.txt": b"text"}
    for name, content in data.items():
        bucket.put("config-mgmt/" + name, content)
    direct = lambda *args, **kw: actors.instance.dashctl("storage", *args, **kw)
    for number, call in enumerate((cli, direct)):
        out = scratch / f"out{number}"
        done = call("fetch", "*.yml", "empty.sh", "dir/in.yml", "-o", f"{out}/", "--output", "json")
        assert done.code == 0, done
        assert [(line["name"], line["ok"], line["size"]) for line in done.lines] == [
            (name, True, len(data[name])) for name in ("a.yml", "b.yml", "empty.sh", "dir/in.yml")]
        for name in ("a.yml", "b.yml", "empty.sh", "dir/in.yml"):
            assert (out / name).read_bytes() == data[name], name
        mixed = call("fetch", "a.yml", "none.yml", "x*", "-o", f"{out}/", "--output", "json")
        assert mixed.code == 5 and [line.get("ok") for line in mixed.lines[:3]] == [True, False, False], mixed
        assert call("fetch", "a.yml", "n.txt", "-o", "-").out == "of atext"
        assert call("fetch", "a.yml", "n.txt", "-o", scratch / "file").code == 2
        assert call("fetch", "none.yml", "-o", f"{out}/").code == 1
        assert sorted(path.name for path in out.iterdir()) == ["a.yml", "b.yml", "dir", "empty.sh"]


def test_progress_on_a_terminal_tells_rate_and_the_time_left(cli, relay, scratch):
    path = scratch / "big.rpm"
    path.write_bytes(os.urandom(PART) * 12)
    ours, theirs = pty.openpty()
    relay.hold_after(3 * PART)
    client = cli.start(relay, path, stderr=theirs)
    os.close(theirs)
    relay.wait_held()
    # The bar shows after a second of work, and most of the work is held back for that long.
    enough = time.monotonic() + 1.1
    wait_until(lambda: time.monotonic() > enough, seconds=300, what="a second")
    relay.release()
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    assert client.wait(timeout=300) == 0, said
    assert re.search(rb"big\.rpm [\d.]+ MiB/96\.0 MiB \(\d+%\), [\d.]+ [KM]iB/s", said), said


def test_a_fetch_that_fails_leaves_the_old_file_alone(cli, scratch):
    (scratch / "kept.yml").write_text("old")
    assert cli("fetch", "none.yml", "-o", scratch / "kept.yml").code == 1
    assert (scratch / "kept.yml").read_text() == "old"
    assert [path.name for path in scratch.iterdir() if path.name.endswith(".part")] == []


def test_an_upload_goes_on_after_the_client_was_killed(cli, relay, scratch, bucket):
    data = os.urandom(7 * PART + 3)
    (scratch / "big.rpm").write_bytes(data)
    relay.hold_after(6 * PART)  # two parts are there by then, even if each had to be sent twice
    first = cli.start(relay, scratch / "big.rpm")
    relay.wait_held()
    first.send_signal(signal.SIGKILL)
    first.wait()
    relay.sever()
    assert [oct(path.stat().st_mode & 0o777) for path in cli.journals()] == ["0o600"]
    assert bucket.keys() == []
    again = run("storage", "upload", scratch / "big.rpm", "--target", relay.url, "--token-file", cli.token, "--output", "json", env=cli.env)
    assert again.code == 0, again
    record = json.loads(again.out.splitlines()[0])
    assert record["resumed_parts"] >= 2 and record["digest"] == p8(data)
    assert bucket.get("config-mgmt/big.rpm") == data
    assert cli.journals() == [] and bucket.open_uploads() == []


def test_an_upload_goes_on_after_the_server_was_killed(actors, cli, relay, scratch, bucket):
    data = os.urandom(6 * PART)
    (scratch / "big.rpm").write_bytes(data)
    relay.hold_after(3 * PART)
    client = cli.start(relay, scratch / "big.rpm", stderr=subprocess.PIPE, text=True)
    relay.wait_held()
    one = actors.instance
    one.kill()
    assert bucket.keys() == []
    relay.upstream = one.start().port
    relay.sever()  # until here the client's new connections wait
    _, said = client.communicate(timeout=600)
    assert client.returncode == 0, said
    assert bucket.get("config-mgmt/big.rpm") == data


@pytest.mark.long
def test_five_gigabytes_pass_with_little_memory(actors, cli, scratch, bucket):
    path = scratch / "huge.rpm"
    with open(path, "wb") as file:
        file.truncate(5368709120)
    pid = actors.instance.process.pid
    idle = peak_kib(pid)
    done = cli("upload", path, timeout=1800)
    assert done.code == 0, done
    uploaded = peak_kib(pid) - idle
    assert uploaded < 64 << 10
    assert actors.ann.get("/api/storage/list").json["items"][0]["size"] == 5368709120
    path.unlink()
    done = cli("fetch", "huge.rpm", "-o", scratch / "back.rpm", timeout=1800)
    assert done.code == 0, done
    assert (scratch / "back.rpm").stat().st_size == 5368709120
    # A plain HTTP client, in one stream.
    seen = subprocess.run(["curl", "-sS", "-H", f"Authorization: Bearer {actors.ann.token}", "-o", "/dev/null", "-w", "%{size_download}",
                           actors.instance.url + "/api/storage/fetch?raw=1&name=huge.rpm"], capture_output=True, text=True, check=True)
    assert seen.stdout == "5368709120"
    assert peak_kib(pid) - idle < 64 << 10
    print(f"idle peak {idle >> 10} MiB; serve over idle: {uploaded >> 10} MiB after the upload, {(peak_kib(pid) - idle) >> 10} MiB after the downloads")
