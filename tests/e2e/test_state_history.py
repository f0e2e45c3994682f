"""The versions that a store keeps of infrastructure state, and what is said where it keeps none."""
import json
import os
import shutil
import tempfile

import pytest

from support.cloud_stores import store_settings
from support.doubles import start_double, stop_double
from support.store_objects import objects_of

LEAF = {"gcs": "default.tfstate"}
BACKEND = {"s3": "obj_cloud1", "gcs": "obj_cloud3", "oci": "obj_cloud4"}


def state(serial):
    return json.dumps({"version": 4, "serial": serial, "lineage": "l-1", "resources": []}).encode()


@pytest.fixture(scope="module")
def servers():
    """Servers whose buckets can keep versions."""
    folder = tempfile.mkdtemp(prefix="versions-", dir="/tmp")
    started = {}
    try:
        for name in BACKEND:
            started |= start_double(name, folder, env={"S3_VERSIONS": "1"})
        yield started
    finally:
        for name in BACKEND:
            stop_double(name, folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("kind", BACKEND)
def test_the_versions_of_a_state_are_listed(kind, make_instance, servers, scratch, monkeypatch):
    for name, value in servers.items():
        monkeypatch.setenv(name, value)
    one = make_instance(start=False)
    settings = store_settings(kind, scratch)
    one.set(**settings)
    objects = objects_of(kind, settings, scratch, dict(os.environ))
    key = "iac-state/j1/" + LEAF.get(kind, "terraform.tfstate")
    objects.put(key, state(1))
    one.start()
    root = one.login("root")

    answer = root.get("/api/storage/state/j1/history")
    assert answer.status == 200, answer
    assert answer.json["versioning"] == "off" and "versioning is off" in answer.json["message"]
    assert answer.json["versions"] == []
    warned = json.loads(one.dashctl("doctor", "--output", "json").out)["checks"]
    check, = [c for c in warned if c["check"] == "state"]
    assert check["state"] == "warning" and "versioning is off" in check["message"]

    objects.keep_versions()
    for serial in (2, 3):
        objects.put(key, state(serial))
    objects.put(key + ".tflock", b"{}")
    objects.put(key + "-else", b"{}")
    history = root.get("/api/storage/state/j1/history").json
    assert (history["backend"], history["job"], history["key"]) == (BACKEND[kind], "j1", key)
    assert history["versioning"] == "on"
    versions = history["versions"]
    assert [v["current"] for v in versions[:2]] == [True, False]
    assert len({v["id"] for v in versions}) == len(versions) >= 2
    assert all(v["bytes"] == len(state(1)) and not v["deleted"] and v["modified_at"] for v in versions)
    check, = [c for c in json.loads(one.dashctl("doctor", "--output", "json").out)["checks"] if c["check"] == "state"]
    assert check["state"] == "good"
    deep = json.loads(one.dashctl("storage", "test", BACKEND[kind], "--deep", "--output", "json").out)
    assert (deep["versioning"], deep["message"]) == ("on", "versioning is on")
    shown = one.dashctl("storage", "state", "history", "j1")
    assert shown.code == 0 and versions[0]["id"] in shown.out and "(current)" in shown.out

    # What is left of a state that was deleted.
    objects.delete(key)
    objects.delete(key + ".tflock")
    gone = root.get("/api/storage/state/j1/history")
    assert gone.status == 200 and len(gone.json["versions"]) >= len(versions)
    assert not any(v["current"] and not v["deleted"] for v in gone.json["versions"])
    assert root.get("/api/storage/state/j2/history").status == 404
    assert root.get("/api/storage/state/..%2Fj1/history").status == 404


def test_a_snapshot_of_a_blob_counts_as_a_version(make_instance, scratch):
    one = make_instance(start=False)
    settings = store_settings("azure", scratch)
    one.set(**settings)
    objects = objects_of("azure", settings, scratch)
    objects.put("iac-state/j1/terraform.tfstate", state(1))
    objects.snapshot("iac-state/j1/terraform.tfstate")
    objects.put("iac-state/j1/terraform.tfstate", state(22))
    history = json.loads(one.dashctl("storage", "state", "history", "j1", "--output", "json").out)
    assert history["versioning"] == "off"
    assert [(v["current"], v["bytes"]) for v in history["versions"]] == [(True, len(state(22))), (False, len(state(1)))]


def test_a_file_system_keeps_no_versions_and_no_durable_state(make_instance, scratch):
    one = make_instance(start=False)
    one.set(**store_settings("local", scratch))
    folder = one.folder / "deploy/j1"
    folder.mkdir(parents=True)
    (folder / "terraform.tfstate").write_bytes(state(1))
    shown = one.dashctl("storage", "state", "history", "j1")
    assert shown.code == 0 and "versioning is off" in shown.out
    deep = json.loads(one.dashctl("storage", "test", "local", "--deep", "--output", "json").out)
    assert deep["ok"] and deep["versioning"] == "off" and "versioning is off" in deep["message"]
    assert "versioning is off" in one.dashctl("storage", "test", "local", "--deep").out
    check, = [c for c in json.loads(one.dashctl("doctor", "--output", "json").out)["checks"] if c["check"] == "state"]
    assert check["state"] == "warning" and "data folder" in check["message"]
    listed = one.dashctl("storage", "list")
    assert listed.code == 0 and "warning: local: Infrastructure state stays in the data folder" in listed.err


def test_the_backends_say_whether_state_is_durable_and_what_the_last_sweep_counted(make_instance, bucket, scratch):
    one = make_instance(start=False)
    one.set(**store_settings("local", scratch))
    one.set(**bucket.settings)
    bucket.put("config-mgmt/a.yml", b"- hosts: all\n")
    one.add_user("ann")
    one.start()
    root, ann = one.login("root"), one.login("ann")

    def backend(http, name):
        return {b["id"]: b for b in http.get("/api/storage/backends").json["backends"]}[name]

    assert (backend(ann, "obj_cloud1")["durable_state"], backend(ann, "obj_cloud1")["durable_state_reason"]) == (True, "")
    assert backend(ann, "local")["durable_state"] is False and backend(ann, "local")["durable_state_reason"]
    assert backend(ann, "agent_local")["durable_state"] is False
    assert "usage" not in backend(ann, "obj_cloud1")
    assert backend(root, "obj_cloud1")["usage"] is None
    assert root.post("/api/storage/gc", {"backend": "obj_cloud1"}).status == 200
    usage = backend(root, "obj_cloud1")["usage"]
    assert (usage["items"], usage["bytes"]) == (1, 13) and usage["at"].endswith("Z")
    assert root.get("/api/storage/backends").json["durable_state"] is True
    assert root.patch("/api/storage/config", {"storage_active_backend": "local"}).status == 200
    answer = root.get("/api/storage/backends").json
    assert answer["durable_state"] is False and "data folder" in answer["durable_state_reason"]
    assert "warning" not in one.dashctl("storage", "list", "--backend", "obj_cloud1").err
