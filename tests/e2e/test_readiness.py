"""/readyz: what takes an instance out of service, and what only degrades it while its users read on."""
import json
import os
import shutil
import sqlite3
import subprocess
import uuid

import pytest

from support.databases import new_database, rows, sqlite_file
from support.holding_relay import HoldingRelay
from support.http_client import Http
from support.program import run
from support.wait import wait_until

SETTING = {"public_base_url": "https://dash.example"}


def ready(one):
    answer = one.anonymous.get("/readyz")
    return answer.status, answer.json


def wait_for_degraded(one, name, words=""):
    """The line of `degraded` that begins with a check's name and has the words; the instance is ready all the same."""
    def line():
        status, told = ready(one)
        assert status == 200 and told["ready"] is True, told
        return next((text for text in told["degraded"] if text.startswith(name + ": ") and words in text), None)

    found = wait_until(line, what=f"{name} under degraded")
    wait_until(lambda: metric(one, name) == 0, what="the metric")
    return found


def wait_for_good(one):
    wait_until(lambda: ready(one)[1]["degraded"] == [], what="the recovery")
    assert ready(one)[1]["checks"]["key"] == "ok"
    wait_until(lambda: "\ndashctl_degraded 0\n" in one.anonymous.get("/metrics").text, what="the metric")


def metric(one, check):
    lines = one.anonymous.get("/metrics").text.splitlines()
    values = [line.rsplit(" ", 1)[1] for line in lines if line.startswith(f'dashctl_check_ok{{check="{check}"}}')]
    return int(values[0]) if values else None


def assert_reads_go_on(one, *clients):
    for client in clients:
        for path in ("/api/auth/me", "/api/jobs", "/api/features"):
            assert client.get(path).status == 200


def assert_writes_are_refused(root, sentence):
    refused = root.put("/api/setup/config", SETTING)
    assert refused.status == 503 and sentence in refused.json["detail"], refused


@pytest.fixture
def full_disk(make_instance):
    """An instance on a small file system of its own, its database too, and a function that fills it up and one that makes room."""
    one = make_instance(start=False, admin=False, env=new_database("sqlite"))
    one.folder.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=0700", "none", str(one.folder)], check=True)
    fill = one.folder / "fill"

    def take_all():
        with fill.open("wb", buffering=0) as out:
            try:
                while True:
                    out.write(bytes(4096))
            except OSError:
                return

    try:
        one.add_user("root", admin=True)
        yield one, take_all, fill.unlink
    finally:
        one.kill()
        subprocess.run(["umount", "-l", str(one.folder)], check=True)


def test_a_full_disk_is_named_and_only_writes_are_refused(full_disk):
    one, take_all, make_room = full_disk
    pat = one.token("root")
    one.start()
    root, tool = one.login("root"), Http(one.port, pat)
    wait_for_good(one)
    take_all()
    assert "full" in wait_for_degraded(one, "disk")
    told = json.loads(run("doctor", "--target", one.url, "--output", "json").out)["checks"]
    assert [check["state"] for check in told if check["check"] == "disk"] == ["warning"], told
    assert_reads_go_on(one, root, tool)
    assert_writes_are_refused(root, "full")
    make_room()
    wait_for_good(one)
    assert root.put("/api/setup/config", SETTING).status == 200


def test_a_database_file_that_may_not_be_written_is_named(make_instance):
    one = make_instance(env=new_database("sqlite"))
    root, pat = one.login("root"), one.token("root")
    database = sqlite_file(one)
    one.stop()
    subprocess.run(["chattr", "+i", str(database)], check=True)
    try:
        one.start()
        root.port = one.port
        sentence = wait_for_degraded(one, "database_writes")
        assert "takes no writes" in sentence
        assert_reads_go_on(one, root, Http(one.port, pat))
        assert_writes_are_refused(root, "takes no writes")
    finally:
        one.stop()
        subprocess.run(["chattr", "-i", str(database)], check=True)
    one.start()
    root.port = one.port
    wait_for_good(one)
    assert root.put("/api/setup/config", SETTING).status == 200


def test_a_database_that_another_process_keeps_locked_is_named(make_instance):
    instance = make_instance(env=new_database("sqlite"))
    root = instance.login("root")
    holder = sqlite3.connect(sqlite_file(instance), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    wait_for_degraded(instance, "database_writes")
    assert_reads_go_on(instance, root)
    holder.execute("ROLLBACK")
    wait_for_good(instance)
    assert root.put("/api/setup/config", SETTING).status == 200


def test_a_setting_that_cannot_be_opened_is_named_and_the_key_is_not_blamed(instance, root):
    wait_for_good(instance)
    for key, others in (("cloud1_secret_key", {}), ("public_base_url", {"cloud1_secret_key": "s"})):
        instance.set(**{key: "value"}, **others)
        rows(instance, "UPDATE config SET value = ? WHERE key = ?", b"\0", key)
        assert key in wait_for_degraded(instance, "settings")
        assert ready(instance)[1]["checks"]["key"] == "ok"
        assert_reads_go_on(instance, root)
        assert root.put("/api/setup/config", {key: "again"}).status == 200
        wait_for_good(instance)


@pytest.mark.parametrize("settings", [1, 3])
def test_a_wrong_key_takes_an_instance_out_of_service(make_instance, settings):
    one = make_instance()
    one.set(**{f"cloud{i + 1}_secret_key": "s" for i in range(settings)})
    one.stop()
    key = one.folder / "signing.key"
    shutil.copy(key, one.folder / "kept")
    key.write_text("0" * 64 + "\n")
    one.start()
    status, told = ready(one)
    assert status == 503 and told["ready"] is False and "another key" in told["checks"]["key"], told
    assert told["checks"]["database"] == "ok"
    assert one.anonymous.get("/livez").status == 200
    one.stop()
    shutil.copy(one.folder / "kept", key)
    one.start()
    assert ready(one)[0] == 200


def test_settings_that_were_all_written_anew_make_the_new_key_the_right_one(make_instance):
    one = make_instance()
    one.set(cloud1_secret_key="s")
    one.stop()
    (one.folder / "signing.key").write_text("0" * 64 + "\n")
    one.start()
    assert ready(one)[0] == 503
    one.set(cloud1_secret_key="s")
    assert ready(one)[0] == 200
    one.restart()
    assert ready(one)[0] == 200


def psql(database, sql):
    done = subprocess.run(["psql", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql], capture_output=True,
                          text=True, check=False, env={**os.environ})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def postgres():
    """A database of the test's own: (name, url by port)."""
    name = "ready_" + uuid.uuid4().hex[:12]
    home = os.environ.get("PGDATABASE", "postgres")
    psql(home, f"CREATE DATABASE {name}")

    def url(port=os.environ["PGPORT"]):
        return f"postgres://{os.environ['PGUSER']}:{os.environ['PGPASSWORD']}@127.0.0.1:{port}/{name}"

    yield name, url
    psql(home, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def cut_all(name):
    psql(os.environ.get("PGDATABASE", "postgres"),
         f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def test_a_postgres_that_is_read_only_is_named_also_at_the_start(make_instance, postgres):
    name, url = postgres
    one = make_instance(start=False, admin=False, env={"DASHCTL_DATABASE": url()})
    one.add_user("root", admin=True)
    one.start()
    root = one.login("root")
    wait_for_good(one)
    psql(name, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    cut_all(name)
    wait_for_degraded(one, "database_writes", "takes no writes")  # first the cut connections have another reason
    assert_reads_go_on(one, root)
    assert_writes_are_refused(root, "takes no writes")
    one.restart()
    root.port = one.port
    wait_for_degraded(one, "database_writes")
    assert_reads_go_on(one, root)
    psql(os.environ.get("PGDATABASE", "postgres"), f"ALTER DATABASE {name} RESET default_transaction_read_only")
    cut_all(name)
    wait_for_good(one)
    assert root.put("/api/setup/config", SETTING).status == 200


def test_a_postgres_that_cannot_be_read_or_does_not_answer_takes_it_out_of_service(make_instance, postgres):
    name, url = postgres
    relay = HoldingRelay(int(os.environ["PGPORT"]))
    one = make_instance(start=False, admin=False)
    one.env["DASHCTL_DATABASE"] = url(relay.port)
    one.add_user("root", admin=True)
    one.start()
    assert ready(one)[0] == 200
    relay.hold_request(b"BEGIN")  # statements are prepared, the word that begins a read is sent each time
    for _ in range(3):
        status, told = ready(one)
        assert status == 503 and told["checks"]["database"] == "no answer within 2 s", told
        assert one.anonymous.get("/livez").status == 200
    assert metric(one, "database") == 0
    relay.release()
    wait_until(lambda: ready(one)[0] == 200, what="the recovery")
    psql(os.environ.get("PGDATABASE", "postgres"), f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    cut_all(name)
    wait_until(lambda: ready(one)[0] == 503, what="a database that cannot be read")
    psql(os.environ.get("PGDATABASE", "postgres"), f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    wait_until(lambda: ready(one)[0] == 200, what="the recovery")
