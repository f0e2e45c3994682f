"""The container image: its size, its user, a read-only system, its health check, the engine inside and rules from outside."""
import gzip
import http.client
import json
import os
import shutil
import subprocess

import pytest

from support.debian import build_package
from support.docker import docker
from support.engine import engine_binary
from support.jobs import MACHINE
from support.ports import free_port
from support.program import ROOT
from support.wait import wait_until

LIMIT = 150 * 10**6  # bytes of `docker save | gzip`

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


def make_image(package, archive):
    subprocess.run([ROOT / "scripts/packaging/image", package, engine_binary(), archive], check=True)
    return archive


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return build_package(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def archive(package, tmp_path_factory):
    return make_image(package, tmp_path_factory.mktemp("image") / "image.tar")


@pytest.fixture(scope="module")
def image(archive):
    return docker("load", "-q", "-i", str(archive)).stdout.strip().rpartition("Loaded image: ")[2]


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except OSError:
        return 0, b""
    finally:
        connection.close()


def test_the_same_packages_give_the_same_bytes(package, archive, tmp_path):
    assert make_image(package, tmp_path / "again.tar").read_bytes() == archive.read_bytes()


def test_the_image_is_small(image, tmp_path):
    docker("save", "-o", str(tmp_path / "saved.tar"), image)
    with open(tmp_path / "saved.tar", "rb") as source, gzip.open(tmp_path / "saved.tar.gz", "wb", compresslevel=6) as sink:
        shutil.copyfileobj(source, sink)
    assert (tmp_path / "saved.tar.gz").stat().st_size < LIMIT


def test_a_container_runs_without_rights_and_is_healthy(image, scratch):
    (scratch / "rules").mkdir()
    (scratch / "rules/held.rego").write_text('package admission.held\nimport rego.v1\ndeny contains "not today" if true\n')
    (scratch / "rules/request.json").write_text(json.dumps(MACHINE))
    port, name = free_port(), f"image-{scratch.name}".replace("_", "x").lower()
    docker("run", "-d", "--name", name, "--network", "host", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
           "--tmpfs", "/tmp", "-v", f"{scratch}/rules:/rules:ro", "-e", "ADMISSION_POLICY_DIR=/rules", "-e", f"DASHCTL_LISTEN=127.0.0.1:{port}", image)
    try:
        wait_until(lambda: get(port, "/readyz")[0] == 200, what="the container's server")
        assert docker("exec", name, "id", "-u").stdout.strip() != "0"
        assert docker("exec", name, "touch", "/usr/bin/x", check=False).returncode != 0
        state = lambda: json.loads(docker("inspect", name).stdout)[0]["State"]["Health"]["Status"]
        wait_until(lambda: state() == "healthy", seconds=60, what="the health check")
        checked = docker("exec", name, "dashctl", "policy", "check", "--policy-dir", "/rules", "--action", "cloud1:vm:deploy", "--input",
                         "/rules/request.json", check=False)
        assert "not today" in checked.stdout + checked.stderr, checked
        docker("stop", name)
        assert json.loads(docker("inspect", name).stdout)[0]["State"]["ExitCode"] == 0
    finally:
        docker("rm", "-f", "-v", name, check=False)
