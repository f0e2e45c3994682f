#!/usr/bin/python3
"""How soon the console can be used: milliseconds from the last byte of its files to a usable first view (goal: 200), in Chromium.

    tests/bench/console_bench.py [--rounds 15]

Prints one JSON document: the sign-in page and the overview of somebody who is signed in, each with an empty cache and with a filled
one. `usable_ms` ends when the view is drawn, `settled_ms` when everything in it has loaded, both counted from the last byte of the
console's own files that the view needs; `load_ms` is the whole time from the request to `usable`. `goals` says whether the medians of
all four are within the goal, drawn and with everything in them loaded.
"""
import argparse
import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from support.browser import Console, chromium  # noqa: E402
from support.instance import Instance  # noqa: E402

GOAL_MS = 200

TIMES = """() => {
  const files = performance.getEntriesByType('resource').filter(e => e.name.includes('/console/'));
  const usable = performance.getEntriesByName('usable')[0].startTime;
  const last = Math.max(...files.map(e => e.responseEnd).filter(end => end <= usable));
  return {usable_ms: usable - last, settled_ms: performance.now() - last, load_ms: usable, bytes: files.reduce((sum, e) => sum + e.transferSize, 0)};
}"""


def measure(browser, instance, signed_in, cached, rounds):
    found = []
    tab = Console(browser, instance)
    if signed_in:
        tab.sign_in()
    else:
        tab.page.goto("/console/")
    cdp = tab.context.new_cdp_session(tab.page)
    cdp.send("Network.enable")
    cdp.send("Network.setCacheDisabled", {"cacheDisabled": not cached})
    for _ in range(rounds):
        tab.page.reload()
        tab.page.wait_for_function("() => performance.getEntriesByName('usable').length > 0")
        if signed_in:
            tab.settle()
        found.append(tab.page.evaluate(TIMES))
    tab.close()
    figures = {name: round(statistics.median(one[name] for one in found), 1) for name in ("usable_ms", "settled_ms", "load_ms")}
    return {**figures, "usable_max_ms": round(max(one["usable_ms"] for one in found), 1), "bytes": found[-1]["bytes"], "rounds": rounds}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    scratch = Path(tempfile.mkdtemp(prefix="console-bench-", dir="/tmp"))
    one = Instance(scratch / "one")
    try:
        one.add_user("root", admin=True)
        one.start()
        with chromium() as browser:
            result = {f"{view}, {'filled' if cached else 'empty'} cache": measure(browser, one, view == "overview", cached, rounds)
                      for view in ("sign-in", "overview") for cached in (False, True)}
        goals = {f"a first view is {what} within {GOAL_MS} ms of the last byte": all(one[figure] <= GOAL_MS for one in result.values())
                 for what, figure in (("usable", "usable_ms"), ("loaded", "settled_ms"))}
        print(json.dumps({"bench": "console", **result, "goals": goals}))
    finally:
        one.stop()
        shutil.rmtree(scratch, ignore_errors=True)


main()
