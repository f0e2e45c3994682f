"""Mixed load and faults for a long time: every refusal is a typed one, and after the first minute nothing grows. On each database half
of SOAK_SECONDS (1200). The faults: the store fails or does not answer, the engine is killed, the disk of the data directory is full,
and PostgreSQL is restarted."""
import contextlib
import itertools
import os
import signal
import subprocess
import threading
import time
import uuid
from pathlib import Path

import pytest

from support.cloud_stores import store_settings
from support.databases import DATABASES, new_database
from support.failing_store import FailingStore
from support.http_client import Http
from support.instance import PASSWORD, sign_in
from support.jobs import MACHINE, executor
from support.memory import resident_kib
from support.postgres_server import PostgresServer, url_of
from support.storage import fetch, names, upload
from support.wait import wait_until

SECONDS = int(os.environ.get("SOAK_SECONDS", "1200")) // len(DATABASES)
DISK_MIB = 256
WARM_UP = 60
MIB = 1 << 20
TYPED = {200, 201, 202, 204, 400, 401, 403, 404, 409, 412, 413, 422, 429, 502, 503, 504}


def ended_or_refused(http, job_id):
    """The answer about a job, once it has ended or nobody takes it, or the refusal to answer."""
    answer = http.get(f"/api/jobs/{job_id}")
    return answer if answer.status != 200 or answer.json["status"] in ("completed", "failed", "pending") else None


class Load:
    """Clients that call until they are stopped, and what was wrong with an answer."""

    def __init__(self, one, token):
        self.one, self.token = one, token
        self.stop, self.wrong, self.calls, self.lock = threading.Event(), [], 0, threading.Lock()
        self.refused = set()  # statuses
        self.threads = [threading.Thread(target=self._run, args=(flow,)) for flow in (self.assets, self.decisions, self.jobs, self.people)]
        for thread in self.threads:
            thread.start()

    def _run(self, flow):
        http = Http(self.one.port, self.token)
        for n in itertools.count():
            if self.stop.is_set():
                return
            for answer in flow(http, n):
                with self.lock:
                    self.calls += 1
                    self.refused |= {answer.status} if answer.status >= 400 else set()
                    if answer.status not in TYPED or (answer.status >= 400 and not answer.json.get("detail")):
                        self.wrong.append(answer)

    def assets(self, http, n):
        name = f"a{n}-{uuid.uuid4().hex[:6]}.sh"
        yield upload(http, name, os.urandom(200_000))
        yield fetch(http, name)
        yield http.get("/api/storage/list")
        yield http.delete("/api/storage/asset/" + name)

    def decisions(self, http, n):
        yield http.post("/api/admission/check", {"action": "cloud1:vm:deploy", "request": MACHINE})
        yield http.get("/api/settings/admission")

    def jobs(self, http, n):
        made = http.post("/api/cloud1/deploy", MACHINE)
        yield made
        if made.status == 200:
            yield wait_until(lambda: ended_or_refused(http, made.json["job_id"]), what="the job")
        yield http.get("/api/jobs")

    def people(self, http, n):
        yield sign_in(self.one, "root", PASSWORD if n % 5 else "wrong")
        yield http.get("/api/audit")
        yield http.get("/api/auth/me")

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def engine_of(one):
    """The processes that the server started and that run the policy engine."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1]) == one.process.pid and b"run" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (OSError, IndexError):
            continue
    return found


def use_of(one):
    """(MiB resident, descriptors, threads)"""
    process = Path(f"/proc/{one.process.pid}")
    return resident_kib(one.process.pid) >> 10, len(list((process / "fd").iterdir())), len(list((process / "task").iterdir()))


@contextlib.contextmanager
def small_disk(folder):
    """A file system of its own at `folder`."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=755", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


class Faults:
    """What goes wrong with an instance, one after the other."""

    def __init__(self, one, store, database):
        self.one, self.store, self.database, self.filler = one, store, database, one.folder / "filler"
        self.kinds = {"the store fails": lambda: store.spoil(1, "500", True), "the store is silent": lambda: store.spoil(1, "no answer", True),
                      "the engine is killed": self.kill_engine, "the disk is full": self.fill}
        if database:
            self.kinds["the database is restarted"] = self.restart_database
        self.happened = dict.fromkeys(self.kinds, 0)
        self._order = itertools.cycle(self.kinds.items())

    def begin(self):
        name, act = next(self._order)
        act()
        self.happened[name] += 1

    def end(self):
        self.store.heal()
        self.filler.unlink(missing_ok=True)

    def kill_engine(self):
        for pid in engine_of(self.one):
            os.kill(pid, signal.SIGKILL)

    def restart_database(self):
        self.database.stop()
        self.database.start()

    def fill(self):
        with self.filler.open("wb", buffering=0) as out:
            for block in (b"x" * MIB, b"x" * 4096):
                with contextlib.suppress(OSError):
                    while out.write(block) == len(block):
                        pass


@pytest.fixture
def database(kind, scratch):
    """A PostgreSQL server of the test's own, or none."""
    made = PostgresServer.primary(scratch / "pg") if kind == "postgres" else None
    yield made
    if made:
        made.crash()


@pytest.fixture
def disk(scratch):
    with small_disk(scratch / "one") as folder:
        yield folder


def run_for(seconds, one, faults):
    """Samples of what the server uses, once it is warm."""
    begun, samples, pause = time.monotonic(), [], threading.Event()
    while (gone := time.monotonic() - begun) < seconds:
        faults.begin()
        pause.wait(2)
        faults.end()
        pause.wait(8)
        assert one.process.poll() is None, one.log[-20:]
        if gone > min(WARM_UP, seconds / 3):
            samples.append(use_of(one))
    return samples


def check_growth(samples):
    third = max(1, len(samples) // 3)
    for which, slack in ((0, 32), (1, 24), (2, 6)):
        early, late = (sorted(sample[which] for sample in part)[len(part) // 2] for part in (samples[:third], samples[-third:]))
        assert late <= early + slack, (which, samples)


@pytest.mark.long
@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")  # a caller who has stopped calling
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a disk of its own")
@pytest.mark.parametrize("kind", DATABASES)
def test_nothing_grows_and_every_error_is_typed(make_instance, scratch, s3_server, monkeypatch, capsys, kind, database, disk):
    for name, value in s3_server.items():
        monkeypatch.setenv(name, value)
    settings = store_settings("s3", scratch)
    store = FailingStore(settings["storage_obj_cloud1_endpoint"])
    one = make_instance(disk.name, start=False, env={"DASHCTL_DATABASE": url_of(database)} if database else new_database(kind))
    one.set(**{**settings, "storage_obj_cloud1_endpoint": store.url, "admission_control_enabled": "1"})
    executor(one, "cloud1-vm-deploy", "cat >/dev/null; echo done")
    one.start()
    root = one.login("root")
    faults, load = Faults(one, store, database), Load(one, root.token)
    try:
        samples = run_for(SECONDS, one, faults)
    finally:
        load.end()
        faults.end()
    with capsys.disabled():
        print(f"\n  soak on {kind}: {load.calls} calls in {SECONDS} s, {len(load.refused)} kinds of refusal {sorted(load.refused)}; "
              f"{faults.happened}; MiB, descriptors, threads: {samples[0]} first, {samples[-1]} last")
    assert load.wrong == [] and load.calls > SECONDS
    check_growth(samples)
    wait_until(lambda: names(root) is not None, what="a list")
    assert root.get("/api/audit/verify").json["ok"] is True
    one.stop()
    store.shutdown()
    store.server_close()
