#!/usr/bin/python3
"""Time and peak memory of export, diff and import by number of keys; growth must be linear. One JSON line a measurement.

    tests/bench/migrate_bench.py [KEYS…]        (default 600 6000 60000; the binary is named in DASHCTL)
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.instance import PASSWORD, Instance  # noqa: E402
from support.program import clean_environment  # noqa: E402


def measure(keys, name, binary, *args, env):
    begin = time.monotonic()
    process = subprocess.Popen([binary, "migrate", *map(str, args)], env=env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise SystemExit(f"{name} of {keys} keys ended with {code}: {errors.decode()[-2000:]}")
    print(json.dumps({"bench": f"migrate.{name}", "keys": keys, "seconds": round(seconds, 3),
                      "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3), "peak_mib": usage.ru_maxrss // 1024}),
          flush=True)


def bench(keys, folder, binary):
    instances = [Instance(folder / name) for name in ("source", "target")]
    for instance in instances:
        instance.add_user("root", admin=True)
        instance.start()
    source, target = instances
    try:
        # Nine flat keys to one region field, as a large real configuration has them.
        config = {(f"cloud1_region.region-{n // 20}.field_{n % 20}" if n % 10 == 0 else f"setting_{n}"): f"value {n} " * 4
                  for n in range(keys)}
        bundle = folder / "filled.json"
        bundle.touch(mode=0o600)
        bundle.write_text(json.dumps({"config": config}))
        password = folder / "password"
        password.write_text(PASSWORD)
        env = clean_environment({"HOME": str(folder)})
        login = ["--admin-user", "root", "--password-file", password, "--timeout", "600"]
        measure(keys, "import", binary, "import", "--bundle", bundle, "--target", source.url, "--apply", *login, env=env)
        out = folder / "out.json"
        measure(keys, "export", binary, "export", "--source", source.url, "--out", out, *login, env=env)
        measure(keys, "diff", binary, "diff", "--bundle", out, "--target", source.url, "--exit-code", *login, env=env)
        measure(keys, "import_to_empty", binary, "import", "--bundle", out, "--target", target.url, "--apply", *login, env=env)
    finally:
        for instance in instances:
            instance.stop()


def main():
    binary = os.environ.get("DASHCTL") or str(Path(__file__).resolve().parents[2] / "build/release/dashctl")
    for keys in [int(a) for a in sys.argv[1:]] or [600, 6000, 60000]:
        with tempfile.TemporaryDirectory() as folder:
            bench(keys, Path(folder), binary)


if __name__ == "__main__":
    main()
