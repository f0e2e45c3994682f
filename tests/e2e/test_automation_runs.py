"""Runs of assets by real ansible against real sshd: outcomes, secrets, deadlines, what a playbook can reach."""
import base64
import json
import os
import signal
import socket
import threading
from pathlib import Path

import pytest

from support.automation import (ASKS, ansible, ended, hangs, host_key, log, outcomes, put_asset, root_sshd, run,
                                ssh_host, ssh_servers)
from support.compose import COMPOSE, compose_calls, compose_plugin, compose_up
from support.doubles import double
from support.hosts import HOST_KEY
from support.instance import Instance
from support.ports import free_port
from support.wait import wait_until

PLANTED = "planted-secret-4711"
PLAYBOOK = ASKS
HANGS = hangs(4711)


class World:
    """One instance with hosts, which the tests of this file share."""

    def __init__(self, folder, servers):
        self.folder, self.servers = folder, servers
        self.one = Instance(folder / "one", {"AUTOMATION_ANSIBLE": ansible()})
        self.one.add_user("root", admin=True)
        self.one.set(storage_local_path=str(folder / "assets"), storage_active_backend="local", ansible_enabled="true",
                     automation_targets="127.0.0.1")
        (folder / "assets").mkdir()
        for name, workgroups in (("ann", ["web"]), ("bob", ["data"])):
            self.one.add_user(name, workgroups=workgroups)
        self.one.start("--workers", "4")
        self.root, self.ann, self.bob = (self.one.login(name) for name in ("root", "ann", "bob"))
        self.add_hosts()
        put_asset(self.root, "site.yml", PLAYBOOK)
        put_asset(self.root, "hangs.yml", HANGS)
        put_asset(self.root, "hello.sh", "#!/bin/sh\necho hello from $(id -un)\necho and an error >&2\n")

    def add_hosts(self):
        first, second = self.servers
        closed = {**first, "SSH_PORT": str(free_port())}
        for host in (ssh_host("by-key", first, workgroup="web"), ssh_host("by-password", second, secret=second["SSH_PASS"]),
                     ssh_host("gone", closed), ssh_host("changed", second, host_key=host_key(first)),
                     {"name": "here", "address": "127.0.0.1", "connection": "local"}):
            answer = self.root.post("/api/hosts", host)
            assert answer.status == 201, answer


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for path in (folder, *folder.parents):
        if path != Path("/") and path.stat().st_uid == os.getuid():
            path.chmod(path.stat().st_mode | 0o711)
    with double("ssh", "SSH_PORT") as first, ssh_servers(1) as others:
        made = World(folder, [first, *others])
        yield made
        made.one.stop()


def test_what_is_wrong_with_a_request_is_said_in_one_order(make_instance, scratch):
    one = make_instance("bare", env={"AUTOMATION_ANSIBLE": ansible()})
    one.add_user("ann", workgroups=["web"])
    root, ann = one.login("root"), one.login("ann")
    wrong = {"asset": "none.yml", "hosts": ["nobody"], "workgroup": "data", "forks": 0}

    def refused(http, body, status, text):
        for path in ("run", "run-bulk"):
            answer = http.post(f"/api/config-mgmt/{path}", body)
            assert answer.status == status and text in answer.text, answer

    refused(ann, wrong, 409, "No storage backend is active")
    assert root.patch("/api/setup/feature/ansible", {"enabled": True}).status == 409
    (scratch / "assets").mkdir()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local", automation_targets="127.0.0.1")
    one.add_user("bob", workgroups=["data"])
    refused(ann, wrong, 404, "none.yml")
    put_asset(root, "site.yml", PLAYBOOK)
    put_asset(root, "win.ps1", "exit 0")
    root.post("/api/hosts", {"name": "web1", "address": "127.0.0.1", "host_key": HOST_KEY, "workgroup": "web"})
    wrong["asset"] = "site.yml"
    refused(ann, wrong, 404, "nobody")
    refused(ann, {**wrong, "hosts": ["127.0.0.1"]}, 404, "127.0.0.1")
    refused(ann, {**wrong, "hosts": [{"address": "127.0.0.1"}]}, 403, "kept host")
    wrong["hosts"] = ["web1"]
    refused(ann, wrong, 403, "")
    wrong["workgroup"] = "web"
    refused(ann, wrong, 400, "forks")  # on, as the deployed dashboards have it while nobody has set it
    assert root.patch("/api/setup/feature/ansible", {"enabled": False}).status == 200
    refused(ann, wrong, 409, "Automation is off")
    assert root.patch("/api/setup/feature/ansible", {"enabled": True}).status == 200
    refused(ann, wrong, 400, "forks")
    refused(ann, {"asset": "win.ps1", "hosts": ["web1"]}, 400, "winrm")
    refused(ann, {"asset": "site.yml", "hosts": ["web1"], "extra_vars": {"ansible_host": "127.0.0.2"}}, 400, "ansible_host")
    refused(ann, {"asset": "site.yml", "hosts": ["web1"], "secret_vars": {"p": "short"}}, 422, "secret_vars")
    refused(ann, {"asset": "site.yml", "hosts": ["web1"], "agent_id": "1"}, 400, "agent_id")
    refused(ann, {"asset": "site.yml", "hosts": ["web1"], "runner": "ecs"}, 400, "object store")


def test_each_host_has_its_outcome_and_each_target_its_job(world):
    names = ["by-key", "by-password", "gone", "changed"]
    bulk = world.root.post("/api/config-mgmt/run-bulk", {"asset": "site.yml", "inventory_ids": names, "forks": 4})
    assert bulk.status == 200 and bulk.json["count"] == 4 and bulk.json["failed"] == [], bulk
    jobs = {entry["target"]: ended(world.root, entry["job_id"]) for entry in bulk.json["jobs"]}
    assert {name: job["hosts"][0]["outcome"] for name, job in jobs.items()} == {
        "by-key": "changed", "by-password": "changed", "gone": "unreachable", "changed": "unreachable"}
    assert {name: job["status"] for name, job in jobs.items()} == {
        "by-key": "completed", "by-password": "completed", "gone": "failed", "changed": "failed"}
    assert "Host key verification failed" in jobs["changed"]["error_message"], jobs["changed"]
    assert any("hello by-password" in line for line in log(world.root, jobs["by-password"]["id"]))
    assert not any("hello by-key" in line for line in log(world.root, jobs["by-password"]["id"]))
    batch = world.root.get("/api/jobs/" + bulk.json["batch_id"]).json
    assert batch["status"] == "failed" and len(batch["hosts"]) == 4, batch


def test_one_job_has_all_hosts_and_a_member_runs_what_is_his(world):
    done = run(world.root, "site.yml", "by-key", "gone", check=False)
    assert done["status"] == "failed" and done["error_message"].startswith("gone: unreachable"), done
    assert outcomes(done) == {"by-key": "changed", "gone": "unreachable"}
    assert done["exit_status"] == 4 and done["progress"]["items_total"] == 2
    own = run(world.ann, "hello.sh", "by-key")
    assert own["status"] == "completed" and own["progress_pct"] == 100, own
    lines = log(world.ann, own["id"])
    assert f"hello from {world.servers[0]['SSH_USER']}" in lines and "and an error" in lines, lines
    assert world.bob.post("/api/config-mgmt/run", {"asset": "hello.sh", "hosts": ["by-key"]}).status == 404
    here = run(world.root, "hello.sh", "here")
    assert here["status"] == "completed" and outcomes(here) == {"here": "changed"}, here


def test_the_playbook_of_a_run_is_shown(world):
    asked = world.ann.post("/api/config-mgmt/run", {"asset": "hello.sh", "hosts": ["by-key"], "check": True,
                                                    "secret_vars": {"token": PLANTED}}).json["job_id"]
    shown = world.ann.get(f"/api/jobs/{asked}/playbook")
    assert shown.json["generated"] and "ansible.builtin.script" in shown.json["playbook"] and PLANTED not in shown.text
    done = world.one.dashctl("automation", "show", asked)
    assert done.code == 0 and done.out.strip() == shown.json["playbook"].strip(), done
    assert world.bob.get(f"/api/jobs/{asked}/playbook").status == 403
    assert ended(world.ann, asked)["hosts"][0]["outcome"] == "skipped", "a script is not run by --check"


def test_a_secret_is_nowhere_but_where_it_belongs(world):
    put_asset(world.root, "leak.yml", f"""- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "it is {{{{ token }}}} and {{{{ token | b64encode }}}}"
    - ansible.builtin.command: sleep 1
    - ansible.builtin.fail:
        msg: "died of {{{{ token }}}}"
""")
    seen = []
    stop = threading.Event()

    def watch():
        while not stop.is_set():
            for entry in Path("/proc").glob("[0-9]*"):
                for name in ("cmdline", "environ"):
                    try:
                        if PLANTED.encode() in (entry / name).read_bytes():
                            seen.append((entry.name, name))
                    except OSError:
                        pass
            stop.wait(0.1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    done = run(world.root, "leak.yml", "here", secret_vars={"token": PLANTED})
    stop.set()
    watcher.join()
    assert done["status"] == "failed" and "died of" in done["error_message"], done
    text = "\n".join(log(world.root, done["id"]))
    assert "it is" in text and PLANTED not in text and base64.b64encode(PLANTED.encode()).decode() not in text, text
    assert PLANTED not in json.dumps(done) and not seen
    assert not (world.one.folder / "work" / done["id"]).exists()
    for path in world.one.folder.glob("dashctl.db*"):
        assert PLANTED.encode() not in path.read_bytes(), path
    assert PLANTED not in "".join(world.one.log)


def processes(text):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if text in (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                found.append(entry.name)
        except OSError:
            pass
    return found


def test_a_deadline_and_a_cancel_end_every_process(world):
    world.one.set(automation_timeout_seconds="6")
    try:
        late = run(world.root, "hangs.yml", "here")
    finally:
        world.one.set(automation_timeout_seconds="3600")
    assert late["status"] == "failed" and late["reason"] == "timeout" and outcomes(late) == {"here": "failed"}, late
    assert not processes("sleep 4711") and not processes(late["id"])
    asked = world.root.post("/api/config-mgmt/run", {"asset": "hangs.yml", "target": "here"}).json["job_id"]
    wait_until(lambda: processes("sleep 4711"), what="the task")
    assert world.root.delete(f"/api/jobs/{asked}").status == 200
    assert ended(world.root, asked)["status"] == "cancelled"
    assert not processes("sleep 4711") and not processes(asked)


def test_no_child_outlives_its_run_in_a_session_of_its_own(world):
    def starts(seconds, then):
        return f"""- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.shell: setsid nohup sleep {seconds} </dev/null >/dev/null 2>&1 & echo begun
    - ansible.builtin.command: {then}
"""
    put_asset(world.root, "leaves.yml", starts(4715, "sleep 4711"))
    asked = world.root.post("/api/config-mgmt/run", {"asset": "leaves.yml", "target": "here"}).json["job_id"]
    wait_until(lambda: processes("sleep 4715") and processes("sleep 4711"), what="the child and the task")
    assert world.root.delete(f"/api/jobs/{asked}").status == 200
    assert ended(world.root, asked)["status"] == "cancelled"
    assert not processes("sleep 4715") and not processes("sleep 4711")
    put_asset(world.root, "leaves.yml", starts(4716, "echo done"))
    assert run(world.root, "leaves.yml", "here")["status"] == "completed"
    assert not processes("sleep 4716")


def test_a_playbook_reaches_nothing_of_the_instance(world):
    serve = world.one.process.pid
    other = world.root.post("/api/config-mgmt/run", {"asset": "hangs.yml", "target": "here"}).json["job_id"]
    wait_until(lambda: processes("sleep 4711"), what="the other run")
    folder = world.one.folder
    targets = [folder / "signing.key", folder / "dashctl.db", folder / "work" / other / "playbook.yml",
               Path(f"/proc/{serve}/environ"), Path("/etc/shadow")]
    put_asset(world.root, "spy.yml", f"""- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "{{{{ lookup('ansible.builtin.pipe', 'head -c 9 ' ~ item ~ ' >/dev/null && echo got-it || echo refused') }}}}"
      loop: {json.dumps([str(t) for t in targets])}
    - ansible.builtin.shell: "ls {folder} {folder}/work/{other}; echo x > {folder}/planted; kill {serve}; true"
      delegate_to: localhost
      register: shell
    - ansible.builtin.debug:
        var: shell
""")
    done = run(world.root, "spy.yml", "here")
    text = "\n".join(log(world.root, done["id"]))
    world.root.delete(f"/api/jobs/{other}")
    assert done["status"] == "completed", (done, text)
    assert text.count("refused") == len(targets) and "got-it" not in text, text
    assert "signing.key" not in text.split("Permission denied")[-1] and not (folder / "planted").exists(), text
    assert world.root.get("/api/jobs").status == 200
    ended(world.root, other)


def test_become_on_this_machine_is_refused_however_it_is_written(world):
    def asked(text, *hosts, **more):
        put_asset(world.root, "become.yml", text)
        for path in ("run", "run-bulk"):
            answer = world.root.post(f"/api/config-mgmt/{path}", {"asset": "become.yml", "hosts": list(hosts), **more})
            assert answer.status == 400, (text, answer)
        return answer.json["detail"]

    play = "- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.command: id\n"
    for text in (play + "      become: true\n", play + '      "bec\\x6fme": "{{ yes }}"\n', play + "      <<: {become: 1}\n",
                 play + "  vars: {ansible_become: on}\n", play + "  become: yes\n"):
        assert "host 'here'" in asked(text, "by-key", "here") and "become" in asked(text, "here")
    assert "other files" in asked(play + "    - include_tasks: more.yml\n", "here")
    assert "no YAML" in asked("- hosts: [\n", "here")
    assert "more than" in asked(play + "#" * (1 << 20), "here")
    # What a play on other hosts does here counts too.
    assert "machine that runs it" in asked(play + "      delegate_to: localhost\n  become: yes\n", "by-key")
    assert "machine that runs it" in asked(play + "      delegate_to: localhost\n", "by-key",
                                             extra_vars={"ansible_become": True})
    put_asset(world.root, "become.yml", play + "      become: no\n  name: 'become: true'\n")
    assert run(world.root, "become.yml", "here")["status"] == "completed"


def test_what_dead_runs_left_is_removed_while_the_server_runs(world):
    asked = world.root.post("/api/config-mgmt/run", {"asset": "hangs.yml", "target": "here"}).json["job_id"]
    wait_until(lambda: processes("sleep 4711"), what="the run")
    words = {word for pid in processes(asked) for word in Path(f"/proc/{pid}/cmdline").read_text().split("\0")}
    secrets, = (Path(word) for word in words if word.endswith("/" + asked) and Path(word).parent != world.one.folder / "work")
    left = [world.one.folder / "work" / "dead", secrets.parent / "dead"]
    for folder in left:
        folder.mkdir()
        (folder / "key-0").write_text(PLANTED)
    wait_until(lambda: not any(folder.exists() for folder in left), what="the end of what was left")
    assert secrets.is_dir() and processes("sleep 4711"), "the run goes on"
    world.root.delete(f"/api/jobs/{asked}")
    assert ended(world.root, asked)["status"] == "cancelled"
    assert not secrets.exists() and not (world.one.folder / "work" / asked).exists()


def test_no_process_that_knows_a_secret_leaves_a_core(make_instance, scratch):
    one = make_instance("cores", start=False, env={"AUTOMATION_ANSIBLE": ansible()})
    (scratch / "assets").mkdir()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    one.wrapper = ["prlimit", "--core=unlimited:unlimited"]
    root = one.start().login("root")
    put_asset(root, "hangs.yml", HANGS)
    root.post("/api/hosts", {"name": "here", "address": "127.0.0.1", "connection": "local"})
    asked = root.post("/api/config-mgmt/run", {"asset": "hangs.yml", "target": "here",
                                               "secret_vars": {"token": PLANTED}}).json["job_id"]
    wait_until(lambda: processes("sleep 4711"), what="the run")
    known = [*processes(asked), *processes("sleep 4711"), str(one.process.pid)]
    for pid in known:
        limits = Path(f"/proc/{pid}/limits").read_text()
        core, = (line.split()[4:6] for line in limits.splitlines() if line.startswith("Max core file size"))
        assert core == ["1", "1"], (pid, limits)
    folders = {os.readlink(f"/proc/{pid}/cwd") for pid in known}
    os.kill(one.process.pid, signal.SIGSEGV)
    for pid in known[:-1]:
        try:
            os.kill(int(pid), signal.SIGQUIT)
        except ProcessLookupError:
            pass
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/cmdline") and Path(f"/proc/{pid}/cmdline").read_bytes()
                               for pid in known), what="their end")
    one.process.wait()
    one.process = None  # it is no failure that it died
    cores = [path for folder in folders for path in Path(folder).glob("core*") if path.is_file()]
    assert not cores, cores


def test_other_bytes_than_those_that_were_requested_do_not_run(world):
    put_asset(world.root, "later.sh", "echo first\n")
    world.one.stop()
    done = world.one.dashctl("automation", "run", "later.sh", "--host", "here", "--output", "json")
    assert done.code == 0, done
    (world.folder / "assets/later.sh").write_text("echo other\n")
    world.one.start("--workers", "4")
    world.root, world.ann, world.bob = (world.one.login(name) for name in ("root", "ann", "bob"))
    late = ended(world.root, done.json["job_id"])
    assert late["status"] == "failed" and late["reason"] == "asset_changed", late


def test_max_failures_leaves_the_rest_out(world):
    for n in range(3):
        answer = world.root.post("/api/hosts", ssh_host(f"gone{n}", {**world.servers[0], "SSH_PORT": str(free_port())}))
        assert answer.status == 201, answer
    done = run(world.root, "site.yml", "gone0", "gone1", "gone2", "by-key", forks=1, max_failures=0)
    assert done["status"] == "failed" and done["reason"] == "max_failures", done
    assert outcomes(done)["gone0"] == "unreachable" and outcomes(done)["by-key"] in ("skipped", "failed"), done


def test_runners_are_executables_beside_the_executors(world):
    folder = world.one.folder / "deploy"
    folder.mkdir(exist_ok=True)

    def put(name):
        (folder / name).write_text("#!/bin/sh\ncat\n")
        (folder / name).chmod(0o755)

    body = {"asset": "site.yml", "target": "here", "secret_vars": {"token": PLANTED}}
    world.one.set(storage_obj_cloud1_bucket="b")
    put("config-mgmt-run")
    try:
        done = ended(world.root, world.root.post("/api/config-mgmt/run", body).json["job_id"])
    finally:
        (folder / "config-mgmt-run").unlink()
    document = json.loads(log(world.root, done["id"])[0])
    assert done["status"] == "completed" and document["parameters"]["hosts"][0]["name"] == "here", document
    assert PLANTED not in json.dumps(document)


def test_a_host_that_accepts_and_never_speaks_is_given_up_and_others_are_done(world):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hangs = ssh_host("hangs", {**world.servers[0], "SSH_PORT": str(silent.getsockname()[1])})
        assert world.root.post("/api/hosts", hangs).status == 201
        done = run(world.root, "site.yml", "hangs", "by-key", forks=2)
    assert done["status"] == "failed" and "hangs: unreachable" in done["error_message"], done
    assert outcomes(done) == {"hangs": "unreachable", "by-key": "changed"} and not processes(done["id"]), done
    assert any("hello by-key" in line for line in log(world.root, done["id"]))


BECOMES = """- hosts: all
  gather_facts: false
  become: true
  tasks:
    - ansible.builtin.command: id -un
      register: who
    - ansible.builtin.debug:
        var: who.stdout
"""


def test_a_playbook_becomes_another_user_on_its_host(world, scratch):
    account = world.servers[0]["SSH_USER"]
    put_asset(world.root, "becomes.yml", BECOMES)
    with root_sshd(scratch, world.servers[0]) as port:
        host = ssh_host("becoming", {**world.servers[0], "SSH_PORT": str(port), "SSH_USER": "root"}, variables={
            "ansible_python_interpreter": "/usr/bin/python3", "ansible_become_method": "su", "ansible_become_user": account})
        assert world.root.post("/api/hosts", host).status == 201
        done = run(world.root, "becomes.yml", "becoming")
    text = "\n".join(log(world.root, done["id"]))
    assert done["status"] == "completed" and f'"who.stdout": "{account}"' in text, (done, text)


@pytest.fixture
def compose_home(world):
    with compose_plugin(world.servers[0]["SSH_USER"]) as home:
        yield home


def test_a_compose_file_is_copied_to_the_host_and_its_project_started(world, compose_home):
    path = "/api/config-mgmt/compose-deploy"
    put_asset(world.root, "shop.yml", COMPOSE)
    done = run(world.ann, "shop.yml", "by-key", path=path, project="shop-1")
    assert done["status"] == "completed" and outcomes(done) == {"by-key": "changed"}, (done, log(world.ann, done["id"]))
    folder = compose_home / ".dashctl/compose/shop-1"
    assert (folder / "compose.yml").read_text(encoding="utf-8") == COMPOSE
    assert compose_calls(compose_home) == [str(folder), *compose_up("shop-1")]
    assert "docker, compose" in world.ann.get(f"/api/jobs/{done['id']}/playbook").json["playbook"]
    failed = run(world.ann, "shop.yml", "by-key", path=path, project="broken")
    assert failed["status"] == "failed" and outcomes(failed) == {"by-key": "failed"}, failed
    for body, status in (({"asset": "shop.yml", "hosts": ["by-key"]}, 422), ({"asset": "shop.yml", "project": "x"}, 400),
                         ({"asset": "shop.yml", "hosts": ["by-key"], "project": "../x"}, 400),
                         ({"asset": "hello.sh", "hosts": ["by-key"], "project": "x"}, 400),
                         ({"asset": "none.yml", "hosts": ["by-key"], "project": "x"}, 404),
                         ({"asset": "shop.yml", "hosts": ["gone"], "project": "x"}, 404),
                         ({"asset": "shop.yml", "hosts": ["by-key"], "project": "x", "workgroup": "data"}, 403)):
        answer = world.ann.post(path, body)
        assert answer.status == status, (body, answer)
    assert world.bob.post(path, {"asset": "shop.yml", "hosts": ["by-key"], "project": "x"}).status == 404
