"""Many agents at two replicas of one instance, on one PostgreSQL behind one nginx: every job is done once, also when a replica dies."""
import json
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.replicas import Replicas
from support.storage import upload
from support.wait import wait_until
from support.working_agents import AgentProcess

JOBS = 2  # uploads at once, for each agent; no more in all than callers may wait for agents


class Site:
    """An agent of its own process with its share."""

    def __init__(self, world, number):
        folder = world.folder / f"site{number}"
        self.share = folder / "share"
        self.agent = AgentProcess(world.door, world.root, folder, f"site{number}")
        self.share.mkdir()
        self.agent.write_policy(shares=[("lab", True)])
        self.agent.write_shares([{"name": "lab", "path": str(self.share)}])
        self.agent.enroll().start()

    def leased(self):
        """The ids of the jobs that it was given, one for each time."""
        lines = self.agent.log_file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["job"] for line in lines if '"event":"agent.leased"' in line]


class World:
    def __init__(self, folder, count):
        self.folder = folder
        self.replicas = Replicas(folder, {"remote_agents_enabled": "true", "public_base_url": "https://dash.example",
                                          "storage_agent_share": "lab"})
        self.database = self.replicas.all[0].env["DASHCTL_DATABASE"]
        self.door = SimpleNamespace(url=f"http://127.0.0.1:{self.replicas.port}")
        self.proxied = self.replicas.login("root")
        self.root = self.replicas.each(self.proxied.token)[0]
        self.sites = []
        try:
            self.sites.extend(Site(self, number) for number in range(count))
        except BaseException:
            self.stop()
            raise

    def stop(self):
        for site in self.sites:
            site.agent.process.terminate()
        for site in self.sites:
            site.agent.stop()
        self.replicas.stop()

    def sql(self, text):
        done = subprocess.run(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", self.database, "-c", text], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    def upload_everywhere(self):
        """Starts JOBS uploads to each agent; returns {name: answer} once all have ended. An answer that broke off is None."""
        answers, threads = {}, []

        def work(name):
            try:
                answers[name] = upload(self.proxied, name, name.encode())
            except OSError:
                answers[name] = None

        for number, site in enumerate(self.sites):
            patch = {"storage_agent_id": site.agent.id, "storage_active_backend": "agent_local"}
            assert self.root.patch("/api/storage/config", patch).status == 200
            for job in range(JOBS):
                threads.append(threading.Thread(target=work, args=(f"{number}-{job}.yml",)))
                threads[-1].start()
        for thread in threads:
            thread.join()
        return answers

    def places(self):
        """{name of a file: how many shares have it}"""
        return Counter(path.name for site in self.sites for path in site.share.iterdir() if path.is_file())

    def check_each_job_once(self):
        """Returns the ids of the jobs. The agents log what they are given before they look whether they had it."""
        given = Counter(job for site in self.sites for job in site.leased())
        assert set(given.values()) == {1}, given.most_common(3)
        for action in ("agent.lease", "agent.complete"):
            rows = self.sql(f"SELECT target FROM audit_log WHERE action = '{action}'")
            assert len(rows) == len(set(rows)) and set(rows) <= set(given), action
        return set(given)


@pytest.fixture
def make_world():
    made = []
    folder = Path(tempfile.mkdtemp(prefix="e2e-", dir="/tmp"))
    folder.chmod(0o755)

    def make(count):
        made.append(World(folder, count))
        return made[0]

    yield make
    for world in made:
        world.stop()
    shutil.rmtree(folder, ignore_errors=True)


def requests_of(instance, path):
    return [line for line in instance.log if f'"path":"{path}"' in line]


def test_every_job_of_fifty_agents_is_done_once(make_world):
    world = make_world(50)
    answers = world.upload_everywhere()
    assert len(answers) == JOBS * 50
    assert not [answer for answer in answers.values() if answer is None or answer.status != 201]
    assert world.places() == Counter(list(answers)), "each file lies in one share"
    given = world.check_each_job_once()
    assert world.sql("SELECT DISTINCT state FROM agent_jobs") == ["completed"]
    assert set(world.sql("SELECT id FROM agent_jobs")) == given
    assert all(requests_of(one, "/api/agent/lease") for one in world.replicas.all), "both replicas were asked"


def test_no_job_is_done_twice_when_a_replica_dies(make_world):
    world = make_world(10)
    dying = world.replicas.all[1]
    killer = threading.Thread(target=lambda: (wait_until(world.places, what="the first file"), dying.kill()))
    killer.start()
    answers = world.upload_everywhere()
    killer.join()
    world.check_each_job_once()
    places = world.places()
    assert set(places.values()) == {1}
    stored = {name for name, answer in answers.items() if answer is not None and answer.status == 201}
    assert stored and stored <= set(places), "what was answered is there"
    assert all(site.agent.is_online() for site in world.sites)
