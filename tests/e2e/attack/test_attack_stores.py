"""On both databases and every store: names that reach elsewhere, handles of others, assets of other workgroups."""
import json
import urllib.parse

import pytest

from support.http_client import Http
from support.storage import PART, begin, commit, fetch, names, put, scope, upload

pytestmark = pytest.mark.attack
NAMES = ["../x.sh", "..\\x.sh", "/etc/passwd.sh", "a/../../x.sh", ".hidden.sh", "a\x00b.sh", "a\nb.sh", "x" * 300 + ".sh", "\u202egpj.sh", "a\u2066b.sh",
         "", ".", "..", "a.sh/", "//a.sh", "%2e%2e%2fx.sh/..", "\ud800.sh"]
LANES = {"inline": False, "chunked": True}


def inline_lane(http, name):
    return http.post("/api/storage/upload", json.dumps({"filename": name, "content_b64": "eA=="}).encode(),
                     headers={"Content-Type": "application/json"})


def test_no_name_reaches_elsewhere(arena):
    for name in NAMES:
        answer = inline_lane(arena.ann, name)
        assert answer.status in (400, 422), (name, answer)
        text = json.dumps({"filename": name, "size": 5}).encode()
        answer = arena.ann.post("/api/storage/upload/begin", text, headers={"Content-Type": "application/json"})
        assert answer.status in (400, 422), (name, answer)
    assert names(arena.root) == []
    for name in NAMES[:-1]:
        answer = arena.ann.get("/api/storage/fetch?" + urllib.parse.urlencode({"name": name}))
        assert answer.status in (400, 404, 422), (name, answer)
    assert upload(arena.ann, "honest.sh", b"x").status == 201 and fetch(arena.bob, "honest.sh").status == 200


def test_a_scoped_asset_is_not_there_for_others_on_any_path(arena):
    assert upload(arena.ann, "mine.sh", b"secret words").status == 201
    assert scope(arena.root, "mine.sh", "web").status == 200
    for answer in (fetch(arena.bob, "mine.sh"), arena.bob.get("/api/storage/fetch?name=mine.sh&raw=1"),
                   arena.bob.delete("/api/storage/asset/mine.sh"), arena.bob.get("/api/storage/fetch/mine.sh")):
        assert answer.status == 404 and b"secret words" not in answer.body, answer
    assert upload(arena.bob, "mine.sh", b"other").status == 409
    begun = arena.bob.post("/api/storage/upload/begin", {"filename": "mine.sh", "size": 3})
    assert begun.status in (400, 409), begun
    assert "mine.sh" not in names(arena.bob) and "mine.sh" in names(arena.ann)
    assert fetch(arena.ann, "mine.sh").status == 200


def test_a_handle_serves_nobody_but_its_owner(arena):
    active = arena.root.get("/api/storage/backends").json
    if not next(row for row in active["backends"] if row["active"])["chunked_upload"]:
        assert arena.ann.post("/api/storage/upload/begin", {"filename": "a.rpm", "size": PART}).status == 400
        return
    handle = begin(arena.ann, "a.rpm", PART)["handle"]
    for http, status in ((arena.bob, {400, 403, 404}), (Http(arena.instance.port), {401}), (Http(arena.instance.port, "x"), {401})):
        assert put(http, handle, 1, b"b" * PART).status in status
        assert commit(http, handle, 1).status in status
        assert http.get("/api/storage/upload/status", headers={"X-Upload-Handle": handle}).status in status
    for at in (0, len(handle) // 2, len(handle) - 1):
        forged = handle[:at] + ("A" if handle[at] != "A" else "B") + handle[at + 1:]
        assert put(arena.ann, forged, 1, b"b" * PART).status == 400
    assert put(arena.ann, handle, 1, b"a" * PART).status == 200
    assert commit(arena.ann, handle, 1).status == 201


def test_what_a_user_reads_names_no_store(arena):
    settings = arena.root.get("/api/storage/config").json
    addresses = [str(v) for k, v in settings.items() if k.endswith(("_endpoint", "_path")) and v] if isinstance(settings, dict) else []
    seen = [arena.ann.get(path) for path in ("/api/storage/backends", "/api/storage/list", "/api/storage/fetch?name=none.sh",
                                             "/api/config-mgmt/assets", "/api/features")]
    for answer in seen:
        for address in addresses:
            assert address.encode() not in answer.body, (address, answer)


def test_vaults_and_settings_are_for_admins(arena):
    made = arena.root.post("/api/secrets/vaults", {"id": "main", "kind": "hashicorp", "name": "main"})
    for path in ("/api/secrets/vaults", "/api/setup/config", "/api/setup/config/history", "/api/storage/config", "/api/users",
                 "/api/audit", "/api/notifications/endpoints"):
        for http in (arena.ann, Http(arena.instance.port, arena.instance.token("ann", "t" + str(abs(hash(path)))))):
            answer = http.get(path)
            assert answer.status in (401, 403), (path, answer, made)
