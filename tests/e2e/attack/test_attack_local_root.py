"""Every door to the setting of the local folder, with every place of the host that it must not name."""
import os

import pytest

from support.storage import people

pytestmark = pytest.mark.attack
REFUSED = ["/", "/etc", "/etc/ssl", "/proc/self", "/sys", "/dev/shm", "/boot", "/usr/local", "/bin", "/sbin", "/lib", "/lib64", "/root",
           "/home", "/var", "/var/lib", "/run", "/tmp", "/opt", "/srv", "/etc/", "//etc", "/usr/../etc", "/tmp/../", "/proc/1/root/etc"]


def doors(who, path):
    """Every way to write the setting, as name → the status or exit code that refuses."""
    instance, root = who.instance, who.root
    imported = root.post("/api/setup/import", {"config": {"storage_local_path": path, "cloud1_region": "us-east-1"}, "regions": "merge"})
    yield "import", imported.status == 200 and imported.json["refused"].get("storage_local_path") == "path_refused", imported
    page = root.patch("/api/storage/config", {"storage_local_path": path})
    yield "page", page.status == 400, page
    put = root.put("/api/setup/config", {"storage_local_path": path})
    yield "put", put.status == 400, put
    done = instance.dashctl("config", "set", "storage_local_path", "-", stdin=path)
    yield "command", done.code not in (0, 130), done


@pytest.fixture
def who(make_instance, scratch):
    folder = scratch / "store"
    folder.mkdir()
    return people(make_instance(start=False), {"storage_local_path": str(folder), "storage_active_backend": "local"})


def own_places(who, scratch):
    data = who.instance.folder
    link = scratch / "innocent"
    link.symlink_to("/etc")
    inner = scratch / "inner"
    inner.symlink_to(data)
    keys = scratch / ".ssh"
    keys.mkdir()
    return [data, data.parent, data / "policy", data / "deploy", link, inner, keys, keys / "below", f"{data}/assets/..", f"{data}/other"]


def test_no_door_takes_a_place_of_the_host(who, scratch):
    (who.instance.folder / "deploy").mkdir(exist_ok=True)
    for path in [*REFUSED, *map(str, own_places(who, scratch))]:
        for name, refused, answer in doors(who, path):
            assert refused, (name, path, answer)
    assert who.ann.get("/api/storage/list").status == 200, "the folder of before still serves"


def test_a_folder_that_becomes_a_link_is_refused_at_open(who, scratch):
    folder = scratch / "store"
    folder.rmdir()
    os.symlink("/etc", folder)
    answer = who.ann.get("/api/storage/fetch?name=passwd")
    assert answer.status == 502 and b"root:" not in answer.body, answer
    doctor = who.instance.dashctl("doctor")
    assert "storage_local_path" in doctor.out + doctor.err


def test_the_folders_that_operators_use_are_taken(who, scratch):
    mine = scratch / "other"
    for path in [mine, who.instance.folder / "assets", who.instance.folder / "assets/below"]:
        answer = who.root.put("/api/setup/config", {"storage_local_path": str(path)})
        assert answer.status == 200, (path, answer)
