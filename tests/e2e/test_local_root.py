"""The local store's root is not the host: what storage_local_path may name, by every door and when it is opened."""
import os
import pwd
from pathlib import Path

import pytest

from support.databases import rows
from support.program import run
from support.storage import upload

SYSTEM = ["/", "/etc", "/etc/", "/etc/ssl", "/etc/not/there", "/proc", "/proc/self/root", "/sys", "/dev/shm", "/boot", "/usr",
          "/usr/local/share/assets", "/bin", "/sbin", "/lib", "/lib64", "/root", "/home", "/home/somebody", "/var", "/var/lib",
          "/run", "/tmp", "/tmp/", "/tmp/../etc", "/opt", "/srv", "/home/somebody/.ssh/keys"]
SENTENCE = "cannot hold assets"


class Place:
    """An instance whose rules, executors and keys lie in folders of their own, with an honest folder beside them."""

    def __init__(self, make_instance, scratch):
        self.scratch = scratch
        for name in ("rules", "executors", "keys", "anchors", "tls", "honest"):
            (scratch / name).mkdir()
        for name in ("signing", "encryption"):
            (scratch / "keys" / name).write_text("k" * 40 + "\n")
            (scratch / "keys" / name).chmod(0o600)
        self.instance = make_instance(start=False, env={
            "ADMISSION_POLICY_DIR": str(scratch / "rules"), "DASHCTL_EXECUTOR_DIR": str(scratch / "executors"),
            "DASHCTL_SIGNING_KEY_FILE": str(scratch / "keys/signing"),
            "DASHCTL_ENCRYPTION_KEY_FILE": str(scratch / "keys/encryption"),
            "DASHCTL_ANCHOR_FILE": str(scratch / "anchors/anchor"), "DASHCTL_TLS_KEY": ""})
        self.data = self.instance.folder

    def refused(self):
        link = self.scratch / "innocent"
        link.symlink_to("/etc")
        again = self.scratch / "again"
        again.symlink_to(self.data)
        own = [self.scratch, self.data, self.data / "policy", self.data / "deploy", self.data / "deploy/job", self.data / "other",
               f"{self.data}/", f"{self.scratch}/honest/../one", self.scratch / "rules", self.scratch / "rules/sub",
               self.scratch / "executors", self.scratch / "keys", self.scratch / "anchors", link, link / "ssl", again,
               again / "policy", pwd.getpwuid(os.geteuid()).pw_dir]
        return SYSTEM + [str(path) for path in own]

    def accepted(self):
        return [str(path) for path in (self.scratch / "honest", self.scratch / "honest/", self.scratch / "honest/deeper/later",
                                       self.scratch / "keys/beneath", self.data / "assets", self.data / "assets/web",
                                       "/srv/dashctl-assets", "\\\\files\\etc", "//files/etc/ssl")]


@pytest.fixture
def place(make_instance, scratch):
    return Place(make_instance, scratch)


def page(root, path):
    return root.patch("/api/storage/config", {"storage_local_path": path})


def put(root, path):
    return root.put("/api/setup/config", {"storage_local_path": path})


def test_every_door_refuses_folders_of_the_host_and_takes_honest_ones(place):
    place.instance.start()
    root = place.instance.login("root")
    refused = place.refused()
    for path in refused:
        for door in (page, put):
            answer = door(root, path)
            assert answer.status == 400 and "storage_local_path" in answer.json["detail"], (path, answer)
    assert "storage_local_path" not in place.instance.dashctl("config", "list").out
    for path in place.accepted():
        for door in (page, put):
            assert door(root, path).status == 200, (path, door)
            assert root.get("/api/storage/config").json["storage_local_path"] == path
            assert put(root, None).status == 200


def test_the_command_line_and_an_import_refuse_them_too(place):
    for path in ("/etc", "/", str(place.data), str(place.scratch / "rules"), "relative"):
        done = place.instance.dashctl("config", "set", "storage_local_path", path)
        assert done.code != 0 and "storage_local_path" in done.err, done
    place.instance.start()
    root = place.instance.login("root")
    answer = root.post("/api/setup/import", {"config": {"storage_local_path": "/etc", "app_url": "https://x.example"}})
    assert answer.status == 200 and answer.json["refused"] == {"storage_local_path": "path_refused"}, answer
    answer = root.post("/api/setup/import", {"config": {"storage_local_path": "/etc"}})
    assert answer.status == 400 and "path_refused" in answer.json["detail"], answer
    assert root.get("/api/setup/config").json["app_url"] == "https://x.example"


def test_a_value_that_was_stored_before_is_refused_when_it_is_opened_and_named_by_doctor(place):
    one = place.instance
    folder = place.scratch / "honest"
    one.set(storage_local_path=str(folder), storage_active_backend="local")
    one.start()
    root = one.login("root")
    assert upload(root, "a.yml", b"mine").status == 201
    folder.rename(place.scratch / "moved")
    folder.symlink_to(place.data)
    for answer in (root.get("/api/storage/fetch?name=dashctl.db&raw=1"), root.get("/api/storage/fetch?name=signing.key"),
                   root.get("/api/storage/list"), root.delete("/api/storage/asset/policy/limits.rego"),
                   upload(root, "b.yml", b"x")):
        assert answer.status == 502 and SENTENCE in answer.json["detail"], answer
    one.restart()
    root = one.login("root")
    assert root.get("/api/storage/list").status == 502
    probe = root.post("/api/storage/test", {"backend": "local"}).json
    assert probe["ok"] is False and SENTENCE in probe["error"]
    done = one.dashctl("doctor", "--output", "json")
    named = {check["check"]: check for check in done.json["checks"]}["storage local"]
    assert done.code == 1 and named["state"] == "failed" and str(folder) in named["message"]
    assert "Choose a folder" in named["message"]
    folder.unlink()
    (place.scratch / "moved").rename(folder)
    assert root.get("/api/storage/fetch?name=a.yml&raw=1").body == b"mine"


def test_other_settings_can_be_changed_while_a_refused_path_is_stored(place):
    one = place.instance
    folder = place.scratch / "honest"
    one.set(storage_local_path=str(folder), storage_active_backend="local")
    folder.rmdir()
    folder.symlink_to("/etc")
    one.start()
    root = one.login("root")
    shown = root.get("/api/storage/config").json
    assert root.patch("/api/storage/config", {**shown, "storage_obj_cloud1_bucket": "b"}).status == 200
    assert root.get("/api/storage/fetch?name=passwd").status == 502
    assert page(root, str(place.scratch / "rules")).status == 400
    assert page(root, str(place.data / "assets")).status == 200


def test_the_operator_can_say_which_folders_may_be_named(place):
    one = place.instance
    one.env["DASHCTL_LOCAL_ROOTS"] = f"{place.scratch}/honest:/etc:{place.scratch}/later"
    for path in (place.scratch / "honest", place.scratch / "honest/x", place.scratch / "later/x"):
        assert one.dashctl("config", "set", "storage_local_path", path).code == 0, path
    for path in (place.scratch / "other", place.data / "assets", "/etc", "/etc/ssl", "/srv/assets"):
        done = one.dashctl("config", "set", "storage_local_path", path)
        assert done.code != 0 and "storage_local_path" in done.err, done
    one.start()
    root = one.login("root")
    assert page(root, str(place.scratch / "honest")).status == 200
    assert "DASHCTL_LOCAL_ROOTS" in page(root, str(place.scratch / "other")).json["detail"]


def test_a_folder_that_is_made_later_is_judged_then(place):
    one = place.instance
    later = place.scratch / "later"
    one.set(storage_local_path=str(later / "assets"), storage_active_backend="local")
    one.start()
    root = one.login("root")
    later.symlink_to(place.data)
    (place.data / "assets").mkdir(exist_ok=True)
    assert upload(root, "a.yml", b"x").status == 201, "assets of the data folder"
    later.unlink()
    later.symlink_to("/etc")
    assert upload(root, "b.yml", b"x").status == 502
    assert not Path("/etc/assets").exists()


def test_the_state_of_deploys_still_lies_in_the_deploy_folder(place):
    one = place.instance
    one.set(storage_local_path=str(place.scratch / "honest"), storage_active_backend="local", storage_obj_cloud1_bucket="b",
            storage_obj_cloud1_endpoint="http://127.0.0.1:1")
    (place.data / "deploy/job-1").mkdir(parents=True)
    (place.data / "deploy/job-1/terraform.tfstate").write_text("{}")
    one.start()
    root = one.login("root")
    assert root.patch("/api/storage/config", {"storage_active_backend": "obj_cloud1"}).status == 409
    assert page(root, str(place.data / "deploy")).status == 400


def test_a_served_key_of_tls_is_not_beside_assets(make_instance, scratch):
    one = make_instance(start=False)
    (scratch / "tls").mkdir()
    key = scratch / "tls/key.pem"
    key.write_text("not read here")
    done = one.dashctl("config", "set", "storage_local_path", scratch / "tls", env={"DASHCTL_TLS_KEY": str(key)})
    assert done.code != 0 and "key.pem" in done.err, done
    assert one.dashctl("config", "set", "storage_local_path", scratch / "tls").code == 0


def test_doctor_looks_at_a_folder_of_an_older_schema_without_changing_it(make_instance, scratch):
    one = make_instance(start=False)
    one.set(storage_local_path=str(scratch / "store"))
    (scratch / "store").symlink_to("/etc")
    (newest,), = rows(one, "SELECT version FROM schema_version")
    rows(one, "UPDATE schema_version SET version = ?", newest - 1)
    done = run("doctor", "--data-dir", one.folder, "--output", "json")
    checks = {check["check"]: check for check in done.json["checks"]}
    assert done.code == 1 and checks["storage local"]["state"] == "failed", done
    assert checks["database"]["state"] == "warning" and str(newest) in checks["database"]["message"]
    assert rows(one, "SELECT version FROM schema_version") == [(newest - 1,)]
