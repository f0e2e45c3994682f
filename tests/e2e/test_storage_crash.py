"""Client, instance and store killed at chosen points of an upload: what is listed is the old asset or the new one, whole, and
the same command brings the new one in. A point is a byte or a request on one of two relays, never a time; CRASH_SEED chooses
other bytes."""
import hashlib
import os
import random
import signal
import socket
import subprocess
import urllib.parse
import uuid
from pathlib import Path

import pytest

from support.holding_relay import HoldingRelay
from support.ports import free_port
from support.program import BINARY, clean_environment, run
from support.s3_bucket import Bucket
from support.storage import PART, people
from support.wait import wait_until
from support.doubles import start_double, stop_double

SEED = int(os.environ.get("CRASH_SEED", "1"))


def has_ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


class Double:
    """A test server of ours on a port of its own, which can be killed and started again on the same folder."""

    def __init__(self, name, folder):
        self.name, self.folder, self.port = name, folder, free_port()

    def start(self):
        return start_double(self.name, self.folder, self.port)

    def kill(self):
        pid = int((self.folder / f"{self.name}.pid").read_text().split()[0])
        os.killpg(pid, signal.SIGKILL)
        wait_until(lambda: has_ended(pid), seconds=120, what="the end of the killed server")
        (self.folder / f"{self.name}.pid").unlink()
        wait_until(self.is_port_free, seconds=120, what="the port of the killed server")

    def is_port_free(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) != 0

    def stop(self):
        stop_double(self.name, self.folder)


class S3:
    """The bucket behind `relay`, and the request that makes an upload an object."""
    # What it acknowledged it still has after a crash.
    may_forget = False

    def __init__(self, env, relay):
        bucket = Bucket(env)
        self.settings = bucket.settings | {"storage_obj_cloud1_endpoint": relay.url}
        self.commit = f"POST /{bucket.name}/config-mgmt/big.rpm?uploadId=".encode()


class Azure:
    # The test server keeps its own index in memory for a while: what it forgets in a crash, so that an earlier whole asset is
    # back, is not ours to keep.
    may_forget = True

    def __init__(self, env, relay):
        container = "e2e-" + uuid.uuid4().hex[:12]
        path = urllib.parse.urlsplit(env["AZURE_BLOB_ENDPOINT"]).path
        self.settings = {"storage_obj_cloud2_account": env["AZURE_STORAGE_ACCOUNT"],
                         "storage_obj_cloud2_account_key": env["AZURE_STORAGE_KEY"],
                         "storage_obj_cloud2_endpoint": relay.url + path, "storage_obj_cloud2_container": container,
                         "storage_active_backend": "obj_cloud2"}
        self.commit = f"PUT {path}/{container}/config-mgmt/big.rpm?comp=blocklist".encode()


STORES = {"s3": S3, "azure": Azure}
COMMIT = b"POST /api/storage/upload/commit"


class World:
    """A client, an instance and a store, with a relay on each line between them."""

    def __init__(self, name, scratch, make_instance):
        self.scratch = scratch
        self.double = Double(name, scratch / "double")
        self.to_store = HoldingRelay(self.double.port)
        self.store = STORES[name](self.double.start(), self.to_store)
        self.instance = people(make_instance(start=False), self.store.settings).instance
        self.to_instance = HoldingRelay(self.instance.port)
        self.env = {"XDG_STATE_HOME": str(scratch / "state")}
        (scratch / "token").write_text(self.instance.token("root"))

    def command(self, path):
        return ["storage", "upload", str(path), "--target", self.to_instance.url, "--token-file", str(self.scratch / "token")]

    def upload(self, path):
        return run(*self.command(path), env=self.env, timeout=600)

    def kill_in(self, path, relay, victim):
        """Begins an upload, kills `victim` where `relay` holds, and gives the client, if it is alive."""
        client = subprocess.Popen([BINARY, *self.command(path)], env=clean_environment(self.env), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        relay.wait_held()
        {"client": client, "instance": self.instance, "store": self.double}[victim].kill()
        self.to_instance.sever()
        self.to_store.sever()
        return client

    def restart(self, victim):
        if victim == "store":
            self.double.start()
        if victim == "instance":
            self.to_instance.upstream = self.instance.start().port

    def stored(self):
        """{name: SHA-256 of the content} of everything that is listed."""
        listing = self.instance.dashctl("storage", "list", "--output", "json", timeout=600)
        assert listing.code == 0, listing
        target = self.scratch / "got"
        got = self.instance.dashctl("storage", "fetch", "*", "-o", f"{target}/", timeout=600) if listing.json["items"] else None
        assert got is None or got.code == 0, got
        found = {}
        for item in listing.json["items"]:
            data = (target / item["name"]).read_bytes()
            assert len(data) == item["size"]
            found[item["name"]] = hashlib.sha256(data).hexdigest()
        return found

    def close(self):
        self.to_instance.close()
        self.to_store.close()
        self.double.stop()


@pytest.fixture(params=STORES)
def world(request, scratch, make_instance):
    made = World(request.param, scratch, make_instance)
    yield made
    made.close()


KILLS = [("client", "to_instance"), ("instance", "to_instance"), ("instance", "to_store"), ("store", "to_store")]
# In bytes of the file that went over, or about the commit.
POINTS = [0, 0.3, 0.6, 0.95, "commit is to be asked", "commit was answered"]


@pytest.mark.long
@pytest.mark.parametrize("victim, line", KILLS)
def test_a_kill_at_any_point_leaves_the_old_asset_or_the_new_one(world, victim, line):
    chance = random.Random(SEED)
    relay = getattr(world, line)
    commit = COMMIT if line == "to_instance" else world.store.commit
    old, earlier = None, set()
    path = world.scratch / "big.rpm"
    for point in POINTS:
        data = chance.randbytes(chance.randrange(2 * PART, 5 * PART))
        new = hashlib.sha256(data).hexdigest()
        path.write_bytes(data)
        if point == "commit is to be asked":
            relay.hold_request(commit)
        elif point == "commit was answered":
            relay.hold_answer(commit)
        else:
            relay.hold_after(int(len(data) * point))
        client = world.kill_in(path, relay, victim)
        there = {("big.rpm", new)} if point == "commit was answered" else {("big.rpm", old)} if old else set()
        if victim != "store":
            assert set(world.stored().items()) == there, point
        world.restart(victim)
        _, said = client.communicate(timeout=600)
        # It went on after the restart, or says why not; either way the same command brings the asset in.
        assert victim == "client" or client.returncode == 0 or said.strip(), point
        stored = set(world.stored().items())
        assert stored <= {("big.rpm", old), ("big.rpm", new)} | earlier, point
        assert stored or old is None or world.store.may_forget, point
        again = world.upload(path)
        assert again.code == 0, (point, again)
        assert world.stored() == {"big.rpm": new}, point
        if world.store.may_forget:
            earlier.add(("big.rpm", new))
        old = new


@pytest.mark.long
@pytest.mark.parametrize("victim, line", KILLS)
def test_many_small_files_killed_at_any_point_are_each_whole_or_absent(world, victim, line):
    chance = random.Random(SEED)
    files, sent = {}, 0
    for i in range(200):
        data = chance.randbytes(chance.randrange(1, 200_000))
        (world.scratch / f"s{i:03}.sh").write_bytes(data)
        files[f"s{i:03}.sh"] = hashlib.sha256(data).hexdigest()
        sent += len(data)
    relay = getattr(world, line)
    relay.hold_after(chance.randrange(sent))
    client = world.kill_in(world.scratch / "s*.sh", relay, victim)
    world.restart(victim)
    client.communicate(timeout=600)
    assert world.stored().items() <= files.items()
    assert world.upload(world.scratch / "s*.sh").code == 0
    assert world.stored() == files
