"""`dashctl db`: backup, restore, check, copy, on both databases."""
import os
import shutil
import sqlite3
import stat
import subprocess
import threading

import pytest

from support.databases import DATABASES, new_database, rows, sqlite_file
from support.instance import PASSWORD, Instance, sign_in
from support.program import BINARY, clean_environment, run
from support.wait import wait_until

SECRET = "planted-cloud-secret"


@pytest.fixture(params=DATABASES)
def filled(request, make_instance):
    """A running instance with an account, a setting, a workgroup, a token and an audit log."""
    one = make_instance(env=new_database(request.param))
    one.set(cloud1_secret_access_key=SECRET, app_url="https://one.example")
    assert one.login("root").post("/api/workgroups", {"name": "web"}).status == 201
    return one


def empty_with_key_of(one, make_instance, name="two", env=None):
    """An instance without accounts that has the keys of `one`, and its own empty database."""
    two = make_instance(name, start=False, admin=False, env=env)
    two.folder.mkdir(mode=0o700)
    shutil.copy(one.folder / "signing.key", two.folder)
    return two


def content(folder):
    return sorted((f.name, f.stat().st_size) for f in folder.iterdir())


def verdict(instance):
    return instance.dashctl("audit", "verify", "--output", "json").json


@pytest.mark.parametrize("target", DATABASES)
def test_a_backup_of_a_running_instance_becomes_another_instance(filled, make_instance, scratch, target):
    token = filled.token("root")
    session = filled.login("root")
    file = scratch / "dash.backup"
    made = filled.dashctl("db", "backup", file, "--output", "json")
    assert made.code == 0 and made.json["rows"] > 0, made
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for text in (SECRET, PASSWORD, "root", (filled.folder / "signing.key").read_text().strip()):
        assert text.encode() not in file.read_bytes()

    two = empty_with_key_of(filled, make_instance, env=new_database(target))
    done = two.dashctl("db", "restore", file, "--output", "json")
    assert done.code == 0 and done.json["rows"] == made.json["rows"], done
    assert done.json["audit_entries"] == made.json["audit_entries"] and done.json["tokens_revoked"] == 1
    assert "newer than the backup will not match" in done.json["notes"][0]
    two.start()
    root = two.login("root")
    assert [g["name"] for g in root.get("/api/workgroups").json] == ["web"]
    assert two.dashctl("config", "get", "cloud1_secret_access_key", "--reveal").out.strip() == SECRET
    for old in (session.token, token):
        assert root.get("/api/auth/me", headers={"Authorization": f"Bearer {old}"}).status == 401
    assert verdict(two)["ok"] is True
    assert "db.restore" in [e["action"] for e in root.get("/api/audit").json["entries"]]


def test_tokens_may_be_kept_and_sessions_never_are(filled, make_instance, scratch):
    token, session = filled.token("root"), filled.login("root").token
    assert filled.dashctl("db", "backup", scratch / "b").code == 0
    two = empty_with_key_of(filled, make_instance)
    assert two.dashctl("db", "restore", scratch / "b", "--keep-tokens").code == 0
    two.start()
    status = {name: two.anonymous.get("/api/auth/me", headers={"Authorization": f"Bearer {text}"}).status
              for name, text in (("token", token), ("session", session))}
    assert status == {"token": 200, "session": 401}


def test_a_restore_writes_nothing_where_it_must_not(filled, make_instance, scratch):
    file = scratch / "b"
    assert filled.dashctl("db", "backup", file).code == 0
    # One with accounts.
    other = make_instance("other", start=False)
    shutil.copy(filled.folder / "signing.key", other.folder)
    before = other.dashctl("user", "list").out
    refused = other.dashctl("db", "restore", file)
    assert refused.code == 12 and "has accounts" in refused.err, refused
    assert other.dashctl("user", "list").out == before
    # One with another key, or with none, is not even made.
    stranger = make_instance("stranger", start=False, admin=False)
    stranger.folder.mkdir()
    (stranger.folder / "signing.key").write_text("f" * 64 + "\n")
    was = content(stranger.folder)
    refused = stranger.dashctl("db", "restore", file)
    assert refused.code == 12 and "another signing key" in refused.err, refused
    assert content(stranger.folder) == was
    refused = run("db", "restore", file, "--data-dir", scratch / "nowhere")
    assert refused.code == 12 and "no signing key" in refused.err, refused
    assert not (scratch / "nowhere").exists()
    # One with a dedicated key for its settings does not open those of another.
    (scratch / "encryption.key").write_text("e" * 64 + "\n")
    two = empty_with_key_of(filled, make_instance)
    was = content(two.folder)
    refused = two.dashctl("db", "restore", file, "--encryption-key-file", scratch / "encryption.key")
    assert refused.code == 12 and "--encryption-key-file" in refused.err, refused
    assert content(two.folder) == was
    # One that is served.
    three = empty_with_key_of(filled, make_instance, "three")
    three.start()
    refused = three.dashctl("db", "restore", file)
    assert refused.code == 12 and "a server runs" in refused.err, refused
    three.stop()
    assert three.dashctl("db", "restore", file).code == 0


def test_hostile_backups_are_refused_and_nothing_is_written(filled, make_instance, scratch):
    good = scratch / "good"
    assert filled.dashctl("db", "backup", good).code == 0
    data = good.read_bytes()
    middle, head = len(data) // 2, data.index(b'"format":1')
    huge = scratch / "huge"
    with huge.open("wb") as file:
        file.truncate(1 << 40)
    hostile = {"empty": b"", "text": b"SQLite format 3\0" * 100, "cut": data[:-1], "half": data[:middle],
               "bit": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:], "longer": data + b"x",
               "version": data.replace(b'"format":1', b'"format":2'), "head": data[:head] + b"X" + data[head + 1:]}
    two = empty_with_key_of(filled, make_instance)
    was = content(two.folder)
    for name, text in hostile.items():
        (scratch / name).write_bytes(text)
        refused = two.dashctl("db", "restore", scratch / name)
        assert refused.code == 9, (name, refused)
        assert content(two.folder) == was, name
    refused = two.dashctl("db", "restore", huge)
    assert refused.code == 9 and content(two.folder) == was, refused


def test_a_backup_is_of_one_moment_while_the_instance_is_written(filled, make_instance, scratch):
    """A workgroup and its audit entry are one transaction, so a backup has both or neither."""
    root, stop = filled.login("root"), threading.Event()

    def write():
        n = 0
        while not stop.is_set():
            assert root.post("/api/workgroups", {"name": f"team-{n}"}).status == 201
            n += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for n in range(3):
            assert filled.dashctl("db", "backup", scratch / f"b{n}").code == 0
    finally:
        stop.set()
        writer.join()
    for n in range(3):
        two = empty_with_key_of(filled, make_instance, f"copy{n}")
        assert two.dashctl("db", "restore", scratch / f"b{n}").code == 0
        assert verdict(two)["ok"] is True
        groups = rows(two, "SELECT COUNT(*) FROM workgroups")
        assert groups == rows(two, "SELECT COUNT(*) FROM audit_log WHERE action = 'workgroup_create'")


def test_a_failed_backup_leaves_the_older_file(filled, scratch):
    file = scratch / "b"
    file.write_text("older")
    (filled.folder / "signing.key").rename(scratch / "key")
    assert filled.dashctl("db", "backup", file).code == 12
    assert file.read_text() == "older" and [f.name for f in scratch.glob("b*")] == ["b"]
    (scratch / "key").rename(filled.folder / "signing.key")
    assert run("db", "backup", file, "--data-dir", scratch / "nowhere").code != 0
    assert file.read_text() == "older" and not (scratch / "nowhere").exists()


def test_a_check_finds_what_is_wrong(filled):
    good = filled.dashctl("db", "check", "--output", "json")
    assert good.code == 0 and good.json["ok"] and good.json["tables"]["users"] == 1, good
    assert good.json["schema_version"] == good.json["newest_schema"] >= good.json["min_schema"] > 0
    rows(filled, "UPDATE audit_log SET username = 'mallory' WHERE seq = 2")
    bad = filled.dashctl("db", "check", "--output", "json")
    assert bad.code == 9 and not bad.json["ok"] and "audit log" in bad.json["problems"][0], bad
    rows(filled, "DELETE FROM config WHERE key = 'app_url'")
    rows(filled, "INSERT INTO config VALUES ('app_url', ?, 1)", b"\0")
    bad = filled.dashctl("db", "check", "--output", "json")
    assert bad.code == 9 and any("app_url" in problem for problem in bad.json["problems"]), bad


def test_a_database_moves_to_the_other_engine_and_back(make_instance, scratch):
    one = make_instance(start=False, env=new_database("sqlite"))
    one.set(cloud1_secret_access_key=SECRET)
    one.start()
    assert one.login("root").post("/api/workgroups", {"name": "web"}).status == 201
    url = new_database("postgres")["DASHCTL_DATABASE"]
    refused = run("db", "copy", one.folder, url)
    assert refused.code == 12 and "a server runs" in refused.err, refused
    one.stop()
    there = run("db", "copy", one.folder, url, "--output", "json")
    assert there.code == 0 and there.json["tables"]["users"] == 1, there
    replica = Instance(one.folder, {"DASHCTL_DATABASE": url})
    replica.start()
    assert [g["name"] for g in replica.login("root").get("/api/workgroups").json] == ["web"]
    refused = run("db", "copy", url, scratch / "back", "--signing-key-file", one.folder / "signing.key")
    assert refused.code == 12 and "a server runs" in refused.err, refused
    assert not (scratch / "back").exists()
    replica.stop()
    assert verdict(replica)["ok"] is True
    # Once more is refused: it has accounts now.
    assert run("db", "copy", one.folder, url).code == 12
    back = run("db", "copy", url, scratch / "back", "--signing-key-file", one.folder / "signing.key", "--output", "json")
    assert back.code == 0 and "signing.key" in back.json["notes"][0], back
    shutil.copy(one.folder / "signing.key", scratch / "back")
    two = Instance(scratch / "back", new_database("sqlite"))
    assert two.dashctl("config", "get", "cloud1_secret_access_key", "--reveal").out.strip() == SECRET
    assert verdict(two)["ok"] is True and two.dashctl("db", "check").code == 0


def test_a_copy_into_an_instance_of_another_key_is_refused(make_instance, scratch):
    one = make_instance(start=False, env=new_database("sqlite"))
    other = make_instance("other", start=False, admin=False)
    other.folder.mkdir()
    (other.folder / "signing.key").write_text("f" * 64 + "\n")
    refused = run("db", "copy", one.folder, other.folder)
    assert refused.code == 12 and "another signing key" in refused.err, refused
    assert [f.name for f in other.folder.iterdir()] == ["signing.key"]
    for target in (other.folder, scratch / "new"):
        absent = run("db", "copy", scratch / "nowhere", target)
        assert absent.code == 1 and f"no database in {scratch}/nowhere" in absent.err, absent
    assert [f.name for f in other.folder.iterdir()] == ["signing.key"] and not (scratch / "new").exists()


def test_a_copy_under_a_wrong_key_says_that_the_log_does_not_verify(make_instance, scratch):
    one = make_instance(start=False, env=new_database("sqlite"))
    shutil.move(one.folder / "signing.key", scratch / "right.key")
    (scratch / "wrong.key").write_text("f" * 64 + "\n")
    wrong = run("db", "copy", one.folder, scratch / "wrong", "--signing-key-file", scratch / "wrong.key", "--output", "json")
    assert wrong.code == 0 and "the audit log does not verify with this signing key" in wrong.json["notes"][0], wrong
    right = run("db", "copy", one.folder, scratch / "right", "--signing-key-file", scratch / "right.key", "--output", "json")
    assert right.code == 0 and not any("verify" in note for note in right.json["notes"]), right


@pytest.mark.parametrize("target", DATABASES)
def test_a_copy_that_dies_leaves_an_instance_without_accounts(make_instance, scratch, target):
    one = make_instance(start=False, env=new_database("sqlite"))
    db = sqlite3.connect(sqlite_file(one))
    with db:
        db.executemany("INSERT INTO login_failures VALUES (?, '10.0.0.1', 1)", ((f"user-{n}",) for n in range(200_000)))
    db.close()
    to = new_database(target).get("DASHCTL_DATABASE") or str(scratch / "to")
    process = subprocess.Popen([BINARY, "db", "copy", str(one.folder), to], env=clean_environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    wait_until(lambda: has_begun(to), what="the copy")
    process.kill()
    process.wait()
    done = wait_until(lambda: finished_copy(one.folder, to), seconds=60, what="a second copy")
    assert done.json["tables"]["login_failures"] == 200_000, done


def has_begun(to):
    if to.startswith("postgres"):
        count = subprocess.run(["psql", "-qAt", to, "-c", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                " AND query LIKE 'INSERT INTO login_failures%'"], capture_output=True, text=True, check=True)
        return int(count.stdout) > 0
    wal = os.path.join(to, "dashctl.db-wal")
    return os.path.exists(wal) and os.path.getsize(wal) > 1_000_000


def finished_copy(source, to):
    """The lock of a process that was killed may be held for a moment by the server."""
    done = run("db", "copy", source, to, "--output", "json")
    assert done.code in (0, 12) and "has accounts" not in done.err, done
    return done if done.code == 0 else None
