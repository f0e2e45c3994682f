"""Automation runs against real sshd: hosts, assets, jobs."""
import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from support.doubles import start_double, stop_double
from support.jobs import job
from support.ports import free_port, is_open
from support.program import ROOT
from support.storage import upload
from support.wait import wait_until

ENDED = ("completed", "failed", "cancelled")

ASKS = """- hosts: all
  gather_facts: false
  tasks:
    - name: Ask
      ansible.builtin.command: echo hello {{ inventory_hostname }}
      register: asked
    - name: Print
      ansible.builtin.debug:
        var: asked.stdout
"""


def hangs(seconds):
    """A playbook that says that it has begun and then sleeps; the number is what a test finds its process by."""
    return f"""- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: echo begun
    - ansible.builtin.command: sleep {seconds}
"""


def ansible():
    """The path of ansible-playbook: what the tests were given, else what scripts/setup has made."""
    for path in (os.environ.get("AUTOMATION_ANSIBLE"), shutil.which("ansible-playbook"),
                 "/usr/local/lib/dashctl/ansible/bin/ansible-playbook"):
        if path and os.access(path, os.X_OK):
            return path
    done = subprocess.run([ROOT / "scripts/setup", "automation"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def host_key(env, kind="ssh-ed25519"):
    """The key of a server, as a host pins it."""
    for line in Path(env["SSH_KNOWN_HOSTS"]).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[1] == kind:
            return f"{words[1]} {words[2]}"
    raise AssertionError(f"no {kind} in {env['SSH_KNOWN_HOSTS']}")


def ssh_host(name, env, secret=None, **more):
    return {"name": name, "address": env["SSH_HOST"], "port": int(env["SSH_PORT"]), "user": env["SSH_USER"],
            "host_key": host_key(env), "secret": secret or Path(env["SSH_KEY"]).read_text(encoding="utf-8"), **more}


@contextlib.contextmanager
def ssh_servers(count):
    """The environments of so many sshd of their own."""
    folders = []
    try:
        made = []
        for _ in range(count):
            folders.append(tempfile.mkdtemp(prefix="ssh-", dir="/tmp"))
            made.append(start_double("ssh", folders[-1]))
        yield made
    finally:
        for folder in folders:
            stop_double("ssh", folder)
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def root_sshd(folder, env, host_key_file="host_ed25519"):
    """An sshd that lets root in with the key of another one, and shows one of that one's keys; its port."""
    config, port, keys = folder / "sshd_config", free_port(), Path(env["SSH_KEY"]).parent
    (folder / "keys").write_text(Path(env["SSH_KEY"] + ".pub").read_text(encoding="utf-8"), encoding="utf-8")
    config.write_text(f"Port {port}\nListenAddress 127.0.0.1\nHostKey {keys}/{host_key_file}\nPidFile none\n"
                      f"AuthorizedKeysFile {folder}/keys\nStrictModes no\nPermitRootLogin prohibit-password\nUsePAM no\n"
                      "Subsystem sftp internal-sftp\n", encoding="utf-8")
    with subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", config], stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: is_open(port), what="sshd")
            yield port
        finally:
            server.terminate()


def put_asset(http, name, text):
    answer = upload(http, name, text if isinstance(text, bytes) else text.encode())
    assert answer.status in (200, 201), answer


def run(http, asset, *hosts, path="/api/config-mgmt/run", **more):
    """Requests a run and waits for its end; the job."""
    answer = http.post(path, {"asset": asset, "hosts": list(hosts), **more})
    assert answer.status == 200, answer
    return ended(http, answer.json["job_id"])


def ended(http, job_id):
    """The job when it has ended. Ansible takes seconds for a task, and more where many tests run at once."""
    return wait_until(lambda: (lambda j: j if j["status"] in ENDED else None)(job(http, job_id)), seconds=150, what="the run's end")


def log(http, job_id):
    return [line["line"] for line in http.get(f"/api/jobs/{job_id}/logs").json["logs"]]


def outcomes(run_job):
    return {host["name"]: host["outcome"] for host in run_job["hosts"]}
