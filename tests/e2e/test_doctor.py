"""`dashctl doctor`: what it finds, and the exit code that says so."""
import json
import os

from support.databases import new_database, rows, sqlite_file
from support.ports import free_port
from support.program import run


def states(done):
    return {check["check"]: check["state"] for check in json.loads(done.out)["checks"]}


def messages(done):
    return {check["check"]: check["message"] for check in json.loads(done.out)["checks"]}


def doctor(instance, **kw):
    return instance.dashctl("doctor", "--output", "json", **kw)


def test_a_sound_instance_passes_in_both_formats(instance, scratch):
    done = doctor(instance, env={"HOME": str(scratch)})
    assert done.code == 0 and json.loads(done.out)["ok"] is True, done
    files = [] if instance.env.get("DASHCTL_DATABASE") else ["database_file"]
    assert list(states(done)) == ["data_dir", "signing_key", "encryption_key", *files, "executors", "database", "settings", "accounts",
                                  "audit", "policy", "clock", "bundles"]
    assert set(states(done).values()) == {"good"}
    text = instance.dashctl("doctor", env={"HOME": str(scratch)})
    assert text.code == 0 and text.out.count("ok  ") == len(states(done))


def test_an_instance_that_is_not_there_is_not_made(scratch):
    done = run("doctor", "--data-dir", scratch / "none")
    assert done.code == 1 and "there is no instance" in done.err and not (scratch / "none").exists()


def test_a_lost_key_is_not_replaced(make_instance):
    one = make_instance(start=False)
    (one.folder / "signing.key").unlink()
    done = doctor(one)
    assert done.code == 1 and states(done)["signing_key"] == "failed" and "put it back" in done.err
    assert not (one.folder / "signing.key").exists()


def test_a_readable_key_another_key_and_a_damaged_database_are_found(make_instance):
    one = make_instance(start=False, env=new_database("sqlite"))
    one.set(demo="1")
    os.chmod(one.folder / "signing.key", 0o644)
    assert doctor(one).code == 8 and states(doctor(one))["signing_key"] == "failed"
    os.chmod(one.folder / "signing.key", 0o600)
    (one.folder / "signing.key").write_text("another key that is long enough\n")
    done = doctor(one)
    assert done.code == 9 and "another key" in messages(done)["settings"] and "demo" in messages(done)["settings"]
    with open(sqlite_file(one), "r+b") as database:
        database.write(b"x" * 4096)
    assert doctor(one).code == 9 and states(doctor(one))["database"] == "failed"


def test_a_cut_log_is_found(make_instance):
    one = make_instance(start=False)
    one.add_user("ann")
    rows(one, "DELETE FROM audit_log WHERE seq = (SELECT max(seq) FROM audit_log)")
    assert doctor(one).code == 9 and states(doctor(one))["audit"] == "failed"


def test_the_gate_without_its_engine_fails_only_while_it_is_on(make_instance):
    one = make_instance(start=False, env={"POLICY_BINARY": "/nonexistent/engine"})
    assert doctor(one).code == 0 and states(doctor(one))["policy"] == "warning"
    one.set(admission_control_enabled="1")
    assert doctor(one).code == 10 and states(doctor(one))["policy"] == "failed"


def test_a_store_that_cannot_be_reached_is_named(make_instance, scratch):
    one = make_instance(start=False)
    one.set(storage_local_path=str(scratch / "nowhere"))
    assert doctor(one).code == 1 and states(doctor(one))["storage local"] == "failed"


def test_left_over_bundles_are_pointed_at(make_instance, scratch):
    one = make_instance(start=False)
    (scratch / ".dashboard-migrate").mkdir()
    (scratch / ".dashboard-migrate" / "bundle-1.json").write_text("{}")
    done = doctor(one, env={"HOME": str(scratch)})
    assert done.code == 0 and states(done)["bundles"] == "warning" and "shred" in messages(done)["bundles"]


def test_over_the_api_it_tells_what_anybody_may_ask(instance):
    done = run("doctor", "--target", instance.url, "--output", "json")
    assert done.code == 0 and set(states(done)) == {"answers", "audit_anchors", "clock", "database", "key", "policy"}
    url = f"http://127.0.0.1:{free_port()}"
    assert run("doctor", "--target", url).code == 7


def test_an_admin_is_told_what_the_instance_finds_about_itself(make_instance, scratch):
    one = make_instance()
    one.add_user("eve")
    root = one.login("root")
    answer = root.get("/api/doctor")
    assert answer.status == 200 and answer.json["ok"] is True, answer
    checks = {check["check"]: check["state"] for check in answer.json["checks"]}
    local = states(doctor(one, env={"HOME": str(scratch)}))
    assert {name: checks[name] for name in ("data_dir", "signing_key", "database", "settings", "accounts", "audit", "policy", "clock")} \
        == {name: local[name] for name in ("data_dir", "signing_key", "database", "settings", "accounts", "audit", "policy", "clock")}
    assert one.login("eve").get("/api/doctor").status == 403 and one.anonymous.get("/api/doctor").status == 401
    token = scratch / "token"
    token.write_text(one.token("root"))
    done = run("doctor", "--target", one.url, "--token-file", token, "--output", "json")
    assert done.code == 0 and states(done)["audit"] == "good" and states(done)["answers"] == "good", done
    assert "audit" not in states(run("doctor", "--target", one.url, "--output", "json"))
    token.write_text(one.token("eve", "hers"))
    refused = run("doctor", "--target", one.url, "--token-file", token, "--output", "json")
    assert refused.code == 8 and states(refused)["doctor"] == "failed", refused


def test_what_fails_on_the_instance_fails_the_command_from_afar(make_instance, scratch):
    one = make_instance()
    rows(one, "DELETE FROM audit_log WHERE seq = 1")
    token = scratch / "token"
    token.write_text(one.token("root"))
    done = run("doctor", "--target", one.url, "--token-file", token, "--output", "json")
    assert done.code == 1 and states(done)["audit"] == "failed", done
    assert one.login("root").get("/api/doctor").json["ok"] is False
