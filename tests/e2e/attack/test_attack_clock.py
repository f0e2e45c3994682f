"""A clock that was wrong and is put right: what was issued meanwhile neither holds nobody out nor outlives its term.

libfaketime moves the wall clock of the whole process; the steady clock stays, as on a machine whose clock is set."""
import os
import signal

import pytest

from support.cloud_stores import store_settings
from support.http_client import Http
from support.instance import PASSWORD, sign_in
from support.jobs import MACHINE, executor, job
from support.storage import PART, begin, put
from support.wait import wait_until

pytestmark = pytest.mark.attack
LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
AHEAD, BACK = "+365d", "-365d"


def clock(offset):
    return {"LD_PRELOAD": LIBRARY, "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def put_right(instance):
    """Ends the process whose clock is wrong and starts one whose clock is right."""
    instance.stop()
    for name in clock(AHEAD):
        instance.env.pop(name)
    return instance.start()


@pytest.fixture(params=[AHEAD, BACK])
def wrong(request, make_instance, database):
    """A running instance whose clock is a year ahead or back, with ann."""
    instance = make_instance(start=False, env={**database, **clock(request.param)})
    instance.add_user("ann", workgroups=["web"])
    return instance.start()


def test_failed_logins_of_a_wrong_clock_lock_nobody_out(wrong):
    for _ in range(15):
        last = sign_in(wrong, "ann", "no")
    assert last.status == 429, last
    put_right(wrong)
    assert sign_in(wrong, "ann", PASSWORD).status == 200


def test_a_session_of_a_wrong_clock_is_over(wrong):
    token = sign_in(wrong, "ann", PASSWORD).json["access_token"]
    put_right(wrong)
    assert Http(wrong.port, token).get("/api/auth/me").status == 401


def test_an_upload_handle_of_a_wrong_clock_is_refused(wrong, scratch):
    wrong.set(**store_settings("azure", scratch))  # an S3 store looks at the clock itself
    handle = begin(wrong.login("ann"), "a.rpm", PART)["handle"]
    put_right(wrong)
    answer = put(wrong.login("ann"), handle, 1, b"x" * PART)
    assert answer.status == 400, answer


def test_a_lease_of_a_wrong_clock_holds_no_job(wrong, scratch):
    started = scratch / "started"
    executor(wrong, "cloud1-vm-deploy", f"touch {started}; exec sleep 600")
    job_id = wrong.login("root").post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_until(started.exists, what="the executor")
    wrong.process.send_signal(signal.SIGKILL)
    wrong.process.wait()
    wrong.process = None
    for name in clock(AHEAD):
        wrong.env.pop(name)
    wrong.start()
    root = wrong.login("root")
    done = wait_until(lambda: (lambda j: j if j["status"] != "running" else None)(job(root, job_id)), seconds=120,
                      what="the end of the lost job")
    assert done["status"] in ("failed", "pending"), done


def test_the_library_moves_the_clock(make_instance):
    """Without this the others would pass for nothing."""
    assert os.path.exists(LIBRARY), "install libfaketime"
    instance = make_instance(env=clock(AHEAD))
    years = lambda: {entry["at"][:4] for entry in instance.login("root").get("/api/audit").json["entries"]}
    wrong_years = years()
    put_right(instance)
    assert len(years() | wrong_years) > 1, wrong_years
