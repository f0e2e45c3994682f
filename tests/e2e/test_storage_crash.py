"""Client, instance and store killed at random moments of an upload: what is listed is the old asset or the new one, whole, and
the same command brings the new one in."""
import hashlib
import os
import random
import re
import signal
import socket
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from conftest import BINARY, clean_environment, free_port, run, wait_until
from s3_bucket import Bucket
from test_storage import people

DOUBLES = Path(__file__).resolve().parents[2] / "scripts/doubles"
PART = 8 << 20
ROUNDS = 12


class Double:
    """A test server of ours on a port of its own, which can be killed and started again on the same folder."""

    def __init__(self, name, folder):
        self.name, self.folder, self.port = name, folder, free_port()

    def start(self):
        done = subprocess.run([DOUBLES / f"{self.name}.sh", "start", self.folder, str(self.port)], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        return dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", done.stdout, re.M))

    def kill(self):
        pid = int((self.folder / f"{self.name}.pid").read_text().split()[0])
        os.killpg(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
            time.sleep(0.01)
        (self.folder / f"{self.name}.pid").unlink()
        wait_until(self.is_port_free, what="the port of the killed server")

    def is_port_free(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) != 0

    def stop(self):
        subprocess.run([DOUBLES / f"{self.name}.sh", "stop", self.folder], capture_output=True, check=False)


def s3_settings(env):
    return Bucket(env).settings


def azure_settings(env):
    return {"storage_obj_cloud2_account": env["AZURE_STORAGE_ACCOUNT"], "storage_obj_cloud2_account_key": env["AZURE_STORAGE_KEY"],
            "storage_obj_cloud2_endpoint": env["AZURE_BLOB_ENDPOINT"],
            "storage_obj_cloud2_container": "e2e-" + uuid.uuid4().hex[:12], "storage_active_backend": "obj_cloud2"}


STORES = {"s3": s3_settings, "azure": azure_settings}


class World:
    def __init__(self, name, scratch, make_instance):
        self.scratch = scratch
        self.double = Double(name, scratch / "double")
        settings = STORES[name](self.double.start())
        # The test server keeps its own index in memory for a while: what it forgets in a crash, so that an earlier whole asset
        # is back, is not ours to keep.
        self.may_forget = name == "azure"
        self.actors = people(make_instance(start=False), settings)
        self.instance = self.actors.instance
        self.port = self.instance.port
        self.env = {"XDG_STATE_HOME": str(scratch / "state")}
        (scratch / "token").write_text(self.instance.token("root"))

    def upload(self, path):
        return [BINARY, "storage", "upload", str(path), "--target", f"http://127.0.0.1:{self.port}",
                "--token-file", str(self.scratch / "token")]

    def restart(self, victim):
        if victim == "store":
            self.double.start()
        if victim == "instance":
            self.instance.log = []
            self.instance.start("--listen", f"127.0.0.1:{self.port}")

    def stored(self):
        """{name: SHA-256 of the content} of everything that is listed."""
        listing = self.instance.dashctl("storage", "list", "--output", "json")
        assert listing.code == 0, listing
        found = {}
        for item in listing.json["items"]:
            target = self.scratch / "got"
            got = self.instance.dashctl("storage", "fetch", item["name"], "-o", target)
            assert got.code == 0, got
            data = target.read_bytes()
            assert len(data) == item["size"]
            found[item["name"]] = hashlib.sha256(data).hexdigest()
        return found


@pytest.fixture(params=STORES)
def world(request, scratch, make_instance):
    made = World(request.param, scratch, make_instance)
    yield made
    made.double.stop()


@pytest.mark.long
def test_a_kill_at_any_moment_leaves_the_old_asset_or_the_new_one(world):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    old, earlier = None, set()
    for number in range(ROUNDS):
        victim = ("client", "instance", "store")[number % 3]
        data = chance.randbytes(chance.randrange(2 * PART, 9 * PART))
        new = hashlib.sha256(data).hexdigest()
        path = world.scratch / "big.rpm"
        path.write_bytes(data)
        client = subprocess.Popen(world.upload(path), env=clean_environment(world.env), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        time.sleep(chance.uniform(0, 1.0))
        where = f"seed {seed}, round {number}, {victim} killed"
        if victim == "client":
            client.kill()
        elif victim == "instance":
            world.instance.kill()
        else:
            world.double.kill()
        if victim != "store":
            assert set(world.stored().items()) <= {("big.rpm", old), ("big.rpm", new)} | earlier, where
        world.restart(victim)
        _, said = client.communicate(timeout=180)
        # It went on after the restart, or says why not; either way the same command brings the asset in.
        assert victim == "client" or client.returncode == 0 or said.strip(), where
        allowed = {("big.rpm", old), ("big.rpm", new)} | earlier
        stored = set(world.stored().items())
        assert stored <= allowed and (stored or old is None or world.may_forget), where
        again = run(*world.upload(path)[1:], env=world.env, timeout=180)
        assert again.code == 0, (where, again)
        assert world.stored() == {"big.rpm": new}, where
        if world.may_forget:
            earlier.add(("big.rpm", new))
        old = new


@pytest.mark.long
def test_many_small_files_killed_at_any_moment_are_each_whole_or_absent(world):
    chance = random.Random(7)
    files = {}
    for i in range(200):
        data = chance.randbytes(chance.randrange(1, 200_000))
        (world.scratch / f"s{i:03}.sh").write_bytes(data)
        files[f"s{i:03}.sh"] = hashlib.sha256(data).hexdigest()
    for victim in ("client", "instance", "store"):
        client = subprocess.Popen(world.upload(world.scratch / "s*.sh"), env=clean_environment(world.env),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.1, 0.5))
        {"client": client, "instance": world.instance, "store": world.double}[victim].kill()
        world.restart(victim)
        client.wait(timeout=180)
        assert world.stored().items() <= files.items()
        assert run(*world.upload(world.scratch / "s*.sh")[1:], env=world.env, timeout=180).code == 0
        assert world.stored() == files
