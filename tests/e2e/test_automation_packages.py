"""Packages made by the test, installed with become through a real sshd: a .deb by dpkg, an .rpm by Debian's dnf. Each in a file
system of its own: the program for become binds other folders over the package database's and the package's. And the other version
of ansible-core that is promised to work."""
import os
import subprocess
from pathlib import Path

import pytest

from support.automation import ansible, log, outcomes, put_asset, root_sshd, run, ssh_host
from support.doubles import double
from support.program import ROOT

pytestmark = pytest.mark.long
CONTROL = "Package: made-by-test\nVersion: 1\nArchitecture: all\nMaintainer: t <t@t>\nDescription: t\n"
SPEC = """Name: made-by-test
Version: 1
Release: 1
Summary: t
License: t
BuildArch: noarch
%description
t
%install
mkdir -p %{buildroot}/opt
echo x > %{buildroot}/opt/made-by-test
%files
/opt/made-by-test
"""


def make_deb(scratch):
    tree = scratch / "pkg"
    for folder in (tree / "DEBIAN", tree / "opt"):
        folder.mkdir(parents=True)
    (tree / "opt/made-by-test").write_text("x")
    (tree / "DEBIAN/control").write_text(CONTROL)
    subprocess.run(["dpkg-deb", "--build", "-Zgzip", tree, scratch / "made.deb"], check=True, capture_output=True)
    return scratch / "made.deb"


def make_rpm(scratch):
    done = subprocess.run([ROOT / "scripts/doubles/install.sh", "rpm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (scratch / "made.spec").write_text(SPEC)
    subprocess.run(["rpmbuild", "-bb", "--define", f"_topdir {scratch}/rpmbuild", scratch / "made.spec"], check=True, capture_output=True,
                   env={**os.environ, "HOME": str(scratch)})
    made, = (scratch / "rpmbuild/RPMS").rglob("*.rpm")
    return made


# What of the host's file system the installation gets as an empty folder of its own, what then must be there, and the question that the
# host's own database denies. Debian's rpm keeps its database in the home folder.
KINDS = {"deb": (make_deb, ["/var/lib/dpkg", "/opt"], "var/lib/dpkg/info/made-by-test.list", ["dpkg", "-s"]),
         "rpm": (make_rpm, ["/var/lib/dnf", "/var/cache/dnf", "/var/log", "/opt"], "root/.rpmdb/rpmdb.sqlite", ["rpm", "-q"])}


@pytest.fixture
def server():
    with double("ssh", "SSH_PORT") as env:
        yield env


def start(make_instance, scratch, program):
    (scratch / "assets").mkdir()
    one = make_instance(start=False, env={"AUTOMATION_ANSIBLE": program})
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    return one.start().login("root")


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_is_installed_with_become(kind, make_instance, scratch, server):
    make, folders, record, ask = KINDS[kind]
    package = make(scratch)
    chroot = scratch / "chroot"
    for folder in (*folders, "/root", "/var/lib/dpkg/info", "/var/lib/dpkg/updates"):
        (chroot / folder[1:]).mkdir(parents=True, exist_ok=True)
    for name in ("status", "available"):
        (chroot / "var/lib/dpkg" / name).touch()
    binds = " && ".join(f"mkdir -p {folder} && mount --bind {chroot}{folder} {folder}" for folder in folders)
    become = scratch / "become"
    become.write_text(f"""#!/bin/sh
while [ "$1" != /bin/sh ]; do shift; done
export HOME={chroot}/root
exec unshare --mount /bin/sh -c '{binds} && exec "$@"' sh "$@"
""")
    become.chmod(0o755)
    root = start(make_instance, scratch, ansible())
    put_asset(root, f"made.{kind}", package.read_bytes())
    assert root.post("/api/hosts", {"name": "here", "address": "127.0.0.1", "connection": "local"}).status == 201
    refused = root.post("/api/config-mgmt/run", {"asset": f"made.{kind}", "hosts": ["here"]})
    assert refused.status == 400 and "become" in refused.json["detail"], refused
    with root_sshd(scratch, server) as port:
        host = ssh_host("rooted", {**server, "SSH_PORT": str(port), "SSH_USER": "root"}, variables={
            "ansible_python_interpreter": "/usr/bin/python3", "ansible_become_user": "nobody", "ansible_become_exe": str(become)})
        assert root.post("/api/hosts", host).status == 201
        done = run(root, f"made.{kind}", "rooted")
    assert done["status"] == "completed" and outcomes(done) == {"rooted": "changed"}, "\n".join(log(root, done["id"]))
    assert (chroot / "opt/made-by-test").exists() and (chroot / record).exists()
    assert not Path("/opt/made-by-test").exists()
    assert subprocess.run([*ask, "made-by-test"], capture_output=True, check=False).returncode == 1


PLAYBOOK = """- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: echo hello {{ inventory_hostname }} with {{ ansible_version.full }}
      register: said
    - ansible.builtin.debug:
        var: said.stdout
    - ansible.builtin.fail:
        msg: "died of {{ token }}"
      when: inventory_hostname == "rooted"
"""


@pytest.mark.parametrize("version", ["2.18", "2.19"])
def test_each_promised_version_of_ansible_reports_every_host(version, make_instance, scratch, server):
    venv = scratch / "venv"
    major, minor = version.split(".")
    subprocess.run(["/usr/bin/python3", "-m", "venv", venv], check=True, capture_output=True)
    done = subprocess.run([venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check",
                           f"ansible-core>={version},<{major}.{int(minor) + 1}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for folder in (venv, *venv.parents):
        if folder != Path("/") and folder.stat().st_uid == os.getuid():
            folder.chmod(folder.stat().st_mode | 0o711)
    root = start(make_instance, scratch, str(venv / "bin/ansible-playbook"))
    put_asset(root, "site.yml", PLAYBOOK)
    put_asset(root, "hello.sh", "echo hello from a script\n")
    assert root.post("/api/hosts", {"name": "here", "address": "127.0.0.1", "connection": "local"}).status == 201
    with root_sshd(scratch, server) as port:
        env = {**server, "SSH_PORT": str(port), "SSH_USER": "root"}
        python = {"ansible_python_interpreter": "/usr/bin/python3"}
        assert root.post("/api/hosts", ssh_host("rooted", env, variables=python)).status == 201
        done = run(root, "site.yml", "here", "rooted", secret_vars={"token": "planted-secret-4711"})
        script = run(root, "hello.sh", "here", "rooted")
    text = "\n".join(log(root, done["id"]))
    assert outcomes(done) == {"here": "changed", "rooted": "failed"} and done["status"] == "failed", (done, text)
    assert f"hello here with {version}." in text and "planted-secret-4711" not in text and "died of" in done["error_message"], text
    assert script["status"] == "completed" and outcomes(script) == {"here": "changed", "rooted": "changed"}, script
    assert "hello from a script" in log(root, script["id"])
