"""The goals of speed, and how each figure is read from what the benchmarks print. Used by `scripts/bench --plot`."""
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    bench: str
    name: str
    kind: str      # "at most" or "at least"
    goal: float
    unit: str
    read: Callable  # of the benchmark's documents; KeyError where it did not measure that


def holds(row):
    """Of a row with a figure."""
    return row["figure"] <= row["goal"] if row["kind"] == "at most" else row["figure"] >= row["goal"]


def of_peer(case, column, peer="mc", ours="dashctl direct"):
    return lambda documents: documents[0][case][ours][column] / documents[0][case][peer][column]


def migrated(name, column):
    """Of the largest number of keys."""
    def read(documents):
        found = [one for one in documents if one["bench"] == f"migrate.{name}"]
        if not found:
            raise KeyError(name)
        return max(found, key=lambda one: one["keys"])[column]
    return read


def of_limit(what, trips, syncs=0.0):
    """The time of an answer, divided by that of so many bare engine round trips at its rhythm and so many fdatasyncs."""
    def read(documents):
        out = documents[0]
        limit = trips * out["bare_engine"][f"as {what}"]["p50_us"] + syncs * out["bare_fdatasync"]["p50_us"]
        return out[what]["one"]["p50_us"] / limit
    return read


def rate(one, other):
    """The ratio of two paths to a figure."""
    def follow(out, path):
        for key in path:
            out = out[key]
        return out
    return lambda documents: follow(documents[0], one) / follow(documents[0], other)


def refusals(documents):
    return documents[0]["postgres"]["sixteen"]["per_second"]


SERVED = ("servers", "dashctl /api/auth/me signed in", "per_second"), ("servers", "nginx file", "per_second")
LISTED = ("servers", "dashctl list of 20 assets at 16", "per_second"), ("servers", "dashctl /livez at 16", "per_second")
GOALS = (
    Goal("storage", "fetch of 1 GiB, time", "at most", 1.0, "× mc", of_peer("fetch large", "wall_s")),
    Goal("storage", "fetch of 1 GiB, processor", "at most", 1.5, "× mc", of_peer("fetch large", "cpu_s")),
    Goal("storage", "upload of 1 GiB, time", "at most", 1.0, "× mc", of_peer("upload large", "wall_s")),
    Goal("storage", "upload of 1 GiB, processor", "at most", 1.0, "× mc", of_peer("upload large", "cpu_s")),
    Goal("storage", "upload of 1 GiB, memory", "at most", 1.0, "× mc", of_peer("upload large", "peak_mib")),
    Goal("storage", "chunked lane, time", "at most", 1.3, "× direct upload", of_peer("lane", "wall_s", "dashctl direct", "chunked lane")),
    Goal("policy", "dry run", "at most", 1.5, "bare round trips", of_limit("dry_run", 1)),
    Goal("policy", "durable denial", "at most", 1.0, "× (3 trips + 1.5 syncs)", of_limit("deny", 3, 1.5)),
    Goal("policy", "dry run with 200 rules", "at most", 1.5, "ms", lambda documents: documents[0]["dry_run_of_200_rules"]["one"]["p50_us"] / 1000),
    Goal("migrate", "import of 60,000 keys, time", "at most", 1.0, "s", migrated("import", "seconds")),
    Goal("migrate", "import of 60,000 keys, memory", "at most", 64.0, "MiB", migrated("import", "peak_mib")),
    Goal("migrate", "diff of 60,000 keys, time", "at most", 1.0, "s", migrated("diff", "seconds")),
    Goal("migrate", "diff of 60,000 keys, memory", "at most", 64.0, "MiB", migrated("diff", "peak_mib")),
    Goal("policy", "denials at 16 connections", "at least", 0.7, "× bare engine",
         rate(("deny", "sixteen", "per_second"), ("bare_engine", "sixteen", "per_second"))),
    Goal("policy", "refusals on PostgreSQL at 16", "at least", 3000.0, "a second", refusals),
    Goal("policy", "refusals by two replicas", "at least", 1.0, "× one replica",
         rate(("postgres", "two_replicas", "per_second"), ("postgres", "sixteen", "per_second"))),
    Goal("http", "signed-in GET at 64 connections", "at least", 0.5, "× nginx's file", rate(*SERVED)),
    Goal("http", "list of 20 assets at 16", "at least", 0.2, "× /livez", rate(*LISTED)),
)


def figures(results):
    """One row a goal, out of {bench: documents}; "figure" is None where it was not measured."""
    out = []
    for goal in GOALS:
        try:
            figure = round(goal.read(results[goal.bench]), 3)
        except KeyError:
            figure = None
        out.append({"bench": goal.bench, "name": goal.name, "kind": goal.kind, "goal": goal.goal, "unit": goal.unit, "figure": figure})
    return out
