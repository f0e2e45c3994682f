"""What crashes leave in a folder: listed, dropped when asked, and swept by `serve` itself."""
import os
import time

import pytest

from support.storage import people, upload

HOUR = 3600


def leave(folder, name, size, hours):
    """An upload that nobody committed, as a crash leaves it."""
    staged = folder / ".dashctl-uploads" / name
    staged.mkdir(parents=True)
    (staged / "data").write_bytes(b"x" * size)
    began = time.time() - hours * HOUR
    os.utime(staged, (began, began))
    return staged


@pytest.fixture
def folder(scratch):
    made = scratch / "store"
    made.mkdir()
    return made


@pytest.fixture
def actors(make_instance, folder):
    return people(make_instance(start=False), {"storage_local_path": str(folder), "storage_active_backend": "local",
                                                "storage_gc_hours": "0"})


def test_gc_lists_and_with_apply_drops(actors, folder):
    assert upload(actors.ann, "kept.yml", b"abc").status == 201
    young, old = leave(folder, "a" * 32, 5, 13), leave(folder, "b" * 32, 7, 30)
    listed = actors.root.post("/api/storage/gc", {"backend": ""})
    assert listed.status == 200, listed
    assert [listed.json[name] for name in ("ok", "applied", "swept")] == [True, False, 0]
    item = listed.json["items"][0]
    assert len(listed.json["items"]) == 1 and item["began_at"].endswith("Z"), listed
    assert (item["backend"], item["key"], item["bytes"]) == ("local", ".dashctl-uploads/" + "b" * 32, 7)
    assert old.exists(), "a listing drops nothing"
    swept = actors.root.post("/api/storage/gc", {"backend": "local", "apply": True})
    assert swept.json["swept"] == 1 and swept.json["items"] == [item], swept
    assert young.exists() and not old.exists()
    command = actors.instance.dashctl("storage", "gc", "--older-than", "12", "--apply", "--output", "json")
    assert command.code == 0 and command.json["swept"] == 1, command
    assert not young.exists() and (folder / "kept.yml").read_bytes() == b"abc"
    audit = [entry for entry in actors.root.get("/api/audit").json["entries"] if entry["action"] == "storage.gc"]
    assert len(audit) == 2, audit


def test_the_hours_of_the_sweep_are_checked(actors):
    for hours in ("-1", "soon", "1.5"):
        refused = actors.root.patch("/api/storage/config", {"storage_gc_hours": hours})
        assert refused.status == 400 and "storage_gc_hours" in refused.text, refused
    assert actors.root.patch("/api/storage/config", {"storage_gc_hours": "0"}).status == 200
