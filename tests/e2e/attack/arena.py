"""What the attacks share: instances on both databases and every store, the people in them, and the figures that are printed."""
import os
import statistics
import subprocess
import time
import uuid

import pytest
from conftest import Http
from s3_bucket import Bucket
from test_storage import people
from test_storage_clouds import CLOUDS

DATABASES = ["sqlite", "postgres"]
STORES = ["local", "s3", "azure", "gcs", "oci"]


def new_database(kind):
    """The environment of an instance on a database of its own."""
    if kind == "sqlite":
        return {}
    name = "attack_" + uuid.uuid4().hex[:12]
    subprocess.run(["createdb", name], check=True, capture_output=True)
    url = f"postgres://{os.environ['PGUSER']}:{os.environ['PGPASSWORD']}@{os.environ['PGHOST']}:{os.environ['PGPORT']}/{name}"
    return {"DASHCTL_DATABASE": url}


def store_settings(kind, scratch):
    """The settings that make a store of this kind the active one."""
    if kind == "local":
        (scratch / "store").mkdir(exist_ok=True)
        return {"storage_local_path": str(scratch / "store"), "storage_active_backend": "local"}
    if kind == "s3":
        return Bucket(dict(os.environ)).settings
    return CLOUDS[kind][1](dict(os.environ), scratch)


@pytest.fixture(params=DATABASES)
def database(request):
    return new_database(request.param)


@pytest.fixture(params=[(database, store) for database in DATABASES for store in STORES], ids="-".join)
def arena(request, make_instance, scratch):
    """A running instance for each pair of database and store: the admin root, ann of web, bob of data."""
    database, store = request.param
    return people(make_instance(start=False, env=new_database(database)), store_settings(store, scratch))


class Figures:
    """Seconds of many calls, printed as percentiles."""

    def __init__(self, title, capsys):
        self.title, self.capsys, self.seconds = title, capsys, []

    def time(self, call):
        start = time.monotonic()
        value = call()
        self.seconds.append(time.monotonic() - start)
        return value

    def print(self, *more):
        ordered = sorted(self.seconds)
        line = ""
        if ordered:
            at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000
            line = f"{len(ordered)} calls, p50 {statistics.median(ordered) * 1000:.1f} ms, p99 {at(0.99):.1f} ms, most {ordered[-1] * 1000:.1f} ms"
        with self.capsys.disabled():
            print(f"\n  {self.title}: " + ", ".join(filter(None, [line, *more])))


@pytest.fixture
def figures(capsys):
    """figures(TITLE): times calls and prints a line, whatever pytest captures."""
    return lambda title: Figures(title, capsys)


def sign_in(instance, name, password):
    return Http(instance.port).post("/api/auth/login", form={"username": name, "password": password})
