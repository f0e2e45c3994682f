"""Latency of one decision: the dry run through the whole route, the bare resident engine, and an engine spawned for each decision.

Prints one JSON document. Usage: policy_bench.py [REQUESTS]; DASHCTL names the binary, POLICY_BINARY the engine."""
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from conftest import ROOT, Instance, wait_until  # noqa: E402
from test_policy_cli import REQUEST, engine  # noqa: E402

DOCUMENT = {"action": "cloud1:vm:deploy", "actor": {"username": "root", "is_admin": True}, "request": REQUEST,
            "limits": {"allowed_regions": ["eu-west-1"], "denied_instance_types": [], "prod_window": []},
            "now": {"iso": "2026-07-03T14:00:00Z", "weekday": "fri", "hour": 14}}
RULES = ROOT / "core/policy/builtin"


class UnixHttp(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def percentiles(seconds):
    ordered = sorted(seconds)
    pick = lambda share: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e6)  # noqa: E731
    return {"requests": len(ordered), "min_us": pick(0), "p50_us": pick(0.5), "p99_us": pick(0.99)}


def measure(connection, path, body, count, headers=None):
    data = json.dumps(body)
    taken = []
    for _ in range(count):
        begin = time.perf_counter()
        connection.request("POST", path, body=data, headers={"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        content = answer.read()
        taken.append(time.perf_counter() - begin)
        assert answer.status == 200, content
    return percentiles(taken[count // 10:])  # the first tenth warms up


def bare_engine(binary, folder, count):
    path = str(folder / "s")
    process = subprocess.Popen([binary, "run", "--server", "--addr", f"unix://{path}", "--log-level", "error",
                                "--skip-version-check", str(RULES)], env={}, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: os.path.exists(path), what="the engine's socket")
        return measure(UnixHttp(path), "/v1/data/admission", {"input": DOCUMENT}, count)
    finally:
        process.kill()
        process.wait()


def spawned(binary, count):
    taken = []
    for _ in range(count):
        begin = time.perf_counter()
        subprocess.run([binary, "eval", "--format", "json", "--data", str(RULES), "--stdin-input", "data.admission"],
                       input=json.dumps(DOCUMENT), text=True, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - begin)
    return percentiles(taken)


def dry_run(instance, count):
    instance.add_user("root", admin=True)
    instance.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy",
                 admission_allowed_regions="eu-west-1")
    instance.start()
    token = instance.login("root").token
    connection = http.client.HTTPConnection("127.0.0.1", instance.port)
    body = {"action": DOCUMENT["action"], "request": REQUEST}
    return measure(connection, "/api/admission/check", body, count, {"Authorization": f"Bearer {token}"})


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    binary = engine()
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir="/tmp"))
    instance = Instance(folder / "one", {"POLICY_BINARY": binary})
    try:
        told = {"bare_engine": bare_engine(binary, folder, count), "dry_run": dry_run(instance, count),
                "spawned": spawned(binary, min(50, count))}
        told["dry_run_by_bare"] = round(told["dry_run"]["p50_us"] / told["bare_engine"]["p50_us"], 2)
        told["spawned_by_dry_run"] = round(told["spawned"]["p50_us"] / told["dry_run"]["p50_us"], 1)
        print(json.dumps(told, indent=2))
    finally:
        instance.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
