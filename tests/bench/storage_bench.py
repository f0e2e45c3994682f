#!/usr/bin/python3
"""What moving assets costs: dashctl beside rclone and mc on the same S3 server, in turns in one run.

    tests/bench/storage_bench.py [--rounds 3] [--large-mib 1024] [--small 2000] [--only large,small,lane] [--without-peers]

Needs the release build (or DASHCTL=…), rclone and mc (scripts/doubles/install.sh peers), and disk for four times the large
object. Prints one JSON document. Per case and tool: wall seconds, CPU seconds and peak MiB of the client with its children
(getrusage of the tree), medians of the rounds; for an instance in between also those of `dashctl serve`. The store's own work is
the same bytes for everybody and is not counted. `lane` is the chunked lane, client to instance to store, against the same parts
sent to the store in the same order without an instance, and against the fastest direct upload.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("DASHCTL", str(ROOT / "build/release/dashctl"))
DOUBLE = ROOT / "scripts/doubles/s3.sh"
PASSWORD = "correct horse battery"
MIB = 1 << 20
# Where scripts/doubles/install.sh puts rclone and mc; before the PATH, as Debian's rclone does not know an address of Azure.
PEERS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dashctl/doubles/bin"
TUNED = ["--transfers", "16", "--checkers", "16", "--s3-chunk-size", "64M", "--s3-upload-concurrency", "4"]


def environment(extra):
    env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower() and not k.startswith("DASHCTL_")}
    return {**env, **extra, "PATH": f"{PEERS}:{env.get('PATH', os.defpath)}"}


def require_peers():
    missing = [name for name in ("rclone", "mc") if not shutil.which(name, path=environment({})["PATH"])]
    if missing:
        raise SystemExit(f"{' and '.join(missing)} missing: run scripts/doubles/install.sh peers, or add --without-peers")


def run_child(words, env, out):
    """In a child of its own, so that RUSAGE_CHILDREN is this command's tree alone."""
    started = time.monotonic()
    words[0] = shutil.which(words[0], path=env["PATH"])
    done = subprocess.run(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    wall = time.monotonic() - started
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.write(out, json.dumps({"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_mib": usage.ru_maxrss / 1024,
                              "code": done.returncode, "error": done.stderr.decode(errors="replace")[-500:]}).encode())


def measured(words, env):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        run_child([str(word) for word in words], env, write_end)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        result = json.load(pipe)
    os.waitpid(child, 0)
    if result.pop("code") != 0:
        raise RuntimeError(f"{words}: {result['error']}")
    result.pop("error")
    return result


class Serve:
    """A running instance, whose own cost is told too."""

    def __init__(self, data, env):
        self.log = open(data / "serve.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([BINARY, "serve", "--data-dir", str(data), "--listen", "127.0.0.1:0"],
                                        env=env, stderr=self.log)
        self.url = "http://" + self.wait_for_address()

    def wait_for_address(self):
        for _ in range(1000):
            found = re.search(r'"event":"listening","addr":"([^"]+)"', Path(self.log.name).read_text(encoding="utf-8"))
            if found:
                return found[1]
            time.sleep(0.02)
        raise RuntimeError("serve does not listen")

    def cpu(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def reset_peak(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def status_mib(self, field):
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(field + r":\s+(\d+)", text)[1]) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Bench:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        started = subprocess.run([DOUBLE, "start", folder / "s3", "0"], check=True, capture_output=True, text=True)
        s3 = dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", started.stdout, re.M))
        self.s3 = s3
        self.env = environment({"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder),
                                "MC_HOST_bench": s3["S3_ENDPOINT"].replace("://", f"://{s3['AWS_ACCESS_KEY_ID']}:{s3['AWS_SECRET_ACCESS_KEY']}@"),
                                "RCLONE_CONFIG_BENCH_TYPE": "s3", "RCLONE_CONFIG_BENCH_PROVIDER": "Other",
                                "RCLONE_CONFIG_BENCH_ENDPOINT": s3["S3_ENDPOINT"],
                                "RCLONE_CONFIG_BENCH_ACCESS_KEY_ID": s3["AWS_ACCESS_KEY_ID"],
                                "RCLONE_CONFIG_BENCH_SECRET_ACCESS_KEY": s3["AWS_SECRET_ACCESS_KEY"],
                                "RCLONE_CONFIG_BENCH_REGION": s3.get("AWS_REGION", "us-east-1")})
        self.data = folder / "data"
        self.make_instance()
        self.make_files()

    def dashctl(self, *words, stdin=None):
        return subprocess.run([BINARY, *map(str, words), "--data-dir", str(self.data)], env=self.env, input=stdin, text=True,
                              check=True, capture_output=True).stdout

    def make_instance(self):
        settings = {"cloud1_access_key_id": self.s3["AWS_ACCESS_KEY_ID"],
                    "cloud1_secret_access_key": self.s3["AWS_SECRET_ACCESS_KEY"],
                    "storage_obj_cloud1_endpoint": self.s3["S3_ENDPOINT"], "storage_obj_cloud1_path_style": "1",
                    "storage_obj_cloud1_region": self.s3.get("AWS_REGION", "us-east-1"),
                    "storage_obj_cloud1_bucket": "bench", "storage_active_backend": "obj_cloud1"}
        self.dashctl("user", "add", "root", "--admin", "--password-file", "-", stdin=PASSWORD)
        for key, value in settings.items():
            self.dashctl("config", "set", key, "-", stdin=value)
        subprocess.run(["/usr/bin/python3", "-c", MAKE_BUCKET, str(ROOT / "tests/e2e")], check=True,
                       env={**os.environ, **self.s3})
        self.token = self.folder / "token"
        self.token.write_text(self.dashctl("token", "issue", "bench", "--user", "root").strip())
        self.serve = Serve(self.data, self.env)

    def make_files(self):
        self.large = self.folder / "large.rpm"
        with open(self.large, "wb") as file:
            for _ in range(self.options.large_mib):
                file.write(os.urandom(MIB))
        self.small = self.folder / "small"
        self.small.mkdir()
        for i in range(self.options.small):
            (self.small / f"s{i:05}.rpm").write_bytes(os.urandom(64 << 10))

    # --- the same job for each tool -------------------------------------------------------------

    def tools(self, what, way):
        """{tool: command} that sends `what` ("large" or "small"), or takes it into a fresh folder."""
        there, back = f"bench/{way}-{what}", self.fresh_folder() if way == "fetch" else None
        files = [self.large] if what == "large" else sorted(self.small.iterdir())
        names = ["large.rpm"] if what == "large" else ["s*.rpm"]
        through = ["--target", self.serve.url, "--token-file", self.token]
        mine = ["upload", *files] if way == "upload" else ["fetch", *names, "-o", f"{back}/"]
        commands = {"dashctl direct": [BINARY, "storage", *mine, "--quiet", "--data-dir", self.data],
                    "dashctl through an instance": [BINARY, "storage", *mine, "--quiet", *through]}
        if self.options.without_peers:
            return commands
        source, target = (self.large if what == "large" else self.small, there) if way == "upload" else (f"bench/upload-{what}", back)
        if way == "upload":
            rclone = ["rclone", "copy", source, f"bench:{target}-rclone", "--ignore-times"]
            mc = ["mc", "--quiet", "cp", *(["--recursive"] if what == "small" else []), source,
                  f"bench/{target}-mc/"]
        else:
            rclone = ["rclone", "copy", f"bench:{source}-rclone", target / "rclone", "--ignore-times"]
            mc = ["mc", "--quiet", "cp", "--recursive", f"bench/{source}-mc/", f"{target / 'mc'}/"]
        commands.update({"rclone": rclone, "rclone tuned": [*rclone, *TUNED], "mc": mc})
        return commands

    def fresh_folder(self):
        folder = self.folder / "back"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def one(self, tool, words):
        os.sync()  # or a tool pays for what the one before it left to write
        is_through = "instance" in tool or "lane" in tool
        before = self.serve.cpu()
        if is_through:
            self.serve.reset_peak()
            idle = self.serve.status_mib("VmRSS")
        result = measured(words, self.env)
        if is_through:
            result["serve_cpu_s"] = self.serve.cpu() - before
            result["serve_peak_over_idle_mib"] = self.serve.status_mib("VmHWM") - idle
        return result

    def compare(self, what, way):
        rounds = {}
        for _ in range(self.options.rounds):
            for tool in self.tools(what, way):
                words = self.tools(what, way)[tool]
                rounds.setdefault(tool, []).append(self.one(tool, words))
        return {tool: medians(results) for tool, results in rounds.items()}

    def lane(self):
        """A part after the other: through the instance, and straight to the store."""
        commands = {"chunked lane": [BINARY, "storage", "upload", self.large, "--quiet", "--target", self.serve.url,
                                     "--token-file", self.token],
                    "the same parts in order, straight": ["/usr/bin/python3", "-c", SEND_PARTS, ROOT / "tests/e2e", self.large],
                    "dashctl direct": [BINARY, "storage", "upload", self.large, "--quiet", "--data-dir", self.data]}
        self.env.update(self.s3)
        rounds = {}
        for _ in range(self.options.rounds):
            for tool, words in commands.items():
                rounds.setdefault(tool, []).append(self.one(tool, words))
        result = {tool: medians(results) for tool, results in rounds.items()}
        wall = {tool: row["wall_s"] for tool, row in result.items()}
        result["ratio_to_the_same_parts"] = round(wall["chunked lane"] / wall["the same parts in order, straight"], 2)
        result["ratio_to_the_direct_upload"] = round(wall["chunked lane"] / wall["dashctl direct"], 2)
        return result

    def close(self):
        self.serve.stop()
        subprocess.run([DOUBLE, "stop", self.folder / "s3"], check=False, capture_output=True)


MAKE_BUCKET = """
import os, sys
sys.path.insert(0, sys.argv[1])
from support.s3_bucket import Bucket
Bucket(os.environ, "bench")
"""

# 8 MiB parts of one file, one after the other on one connection, each signed with its hash.
SEND_PARTS = """
import os, re, sys
sys.path.insert(0, sys.argv[1])
from support.s3_bucket import Bucket
bucket = Bucket(os.environ, "bench")
path = "/bench/config-mgmt/straight.rpm"
upload = re.search(rb"<UploadId>([^<]*)", bucket.call("POST", path, "uploads=").content)[1].decode()
etags = []
with open(sys.argv[2], "rb") as file:
    while part := file.read(8 << 20):
        etags.append(bucket.call("PUT", path, f"partNumber={len(etags) + 1}&uploadId={upload}", part).getheader("ETag"))
rows = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>{etag}</ETag></Part>" for n, etag in enumerate(etags, 1))
assert bucket.call("POST", path, f"uploadId={upload}", f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()).status == 200
"""


def medians(rounds):
    return {name: round(statistics.median(one[name] for one in rounds), 2) for name in rounds[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large-mib", type=int, default=1024)
    parser.add_argument("--small", type=int, default=2000)
    parser.add_argument("--only", default="large,small,lane")
    parser.add_argument("--without-peers", action="store_true")
    options = parser.parse_args()
    if not options.without_peers:
        require_peers()
    folder = Path(tempfile.mkdtemp(prefix="storage-bench-", dir="/tmp"))
    bench = None
    try:
        bench = Bench(folder, options)
        result = {"peer": "rclone", "large_mib": options.large_mib, "small_files": options.small, "cores": os.cpu_count(), "rounds": options.rounds}
        for what in ("large", "small"):
            if what in options.only.split(","):
                for way in ("upload", "fetch"):
                    result[f"{way} {what}"] = bench.compare(what, way)
        if "lane" in options.only.split(","):
            result["lane"] = bench.lane()
        print(json.dumps(result, indent=1))
    finally:
        if bench:
            bench.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
