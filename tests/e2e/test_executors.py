"""Which of the operator's programs are run: those that only root and the server's user can change."""
import json

import pytest

from support.jobs import MACHINE, job
from support.wait import wait_until


def put_executor(folder, name="cloud1-vm-deploy", mode=0o755):
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    path = folder / name
    path.write_text("#!/bin/sh\necho made\n")
    path.chmod(mode)
    return path


def wait_for_message(http, job_id, text):
    return wait_until(lambda: text in job(http, job_id)["progress_message"], what=f"a message with {text!r}")


@pytest.mark.parametrize("what, mode, good", [("file", 0o775, "0755"), ("file", 0o757, "0755"), ("folder", 0o777, "0755"),
                                              ("folder", 0o770, "0750"), ("above", 0o777, "0755")])
def test_what_others_may_write_waits_until_its_mode_is_right(make_instance, scratch, what, mode, good):
    above = scratch / "above"
    above.mkdir(mode=0o755)
    one = make_instance(env={"DASHCTL_EXECUTOR_DIR": str(above / "deploy")})
    path = put_executor(above / "deploy")
    unsafe = {"file": path, "folder": path.parent, "above": above}[what]
    unsafe.chmod(mode)
    root = one.login("root")
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_for_message(root, job_id, f"{unsafe} may be written by others (mode {mode:04o}): chmod {good} {unsafe}")
    assert job(root, job_id)["status"] == "pending"
    done = one.dashctl("doctor", "--output", "json")
    named = {c["check"]: c for c in json.loads(done.out)["checks"]}["executor cloud1-vm-deploy"]
    assert done.code == 8 and named["state"] == "failed", done
    assert str(path) in named["message"] and f"chmod {good} {unsafe}" in named["message"]
    assert [e["path"] for e in one.events("jobs.executor_refused")] == [str(path)], "once, not at every look"
    unsafe.chmod(int(good, 8))
    wait_until(lambda: job(root, job_id)["status"] == "completed", what="the run")
    assert one.dashctl("doctor").code == 0


def test_a_sticky_folder_of_root_and_a_link_to_a_safe_file_are_safe(instance, root, scratch):
    path = put_executor(scratch / "programs", "make")  # below /tmp
    (instance.folder / "deploy").mkdir()
    (instance.folder / "deploy" / "aws-ec2-deploy").symlink_to(path)
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_until(lambda: job(root, job_id)["status"] == "completed", what="the run")
    (scratch / "programs").chmod(0o777)
    waits = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_for_message(root, waits, f"{scratch / 'programs'} may be written by others (mode 0777)")


def test_an_executor_that_is_missing_and_then_refused_says_what_is_true(instance, root):
    job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
    wait_for_message(root, job_id, "no executor for cloud1:vm:deploy")
    path = put_executor(instance.folder / "deploy", mode=0o775)
    wait_for_message(root, job_id, f"chmod 0755 {path}")
