"""Playbooks that follow a deploy, by real ansible against a real sshd: scope, first contact, failures, links."""
import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from support.automation import ENDED, ansible, host_key, put_asset, ssh_servers
from support.instance import Instance
from support.jobs import executor, job, wait_for
from support.storage import scope
from support.wait import wait_until

PLAYBOOK = """- hosts: all
  gather_facts: false
  tasks:
    - name: Greet
      ansible.builtin.command: echo greeting {{ greeting | default('nobody') }}
      register: said
    - ansible.builtin.debug:
        var: said.stdout
"""


def log(http, job_id):
    return "\n".join(line["line"] for line in http.get(f"/api/jobs/{job_id}/logs").json["logs"])


class World:
    """One instance whose deploys give the address of a real sshd, which the tests of this file share."""

    def __init__(self, folder, server):
        self.server = server
        self.one = Instance(folder / "one", {"AUTOMATION_ANSIBLE": ansible()})
        self.one.add_user("root", admin=True)
        (folder / "assets").mkdir()
        self.one.set(storage_local_path=str(folder / "assets"), storage_active_backend="local", ansible_enabled="true",
                     automation_targets="127.0.0.1")
        self.one.add_user("ann", workgroups=["web"])
        outputs = {"host": f"127.0.0.1:{server['SSH_PORT']}", "key": host_key(server), "number": 7, "hidden": None}
        executor(self.one, "cloud1-vm-deploy", f"echo '{json.dumps({'outputs': outputs})}'")
        self.one.start("--workers", "4")
        self.root, self.ann = self.one.login("root"), self.one.login("ann")
        for name in ("site.yml", "web.yml", "data.yml"):
            put_asset(self.root, name, PLAYBOOK)
        self.one.add_user("bob", workgroups=["data"])
        for name, workgroup in (("web.yml", "web"), ("data.yml", "data")):
            assert scope(self.root, name, workgroup).status == 200

    def entry(self, **more):
        return {"asset": "site.yml", "host_output": "host", "host_key_output": "key", "user": self.server["SSH_USER"],
                "variables": {"ansible_password": self.server["SSH_PASS"]}, **more}

    def deploy(self, *entries, who=None, **more):
        body = {"image": "ami-1", "name": "web", "post_deploy": list(entries), **more}
        return (who or self.ann).post("/api/cloud1/deploy", body)

    def deployed(self, *entries, **more):
        answer = self.deploy(*entries, **more)
        assert answer.status == 200, answer
        done = wait_for(self.root, answer.json["job_id"], *ENDED)
        assert done["status"] == "completed", done
        return done

    def ended(self, job_id):
        return wait_until(lambda: (lambda j: j if j["status"] in ENDED else None)(job(self.root, job_id)), 90, "the run")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("post")
    for path in (folder, *folder.parents):
        if path != Path("/") and path.stat().st_uid == os.getuid():
            path.chmod(path.stat().st_mode | 0o711)
    with ssh_servers(1) as servers:
        made = World(folder, servers[0])
        yield made
        made.one.stop()


def test_a_playbook_follows_its_deploy_and_is_linked_both_ways(world):
    deploy = world.deployed(world.entry(variables={"greeting": "hello", "ansible_password": world.server["SSH_PASS"]}),
                            world.entry(asset="web.yml"))
    shown = deploy["request"]["post_deploy"]
    assert [one["asset"] for one in shown] == ["site.yml", "web.yml"] and shown[0]["asset_etag"]
    assert set(shown[0]["variables"].values()) == {"••••••••"} and world.server["SSH_PASS"] not in json.dumps(deploy)
    runs = deploy["post_deploy_jobs"]
    assert len(runs) == 2
    for job_id in runs:
        done = world.ended(job_id)
        assert done["status"] == "completed", (done, log(world.root, job_id))
        assert done["deploy_job_id"] == deploy["id"] and done["job_type"] == "config-mgmt:run" and done["workgroup"] == "web"
    assert "greeting hello" in log(world.root, runs[0]) and world.server["SSH_PASS"] not in log(world.root, runs[0])
    assert job(world.ann, runs[0])["created_by"] == "ann"


def test_without_a_key_the_first_contact_pins_it_and_names_its_fingerprint(world):
    entry = world.entry()
    del entry["host_key_output"]
    deploy = world.deployed(entry)
    run = world.ended(deploy["post_deploy_jobs"][0])
    assert run["status"] == "completed" and "SHA256:" in log(world.root, run["id"]), (run, log(world.root, run["id"]))


def test_a_run_that_fails_shows_with_the_deploy_and_does_not_fail_it(world):
    for entry, text in ((world.entry(host_output="nothing"), "no output 'nothing'"), (world.entry(host_output="hidden"), "sensitive"),
                        (world.entry(host_output="number"), "no text"),
                        (world.entry(variables={"ansible_password": "wrong-password"}), "")):
        deploy = world.deployed(entry)
        run = world.ended(deploy["post_deploy_jobs"][0])
        assert run["status"] == "failed" and text in run["error_message"], run
        assert job(world.ann, deploy["id"])["status"] == "completed"


def test_only_global_assets_and_those_of_the_deploys_workgroup_are_found(world):
    for who, entry in ((world.ann, world.entry(asset="data.yml")), (world.ann, world.entry(asset="none.yml")),
                       (world.root, world.entry(asset="data.yml"))):
        refused = world.deploy(entry, who=who, workgroup="web")
        assert refused.status == 404, refused
    assert world.deploy(world.entry(asset="web.yml"), who=world.root).status == 404, "a deploy of no workgroup"
    for entry, member in ((1, "object"), ({"asset": "site.yml"}, "host_output"), (world.entry(shell="x"), "shell"),
                          (world.entry(user=1), "user"), (world.entry(variables=[]), "variables")):
        refused = world.deploy(entry)
        assert refused.status == 422 and refused.json["detail"][0]["loc"] == ["body", "post_deploy"], refused
        assert member in refused.json["detail"][0]["msg"], refused
    assert world.deploy(world.entry(variables={"ansible_password": "short"})).status == 422
    assert world.deploy(world.entry(variables={"ansible_host": "10.0.0.1"})).status == 400
    bulk = world.ann.post("/api/aws/bulk-deploy", {"image": "a", "items": [{"name": "a", "post_deploy": [{"asset": "none.yml",
                                                                                                       "host_output": "host"}]}]})
    assert bulk.status == 404, bulk


def run_after_change(world, change):
    """Books a deploy with late.yml, makes the change, and lets the deploy begin; the run that followed."""
    later = (datetime.now(timezone.utc) + timedelta(hours=24)).strftime("%Y-%m-%dT%H:%M")
    answer = world.deploy(world.entry(asset="late.yml"), run_at=later)
    assert answer.status == 200, answer
    change()
    assert world.ann.post(f"/api/jobs/{answer.json['job_id']}/reschedule", {"run_at": ""}).status == 200
    deploy = wait_for(world.root, answer.json["job_id"], *ENDED)
    return world.ended(deploy["post_deploy_jobs"][0])


def test_scope_and_bytes_are_those_of_the_request(world):
    put_asset(world.root, "late.yml", PLAYBOOK)
    moved = run_after_change(world, lambda: scope(world.root, "late.yml", "data"))
    assert moved["status"] == "completed", (moved, log(world.root, moved["id"]))
    assert world.deploy(world.entry(asset="late.yml")).status == 404, "but no request from now on"
    scope(world.root, "late.yml", None)
    run = run_after_change(world, lambda: put_asset(world.root, "late.yml", PLAYBOOK.replace("echo", "touch")))
    assert run["status"] == "failed" and run["reason"] == "asset_changed", run


def test_automation_that_is_off_refuses_the_deploy(world):
    world.one.set(ansible_enabled="false")
    try:
        refused = world.deploy(world.entry())
        assert refused.status == 409 and "Automation is off" in refused.json["detail"], refused
    finally:
        world.one.set(ansible_enabled="true")
