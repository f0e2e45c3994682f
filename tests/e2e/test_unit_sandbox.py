"""The server and its runs with what launchers/dashctl.service leaves them."""
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support import unit_sandbox
from support.automation import ansible, log, put_asset, run as run_asset, ssh_host
from support.doubles import double
from support.instance import Instance
from support.jobs import MACHINE, executor, wait_for
from support.program import BINARY

WRAPPER = [sys.executable, unit_sandbox.__file__]

pytestmark = pytest.mark.skipif(bool(unit_sandbox.missing()), reason=unit_sandbox.missing())


def give_away(folder):
    """To the user of the sandbox, with all that is in it."""
    folder.parent.chmod(0o711)
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, unit_sandbox.NOBODY, unit_sandbox.NOBODY)


# Everything that could empty a file which Landlock below ABI 3 lets it read; openat2 and io_uring by number.
EMPTY_IT = textwrap.dedent('''
    import ctypes, os, sys
    path = sys.argv[1]
    libc = ctypes.CDLL(None)
    def attempt(action):
        try:
            action()
        except OSError:
            pass
    attempt(lambda: os.truncate(path, 0))
    for mode in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, 3):
        attempt(lambda: os.open(path, mode | os.O_TRUNC))
    how = (ctypes.c_uint64 * 3)(os.O_TRUNC | 3, 0, 0)
    libc.syscall(437, -100, path.encode(), how, 24)
    libc.syscall(425, 8, ctypes.create_string_buffer(120))
    open("own", "w").write("mine")
    print(open("own").read(), os.path.getsize(path))
''')


@pytest.mark.parametrize("abi", [2, 99])
def test_a_confined_run_harms_nothing(scratch, abi):
    work, data = scratch / "work", scratch / "data"
    work.mkdir(), data.mkdir(mode=0o700)
    for name in ("dashctl.db", "signing.key"):
        (data / name).write_text("content")
    give_away(work), give_away(data)
    script = f"cat {data}/signing.key; echo x > {data}/signing.key; exec {sys.executable} -c \"$0\" {data}/dashctl.db"
    launch = (f"cd {work}; exec {BINARY} exec-child --parent $PPID --landlock --tcp --supervised 15 --max-abi {abi} --work {work} "
              f"--read {data}/dashctl.db --device /dev/null -- /bin/sh -c '{script}' \"$0\"")
    done = subprocess.run([*WRAPPER, "/bin/sh", "-c", launch, EMPTY_IT], capture_output=True, text=True, check=False)
    assert done.stdout == "mine 7\n", done
    assert (data / "dashctl.db").read_text() == (data / "signing.key").read_text() == "content"


def under_the_unit(scratch, **settings):
    """An instance with an admin, to be started with what the unit leaves it; its data folder is the unit's."""
    instance = Instance(scratch / "one", {"AUTOMATION_ANSIBLE": ansible(), "UNIT_KEEPS": str(scratch / "one")})
    instance.wrapper = WRAPPER
    instance.add_user("root", admin=True)
    instance.set(**settings)
    return instance


def test_the_server_runs_jobs_and_ends_what_they_leave(scratch):
    instance = under_the_unit(scratch)
    marks = instance.folder / "marks"
    executor(instance, "cloud1-vm-deploy", f"setsid sleep 600 >/dev/null 2>&1 & echo $! > {marks}; echo done")
    (instance.folder / "work" / "left").mkdir(parents=True)
    give_away(instance.folder)
    instance.start()
    try:
        assert not (instance.folder / "work" / "left").exists()
        root = instance.login("root")
        job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
        wait_for(root, job_id, "completed")
        assert not Path(f"/proc/{marks.read_text().strip()}").exists()
    finally:
        instance.stop()


# What playbooks do most: facts, files with modes, templates, commands, more than one host at a time.
PLAYBOOK = """- hosts: all
  tasks:
    - ansible.builtin.tempfile: {state: directory}
      register: made
    - ansible.builtin.copy: {content: "hello {{ inventory_hostname }}", dest: "{{ made.path }}/file", mode: "0640"}
    - ansible.builtin.command: cat {{ made.path }}/file
      register: shown
    - ansible.builtin.debug: {var: shown.stdout}
    - ansible.builtin.debug: {msg: "of {{ ansible_facts.system }}"}
    - ansible.builtin.file: {path: "{{ made.path }}", state: absent}
"""


def test_playbooks_run_under_the_unit_each_time(scratch):
    instance = under_the_unit(scratch, storage_local_path=str(scratch / "one" / "assets"), storage_active_backend="local",
                              ansible_enabled="true", automation_targets="127.0.0.1")
    (instance.folder / "assets").mkdir()
    give_away(instance.folder)
    with double("ssh", "SSH_PORT") as ssh:
        instance.start()
        try:
            root = instance.login("root")
            for host in (ssh_host("by-key", ssh), ssh_host("by-password", ssh, secret=ssh["SSH_PASS"]),
                         {"name": "here", "address": "127.0.0.1", "connection": "local"}):
                assert root.post("/api/hosts", host).status == 201
            put_asset(root, "site.yml", PLAYBOOK)
            put_asset(root, "hello.sh", "#!/bin/sh\necho hello from $(id -un)\n")
            for hosts in (["by-key", "by-password"], ["here"], ["by-key", "by-password"]):
                done = run_asset(root, "site.yml", *hosts)
                text = "\n".join(log(root, done["id"]))
                assert done["status"] == "completed", (done["error_message"], text)
                assert all(f"hello {name}" in text for name in hosts) and "of Linux" in text
            done = run_asset(root, "hello.sh", "by-key", secret_vars={"word": "secret"})
            assert done["status"] == "completed", (done["error_message"], log(root, done["id"]))
        finally:
            instance.stop()
    assert not list((instance.folder / "work").iterdir())
