"""launchers/compose.yaml: nginx, two replicas, PostgreSQL and an S3 server, started by docker-compose from images that are built here.
The containers use the host's network, so names of services become addresses and every service has a port of its own."""
import contextlib
import os
import subprocess

import pytest
import yaml

from support.debian import build_package
from support.docker import docker
from support.engine import engine_binary
from support.http_client import Http
from support.instance import PASSWORD
from support.ports import free_port
from support.program import ROOT
from support.s3_bucket import Bucket
from support.storage import fetch, names, upload
from support.wait import wait_until

LAUNCHERS = ROOT / "launchers"
SERVICES = "dashctl-test-services:1"
STORE = {"AWS_ACCESS_KEY_ID": "compose-access", "AWS_SECRET_ACCESS_KEY": "compose-secret-0123456789"}

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    subprocess.run([ROOT / "scripts/packaging/image", build_package(folder), engine_binary(), folder / "image.tar"], check=True)
    subprocess.run([ROOT / "tests/e2e/support/service_image", SERVICES], check=True)
    return docker("load", "-q", "-i", str(folder / "image.tar")).stdout.strip().rpartition("Loaded image: ")[2]


class Stack:
    """The services of the file on the host's network."""

    def __init__(self, folder, image):
        self.folder, self.project = folder, "stack" + folder.name[-8:].lower().replace("_", "x")
        self.ports = {name: free_port() for name in ("proxy", "replica1", "replica2", "database", "store")}
        file = yaml.safe_load((LAUNCHERS / "compose.yaml").read_text())
        for name, service in file["services"].items():
            self.adapt(name, service)
        del file["networks"]
        (folder / "compose.yaml").write_text(yaml.safe_dump({k: v for k, v in file.items() if not k.startswith("x-")}))
        (folder / ".env").write_text(f"DASHCTL_IMAGE={image}\nDATABASE_PASSWORD=composepassword\nSTORE_ACCESS={STORE['AWS_ACCESS_KEY_ID']}\n"
                                     f"STORE_SECRET={STORE['AWS_SECRET_ACCESS_KEY']}\n")
        (folder / "compose-nginx.conf").write_text(self.addressed((LAUNCHERS / "compose-nginx.conf").read_text())
                                                   .replace("listen 80;", f"listen 127.0.0.1:{self.ports['proxy']};"))

    def addressed(self, text):
        for old, name in (("replica1:8080", "replica1"), ("replica2:8080", "replica2"), ("@database/", "database")):
            text = text.replace(old, ("@" if old[0] == "@" else "") + f"127.0.0.1:{self.ports[name]}" + ("/" if old[-1] == "/" else ""))
        return text

    def adapt(self, name, service):
        service["network_mode"] = "host"
        for key in ("networks", "ports"):
            service.pop(key, None)
        variables = service.setdefault("environment", {})
        if name.startswith("replica"):
            variables["DASHCTL_DATABASE"] = self.addressed(variables["DASHCTL_DATABASE"])
            variables |= {"DASHCTL_LISTEN": f"127.0.0.1:{self.ports[name]}", "DASHCTL_TRUSTED_PROXY": "127.0.0.1"}
            return
        service["image"] = SERVICES
        if name == "proxy":
            service["command"] = ["nginx", "-g", "daemon off;"]
        elif name == "store":
            words = [f"127.0.0.1:{self.ports[name]}" if word == ":7070" else word for word in service["command"]]
            service["command"] = ["versitygw", *words]
        else:
            service["command"] = ["start-postgres"]
            variables["PGPORT"] = str(self.ports[name])

    def compose(self, *words, stdin=None):
        done = subprocess.run(["docker-compose", "-p", self.project, *words], cwd=self.folder, input=stdin, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-4000:])
        return done.stdout

    def answers(self, name="proxy"):
        with contextlib.suppress(OSError):
            return Http(self.ports[name]).get("/readyz").status == 200
        return False

    def login(self):
        answer = Http(self.ports["proxy"]).post("/api/auth/login", form={"username": "root", "password": PASSWORD})
        assert answer.status == 200, answer
        return Http(self.ports["proxy"], answer.json["access_token"])


@pytest.fixture
def stack(scratch, image):
    made = Stack(scratch, image)
    made.compose("up", "-d")
    try:
        wait_until(lambda: all(map(made.answers, ("proxy", "replica1", "replica2"))), seconds=90, what="the services")
        yield made
    finally:
        made.compose("down", "-v")


def test_the_services_are_one_instance_that_outlives_a_replica_and_a_restart(stack):
    stack.compose("exec", "-T", "replica1", "dashctl", "user", "add", "root", "--admin", "--password-file", "-", stdin=PASSWORD)
    root = stack.login()
    bucket = Bucket({"S3_ENDPOINT": f"http://127.0.0.1:{stack.ports['store']}", **STORE})
    assert root.put("/api/setup/config", bucket.settings).status == 200
    assert upload(root, "kept.sh", b"#!/bin/sh\necho kept\n").status == 201
    assert root.get("/metrics").status == 403

    stack.compose("stop", "replica1")
    assert [names(root) for _ in range(4)] == [["kept.sh"]] * 4, "the other replica answers"
    assert stack.compose("exec", "-T", "replica2", "id", "-u").strip() != "0"
    stack.compose("start", "replica1")
    wait_until(lambda: stack.answers("replica1"), seconds=60, what="the replica")

    stack.compose("down")
    stack.compose("up", "-d")
    wait_until(lambda: all(map(stack.answers, ("proxy", "replica1", "replica2"))), seconds=90, what="the services again")
    assert fetch(root, "kept.sh").status == 200, "sessions, settings and assets are there"
    assert root.get("/api/audit/verify").json["ok"] is True
