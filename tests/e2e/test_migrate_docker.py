"""Exports from inside of a container, on a real Docker engine and through a real sshd. scripts/test starts both."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from conftest import BINARY, run

SECRET = "only-the-container-knows"


def docker(*args, check=True):
    return subprocess.run(["docker", *args], check=check, capture_output=True, text=True)


@pytest.fixture
def container(make_instance, scratch):
    """A running container with dashctl, its libraries and an instance's data directory mounted; the data lies in /data."""
    source = make_instance("source", start=False)
    source.set(cloud1_secret_access_key=SECRET, cloud1_region="us-east-2")
    name = "dash-" + scratch.name[-8:].lower().replace("_", "x")
    mounts = ["-v", f"{BINARY}:/bin/dashctl:ro", "-v", f"{source.folder}:/data"]
    for folder in ("/lib", "/lib64", "/usr/lib"):
        mounts += ["-v", f"{folder}:{folder}:ro"]
    docker("run", "-d", "--name", name, "--network", "none", "-e", "DASHCTL_DATA_DIR=/data", *mounts,
           os.environ["DOCKER_TEST_IMAGE"], "sleep", "3600")
    yield name
    docker("rm", "-f", name, check=False)


def test_docker_mode_carries_secrets(container, scratch):
    out = scratch / "bundle.json"
    done = run("migrate", "export", "--via", "docker", "--container", container, "--out", out)
    assert done.code == 0, done
    bundle = json.loads(out.read_text())
    assert bundle["config"]["cloud1_secret_access_key"] == SECRET
    assert bundle["meta"]["export_method"] == "docker"
    assert SECRET not in done.out + done.err
    assert out.stat().st_mode & 0o777 == 0o600


def test_an_unknown_container_is_unreachable_and_named(scratch):
    out = scratch / "bundle.json"
    done = run("migrate", "export", "--via=docker", "--container", "no-such-container", "--out", out)
    assert done.code == 7, done
    assert "no-such-container" in done.err
    assert not out.exists()


@pytest.fixture
def engine_for_ssh():
    """The account behind sshd knows no DOCKER_HOST: the engine's socket is put where docker looks by itself."""
    socket = Path(os.environ["DOCKER_HOST"].removeprefix("unix://"))
    place = Path("/var/run/docker.sock")
    mode = socket.stat().st_mode
    socket.chmod(0o666)
    place.symlink_to(socket)
    yield
    place.unlink()
    socket.chmod(mode)


def ssh_flags(scratch):
    known = scratch / "known_hosts"
    return ["--docker-host", f"ssh://{os.environ['SSH_USER']}@127.0.0.1:{os.environ['SSH_PORT']}", "--ssh-key",
            os.environ["SSH_KEY"], "--known-hosts", known]


def test_an_unknown_ssh_host_is_refused_until_its_key_is_accepted(container, engine_for_ssh, scratch):
    out = scratch / "bundle.json"
    words = ["migrate", "export", "--via", "docker", "--container", container, "--out", out, *ssh_flags(scratch)]
    refused = run(*words)
    assert refused.code == 7, refused
    assert "--accept-new-host-key" in refused.err
    assert not out.exists()
    accepted = run(*words, "--accept-new-host-key")
    assert accepted.code == 0, accepted
    assert json.loads(out.read_text())["config"]["cloud1_secret_access_key"] == SECRET
    again = run(*words)
    assert again.code == 0, again


def test_a_changed_host_key_is_never_accepted(scratch):
    known = scratch / "known_hosts"
    key = subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(scratch / "other")], check=True)
    assert key.returncode == 0
    kind, data = (scratch / "other.pub").read_text().split()[:2]
    known.write_text(f"[127.0.0.1]:{os.environ['SSH_PORT']} {kind} {data}\n")
    done = run("migrate", "export", "--via", "docker", "--container", "any-one", *ssh_flags(scratch),
               "--accept-new-host-key")
    assert done.code == 7, done
