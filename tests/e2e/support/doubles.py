"""The test servers of scripts/doubles: those of the environment, else started for the test run."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile

from support.program import ROOT

DOUBLES = ROOT / "scripts/doubles"


def start_double(name, folder, port=0, env=None):
    """Starts the server of this name on a folder, on any port unless one is named; the variables that it exports."""
    done = subprocess.run([DOUBLES / f"{name}.sh", "start", folder, str(port)], capture_output=True, text=True, check=False,
                          env={**os.environ, **(env or {})})
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", done.stdout, re.M))


def stop_double(name, folder):
    subprocess.run([DOUBLES / f"{name}.sh", "stop", folder], check=False, capture_output=True)


@contextlib.contextmanager
def double(name, variable):
    """The environment of a running server: this process's own where it has `variable`."""
    if variable in os.environ:
        yield dict(os.environ)
        return
    folder = tempfile.mkdtemp(prefix=f"{name}-", dir="/tmp")
    try:
        yield start_double(name, folder)
    finally:
        stop_double(name, folder)
        shutil.rmtree(folder, ignore_errors=True)
