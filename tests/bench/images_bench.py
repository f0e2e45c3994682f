#!/usr/bin/python3
"""What moving a disk image costs: to the hub from a file, from a build's folder and from a build's bucket, and on to a staging place.

    tests/bench/images_bench.py [--size-mib 32768]

Needs the release build (or DASHCTL=…) and disk for three times the image on the S3 server; the image itself is a sparse file.
Prints one JSON document: per way wall seconds, CPU seconds and peak MiB of the command with its children, and what `dashctl serve`
used and how far its peak was over its memory before. Where the job runs in the server, the command only waits. The goal is 64 MiB
over idle for any size, in the server and in a command that does the work itself.
"""
import argparse
import json
import shutil
import tempfile
from pathlib import Path

from storage_bench import BINARY, MIB, Bench, measured

GOAL_MIB = 64


class ImagesBench(Bench):
    def __init__(self, folder, options):
        options.large_mib = options.small = 0
        super().__init__(folder, options)
        self.builds = folder / "builds"
        self.builds.mkdir()
        self.dashctl("config", "set", "storage_local_path", "-", stdin=str(self.builds))
        self.through = ["--target", self.serve.url, "--token-file", self.token]

    def image(self, name):
        path = self.builds / name
        with open(path, "wb") as file:
            file.truncate(self.options.size_mib * MIB)
        return path

    def idle_command_mib(self):
        return measured([BINARY, "storage", "hub", "list", "--quiet", "--data-dir", self.data], self.env)["peak_mib"]

    def hub(self, *words):
        before = self.serve.cpu()
        self.serve.reset_peak()
        idle = self.serve.status_mib("VmRSS")
        row = measured([BINARY, "storage", "hub", *words, "--quiet"], self.env)
        row["serve_cpu_s"] = self.serve.cpu() - before
        row["serve_peak_over_idle_mib"] = self.serve.status_mib("VmHWM") - idle
        row["mib_per_s"] = self.options.size_mib / row["wall_s"]
        return {name: round(value, 2) for name, value in row.items()}

    def run(self):
        local = ["--data-dir", self.data]
        rows = {"put FILE, direct": self.hub("put", self.image("a.raw"), *local),
                "put FILE, through an instance": self.hub("put", self.image("a.raw"), *self.through),
                "promote, by the store": self.hub("promote", "a.raw", "--cloud", "aws", *self.through)}
        rows["put a staged object, by the store"] = self.hub("put", "obj_cloud1:promote-staging/a.raw", "--name", "b.raw", *self.through)
        self.dashctl("storage", "hub", "delete", "b.raw")
        rows["put a folder's object, streamed"] = self.hub("put", "local:a.raw", "--name", "c.raw", *self.through)
        direct = rows["put FILE, direct"]["peak_mib"] - self.idle_command_mib()
        peak = max(row["serve_peak_over_idle_mib"] for row in rows.values())
        goals = {f"serve stays within {GOAL_MIB} MiB over idle": peak <= GOAL_MIB,
                 f"a command that sends itself stays within {GOAL_MIB} MiB over one that lists": direct <= GOAL_MIB}
        return {"bench": "images", "peer": "put FILE, direct", "size_mib": self.options.size_mib, **rows, "goals": goals}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size-mib", type=int, default=32 << 10)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="images-bench-"))
    bench = ImagesBench(folder, options)
    try:
        print(json.dumps(bench.run(), indent=1))
    finally:
        bench.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
