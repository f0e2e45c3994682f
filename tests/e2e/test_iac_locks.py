"""The lock that an infrastructure program takes on its state, on a store of each kind: it refuses a switch and says who holds
it and for how long, is listed, is ended by its id, and is never copied as state."""
import fcntl
import json
import struct
import uuid
from pathlib import Path

import pytest

from support.cloud_stores import STORES, store_settings
from support.iac import HeldLock
from support.store_objects import objects_of

LEAF = {"gcs": "default.tfstate"}
STATE = b'{"version": 4, "serial": 3, "lineage": "l-1", "resources": []}'
FOREIGN = "other.tflock"  # of another kind of store: no lock here, and no state either


class Held:
    """A state with a lock on it, as the program of this kind of store leaves them."""

    def __init__(self, kind, instance, settings, scratch):
        key = "iac-state/j1/" + LEAF.get(kind, "terraform.tfstate")
        if kind == "local":
            self.folder = Path(instance.folder) / "deploy/j1"
            self.folder.mkdir(parents=True)
            (self.folder / "terraform.tfstate").write_bytes(STATE)
            lock = HeldLock(kind, self.folder, key)
        else:
            store = objects_of(kind, settings, scratch)
            store.put("iac-state/j1/" + FOREIGN, b"{}")
            store.put(key, STATE)
            lock = HeldLock(kind, store, key)
        self.id, self.created = lock.id, lock.created


@pytest.mark.parametrize("kind", STORES)
def test_a_held_lock_refuses_a_switch_and_is_ended_by_its_id(kind, make_instance, scratch):
    one = make_instance(start=False)
    settings = store_settings(kind, scratch)
    target = "local" if kind != "local" else "obj_cloud1"
    one.set(**store_settings("local" if kind != "local" else "s3", scratch))
    one.set(**settings)
    held = Held(kind, one, settings, scratch)

    item, = json.loads(one.dashctl("storage", "state", "list", "--output", "json").out)["items"]
    assert item["job"] == "j1" and item["serial"] == 3
    assert item["lock"]["id"] == held.id and item["lock"]["who"] == "ann@host"
    assert item["lock"]["operation"] == "OperationTypeApply"
    assert item["lock"]["created_at"].startswith(held.created[:-1])
    for flags in ([], ["--migrate-state"], ["--migrate-state", "--overwrite-state", "j1"]):
        refused = one.dashctl("storage", "switch", target, *flags)
        assert refused.code == 12, refused
        for said in ("j1", "ann@host", "2 h ", held.id):
            assert said in refused.err, (said, refused)
        assert "migrate_iac_state=true" not in refused.err
    assert one.dashctl("storage", "state", "unlock", "j1", str(uuid.uuid4())).code == 12
    assert json.loads(one.dashctl("storage", "state", "show", "j1", "--output", "json").out)["lock"]["id"] == held.id

    assert one.dashctl("storage", "state", "unlock", "j1", held.id).code == 0
    assert json.loads(one.dashctl("storage", "state", "list", "--output", "json").out)["items"][0]["lock"] is None
    done = one.dashctl("storage", "switch", target, "--migrate-state", "--output", "json")
    assert done.code == 0, done
    listed = json.loads(one.dashctl("storage", "state", "list", "--output", "json").out)
    assert listed["backend"] == target
    assert [(i["job"], i["serial"], i["lock"]) for i in listed["items"]] == [("j1", 3, None)]
    if kind != "local":
        assert {p.name for p in (Path(one.folder) / "deploy/j1").iterdir()} == {"terraform.tfstate"}
        assert [left["key"] for left in json.loads(done.out)["iac_state_left"]] == [
            "iac-state/j1/" + LEAF.get(kind, "terraform.tfstate")]


def test_a_program_on_this_machine_holds_the_lock_on_the_file_itself(make_instance, scratch):
    one = make_instance(start=False)
    one.set(**store_settings("s3", scratch))
    one.set(**store_settings("local", scratch))
    held = Held("local", one, {}, scratch)
    with (held.folder / "terraform.tfstate").open("r+b") as state:
        # The open-file-description lock that OpenTofu and Terraform take.
        lock = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
        fcntl.fcntl(state, fcntl.F_OFD_SETLK, lock)
        refused = one.dashctl("storage", "state", "unlock", "j1", held.id)
        assert refused.code == 12 and "this machine" in refused.err
        (held.folder / ".terraform.tfstate.lock.info").unlink()
        refused = one.dashctl("storage", "switch", "obj_cloud1", "--migrate-state")
        assert refused.code == 12 and "this machine" in refused.err
    assert one.dashctl("storage", "switch", "obj_cloud1", "--migrate-state").code == 0
