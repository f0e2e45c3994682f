"""The storage API, row by row of the specification's tables, against a real S3 server and a folder."""
import base64
import hashlib
import json
import os
import urllib.parse

import pytest

from support.databases import rows
from support.http_client import Http
from support.storage import PART, b64, fetch, names, people, scope, upload

STORES = ["s3", "local"]


class FolderStore:
    """The `local` backend, looked at through the file system."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.settings = {"storage_local_path": str(folder), "storage_active_backend": "local"}

    def get(self, name):
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None

    def put(self, name, data):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(data)


class PrefixedBucket:
    def __init__(self, bucket):
        self.bucket, self.settings = bucket, bucket.settings

    def get(self, name):
        return self.bucket.get("config-mgmt/" + name)

    def put(self, name, data):
        self.bucket.put("config-mgmt/" + name, data)


@pytest.fixture(params=STORES)
def store(request, scratch):
    if request.param == "local":
        return FolderStore(scratch / "store")
    return PrefixedBucket(request.getfixturevalue("bucket"))


@pytest.fixture
def actors(make_instance, store):
    """An instance on `store` with the admin root, ann of workgroup web, bob of workgroup data."""
    return people(make_instance(start=False), store.settings)


# --- callers of each endpoint -------------------------------------------------------------------

ROUTES = [
    ("GET", "/api/storage/backends", None), ("GET", "/api/storage/config", None), ("PATCH", "/api/storage/config", {}),
    ("POST", "/api/storage/test", {"backend": "local"}), ("GET", "/api/storage/list", None),
    ("GET", "/api/storage/list/local", None), ("POST", "/api/storage/upload", {"filename": "a.sh", "content_b64": ""}),
    ("POST", "/api/storage/upload/begin", {"filename": "a.sh", "size": 1}),
    ("POST", "/api/storage/upload/commit", {"handle": "x", "parts": 1}), ("POST", "/api/storage/upload/abort", {"handle": "x"}),
    ("GET", "/api/storage/upload/status", None), ("DELETE", "/api/storage/asset/a.sh", None),
    ("PUT", "/api/storage/scope", {"name": "a.sh", "workgroup": None}), ("GET", "/api/storage/fetch?name=a.sh", None),
    ("POST", "/api/config-mgmt/upload", {"filename": "a.sh", "content_b64": ""}),
]
ADMIN_ONLY = ["/api/storage/config", "/api/storage/test", "/api/storage/list/local", "/api/storage/scope"]


def test_every_route_asks_who_you_are(instance):
    for method, path, body in ROUTES:
        answer = instance.anonymous.request(method, path, body=body)
        assert answer.status == 401, (method, path, answer)
        assert answer.headers["www-authenticate"] == "Bearer"
    assert instance.anonymous.put("/api/storage/upload/part/1", b"x").status == 401


def test_admin_routes_refuse_everybody_else(make_instance):
    instance = make_instance()
    instance.add_user("ann")
    ann = instance.login("ann")
    for method, path, body in ROUTES:
        status = ann.request(method, path, body=body).status
        assert (status == 403) == (path in ADMIN_ONLY), (method, path, status)


def test_a_personal_access_token_works_on_storage_routes(actors):
    token = actors.instance.token("ann")
    assert upload(Http(actors.instance.port, token), "pat.sh", b"x").status == 201


# --- backends and settings ------------------------------------------------------------------------

def test_backends_tell_lane_and_ceiling(actors, store):
    answer = actors.ann.get("/api/storage/backends").json
    assert [row["id"] for row in answer["backends"]] == ["obj_cloud1", "obj_cloud2", "obj_cloud3", "obj_cloud4", "local", "agent_local"]
    active = [row for row in answer["backends"] if row["active"]]
    assert [row["id"] for row in active] == [store.settings["storage_active_backend"]] == [answer["active"]]
    chunked = {row["id"]: row["chunked_upload"] for row in answer["backends"]}
    assert chunked == {"obj_cloud1": True, "obj_cloud2": True, "obj_cloud3": True, "obj_cloud4": True, "local": False, "agent_local": False}
    assert {row["chunk_part_bytes"] for row in answer["backends"]} == {8388608}


def test_settings_mask_secrets_and_the_mask_means_keep(root):
    sent = {"storage_local_path": "/srv/x", "storage_local_password": "hunter2", "promote_runner_image": "img:1"}
    assert root.patch("/api/storage/config", sent).json["ok"] is True
    shown = root.get("/api/storage/config").json
    assert shown["storage_local_password"] == "\u2022" * 8 and "hunter2" not in json.dumps(shown)
    assert shown["promote_runner_image"] == "img:1"
    assert root.patch("/api/storage/config", shown).status == 200
    assert root.patch("/api/storage/config", {"storage_local_password": ""}).status == 200
    assert root.get("/api/storage/config").json["storage_local_password"] == ""


def test_every_key_of_the_runner_comes_back_as_it_was_sent(root):
    keys = [key for key in root.get("/api/storage/config").json if key.startswith("promote_runner_")]
    assert len(keys) > 30
    sent = {key: f"value of {key}" for key in keys}
    assert set(root.patch("/api/storage/config", sent).json["updated"]) == set(keys)
    shown = root.get("/api/storage/config").json
    assert {key: shown[key] for key in keys} == sent


@pytest.mark.parametrize("settings, body", [
    ({"automation_runner": "ecs", "storage_local_path": "/srv/x"}, {"storage_active_backend": "local"}),
    ({"storage_local_path": "/srv/x"}, {"storage_hub_backend": "local"}),
    ({}, {"storage_hub_backend": "agent_local"}),
    ({}, {"storage_active_backend": "obj_cloud1"}),
    ({}, {"storage_active_backend": "ftp"}),
    ({}, {"storage_hub_backend": "gcs"}),
    ({}, {"storage_agent_subpath": "/abs"}),
])
def test_settings_that_the_specification_refuses_change_nothing(instance, root, settings, body):
    instance.set(**settings)
    before = root.get("/api/storage/config").json
    assert root.patch("/api/storage/config", {**body, "promote_runner_image": "x"}).status == 400
    assert root.get("/api/storage/config").json == before


def test_both_spellings_are_taken_and_the_instance_answers_in_its_own(instance, root):
    assert root.patch("/api/storage/config", {"storage_s3_bucket": "b", "storage_active_backend": "s3"}).status == 200
    assert root.get("/api/storage/config").json["storage_obj_cloud1_bucket"] == "b"
    assert root.get("/api/storage/backends").json["active"] == "obj_cloud1"
    instance.set(cloud_names="provider")
    assert root.get("/api/storage/backends").json["active"] == "s3"
    assert root.get("/api/storage/config").json["storage_s3_bucket"] == "b"


def test_the_probe_answers_success_and_failure(actors, store):
    active = store.settings["storage_active_backend"]
    assert actors.root.post("/api/storage/test", {"backend": active}).json == {"ok": True, "count": 0}
    unconfigured = actors.root.post("/api/storage/test", {"backend": "gcs"})
    assert unconfigured.status == 200 and unconfigured.json["ok"] is False
    assert actors.root.post("/api/storage/test", {"backend": "ftp"}).status == 400
    assert actors.root.post("/api/storage/test", {}).status == 422


def test_the_deep_probe_proves_all_and_leaves_nothing(actors, store):
    answer = actors.root.post("/api/storage/test", {"backend": store.settings["storage_active_backend"], "deep": True})
    assert answer.json["ok"] is True, answer
    assert [check["name"] for check in answer.json["checks"]] == [
        "list", "write", "range", "replace", "multipart", "abort", "clock", "clean up"]
    assert names(actors.root) == []


def test_without_an_active_backend_nothing_is_stored(root):
    assert root.get("/api/storage/list").status == 502
    assert upload(root, "a.sh", b"x").status == 502
    assert root.post("/api/storage/upload/begin", {"filename": "a.sh", "size": 1}).status == 400
    assert root.get("/api/storage/list/s3").status == 400


# --- inline lane ----------------------------------------------------------------------------------

def test_an_inline_upload_is_stored_listed_and_fetched(actors, store):
    for path in ("/api/storage/upload", "/api/config-mgmt/upload"):
        answer = upload(actors.ann, "site.yml", b"- hosts: all\n", path)
        assert answer.status == 201, answer
        assert {k: answer.json[k] for k in ("ok", "filename", "size", "secret_findings")} == {
            "ok": True, "filename": "site.yml", "size": 13, "secret_findings": []}
    assert store.get("site.yml") == b"- hosts: all\n"
    item = actors.bob.get("/api/storage/list").json["items"][0]
    assert (item["name"], item["type"], item["size"], item["workgroup"]) == ("site.yml", "playbook", 13, None)
    got = fetch(actors.bob, "site.yml").json
    assert base64.b64decode(got["content_b64"]) == b"- hosts: all\n" and got["size"] == 13


@pytest.mark.parametrize("name", ["a.yml", "a.yaml", "a.sh", "a.ps1", "a.rpm", "a.deb", "A.YML", "ü +%20 x.sh", "a" * 251 + ".yml"])
def test_every_kind_of_asset_is_accepted(actors, store, name):
    assert upload(actors.ann, name, b"x").status == 201
    assert names(actors.ann) == [name] and store.get(name) == b"x"
    assert fetch(actors.ann, name).json["content_b64"] == b64(b"x")
    assert actors.root.delete("/api/storage/asset/" + urllib.parse.quote(name)).status == 200
    assert names(actors.ann) == []


@pytest.mark.parametrize("name", ["a.txt", "a", "../a.yml", "d/a.yml", "d\\a.yml", ".a.yml", ".yml", "", "a\n.yml", "a\x00.yml",
                                  "a" * 252 + ".yml", "/etc/a.yml"])
def test_hostile_names_are_refused_in_both_lanes(actors, name):
    assert upload(actors.ann, name, b"x").status == 400
    assert actors.ann.post("/api/storage/upload/begin", {"filename": name, "size": 1}).status == 400
    assert names(actors.root) == []


@pytest.mark.parametrize("body, status", [
    ({"filename": "a.yml"}, 422), ({"content_b64": ""}, 422), ({"filename": 7, "content_b64": ""}, 422),
    ({"filename": "a.yml", "content_b64": None}, 422), ({"filename": "a.yml", "content_b64": "abc"}, 400),
    ({"filename": "a.yml", "content_b64": "%%%!!"}, 400), ({"filename": "a.yml", "content_b64": "LSBo\nb3N0"}, 400),
    ({"filename": "a.yml", "content_b64": "-_-_"}, 400), ("{", 422), ("[]", 422), ("", 422), ("null", 422),
    ('{"filename":"a.yml","content_b64":"","content_b64":""}', 422)])
def test_a_body_that_is_not_the_promised_one_is_refused(actors, body, status):
    answer = actors.ann.post("/api/storage/upload", body)
    assert answer.status == status, answer
    assert status == 400 or set(answer.json["detail"][0]) == {"type", "loc", "msg", "input"}
    assert names(actors.ann) == []


def test_the_inline_ceiling_is_64_mb_of_decoded_bytes(actors, store):
    exact = b"\0" * (64 << 20)
    assert upload(actors.ann, "big.rpm", exact).status == 201
    assert hashlib.sha256(store.get("big.rpm")).digest() == hashlib.sha256(exact).digest()
    assert upload(actors.ann, "more.rpm", exact + b"\0").status == 413
    assert actors.ann.request("POST", "/api/storage/upload", headers={"Content-Length": str(1 << 30)}).status == 413
    assert names(actors.ann) == ["big.rpm"]


def test_the_content_may_come_before_the_name(actors, store):
    data = os.urandom(PART + 100)
    assert actors.ann.post("/api/storage/upload", '{"content_b64":"%s","filename":"a.rpm"}' % b64(data)).status == 201
    assert store.get("a.rpm") == data


def test_secrets_are_told_redacted_and_never_refused(actors):
    answer = upload(actors.ann, "s.sh", b"\npassword: hunter2hunter2\n")
    assert answer.status == 201
    assert answer.json["secret_findings"] == [{"rule": "generic_secret_assignment", "line": 2, "match": "hun\u2026r2"}]


# --- fetch ----------------------------------------------------------------------------------------

def test_raw_fetch_streams_with_range_and_conditions(actors):
    data = os.urandom(2 * PART + 17)
    assert upload(actors.ann, "big.rpm", data).status == 201
    raw = "/api/storage/fetch?raw=1&name=big.rpm"
    whole = actors.ann.get(raw)
    assert (whole.status, whole.body, whole.headers["accept-ranges"]) == (200, data, "bytes")
    tag = whole.headers["etag"]
    piece = actors.ann.get(raw, headers={"Range": f"bytes={PART - 5}-{PART + 5}", "If-Match": tag})
    assert (piece.status, piece.body) == (206, data[PART - 5:PART + 6])
    assert piece.headers["content-range"] == f"bytes {PART - 5}-{PART + 5}/{len(data)}"
    assert actors.ann.get(raw, headers={"Range": "bytes=-7"}).body == data[-7:]
    beyond = actors.ann.get(raw, headers={"Range": f"bytes={len(data)}-"})
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{len(data)}")
    assert actors.ann.get(raw, headers={"If-Match": '"other"'}).status == 412
    assert actors.ann.get(raw, headers={"If-None-Match": tag}).status == 304
    head = actors.ann.request("HEAD", raw)
    assert (head.status, head.headers["content-length"]) == (200, str(len(data)))


def test_fetch_takes_query_path_and_backend(actors, store):
    upload(actors.ann, "a.sh", b"x")
    store.put("dir/in.sh", b"nested")
    active = store.settings["storage_active_backend"]
    for path in ("?name=a.sh", f"?name=a.sh&backend={active}", "/a.sh", f"/{active}/a.sh"):
        assert actors.ann.get("/api/storage/fetch" + path).json["content_b64"] == b64(b"x"), path
    assert actors.ann.get("/api/storage/fetch/a.sh", headers={"Accept": "application/octet-stream"}).body == b"x"
    for path in ("?name=none.sh", "?name=", "/none.sh", "/ftp/a.sh", "?name=a.sh&backend=ftp", "?name=a.sh&backend=gcs"):
        assert actors.ann.get("/api/storage/fetch" + path).status == 404, path


@pytest.mark.parametrize("name", ["notes.txt", "Makefile", "dir/sub/file.bin", "with space/ü+%.tar.gz", "dir/site.yml"])
def test_what_others_placed_is_an_asset_under_any_name(actors, store, name):
    store.put(name, b"placed")
    item = actors.bob.get("/api/storage/list").json["items"][0]
    assert (item["name"], item["size"], item["type"]) == (name, 6, "playbook" if name.endswith(".yml") else "other")
    plain, escaped = urllib.parse.quote(name), urllib.parse.quote(name, safe="")
    assert fetch(actors.bob, name).json["content_b64"] == b64(b"placed")
    for path in (plain, escaped, f"{store.settings['storage_active_backend']}/{plain}"):
        assert actors.bob.get("/api/storage/fetch/" + path).json["name"] == name, path
    assert scope(actors.root, name, "web").status == 200
    assert fetch(actors.bob, name).status == 404 and names(actors.bob) == []
    assert actors.bob.delete("/api/storage/asset/" + escaped).status == 404
    assert actors.ann.delete("/api/storage/asset/" + escaped).json == {"ok": True, "deleted": name}
    assert store.get(name) is None
    store.put(name, b"again")
    assert names(actors.bob) == [name]  # its scope went with it
    assert actors.root.delete("/api/storage/asset/" + plain).status == 200


def test_only_an_upload_asks_for_an_extension(actors, store):
    store.put("notes.txt", b"placed")
    assert upload(actors.root, "notes.txt", b"x").status == 400
    assert actors.root.post("/api/storage/upload/begin", {"filename": "notes.txt", "size": 1}).status == 400
    assert store.get("notes.txt") == b"placed"


def test_fetch_reaches_nothing_outside_of_the_assets(actors, store):
    for name in ("../secret.yml", "..%2fsecret.yml", "%2e%2e/secret.yml", "a/../../x.sh", "notes.txt", "%00.sh", "%ff.sh"):
        assert actors.root.get("/api/storage/fetch?raw=1&name=" + name).status in (404, 400), name
        assert actors.root.get("/api/storage/fetch/" + name).status in (404, 400), name
        assert actors.root.delete("/api/storage/asset/" + name).status in (404, 400), name


def test_json_fetch_ends_at_the_inline_ceiling_and_names_raw(actors, store):
    store.put("big.rpm", b"\0" * ((64 << 20) + 1))
    refused = fetch(actors.ann, "big.rpm")
    assert refused.status == 413 and "raw=1" in refused.json["detail"]
    assert len(actors.ann.get("/api/storage/fetch?raw=1&name=big.rpm").body) == (64 << 20) + 1


# --- scope ----------------------------------------------------------------------------------------

def test_scope_matrix(actors, store):
    for name in ("web.yml", "free.yml"):
        assert upload(actors.root, name, b"x").status == 201
    done = scope(actors.root, "web.yml", "web")
    assert done.json == {"ok": True, "backend": store.settings["storage_active_backend"], "name": "web.yml", "workgroup": "web"}
    assert names(actors.root) == names(actors.ann) == ["free.yml", "web.yml"]
    assert names(actors.bob) == ["free.yml"]
    hidden, absent = fetch(actors.bob, "web.yml"), fetch(actors.bob, "wxx.yml")
    assert hidden.status == absent.status == 404
    assert hidden.body.replace(b"web", b"wxx") == absent.body
    same = {"server", "content-type", "content-length"}
    assert {k: hidden.headers.get(k) for k in same} == {k: absent.headers.get(k) for k in same}
    assert upload(actors.bob, "web.yml", b"y").status == 409
    assert actors.bob.post("/api/storage/upload/begin", {"filename": "web.yml", "size": 1}).status in (409, 400)
    assert upload(actors.ann, "web.yml", b"z").status == 201
    assert actors.bob.delete("/api/storage/asset/web.yml").status == 404
    assert actors.bob.delete("/api/storage/asset/none.yml").status == 404
    assert actors.bob.delete("/api/storage/asset/free.yml").status == 403
    assert store.get("web.yml") == b"z"
    assert actors.ann.delete("/api/storage/asset/web.yml").json == {"ok": True, "deleted": "web.yml"}
    assert upload(actors.bob, "web.yml", b"now global").status == 201
    assert names(actors.bob) == ["free.yml", "web.yml"]


def test_a_hidden_asset_and_an_absent_one_answer_alike_on_every_path(actors, store):
    upload(actors.root, "web1.yml", b"x")
    scope(actors.root, "web1.yml", "web")
    active = store.settings["storage_active_backend"]
    ways = [("GET", "/api/storage/fetch?name={}"), ("GET", "/api/storage/fetch?name={}&raw=1"),
            ("GET", "/api/storage/fetch?name={}&backend=" + active), ("GET", "/api/storage/fetch/{}"),
            ("GET", f"/api/storage/fetch/{active}/{{}}"), ("HEAD", "/api/storage/fetch?name={}&raw=1"),
            ("DELETE", "/api/storage/asset/{}")]
    for method, path in ways:
        hidden, absent = (actors.bob.request(method, path.format(name)) for name in ("web1.yml", "none.yml"))
        assert (hidden.status, absent.status) == (404, 404), (method, path)
        assert hidden.body.replace(b"web1", b"none") == absent.body, (method, path)
        drop = {"date", "x-request-id", "traceparent"}
        assert {k: v for k, v in hidden.headers.items() if k not in drop} == {k: v for k, v in absent.headers.items() if k not in drop}
        if method != "DELETE":
            assert actors.ann.request(method, path.format("web1.yml")).status == 200, (method, path)
    for http in (actors.bob, actors.ann):
        assert {http.put("/api/storage/scope", {"name": name, "workgroup": None}).status for name in ("web1.yml", "none.yml")} == {403}
    assert "web1" not in str(actors.bob.get("/api/storage/list").json) + str(actors.bob.get("/api/storage/list-all").json)


def test_scope_refuses_what_does_not_exist(actors):
    upload(actors.root, "a.yml", b"x")
    assert scope(actors.root, "a.yml", "nobody").status == 400
    assert scope(actors.root, "none.yml", "web").status == 404
    assert scope(actors.root, "a.yml", "web", backend="ftp").status == 400
    assert actors.root.put("/api/storage/scope", {"name": "a.yml"}).status == 422
    assert scope(actors.ann, "a.yml", "web").status == 403


def test_scope_changes_uploads_deletions_and_settings_are_audited(actors):
    upload(actors.ann, "a.yml", b"x")
    scope(actors.root, "a.yml", "web")
    actors.root.delete("/api/storage/asset/a.yml")
    actors.root.patch("/api/storage/config", {"promote_runner_image": "x"})
    actions = {action for action, in rows(actors.instance, "SELECT action FROM audit_log")}
    for action in ("storage.upload", "storage_asset_scope_update", "storage.delete", "storage.config.update"):
        assert action in actions


def test_an_agents_share_refuses_names_sizes_and_chunks_before_any_agent_is_asked(make_instance):
    who = people(make_instance(start=False), {})
    patch = {"storage_agent_id": "a1", "storage_agent_share": "assets", "storage_active_backend": "agent_local"}
    assert who.root.patch("/api/storage/config", patch | {"storage_agent_subpath": "/abs"}).status == 400
    assert who.root.patch("/api/storage/config", patch).status == 200
    for name in (".a.yml", "a/b.yml", "a b.yml", "_a.yml"):
        assert upload(who.ann, name, b"x").status == 400, name
    too_large = upload(who.ann, "a.yml", b"x" * (196608 + 1))
    assert too_large.status == 413 and "196608" in too_large.json["detail"]
    assert who.ann.post("/api/storage/upload/begin", {"filename": "a.yml", "size": 1}).status == 400
    offline = upload(who.ann, "a.yml", b"x" * 196608)
    assert offline.status == 502 and "a1" in offline.json["detail"]
