"""Remote agents of an instance that work: `dashctl agent run` as a process, and one as the deployed ones are."""
import base64
import json
import os
import subprocess
import threading

from support.agents import ScriptedAgent, add_agent
from support.program import BINARY, clean_environment, run
from support.wait import wait_until

STORAGE, AUTOMATION = "agent_storage", "agent_automation"


def agent_row(root, agent_id):
    answer = root.get(f"/api/agents/{agent_id}")
    assert answer.status == 200, answer
    return answer.json


class AgentProcess:
    """`dashctl agent run` with its folder: state, policy, shares."""

    def __init__(self, instance, root, folder, name, grants=(STORAGE,), code=None):
        """Adds the agent, unless there is one already with this enrolment code."""
        self.instance, self.root, self.folder, self.name = instance, root, folder, name
        folder.mkdir(parents=True)
        self.process = None
        self.policy, self.shares = folder / "policy.yaml", folder / "shares.yaml"
        self.state, self.log_file = folder / "state", folder / "log"
        if code is None:
            code = add_agent(root, name, grants)["enrollment_code"]
        self.id = next(a["id"] for a in root.get("/api/agents").json["agents"] if a["name"] == name)
        self.code = folder / "code"
        self.code.write_text(code)
        self.code.chmod(0o600)
        self.write_policy()
        self.write_shares([])

    def write_policy(self, shares=(), targets=("203.0.113.0/24",), ports=(22,), job_types=(STORAGE, AUTOMATION)):
        """`shares` are (name, write)."""
        lines = ["targets:"]
        for target in targets:
            lines += [f"  - cidr: {target}", f"    ports: [{', '.join(map(str, ports))}]"]
        lines += ["job_types:", *(f"  - {kind}" for kind in job_types)]
        if shares:
            lines += ["storage:", "  enabled: true", "  shares:"]
            for name, write in shares:
                lines += [f"    - name: {name}", f"      write: {'true' if write else 'false'}"]
        self.policy.write_text("\n".join(lines) + "\n")

    def write_shares(self, shares):
        """`shares` are dicts of a share's members."""
        lines = ["shares:"] if shares else ["shares: []"]
        for share in shares:
            first = "  - "
            for key, value in share.items():
                lines.append(f"{first}{key}: {json.dumps(value)}")
                first = "    "
        self.shares.write_text("\n".join(lines) + "\n")
        self.shares.chmod(0o600)

    def enroll(self):
        done = run("agent", "enroll", "--url", self.instance.url, "--code-file", self.code, "--state-dir", self.state,
                   "--policy-file", self.policy)
        assert done.code == 0, done
        return self

    def start(self, *args):
        with self.log_file.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [BINARY, "agent", "run", "--state-dir", str(self.state), "--policy-file", str(self.policy),
                 "--shares-file", str(self.shares), *map(str, args)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=clean_environment({"AUTOMATION_ANSIBLE": os.environ.get("AUTOMATION_ANSIBLE", "")}))
        wait_until(self.is_online, what="the agent is online")
        return self

    def is_online(self):
        assert self.process.poll() is None, "the agent ended: " + self.log_file.read_text()
        return agent_row(self.root, self.id)["status"] == "online"

    def stop(self):
        process, self.process = self.process, None
        if process is not None:
            process.terminate()
            process.wait(timeout=60)

    def kill(self):
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()


class DeployedAgent(ScriptedAgent):
    """An agent as the deployed ones are, with a share of its own: it polls, knows neither ranges nor pages, and sends
    its results whole. `answer`, when set, is called with a job's payload and gives (result, error)."""

    def __init__(self, instance, root, name, version="2.5.0", grants=(STORAGE,)):
        super().__init__(instance.port, version, grants)
        enrolled = self.enroll(add_agent(root, name, grants)["enrollment_code"])
        assert enrolled.status == 200, enrolled
        self.files, self.answer, self.jobs = {}, None, []
        self.paused, self._end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.leased()  # so that it is online and its version known
        self._thread.start()
        return self

    def stop(self):
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(timeout=30)

    def _run(self):
        while not self._end.wait(0.3):
            job = None if self.paused.is_set() else self.leased()
            while job:
                self.jobs.append(job)
                result, error = (self.answer or self._carry_out)(job["payload"])
                self.complete(job, result, error)
                job = None if self.paused.is_set() else self.leased()

    def _carry_out(self, payload):
        name = payload.get("name", "")
        if payload["op"] == "list":
            return {"assets": [{"name": n, "size": len(b)} for n, b in sorted(self.files.items())]}, ""
        if payload["op"] == "upload":
            self.files[name] = base64.b64decode(payload["content_b64"])
            return {"size": len(self.files[name])}, ""
        if payload["op"] == "delete":
            self.files.pop(name, None)
            return {"deleted": name}, ""
        if name not in self.files:
            return {}, "FileNotFoundError"
        return {"content_b64": base64.b64encode(self.files[name]).decode()}, ""
