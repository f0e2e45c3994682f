"""Both upload lanes, the probe and deletion through the product on Azure Blob Storage, Google Cloud Storage and Oracle Object
Storage."""
import base64
import os
import urllib.error
import urllib.parse
import urllib.request

import pytest

from support.cloud_stores import CLOUDS
from support.storage import PART, begin, commit, names, p8, people, put, slices, upload
from support.doubles import double


@pytest.fixture(scope="module", params=CLOUDS)
def server(request):
    """(name, environment) of a running test server."""
    with double(request.param, CLOUDS[request.param][0]) as env:
        yield request.param, env


@pytest.fixture
def actors(make_instance, server, scratch):
    return people(make_instance(start=False), CLOUDS[server[0]][1](server[1], scratch))


def fetch_raw(http, name, headers=None):
    return http.get(f"/api/storage/fetch?name={urllib.parse.quote(name)}&raw=1", headers=headers)


def test_both_lanes_store_list_fetch_and_delete(actors):
    data = os.urandom(PART + 12345)
    begun = begin(actors.ann, "big ü.deb", len(data))
    refs = []
    for n, part in enumerate(slices(data), 1):
        answer = put(actors.ann, begun["handle"], n, part)
        assert answer.status == 200, answer
        refs.append({"part": n, "ref": answer.json["ref"]})
        assert names(actors.ann) == []
    status = actors.ann.get("/api/storage/upload/status", headers={"X-Upload-Handle": begun["handle"]})
    assert status.status == 200 and status.json["staged"] == [1, 2], status
    done = commit(actors.ann, begun["handle"], refs)
    assert done.status == 201, done
    assert done.json["digest"] == p8(data)
    assert upload(actors.ann, "small.sh", b"echo\n").status == 201
    assert names(actors.ann) == ["big ü.deb", "small.sh"]
    whole = fetch_raw(actors.ann, "big ü.deb")
    assert whole.status == 200 and whole.body == data
    piece = fetch_raw(actors.ann, "big ü.deb", {"Range": f"bytes={PART - 2}-{PART + 1}"})
    assert piece.status == 206 and piece.body == data[PART - 2:PART + 2]
    for name in ("big%20%C3%BC.deb", "small.sh"):
        assert actors.root.delete("/api/storage/asset/" + name).status == 200
        assert actors.root.delete("/api/storage/asset/" + name).status == 404
    assert names(actors.ann) == []


def test_the_digest_is_that_of_the_bytes_also_when_a_part_was_replaced(actors):
    begun = begin(actors.ann, "twice.deb", PART)
    refs = []
    for byte in (b"a", b"b"):
        answer = put(actors.ann, begun["handle"], 1, byte * PART)
        assert answer.status == 200, answer
        refs.append(answer.json["ref"])
    committed = [commit(actors.ann, begun["handle"], [{"part": 1, "ref": ref}]) for ref in refs]
    assert {answer.status for answer in committed} <= {201, 400} and committed[1].status == 201, committed
    assert {answer.json["digest"] for answer in committed if answer.status == 201} == {p8(fetch_raw(actors.ann, "twice.deb").body)}


def test_an_aborted_upload_takes_neither_part_nor_commit(actors):
    begun = begin(actors.ann, "gone.deb", PART + 1)
    assert put(actors.ann, begun["handle"], 1, b"a" * PART).status == 200
    aborted = actors.ann.post("/api/storage/upload/abort", {"handle": begun["handle"]})
    assert aborted.status == 200 and aborted.json["aborted"] is True, aborted
    assert put(actors.ann, begun["handle"], 2, b"b").status == 400
    assert commit(actors.ann, begun["handle"], 2).status == 400
    assert names(actors.ann) == []


def test_parts_go_in_order_and_the_last_may_be_sent_again(actors):
    data = os.urandom(PART + 7)
    first, last = slices(data)
    begun = begin(actors.ann, "order.deb", len(data))
    assert put(actors.ann, begun["handle"], 2, last).status == 400
    for _ in range(2):
        assert put(actors.ann, begun["handle"], 1, first).status == 200
    for _ in range(2):
        assert put(actors.ann, begun["handle"], 2, last).status == 200
    assert commit(actors.ann, begun["handle"], 2).status == 201
    assert commit(actors.ann, begun["handle"], 2).status == 201  # its answer may have been lost
    assert fetch_raw(actors.ann, "order.deb").body == data


def test_the_deep_probe_proves_all_and_leaves_nothing(actors):
    backend = actors.root.get("/api/storage/backends").json["active"]
    answer = actors.root.post("/api/storage/test", {"backend": backend, "deep": True})
    assert answer.status == 200 and answer.json["ok"] is True, answer
    assert names(actors.ann) == []


def test_wrong_credentials_are_a_failure_of_the_store_and_tell_no_secret(actors):
    wrong = {"obj_cloud2": ("storage_obj_cloud2_account_key", base64.b64encode(b"w" * 32).decode()),
             "obj_cloud3": ("cloud3_service_account_json", '{"type":"service_account"}'),
             "obj_cloud4": ("cloud4_user_ocid", "ocid1.user.oc1..nobody")}
    backend = actors.root.get("/api/storage/backends").json["active"]
    key, value = wrong[backend]
    actors.instance.set(**{key: value})
    answer = actors.root.post("/api/storage/test", {"backend": backend})
    assert answer.status == 200 and answer.json["ok"] is False, answer
    assert key in answer.json["error"] and value not in answer.json["error"]
