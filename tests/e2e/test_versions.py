"""A replica of an older version beside one of this: the schema moves under it, and both go on."""
import subprocess

import pytest

from support import instance as instances
from support.databases import new_database
from support.http_client import Http
from support.jobs import MACHINE, executor, wait_for
from support.program import ROOT
from support.write_load import WriteLoad, check_kept


@pytest.fixture(scope="module")
def older():
    return subprocess.run([ROOT / "scripts/older"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class OlderInstance(instances.Instance):
    """One that another binary serves."""

    def __init__(self, folder, env, binary):
        super().__init__(folder, env)
        self.binary = binary

    def start(self, *args):
        ours, instances.BINARY = instances.BINARY, self.binary
        try:
            return super().start(*args)
        finally:
            instances.BINARY = ours


@pytest.mark.long
def test_an_older_and_a_newer_replica_serve_side_by_side(older, scratch):
    env = {**new_database("postgres"), "POLICY_BINARY": "/nonexistent"}
    first = OlderInstance(scratch / "old", env, older)
    subprocess.run([older, "user", "add", "root", "--admin", "--password-file", "-", "--data-dir", first.folder],
                   input=instances.PASSWORD, env=instances.clean_environment(env), text=True, check=True, capture_output=True)
    second = instances.Instance(scratch / "new", {**env, "DASHCTL_SIGNING_KEY_FILE": str(first.folder / "signing.key")})
    second.folder.mkdir()
    for one in (first, second):
        executor(one, "cloud1-vm-deploy", "echo made")
    try:
        first.start("--workers", 2)
        token = first.login("root").token
        with WriteLoad([lambda one=one: Http(one.port, token) for one in (first, first)]) as load:
            load.wait_for(20)
            second.start("--workers", 2)  # brings the schema to its own under the other's traffic
            load.clients[1] = lambda: Http(second.port, token)
            load.wait_for(60)
            for one in (first, second):
                http = Http(one.port, token)
                job = http.post("/api/cloud1/deploy", MACHINE).json["job_id"]
                assert wait_for(http, job, "completed")
                assert http.put("/api/setup/config", {"app_url": f"https://{one.folder.name}.example"}).status == 200
            assert Http(first.port, token).get("/api/setup/config").json["app_url"] == "https://new.example"
        check_kept(Http(second.port, token), load)
        check_kept(Http(first.port, token), load)
    finally:
        first.stop()
        second.stop()
