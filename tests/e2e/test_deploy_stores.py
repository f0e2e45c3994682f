"""Deploys and destroys by the real program with their states on the clouds' stores, through the worker, which alone has the store's
credentials. Each store is a real server or a double of its protocol (scripts/doubles)."""
import random

import pytest

from support.cloud_stores import CLOUDS, store_settings
from support.deploys import (PROGRAM, WAITS, deploy, destroy, ended, kill_rounds, kill_the_program, log_of, no_program_is_left,
                             put_module, states)
from support.wait import wait_until

pytestmark = [pytest.mark.skipif(not PROGRAM, reason="no infrastructure program: scripts/setup iac builds one"), pytest.mark.long]


@pytest.fixture(params=sorted(CLOUDS))
def one(request, make_instance, scratch):
    made = make_instance(start=False, env={"IAC_BINARY": PROGRAM})
    made.set(**store_settings(request.param, scratch), job_lease_seconds="2")
    return made


def test_a_deploy_is_planned_applied_and_destroyed(one, scratch):
    marks = scratch / "marks"
    put_module(one.folder / "deploy", marks)
    root = one.start().login("root")
    made = ended(root, deploy(root))
    assert made["status"] == "completed" and made["plan"]["add"] == 1, (made, log_of(root, made["id"]))
    state = states(root)[made["id"]]
    assert state["resources"] == 1 and state["lock"] is None, state
    shown = root.get(f"/api/storage/state/{made['id']}").json
    assert "terraform_data.machine" in str(shown) and "hidden-web" not in str(shown), shown
    gone = ended(root, destroy(root, "web"))
    assert gone["status"] == "completed" and gone["plan"]["destroy"] == 1, (gone, log_of(root, gone["id"]))
    assert states(root)[made["id"]]["resources"] == 0 and states(root)[made["id"]]["lock"] is None
    assert not list((one.folder / "deploy").glob("*/terraform.tfstate")), "it lies on the store alone"


def test_a_program_that_is_killed_leaves_a_lock_with_a_name(one, scratch):
    marks = scratch / "marks"
    put_module(one.folder / "deploy", marks, WAITS)
    root = one.start().login("root")
    job_id = deploy(root)
    wait_until((marks / "up").exists, 60, "the provisioner")
    kill_the_program(one)
    done = ended(root, job_id)
    assert done["status"] == "failed" and done["signal"] == 9, done
    wait_until(lambda: no_program_is_left(one), what="the end of its children")
    lock = states(root)[job_id]["lock"]
    assert lock["id"] and lock["who"] and lock["operation"] == "OperationTypeApply", lock
    assert root.delete(f"/api/storage/state/{job_id}/lock?id={lock['id']}").status == 200
    left = states(root).get(job_id)  # nothing, where no state was written
    assert left is None or left["lock"] is None, left


def test_no_state_is_lost_when_the_server_is_killed(one, scratch):
    kill_rounds(one, scratch / "marks", 50, random.randrange(10**6))
