"""Remote agents: a listing's round trip with a waiting lease, idle agents, uploads through one.

    scripts/bench agent [LISTINGS] [AGENTS] [SECONDS] [FILES]
        50 listings, 200 idle agents for 30 seconds and 200 files by default; 1,000 agents and 1,000 files are the goals' sizes
"""
import concurrent.futures
import json
import os
import selectors
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.agents import canonical, enrolled  # noqa: E402
from support.instance import Instance  # noqa: E402
from support.storage import upload  # noqa: E402
from support.working_agents import AgentProcess  # noqa: E402

WAIT_S = 25
ENROLLING = 8  # at once
PACE = 0.005  # seconds between the first requests of agents: those that come at one moment are in part sent away for a second


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def timed(call):
    begun = time.monotonic()
    answer = call()
    assert answer.status in (200, 201), answer
    return time.monotonic() - begun


def percentiles(seconds):
    ordered = sorted(seconds)
    return {"p50_ms": round(statistics.median(ordered) * 1000, 1), "p99_ms": round(ordered[int(0.99 * (len(ordered) - 1))] * 1000, 1)}


def listings(root, count):
    """A test goes past the kept listing, so that each is a job; the same folder as the local store is the work itself."""
    for backend in ("agent_local", "local"):
        assert root.post("/api/storage/test", {"backend": backend}).json["ok"]
    remote = [timed(lambda: root.post("/api/storage/test", {"backend": "agent_local"})) for _ in range(count)]
    own = [timed(lambda: root.post("/api/storage/test", {"backend": "local"})) for _ in range(count)]
    kept = [timed(lambda: root.get("/api/storage/list")) for _ in range(count)]
    return {"through the agent": percentiles(remote), "the folder itself": percentiles(own), "kept": percentiles(kept)}


def uploads(root, count):
    data = os.urandom(8 << 10)
    one = time.monotonic()
    for n in range(count // 2):
        assert upload(root, f"one-{n}.deb", data).status == 201
    four = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda n: upload(root, f"four-{n}.deb", data).status, range(count - count // 2))
        assert set(answers) == {201}
    end = time.monotonic()
    return {"one caller": {"files_per_second": round((count // 2) / (four - one), 1)},
            "four callers": {"files_per_second": round((count - count // 2) / (end - four), 1)}}


class IdleAgents:
    """Agents that each hold one waiting lease, on one thread."""

    def __init__(self, instance, root, count):
        self.instance = instance
        make = lambda n: enrolled(root, instance.port, f"idle-{n}", version="2.7.0")  # noqa: E731
        with concurrent.futures.ThreadPoolExecutor(ENROLLING) as pool:
            self.agents = list(pool.map(make, range(count)))
        self.selector = selectors.DefaultSelector()
        self.leases = 0

    def ask(self, agent, connection=None):
        path = "/api/agent/lease"
        body = canonical({"agent_version": "2.7.0", "job_types": [], "wait_s": WAIT_S})
        headers = agent.signed_headers(path, body)
        if connection is None:
            connection = socket.create_connection(("127.0.0.1", self.instance.port))
            self.selector.register(connection, selectors.EVENT_READ, agent)
        lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}",
                 *(f"{key}: {value}" for key, value in headers.items())]
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        self.leases += 1

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                answer = key.fileobj.recv(65536)
                assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
                self.ask(key.data, key.fileobj)


def idle(instance, root, count, seconds):
    before = resident_mib(instance.process.pid)
    agents = IdleAgents(instance, root, count)
    for agent in agents.agents:
        agents.ask(agent)
        agents.wait(PACE)
    agents.wait(2)
    begun, cpu, leases = time.monotonic(), cpu_seconds(instance.process.pid), agents.leases
    agents.wait(seconds)
    share = (cpu_seconds(instance.process.pid) - cpu) / (time.monotonic() - begun)
    return {"agents": count, "cpu_percent": round(100 * share, 2), "leases": agents.leases - leases,
            "resident_mib": round(resident_mib(instance.process.pid), 1),
            "added_mib": round(resident_mib(instance.process.pid) - before, 1)}


def main():
    count, agents, seconds, files = (int(sys.argv[i]) if len(sys.argv) > i else default
                                     for i, default in ((1, 50), (2, 200), (3, 30), (4, 200)))
    with tempfile.TemporaryDirectory(prefix="agent-", dir="/tmp") as name:
        folder = Path(name)
        one = Instance(folder / "one")
        share = folder / "share"
        share.mkdir()
        for n in range(100):
            (share / f"f{n:03}.yml").write_text("x")
        one.add_user("root", admin=True)
        one.set(remote_agents_enabled="true", storage_local_path=str(share), agent_max_requests_per_minute="100000")
        one.start()
        root = one.login("root")
        agent = AgentProcess(one, root, folder / "agent", "edge")
        agent.write_policy(shares=[("lab", True)])
        agent.write_shares([{"name": "lab", "path": str(share)}])
        agent.enroll().start()
        try:
            patch = {"storage_agent_id": agent.id, "storage_agent_share": "lab", "storage_active_backend": "agent_local"}
            assert root.patch("/api/storage/config", patch).status == 200
            listed = listings(root, count)
            print(json.dumps({"listing": listed}))
            print(json.dumps({"upload": uploads(root, files)}))
            agent.stop()
            waiting = idle(one, root, agents, seconds)
            over = listed["through the agent"]["p50_ms"] - listed["the folder itself"]["p50_ms"]
            print(json.dumps({"idle": waiting, "goals": {
                "a listing takes under 30 ms over the folder's own work (p50)": over < 30,
                "idle agents take under 1 % of a core": waiting["cpu_percent"] < 1,
                "idle agents leave the server under 64 MiB": waiting["resident_mib"] < 64}}))
        finally:
            agent.stop()
            one.stop()


if __name__ == "__main__":
    main()
