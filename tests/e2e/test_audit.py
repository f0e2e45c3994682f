"""The audit log from outside: reading, verifying, exporting, proving, anchoring."""
import json
import shutil

import pytest

from support.databases import dump, put_back, rows
from support.program import run
from support.wait import wait_until


def verify(instance, *args):
    return instance.dashctl("audit", "verify", "--output", "json", *args)


def tamper(instance, sql):
    rows(instance, sql)


@pytest.fixture
def written(make_instance, scratch):
    """A stopped instance with a few entries and an anchor outside of its folder."""
    one = make_instance(env={"DASHCTL_ANCHOR_FILE": str(scratch / "anchor")})
    root = one.login("root")
    for i in range(6):
        assert root.post("/api/workgroups", {"name": f"team-{i}"}).status == 201
    one.stop()
    return one


def test_the_log_is_read_by_admins_only(instance, root):
    instance.add_user("bob")
    bob = instance.login("bob")
    for path in ("/api/audit", "/api/audit/verify", "/api/audit/prove?seq=1"):
        assert instance.anonymous.get(path).status == 401
        assert bob.get(path).status == 403
    for i in range(5):
        root.post("/api/workgroups", {"name": f"team-{i}"})
    page = root.get("/api/audit?action=workgroup_create&limit=2").json
    assert [e["target"] for e in page["entries"]] == ["team-4", "team-3"]
    page = root.get(f"/api/audit?action=workgroup_*&limit=2&before={page['next_before']}").json
    assert [e["target"] for e in page["entries"]] == ["team-2", "team-1"]
    assert page["entries"][0]["username"] == "root" and page["entries"][0]["ip_address"] == "127.0.0.1"
    told = root.get("/api/audit/verify").json
    assert list(told)[:3] == ["ok", "count", "first_broken_seq"]
    assert told["ok"] is True and told["first_broken_seq"] is None and told["count"] >= 5


def test_sign_ins_and_settings_are_recorded(instance, root):
    instance.add_user("bob")
    form = {"username": "bob", "password": "wrong"}
    assert instance.anonymous.request("POST", "/api/auth/login", form=form).status == 401
    instance.login("bob")
    told = [(e["action"], e["username"], e["ip_address"]) for e in root.get("/api/audit?username=bob").json["entries"]]
    assert told == [("user.login", "bob", "127.0.0.1"), ("user.login_failed", "bob", "127.0.0.1")]
    assert "wrong" not in root.get("/api/audit?username=bob").body.decode()

    change = {"admission_allowed_regions": "us-east-1", "cloud2_client_secret": "hunter2hunter2"}
    assert root.request("PUT", "/api/setup/config", body=change).status == 200
    assert root.request("PUT", "/api/setup/config", body={"admission_allowed_regions": None}).status == 200
    entries = root.get("/api/audit?action=config.update").json["entries"]
    assert entries[0]["username"] == "root"
    assert entries[0]["details"]["changes"] == {"admission_allowed_regions": {"old": "us-east-1", "new": None}}
    assert entries[1]["details"]["changes"]["admission_allowed_regions"] == {"old": None, "new": "us-east-1"}
    assert entries[1]["details"]["changes"]["cloud2_client_secret"] == {"old": None, "new": "\u2022" * 8}


def test_verifying_names_the_key_that_signs(written):
    told = verify(written)
    assert told.json["public_key"].startswith("dashctl-audit-") and told.json["public_key"] in written.dashctl("audit", "verify").out


def test_verifying_needs_no_daemon_and_names_what_is_broken(written):
    told = verify(written)
    assert told.code == 0 and told.json["ok"] and told.json["checkpoint"]["beyond"] == 0, told
    tamper(written, "UPDATE audit_log SET username = 'mallory' WHERE seq = 4")
    broken = verify(written)
    assert broken.code == 9 and broken.json["ok"] is False and broken.json["first_broken_seq"] == 4, broken


@pytest.mark.parametrize("sql", ["DELETE FROM audit_log WHERE seq > 3", "DELETE FROM audit_log", "DELETE FROM audit_head",
                                 "UPDATE audit_head SET count = 3"])
def test_what_was_cut_shows(written, sql):
    tamper(written, sql)
    assert verify(written).code == 9


def test_an_export_verifies_with_the_anchor_and_the_public_key_alone(written, scratch):
    exported = written.dashctl("audit", "export")
    assert exported.code == 0, exported
    log = scratch / "log.ndjson"
    log.write_text(exported.out)
    proof = written.dashctl("audit", "prove", "--seq", "2", "--output", "json").json
    assert proof["kind"] == "inclusion" and proof["entry"]["seq"] == 2
    args = ["--checkpoint", scratch / "anchor", "--public-key", proof["public_key"], "--output", "json"]
    good = run("audit", "verify", "--file", log, *args)
    assert good.code == 0 and good.json["ok"], good
    lines = exported.out.splitlines()
    entry = json.loads(lines[1])
    entry["username"] = "mallory"
    log.write_text("\n".join([lines[0], json.dumps(entry), *lines[2:]]) + "\n")
    assert run("audit", "verify", "--file", log, *args).json["first_broken_seq"] == 2
    log.write_text("\n".join(lines[:-1]) + "\n")
    assert run("audit", "verify", "--file", log, *args).code == 9


def test_both_doors_export_the_same(written, scratch):
    local = written.dashctl("audit", "export").out
    written.start()
    token = scratch / "token"
    token.write_text(written.token("root"))
    remote = run("audit", "export", "--target", written.url, "--token-file", token)
    assert remote.code == 0 and remote.out.startswith(local), remote
    assert run("audit", "verify", "--target", written.url, "--token-file", token).code == 0
    assert all(line.startswith('{"schema":1,"seq":') for line in local.splitlines()), local


@pytest.mark.parametrize("door", ["target", "folder"])
def test_a_checkpoint_and_a_key_of_ours_are_believed_and_never_left_out(written, scratch, door):
    key = verify(written).json["public_key"]
    token = scratch / "token"
    token.write_text(written.token("root"))

    def told(*flags):
        if door == "folder":
            return written.dashctl("audit", "verify", *flags, "--output", "json")
        written.start()
        done = run("audit", "verify", *flags, "--target", written.url, "--token-file", token, "--output", "json")
        written.stop()
        return done

    ours = ("--checkpoint", scratch / "anchor", "--public-key", key)
    good = told(*ours)
    assert good.code == 0 and good.json["ok"] and good.json["checkpoint"]["size"] > 0, good
    assert told("--public-key", key).code == 2
    assert told("--checkpoint", scratch / "anchor").code == (2 if door == "target" else 0)
    other = "dashctl-audit-00+00000000+" + key.rsplit("+", 1)[1]
    assert told("--checkpoint", scratch / "anchor", "--public-key", other).code != 0
    empty = scratch / "empty"
    empty.write_text("")
    lost = told("--checkpoint", empty, "--public-key", key)
    assert lost.code == 9 and "holds no checkpoint" in lost.err, lost
    tamper(written, "UPDATE audit_log SET username = 'mallory' WHERE seq = 4")
    broken = told(*ours)
    assert broken.code == 9 and broken.json["first_broken_seq"] == 4, broken


def test_a_log_exported_by_a_newer_program_is_not_judged(written, scratch):
    newer = scratch / "audit.jsonl"
    newer.write_text(written.dashctl("audit", "export").out.replace('"schema":1,', '"schema":2,'))
    checkpoint, key = written.folder / "audit.checkpoint", written.dashctl("audit", "verify", "--output", "json").json["public_key"]
    done = run("audit", "verify", "--file", newer, "--checkpoint", checkpoint, "--public-key", key)
    assert done.code == 9 and "line 1: the audit file has schema 2" in done.err, done


class Folder:
    """The active store as a folder of this machine."""

    def __init__(self, path):
        self.path = path
        self.settings = {"storage_local_path": str(path), "storage_active_backend": "local"}

    def keys(self):
        return sorted(str(f.relative_to(self.path)) for f in self.path.rglob("*") if f.is_file())

    def get(self, key):
        return (self.path / key).read_bytes()

    def put(self, key, data):
        (self.path / key).write_bytes(data)


@pytest.fixture(params=["s3", "folder"])
def anchored(request, make_instance, scratch):
    """A started instance whose checkpoints go to its active store too; the store."""
    store = request.getfixturevalue("bucket") if request.param == "s3" else Folder(scratch / "assets")
    one = make_instance(env={"DASHCTL_ANCHOR_STORE": "1"}, start=False)
    one.set(**store.settings)
    return one.start(), store


def checkpoints(store):
    return [key for key in store.keys() if key.startswith("dashctl-audit/")]


def test_checkpoints_in_the_active_store_outlast_the_instance(anchored, scratch):
    one, store = anchored
    root = one.login("root")
    first = wait_until(lambda: checkpoints(store), what="the first checkpoint")
    assert root.get("/readyz").json["checks"]["audit_anchors"] == "ok"
    older = scratch / "older"
    shutil.copytree(one.folder, older, ignore=shutil.ignore_patterns("deploy"))
    older_database = dump(one)
    assert root.post("/api/workgroups", {"name": "team-a"}).status == 201
    one.stop()
    kept = checkpoints(store)
    assert kept[:len(first)] == first and len(kept) > len(first)
    size = int(kept[-1].rsplit("/", 1)[1].split(".")[0])
    told = verify(one)
    assert told.code == 0 and told.json["checkpoint"] == {"size": size, "beyond": 0}, told
    assert store.get(kept[-1]).decode().splitlines()[1] == str(size)
    # Nobody is shown them as assets.
    one.start()
    assert one.login("root").get("/api/storage/list").json["items"] == []
    one.kill()
    # Everything is put back to what it was: only the store remembers.
    shutil.rmtree(one.folder)
    older.rename(one.folder)
    put_back(one, older_database)
    broken = verify(one)
    assert broken.code == 9 and broken.json["first_broken_seq"] == broken.json["count"] + 1, broken
    assert one.dashctl("audit", "verify", env={"DASHCTL_ANCHOR_STORE": ""}).code == 0


def test_a_checkpoint_in_the_store_is_never_replaced(anchored):
    one, store = anchored
    wait_until(lambda: checkpoints(store), what="the first checkpoint")
    one.kill()
    for key in checkpoints(store):
        store.put(key, store.get(key).replace(b"dashctl-audit", b"dashctl-forge"))
    before = {key: store.get(key) for key in checkpoints(store)}
    told = verify(one)
    assert told.code == 9 and "not signed by this log's key" in told.json["problems"][0], told
    assert {key: store.get(key) for key in checkpoints(store)} == before


def test_an_anchor_that_fails_is_told_and_holds_up_nothing(make_instance, scratch):
    one = make_instance(env={"DASHCTL_ANCHOR_STORE": "1", "DASHCTL_ANCHOR_FILE": str(scratch / "no" / "folder" / "anchor")})
    root = one.login("root")
    assert root.post("/api/workgroups", {"name": "team-a"}).status == 201
    wait_until(lambda: len(one.events("audit.anchor_failed")) >= 2, what="two failed anchors")
    ready = root.get("/readyz")
    assert ready.status == 200 and ready.json["ready"] and ready.json["checks"]["audit_anchors"] != "ok"
    told = root.get("/api/audit/verify").json
    assert told["ok"] and [a["error"] is None for a in told["anchors"]] == [True, True, False], told
    done = verify(one)
    assert done.code == 5 and done.json["ok"], done
    assert "could not be asked" in done.err
