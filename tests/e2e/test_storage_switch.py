"""A switch of the active backend that holds still in the middle: what it keeps from beginning, and what its death sets free."""
import threading
from pathlib import Path

import pytest

from support.holding_relay import HoldingRelay
from support.hosts import add_hosts
from support.jobs import MACHINE, executor, job, wait_for
from support.storage import people, upload

STATE = b'{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[]}'
SWITCH = {"storage_active_backend": "s3", "migrate_iac_state": True}


class HeldSwitch:
    """An instance whose switch to a bucket holds when the first state is to be written there."""

    def __init__(self, actors, relay, bucket):
        self.actors, self.root, self.relay, self.bucket = actors, actors.root, relay, bucket
        relay.hold_request(f"PUT /{bucket.name}/iac-state/".encode())
        self.answers = []
        self.thread = threading.Thread(target=self._switch, daemon=True)
        self.thread.start()
        relay.wait_held()

    def _switch(self):
        try:
            self.answers.append(self.root.patch("/api/storage/config", SWITCH))
        except OSError as e:  # the instance was killed
            self.answers.append(e)

    def end(self):
        self.thread.join(120)
        return self.answers[0]

    def deploy(self):
        """Asks for a deploy, and waits until a worker has run something that was asked for after it."""
        made = self.actors.ann.post("/api/cloud1/deploy", MACHINE)
        assert made.status == 200, made
        run = self.actors.ann.post("/api/config-mgmt/run", {"asset": "site.yml", "target": "web1"})
        assert run.status == 200, run
        wait_for(self.actors.ann, run.json["job_id"], "completed")
        return made.json["job_id"]


@pytest.fixture
def held(make_instance, scratch, bucket):
    one = make_instance(start=False)
    relay = HoldingRelay(int(bucket.endpoint.rsplit(":", 1)[1]))
    (scratch / "store").mkdir()
    settings = {"storage_local_path": str(scratch / "store")} | bucket.settings
    settings |= {"storage_obj_cloud1_endpoint": relay.url, "storage_active_backend": "local", "ansible_enabled": "true"}
    for name in ("cloud1-vm-deploy", "config-mgmt-run"):
        executor(one, name, "echo done")
    actors = people(one, settings)
    add_hosts(actors, "web1")
    (Path(one.folder) / "deploy/j1").mkdir()
    (Path(one.folder) / "deploy/j1/terraform.tfstate").write_bytes(STATE)
    assert upload(actors.ann, "site.yml", b"- hosts: all\n").status == 201
    yield HeldSwitch(actors, relay, bucket)
    relay.close()


def test_no_deploy_begins_while_a_switch_copies_and_no_other_switch(held):
    deploy = held.deploy()
    assert job(held.root, deploy)["status"] == "pending"
    for body in (SWITCH, {"storage_active_backend": "s3"}):
        second = held.root.patch("/api/storage/config", body)
        assert second.status == 409 and "root" in second.json["detail"], second
        assert "migrate_iac_state=true" not in second.json["detail"]
    command = held.actors.instance.dashctl("storage", "switch", "s3", "--migrate-state")
    assert command.code == 12 and "root" in command.err, command
    held.relay.release()
    done = held.end()
    assert done.status == 200 and done.json["iac_state_migrated"] == 1, done
    wait_for(held.root, deploy, "completed")
    assert held.bucket.get("iac-state/j1/terraform.tfstate") == STATE


def test_a_switch_whose_process_is_killed_holds_nothing(held):
    deploy = held.deploy()
    held.actors.instance.kill()
    held.relay.sever()
    held.end()
    held.actors.instance.start()
    root = held.actors.instance.login("root")
    wait_for(root, deploy, "completed")
    assert root.get("/api/storage/backends").json["active"] == "local"
    again = root.patch("/api/storage/config", SWITCH)
    assert again.status == 200 and again.json["iac_state_migrated"] == 1, again
