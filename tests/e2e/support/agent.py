"""An agent: its files, and the `dashctl agent run` on them."""
import json
import signal
import subprocess
from pathlib import Path

from support.program import BINARY, clean_environment, run
from support.wait import wait_until

POLICY = """targets: [{cidr: 10.0.0.0/24, ports: [443]}]
job_types: [agent_storage]
storage: {enabled: true, shares: [{name: lab, write: true}, {name: archive}]}
"""


def agent_environment(extra=None):
    return {"AGENT_POLL_INTERVAL": "0.1", **(extra or {})}


class Agent:
    """A state folder with policy and shares beside it; `lab` can be written, `archive` only read."""

    def __init__(self, folder, dashboard, policy=POLICY, shares=None):
        self.folder, self.dashboard = Path(folder), dashboard
        self.state, self.share, self.archive = (self.folder / name for name in ("state", "lab", "archive"))
        for made in (self.share, self.archive):
            made.mkdir(parents=True)
        self.policy, self.shares = self.folder / "conf/policy.yaml", self.folder / "conf/shares.yaml"
        self.policy.parent.mkdir()
        self.policy.write_text(policy)
        self.shares.write_text(shares or f"shares:\n  - {{name: lab, path: {self.share}}}\n"
                                         f"  - {{name: archive, path: {self.archive}}}\n")
        self.log_file = self.folder / "agent.log"
        self.process = None

    @property
    def files(self):
        return ["--state-dir", self.state, "--policy-file", self.policy, "--shares-file", self.shares]

    def dashctl(self, action, *args, env=None, **kw):
        return run("agent", action, *args, env=agent_environment(env), **kw)

    def enroll(self, url=None, code=None, *args):
        code_file = self.folder / "code"
        code_file.write_text(code or self.dashboard.new_code())
        return self.dashctl("enroll", "--url", url or self.dashboard.url, "--code-file", code_file, *self.files, *args)

    def start(self, *args, env=None):
        assert self.process is None
        with self.log_file.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen([BINARY, "agent", "run", *map(str, self.files), *map(str, args)],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                            env=clean_environment(agent_environment(env)))
        return self

    def once(self, *args, env=None):
        return self.dashctl("run", *self.files, "--once", *args, env=env)

    def events(self, name):
        lines = self.log_file.read_text(encoding="utf-8").splitlines() if self.log_file.exists() else []
        return [json.loads(line) for line in lines if f'"event":"{name}"' in line]

    def wait_for(self, name):
        return wait_until(lambda: self.events(name), what=f"the agent's event {name}")

    def wait_for_end(self, seconds=30):
        """The exit code, once it has ended by itself."""
        code = self.process.wait(timeout=seconds)
        self.process = None
        return code

    def stop(self, expect=0):
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=30)
        assert code == expect, f"the agent ended with {code}: {self.log_file.read_text()[-2000:]}"

    def kill(self):
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
