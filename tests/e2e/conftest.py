"""Fixtures of tests that drive the built binary from outside; what they are made of lies in support/."""
import json
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from support.databases import drop_databases, new_database
from support.docker import SECRET, docker
from support.instance import Instance
from support.migrate import CONFIG, Pair
from support.peer_dashboard import PeerDashboard
from support.program import BINARY
from support.s3_bucket import Bucket
from support.scripted_server import ScriptedServer
from support.doubles import double


def heed_signals():
    # A shell's background job ignores SIGINT, and so would every process that a test means to interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The same of SIGHUP under nohup. A handler is not inherited, so that only this process goes on ignoring it.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda number, frame: None)


def pytest_configure(config):
    # Workers of pytest-xdist have what this process left them; in them a thread may come here that must not set signals.
    if not hasattr(config, "workerinput"):
        heed_signals()
    config.addinivalue_line("markers", "long: loops that take minutes; scripts/test long runs them")
    config.addinivalue_line("markers", "attack: a running server under attack; scripts/attack runs them")


@pytest.fixture
def scratch():
    """A short scratch folder (socket paths are limited to 107 bytes)."""
    folder = Path(tempfile.mkdtemp(prefix="e2e-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    drop_databases(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def make_instance(scratch):
    """Makes instances, started with an admin `root` unless asked otherwise; all are ended, cleanly, with the test."""
    made = []

    def make(name="one", start=True, admin=True, env=None):
        instance = Instance(scratch / name, env)
        made.append(instance)
        if admin:
            instance.add_user("root", admin=True)
        if start:
            instance.start()
        return instance

    yield make
    for instance in made:
        instance.stop()


@pytest.fixture
def instance(make_instance):
    return make_instance()


@pytest.fixture
def root(instance):
    """A signed-in admin of `instance`."""
    return instance.login("root")


@pytest.fixture(scope="session")
def s3_server():
    """The environment of a running S3 server."""
    with double("s3", "S3_ENDPOINT") as env:
        yield env


@pytest.fixture
def bucket(s3_server):
    """A new bucket on it."""
    return Bucket(s3_server)


@pytest.fixture
def pair(make_instance, scratch):
    """Two instances, source and target; both are empty."""
    return Pair(make_instance, scratch)


@pytest.fixture
def filled(pair):
    """Two instances; the source has a configuration."""
    # What an operator sets on the instance itself is not refused there, as an import would be.
    held = {k: v for k, v in CONFIG.items() if k == "public_base_url"}
    assert pair.root.put("/api/setup/config", held).status == 200
    pair.fill({k: v for k, v in CONFIG.items() if k not in held})
    return pair


@pytest.fixture
def answering():
    """answering(ANSWERS): a server that gives these answers."""
    made = []

    def make(answers, host="127.0.0.1"):
        made.append(ScriptedServer(answers, host))
        return made[-1]

    yield make
    for server in made:
        server.shutdown()
        server.server_close()


@pytest.fixture
def peer():
    """A Python dashboard with a small configuration."""
    server = PeerDashboard({"aws_access_key_id": "AK", "aws_secret_access_key": "hidden", "epml_pat": "shown in clear",
                            "azure_region_configs": json.dumps({"West US 2": {"gallery_name": "g"}}),
                            "storage_active_backend": "s3", "storage_s3_bucket": "assets", "jwt_secret_key": "never"})
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def container(make_instance, scratch):
    """A running container with dashctl, its libraries and an instance's data directory mounted; the data lies in /data, the database too:
    the container has no network."""
    source = make_instance("source", start=False, env=new_database("sqlite"))
    source.set(cloud1_secret_access_key=SECRET, cloud1_region="us-east-2")
    name = "dash-" + scratch.name[-8:].lower().replace("_", "x")
    mounts = ["-v", f"{BINARY}:/bin/dashctl:ro", "-v", f"{source.folder}:/data"]
    for folder in ("/lib", "/lib64", "/usr/lib"):
        mounts += ["-v", f"{folder}:{folder}:ro"]
    docker("run", "-d", "--name", name, "--network", "none", "-e", "DASHCTL_DATA_DIR=/data", *mounts,
           os.environ["DOCKER_TEST_IMAGE"], "sleep", "3600")
    yield name
    docker("rm", "-f", name, check=False)
