"""Every use of a store for images and for infrastructure state, from outside, as support/fault_world.py spoils it."""
import json
import uuid

from support import images
from support.deploys import PROGRAM, deploy, destroy, ended, put_module
from support.fault_world import Flow, Said
from support.iac import HeldLock
from support.images import vhd
from support.storage import slices

IMAGE = vhd(1024)
LARGE_IMAGE = vhd((8 << 20) + 1024)
STATE = b'{"version": 4, "serial": 3, "lineage": "l-1", "outputs": {}, "resources": []}'
CLOUD = {"s3": "aws", "azure": "azure", "gcs": "gcp", "oci": "oci"}


class ObjectFlow(Flow):
    """Judged by the objects themselves, which a client that is not ours reads."""

    def check(self, answer):
        self.check_honest(answer)
        self.check_objects(answer, self.world.objects.all())
        if not self.succeeded(answer):
            self.try_again()
            self.check_objects(Said(True, {}), self.world.objects.all())
        self.clean()

    def clean(self):
        self.world.clear()

    def try_again(self):
        answer = self.act()
        assert self.succeeded(answer) or answer.status in self.gone, answer

    def check_objects(self, answer, held):
        """`held`: {key: bytes} of every object."""
        raise NotImplementedError


class Images(ObjectFlow):
    """The hub's list."""

    def __init__(self, world):
        super().__init__(world)
        world.objects.put("images/box.vhd", IMAGE)

    def act(self):
        answer = self.root.get("/api/images")
        assert answer.status >= 300 or [item["name"] for item in answer.json["items"]] == ["box.vhd"], answer
        return answer

    def check_objects(self, answer, held):
        assert held == {"images/box.vhd": IMAGE}, answer


class ImageUpload(ObjectFlow):
    def act(self):
        begun = self.root.post("/api/images/upload/begin", {"filename": "box.vhd", "size": len(LARGE_IMAGE)})
        if begun.status >= 300:
            return begun
        handle, refs = begun.json["handle"], []
        for n, piece in enumerate(slices(LARGE_IMAGE), 1):
            sent = self.root.put(f"/api/images/upload/part/{n}", piece, headers={"X-Upload-Handle": handle})
            if sent.status >= 300:
                self.root.post("/api/images/upload/abort", {"handle": handle})
                return sent
            refs.append({"part": n, "ref": sent.json["ref"]})
        return self.root.post("/api/images/upload/commit", {"handle": handle, "parts": refs})

    def try_again(self):
        if self.root.get("/api/images").json["items"]:  # it was made, and the answer was lost
            assert self.root.delete("/api/images/box.vhd").status == 200
        super().try_again()

    def check_objects(self, answer, held):
        found = {key: data for key, data in held.items() if key.startswith("images/")}
        assert found == {"images/box.vhd": LARGE_IMAGE} or (not found and answer.status >= 300), (answer, list(held))


class ImageDelete(Images):
    gone = (404,)

    def act(self):
        return self.root.delete("/api/images/box.vhd")

    def check_objects(self, answer, held):
        assert held == {} or (answer.status >= 300 and held == {"images/box.vhd": IMAGE}), answer


class ImageJob(ObjectFlow):
    def ended(self, answer):
        if answer.status >= 300:
            return answer
        done = images.ended(self.root, answer)
        return Said(done["status"] == "completed", {"detail": done["error_message"], "job": done})


class ImagePlace(ImageJob):
    gone = (404, 409)

    def __init__(self, world):
        super().__init__(world)
        world.objects.put("exports/out.vhd", IMAGE)

    def act(self):
        return self.ended(images.place(self.root, "box.vhd", self.world.backend, "exports/out.vhd"))

    def check_objects(self, answer, held):
        placed, source = held.get("images/box.vhd"), held.get("exports/out.vhd")
        assert {placed, source} <= {None, IMAGE} and IMAGE in (placed, source), (answer, list(held))
        assert placed == IMAGE or answer.status >= 300, answer


class ImagePromote(ImageJob):
    def __init__(self, world):
        super().__init__(world)
        world.objects.put("images/box.vhd", IMAGE)

    def act(self):
        return self.ended(images.promote(self.root, "box.vhd", CLOUD[self.world.kind]))

    def check_objects(self, answer, held):
        staged = held.get("promote-staging/box.vhd")
        assert held["images/box.vhd"] == IMAGE and (staged == IMAGE or (staged is None and answer.status >= 300)), (answer, list(held))


class StateFlow(ObjectFlow):
    """With a state of a job on the store."""

    def __init__(self, world):
        super().__init__(world)
        self.job = "j" + uuid.uuid4().hex[:8]
        leaf = "default.tfstate" if world.kind == "gcs" else "terraform.tfstate"
        self.key = f"iac-state/{self.job}/{leaf}"
        world.objects.put(self.key, STATE)

    def check_objects(self, answer, held):
        assert held == {self.key: STATE}, (answer, list(held))


class States(StateFlow):
    def act(self):
        answer = self.root.get("/api/storage/state")
        assert answer.status >= 300 or [(item["job"], item["serial"]) for item in answer.json["items"]] == [(self.job, 3)], answer
        return answer


class StateShow(StateFlow):
    def act(self):
        return self.root.get(f"/api/storage/state/{self.job}")


class StateHistory(StateFlow):
    def act(self):
        return self.root.get(f"/api/storage/state/{self.job}/history")


class Unlock(StateFlow):
    gone = (404,)

    def __init__(self, world):
        super().__init__(world)
        self.lock = HeldLock(world.kind, world.objects, self.key)

    def act(self):
        return self.root.delete(f"/api/storage/state/{self.job}/lock?id={self.lock.id}")

    def check_objects(self, answer, held):
        assert held[self.key] == STATE, answer
        lock = self.root.get("/api/storage/state").json["items"][0]["lock"]
        assert lock is None or (answer.status >= 300 and lock["id"] == self.lock.id), (answer, lock)
        if lock is None:
            assert list(held) == [self.key], list(held)


class SwitchAway(StateFlow):
    """The state goes with the active backend to the folder of deploys."""

    def act(self):
        return self.switch("local")

    def switch(self, backend):
        return self.root.patch("/api/storage/config", {"storage_active_backend": backend, "migrate_iac_state": True,
                                                       "overwrite_iac_state": [self.job]})

    def clean(self):
        back = self.switch(self.world.backend)
        assert back.status == 200, back
        self.local.unlink()
        self.local.parent.rmdir()
        super().clean()

    @property
    def local(self):
        return self.world.one.folder / "deploy" / self.job / "terraform.tfstate"

    def active(self):
        return self.root.get("/api/storage/config").json["storage_active_backend"]

    def check_objects(self, answer, held):
        assert held == {self.key: STATE}, "what was copied stays"
        moved = self.active() == "local"
        assert moved or answer.status >= 300, answer
        assert not moved or self.local.read_bytes() == STATE, answer


class SwitchHere(SwitchAway):
    """The state comes with the active backend from the folder of deploys."""

    def __init__(self, world):
        super().__init__(world)
        assert self.switch("local").status == 200
        world.objects.delete(self.key)

    def act(self):
        return self.switch(self.world.backend)

    def check_objects(self, answer, held):
        assert self.local.read_bytes() == STATE, "what was copied stays"
        moved = self.active() == self.world.backend
        assert moved or answer.status >= 300, answer
        assert set(held.values()) <= {STATE} and (held == {self.key: STATE} or not moved), (answer, held)


class Deploy(ObjectFlow):
    """By the real program, whose state the worker keeps on the store."""

    def __init__(self, world):
        super().__init__(world)
        if not (world.one.folder / "deploy/cloud1-vm-deploy").exists():
            put_module(world.one.folder / "deploy", world.scratch / "marks")
        self.job = None

    def act(self):
        self.job = deploy(self.root, self.name)
        return self.said(ended(self.root, self.job))

    def said(self, job):
        return Said(job["status"] == "completed", {"detail": job["error_message"], "warnings": job["warnings"], "job": job})

    def state(self):
        return next((item for item in self.root.get("/api/storage/state").json["items"] if item["job"] == self.job), None)

    def check_objects(self, answer, held):
        assert all(json.loads(data)["version"] == 4 for key, data in held.items() if key.endswith(".tfstate")), held
        state = self.state()
        made = (self.world.scratch / "marks/made").exists()
        assert answer.status >= 300 or (state["resources"] == 1 and made), (answer, state)

    def try_again(self):
        """What there is can be destroyed, and made anew."""
        state = self.state()
        if state and state["lock"]:
            assert self.root.delete(f"/api/storage/state/{self.job}/lock?id={state['lock']['id']}").status == 200
        if state and state["resources"]:
            gone = ended(self.root, destroy(self.root, self.name))
            assert gone["status"] == "completed" and self.state()["resources"] == 0, gone
        super().try_again()


class Destroy(Deploy):
    def __init__(self, world):
        super().__init__(world)
        assert Deploy.act(self).status == 200

    def act(self):
        return self.said(ended(self.root, destroy(self.root, self.name)))

    def check_objects(self, answer, held):
        state = self.state()
        assert state["resources"] == 0 if answer.status < 300 else state["resources"] in (0, 1), (answer, state)

    def try_again(self):
        state = self.state()
        if state["lock"]:
            assert self.root.delete(f"/api/storage/state/{self.job}/lock?id={state['lock']['id']}").status == 200
        answer = self.act()
        assert answer.status < 300, answer


HUB_FLOWS = [Images, ImageUpload, ImageDelete, ImagePlace, ImagePromote, States, StateShow, StateHistory, Unlock, SwitchAway, SwitchHere]
# A point of them takes seconds, since the program runs.
DEPLOY_FLOWS = [Deploy, Destroy] if PROGRAM else []
