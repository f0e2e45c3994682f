"""Migrations among all pairs of the real stores: every byte, scope and digest arrives, whatever the names and sizes."""
import contextlib
import itertools
import os
import urllib.parse

import pytest

from support.cloud_stores import CLOUDS, share
from support.doubles import double
from support.s3_bucket import Bucket
from support.storage import PART, b64, migrate, p8, people, scope

SERVERS = {"s3": "S3_ENDPOINT", "azure": "AZURE_BLOB_ENDPOINT", "gcs": "GCS_ENDPOINT", "oci": "OCI_ENDPOINT", "smb": "SMB_HOST"}
FOLDER = "local"
IDS = {"s3": "obj_cloud1", "azure": "obj_cloud2", "gcs": "obj_cloud3", "oci": "obj_cloud4", "local": FOLDER, "smb": FOLDER}
# Names that a signature, a query, a path or an XML body could get wrong, and that every store takes.
ASSETS = {"empty.yml": b"", "one.sh": b"1", "ü ß+100%25&=#'é.yml": b"awkward", "-dash;$(x)~[1] (2),!@^`{}.sh": os.urandom(3000)}
BIG = ("two parts.rpm", os.urandom(PART + 3))
SCOPED = "one.sh"


@pytest.fixture
def settings(scratch):
    with contextlib.ExitStack() as stack:
        env = {}
        for name, variable in SERVERS.items():
            env |= stack.enter_context(double(name, variable))
        found = {name: make(env, scratch) for name, (_, make) in CLOUDS.items()}
        (scratch / "folder").mkdir()
        found |= {"s3": Bucket(env).settings, "smb": share(env), "local": {"storage_local_path": str(scratch / "folder")}}
        yield found


def assets_of(who, store):
    """{name: (content, workgroup, digest)} of everything on the store, as an admin sees it."""
    listing = who.root.get("/api/storage/list/" + IDS[store])
    assert listing.status == 200, listing
    found = {}
    for item in listing.json["items"]:
        query = urllib.parse.urlencode({"name": item["name"], "backend": IDS[store], "raw": 1})
        fetched = who.root.get("/api/storage/fetch?" + query)
        assert fetched.status == 200, (store, item["name"], fetched)
        assert len(fetched.body) == item["size"], (store, item)
        found[item["name"]] = (fetched.body, item["workgroup"], fetched.headers.get("x-asset-digest"))
    return found


def wipe(who, store):
    items = [{"backend": IDS[store], "name": name} for name in assets_of(who, store)]
    if items:
        assert who.root.post("/api/storage/bulk-delete", {"items": items}).status == 200


def check_pair(who, source, target, wanted):
    wipe(who, target)
    done = migrate(who.root, IDS[source], IDS[target])
    assert done.status == 200 and done.json["failed"] == [] and done.json["copied"] == sorted(wanted), (source, target, done)
    assert assets_of(who, target) == wanted, (source, target)
    assert who.bob.get(f"/api/storage/fetch/{IDS[target]}/{SCOPED}").status == 404
    verified = who.root.post("/api/storage/verify", {"source": IDS[source], "target": IDS[target], "download": True})
    assert verified.status == 200 and verified.json["ok"] and sorted(verified.json["same"]) == sorted(wanted), verified


def set_local(who, settings, kind):
    keys = ("storage_local_path", "storage_local_port", "storage_local_username", "storage_local_password")
    for key in keys:
        if key in settings[kind]:
            who.instance.set(**{key: settings[kind][key]})
        else:
            who.instance.dashctl("config", "unset", key)


def test_assets_arrive_whole_between_every_two_stores(make_instance, settings):
    clouds = ["s3", "azure", "gcs", "oci"]
    merged = {key: value for name in (*clouds, FOLDER) for key, value in settings[name].items()}
    who = people(make_instance(start=False), merged | {"storage_active_backend": "obj_cloud1"})
    wanted = {}
    for name, data in (*ASSETS.items(), BIG):
        sent = who.root.post("/api/storage/upload", {"filename": name, "content_b64": b64(data)})
        assert sent.status == 201, sent
        wanted[name] = (data, "web" if name == SCOPED else None, p8(data))
    assert scope(who.root, SCOPED, "web").status == 200
    small = {name: entry for name, entry in wanted.items() if name != BIG[0]}
    for kind in (FOLDER, "smb"):
        set_local(who, settings, kind)
        # The large asset comes to every store and leaves it once; the rest is a matter of names.
        for store in (*clouds[1:], kind) if kind == FOLDER else (kind,):
            check_pair(who, "s3", store, wanted)
            check_pair(who, store, "s3", wanted)
        for store in (*clouds, kind):
            assert who.root.post("/api/storage/bulk-delete", {"items": [{"backend": IDS[store], "name": BIG[0]}]}).status == 200
        pairs = itertools.permutations((*clouds, kind), 2)
        for source, target in pairs:
            if "s3" in (source, target) or (kind == "smb" and kind not in (source, target)):
                continue
            check_pair(who, source, target, small)
        if kind == FOLDER:
            sent = who.root.post("/api/storage/upload", {"filename": BIG[0], "content_b64": b64(BIG[1])})
            assert sent.status == 201, sent
