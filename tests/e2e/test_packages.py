"""What scripts/package makes: the Debian package, its SBOM, the check of licences."""
import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess

import pytest

from support.debian import System, build_package, with_version
from support.ports import free_port
from support.program import BINARY, ROOT, clean_environment
from support.wait import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return build_package(tmp_path_factory.mktemp("package"))


def test_the_same_source_gives_the_same_bytes(package, tmp_path):
    again = build_package(tmp_path)
    for kind in (".deb", ".cdx.json"):
        assert again.with_suffix("").with_name(again.stem + kind).read_bytes() == package.with_name(package.stem + kind).read_bytes()


@pytest.mark.long
def test_a_build_in_another_folder_gives_the_same_bytes(tmp_path):
    """From nothing, twice, without the compiler's cache."""
    made = []
    for name in ("one", "elsewhere/two"):
        checkout = tmp_path / name
        subprocess.run(["git", "clone", "-q", ROOT, checkout], check=True)
        subprocess.run([checkout / "scripts/package", tmp_path / f"out-{len(made)}"], check=True, env=clean_environment({"CCACHE_DISABLE": "1"}))
        made.append(next((tmp_path / f"out-{len(made)}").glob("*.deb")).read_bytes())
        shutil.rmtree(checkout)
    assert made[0] == made[1]


def test_lintian_has_nothing_against_the_package(package):
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", package], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_sbom_lists_what_is_loaded_and_what_was_compiled_in(package):
    bom = json.loads(package.with_name(package.stem + ".cdx.json").read_text())
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.4")
    found = {one["name"]: one for one in bom["components"]}
    linkage = {name: one["properties"][0]["value"] for name, one in found.items()}
    assert linkage["libssl3"] == linkage["libsqlite3-0"] == linkage["libpq5"] == "shared library"
    assert linkage["libboost1.81-dev"] == linkage["nlohmann-json3-dev"] == "header"
    for one in found.values():
        version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", one["name"]], capture_output=True, text=True, check=True)
        assert one["version"] in version.stdout.split() and one["licenses"][0]["expression"]
    assert set(bom["dependencies"][0]["dependsOn"]) == {one["bom-ref"] for one in found.values()}


@pytest.mark.parametrize("change", [("openssl | Apache-2.0 | Apache-2.0\n", ""), ("openssl | Apache-2.0 | Apache-2.0", "openssl | OpenSSL | OpenSSL")],
                         ids=["unknown", "changed"])
def test_a_licence_that_nobody_looked_at_stops_the_package(change, tmp_path):
    shutil.copytree(ROOT / "scripts/packaging", tmp_path / "packaging")
    table = tmp_path / "packaging/licences.txt"
    assert change[0] in table.read_text()
    table.write_text(table.read_text().replace(*change))
    done = subprocess.run(["/usr/bin/python3", tmp_path / "packaging/sbom.py", BINARY, os.path.dirname(BINARY), "1", "0"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and "libssl3 (source openssl)" in done.stderr and not done.stdout


def serve_inside(system, port):
    """The installed server as its unit starts it, and the token of nobody: only health is asked."""
    return subprocess.Popen(["/usr/sbin/chroot", "--userspec=dashctl:dashctl", system.folder, "/usr/bin/dashctl", "serve", "--data-dir",
                             "/var/lib/dashctl", "--listen", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin"})


def answers(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, socket.timeout):
        return False
    finally:
        connection.close()


def serve_once(system):
    port = free_port()
    server = serve_inside(system, port)
    try:
        wait_until(lambda: answers(port), what="the installed server")
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) == 0


def dashctl(system, words):
    """A command of the installed program on its data, as its user."""
    command = f"dashctl {words} --data-dir /var/lib/dashctl"
    return system.run("setpriv", "--reuid=dashctl", "--regid=dashctl", "--clear-groups", "sh", "-c", command).stdout.strip()


def read_setting(system):
    return dashctl(system, "config get cloud1_region")


def test_installing_upgrading_removing_and_purging(package, tmp_path):
    system = System(tmp_path / "root")
    system.install(package)
    for name in ("/usr/bin/dashctl", "/lib/systemd/system/dashctl.service", "/lib/systemd/system/dashctl.socket", "/lib/systemd/system/dashctl-agent.service",
                 "/usr/share/man/man1/dashctl.1.gz", "/usr/share/bash-completion/completions/dashctl", "/usr/share/dashctl/launchers/dashctl-migrate.sh",
                 "/usr/share/dashctl/policy/allowed_regions.rego", "/usr/share/doc/dashctl/examples/nginx.conf",
                 "/usr/share/doc/dashctl/examples/deploy/record/main.tf", "/etc/dashctl/serve.env"):
        assert system.path(name).is_file(), name
    socket_link = system.path("/etc/systemd/system/sockets.target.wants/dashctl.socket")
    assert os.path.lexists(socket_link)
    # An agent is there for whoever enrols it, and not started for anyone else.
    wanted = system.path("/etc/systemd/system/multi-user.target.wants")
    assert [os.path.lexists(wanted / f"{name}.service") for name in ("dashctl", "dashctl-agent")] == [True, False]
    assert system.run("id", "-un", "dashctl-agent").stdout.strip() == "dashctl-agent"
    data = system.path("/var/lib/dashctl")
    user, group = system.run("id", "-u", "dashctl").stdout.strip(), system.run("id", "-g", "dashctl").stdout.strip()
    about = data.stat()
    assert (about.st_uid, about.st_gid, stat.S_IMODE(about.st_mode)) == (int(user), int(group), 0o700) and int(user) != 0
    assert system.path("/usr/share/man/man1/dashctl.1.gz").read_bytes()[:2] == b"\x1f\x8b"
    serve_once(system)
    system.path("/tmp/password").write_text("correct horse battery\n")
    dashctl(system, "user add root --admin --password-file /tmp/password")

    # An upgrade keeps what the instance and the operator wrote, and the units that are enabled: these are the links that
    # `systemctl enable dashctl-agent.service` makes and `systemctl disable dashctl.socket` removes.
    (wanted / "dashctl-agent.service").symlink_to("/lib/systemd/system/dashctl-agent.service")
    socket_link.unlink()
    dashctl(system, "config set cloud1_region us-east-2")
    system.path("/etc/dashctl/serve.env").write_text("DASHCTL_PUBLIC_URL=https://changed.example\n")
    data.chmod(0o750)
    key = (data / "signing.key").read_bytes()
    system.install(with_version(package, "99.0", tmp_path))
    assert system.run("dpkg-query", "-W", "-f", "${Version}", "dashctl").stdout == "99.0"
    assert "changed.example" in system.path("/etc/dashctl/serve.env").read_text()
    assert stat.S_IMODE(data.stat().st_mode) == 0o750 and (data / "signing.key").read_bytes() == key
    assert system.run("id", "-u", "dashctl").stdout.strip() == user
    assert [os.path.lexists(link) for link in (wanted / "dashctl.service", wanted / "dashctl-agent.service", socket_link)] == [True, True, False]
    assert read_setting(system) == "us-east-2"
    serve_once(system)

    # A removal keeps data and configuration, and so does a purge of somebody who was not asked.
    system.run("apt-get", "remove", "-y", "-q", "dashctl")
    assert not system.path("/usr/bin/dashctl").exists()
    assert (data / "signing.key").read_bytes() == key and system.path("/etc/dashctl/serve.env").exists()
    system.run("dpkg", "--purge", "dashctl")
    assert not system.path("/etc/dashctl").exists() and (data / "signing.key").read_bytes() == key

    # It comes back with its data, and goes with them when the answer is yes.
    system.run("dpkg", "-i", f"/tmp/{package.name}")
    assert read_setting(system) == "us-east-2"
    answer = "dashctl dashctl/remove-data boolean true"
    system.run("sh", "-c", f"echo '{answer}' | debconf-set-selections")
    system.run("dpkg", "--purge", "dashctl")
    assert not data.exists() and not os.path.lexists(wanted / "dashctl-agent.service")
    for name in ("dashctl", "dashctl-agent"):
        assert system.run("id", name, check=False).returncode != 0
    assert system.run("sh", "-c", "debconf-show dashctl").stdout == ""
