"""The image hub: uploads in parts, the formats that it takes, its list, for administrators alone."""
import json
import os

import pytest

from support.cloud_stores import CLOUDS, store_settings
from support.databases import rows
from support.program import run
from support.storage import PART, p8, people, slices

FOOTER = b"conectix" + bytes(504)
QCOW2 = b"QFI\xfb" + (3).to_bytes(4, "big") + bytes(504)


def begin(http, name, size):
    return http.post("/api/images/upload/begin", {"filename": name, "size": size})


def put(http, handle, n, data):
    return http.put(f"/api/images/upload/part/{n}", data, headers={"X-Upload-Handle": handle})


def commit(http, handle, parts):
    return http.post("/api/images/upload/commit", {"handle": handle, "parts": parts})


def stage(http, name, data):
    begun = begin(http, name, len(data))
    assert begun.status == 201, begun
    refs = []
    for n, piece in enumerate(slices(data), 1):
        answer = put(http, begun.json["handle"], n, piece)
        assert answer.status == 200, answer
        refs.append({"part": n, "ref": answer.json["ref"]})
    return begun.json["handle"], refs


def send(http, name, data):
    return commit(http, *stage(http, name, data))


def items(http):
    answer = http.get("/api/images")
    assert answer.status == 200, answer
    return answer.json["items"]


@pytest.fixture
def actors(make_instance, bucket):
    return people(make_instance(start=False), bucket.settings)


@pytest.mark.parametrize("kind", ["s3", *CLOUDS])
def test_an_image_is_uploaded_listed_and_deleted_on_every_store(make_instance, tmp_path, kind):
    if kind in CLOUDS and not os.environ.get(CLOUDS[kind][0]):
        pytest.skip(f"no {kind} server")
    http = people(make_instance(start=False), store_settings(kind, tmp_path)).root
    data = os.urandom(2 * PART) + b"x" * 512 + FOOTER
    handle, refs = stage(http, "box.vhd", data)
    assert items(http) == []
    done = commit(http, handle, refs)
    assert done.status == 201, done
    assert (done.json["size"], done.json["digest"]) == (len(data), p8(data))
    assert items(http) == [{"name": "box.vhd", "format": "vhd", "size": len(data), "digest": p8(data)}]
    assert http.get("/api/storage/list").json["items"] == []  # it is no asset
    assert commit(http, handle, refs).status == 201  # a repeated commit changes nothing
    assert http.delete("/api/images/box.vhd").status == 200
    assert items(http) == []
    assert http.delete("/api/images/box.vhd").status == 404


def test_an_image_goes_to_the_hub_at_the_root_of_its_bucket(make_instance, bucket, tmp_path):
    (tmp_path / "store").mkdir()
    settings = {"storage_local_path": str(tmp_path / "store"), **bucket.settings}
    settings |= {"storage_active_backend": "local", "storage_hub_backend": "obj_cloud1"}
    who = people(make_instance(start=False), settings)
    data = QCOW2 + os.urandom(1000)
    assert send(who.root, "box.qcow2", data).status == 201
    assert bucket.get("images/box.qcow2") == data
    assert who.root.get("/api/images").json["hub"] == "obj_cloud1"


def test_without_an_object_store_there_is_no_hub(make_instance, tmp_path):
    root = people(make_instance(start=False), store_settings("local", tmp_path)).root
    for answer in (root.get("/api/images"), begin(root, "a.raw", 512), root.delete("/api/images/a.raw")):
        assert answer.status == 400 and "storage_hub_backend" in answer.json["detail"], answer


def test_a_hub_whose_bucket_is_gone_is_the_stores_fault(actors, bucket):
    assert bucket.call("DELETE", f"/{bucket.name}").status == 204
    for path in ("/api/images", "/api/storage/list"):
        assert actors.root.get(path).status == 502, path


@pytest.mark.parametrize("name, data", [
    ("a.vhd", bytes(1024)), ("a.vhd", FOOTER + bytes(512)), ("a.vhd", b"x" + FOOTER), ("a.vhdx", QCOW2),
    ("a.qcow2", b"vhdxfile" + bytes(504)), ("a.qcow2", b"QFI\xfb"), ("a.ova", bytes(1024)), ("a.raw", QCOW2),
    ("a.img", bytes(512) + FOOTER), ("a.raw", bytes(513)), ("a.raw", b"vhdxfile" + bytes(504)),
    ("a.qcow2", QCOW2[:8] + (4096).to_bytes(8, "big") + bytes(496)),
    ("a.qcow2", QCOW2[:72] + (4).to_bytes(8, "big") + bytes(432)),
    ("a.vhd", QCOW2 + FOOTER), ("big.raw", bytes(PART) + FOOTER)], ids=lambda value: value if isinstance(value, str) else str(len(value)))
def test_what_is_not_what_its_name_says_is_refused(actors, bucket, name, data):
    answer = send(actors.root, name, data)
    assert answer.status == 400 and name in answer.json["detail"], answer
    assert bucket.keys() == []


def test_begin_refuses_what_no_image_is(actors):
    code = lambda name, size: begin(actors.root, name, size).status
    assert code("a.txt", 512) == 400 and code("a.vmdk", 512) == 400 and code("../a.raw", 512) == 400
    assert code("a.raw", 0) == 400 and code("a.raw", -1) == 400 and code("a.raw", "512") == 422
    assert code("a.raw", (64 << 30) + 1) == 413
    assert begin(actors.root, "a.raw", 64 << 30).json["parts"] == 8192


def test_a_commit_needs_the_ref_of_every_part(actors, bucket):
    handle, refs = stage(actors.root, "a.raw", bytes(PART + 512))
    for parts in (2, [1, 2], refs[:1], [refs[0], {"part": 2}], [{"part": 1}, refs[1]], []):
        assert commit(actors.root, handle, parts).status == 400, parts
    assert bucket.keys() == []
    assert commit(actors.root, handle, refs).status == 201


def test_the_ref_of_a_replaced_part_is_worth_nothing(actors, bucket):
    handle = begin(actors.root, "a.vhdx", 512).json["handle"]
    good = put(actors.root, handle, 1, b"vhdxfile" + bytes(504)).json["ref"]
    bad = put(actors.root, handle, 1, QCOW2).json["ref"]
    assert commit(actors.root, handle, [{"part": 1, "ref": good}]).status == 400
    assert commit(actors.root, handle, [{"part": 1, "ref": bad}]).status == 400
    other, refs = stage(actors.root, "b.vhdx", b"vhdxfile" + bytes(504))
    assert commit(actors.root, handle, refs).status == 400
    assert bucket.keys() == []


def test_another_replica_commits_by_what_the_refs_seal(actors, bucket):
    one = actors.instance
    two = type(one)(one.folder)
    two.start()
    try:
        good = stage(actors.root, "a.vhd", bytes(PART) + FOOTER)
        bad = stage(actors.root, "b.vhd", bytes(PART) + bytes(512))
        other = two.login("root")
        assert commit(other, *good).status == 201 and commit(other, *bad).status == 400
        assert bucket.keys() == ["images/a.vhd"]
    finally:
        two.stop()


def test_handles_of_assets_and_images_are_not_exchanged(actors, bucket):
    asset = actors.root.post("/api/storage/upload/begin", {"filename": "a.rpm", "size": 512}).json["handle"]
    assert put(actors.root, asset, 1, bytes(512)).status == 400
    handle, refs = stage(actors.root, "a.raw", bytes(512))
    assert actors.root.post("/api/storage/upload/commit", {"handle": handle, "parts": refs}).status == 400
    assert bucket.keys() == []


def test_the_hub_is_for_administrators(actors):
    handle, refs = stage(actors.root, "a.raw", bytes(512))
    answers = [actors.ann.get("/api/images"), actors.ann.delete("/api/images/a.raw"), begin(actors.ann, "a.raw", 512),
               put(actors.ann, handle, 1, bytes(512)), commit(actors.ann, handle, refs),
               actors.ann.post("/api/images/upload/abort", {"handle": handle})]
    assert [answer.status for answer in answers] == [403] * len(answers)


def test_an_aborted_upload_leaves_nothing(actors, bucket):
    handle, refs = stage(actors.root, "a.raw", bytes(PART + 512))
    assert actors.root.post("/api/images/upload/abort", {"handle": handle}).json["aborted"] is True
    assert commit(actors.root, handle, refs).status == 400
    assert bucket.keys() == [] and items(actors.root) == []


def test_uploads_and_deletions_are_in_the_audit_log(actors):
    assert send(actors.root, "a.raw", bytes(512)).status == 201
    assert actors.root.delete("/api/images/a.raw").status == 200
    actions = {action for action, in rows(actors.instance, "SELECT action FROM audit_log")}
    assert {"image.upload", "image.delete"} <= actions


@pytest.mark.parametrize("way", ["--data-dir", "--target"])
def test_the_command_puts_lists_and_deletes(actors, bucket, tmp_path, way):
    instance = actors.instance
    where = ["--data-dir", str(instance.folder)]
    if way == "--target":
        where = ["--target", instance.url, "--token", instance.token("root")]
    path = tmp_path / "box.vhd"
    data = os.urandom(PART) + bytes(512) + FOOTER
    path.write_bytes(data)
    done = run("storage", "hub", "put", str(path), *where)
    assert done.code == 0, done
    assert bucket.get("images/box.vhd") == data and path.read_bytes() == data
    assert run("storage", "hub", "put", str(path), "--name", "other.vhd", *where).code == 0
    listing = json.loads(run("storage", "hub", "list", "--output", "json", *where).out)
    assert [item["name"] for item in listing["items"]] == ["box.vhd", "other.vhd"]
    assert run("storage", "hub", "delete", "other.vhd", *where).code == 0
    assert run("storage", "hub", "delete", "other.vhd", *where).code == 1
    assert bucket.keys() == ["images/box.vhd"]


def test_the_command_sends_nothing_that_is_not_what_its_name_says(actors, bucket, tmp_path):
    path = tmp_path / "box.qcow2"
    path.write_bytes(b"vhdxfile" + bytes(504))
    done = run("storage", "hub", "put", str(path), "--data-dir", str(actors.instance.folder))
    assert done.code != 0 and "box.qcow2" in done.err, done
    assert bucket.keys() == []
