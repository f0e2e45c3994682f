"""Instances whose store fails when it is told to, and the sweep that fails each call of a flow. Several instances of each kind of
store work side by side, since most of a sweep is waiting for retries."""
import concurrent.futures
import contextlib
import itertools
import json
import os
import queue
import re
import shutil
import threading
import urllib.parse
import uuid

from support.cloud_stores import share, store_settings
from support.deploys import PROGRAM
from support.failing_folder import FailingFolder
from support.failing_share import FailingShare
from support.failing_store import FailingStore
from support.http_client import Http
from support.instance import Instance
from support.storage import upload
from support.store_objects import objects_of

BACKEND = {"s3": "obj_cloud1", "azure": "obj_cloud2", "gcs": "obj_cloud3", "oci": "obj_cloud4", "smb": "local", "folder": "local"}
CLOUDS = [kind for kind, backend in BACKEND.items() if backend != "local"]
SECRETS = ["cloud1_secret_access_key", "storage_obj_cloud2_account_key", "cloud3_service_account_json", "cloud4_private_key",
           "storage_local_password"]
HONEST = {403, 404, 409, 500, 502, 503, 504}  # of a call to a store; 500 only with a sentence of the store's


class DescribedHttp(Http):
    """A client whose every answer must be one that the description of the API gives that operation."""

    def __init__(self, port, token, description):
        super().__init__(port, token)
        self.operations = {(method.upper(), re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path) + r"(\?.*)?")): set(operation["responses"])
                           for path, operations in description["paths"].items()
                           for method, operation in operations.items() if method != "parameters"}

    def request(self, method, path, *args, **kw):
        answer = super().request(method, path, *args, **kw)
        described = [statuses for (of, pattern), statuses in self.operations.items() if of == method and pattern.fullmatch(path)]
        assert any(str(answer.status) in statuses for statuses in described), f"not described: {method} {path}: {answer}"
        return answer


class World:
    """An instance on a store that can fail, with a folder beside it."""

    def __init__(self, kind, scratch):
        self.kind, self.backend, self.scratch = kind, BACKEND[kind], scratch
        self.agent = None  # an enrolled one, once a flow has needed it
        self.objects, self.env = None, {"IAC_BINARY": PROGRAM or ""}
        settings = {"smb": self._settings_of_share, "folder": self._settings_of_folder}.get(kind, self._settings_of_cloud)()
        self.secrets = [line.encode() for key in SECRETS for line in settings.get(key, "").replace("\\n", "\n").splitlines()
                        if len(line) > 8 and "PRIVATE KEY" not in line]
        self.one = Instance(scratch / "one", self.env)
        self.one.add_user("root", admin=True)
        self.one.set(**settings)
        self.one.start()
        self.root = self.client(self.one.login("root").token)

    def client(self, token=None):
        return DescribedHttp(self.one.port, token, self.one.anonymous.get("/api/openapi.json").json)

    def _settings_of_cloud(self):
        settings, endpoint = store_settings(self.kind, self.scratch), f"storage_{self.backend}_endpoint"
        self.objects = objects_of(self.kind, settings, self.scratch)
        self.store = FailingStore(settings[endpoint])
        self.folder = self.scratch / "folder"
        self.folder.mkdir()
        return {**settings, endpoint: self.store.url, "storage_local_path": str(self.folder)}

    def _settings_of_share(self):
        settings = share(os.environ)
        self.store = FailingShare(int(settings["storage_local_port"]))
        return {**settings, "storage_local_port": str(self.store.port), "storage_active_backend": "local"}

    def _settings_of_folder(self):
        (self.scratch / "store").mkdir()
        self.store = FailingFolder(self.scratch, self.scratch / "store")
        self.env |= self.store.env
        return {"storage_local_path": str(self.scratch / "store"), "storage_active_backend": "local"}

    def close(self):
        self.one.stop()
        self.store.close()
        self.check_told("\n".join(self.one.log).encode())

    def clear(self):
        """Leaves nothing on the store."""
        if not self.objects:
            for item in self.root.get("/api/storage/list").json["items"]:
                self.root.delete("/api/storage/asset/" + item["name"])
            return
        for key in self.objects.all():
            self.objects.delete(key)

    def reset(self):
        """After a flow that went wrong, so that it is the only one."""
        if self.objects:
            self.root.patch("/api/storage/config", {"storage_active_backend": self.backend, "abandon_iac_state": True})
        self.clear()
        for folder in (self.one.folder / "deploy").glob("j*"):
            shutil.rmtree(folder)

    def check_told(self, said):
        """No secret of the store is among what was said."""
        assert not [secret for secret in self.secrets if secret in said], said

    def content(self, name):
        """What is under this name; None when nothing is."""
        query = urllib.parse.urlencode({"name": name, "raw": "1", "backend": self.backend})
        answer = self.root.get("/api/storage/fetch?" + query)
        assert answer.status in (200, 404), answer
        return answer.body if answer.status == 200 else None


class Flow:
    """One use of the store. act() is what is spoiled, check() what must hold then, with the store healed. `before` is what stands
    under the name at first, `new` what stands there when act() said that it succeeded."""
    before, new = None, None
    gone = ()  # answers of a second try to a flow whose first try did its work and did not know it

    def __init__(self, world):
        self.world, self.root, self.name = world, world.root, f"a{uuid.uuid4().hex[:10]}.sh"
        if self.before is not None:
            assert upload(world.root, self.name, self.before).status in (200, 201)

    def succeeded(self, answer):
        return answer.status < 300

    def check(self, answer):
        self.check_honest(answer)
        self.check_found(answer, self.world.content(self.name))
        if not self.succeeded(answer):
            self.try_again()
        self.clean()

    def check_found(self, answer, found):
        allowed = (self.new,) if self.succeeded(answer) else (self.before, self.new)
        assert found in allowed, (answer, found and len(found))

    def check_honest(self, answer):
        assert answer.status < 300 or answer.status in HONEST, answer
        assert answer.status < 300 or answer.json["detail"], answer
        assert b"std::" not in answer.body and b"internal error" not in answer.body, answer
        self.world.check_told(answer.body)

    def try_again(self):
        answer = self.act()
        assert self.succeeded(answer) or answer.status in self.gone, answer
        assert self.world.content(self.name) == self.new, answer

    def clean(self):
        """Nothing stays, listed or not, and nothing else than this flow's was there."""
        left = self.root.delete("/api/storage/asset/" + self.name)
        assert left.status == (404 if self.new is None else 200), left
        listed = self.root.get("/api/storage/list")
        assert listed.status == 200 and listed.json["items"] == [], listed


class Worlds:
    """Worlds of each kind, at most `count` of one, made when they are first needed."""

    def __init__(self, make_folder, count):
        self.make_folder, self.count = make_folder, count
        self.lock = threading.Lock()
        self.free = {kind: queue.SimpleQueue() for kind in BACKEND}
        self.left = dict.fromkeys(BACKEND, count)
        self.made = []

    def _take(self, kind):
        with self.lock:
            makes = self.free[kind].empty() and self.left[kind] > 0
            self.left[kind] -= makes
            folder = self.make_folder(kind) if makes else None
        if not makes:
            return self.free[kind].get()
        self.made.append(World(kind, folder))
        return self.made[-1]

    @contextlib.contextmanager
    def world(self, kind):
        taken = self._take(kind)
        try:
            yield taken
        finally:
            taken.store.heal()
            self.free[kind].put(taken)

    def close(self):
        for world in self.made:
            world.close()

    def sweep(self, kinds, flows, faults, forevers):
        """Spoils each call of the flows on each kind of store; {(kind, flow's name): how many points that were}."""
        wanted = [(kind, flow) for flow in flows for kind in kinds]
        with concurrent.futures.ThreadPoolExecutor(len(kinds) * self.count) as pool:
            calls = dict(zip(wanted, pool.map(lambda of: self._calls_of(*of), wanted), strict=True))
            points = [(*of, n, fault, forever) for of in wanted for n in range(1, calls[of] + 1) for fault in faults for forever in forevers]
            # Kinds by turns, so that the worlds of all are at work.
            of_kind = [[point for point in points if point[0] == kind] for kind in kinds]
            mixed = [point for turn in itertools.zip_longest(*of_kind) for point in turn if point]
            failed = [said for said in pool.map(lambda point: self._spoil(*point), mixed) if said]
        assert not failed, f"{len(failed)} of {len(points)} points:\n" + "\n".join(failed[:5])
        return {(kind, flow.__name__): calls[kind, flow] * len(faults) * len(forevers) for kind, flow in wanted}

    def _calls_of(self, kind, flow):
        with self.world(kind) as world:
            whole = flow(world)
            world.store.heal()
            answer = whole.act()
            calls = world.store.heal()
            assert whole.succeeded(answer) and calls > 0, answer
            whole.check(answer)
            return calls

    def _spoil(self, kind, flow, n, fault, forever):
        """What was wrong at this point; None when nothing was."""
        with self.world(kind) as world:
            one = flow(world)
            world.store.spoil(n, fault, forever)
            try:
                answer = one.act()
                world.store.heal()
                one.check(answer)
            except (AssertionError, OSError) as e:
                world.store.heal()
                world.reset()
                return f"{kind}, {flow.__name__}, call {n}: {fault}{', and all later ones' if forever else ''}: {e}"
            return None


class Said:
    """What a command or a job said, as an answer is looked at."""

    def __init__(self, succeeded, document):
        self.status, self.json = 200 if succeeded else 502, document
        self.body = json.dumps(document).encode()

    def __repr__(self):
        return f"{self.status} {self.body!r}"
