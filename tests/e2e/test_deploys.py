"""Built-in deploys and destroys: a module, the infrastructure program, and the state on the active backend."""
import fcntl
import hashlib
import json
import random
import threading

import pytest

from support.deploys import (MACHINE_TF, MADE, PROGRAM, VARIABLES, WAITS, Gate, deploy, destroy, ended, kill_rounds,
                             kill_the_program, log_of, machine, no_program_is_left, put_module, states)
from support.jobs import executor, job
from support.wait import wait_until

pytestmark = pytest.mark.skipif(not PROGRAM, reason="no infrastructure program: scripts/setup iac builds one")

INTERRUPTED = ('"trap \'echo INT > \\"$MARKS/signal\\"; exit 1\' INT; echo up > \\"$MARKS/up\\"; sleep 60 & wait"')


@pytest.fixture
def marks(scratch):
    return scratch / "marks"


@pytest.fixture
def local(make_instance, scratch):
    """An instance whose states lie in its data folder."""
    one = make_instance(start=False, env={"IAC_BINARY": PROGRAM})
    (scratch / "assets").mkdir()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local", job_lease_seconds="2")
    return one


@pytest.fixture
def on_s3(make_instance, bucket):
    one = make_instance(start=False, env={"IAC_BINARY": PROGRAM})
    one.set(**bucket.settings, job_lease_seconds="2")
    return one


def test_a_deploy_keeps_its_state_on_the_bucket_and_is_destroyed_with_what_made_it(on_s3, bucket, marks):
    folder = put_module(on_s3.folder / "deploy", marks)
    root = on_s3.start().login("root")
    name = "$(touch x)"
    made = ended(root, deploy(root, name))
    assert made["status"] == "completed", (made, log_of(root, made["id"]))
    assert {k: made["plan"][k] for k in ("add", "change", "destroy")} == {"add": 1, "change": 0, "destroy": 0}
    assert len(made["plan"]["digest"]) == 64
    assert made["outputs"] == {"resource_id": made["resource_id"], "name": name, "password": None}
    assert made["resource_id"].startswith("i-") and made["exit_status"] == 0
    assert (marks / "made").read_text() == name
    key = f"iac-state/{made['id']}/terraform.tfstate"
    assert bucket.keys() == [key], "no lock is left"
    assert json.loads(bucket.get(key))["resources"]
    assert not list((on_s3.folder / "deploy-work").iterdir()) and not list(on_s3.folder.rglob("x"))
    database = b"".join(path.read_bytes() for path in on_s3.folder.glob("dashctl.db*"))
    assert b"hidden-$(touch x)" not in database and b"provisioner" not in database
    assert bucket.secret not in log_of(root, made["id"])

    (folder / "main.tf").unlink()  # the version that deployed is kept
    gone = ended(root, destroy(root, made["resource_id"]))
    assert gone["status"] == "completed", (gone, log_of(root, gone["id"]))
    assert gone["plan"]["destroy"] == 1 and (marks / "destroyed").read_text() == "gone\n"
    assert json.loads(bucket.get(key))["resources"] == []


def test_a_state_in_the_data_folder_is_warned_about(local, marks, scratch):
    put_module(local.folder / "deploy", marks)
    root = local.start().login("root")
    made = ended(root, deploy(root))
    assert made["status"] == "completed", (made, log_of(root, made["id"]))
    state = local.folder / "deploy" / made["id"] / "terraform.tfstate"
    assert json.loads(state.read_text())["resources"] and state.stat().st_mode & 0o77 == 0
    assert "deploy/" in made["warnings"][0] and "back it up" in made["warnings"][0]
    # Somebody runs the program by hand, natively: it locks the file.
    with state.open("r+") as held:
        fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        refused = ended(root, destroy(root, "web"))
        assert refused["status"] == "failed" and refused["reason"] == "state_locked", refused
        assert "is locked by a program on this machine" in refused["error_message"]
    gone = ended(root, destroy(root, "web"))
    assert gone["status"] == "completed", (gone, log_of(root, gone["id"]))
    assert states(root)[made["id"]]["resources"] == 0 and states(root)[made["id"]]["lock"] is None


def test_a_foreign_lock_on_the_bucket_fails_the_job_and_names_its_holder(on_s3, bucket, marks):
    put_module(on_s3.folder / "deploy", marks)
    root = on_s3.start().login("root")
    made = ended(root, deploy(root))
    lock = {"ID": "id-9", "Who": "ann@laptop", "Operation": "OperationTypeApply", "Created": "2026-01-01T00:00:00Z"}
    bucket.put(f"iac-state/{made['id']}/terraform.tfstate.tflock", json.dumps(lock).encode())
    refused = ended(root, destroy(root, "web"))
    assert refused["status"] == "failed" and "ann@laptop" in refused["error_message"] and "id-9" in refused["error_message"]
    assert not (marks / "destroyed").exists()


def test_a_module_without_a_variable_waits_and_doctor_says_why(local, marks, scratch):
    folder = put_module(local.folder / "deploy", marks, text=VARIABLES.replace('variable "image" { type = string }\n', ""))
    root = local.start().login("root")
    job_id = deploy(root)
    said = f"the module {folder} does not declare the variable image"
    wait_until(lambda: said in job(root, job_id)["progress_message"], what="the message")
    assert job(root, job_id)["status"] == "pending"
    checks = {c["check"]: c for c in json.loads(local.dashctl("doctor", "--output", "json").out)["checks"]}
    assert said in checks["module cloud1:vm:deploy"]["message"], checks
    put_module(local.folder / "deploy", marks)
    assert ended(root, job_id)["status"] == "completed"
    executor(local, "aws-ec2-deploy", "echo '{\"resource_id\": \"i-0f\"}'")
    ours = ended(root, deploy(root, "other"))
    assert ours["resource_id"] == "i-0f" and ours["plan"] is None, "an operator's executable wins"
    executor(local, "aws-ec2-destroy", "exit 1")
    (local.folder / "deploy" / "aws-ec2-destroy").unlink()
    nothing = ended(root, destroy(root, "unknown"))
    assert nothing["status"] == "failed" and nothing["reason"] == "no_state", nothing
    other = ended(root, destroy(root, "other"))
    assert other["reason"] == "no_state", "an executable made it"


SAYS = """
resource "terraform_data" "says" {
  provisioner "local-exec" {
    command     = "for n in $(seq 4030 4 4066); do printf '%0*d%s\\\\n' $n 0 \\"$TOKEN\\"; done; echo said \\"$TOKEN\\""
    environment = { TOKEN = nonsensitive(var.token) }
  }
}
"""


def test_a_member_becomes_a_variable_only_where_the_module_declares_it(local, marks):
    more = 'variable "disk_gb" { type = number }\nvariable "token" {\n  type      = string\n  sensitive = true\n}\n'
    folder = put_module(local.folder / "deploy", marks, text=MACHINE_TF % {"command": MADE, "marks": marks} + more
                        + SAYS + 'output "disk" { value = var.disk_gb }\noutput "said" { value = nonsensitive(sha256(var.token)) }\n')
    root = local.start().login("root")
    before = root.get("/api/jobs").json
    for member in ("disk_gbs", "tags", "DISK_GB"):
        refused = root.post("/api/cloud1/deploy", {**machine(), "disk_gb": 20, "token": "hidden-token-9", member: "x"})
        assert refused.status == 422 and member in refused.text, refused
    assert root.get("/api/jobs").json == before
    asked = root.post("/api/cloud1/deploy", {**machine(), "disk_gb": 20, "token": "hidden-token-9"})
    assert asked.status == 200, asked
    made = ended(root, asked.json["job_id"])
    assert made["status"] == "completed", (made, log_of(root, made["id"]))
    assert made["outputs"]["disk"] == 20 and made["outputs"]["said"] == hashlib.sha256(b"hidden-token-9").hexdigest()
    assert made["request"]["variables"]["disk_gb"] == 20
    database = b"".join(path.read_bytes() for path in local.folder.glob("dashctl.db*"))
    assert b"hidden-token-9" not in database and "hidden" not in json.dumps(made) + log_of(root, made["id"])
    assert "said ********" in log_of(root, made["id"]) and "0" * 4000 in log_of(root, made["id"])
    (folder / "old.tfstate").write_text("{}")
    waits = deploy(root, "late")
    refused = wait_until(lambda: (lambda j: j if "old.tfstate" in json.dumps(j) else None)(job(root, waits)), what="the refusal")
    assert refused["status"] in ("pending", "failed"), refused  # the latter where it was claimed at that very moment
    checks = {c["check"]: c["message"] for c in json.loads(local.dashctl("doctor", "--output", "json").out)["checks"]}
    assert "old.tfstate" in checks["module cloud1:vm:deploy"], checks


def test_a_cancel_interrupts_the_program_and_what_it_made_can_be_destroyed(local, marks):
    put_module(local.folder / "deploy", marks, INTERRUPTED)
    root = local.start().login("root")
    job_id = deploy(root)
    wait_until((marks / "up").exists, 60, "the provisioner")
    assert root.delete(f"/api/jobs/{job_id}").status == 200
    done = ended(root, job_id)
    assert done["status"] == "cancelled", (done, log_of(root, job_id))
    assert (marks / "signal").read_text() == "INT\n" and no_program_is_left(local)
    held = states(root)[job_id]
    assert held["resources"] == 1 and held["lock"] is None
    gone = ended(root, destroy(root, "web"))
    assert gone["status"] == "completed", (gone, log_of(root, gone["id"]))


def test_a_program_that_does_not_stop_is_killed_in_time(local, marks, scratch):
    deaf = scratch / "deaf"  # the real program, but for an apply that ignores every request to end
    deaf.write_text(f'#!/bin/sh\n[ "$1" = apply ] || exec {PROGRAM} "$@"\ntrap "" INT TERM\necho up > {marks}/up\n'
                    'while :; do sleep 1; done\n')
    deaf.chmod(0o755)
    local.env["IAC_BINARY"] = str(deaf)
    local.set(deploy_stop_seconds="1")
    put_module(local.folder / "deploy", marks)
    root = local.start().login("root")
    job_id = deploy(root)
    wait_until((marks / "up").exists, 60, "the apply")
    assert root.delete(f"/api/jobs/{job_id}").status == 200
    done = ended(root, job_id, 45)
    assert done["status"] == "cancelled" and done["signal"] == 9 and no_program_is_left(local), done
    assert any("resources that the state does not record may exist" in text for text in done["warnings"]), done


def test_the_program_of_the_settings_is_carried_and_never_run(local, marks, scratch):
    mine = scratch / "mine"
    mine.write_text(f"#!/bin/sh\ntouch {scratch}/ran\n")
    mine.chmod(0o755)
    local.set(terraform_executable=str(mine))
    put_module(local.folder / "deploy", marks)
    root = local.start().login("root")
    assert ended(root, deploy(root))["status"] == "completed" and not (scratch / "ran").exists()
    assert root.get("/api/setup/config").json["terraform_executable"] == str(mine)


def test_a_program_that_is_killed_leaves_a_lock_with_a_name_and_a_warning(local, marks):
    put_module(local.folder / "deploy", marks, WAITS)
    root = local.start().login("root")
    job_id = deploy(root)
    wait_until((marks / "up").exists, 60, "the provisioner")
    kill_the_program(local)
    done = ended(root, job_id)
    assert done["status"] == "failed" and done["signal"] == 9 and "killed" in done["error_message"], done
    assert any("resources that the state does not record may exist" in text for text in done["warnings"])
    wait_until(lambda: no_program_is_left(local), what="the end of its children")
    lock = states(root)[job_id]["lock"]
    assert lock["id"] and lock["who"] and lock["operation"] == "OperationTypeApply"
    assert root.delete(f"/api/storage/state/{job_id}/lock?id={lock['id']}").status == 200


def test_the_end_of_the_server_interrupts_the_program_and_the_state_is_whole(local, marks):
    put_module(local.folder / "deploy", marks, INTERRUPTED)
    root = local.start().login("root")
    job_id = deploy(root)
    wait_until((marks / "up").exists, 60, "the provisioner")
    local.stop()
    assert (marks / "signal").read_text() == "INT\n" and no_program_is_left(local)
    state = json.loads((local.folder / "deploy" / job_id / "terraform.tfstate").read_text())
    assert [resource["type"] for resource in state["resources"]] == ["terraform_data"], state
    root = local.start().login("root")
    done = job(root, job_id)
    assert done["status"] == "failed" and done["reason"] == "worker_lost" and "shut down" in done["error_message"], done
    assert states(root)[job_id]["lock"] is None and states(root)[job_id]["resources"] == 1
    gone = ended(root, destroy(root, "web"))
    assert gone["status"] == "completed", (gone, log_of(root, gone["id"]))


TWO = VARIABLES + '''
resource "terraform_data" "first" {}
resource "terraform_data" "second" {
  provisioner "local-exec" {
    when    = destroy
    command = "test -e %(marks)s/may-go"
  }
}
'''


def test_a_destroy_that_leaves_resources_is_failed_with_their_names(make_instance, scratch, marks):
    partial = scratch / "partial"  # the real program, but told to destroy one of the two
    partial.write_text(f'#!/bin/sh\n[ "$1" = plan ] && [ -e {marks}/partial ] && set -- "$@" -target=terraform_data.first\n'
                       f'exec {PROGRAM} "$@"\n')
    partial.chmod(0o755)
    one = make_instance(start=False, env={"IAC_BINARY": str(partial)})
    (scratch / "assets").mkdir()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    put_module(one.folder / "deploy", marks, text=TWO % {"marks": marks})
    root = one.start().login("root")
    made = ended(root, deploy(root))
    assert made["status"] == "completed", (made, log_of(root, made["id"]))
    failed = ended(root, destroy(root, "web"))
    assert failed["status"] == "failed" and failed["reason"] == "resources_left", failed
    assert "terraform_data.second" in failed["error_message"] and failed["exit_status"] == 1, failed
    (marks / "may-go").touch()
    (marks / "partial").touch()
    # The first has gone, so that the program has nothing to do, and says that all went well.
    left = ended(root, destroy(root, "web"))
    assert left["status"] == "failed" and left["reason"] == "resources_left" and left["exit_status"] == 0, left
    assert "terraform_data.second" in left["error_message"] and states(root)[made["id"]]["resources"] == 1
    (marks / "partial").unlink()
    gone = ended(root, destroy(root, "web"))
    assert gone["status"] == "completed" and states(root)[made["id"]]["resources"] == 0, gone


def test_a_destroy_that_is_asked_twice_at_once_happens_once(local, marks):
    put_module(local.folder / "deploy", marks)
    root = local.start("--workers", "4").login("root")
    made = ended(root, deploy(root))
    barrier = threading.Barrier(4)
    answers = []

    def ask():
        http = local.login("root")
        barrier.wait()
        answers.append(http.delete("/api/cloud1/instances/web"))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = [answer for answer in answers if answer.status == 200]
    assert taken and all(answer.status in (404, 409) for answer in answers if answer not in taken), answers
    done = [ended(root, answer.json["job_id"]) for answer in taken]
    assert "completed" in {one["status"] for one in done}, done
    assert all(one["status"] == "completed" or one["error_message"] for one in done), done
    assert (marks / "destroyed").read_text() == "gone\n"
    assert states(root)[made["id"]]["resources"] == 0 and states(root)[made["id"]]["lock"] is None
    assert no_program_is_left(local)


WAITS_FOR_GO = '"echo up > \\"$MARKS/up\\"; while [ ! -e \\"$MARKS/go\\" ]; do sleep 0.1; done"'


def test_a_state_that_could_not_be_written_is_kept_and_written_later(on_s3, bucket, marks):
    gate = Gate(int(bucket.endpoint.rsplit(":", 1)[1]))
    on_s3.set(storage_obj_cloud1_endpoint=gate.url)
    put_module(on_s3.folder / "deploy", marks, WAITS_FOR_GO)
    root = on_s3.start().login("root")
    job_id = deploy(root)
    wait_until((marks / "up").exists, 60, "the provisioner")
    gate.shut()
    (marks / "go").touch()
    done = ended(root, job_id, 180)
    assert done["status"] == "failed" and "save state" in done["error_message"], done
    assert any("tries again" in text for text in done["warnings"]), done
    assert b'"lineage"' not in b"".join(path.read_bytes() for path in on_s3.folder.glob("dashctl.db*")), "it is sealed"
    key = f"iac-state/{job_id}/terraform.tfstate"
    gate.open()
    wait_until(lambda: bucket.keys() == [key], 60, "the state without a lock")
    assert json.loads(bucket.get(key))["resources"]
    gone = ended(root, destroy(root, "web"))
    assert gone["status"] == "completed", (gone, log_of(root, gone["id"]))


def test_no_state_is_lost_when_the_server_or_the_program_is_killed(local, marks):
    kill_rounds(local, marks, 6, random.randrange(10**6))


@pytest.mark.long
@pytest.mark.parametrize("place", ["local", "on_s3"])
def test_no_state_is_lost_in_many_rounds(place, request, marks):
    kill_rounds(request.getfixturevalue(place), marks, 50, random.randrange(10**6))
