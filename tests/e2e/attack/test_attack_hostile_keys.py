"""Keys that somebody else put into the bucket: a migration to a folder writes nothing outside of that folder."""
import os

import pytest

from support.storage import people

pytestmark = pytest.mark.attack
KEYS = ["root/.ssh/authorized_keys", "etc/cron.d/evil.sh", "a..b.sh", "...sh", "deep/" * 60 + "x.sh", "iac-state/x.sh", "sp ace.sh", "dash-.sh", "-rf.sh",
        ".dashctl-uploads/x.sh", "n" * 200 + ".sh"]


def test_hostile_keys_stay_beneath_the_folder(make_instance, bucket, scratch):
    folder = scratch / "store"
    folder.mkdir()
    outside = set(os.listdir(scratch))
    who = people(make_instance(start=False), bucket.settings | {"storage_local_path": str(folder)})
    outside |= set(os.listdir(scratch))
    for key in KEYS:
        bucket.put("config-mgmt/" + key, b"evil")
    answer = who.root.post("/api/storage/migrate", {"source": "obj_cloud1", "target": "local"})
    assert answer.status == 200, answer
    result = answer.json
    told = {*result["copied"], *result["skipped"], *(one["name"] for one in result["failed"])}
    assert told == set(KEYS), "every key is reported, once"
    assert set(os.listdir(scratch)) == outside
    for root, dirs, files in os.walk(folder):
        for one in [*dirs, *files]:
            assert not os.path.islink(os.path.join(root, one))
    written = {os.path.relpath(os.path.join(root, one), folder) for root, _, files in os.walk(folder) for one in files}
    assert set(result["copied"]) <= written
