"""The infrastructure states of an instance: list, show, unlock, through the API and the command."""
import json
import os
from pathlib import Path

import pytest

from support.s3_bucket import Bucket
from support.storage import people

STATE = {"version": 4, "serial": 3, "lineage": "l-1",
         "outputs": {"ip": {"value": "10.0.0.1"}, "key": {"value": "hidden-1", "sensitive": True}},
         "resources": [{"mode": "managed", "type": "terraform_data", "name": "x",
                        "instances": [{"attributes": {"password": "hidden-2"}}]}]}
LOCK = {"ID": "id-1", "Who": "ann@host", "Operation": "OperationTypeApply", "Created": "2026-01-01T00:00:00Z"}


def state(serial=3, lineage="l-1"):
    return json.dumps({**STATE, "serial": serial, "lineage": lineage}).encode()


@pytest.fixture
def bucket():
    return Bucket(os.environ)


@pytest.fixture
def actors(make_instance, bucket):
    return people(make_instance(start=False), bucket.settings)


def test_states_are_listed_and_shown_without_any_value_that_is_hidden(actors, bucket):
    bucket.put("iac-state/j1/terraform.tfstate", state())
    listed = actors.root.get("/api/storage/state")
    assert listed.status == 200, listed
    assert listed.json == {"backend": "obj_cloud1", "items": [
        {"job": "j1", "key": "iac-state/j1/terraform.tfstate", "bytes": len(state()), "serial": 3, "lineage": "l-1",
         "resources": 1, "lock": None}]}
    shown = actors.root.get("/api/storage/state/j1")
    assert shown.json["resources"] == [{"address": "terraform_data.x", "type": "terraform_data"}]
    assert shown.json["outputs"] == {"ip": "10.0.0.1", "key": None}
    assert b"hidden" not in shown.body
    for path in ("", "/j1"):
        assert actors.ann.get("/api/storage/state" + path).status == 403
    assert actors.root.get("/api/storage/state/j2").status == 404


def test_a_lock_is_ended_with_its_id(actors, bucket):
    bucket.put("iac-state/j1/terraform.tfstate", state())
    bucket.put("iac-state/j1/terraform.tfstate.tflock", json.dumps(LOCK).encode())
    lock = actors.root.get("/api/storage/state").json["items"][0]["lock"]
    assert lock == {"id": "id-1", "who": "ann@host", "operation": "OperationTypeApply",
                    "created_at": "2026-01-01T00:00:00Z"}
    path = "/api/storage/state/j1/lock"
    assert actors.ann.delete(path + "?id=id-1").status == 403
    assert actors.root.delete(path).status == 422
    assert actors.root.delete(path + "?id=id-2").status == 409
    assert actors.root.delete(path + "?id=id-1").json == {"ok": True, "job": "j1", "id": "id-1"}
    assert bucket.keys() == ["iac-state/j1/terraform.tfstate"]
    assert actors.root.delete(path + "?id=id-1").status == 404


def test_the_command_does_the_same_on_the_data_folder(make_instance):
    one = make_instance(start=False)
    folder = Path(one.folder) / "deploy/j1"
    folder.mkdir(parents=True)
    (folder / "terraform.tfstate").write_bytes(state())
    (folder / ".terraform.tfstate.lock.info").write_text(json.dumps(LOCK))
    assets = Path(one.folder) / "assets"
    assets.mkdir(exist_ok=True)
    one.set(storage_local_path=str(assets), storage_active_backend="local")
    listed = json.loads(one.dashctl("storage", "state", "list", "--output", "json").out)
    assert listed["items"][0]["lock"]["id"] == "id-1"
    shown = one.dashctl("storage", "state", "show", "j1")
    assert "terraform_data.x" in shown.out and "hidden" not in shown.out
    assert one.dashctl("storage", "state", "unlock", "j1").code == 2
    assert one.dashctl("storage", "state", "unlock", "j1", "--id", "wrong").code == 12
    assert one.dashctl("storage", "state", "unlock", "j1", "id-1").code == 0
    assert not (folder / ".terraform.tfstate.lock.info").exists()
    assert one.dashctl("storage", "state", "show", "j2").code not in (0, 2)


def test_the_switch_takes_the_state_along_and_says_what_stays(make_instance, bucket):
    one = make_instance(start=False)
    assets = Path(one.folder) / "assets"
    assets.mkdir(exist_ok=True)
    one.set(storage_local_path=str(assets), **bucket.settings)
    bucket.put("iac-state/j1/terraform.tfstate", state(serial=5))
    copy = Path(one.folder) / "deploy/j1/terraform.tfstate"
    refused = one.dashctl("storage", "switch", "local")
    assert refused.code == 12 and "migrate_iac_state=true" in refused.err
    copy.parent.mkdir(parents=True)
    copy.write_bytes(state(serial=6))
    newer = one.dashctl("storage", "switch", "local", "--migrate-state")
    assert newer.code == 12 and "j1" in newer.err and "migrate_iac_state=true" not in newer.err
    assert copy.read_bytes() == state(serial=6)
    done = one.dashctl("storage", "switch", "local", "--migrate-state", "--overwrite-state", "j1", "--output", "json")
    assert done.code == 0, done
    assert json.loads(done.out)["iac_state_left"] == [{"backend": "obj_cloud1", "key": "iac-state/j1/terraform.tfstate"}]
    assert copy.read_bytes() == state(serial=5)
    assert one.dashctl("storage", "switch", "nowhere").code not in (0, 12)


def test_an_import_and_a_rollback_that_switch_say_what_stays(actors, bucket):
    one, root = actors.instance, actors.root
    assets = Path(one.folder) / "assets"
    assets.mkdir()
    one.set(storage_local_path=str(assets))
    bucket.put("iac-state/j1/terraform.tfstate", state())
    body = {"config": {"storage_active_backend": "local"}}
    assert root.post("/api/setup/import", body).json["refused"] == {"storage_active_backend": "live_state"}
    done = root.post("/api/setup/import?migrate_iac_state=true", body).json
    assert done["iac_state_migrated"] == 1
    assert done["iac_state_left"] == [{"backend": "obj_cloud1", "key": "iac-state/j1/terraform.tfstate"}]
    undone = root.post("/api/setup/rollback?migrate_iac_state=true", {"change_id": done["change_id"]}).json
    assert undone["restored"] == ["storage_active_backend"]
    assert undone["iac_state_left"] == [{"backend": "local", "key": "deploy/j1/terraform.tfstate"}]
    again = root.post("/api/setup/rollback?migrate_iac_state=true", {"change_id": done["change_id"]})
    assert again.status == 409 and "iac_state_left" not in again.json
    last = root.patch("/api/storage/config", {"storage_active_backend": "local", "migrate_iac_state": True}).json
    assert last["iac_state_left"] == done["iac_state_left"]
    change = root.get("/api/setup/config/history?key=storage_active_backend&limit=1").json["history"][0]["change_id"]
    printed = one.dashctl("migrate", "rollback", "--change", change, "--migrate-state", "--output", "json")
    assert printed.code == 0 and json.loads(printed.out)["iac_state_left"] == undone["iac_state_left"], printed
