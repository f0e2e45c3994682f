"""By what a run is done and within which limits: a runner of the operator's, the memory of its programs, its confinement."""
import json
import sys

import pytest

from support.automation import ansible, ended, log, outcomes, put_asset, run
from support.hosts import HOST_KEY
from support.program import ROOT
from support.wait import wait_until

PLANTED = "planted-secret-0815"
SITE = "---\n- hosts: all\n"
# Keeps what it reads beside itself, and shows it.
SHOWS = 'cat > "$0.$$.read"\ncat "$0.$$.read"\n'
WITHOUT_LANDLOCK = [sys.executable, str(ROOT / "tests/e2e/support/without_landlock.py")]


def add_here(root):
    assert root.post("/api/hosts", {"name": "here", "address": "127.0.0.1", "connection": "local"}).status == 201


def put_runner(instance, name, script, mode=0o755):
    path = instance.folder / "deploy" / f"runner-{name}"
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(mode)
    return path


@pytest.fixture
def one(make_instance, bucket):
    """An instance whose assets lie on an object store, as those of other runners than `local` do, and no ansible."""
    made = make_instance(start=False, env={"AUTOMATION_ANSIBLE": "/nonexistent"})
    made.set(**bucket.settings, ansible_enabled="true")
    made.start()
    return made


@pytest.fixture
def root(one):
    signed_in = one.login("root")
    add_here(signed_in)
    host = {"name": "web-1", "address": "192.0.2.7", "user": "op", "secret": PLANTED, "host_key": HOST_KEY}
    answer = signed_in.post("/api/hosts", host)
    assert answer.status == 201, answer
    put_asset(signed_in, "site.yml", SITE)
    return signed_in


def test_a_runner_that_is_missing_or_unsafe_is_named_where_it_is_chosen_and_where_it_is_used(one, root):
    page, body = "/api/setup/feature/ansible", {"asset": "site.yml", "hosts": ["web-1"]}
    path = one.folder / "deploy" / "runner-edge"
    chosen = root.patch(page, {"automation_runner": "edge"})
    assert chosen.status == 200 and str(path) in chosen.json["warnings"]["automation_runner"], chosen
    assert root.get(page).json["automation_runner"] == "edge", "it is kept as it was given"

    def refused(text):
        for way in ("run", "run-bulk"):
            answer = root.post(f"/api/config-mgmt/{way}", body)
            assert answer.status == 409 and "'edge'" in answer.json["detail"] and text in answer.json["detail"], answer

    refused(str(path))
    put_runner(one, "edge", SHOWS, mode=0o775)
    refused(f"chmod 0755 {path}")
    path.chmod(0o644)
    refused(str(path))
    path.chmod(0o755)
    chosen = root.patch(page, {"automation_runner": "edge"})
    assert chosen.status == 200 and "warnings" not in chosen.json, chosen
    assert run(root, "site.yml", "web-1")["status"] == "completed"
    assert not root.get("/api/jobs?status=pending").json["jobs"]


@pytest.mark.parametrize("name", ["../deploy/runner-edge", "a/b", ".hidden", "-x y", "a\nb", "x" * 65])
def test_no_name_of_a_runner_leads_out_of_its_folder(one, root, name):
    put_runner(one, "edge", SHOWS)
    answer = root.post("/api/config-mgmt/run", {"asset": "site.yml", "hosts": ["web-1"], "runner": name})
    assert answer.status in (409, 422) and "runner" in answer.text, answer
    assert not list((one.folder / "deploy").glob("*.read"))


def test_a_runner_gets_the_whole_request_and_its_log_hides_what_is_secret(one, root):
    path = put_runner(one, "edge", SHOWS + 'echo "with $(id -un)" >&2\n')
    done = run(root, "site.yml", "web-1", runner="edge", extra_vars={"color": "red"}, secret_vars={"token": PLANTED + "!"}, subnet="s-1")
    assert done["status"] == "completed" and done["exit_status"] == 0 and done["request"]["runner"] == "edge", done
    read, = path.parent.glob("runner-edge.*.read")
    document = json.loads(read.read_text())
    parameters = document["parameters"]
    assert (document["job_id"], document["action"], document["created_by"]) == (done["id"], "config-mgmt:run", "root"), document
    assert document["request"]["asset"] == "site.yml" and document["request"]["asset_digest"].startswith("p8:"), document
    assert parameters["extra_vars"] == {"color": "red"} and parameters["secret_vars"] == {"token": PLANTED + "!"}, parameters
    assert parameters["subnet"] == "s-1", "a member that ansible would not know"
    host, = parameters["hosts"]
    assert (host["name"], host["address"], host["user"], host["secret"]) == ("web-1", "192.0.2.7", "op", PLANTED), host
    text = "\n".join(log(root, done["id"]))
    assert '"job_id"' in text and "********" in text and "with root" in text and PLANTED not in text + json.dumps(done), text
    read.unlink()
    bulk = root.post("/api/config-mgmt/run-bulk", {"asset": "site.yml", "inventory_ids": ["web-1", "here"], "runner": "edge"}).json
    jobs = {entry["job_id"]: entry["target"] for entry in bulk["jobs"]}
    assert {ended(root, job)["status"] for job in [*jobs, bulk["batch_id"]]} == {"completed"}
    documents = [json.loads(one.read_text()) for one in path.parent.glob("runner-edge.*.read")]
    given = {d["job_id"]: [host["name"] for host in d["parameters"]["hosts"]] for d in documents}
    assert {job: given[job] for job in jobs} == {job: [target] for job, target in jobs.items()}, given


def test_a_runner_that_fails_says_so_and_one_that_is_cancelled_is_ended(one, root):
    put_runner(one, "fails", "echo began\necho 'no such cluster' >&2\nexit 7\n")
    failed = run(root, "site.yml", "web-1", runner="fails")
    assert (failed["status"], failed["exit_status"]) == ("failed", 7) and "no such cluster" in failed["error_message"], failed
    path = put_runner(one, "waits", "trap 'echo stopped >> \"$0.end\"; exit 1' TERM\necho began\nsleep 600 & wait\n")
    asked = root.post("/api/config-mgmt/run", {"asset": "site.yml", "hosts": ["web-1"], "runner": "waits"}).json["job_id"]
    wait_until(lambda: "began" in log(root, asked), what="the runner")
    assert root.delete(f"/api/jobs/{asked}").status == 200
    assert ended(root, asked)["status"] == "cancelled"
    wait_until(path.with_name("runner-waits.end").exists, what="SIGTERM at the runner")


def test_the_runner_of_a_cloud_wins_over_the_common_one(one, root):
    for name in ("common", "of-aws"):
        put_runner(one, name, f"echo by {name}\n")
    assert root.patch("/api/setup/feature/ansible", {"automation_runner": "common", "automation_runner_aws": "of-aws"}).status == 200
    for more, name in (({}, "common"), ({"cloud": "cloud1"}, "of-aws"), ({"cloud": "aws"}, "of-aws"), ({"cloud": "azure"}, "common"),
                       ({"cloud": "aws", "runner": "common"}, "common")):
        done = run(root, "site.yml", "web-1", **more)
        assert log(root, done["id"]) == [f"by {name}"] and done["request"]["runner"] == name, (more, done)


@pytest.fixture
def local(make_instance, scratch):
    """An instance that runs ansible itself, not yet started."""
    (scratch / "assets").mkdir()
    made = make_instance(start=False, env={"AUTOMATION_ANSIBLE": ansible()})
    made.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local", ansible_enabled="true")
    return made


def start_local(instance):
    root = instance.start().login("root")
    add_here(root)
    return root


TAKES = """- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: /usr/bin/python3 -c "print(len(bytearray(%d << 20)) >> 20, 'taken')"
      register: it
    - ansible.builtin.debug: {var: it.stdout}
"""


def test_a_program_that_takes_more_memory_than_the_setting_gives_is_ended_and_the_job_says_so(local):
    root = start_local(local)
    put_asset(root, "takes.yml", TAKES % 600)
    assert run(root, "takes.yml", "here")["status"] == "completed", "1,024 MiB unless it is set"
    local.set(automation_memory_mb="300")
    done = run(root, "takes.yml", "here")
    assert done["status"] == "failed" and outcomes(done) == {"here": "failed"}, done
    assert done["error_message"] == "here: failed: non-zero return code: MemoryError", done
    assert not any("600 taken" in line for line in log(root, done["id"]))
    put_asset(root, "takes.yml", TAKES % 100)
    assert run(root, "takes.yml", "here")["status"] == "completed"
    put_asset(root, "takes.yml", TAKES % 1500)
    local.set(automation_memory_mb="0")
    assert run(root, "takes.yml", "here")["status"] == "completed", "0 is no limit"


def test_without_landlock_a_run_is_refused_until_the_operator_lets_it_go_unconfined(local):
    local.wrapper = WITHOUT_LANDLOCK
    root = start_local(local)
    secret = local.folder / "signing.key"
    reads = "- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.command: wc -c %s\n"
    put_asset(root, "reads.yml", reads % secret)
    body = {"asset": "reads.yml", "hosts": ["here"]}
    for way in ("run", "run-bulk"):
        answer = root.post(f"/api/config-mgmt/{way}", body)
        assert answer.status == 409 and "has no Landlock" in answer.json["detail"], answer
        assert "automation_unconfined" in answer.json["detail"], answer
    assert not root.get("/api/jobs").json["jobs"], "nothing was queued"
    local.set(automation_unconfined="true")
    done = run(root, "reads.yml", "here")
    text = "\n".join(log(root, done["id"]))
    assert done["status"] == "completed" and outcomes(done) == {"here": "changed"}, (done, text)


def test_a_run_that_waited_for_a_worker_without_landlock_fails_and_says_so(local):
    put_asset(start_local(local), "hello.sh", "echo hello\n")
    local.stop()
    asked = local.dashctl("automation", "run", "hello.sh", "--host", "here", "--output", "json")
    assert asked.code == 0, asked
    local.wrapper = WITHOUT_LANDLOCK
    root = local.start().login("root")
    done = ended(root, asked.json["job_id"])
    assert done["status"] == "failed" and "automation_unconfined" in done["error_message"], done
    assert log(root, done["id"]) == [], done
