"""The examples of the help pages are commands that work: each one runs against an instance that is prepared for it."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from support.agent import POLICY
from support.agent_dashboard import AgentDashboard
from support.databases import new_database
from support.doubles import double
from support.instance import PASSWORD, Instance
from support.jobs import executor, wait_for
from support.program import BINARY, clean_environment, run
from support.s3_bucket import Bucket

MACHINE = {"region": "eu-west-1", "instance_type": "t3.large", "image": "ami-1", "name": "web"}
RULE = 'package admission.held\nimport rego.v1\nneeds_approval contains "look twice" if input.request.name == "db"\n'
RULE_TEST = """package admission.held_test
import rego.v1
import data.admission.held
test_held if count(held.needs_approval) == 1 with input as {"request": {"name": "db"}}
"""


class Example:
    def __init__(self, purpose, command):
        stated = re.search(r" \(exit code (\d+)\)$", purpose)
        self.command, self.code = command, int(stated[1]) if stated else 0


def examples():
    """Every example, read off the manual page."""
    plain = re.sub(r"\\(.)", r"\1", run("man").out.replace("\\&", ""))
    return [Example(*found) for found in re.findall(r"\.PP\n(.+):\n\.PP\n\.nf\n\.RS\n(.+)\n\.RE\n\.fi", plain)]


EXAMPLES = examples()


class World:
    """Instances and files that the examples name, made once; each example works on a copy."""

    def __init__(self, folder, bucket, sshd):
        self.folder, self.bucket, self.sshd = folder, bucket, sshd
        self.one = Instance(folder / "dash")
        self.variables = {}
        self.fill(bucket)
        self.one.start()
        self.add_jobs()
        self.one.stop()
        self.write_files()

    def fill(self, bucket):
        (self.folder / "assets").mkdir()
        self.one.add_user("root", admin=True)
        self.one.add_user("ada")
        self.one.set(**bucket.settings)
        self.one.set(storage_local_path=str(self.folder / "assets"), storage_active_backend="local", storage_hub_backend="obj_cloud1",
                     change_approval_required="true", admission_control_enabled="true",
                     admission_gated_actions="cloud1:vm:deploy", app_url="https://one.example")
        for backend in ("azure_kv", "aws_sm"):
            assert self.one.dashctl("vault", "add", "backup", backend).code == 0
        self.one.add_user("joe", workgroups=["web"])
        self.add_host()
        self.add_agents()
        (self.folder / "assets/motd.yml").write_text("hello: world\n")
        (self.folder / "assets/hello.sh").write_text("echo hello\n")
        self.one.set(ansible_enabled="true")
        executor(self.one, "config-mgmt-run", "cat")
        executor(self.one, "cloud1-vm-deploy", "echo made")

    def add_agents(self):
        self.one.set(remote_agents_enabled="true")
        for name in ("plant1", "old1", "gone1"):
            assert self.one.dashctl("agent", "add", name).code == 0
        assert self.one.dashctl("agent", "revoke", "gone1").code == 0

    def add_host(self):
        keys = Path(self.sshd["SSH_KNOWN_HOSTS"]).read_text().splitlines()
        key = next(line for line in keys if "ssh-ed25519" in line)
        done = self.one.dashctl("host", "add", "db1", "--address", "127.0.0.1", "--port", self.sshd["SSH_PORT"], "--user",
                                self.sshd["SSH_USER"], "--secret-file", self.sshd["SSH_KEY"], "--host-key", key)
        assert done.code == 0, done

    def add_jobs(self):
        """One that has ended and one that waits for an approval."""
        ada = self.one.login("ada")
        made = ada.post("/api/cloud1/deploy", MACHINE)
        assert made.status == 200, made
        ended = made.json["job_id"]
        later = (datetime.now(timezone.utc) + timedelta(hours=24)).strftime("%Y-%m-%dT%H:%M")
        held = ada.post("/api/cloud1/deploy", {**MACHINE, "run_at": later}).json["job_id"]
        wait_for(ada, ended, "completed")
        self.ended_job = ended
        run_of_script = self.one.dashctl("automation", "run", "hello.sh", "--host", "db1", "--output", "json")
        assert run_of_script.code == 0, run_of_script
        self.variables["RUN"] = run_of_script.json["job_id"]
        self.variables["JOB"] = held
        self.variables["DIGEST"] = ada.get(f"/api/jobs/{held}").json["approval_digest"]

    def write_files(self):
        work = self.folder / "work"
        for name in ("rules", "new-rules"):
            (work / name).mkdir(parents=True)
        (work / "password").write_text(PASSWORD + "\n")
        (work / "new-password").write_text(PASSWORD + " new\n")
        (work / "secret").write_text("cloud-secret\n")
        (work / "token").write_text(self.one.token("root"))
        (work / "box.vhd").write_bytes(bytes(512) + b"conectix" + bytes(504))
        (work / "site.yml").write_text("site: one\n")
        (work / "setup.sh").write_text("#!/bin/sh\n")
        (work / "request.json").write_text(json.dumps(MACHINE))
        (work / "rules/held.rego").write_text(RULE)
        (work / "rules/held_test.rego").write_text(RULE_TEST)
        (work / "new-rules/held.rego").write_text(RULE.replace("db", "web"))
        self.write_audit(work)
        self.write_bundle(work)
        self.write_agent(work)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=dash", "-keyout",
                        work / "key.pem", "-out", work / "chain.pem"], check=True, capture_output=True)
        tokens = self.one.dashctl("token", "list", "--output", "json").json["tokens"]
        self.variables["TOKEN_ID"] = tokens[0]["id"]
        changes = self.one.dashctl("config", "history", "app_url", "--output", "json").json["history"]
        self.variables["CHANGE"] = changes[0]["change_id"]

    def write_audit(self, work):
        verdict = self.one.dashctl("audit", "verify", "--output", "json").json
        (work / "audit.key").write_text(verdict["public_key"])
        (work / "audit.jsonl").write_text(self.one.dashctl("audit", "export").out)
        shutil.copy(self.folder / "dash/audit.checkpoint", work)

    def write_agent(self, work):
        """An enrolled agent's folder, its files, and a code for another one."""
        (work / "policy.yaml").write_text(POLICY)
        (work / "shares.yaml").write_text("shares: []\n")
        dashboard = AgentDashboard()
        (work / "code").write_text(dashboard.new_code())
        done = run("agent", "enroll", "--url", dashboard.url, "--code-file", work / "code", "--state-dir", work / "state",
                   "--policy-file", work / "policy.yaml")
        assert done.code == 0, done
        dashboard.close()

    def write_bundle(self, work):
        other = Instance(self.folder / "other")
        other.set(app_url="https://other.example", cloud1_region="us-east-2")
        done = other.dashctl("migrate", "export", "--out", work / "bundle.json")
        assert done.code == 0, done


@pytest.fixture(scope="module")
def world(s3_server):
    folder = Path(tempfile.mkdtemp(prefix="e2e-", dir="/tmp"))
    with double("ssh", "SSH_PORT") as sshd:
        yield World(folder, Bucket(s3_server), sshd)
    shutil.rmtree(folder, ignore_errors=True)


class Place:
    """The world's copy that one example works on."""

    def __init__(self, world, scratch):
        for name in ("dash", "work", "assets"):
            shutil.copytree(world.folder / name, scratch / name)
        for name in ("home", "bin"):
            (scratch / name).mkdir()
        (scratch / "bin/dashctl").symlink_to(BINARY)
        self.world, self.scratch = world, scratch
        self.dashboard, self.agent_files = None, {}
        self.one = Instance(scratch / "dash")
        self.one.set(storage_local_path=str(scratch / "assets"))
        self.sources = {"/srv/dash": str(scratch / "dash"), ":8080": ":0", ":8443": ":0"}

    def prepare(self, command):
        """What only some examples need."""
        work = self.scratch / "work"
        if "storage verify" in command:  # earlier examples copied to it
            for key in self.world.bucket.keys():
                self.world.bucket.delete(key)
        if "hub put obj_cloud1:" in command:
            self.world.bucket.put("exports/box.vhd", (work / "box.vhd").read_bytes())
        if "storage hub promote" in command:
            assert self.one.dashctl("storage", "hub", "put", work / "box.vhd").code == 0
        if command.startswith("dashctl agent") and any(word in command for word in (" enroll ", " run", " check", " seal")):
            return self.prepare_agent(command)
        if "postgres://dash@db.example/dash" in command:
            self.sources["postgres://dash@db.example/dash"] = url = new_database("postgres")["DASHCTL_DATABASE"]
            if "db copy /srv" not in command:
                assert run("db", "copy", self.scratch / "dash", url).code == 0
        if "db restore" in command:
            assert self.one.dashctl("db", "backup", work / "dash.backup").code == 0
            (work / "new").mkdir()
            shutil.copy(self.scratch / "dash/signing.key", work / "new")
        if "https://dash.example" in command or "--plan " in command:
            self.one.start()
            self.sources["https://dash.example"] = self.one.url
        if "--plan " in command:
            done = run("migrate", "diff", "--bundle", work / "bundle.json", "--target", self.one.url, "--admin-user", "root",
                       "--password-file", work / "password", "--plan-out", work / "plan.json")
            assert done.code == 0, done

    def prepare_agent(self, command):
        """A dashboard that knows the agent of the state folder; one that enrols begins in a folder of its own."""
        work = self.scratch / "work"
        self.dashboard = AgentDashboard(knows_wait=True)
        (work / "code").write_text(self.dashboard.new_code())
        state = work / ("new" if " enroll " in command else "state")
        self.agent_files = {"AGENT_STATE_DIR": str(state), "AGENT_POLICY_FILE": str(work / "policy.yaml"),
                            "AGENT_SHARES_FILE": str(work / "shares.yaml")}
        if " run" in command:
            self.dashboard.adopt(state / "identity.json")
            self.agent_files["DASHBOARD_URL"] = self.dashboard.url
        self.sources.update({"https://dash.example": self.dashboard.url, "/var/lib/dashboard-agent": str(state),
                             "/etc/ssl/lab.pem": str(work / "chain.pem")})
        return None

    def environment(self, command):
        variables = {**self.world.variables, "DASHCTL_DATA_DIR": str(self.scratch / "dash"), "HOME": str(self.scratch / "home"),
                     "PATH": f"{self.scratch / 'bin'}:{os.environ['PATH']}", **self.agent_files}
        if "job logs" in command:
            variables["JOB"] = self.world.ended_job
        if any(flag in command for flag in ("--target", "--source", "--plan ")):
            del variables["DASHCTL_DATA_DIR"]
        return clean_environment(variables)

    def start(self, command):
        self.prepare(command)
        environment = self.environment(command)
        for written, real in self.sources.items():
            command = command.replace(written, real)
        return subprocess.Popen(["bash", "-c", command], cwd=self.scratch / "work", env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


@pytest.fixture
def place(world, scratch):
    made = Place(world, scratch)
    yield made
    made.one.stop()
    if made.dashboard:
        made.dashboard.close()


def stop_at(process, event):
    for line in process.stderr:
        if f'"event":"{event}"' in line:
            os.killpg(process.pid, signal.SIGTERM)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.command)
def test_an_example_ends_as_its_page_states(place, request, example):
    if "--container dash " in example.command:
        place.sources["--container dash "] = f"--container {request.getfixturevalue('container')} "
    with place.start(example.command) as process:
        if example.command.startswith("dashctl serve "):
            stop_at(process, "listening")
        if example.command == "dashctl agent run":
            stop_at(process, "agent.started")
        out, err = process.communicate(timeout=60)
    assert process.returncode == example.code, (out, err)


def test_every_command_of_the_manual_has_an_example():
    commands = run("man").out.split(".SH SHARED FLAGS", 1)[0].split("\n.SS dashctl ")[1:]
    assert len(commands) > 40
    for command in commands:
        assert ".RS\n" in command, command
