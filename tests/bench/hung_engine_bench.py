"""What routes without the gate notice of a policy engine that hangs: latencies of a read and of a deploy that no rule gates, while as
many callers of a gated deploy wait as the pool has threads three times over, beside the same load with an engine that works. A hung
engine is tried twice: one that never listens, and one that takes a question and never answers.

Prints one JSON document; `goals` says which hold. Usage: hung_engine_bench.py [--rounds N] [--requests N]; DASHCTL names the binary,
POLICY_BINARY the engine."""
import argparse
import json
import threading

# First, as it makes support importable.
from gate_load import MACHINE, Generator, bench_folder, get, middle, post, start_gated
from support.fake_engine import FakeEngine
from support.http_client import Http
from support.wait import wait_until

CALLERS = 48
MODES = {"working": "", "never_listens": "hang at start", "never_answers": "hang on a question"}


class Gated:
    """Callers of a gated deploy, one request after the other until the end."""

    def __init__(self, port, token):
        self.over, self.answers = False, []
        self.threads = [threading.Thread(target=self.call, args=(port, token, i)) for i in range(CALLERS)]
        for thread in self.threads:
            thread.start()

    def call(self, port, token, number):
        while not self.over:
            self.answers.append(Http(port, token).post("/api/cloud1/deploy", {**MACHINE, "name": f"web-{number}"}).status)

    def stop(self):
        self.over = True
        for thread in self.threads:
            thread.join()
        return len(self.answers)


def measure(folder, generator, mode, options):
    fake = FakeEngine(folder / f"engine-{mode}")
    fake.mode(MODES[mode])
    one = start_gated(folder / mode, fake.path)
    try:
        root = one.login("root")
        if mode != "never_listens":
            wait_until(lambda: root.get("/readyz").json["checks"]["policy"] == "ok", what="the engine")
        # A working engine refuses in microseconds: its callers wait for nothing, and one at a time is load enough.
        gated = Gated(one.port, root.token) if mode != "working" else None
        address = f"127.0.0.1:{one.port}"
        requests = {"read": (get("/api/auth/me", root.token), 200),
                    "ungated_deploy": (post("/api/cloud2/deploy", {}, root.token), 422),
                    "ready": (get("/readyz", root.token), 200)}
        out = {name: [generator.run(address, request, 4, options.requests, status) for _ in range(options.rounds)]
               for name, (request, status) in requests.items()}
        result = {name: middle(rounds, "p50_us", "p99_us") for name, rounds in out.items()}
        if gated:
            result["gated_refusals"] = gated.stop()
        return result
    finally:
        one.stop()


def goals(out):
    """Whoever waits for the engine waits for seconds. An ungated deploy may wait for the audit entries of all refusals of a moment."""
    rows = {}
    for mode in ("never_listens", "never_answers"):
        for what in ("read", "ungated_deploy", "ready"):
            before, after = out["working"][what]["p99_us"], out[mode][what]["p99_us"]
            rows[f"{what} while the engine {mode.replace('_', ' ')}: p99 {after} us, {before} us beside one that works"] = \
                after < 3 * before + (50_000 if what == "ungated_deploy" else 5_000)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=4000)
    options = parser.parse_args()
    with bench_folder() as folder:
        generator = Generator(folder)
        out = {mode: measure(folder, generator, mode, options) for mode in MODES}
        out["goals"] = goals(out)
        print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
