"""Every use of a store for assets, from outside, as support/fault_world.py spoils it."""
import os

from support.agents import enrolled
from support.fault_world import Flow, Said
from support.hosts import HOST_KEY
from support.jobs import executor, wait_for
from support.storage import b64, commit, fetch, migrate, put, scope, slices, upload
from support.wait import wait_until

SMALL = b"#!/bin/sh\necho small\n"
OLD = b"#!/bin/sh\necho old\n"
LARGE = os.urandom(1 << 20) * 8 + b"the second part"


class Upload(Flow):
    new = SMALL

    def act(self):
        return upload(self.root, self.name, SMALL)


class Replace(Upload):
    before = OLD


class UploadOfAutomation(Flow):
    new = SMALL

    def act(self):
        return upload(self.root, self.name, SMALL, "/api/config-mgmt/upload")


class Chunked(Flow):
    new = LARGE

    def act(self):
        begun = self.root.post("/api/storage/upload/begin", {"filename": self.name, "size": len(LARGE)})
        if begun.status >= 300:
            return begun
        handle = begun.json["handle"]
        for n, data in enumerate(slices(LARGE), 1):
            sent = put(self.root, handle, n, data)
            if sent.status >= 300:
                self.root.post("/api/storage/upload/abort", {"handle": handle})
                return sent
        return commit(self.root, handle, len(slices(LARGE)))


class Resumed(Flow):
    """An upload whose client lost its place after the first part, and asks for it."""
    new = LARGE

    def act(self):
        begun = self.root.post("/api/storage/upload/begin", {"filename": self.name, "size": len(LARGE)})
        if begun.status >= 300:
            return begun
        handle, parts = begun.json["handle"], slices(LARGE)
        sent = put(self.root, handle, 1, parts[0])
        status = self.root.get("/api/storage/upload/status", headers={"X-Upload-Handle": handle})
        if status.status >= 300:
            return status
        staged = status.json["staged"]
        assert staged == [1] if sent.status < 300 else staged in ([], [1]), (sent, status)
        for n in range(len(staged) + 1, len(parts) + 1):
            sent = put(self.root, handle, n, parts[n - 1])
            if sent.status >= 300:
                return sent
        return commit(self.root, handle, len(parts))


class Abort(Flow):
    """An upload that is given up after a part."""

    def act(self):
        begun = self.root.post("/api/storage/upload/begin", {"filename": self.name, "size": len(LARGE)})
        if begun.status >= 300:
            return begun
        sent = put(self.root, begun.json["handle"], 1, slices(LARGE)[0])
        aborted = self.root.post("/api/storage/upload/abort", {"handle": begun.json["handle"]})
        assert aborted.status == 200, aborted
        return sent if sent.status >= 300 else aborted


class Fetch(Flow):
    before = new = OLD

    def act(self):
        answer = fetch(self.root, self.name)
        assert answer.status >= 300 or answer.json["content_b64"] == b64(OLD), answer
        return answer


class Raw(Flow):
    before = new = OLD

    def act(self):
        answer = self.root.get(f"/api/storage/fetch?name={self.name}&raw=1")
        assert answer.status >= 300 or answer.body == OLD, answer
        return answer


class Range(Flow):
    before = new = OLD

    def act(self):
        answer = self.root.get(f"/api/storage/fetch?name={self.name}&raw=1", headers={"Range": "bytes=3-8"})
        assert answer.status >= 300 or answer.body in (OLD, OLD[3:9]), answer
        return answer


class Listing(Flow):
    before = new = OLD
    path = "/api/storage/list"

    def act(self):
        answer = self.root.get(self.path)
        assert answer.status >= 300 or [item["name"] for item in answer.json["items"]] == [self.name], answer
        return answer


class ListingOfBackend(Listing):
    def __init__(self, world):
        super().__init__(world)
        self.path = f"/api/storage/list/{world.backend}"


class ListingByPages(Listing):
    path = "/api/storage/list?cursor="


class ListAll(Flow):
    """Leaves out a store that fails, and so never fails."""
    before = new = OLD
    path = "/api/storage/list-all"

    def act(self):
        return self.root.get(self.path)


class ListAllOfAutomation(ListAll):
    path = "/api/config-mgmt/assets"


class Delete(Flow):
    before = OLD
    gone = (404,)

    def act(self):
        return self.root.delete("/api/storage/asset/" + self.name)


class DeleteOfBackend(Delete):
    def act(self):
        return self.root.delete(f"/api/storage/asset-in/{self.world.backend}/{self.name}")


class BulkDelete(Flow):
    before = OLD

    def act(self):
        answer = self.root.post("/api/storage/bulk-delete", {"items": [{"name": self.name, "backend": self.world.backend}]})
        if answer.status < 300 and answer.json["failed"]:
            assert answer.json["failed"][0]["error"], answer
        return answer

    def succeeded(self, answer):
        return answer.status < 300 and not answer.json["failed"]

    def try_again(self):
        if self.world.content(self.name) is not None:  # else it was deleted, and the answer was lost
            super().try_again()


class Migrate(Flow):
    """To the folder, and compared there."""
    before = new = OLD

    def act(self):
        answer = migrate(self.root, self.world.backend, "local", overwrite=True)
        if answer.status < 300:
            copied, failed = answer.json["copied"], [one["name"] for one in answer.json["failed"]]
            assert self.name in copied + failed, answer
            assert all((self.world.folder / name).read_bytes() == OLD for name in copied)
        return answer

    def succeeded(self, answer):
        return answer.status < 300 and not answer.json["failed"]

    def clean(self):
        (self.world.folder / self.name).unlink()
        super().clean()


class MigrateHere(Flow):
    """From the folder."""
    new = OLD

    def __init__(self, world):
        super().__init__(world)
        self.file = world.folder / self.name
        self.file.write_bytes(OLD)

    def act(self):
        return migrate(self.root, "local", self.world.backend)

    def succeeded(self, answer):
        return answer.status < 300 and not answer.json["failed"]

    def check_found(self, answer, found):
        super().check_found(answer, found)
        assert self.file.read_bytes() == OLD, "a migration deletes nothing"
        if answer.status < 300:
            done = answer.json
            assert [*done["copied"], *(one["name"] for one in done["failed"])] == [self.name], answer

    def clean(self):
        self.file.unlink()
        super().clean()


class Move(Flow):
    """To the folder, and removed here."""
    before = OLD
    gone = (404, 409)

    def act(self):
        return self.root.post("/api/storage/move", {"name": self.name, "from_backend": self.world.backend, "to_backend": "local"})

    def check(self, answer):
        self.check_honest(answer)
        moved = self.world.folder / self.name
        here, there = self.world.content(self.name), moved.read_bytes() if moved.exists() else None
        assert OLD in (here, there) and {here, there} <= {None, OLD}, answer
        if here is not None:
            again = self.root.post("/api/storage/move", {"name": self.name, "from_backend": self.world.backend, "to_backend": "local",
                                                         "overwrite": True})
            assert again.status < 300, again
        assert self.world.content(self.name) is None and moved.read_bytes() == OLD
        moved.unlink()
        self.clean()


class MoveHere(Flow):
    """From the folder, and removed there."""
    new = OLD

    def __init__(self, world):
        super().__init__(world)
        self.file = world.folder / self.name
        self.file.write_bytes(OLD)

    def act(self):
        return self.root.post("/api/storage/move", {"name": self.name, "from_backend": "local", "to_backend": self.world.backend,
                                                    "overwrite": True})

    def check(self, answer):
        self.check_honest(answer)
        found = self.world.content(self.name)
        assert found == OLD if answer.status < 300 else found in (None, OLD), answer
        assert found == OLD or self.file.read_bytes() == OLD, answer
        if self.file.exists():
            again = self.act()
            assert again.status < 300, again
        assert not self.file.exists() and self.world.content(self.name) == OLD
        self.clean()


class Verify(Flow):
    before = new = OLD

    def act(self):
        return self.root.post("/api/storage/verify", {"source": self.world.backend, "target": "local", "download": True})


class Scope(Flow):
    before = new = OLD

    def act(self):
        return scope(self.root, self.name, "")


class Sweep(Flow):
    def act(self):
        return self.root.post("/api/storage/gc", {"backend": self.world.backend, "older_than_hours": 24, "apply": True})


class DeepTest(Flow):
    """Says in its answer what failed."""

    def act(self):
        return self.root.post("/api/storage/test", {"backend": self.world.backend, "deep": True})

    def succeeded(self, answer):
        return answer.status < 300 and answer.json["ok"]

    def check_found(self, answer, found):
        """What it could not delete it says, and no more than that is left."""
        left = [item["name"] for item in self.root.get("/api/storage/list").json["items"]]
        said = [step["detail"] for step in answer.json.get("checks", []) if step["name"] == "clean up" and not step["ok"]]
        assert all(name.startswith("dashctl-test-") and any(name in text for text in said) for name in left), (answer, left)
        for name in left:
            assert self.root.delete("/api/storage/asset/" + name).status == 200


class Run(Flow):
    """A run of the asset, requested and done by a program of the operator's."""
    before = new = OLD

    def __init__(self, world):
        super().__init__(world)
        if not (world.one.folder / "deploy/config-mgmt-run").exists():
            executor(world.one, "config-mgmt-run", "echo done")
            world.one.set(ansible_enabled="true")
            added = world.root.post("/api/hosts", {"name": "here", "address": "127.0.0.1", "connection": "local"})
            assert added.status == 201, added

    def act(self):
        asked = self.root.post("/api/config-mgmt/run", {"asset": self.name, "hosts": ["here"]})
        if asked.status >= 300:
            return asked
        done = wait_for(self.root, asked.json["job_id"], "completed", "failed")
        return Said(done["status"] == "completed", {"detail": done["error_message"], "job": done})


class AgentFetch(Flow):
    """The asset of a run, fetched by the agent that carries it out."""
    before = new = OLD

    def __init__(self, world):
        super().__init__(world)
        if world.agent is None:
            world.one.set(remote_agents_enabled="true", ansible_enabled="true", agent_max_requests_per_minute="100000")
            type_ = "agent_automation"
            world.agent = enrolled(world.root, world.one.port, "edge", [type_], version="99.0.0", job_types=[type_])
            world.agent.http = world.client()
            host = {"name": "web-1", "address": "192.0.2.7", "user": "op", "host_key": HOST_KEY, "secret": "of the host"}
            assert world.root.post("/api/hosts", host).status == 201
        self.agent = world.agent
        asked = world.root.post("/api/config-mgmt/run", {"asset": self.name, "hosts": ["web-1"], "runner": "agent:edge"})
        assert asked.status == 200, asked
        self.job = wait_until(self.agent.leased, what="the agent's job")

    def act(self):
        answer = self.agent.report(self.job, "asset", {})
        assert answer.status >= 300 or answer.body == OLD, answer
        return answer

    def clean(self):
        self.agent.complete(self.job, error="given up")
        super().clean()


ASSET_FLOWS = [Upload, Replace, UploadOfAutomation, Chunked, Resumed, Abort, Fetch, Raw, Range, Listing, ListingOfBackend, ListingByPages,
               ListAll, ListAllOfAutomation, Delete, DeleteOfBackend, BulkDelete, Migrate, MigrateHere, Move, MoveHere, Verify, Scope,
               Sweep, DeepTest, Run, AgentFetch]
# A folder has no parts, is the other end of a move, and serves no agent.
OF_CLOUDS_ALONE = [Chunked, Resumed, Abort, Migrate, MigrateHere, Move, MoveHere, Verify, AgentFetch]
