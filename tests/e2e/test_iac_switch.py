"""Infrastructure state of the real program, with its own backends and locks, follows every switch of the active backend: plans
are clean wherever the program has a backend, a switch during an apply is refused, and a switch that is killed at any byte leaves
every state whole on the side that the active backend names. CRASH_SEED chooses other bytes."""
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile

import pytest

from support.cloud_stores import store_settings
from support.doubles import start_double, stop_double
from support.iac import WAITING, Deployment
from support.program import BINARY, clean_environment
from support.relay import Relay
from support.store_objects import objects_of
from support.wait import wait_until

BACKEND = {"s3": "obj_cloud1", "azure": "obj_cloud2", "gcs": "obj_cloud3", "oci": "obj_cloud4", "local": "local"}
NATIVE = ("s3", "gcs", "local")  # the program's own backends that run against a test server
SEED = int(os.environ.get("CRASH_SEED", "1"))


@pytest.fixture(scope="module", autouse=True)
def gcs_server():
    """One that also answers reads of the XML API, as the program's library makes them."""
    folder = tempfile.mkdtemp(prefix="iac-", dir="/tmp")
    with pytest.MonkeyPatch.context() as patch:
        try:
            for name, value in start_double("gcs", folder).items():
                patch.setenv(name, value)
            yield
        finally:
            stop_double("gcs", folder)
            shutil.rmtree(folder, ignore_errors=True)


class World:
    """An instance with every kind of store configured; the first named is the active backend."""

    def __init__(self, instance, scratch, kinds):
        self.instance, self.scratch = instance, scratch
        self.settings = {kind: store_settings(kind, scratch) for kind in kinds}
        for kind in reversed(kinds):
            instance.set(**self.settings[kind])
        self.made = 0

    def deployment(self, kind, job="j1", **more):
        self.made += 1
        return Deployment(self.scratch / f"module-{self.made}", self.settings[kind], job, self.instance.folder, **more)

    def switch(self, kind, *flags):
        return self.instance.dashctl("storage", "switch", BACKEND[kind], *flags, "--output", "json")

    def states(self):
        listed = json.loads(self.instance.dashctl("storage", "state", "list", "--output", "json").out)
        return {item["job"]: item for item in listed["items"]}


def test_a_state_follows_every_switch_and_is_destroyed_at_the_end(make_instance, scratch):
    world = World(make_instance(start=False), scratch, list(BACKEND))
    first = world.deployment("s3")
    first.apply()
    assert first.plan() == 0
    word = "first"
    for kind in ("gcs", "azure", "local", "oci", "s3"):
        refused = world.switch(kind)
        assert refused.code == 12 and "migrate_iac_state=true" in refused.out, refused
        serial = world.states()["j1"]["serial"]
        done = world.switch(kind, "--migrate-state")
        assert done.code == 0, done
        left, = json.loads(done.out)["iac_state_left"]
        assert left["key"].startswith(("iac-state/j1/", "deploy/j1/"))
        assert world.states()["j1"]["serial"] == serial and world.states()["j1"]["lock"] is None
        if kind in NATIVE:
            there = world.deployment(kind)
            assert there.plan(word) == 0
            assert there.plan("other") == 2
            word = f"from {kind} {serial}"
            there.apply(word)  # what was left behind elsewhere is older from now on
    there.destroy()
    assert world.states()["j1"]["resources"] == 0


@pytest.mark.parametrize("kind", NATIVE)
def test_a_switch_during_an_apply_is_refused(kind, make_instance, scratch):
    others = [k for k in ("s3", "local") if k != kind]
    world = World(make_instance(start=False), scratch, [kind, *others])
    slow = world.deployment(kind, module=WAITING)
    applying = slow.start("apply", "-auto-approve")
    try:
        wait_until((slow.folder / "at").exists, what="the apply")
        refused = world.switch(others[0], "--migrate-state")
        assert refused.code == 12 and "j1" in refused.out, refused
        lock = world.states()["j1"]["lock"]
        assert lock["operation"] == "OperationTypeApply" and "@" in lock["who"] and lock["id"], lock
        assert lock["id"] in refused.out and lock["who"] in refused.out
        if kind == "local":
            assert world.instance.dashctl("storage", "state", "unlock", "j1", lock["id"]).code == 12
    finally:
        (slow.folder / "go").touch()
        out, _ = applying.communicate(timeout=120)
    assert applying.returncode == 0, out
    assert world.states()["j1"]["lock"] is None
    assert world.switch(others[0], "--migrate-state").code == 0


def test_a_lock_that_a_killed_apply_left_is_ended_by_its_id(make_instance, scratch):
    world = World(make_instance(start=False), scratch, ["gcs", "local"])
    slow = world.deployment("gcs", module=WAITING)
    applying = slow.start("apply", "-auto-approve")
    wait_until((slow.folder / "at").exists, what="the apply")
    applying.send_signal(signal.SIGKILL)
    (slow.folder / "go").touch()
    applying.communicate(timeout=120)
    lock = world.states()["j1"]["lock"]
    assert world.switch("local", "--migrate-state").code == 12
    assert world.instance.dashctl("storage", "state", "unlock", "j1", lock["id"]).code == 0
    world.deployment("gcs").apply()
    assert world.switch("local", "--migrate-state").code == 0


class KilledSwitch:
    """Two states on S3 and a switch to GCS, both behind relays that count bytes and kill."""

    def __init__(self, instance, scratch):
        self.world = World(instance, scratch, ["s3", "gcs"])
        self.objects = {k: objects_of(k, s, scratch) for k, s in self.world.settings.items()}
        self.expected = {}
        for job in ("j1", "j2"):
            self.world.deployment("s3", job).apply(job)
        self.jobs = {key.split("/")[1]: data for key, data in self.objects["s3"].all().items()}
        assert set(self.jobs) == {"j1", "j2"}
        self.relays = {}
        for kind, setting in (("s3", "storage_obj_cloud1_endpoint"), ("gcs", "storage_obj_cloud3_endpoint")):
            self.relays[kind] = Relay(int(self.world.settings[kind][setting].rsplit(":", 1)[1]))
            instance.set(**{setting: self.relays[kind].url})

    def active(self):
        return self.world.instance.dashctl("config", "get", "storage_active_backend").out.strip()

    def start(self):
        return subprocess.Popen([BINARY, "storage", "switch", "obj_cloud3", "--migrate-state", "--data-dir",
                                 self.world.instance.folder], env=clean_environment(self.world.instance.env), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def check(self):
        """Every state is whole where the active backend says, and nowhere is a part of one."""
        side = {"obj_cloud1": "s3", "obj_cloud3": "gcs"}[self.active()]
        held = {kind: {key.split("/")[1]: data for key, data in objects.all().items()}
                for kind, objects in self.objects.items()}
        assert held[side] == self.jobs
        for kind, states in held.items():
            for job, data in states.items():
                assert data == self.jobs[job], (kind, job)
        return side

    def reset(self):
        """Back to the source, with nothing at the target."""
        def is_back():
            return self.active() == "obj_cloud1" or self.world.switch("s3", "--migrate-state").code == 0

        wait_until(is_back, seconds=120, what="the switch back")
        for key in self.objects["gcs"].all():
            self.objects["gcs"].delete(key)

    def bytes_of_a_switch(self, kind):
        self.relays[kind].count()
        process = self.start()
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out
        counted = self.relays[kind].count()
        assert self.check() == "gcs"
        self.reset()
        return counted

    def kill_at(self, kind, limit):
        """Returns whether it was killed. One that ends before that byte has done its work."""
        process = None

        def is_over():
            # What an earlier one that was killed had taken ends by itself.
            nonlocal process
            self.relays[kind].at(limit, lambda: process.kill())
            process = self.start()
            process.out, _ = process.communicate(timeout=120)
            return process.returncode != 12

        wait_until(is_over, seconds=120, what="a switch that may begin")
        self.relays[kind].count()
        assert process.returncode in (0, -signal.SIGKILL), process.out
        return process.returncode != 0


def killed_rounds(make_instance, scratch, rounds):
    chosen = random.Random(SEED)
    switch = KilledSwitch(make_instance(start=False), scratch)
    counted = {kind: switch.bytes_of_a_switch(kind) for kind in switch.relays}
    killed = 0
    for n in range(rounds):
        kind = ("gcs", "s3")[n % 2]
        # Even parts of the whole, so that every stage is met; the byte within one is chosen by the seed.
        part = counted[kind] / rounds
        killed += switch.kill_at(kind, int(part * n + chosen.random() * part))
        switch.check()
        switch.reset()
    assert killed >= rounds * 0.8
    # What is left is as good as new.
    assert switch.bytes_of_a_switch("gcs") > 0
    for job in ("j1", "j2"):
        there = switch.world.deployment("s3", job)
        assert there.plan(job) == 0


def test_a_switch_that_is_killed_leaves_every_state_whole(make_instance, scratch):
    killed_rounds(make_instance, scratch, 3)


@pytest.mark.long
def test_a_switch_that_is_killed_at_any_byte_leaves_every_state_whole(make_instance, scratch):
    killed_rounds(make_instance, scratch, 50)
