"""An instance with something in every view of the console."""
from support.automation import ansible
from support.deploys import PROGRAM
from support.instance import Instance
from support.jobs import MACHINE, executor, wait_for
from support.storage import b64

HOSTILE = "<img src=x onerror=alert(1)>"
RULE = """package admission.held
import rego.v1
# <script>alert(1)</script>
needs_approval contains "look twice <b>at it</b>" if input.request.name == "web"
"""


class ConsoleWorld:
    """One instance, its users, and what they have made."""

    def __init__(self, folder, bucket, strange=HOSTILE):
        self.folder, self.bucket = folder, bucket
        self.one = Instance(folder / "one", {"AUTOMATION_ANSIBLE": ansible(), "IAC_BINARY": PROGRAM or ""})
        self.one.add_user("root", admin=True)
        self.one.add_user("alice", workgroups=["web"])
        self.one.add_user("bob", workgroups=["web"], grants=["change_windows:use", "change_windows:write"])
        self.one.set(**bucket.settings)
        self.one.start("--workers", "2")
        self.root, self.alice, self.bob = (self.one.login(name) for name in ("root", "alice", "bob"))
        answer = self.root.put("/api/setup/config", {
            "admission_control_enabled": "true", "admission_gated_actions": "cloud1:vm:deploy", "admission_enforce_needs_approval": "true",
            "admission_denied_instance_types": "p5.48xlarge", "storage_local_path": str(folder / "assets"), "ansible_enabled": "true", "remote_agents_enabled": "true",
            "cloud1_secret_access_key": bucket.secret})
        assert answer.status == 200, answer
        (folder / "assets").mkdir()
        (self.one.folder / "policy" / "held.rego").write_text(RULE)
        executor(self.one, "cloud1-vm-deploy", f"echo 'making {strange}'; echo second line; echo '{{\"resource_id\": \"i-7\"}}'")
        for name in ("site.yml", "hello.sh"):
            self.upload(name, b"#!/bin/sh\necho hello from the run\n" if name.endswith("sh") else b"- hosts: all\n")
        self.upload(f"{strange}.yml".replace("/", "_"), b"- hosts: all\n")
        answer = self.root.post("/api/hosts", {"name": "here", "address": "127.0.0.1", "connection": "local"})
        assert answer.status == 201, answer
        for name, zone in (("Nightly", "Europe/London"), (f"Weekly {strange}", "America/New_York")):
            answer = self.root.post("/api/change-windows", {"name": name, "start_at_local": "22:00", "duration_minutes": 600, "timezone": zone})
            assert answer.status == 201, answer

    def upload(self, name, data):
        answer = self.root.post("/api/storage/upload", {"filename": name, "content_b64": b64(data)})
        assert answer.status == 201, answer

    def held_job(self, name="web"):
        answer = self.alice.post("/api/cloud1/deploy", {**MACHINE, "name": name, "workgroup": "web"})
        assert answer.status == 200, answer
        return answer.json["job_id"]

    def finished_job(self, name="db"):
        job_id = self.held_job(name)
        wait_for(self.root, job_id, "completed")
        return job_id
