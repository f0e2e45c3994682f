"""What the benchmark of the scale measures: four replicas on one PostgreSQL, and the costs of what they do."""
import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gate_load import MACHINE, Generator, post
from policy_bench import children, cpu_seconds, start_refusing
from support.instance import Instance
from support.jobs import executor
from support.postgres_server import PostgresServer, url_of
from support.wait import wait_until


def all_cpu_seconds(pid):
    """Of a process and of all that it waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class World:
    """One database and four replicas on it, started for each measurement."""

    def __init__(self, folder, options):
        self.folder, self.options, self.generator = folder, options, Generator(folder)
        self.server = PostgresServer.primary(folder / "pg")
        self.server.stop()
        self.server.start("-c", "fsync=on", "-c", "max_connections=300")
        first, self.refused = start_refusing(folder / "replica0", {"DASHCTL_DATABASE": url_of(self.server)})
        first.stop()
        env = {**first.env, "DASHCTL_SIGNING_KEY_FILE": str(first.folder / "signing.key")}
        self.all = [first] + [Instance(folder / f"replica{n}", env) for n in range(1, 4)]
        for one in self.all:
            one.folder.mkdir(exist_ok=True)
            executor(one, "cloud1-vm-deploy", "cat >/dev/null")

    def database_cpu(self):
        pid = self.server.process.pid
        while True:
            try:
                return all_cpu_seconds(pid) + sum(map(cpu_seconds, children(pid)))
            except FileNotFoundError:  # a connection's process ended meanwhile; now it counts among the waited for
                continue

    def number(self, text):
        return float(self.server.sql(text) or 0)

    def counters(self, replicas):
        return {"replica": sum(all_cpu_seconds(one.process.pid) for one in replicas), "database": self.database_cpu(),
                "writes": self.number("SELECT sum(mark) FROM commit_marks"), "entries": self.number("SELECT count FROM audit_head")}

    @contextlib.contextmanager
    def running(self, count, workers):
        replicas = self.all[:count]
        for one in replicas:
            one.start("--workers", workers)
        try:
            yield replicas
        finally:
            for one in replicas:
                one.stop()

    def refusals(self, replicas, connections, count):
        """Refusals a second of all replicas together, and what each took."""
        def load(one):
            return self.generator.run(f"127.0.0.1:{one.port}", self.refused, connections, count, 403)
        before = self.counters(replicas)
        with ThreadPoolExecutor(len(replicas)) as pool:
            done = list(pool.map(load, replicas))
        taken = {key: now - before[key] for key, now in self.counters(replicas).items()}
        entries = taken["entries"]  # the generator's warm-up among them
        return {"per_second": sum(one["requests"] / one["seconds"] for one in done),
                "generator": sum(one["cpu_seconds"] for one in done) / sum(one["requests"] for one in done),
                "replica": taken["replica"] / entries, "database": taken["database"] / entries, "shared": entries / taken["writes"]}

    def jobs(self, count, workers):
        """Jobs a second, in the middle of a queue that was there before the workers had a program to run it."""
        with self.running(count, workers) as replicas:
            self.hide_programs(replicas, True)
            root = replicas[0].login("root")
            before = self.number("SELECT count(*) FROM jobs")
            self.generator.run(f"127.0.0.1:{replicas[0].port}", post("/api/cloud1/deploy", MACHINE, root.token), 4, self.options.jobs, 200)
            made = self.number("SELECT count(*) FROM jobs") - before
            counted = self.counters(replicas)
            self.hide_programs(replicas, False)
            wait_until(lambda: self.number("SELECT count(*) FROM jobs WHERE state IN ('pending', 'running')") == 0, seconds=600,
                       what="the queue's end")
            taken = {key: now - counted[key] for key, now in self.counters(replicas).items()}
            ends = sorted(int(line) for line in self.server.sql(
                f"SELECT completed_at FROM jobs ORDER BY completed_at DESC LIMIT {int(made)}").splitlines())
            failed = self.number("SELECT count(*) FROM jobs WHERE state <> 'completed'")
            assert failed == 0, f"{failed} jobs did not complete"
            a, b = len(ends) // 10, len(ends) * 9 // 10
            return {"per_second": (b - a) / ((ends[b] - ends[a]) / 1e6), "replica": taken["replica"] / made,
                    "database": taken["database"] / made, "writes": taken["writes"] / made, "entries": taken["entries"] / made}

    @staticmethod
    def hide_programs(replicas, hidden):
        for one in replicas:
            here, away = one.folder / "deploy", one.folder / "deploy-away"
            (here if hidden else away).rename(away if hidden else here)

    def idle(self, seconds=5):
        """What a replica without work asks of the database: processor seconds and transactions in a second, connections."""
        with self.running(4, 2) as replicas:
            for one in replicas:
                one.login("root")
            transactions = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'dash'"
            before, begun = self.database_cpu(), self.number(transactions)
            time.sleep(seconds)
            held = self.number("SELECT count(*) FROM pg_stat_activity WHERE datname = 'dash'")
            return {"cpu": (self.database_cpu() - before) / seconds / len(replicas), "connections": held / len(replicas),
                    "transactions": (self.number(transactions) - begun) / seconds / len(replicas)}

    def stop(self):
        self.server.crash()
