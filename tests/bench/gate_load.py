"""What the benchmarks of the policy gate share: an instance with the gate on, the load on it and the figures of several rounds."""
import contextlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from support.instance import Instance  # noqa: E402

ACTION = "cloud1:vm:deploy"
MACHINE = {"region": "mars-1", "instance_type": "t3.large", "image": "ami-1", "name": "web"}


@contextlib.contextmanager
def bench_folder():
    """A new folder that others may enter; it goes at the end."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def start_gated(folder, engine):
    """A running instance whose rules refuse MACHINE."""
    instance = Instance(folder, {"POLICY_BINARY": str(engine)})
    instance.add_user("root", admin=True)
    instance.set(admission_control_enabled="true", admission_gated_actions=ACTION, admission_allowed_regions="eu-west-1")
    return instance.start()


class Generator:
    """tests/bench/load.cpp, compiled: the driver must not be what is measured."""

    def __init__(self, folder):
        self.program = folder / "load"
        subprocess.run(["g++", "-std=c++20", "-O2", "-pthread", HERE / "load.cpp", "-o", self.program], check=True)

    def run(self, address, request, connections, count, status, period_us=0):
        words = [self.program, address, connections, count, status, round(period_us)]
        done = subprocess.run([str(word) for word in words], input=request, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)


def post(path, body, token=None):
    """The bytes of a POST of JSON."""
    data = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: bench", "Content-Type: application/json", f"Content-Length: {len(data)}"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def get(path, token):
    """The bytes of a GET."""
    return f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def middle(rounds, *keys):
    """The median of the rounds, number by number."""
    return {key: round(statistics.median(r[key] for r in rounds)) for key in keys}
