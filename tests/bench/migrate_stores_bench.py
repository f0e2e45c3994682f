#!/usr/bin/python3
"""What a migration between stores costs: dashctl beside rclone over the same servers, in turns in one run.

    scripts/bench migrate-stores [--objects 40] [--object-mib 10] [--large-mib 256] [--rounds 1] [--only azure,folder]
    scripts/bench migrate-stores --full     1,000 objects of 10 MiB and one of 5 GiB (needs 40 GiB of disk)

An instance has one S3 backend, so the two ways are from an S3 server to Azure and from an S3 server to a folder. Each case runs
`dashctl storage migrate` on the data folder and `rclone copy`, as it is and with more transfers, into a place that is empty.
Needs the release build (or DASHCTL=…) and rclone (scripts/doubles/install.sh peers). Prints one JSON document: per case and tool
wall seconds, CPU seconds and peak MiB of the tool, medians of the rounds; then the goals. The servers' own work is the same bytes
for everybody and is not counted.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from storage_bench import BINARY, MAKE_BUCKET, MIB, PASSWORD, ROOT, environment, measured, medians

TUNED = ["--transfers", "16", "--checkers", "16"]
DOUBLES = ROOT / "scripts/doubles"


def start(name, folder):
    started = subprocess.run([DOUBLES / f"{name}.sh", "start", folder, "0"], check=True, capture_output=True, text=True)
    return dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", started.stdout, re.M))


class Bench:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.data = folder / "data"
        self.s3, self.azure = start("s3", folder / "s3"), start("azure", folder / "azure")
        key = {"ACCESS_KEY_ID": self.s3["AWS_ACCESS_KEY_ID"], "SECRET_ACCESS_KEY": self.s3["AWS_SECRET_ACCESS_KEY"],
               "REGION": self.s3.get("AWS_REGION", "us-east-1")}
        s3 = {"TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": self.s3["S3_ENDPOINT"], **key}
        azure = {"TYPE": "azureblob", "ACCOUNT": self.azure["AZURE_STORAGE_ACCOUNT"], "KEY": self.azure["AZURE_STORAGE_KEY"],
                 "ENDPOINT": self.azure["AZURE_BLOB_ENDPOINT"]}
        self.env = environment({"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"),
                                **{f"RCLONE_CONFIG_FROM_{k}": v for k, v in s3.items()},
                                **{f"RCLONE_CONFIG_AZURE_{k}": v for k, v in azure.items()}})
        (folder / ".config/rclone").mkdir(parents=True)
        (folder / ".config/rclone/rclone.conf").touch()  # else it says that there is none, each time
        self.dashctl("user", "add", "root", "--admin", "--password-file", "-", stdin=PASSWORD)
        self.set(cloud1_access_key_id=key["ACCESS_KEY_ID"], cloud1_secret_access_key=key["SECRET_ACCESS_KEY"],
                 storage_obj_cloud1_endpoint=self.s3["S3_ENDPOINT"], storage_obj_cloud1_path_style="1",
                 storage_obj_cloud1_region=key["REGION"], storage_obj_cloud1_bucket="bench", storage_active_backend="obj_cloud1",
                 storage_obj_cloud2_account=azure["ACCOUNT"], storage_obj_cloud2_account_key=azure["KEY"],
                 storage_obj_cloud2_endpoint=azure["ENDPOINT"])
        subprocess.run(["/usr/bin/python3", "-c", MAKE_BUCKET, str(ROOT / "tests/e2e")], check=True, env={**os.environ, **self.s3})

    def dashctl(self, *words, stdin=None):
        subprocess.run([BINARY, *map(str, words), "--data-dir", str(self.data)], env=self.env, input=stdin, text=True, check=True,
                       capture_output=True)

    def set(self, **settings):
        for key, value in settings.items():
            self.dashctl("config", "set", key, "-", stdin=str(value))

    def fill(self, what):
        """Puts the objects of the case, and nothing else, on the S3 server. The files are gone afterwards."""
        subprocess.run(["rclone", "delete", "from:bench"], env=self.env, check=True)
        files = self.folder / "files"
        files.mkdir()
        mib, count = (self.options.large_mib, 1) if what == "one large" else (self.options.object_mib, self.options.objects)
        with open(files / "s00000.rpm", "wb") as file:
            for _ in range(mib):
                file.write(os.urandom(MIB))
        for n in range(1, count):
            os.link(files / "s00000.rpm", files / f"s{n:05}.rpm")
        self.dashctl("storage", "upload", *sorted(files.iterdir()), "--quiet")
        shutil.rmtree(files)

    def run(self, tool, to):
        """Into a place of its own, which is removed again."""
        place = "bench-" + uuid.uuid4().hex[:8]
        folder = self.folder / "target"
        folder.mkdir()
        if to == "azure":
            self.set(storage_obj_cloud2_container=place)
            subprocess.run(["rclone", "mkdir", f"azure:{place}"], env=self.env, check=True)
        else:
            self.set(storage_local_path=folder)
        target = f"azure:{place}/config-mgmt" if to == "azure" else str(folder)
        words = {"dashctl": [BINARY, "storage", "migrate", "obj_cloud1", "obj_cloud2" if to == "azure" else "local", "--quiet",
                             "--data-dir", self.data],
                 "rclone": ["rclone", "copy", "from:bench/config-mgmt", target],
                 "rclone tuned": ["rclone", "copy", "from:bench/config-mgmt", target, *TUNED]}
        os.sync()  # as in storage_bench.py
        result = measured(words[tool], self.env)
        if to == "azure":
            subprocess.run(["rclone", "purge", f"azure:{place}"], env=self.env, check=True)
        shutil.rmtree(folder)
        return result

    def compare(self, to):
        rounds = {}
        for _ in range(self.options.rounds):
            for tool in ("dashctl", "rclone", "rclone tuned"):
                rounds.setdefault(tool, []).append(self.run(tool, to))
        return {tool: medians(results) for tool, results in rounds.items()}

    def close(self):
        for name in ("s3", "azure"):
            subprocess.run([DOUBLES / f"{name}.sh", "stop", self.folder / name], check=False, capture_output=True)


def goals(case, rows):
    """Against the better of rclone's two ways; memory against the smaller."""
    mine, peers = rows["dashctl"], [rows["rclone"], rows["rclone tuned"]]
    best = {name: min(peer[name] for peer in peers) for name in mine}
    return {f"{case}: at least as fast as rclone": mine["wall_s"] <= best["wall_s"],
            f"{case}: less CPU than rclone": mine["cpu_s"] < best["cpu_s"],
            f"{case}: a quarter of rclone's memory": mine["peak_mib"] <= best["peak_mib"] / 4,
            f"{case}: under 128 MiB": mine["peak_mib"] < 128}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=40)
    parser.add_argument("--object-mib", type=int, default=10)
    parser.add_argument("--large-mib", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="azure,folder")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    if options.full:
        options.objects, options.object_mib, options.large_mib = 1000, 10, 5120
    return options


def main():
    options = parse_options()
    if not shutil.which("rclone", path=environment({})["PATH"]):
        sys.exit("rclone missing: run scripts/doubles/install.sh peers")
    # Its children find rclone where the doubles put it.
    os.environ["PATH"] = environment({})["PATH"]
    folder = Path(tempfile.mkdtemp(prefix="migrate-stores-", dir="/tmp"))
    bench, result, reached = None, {"peer": "rclone", "objects": options.objects, "object_mib": options.object_mib,
                                    "large_mib": options.large_mib, "cores": os.cpu_count(), "rounds": options.rounds}, {}
    try:
        bench = Bench(folder, options)
        for what in ("many objects", "one large"):
            bench.fill(what)
            for to in options.only.split(","):
                case = f"S3 to {to}, {what}"
                result[case] = bench.compare(to)
                reached |= goals(case, result[case])
        print(json.dumps(result | {"goals": reached}, indent=1))
    finally:
        if bench:
            bench.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
