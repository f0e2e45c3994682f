"""A batch of runs beside ansible-playbook alone: the same script on the same hosts, which are all this machine.

    scripts/bench runs [TARGETS] [LINES]      20 targets and 1,000 lines of output each by default; 500 is the goal's size
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.automation import ansible, put_asset  # noqa: E402
from support.instance import Instance  # noqa: E402
from support.wait import wait_until  # noqa: E402

FORKS = 10


def peak_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def alone(folder, script, targets):
    """Seconds of ansible-playbook without an instance, with its own output on a file."""
    (folder / "asset.sh").write_text(script)
    (folder / "play.yml").write_text("- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.script:\n        cmd: asset.sh\n")
    hosts = {f"t{n}": {"ansible_connection": "local"} for n in range(targets)}
    (folder / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    environment = {**os.environ, "ANSIBLE_PIPELINING": "True", "ANSIBLE_PYTHON_INTERPRETER": "auto_silent", "HOME": str(folder)}
    begun = time.monotonic()
    with (folder / "out.txt").open("w") as out:
        subprocess.run([ansible(), "--inventory", folder / "inventory.json", "--forks", str(FORKS), folder / "play.yml"],
                       env=environment, cwd=folder, stdout=out, stderr=subprocess.STDOUT, check=True)
    return time.monotonic() - begun


def batch(folder, script, targets, lines):
    """Seconds from the request to the last job's end, and the server's peak of memory."""
    one = Instance(folder / "one", {"AUTOMATION_ANSIBLE": ansible()})
    (folder / "assets").mkdir()
    one.add_user("root", admin=True)
    one.set(storage_local_path=str(folder / "assets"), storage_active_backend="local", ansible_enabled="true",
            automation_max_targets=str(max(targets, 1)))
    one.start()
    try:
        root = one.login("root")
        put_asset(root, "lines.sh", script)
        hosts = [{"name": f"t{n}", "address": "127.0.0.1", "connection": "local"} for n in range(targets)]
        begun = time.monotonic()
        answer = root.post("/api/config-mgmt/run-bulk", {"asset": "lines.sh", "hosts": hosts, "forks": FORKS})
        assert answer.status == 200, answer
        path = "/api/jobs/batches/" + answer.json["batch_id"]
        ended = wait_until(lambda: (lambda found: found if found["completed"] + found["failed"] == targets else None)(
            root.get(path).json["by_status"]), seconds=3600, what="the batch")
        seconds = time.monotonic() - begun
        last = answer.json["jobs"][-1]["job_id"]
        assert ended["completed"] == targets, (ended, root.get(f"/api/jobs/{last}").json["error_message"])
        kept = root.get(f"/api/jobs/{last}/logs?after=0").json["logs"]
        assert len(kept) >= min(lines, 1000), len(kept)
        return seconds, peak_mib(one.process.pid)
    finally:
        one.stop()


def main():
    targets = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    lines = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    script = f"#!/bin/sh\nseq -f 'line %g of some length, as a program would print it' 1 {lines}\n"
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as name:
        folder = Path(name)
        peer = alone(folder, script, targets)
        seconds, memory = batch(folder, script, targets, lines)
    print(json.dumps({
        "peer": "ansible-playbook alone",
        "ansible-playbook alone": {"targets": targets, "lines": lines, "seconds": round(peer, 2)},
        "dashctl": {"targets": targets, "lines": lines, "seconds": round(seconds, 2), "server peak MiB": memory},
        "goals": {"at most 10 % over ansible-playbook alone": seconds <= peer * 1.1},
    }))


main()
