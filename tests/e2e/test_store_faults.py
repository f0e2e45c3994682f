"""Each call that a flow makes to its store fails once, in every way, and from there on: no flow lies about it, none leaves half
an asset, and each works again when the store does."""
import os
import urllib.parse
import uuid

import pytest

from support.cloud_stores import store_settings
from support.failing_store import FAULTS, FailingStore
from support.instance import Instance
from support.storage import b64, commit, fetch, migrate, put, scope, slices, upload

BACKEND = {"s3": "obj_cloud1", "azure": "obj_cloud2", "gcs": "obj_cloud3", "oci": "obj_cloud4"}
ENDPOINT = {"s3": "storage_obj_cloud1_endpoint", "azure": "storage_obj_cloud2_endpoint", "gcs": "storage_obj_cloud3_endpoint",
            "oci": "storage_obj_cloud4_endpoint"}
SMALL = b"#!/bin/sh\necho small\n"
OLD = b"#!/bin/sh\necho old\n"
LARGE = os.urandom(1 << 20) * 8 + b"the second part"
POINTS = {}  # of each kind of store and flow that the long form went over
HONEST = {403, 404, 409, 500, 502, 503, 504}  # of a call to a store; 500 only with a sentence of the store's


class World:
    """An instance whose store fails when it is told to, and the folder store beside it."""

    def __init__(self, kind, scratch):
        settings = store_settings(kind, scratch)
        self.store = FailingStore(settings[ENDPOINT[kind]])
        self.backend = BACKEND[kind]
        self.folder = scratch / "folder"
        self.folder.mkdir()
        self.one = Instance(scratch / "one")
        self.one.add_user("root", admin=True)
        self.one.set(**{**settings, ENDPOINT[kind]: self.store.url, "storage_local_path": str(self.folder)})
        self.one.start()
        self.root = self.one.login("root")

    def close(self):
        self.one.stop()
        self.store.shutdown()
        self.store.server_close()

    def content(self, name):
        """What is under this name; None when nothing is."""
        self.store.heal()
        answer = self.root.get("/api/storage/fetch?" + urllib.parse.urlencode({"name": name, "raw": "1", "backend": self.backend}))
        assert answer.status in (200, 404), answer
        return answer.body if answer.status == 200 else None


class Flow:
    """One use of the store. act() is what is spoiled; `new` is what stands under the name when it said that it succeeded."""
    before, new = None, None

    def __init__(self, world):
        self.world, self.name = world, f"a{uuid.uuid4().hex[:10]}.sh"
        if self.before is not None:
            assert upload(world.root, self.name, self.before).status in (200, 201)

    def check(self, answer):
        said_so = answer.status < 300
        assert said_so or answer.status in HONEST, answer
        assert said_so or answer.json["detail"], answer
        assert b"std::" not in answer.body and b"internal error" not in answer.body, answer
        found = self.world.content(self.name)
        assert found == self.new if said_so else found in (self.before, self.new), (answer, found and len(found))
        if found is not None:
            assert self.world.root.delete("/api/storage/asset/" + self.name).status == 200


class Upload(Flow):
    new = SMALL

    def act(self):
        return upload(self.world.root, self.name, SMALL)


class Replace(Upload):
    before = OLD

    def act(self):
        return upload(self.world.root, self.name, SMALL)


class Chunked(Flow):
    new = LARGE

    def act(self):
        http = self.world.root
        begun = http.post("/api/storage/upload/begin", {"filename": self.name, "size": len(LARGE)})
        if begun.status >= 300:
            return begun
        handle = begun.json["handle"]
        for n, data in enumerate(slices(LARGE), 1):
            sent = put(http, handle, n, data)
            if sent.status >= 300:
                http.post("/api/storage/upload/abort", {"handle": handle})
                return sent
        return commit(http, handle, len(slices(LARGE)))


class Fetch(Flow):
    before = new = OLD

    def act(self):
        answer = fetch(self.world.root, self.name)
        assert answer.status >= 300 or answer.json["content_b64"] == b64(OLD), answer
        return answer


class Listing(Flow):
    before = new = OLD

    def act(self):
        answer = self.world.root.get("/api/storage/list")
        assert answer.status >= 300 or self.name in [item["name"] for item in answer.json["items"]], answer
        return answer


class Delete(Flow):
    before = OLD

    def act(self):
        return self.world.root.delete("/api/storage/asset/" + self.name)


class Migrate(Flow):
    """To the folder, and compared there."""
    before = new = OLD

    def act(self):
        answer = migrate(self.world.root, self.world.backend, "local", overwrite=True)
        if answer.status < 300:
            copied, failed = answer.json["copied"], [one["name"] for one in answer.json["failed"]]
            assert self.name in copied + failed, answer
            assert all((self.world.folder / name).read_bytes() == OLD for name in copied)
        return answer


class Verify(Flow):
    before = new = OLD

    def act(self):
        return self.world.root.post("/api/storage/verify", {"source": self.world.backend, "target": "local", "download": True})


class Scope(Flow):
    before = new = OLD

    def act(self):
        return scope(self.world.root, self.name, "")


class Sweep(Flow):
    def act(self):
        return self.world.root.post("/api/storage/gc", {"backend": self.world.backend, "older_than_hours": 24, "apply": True})


class DeepTest(Flow):
    """Says in its answer what failed."""

    def act(self):
        return self.world.root.post("/api/storage/test", {"backend": self.world.backend, "deep": True})


class Raw(Flow):
    before = new = OLD

    def act(self):
        answer = self.world.root.get(f"/api/storage/fetch?name={self.name}&raw=1")
        assert answer.status >= 300 or answer.body == OLD, answer
        return answer


class Range(Flow):
    before = new = OLD

    def act(self):
        answer = self.world.root.get(f"/api/storage/fetch?name={self.name}&raw=1", headers={"Range": "bytes=3-8"})
        assert answer.status >= 300 or answer.body in (OLD, OLD[3:9]), answer
        return answer


class ListAll(Flow):
    """Leaves out a store that fails, and so never fails."""
    before = new = OLD

    def act(self):
        return self.world.root.get("/api/storage/list-all")


class BulkDelete(Flow):
    before = OLD

    def act(self):
        answer = self.world.root.post("/api/storage/bulk-delete", {"items": [{"name": self.name, "backend": self.world.backend}]})
        if answer.status < 300 and answer.json["failed"]:
            assert answer.json["failed"][0]["error"], answer
            self.new = self.before if self.world.content(self.name) else None
        return answer


class Move(Flow):
    """To the folder, and removed here."""
    before = OLD

    def act(self):
        answer = self.world.root.post("/api/storage/move", {"name": self.name, "from_backend": self.world.backend, "to_backend": "local"})
        if answer.status < 300:
            assert self.world.content(self.name) is not None or (self.world.folder / self.name).read_bytes() == OLD, answer
            self.new = self.world.content(self.name)
        return answer


class Abort(Flow):
    """An upload that is given up after a part."""

    def act(self):
        http = self.world.root
        begun = http.post("/api/storage/upload/begin", {"filename": self.name, "size": len(LARGE)})
        if begun.status >= 300:
            return begun
        sent = put(http, begun.json["handle"], 1, slices(LARGE)[0])
        aborted = http.post("/api/storage/upload/abort", {"handle": begun.json["handle"]})
        return sent if sent.status >= 300 else aborted


class States(Flow):
    """The states of deploys that lie on the store."""

    def act(self):
        return self.world.root.get("/api/storage/state")


class Images(Flow):
    """The hub's list, after an image was uploaded to it."""

    def act(self):
        return self.world.root.get("/api/images")


FLOWS = [Upload, Replace, Chunked, Abort, Fetch, Raw, Range, Listing, ListAll, Delete, BulkDelete, Migrate, Move, Verify, Scope, Sweep,
         DeepTest, States, Images]
LEAST_POINTS = 5000  # of the long form


def sweep(world, flow, faults, forevers):
    """Spoils each call of the flow; how many points that were."""
    whole = flow(world)
    world.store.heal()
    answer = whole.act()
    calls = world.store.heal()
    assert answer.status < 300 and calls > 0, answer
    whole.check(answer)
    points = 0
    for n in range(1, calls + 1):
        for fault in faults:
            for forever in forevers:
                one = flow(world)
                world.store.spoil(n, fault, forever)
                answer = one.act()
                world.store.heal()
                one.check(answer)
                points += 1
    return points


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """The world of each kind of store, made when it is first asked for."""
    made = {}

    def world(kind):
        if kind not in made:
            made[kind] = World(kind, tmp_path_factory.mktemp(kind))
        return made[kind]

    yield world
    for one in made.values():
        one.close()


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
def test_a_call_that_fails_is_no_lie(worlds, flow):
    sweep(worlds("s3"), flow, ["403", "lost answer"], [False])


@pytest.mark.long
@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
@pytest.mark.parametrize("kind", BACKEND)
def test_a_call_that_fails_in_any_way_is_no_lie(worlds, kind, flow):
    POINTS[kind, flow.__name__] = sweep(worlds(kind), flow, FAULTS, [False, True])


@pytest.mark.long
def test_the_sweep_went_over_so_many_points(capsys):
    """After the sweeps above, in the same process."""
    of_kind = {kind: sum(points for (at, _), points in POINTS.items() if at == kind) for kind in BACKEND}
    with capsys.disabled():
        print(f"\n  fault sweep: {sum(of_kind.values())} points, {of_kind}")
    if len(POINTS) == len(BACKEND) * len(FLOWS):
        assert sum(of_kind.values()) >= LEAST_POINTS, POINTS
