"""Modules that need no cloud, and the program that runs them."""
import os
import random
import shutil
import signal
import socket
import threading
import time

from support.jobs import job
from support.relay import pump
from support.wait import wait_until

PROGRAM = os.environ.get("IAC_BINARY") or shutil.which("tofu") or shutil.which("terraform")

VARIABLES = "".join(f'variable "{name}" {{ type = string }}\n' for name in ("region", "instance_type", "image", "name"))

# What the machine "does" is a file beneath `marks`. The values pass through the environment.
MACHINE_TF = VARIABLES + """
resource "terraform_data" "machine" {
  input = { region = var.region, type = var.instance_type, image = var.image, name = var.name }
  provisioner "local-exec" {
    command     = %(command)s
    environment = { NAME = var.name, MARKS = "%(marks)s" }
  }
  provisioner "local-exec" {
    when        = destroy
    command     = "echo gone >> \\"$MARKS/destroyed\\""
    environment = { MARKS = "%(marks)s" }
  }
}
output "resource_id" { value = "i-${substr(md5(terraform_data.machine.id), 0, 8)}" }
output "name" { value = var.name }
output "password" {
  value     = "hidden-${var.name}"
  sensitive = true
}
"""
WAITS = '"echo up > \\"$MARKS/up\\"; sleep 60"'
MADE = '"printf %s \\"$NAME\\" > \\"$MARKS/made\\""'


def put_module(folder, marks, command=MADE, name="cloud1-vm-deploy", text=None):
    marks.mkdir(exist_ok=True)
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    for one in (folder.parent, folder):
        one.chmod(0o755)
    path = folder / "main.tf"
    path.write_text(text if text is not None else MACHINE_TF % {"command": command, "marks": marks})
    path.chmod(0o644)
    return folder


def machine(name="web"):
    return {"region": "us-east-1", "instance_type": "t3.large", "image": "ami-1", "name": name}


def deploy(http, name="web"):
    answer = http.post("/api/cloud1/deploy", machine(name))
    assert answer.status == 200, answer
    return answer.json["job_id"]


def destroy(http, name):
    answer = http.delete(f"/api/cloud1/instances/{name}")
    assert answer.status == 200, answer
    return answer.json["job_id"]


def ended(http, job_id, seconds=90):
    final = ("completed", "failed", "cancelled")
    return wait_until(lambda: (lambda j: j if j["status"] in final else None)(job(http, job_id)), seconds, f"the end of {job_id}")


def log_of(http, job_id):
    return "\n".join(line["line"] for line in http.get(f"/api/jobs/{job_id}/logs").json["logs"])


def processes(*words):
    """The numbers of the processes whose command line has all of the words."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if all(word in line for word in words):
            found.append(int(pid))
    return found


def is_supervisor(pid):
    return " exec-child " in open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\0", b" ").decode()


def kill_the_program(instance):
    """Kills the program that applies for this instance, and not what watches over it."""
    pid, *_ = (pid for pid in processes(str(instance.folder), "apply", "plan.bin") if not is_supervisor(pid))
    os.kill(pid, signal.SIGKILL)


def states(root):
    return {item["job"]: item for item in root.get("/api/storage/state").json["items"]}


def no_program_is_left(instance):
    return not processes(str(instance.folder / "deploy-work"))


# A machine that is there as long as a file of its name is.
FILE_TF = VARIABLES + """
resource "terraform_data" "machine" {
  input = { name = var.name }
  provisioner "local-exec" {
    command     = "touch \\"$MARKS/$NAME\\"; sleep 0.5"
    environment = { NAME = var.name, MARKS = "%(marks)s" }
  }
  provisioner "local-exec" {
    when        = destroy
    command     = "sleep 0.5; rm -f \\"$MARKS/$NAME\\""
    environment = { NAME = self.input.name, MARKS = "%(marks)s" }
  }
}
"""


class KillLoop:
    """Kills at any moment of a deploy or a destroy: no state is lost, no lock is without a name, no job stays running."""

    def __init__(self, one, marks, seed):
        self.one, self.marks, self.seed = one, marks, seed
        self.dice = random.Random(seed)
        self.killed = {"server in deploy": 0, "program in deploy": 0, "server in destroy": 0}
        put_module(one.folder / "deploy", marks, text=FILE_TF % {"marks": marks})
        self.root = one.start().login("root")

    def run(self, rounds):
        """Returns {what was killed: how often}."""
        for number in range(rounds):
            what = list(self.killed)[number % len(self.killed)]
            name = f"web-{number}"
            job_id = deploy(self.root, name)
            if what == "server in destroy":
                made = ended(self.root, job_id)
                assert made["status"] == "completed", self.told(made)
                self.kill(what, destroy(self.root, name))
            else:
                self.kill(what, job_id)
            self.check(what, name, job_id)
        return self.killed

    def kill(self, what, job_id):
        time.sleep(self.dice.uniform(0.2, 2.5))
        if what == "program in deploy":
            running = [pid for pid in processes(str(self.one.folder / "deploy-work")) if not is_supervisor(pid)]
            for pid in running[:1]:
                os.kill(pid, signal.SIGKILL)
                self.killed[what] += 1
        else:
            self.killed[what] += job(self.root, job_id)["status"] == "running"
            self.one.kill()
            self.root = self.one.start().login("root")
        done = ended(self.root, job_id)
        left = self.one.folder / "deploy-work"
        wait_until(lambda: no_program_is_left(self.one) and not list(left.glob("*")), 60, f"the settling of {done}")

    def check(self, what, name, job_id):
        """The state has what is there, and the machine can be destroyed."""
        state = states(self.root).get(job_id)
        lock = state and state["lock"]
        done = job(self.root, job_id)
        if what != "program in deploy":
            assert not lock, self.told(done, state)
            assert not (self.marks / name).exists() or state["resources"] == 1, self.told(done, state)
        elif lock:
            assert lock["id"] and lock["who"] and done["status"] == "failed", self.told(done, state)
            assert "storage state unlock" in done["warnings"][-1], self.told(done, state)
            assert self.root.delete(f"/api/storage/state/{job_id}/lock?id={lock['id']}").status == 200
        if state and state["resources"]:
            gone = ended(self.root, destroy(self.root, name))
            assert gone["status"] == "completed" and states(self.root)[job_id]["resources"] == 0, self.told(gone)
            # The program runs no provisioner of a machine that was cut in the making.
            assert what != "server in destroy" or not (self.marks / name).exists(), self.told(gone)
        assert not self.root.get("/api/jobs?status=running").json["jobs"]

    def told(self, done, state=None):
        return f"seed {self.seed}: {done} {state}\n{log_of(self.root, done['id'])}"


def kill_rounds(one, marks, rounds, seed):
    killed = KillLoop(one, marks, seed).run(rounds)
    print(f"killed in {rounds} rounds: {killed}")
    assert rounds < 9 or all(killed.values()), killed


class Gate:
    """A relay in front of a port that can be shut: open connections end, and new ones get nothing."""

    def __init__(self, upstream_port):
        self.upstream_port, self.is_shut, self.sockets = upstream_port, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def shut(self):
        self.is_shut = True
        for one in self.sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def open(self):
        self.is_shut = False

    def _accept(self):
        while True:
            client, _ = self.listener.accept()
            if self.is_shut:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.upstream_port))
            self.sockets += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=pump, args=(source, sink, sink.sendall), daemon=True).start()
