"""The policy engine that the tests run."""
import os
from pathlib import Path


def engine_binary():
    for path in (os.environ.get("POLICY_BINARY", ""), str(Path.home() / ".cache/dashctl/bin/opa"), "/usr/local/bin/opa"):
        if path and Path(path).is_file():
            return path
    raise RuntimeError("no policy engine: run scripts/setup, or set POLICY_BINARY")
