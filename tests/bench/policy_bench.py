"""The gate's and the audit log's speed, in one run on one machine:

  decisions   a dry run (POST /api/admission/check) and a denied deploy with its durable audit entry, through the whole route, beside the
              bare resident engine (started the same way, same query, kept Unix socket), asked without a pause and at the rhythm at
              which a dry run and a denial ask it, and beside an engine spawned for each decision; at 1 and at 16 connections, in
              interleaved rounds
  rules       a dry run with 200 rules of an operator
  audit       entries a second that are durable (refusals by a change window: no engine), beside the disk's bare fdatasyncs
  postgres    the same on PostgreSQL (PGHOST, PGPORT, PGUSER, PGPASSWORD), by one replica and by two on one database
  verify      `audit verify` over ENTRIES entries: processor seconds and peak memory. tests/e2e/support/audit_rows.py writes the
              log's rows

Prints one JSON document; `goals` says which hold. Usage: policy_bench.py [--rounds N] [--requests N] [--entries N] [--skip verify];
DASHCTL names the binary, POLICY_BINARY the engine."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

# First, as it makes support importable.
from gate_load import ACTION, MACHINE, Generator, bench_folder, middle, post, start_gated
from support.audit_rows import verify, write_log
from support.databases import new_database
from support.engine import engine_binary
from support.instance import Instance
from support.wait import wait_until

MANY = 16  # connections
RULES = 200
RULE = """package admission.extra_{number}
import rego.v1
deny contains "region {number} is closed" if input.request.region == "closed-{number}"
"""


def measure_verify(folder, count):
    instance = Instance(folder / "verify")
    instance.add_user("root", admin=True)
    out = {}
    for entries in (count // 10, count):
        write_log(instance.folder, entries)
        told, seconds, peak = verify(instance.folder)
        assert told["ok"] and told["count"] == entries, told
        out[entries] = (seconds, peak)
    (few, few_peak), (many, peak) = out.values()
    return {"entries": count, "cpu_seconds": round(many, 2), "peak_mib": round(peak, 1), "peak_mib_at_a_tenth": round(few_peak, 1),
            "entries_per_cpu_second": round((count - count // 10) / (many - few))}


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


class BareEngine:
    """A copy of the instance's own engine: its files, its flags, its environment, another socket."""

    def __init__(self, folder, pid):
        self.folder = folder / "bare"
        shutil.copytree(Path(f"/proc/{pid}/cwd").resolve(), self.folder)
        command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
        self.binary = command[0]
        socket = folder / "bare.s"
        self.address = f"unix:{socket}"
        command[command.index("--addr") + 1] = f"unix://{socket}"
        environment = dict(pair.split("=", 1) for pair in Path(f"/proc/{pid}/environ").read_text().split("\0") if "=" in pair)
        self.process = subprocess.Popen(command, cwd=self.folder, env=environment, stderr=subprocess.DEVNULL)
        wait_until(socket.exists, what="the engine's socket")

    def spawned(self, document, count):
        taken = []
        for _ in range(count):
            begin = time.perf_counter()
            subprocess.run([self.binary, "eval", "--format", "json", "--data", ".", "--stdin-input", "data.dashctl_gate.answer"],
                           cwd=self.folder, input=json.dumps(document), text=True, stdout=subprocess.DEVNULL, check=True)
            taken.append((time.perf_counter() - begin) * 1e6)
        return {"p50_us": round(statistics.median(taken)), "p99_us": round(sorted(taken)[len(taken) * 99 // 100])}

    def stop(self):
        self.process.kill()
        self.process.wait()


def fdatasyncs(folder, count):
    """Microseconds of each write and fdatasync of one page, in place, as a journal that is used again writes."""
    fd, taken = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY), []
    os.write(fd, bytes(4096 * count))
    os.fsync(fd)
    for page in range(count):
        begin = time.perf_counter()
        os.pwrite(fd, bytes(4096), 4096 * page)
        os.fdatasync(fd)
        taken.append((time.perf_counter() - begin) * 1e6)
    os.close(fd)
    return {"p50_us": round(statistics.median(taken)), "per_second": round(1e6 * count / sum(taken))}


def told(rounds):
    out = middle(rounds, "p50_us", "p99_us")
    out["per_second"] = round(statistics.median(r["requests"] / r["seconds"] for r in rounds))
    out["generator_cpu_us"] = round(statistics.median(1e6 * r["cpu_seconds"] / r["requests"] for r in rounds))
    for owner in ("dashctl", "engine"):
        if owner in rounds[0]:
            out[f"{owner}_cpu_us"] = round(statistics.median(1e6 * r[owner] / (r["requests"] * 1.1) for r in rounds))
    return out


class Decisions:
    def __init__(self, folder, generator, options):
        self.folder, self.generator, self.options = folder, generator, options
        self.instance = start_gated(folder / "decisions", engine_binary())
        root = self.instance.login("root")
        answer = root.post("/api/admission/check", {"action": ACTION, "request": MACHINE}).json
        assert answer["verdict"] == "deny", answer
        self.document = answer["input"]
        self.pid = self.instance.process.pid
        self.engine = wait_until(lambda: children(self.pid), what="the engine")[0]
        self.bare = BareEngine(folder, self.engine)
        self.check = post("/api/admission/check", {"action": ACTION, "request": MACHINE}, root.token)
        self.deny = post("/api/cloud1/deploy", MACHINE, root.token)
        self.ask = post("/v1/data/dashctl_gate/answer?strict-builtin-errors=true", {"input": self.document})

    def load(self, request, connections, status):
        before = cpu_seconds(self.pid), cpu_seconds(self.engine)
        done = self.generator.run(f"127.0.0.1:{self.instance.port}", request, connections, self.options.requests, status)
        done["dashctl"], done["engine"] = cpu_seconds(self.pid) - before[0], cpu_seconds(self.engine) - before[1]
        return done

    def bare_at_rhythm(self, period_us):
        """The bare engine, asked as often as an instance that needs `period_us` for an answer asks it."""
        return self.generator.run(self.bare.address, self.ask, 1, self.options.requests, 200, period_us)

    def measure(self):
        rounds = {}
        for _ in range(self.options.rounds):
            rounds.setdefault(("bare_fdatasync", ""), []).append(fdatasyncs(self.folder, 300))
            for connections, name in ((1, "one"), (MANY, "sixteen")):
                rounds.setdefault(("bare_engine", name), []).append(
                    self.generator.run(self.bare.address, self.ask, connections, self.options.requests, 200))
                for what, request, status in (("dry_run", self.check, 200), ("deny", self.deny, 403)):
                    done = self.load(request, connections, status)
                    rounds.setdefault((what, name), []).append(done)
                    if connections == 1:
                        rounds.setdefault(("bare_engine", f"as {what}"), []).append(self.bare_at_rhythm(done["p50_us"]))
        out = {"bare_fdatasync": middle(rounds["bare_fdatasync", ""], "p50_us", "per_second"),
               "spawned": self.bare.spawned(self.document, 40)}
        for what in ("bare_engine", "dry_run", "deny"):
            out[what] = {name: told(rounds[kind, name]) for kind, name in rounds if kind == what}
        verified = self.instance.login("root").get("/api/audit/verify").json
        assert verified["ok"], verified
        return out

    def stop(self):
        self.bare.stop()
        self.instance.stop()


def measure_rules(folder, generator, options):
    instance = start_gated(folder / "rules", engine_binary())
    try:
        for number in range(RULES):
            (instance.folder / f"policy/extra_{number}.rego").write_text(RULE.format(number=number))
        root = instance.login("root")
        check = {"action": ACTION, "request": {**MACHINE, "region": "closed-199"}}
        wait_until(lambda: "region 199 is closed" in str(root.post("/api/admission/check", check).json), what="the rules")
        request = post("/api/admission/check", {"action": ACTION, "request": MACHINE}, root.token)
        address = f"127.0.0.1:{instance.port}"
        return {"one": told([generator.run(address, request, 1, options.requests, 200) for _ in range(options.rounds)])}
    finally:
        instance.stop()


def start_refusing(folder, env=None):
    """An instance, and a request that its shut change window refuses: an audit entry each and no engine."""
    instance = Instance(folder, {"POLICY_BINARY": "/nonexistent", **(env or {})})
    instance.add_user("root", admin=True, workgroups=["team"])
    instance.set(admission_gated_actions=ACTION)
    instance.start()
    root = instance.login("root")
    later = (datetime.now(timezone.utc) + timedelta(hours=12)).strftime("%H:%M")
    window = root.post("/api/change-windows", {"name": "later", "start_at_local": later, "duration_minutes": 5}).json
    assert root.patch("/api/workgroups/team", {"change_window_id": window["id"]}).status == 200
    return instance, post("/api/cloud1/deploy", {**MACHINE, "workgroup": "team"}, root.token)


def measure_appends(folder, generator, options):
    instance, request = start_refusing(folder / "appends")
    try:
        address = f"127.0.0.1:{instance.port}"
        return {name: told([generator.run(address, request, n, options.requests, 403) for _ in range(options.rounds)])
                for n, name in ((1, "one"), (MANY, "sixteen"))}
    finally:
        instance.stop()


def refused_by_both(generator, replicas, request, count):
    """Refusals a second of two replicas together, each with half of the connections."""
    def one(replica):
        return generator.run(f"127.0.0.1:{replica.port}", request, MANY // 2, count // 2, 403)
    begin = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(one, replicas))
    # The generator warms up with a tenth more, which it does not count.
    return {"requests": sum(d["requests"] for d in done), "seconds": max(d["seconds"] for d in done),
            "p50_us": max(d["p50_us"] for d in done), "p99_us": max(d["p99_us"] for d in done),
            "cpu_seconds": sum(d["cpu_seconds"] for d in done), "wall": time.perf_counter() - begin}


def measure_postgres(folder, generator, options):
    first, request = start_refusing(folder / "postgres", new_database("postgres"))
    second = Instance(folder / "replica", {**first.env, "DASHCTL_SIGNING_KEY_FILE": str(first.folder / "signing.key")})
    try:
        address = f"127.0.0.1:{first.port}"
        rounds = {"one": [], "sixteen": [], "two_replicas": []}
        for _ in range(options.rounds):
            rounds["one"].append(generator.run(address, request, 1, options.requests // 4, 403))
            rounds["sixteen"].append(generator.run(address, request, MANY, options.requests, 403))
        second.start()
        for _ in range(options.rounds):
            rounds["two_replicas"].append(refused_by_both(generator, [first, second], request, options.requests))
        verified = first.login("root").get("/api/audit/verify").json
        assert verified["ok"], verified
        return {name: told(each) for name, each in rounds.items()}
    finally:
        second.stop()
        first.stop()


def goals(out):
    return (decision_goals(out) if "deny" in out else {}) | durable_goals(out)


def decision_goals(out):
    sync = out["bare_fdatasync"]["p50_us"]
    bare_dry, bare_deny = (out["bare_engine"][f"as {what}"]["p50_us"] for what in ("dry_run", "deny"))
    dry, deny = out["dry_run"]["one"]["p50_us"], out["deny"]["one"]["p50_us"]
    denied, bare_rate = out["deny"]["sixteen"]["per_second"], out["bare_engine"]["sixteen"]["per_second"]
    limit = 3 * bare_deny + 1.5 * sync
    ruled = out["dry_run_of_200_rules"]["one"]["p50_us"]
    return {f"a dry run with {RULES} rules takes at most 1.5 ms ({ruled} us)": ruled <= 1500,
            f"a dry run takes at most 1.5 bare round trips of its rhythm ({dry} <= {1.5 * bare_dry:.0f} us)": dry <= 1.5 * bare_dry,
            f"a durable denial takes at most 3 of them and 1.5 fdatasyncs ({deny} <= {limit:.0f} us)": deny <= limit,
            f"both are 20 times faster than a spawned engine ({out['spawned']['p50_us']} us)": 20 * max(dry, deny) <= out["spawned"]["p50_us"],
            f"{MANY} connections are denied at 0.7 of the bare engine's rate ({denied} >= {0.7 * bare_rate:.0f} a second)":
                denied >= 0.7 * bare_rate}


def durable_goals(out):
    rows = {}
    if "postgres" in out:
        one, two = out["postgres"]["sixteen"]["per_second"], out["postgres"]["two_replicas"]["per_second"]
        rows[f"PostgreSQL makes 3000 refusals a second durable at {MANY} connections ({one})"] = one >= 3000
        rows[f"two replicas are not slower than one ({two})"] = two >= one
    if "verify" in out:
        done = out["verify"]
        rows[f"verify takes 300,000 entries a processor second ({done['entries_per_cpu_second']})"] = done["entries_per_cpu_second"] >= 300_000
        rows[f"in constant memory ({done['peak_mib_at_a_tenth']} and {done['peak_mib']} MiB)"] = \
            done["peak_mib"] < done["peak_mib_at_a_tenth"] + 8
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--skip", choices=["verify", "appends", "postgres", "decisions"], action="append", default=[])
    options = parser.parse_args()
    with bench_folder() as folder:
        generator = Generator(folder)
        out = {}
        if "decisions" not in options.skip:
            decisions = Decisions(folder, generator, options)
            try:
                out = decisions.measure()
            finally:
                decisions.stop()
            out["dry_run_of_200_rules"] = measure_rules(folder, generator, options)
        if "postgres" not in options.skip:
            out["postgres"] = measure_postgres(folder, generator, options)
        if "appends" not in options.skip:
            out["appends"] = measure_appends(folder, generator, options)
        if "verify" not in options.skip:
            out["verify"] = measure_verify(folder, options.entries)
        out["goals"] = goals(out)
        print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
