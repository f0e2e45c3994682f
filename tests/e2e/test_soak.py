"""Mixed load and faults for a long time: every refusal is a typed one, and after the first minute nothing grows.
SOAK_SECONDS (1200) says how long."""
import itertools
import os
import signal
import threading
import time
import uuid
from pathlib import Path

import pytest

from support.cloud_stores import store_settings
from support.failing_store import FailingStore
from support.http_client import Http
from support.instance import PASSWORD, sign_in
from support.jobs import MACHINE, executor, wait_for
from support.storage import fetch, names, upload
from support.wait import wait_until

SECONDS = int(os.environ.get("SOAK_SECONDS", "1200"))
WARM_UP = 60
MIB = 1 << 20
TYPED = {200, 201, 202, 204, 400, 401, 403, 404, 409, 412, 413, 422, 429, 502, 503, 504}


class Load:
    """Clients that call until they are stopped, and what was wrong with an answer."""

    def __init__(self, one, token):
        self.one, self.token = one, token
        self.stop, self.wrong, self.calls, self.lock = threading.Event(), [], 0, threading.Lock()
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
            wait_for(http, made.json["job_id"], "completed", "failed", "pending")
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
    resident = next(int(line.split()[1]) for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS:"))
    return resident >> 10, len(list((process / "fd").iterdir())), len(list((process / "task").iterdir()))


@pytest.mark.long
def test_nothing_grows_and_every_error_is_typed(make_instance, scratch, s3_server, monkeypatch, capsys):
    for name, value in s3_server.items():
        monkeypatch.setenv(name, value)
    settings = store_settings("s3", scratch)
    store = FailingStore(settings["storage_obj_cloud1_endpoint"])
    one = make_instance(start=False)
    one.set(**{**settings, "storage_obj_cloud1_endpoint": store.url, "admission_control_enabled": "1"})
    executor(one, "cloud1-vm-deploy", "cat >/dev/null; echo done")
    one.start()
    root = one.login("root")
    load, begun, samples = Load(one, root.token), time.monotonic(), []
    faults = itertools.cycle([lambda: store.spoil(1, "500", True), lambda: store.spoil(1, "no answer", True),
                              lambda: [os.kill(pid, signal.SIGKILL) for pid in engine_of(one)]])
    pause = threading.Event()
    try:
        while (gone := time.monotonic() - begun) < SECONDS:
            next(faults)()
            pause.wait(2)
            store.heal()
            pause.wait(8)
            assert one.process.poll() is None, one.log[-20:]
            if gone > min(WARM_UP, SECONDS / 3):
                samples.append(use_of(one))
    finally:
        load.end()
        store.heal()
    with capsys.disabled():
        print(f"\n  soak: {load.calls} calls in {SECONDS} s; MiB, descriptors, threads: {samples[0]} first, {samples[-1]} last")
    assert load.wrong == [] and load.calls > SECONDS
    third = max(1, len(samples) // 3)
    for which, slack in ((0, 32), (1, 24), (2, 6)):
        early, late = (sorted(sample[which] for sample in part)[len(part) // 2] for part in (samples[:third], samples[-third:]))
        assert late <= early + slack, (which, samples)
    wait_until(lambda: names(root) is not None, what="a list")
    assert root.get("/api/audit/verify").json["ok"] is True
    store.shutdown()
    store.server_close()
