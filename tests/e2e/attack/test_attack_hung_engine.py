"""A policy engine that hangs: gated actions are refused in time, everything else does not notice, and the process ends."""
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.http_client import Http
from support.jobs import MACHINE
from support.wait import wait_until

pytestmark = pytest.mark.attack
HANGS = {"at its start": "trap '' TERM; sleep 1000 & wait; sleep 1000",
         "with children": "trap '' TERM; (trap '' TERM; exec sleep 1000) & (exec sleep 1000) & wait; sleep 1000"}


def hanging_engine(scratch, script):
    path = scratch / "engine"
    path.write_text("#!/bin/sh\n" + script + "\n")
    path.chmod(0o755)
    return path


@pytest.fixture(params=HANGS)
def hung(request, make_instance, scratch):
    instance = make_instance(start=False, env={"POLICY_BINARY": str(hanging_engine(scratch, HANGS[request.param]))})
    instance.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy")
    return instance.start()


def test_gated_callers_are_refused_together_and_others_do_not_notice(hung, figures):
    root = hung.login("root")
    gated, free, ready = (figures(f"beside a hung engine: {what}") for what in ("gated deploy", "un-gated deploy", "/readyz"))
    with ThreadPoolExecutor(24) as pool:
        refused = [pool.submit(gated.time, lambda: root.post("/api/cloud1/deploy", MACHINE)) for _ in range(16)]
        done = threading.Event()
        for _ in range(60):
            assert free.time(lambda: root.post("/api/cloud2/deploy", MACHINE)).status == 200
            assert ready.time(lambda: Http(hung.port).get("/readyz")).status == 200
        done.set()
        answers = [one.result() for one in refused]
    assert {a.status for a in answers} == {403}
    assert {tuple(a.json["detail"]) for a in answers} == {("error", "reasons")}
    for one in (gated, free, ready):
        one.print()
    assert max(gated.seconds) < 10, "sixteen callers wait for one build, not one after the other"


def test_sigterm_ends_the_process_during_a_build(hung):
    root = hung.login("root")
    caller = threading.Thread(target=lambda: root.post("/api/cloud1/deploy", MACHINE))
    caller.start()
    engine = hung.env["POLICY_BINARY"]
    wait_until(lambda: subprocess.run(["pgrep", "-f", engine], capture_output=True, check=False).stdout, what="the engine")
    hung.stop()
    caller.join()
    wait_until(lambda: not subprocess.run(["pgrep", "-f", engine], capture_output=True, check=False).stdout,
               what="the end of the engine's process group")
