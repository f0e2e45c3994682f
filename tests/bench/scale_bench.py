"""How far replicas on one PostgreSQL go: costs an operation, measured; a simulation of the audit chain's head and of the job queue from
them (scale_model.py), checked against 2 and 4 real replicas in the same run; and the curve for more replicas than a machine has room for.

    scripts/bench scale [--plot [FILE]] [--rounds N] [--refusals N] [--jobs N]      FILE: docs/scale.svg

The costs come from one replica alone: refusals at 1 and at 16 connections, jobs with one worker. PostgreSQL runs with fsync."""
import argparse
import json
import os
import statistics
from pathlib import Path

# First, as it makes support importable.
from gate_load import bench_folder
from scale_model import Costs, Site, simulate
from scale_plot import plot
from scale_world import World
from support.audit_rows import measured as measured_command
from support.audit_rows import verify, write_log
from support.instance import Instance
from support.program import ROOT

TOLERANCE = 0.25  # of the simulated rate, to either side
MANY = 16         # connections of a replica
WORKERS = 2       # of a replica; the default of `serve`
PROCESSORS = len(os.sched_getaffinity(0))
COUNTS = (1, 2, 4, 10, 30, 100, 300, 1000)
# The machines of the curve. A transaction takes about six round trips.
CURVE = {"database_processors": 8, "processors": 2, "network": 6 * 0.2e-3}


def median_of(rounds):
    return {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}


def refusal_costs(one, many):
    """From one replica at one connection, where each entry has a transaction of its own, and at many, where they share."""
    shared = 1 - 1 / many["shared"]
    replica_write = max(0, one["replica"] - many["replica"]) / shared
    database_write = min(one["database"], max(0, one["database"] - many["database"]) / shared)
    processor = one["generator"] + one["replica"] + one["database"]
    return Costs(request=one["generator"] + one["replica"] - replica_write, idle=0, writes=1, replica_write=replica_write,
                 database_write=database_write, database_entry=one["database"] - database_write,
                 commit=max(0, 1 / one["per_second"] - processor))


def job_costs(job, refusal):
    """From one worker. What a transaction of a job costs the replica, and its wait for the disk, are those of a refusal."""
    writes = max(1, round(job["writes"]))
    entry = refusal.database_entry / (refusal.database_write + refusal.database_entry)
    database = job["database"] / writes
    rest = 1 / job["per_second"] - job["replica"] - job["database"] - writes * refusal.commit
    return Costs(request=max(0, job["replica"] - writes * refusal.replica_write), idle=max(0, rest), writes=writes,
                 replica_write=refusal.replica_write, database_write=database * (1 - entry), database_entry=database * entry,
                 commit=refusal.commit)


def measure(world, options):
    rounds = {}
    for _ in range(options.rounds):
        with world.running(4, 0) as replicas:
            for name, count, connections in (("one", 1, 1), ("many", 1, MANY), ("two", 2, MANY), ("four", 4, MANY)):
                requests = max(100, options.refusals // (count if connections == MANY else 8))
                rounds.setdefault(("refusals", name), []).append(world.refusals(replicas[:count], connections, requests))
        for name, count, workers in (("one", 1, 1), ("two", 2, WORKERS), ("four", 4, WORKERS)):
            rounds.setdefault(("jobs", name), []).append(world.jobs(count, workers))
    measured = {"refusals": {}, "jobs": {}}
    for (kind, name), each in rounds.items():
        measured[kind][name] = median_of(each)
    return measured


def check(measured, costs):
    """{kind: {replicas: (measured, simulated)}} on this machine."""
    here = {"refusals": MANY, "jobs": WORKERS}
    return {kind: {count: (measured[kind][name]["per_second"], simulate(costs[kind], Site(count, here[kind], PROCESSORS))[0])
                   for name, count in (("two", 2), ("four", 4))} for kind in here}


def curve(costs, idle, kind, callers):
    rates = {}
    for count in COUNTS:
        site = Site(count, callers, background=idle["cpu"], **CURVE)
        # Long enough that each replica has its turn several times.
        rates[count] = simulate(costs[kind], site, max(5.0, count / 5))[0]
    return rates


def goals(checked):
    rows = {}
    for kind, counts in checked.items():
        for count, (real, simulated) in counts.items():
            sentence = f"{count} replicas, {kind} a second: {simulated:.0f} simulated, {real:.0f} measured, within {TOLERANCE:.0%}"
            rows[sentence] = abs(real - simulated) <= TOLERANCE * simulated
    return rows


def micros(costs):
    return {f"{name} us" if name != "writes" else name: round(value * 1e6) if name != "writes" else value for name, value in vars(costs).items()}


def rounded(figures):
    return {"per second": round(figures["per_second"]), "replica cpu us": round(figures["replica"] * 1e6),
            "database cpu us": round(figures["database"] * 1e6)}


def sizes(folder, count):
    """What an audit entry and a listed asset take: of `count`, less what a tenth takes."""
    one = Instance(folder / "sizes")
    one.add_user("root", admin=True)
    (folder / "assets").mkdir()
    one.set(storage_local_path=str(folder / "assets"), storage_active_backend="local")
    out, made = [], 0
    for number in (count // 10, count):
        write_log(one.folder, number)
        for asset in range(made, number):
            (folder / "assets" / f"asset-{asset:09}.sh").touch()
        made = number
        _, walked, walk_peak = verify(one.folder)
        listing, listed, list_peak = measured_command("storage", "list", "--data-dir", one.folder)
        assert listing["count"] == number, listing["count"]
        out.append({"entry bytes": (one.folder / "dashctl.db").stat().st_size, "verify cpu": walked, "verify peak": walk_peak, "list cpu": listed,
                    "list peak": list_peak})
    few, many = out
    more = count - count // 10
    return {"an audit entry": {"bytes on disk": round((many["entry bytes"] - few["entry bytes"]) / more),
                               "verified in cpu us": round((many["verify cpu"] - few["verify cpu"]) / more * 1e6, 2)},
            "audit verify": {"MiB of a tenth": round(few["verify peak"]), "MiB of all": round(many["verify peak"]), "entries": count},
            "storage list": {"MiB of a tenth": round(few["list peak"]), "MiB of all": round(many["list peak"]), "assets": count},
            "a listed asset of a folder": {"cpu us": round((many["list cpu"] - few["list cpu"]) / more * 1e6, 2)}}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--refusals", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--plot", nargs="?", type=Path, const=ROOT / "docs/scale.svg")
    parser.add_argument("--sizes", type=int, default=100_000, help="entries and assets")
    return parser.parse_args()


def main():
    options = arguments()
    with bench_folder() as folder:
        world = World(folder, options)
        try:
            measured, idle = measure(world, options), world.idle()
            of_one = sizes(folder, options.sizes)
        finally:
            world.stop()
    costs = {"refusals": refusal_costs(measured["refusals"]["one"], measured["refusals"]["many"])}
    costs["jobs"] = job_costs(measured["jobs"]["one"], costs["refusals"])
    checked = check(measured, costs)
    curves = {"refusals a second": curve(costs, idle, "refusals", MANY), "jobs a second": curve(costs, idle, "jobs", WORKERS)}
    if options.plot:
        points = {f"{kind} a second": counts for kind, counts in checked.items()}
        options.plot.write_text(plot(curves, points, "replicas"))
    print(json.dumps({
        "measured": {kind: {name: rounded(one) for name, one in each.items()} for kind, each in measured.items()},
        "shared": {"entries of a transaction, one replica": round(measured["refusals"]["many"]["shared"], 1),
                   "four replicas": round(measured["refusals"]["four"]["shared"], 1),
                   "transactions of a job": round(measured["jobs"]["one"]["writes"], 1)},
        "costs": {kind: micros(each) for kind, each in costs.items()},
        "an idle replica": {"database cpu us a second": round(idle["cpu"] * 1e6), "transactions a second": round(idle["transactions"], 1),
                            "connections": round(idle["connections"], 1)},
        "simulated on machines of their own": {name: {str(count): round(rate) for count, rate in each.items()} for name, each in curves.items()},
        "sizes": of_one,
        "goals": goals(checked)}))


if __name__ == "__main__":
    main()
