"""The built binary: where it is, and a command of it run to its end."""
import json
import os
import subprocess
from pathlib import Path

from support.databases import environment_of

ROOT = Path(__file__).resolve().parents[3]


def find_binary():
    named = os.environ.get("DASHCTL")
    for path in [named] if named else [ROOT / "build/release/dashctl", ROOT / "build/dev/dashctl"]:
        if Path(path).is_file():
            return str(path)
    raise RuntimeError("no dashctl binary: build the release preset, or name one in DASHCTL")


BINARY = find_binary()


class CommandResult:
    """How a command ended."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def clean_environment(extra=None):
    """The caller's environment without settings of dashctl that would leak into a test."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("DASHCTL_")}
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        env.pop(name, None)
    env["NO_COLOR"] = "1"
    env.update(extra or {})
    return env


def run(*args, stdin=None, env=None, cwd=None, timeout=120, program=()):
    """The command's result; `program` are words before it."""
    done = subprocess.run([*program, BINARY, *map(str, args)], input=stdin if stdin is not None else "", env=clean_environment(environment_of(args, env)),
                          cwd=cwd, timeout=timeout, capture_output=True, text=True, check=False)
    return CommandResult(done)
