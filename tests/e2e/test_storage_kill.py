"""Migrations and switches killed at counted bytes, again and again: nothing half-written is ever listed, every state is whole
on the side that the active backend names, and the same command completes the work. CRASH_SEED chooses other bytes."""
import hashlib
import json
import os
import random
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from support.holding_relay import HoldingRelay
from support.program import BINARY, clean_environment
from support.s3_bucket import Bucket
from support.wait import wait_until

SEED = int(os.environ.get("CRASH_SEED", "1"))
ROUNDS = [pytest.param(5), pytest.param(50, marks=pytest.mark.long)]


class Shop:
    """An instance that nobody serves, with a folder and a bucket behind a relay."""

    def __init__(self, make_instance, scratch, env):
        self.env, self.bucket = env, Bucket(env)
        self.relay = HoldingRelay(int(env["S3_ENDPOINT"].rsplit(":", 1)[1]))
        self.one = make_instance(start=False)
        self.folder = scratch / "store"
        self.folder.mkdir()
        self.one.set(storage_local_path=str(self.folder), **self.bucket.settings)
        self.one.set(storage_obj_cloud1_endpoint=self.relay.url)

    def kill_after(self, relay_point, *words):
        """Runs the command and kills it where the relay holds. Returns whether it was killed before its end."""
        relay_point()
        process = subprocess.Popen([BINARY, *words, "--data-dir", str(self.one.folder)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=clean_environment(self.one.env))
        wait_until(lambda: self.relay.is_held or process.poll() is not None, seconds=120, what="the point or the end")
        was_running = process.poll() is None
        process.kill()
        _, err = process.communicate()
        assert was_running or process.returncode == 0, err
        self.relay.sever()
        return was_running

    def measure(self, *words):
        """Runs the command; the bytes that went to the bucket and came back."""
        sent, received = self.relay.sent, self.relay.received
        self.run(*words)
        return self.relay.sent - sent, self.relay.received - received

    def run(self, *words):
        done = self.one.dashctl(*words, timeout=120)
        assert done.code == 0, done
        return done

    def point(self, chance, size):
        """A point of the relay, somewhere in as many bytes as the whole work takes."""
        sent, received = size
        if chance.random() < 0.5:
            at = chance.randrange(sent)
            return lambda: self.relay.hold_after(at)
        at = chance.randrange(received)
        return lambda: self.relay.hold_after_answers(at)


@pytest.fixture
def shop(make_instance, scratch, s3_server):
    made = Shop(make_instance, scratch, s3_server)
    yield made
    made.relay.close()


def digest(data):
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_migration_killed_anywhere_leaves_whole_assets_and_a_second_run_completes_it(shop, rounds):
    chance = random.Random(SEED)
    files = {"a.yml": chance.randbytes(20_000), "b.sh": chance.randbytes(1), "empty.yml": b"",
             "big.rpm": chance.randbytes((8 << 20) + 70_000)}
    whole = {name: digest(data) for name, data in files.items()}

    def in_folder():
        listed = shop.run("storage", "list", "--backend", "local", "--output", "json").json["items"]
        assert {item["name"] for item in listed} == {f.name for f in shop.folder.iterdir() if not f.name.startswith(".")}
        return {item["name"]: digest((shop.folder / item["name"]).read_bytes()) for item in listed}

    def in_bucket():
        return {key.removeprefix("config-mgmt/"): digest(shop.bucket.get(key)) for key in shop.bucket.keys()}

    def empty_folder():
        for file in shop.folder.iterdir():
            shutil.rmtree(file) if file.is_dir() else file.unlink()

    def empty_bucket():
        for key in shop.bucket.keys():
            shop.bucket.delete(key)

    for name, data in files.items():
        (shop.folder / name).write_bytes(data)
    ways = [(("local", "s3"), in_bucket, empty_bucket), (("s3", "local"), in_folder, empty_folder)]
    sizes = [shop.measure("storage", "migrate", *pair) for pair, _, empty in ways for _ in [empty()]]
    killed = 0
    for n in range(rounds):
        pair, stored, empty = ways[n % 2]
        empty()
        killed += shop.kill_after(shop.point(chance, sizes[n % 2]), "storage", "migrate", *pair)
        assert stored().items() <= whole.items(), n
        again = shop.run("storage", "migrate", *pair, "--output", "json").json
        assert sorted(again["copied"] + again["skipped"]) == sorted(files) and stored() == whole, n
    assert killed >= rounds // 2, "the points lie where nothing happens"


def state(job, serial, filler):
    return json.dumps({"version": 4, "serial": serial, "lineage": "l-" + job, "outputs": {}, "resources": [],
                       "filler": filler}).encode()


class Places:
    """The three places among which the state moves: the data folder and two buckets."""

    def __init__(self, shop):
        self.shop = shop
        self.other = Bucket(shop.env)
        self.deploy = Path(shop.one.folder) / "deploy"

    def active(self):
        backend = self.shop.run("config", "get", "storage_active_backend").out.strip()
        bucket = self.shop.run("config", "get", "storage_obj_cloud1_bucket").out.strip()
        return "local" if backend == "local" else bucket

    def words(self, to):
        """The command that makes `to` the active place, from any other."""
        if to == "local":
            return ["storage", "switch", "local", "--migrate-state"]
        if self.active() == "local":
            self.shop.run("config", "set", "storage_obj_cloud1_bucket", to)
            return ["storage", "switch", "s3", "--migrate-state"]
        return ["config", "set", "storage_obj_cloud1_bucket", to, "--migrate-state"]

    def states(self, at):
        """{job: bytes} of what stands there."""
        if at == "local":
            return {f.parent.name: f.read_bytes() for f in self.deploy.glob("*/terraform.tfstate")}
        bucket = next(one for one in (self.shop.bucket, self.other) if one.name == at)
        return {key.split("/")[1]: bucket.get(key) for key in bucket.keys() if key.startswith("iac-state/")}

    def write(self, at, states):
        for job, data in states.items():
            if at == "local":
                (self.deploy / job).mkdir(parents=True, exist_ok=True)
                (self.deploy / job / "terraform.tfstate").write_bytes(data)
            else:
                bucket = next(one for one in (self.shop.bucket, self.other) if one.name == at)
                bucket.put(f"iac-state/{job}/terraform.tfstate", data)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_switch_killed_anywhere_leaves_every_state_whole_on_the_side_that_is_active(shop, rounds):
    chance = random.Random(SEED)
    places = Places(shop)
    ring = [shop.bucket.name, places.other.name, "local"]
    jobs = [f"j{n}" for n in range(4)]
    killed = 0
    for n in range(rounds):
        at, to = ring[n % 3], ring[(n + 1) % 3]
        assert places.active() == at
        # Each deploy since the last switch has written another version.
        now = {job: state(job, n + 1, chance.randbytes(chance.randrange(1, 20_000)).hex()) for job in jobs}
        places.write(at, now)
        earlier = places.states(to)
        words = places.words(to)
        # Every state goes over the line once, or comes over it twice.
        in_all = sum(map(len, now.values()))
        point = shop.relay.hold_after_answers if to == "local" else shop.relay.hold_after
        killed += shop.kill_after(partial(point, chance.randrange(in_all)), *words)
        side = places.active()
        assert side in (at, to), n
        assert places.states(side) == now, (n, "the active side has every state, whole")
        for job, data in places.states(to).items():
            assert data in (now[job], earlier.get(job)), (n, "the other side has whole copies or its older ones")
        if side == at:
            shop.run(*places.words(to))
        assert places.active() == to and places.states(to) == now and places.states(at) == now, n
    assert killed >= rounds // 3, "the points lie where nothing happens"
