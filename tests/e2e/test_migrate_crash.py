"""Whatever is killed, cut or interrupted in the middle of a migration: the target holds the old configuration or the
new one, never a mixture, and the operator is told what to do next."""
import queue
import re
import subprocess
import threading

import pytest

from support.fault import Fault
from support.migrate import write_bundle
from support.peer_dashboard import PeerDashboard, PeerRequest
from support.program import BINARY, clean_environment, run
from support.relay import Relay
from support.terminal import Terminal

KEYS = 150
ROUNDS = 50


def generation(n):
    """A configuration in which everything tells its generation: keys, and the fields of two clouds' regions."""
    return {"config": {f"setting_{k}": f"generation {n}" for k in range(KEYS)},
            "regions": {cloud: {f"region-{r}": {"vpc_id": f"generation {n}"} for r in range(5)} for cloud in ("aws", "gcp")}}


def generations_in(folder):
    """Which generations the store in a data directory holds."""
    done = run("migrate", "export", "--data-dir", folder, "--out", "-")
    assert done.code == 0, done
    bundle = done.json
    flat = {v for k, v in bundle["config"].items() if k.startswith("setting_")}
    fields = {f["vpc_id"] for regions in bundle["regions"].values() for f in regions.values()}
    assert len(bundle["config"]) >= KEYS and len(bundle["regions"]) == 2
    return flat | fields


class Imports:
    """One import after another into one target, each of a new generation, each stoppable in the middle."""

    def __init__(self, filled):
        self.filled, self.target = filled, filled.target
        self.relay = Relay(self.target.port)
        self.token = filled.scratch / "token"
        self.n = self.held = 0
        self.renew_token()
        for _ in range(2):
            self.relay.count()
            assert self.apply_next(self.relay.url).code == 0
        self.held = self.n
        self.bytes = self.relay.count()  # of a whole import, both ways

    def kill_points(self, rounds):
        """Spread over the whole of an import, from the connection on to after its end."""
        return [int(self.bytes * 1.1 * i / rounds) for i in range(rounds)]

    def renew_token(self):
        self.token.write_text(self.target.login("root").token)

    def words(self, bundle, url=None):
        return ["migrate", "import", "--bundle", bundle, "--target", url or self.target.url, "--apply", "--token-file",
                self.token]

    @property
    def env(self):
        return {"HOME": str(self.filled.home)}

    def next_bundle(self):
        self.n += 1
        return write_bundle(self.filled.scratch / f"g{self.n}.json", **generation(self.n))

    def apply_next(self, url=None, *more):
        return run(*self.words(self.next_bundle(), url), *more, env=self.env)

    def start_next(self):
        """Through the relay."""
        return subprocess.Popen([BINARY, *map(str, self.words(self.next_bundle(), self.relay.url))],
                                env=clean_environment(self.env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def check_whole(self):
        """The store is of one generation, none older than the one found before. True when it is the last one's. A running
        target may still be about to write what it was sent before the client was gone."""
        found = generations_in(self.target.folder)
        assert len(found) == 1, found
        generation = int(re.fullmatch(r"generation (\d+)", found.pop())[1])
        assert self.held <= generation <= self.n
        self.held = generation
        return generation == self.n

    def finish(self):
        """The same import once more brings what is left; and then nothing is."""
        bundle = self.filled.scratch / f"g{self.n}.json"
        done = run(*self.words(bundle), env=self.env)
        assert done.code == 0, done
        again = run(*self.words(bundle), env=self.env)
        assert again.code == 0 and "already matches" in again.out, again
        self.held = self.n


@pytest.fixture
def imports(filled):
    made = Imports(filled)
    yield made
    made.relay.close()


def no_half_file(folder):
    return [p.name for p in folder.rglob("*") if p.is_file() and not p.name.endswith(".json")] == []


# --- killed ---


def test_an_import_that_is_killed_leaves_the_old_or_the_new_configuration(imports):
    seen = []
    for point in imports.kill_points(ROUNDS):
        started = queue.Queue()
        imports.relay.at(point, lambda running=started: running.get().kill())
        process = imports.start_next()
        started.put(process)
        process.communicate(timeout=60)
        seen.append(imports.check_whole())
    assert not seen[0] and seen[-1]
    imports.finish()


def test_a_target_that_is_killed_in_an_import_holds_the_old_or_the_new_configuration(imports):
    for point in imports.kill_points(ROUNDS):
        imports.relay.at(point, imports.target.kill)
        process = imports.start_next()
        _, err = process.communicate(timeout=60)
        imports.target.kill()
        is_new = imports.check_whole()
        if process.returncode == 0:
            assert is_new
        else:
            # 5: it was written, and the target went away while it was read back
            assert process.returncode in (7, 5), err
            assert "Cannot reach" in err and (process.returncode == 7 or is_new), err
        imports.target.start()
        imports.relay.upstream_port = imports.target.port
        imports.renew_token()
    imports.finish()


# --- cut ---


@pytest.fixture
def fault(filled):
    made = Fault("target", filled.target.port)
    yield made
    made.close()


@pytest.mark.parametrize("stream", ["upstream", "downstream"])
def test_a_connection_that_is_cut_changes_nothing_or_everything(imports, fault, stream):
    clean = imports.apply_next(fault.url)
    assert clean.code == 0, clean
    imports.held = imports.n
    codes = set()
    # An import sends and is sent some 20 kB: the cuts lie in every request and every answer.
    for limit in (1, 300, 1000, 2500, 5000, 10000, 15000, 20000):
        fault.cut_after(limit, stream)
        done = imports.apply_next(fault.url)
        is_new = imports.check_whole()
        codes.add(done.code)
        assert done.code in (0, 5, 7), (limit, done)
        if done.code in (0, 5):
            assert is_new, (limit, done)
        if done.code == 7:
            assert fault.url in done.err, done
        if done.code == 7 and is_new:
            assert "Run the same import again" in done.err, done
        fault.heal()
        imports.finish()
    assert 7 in codes


def test_an_answer_that_never_comes_is_told_with_what_to_do(imports, fault):
    fault.hold_back()
    done = imports.apply_next(fault.url, "--timeout", "1")
    assert done.code == 7 and fault.url in done.err, done
    assert not imports.check_whole()
    fault.heal()
    imports.finish()


# --- interrupted ---


class Held(PeerRequest):
    """A peer that keeps one request waiting until it is told to go on."""

    def hold(self):
        at = self.server.hold_at
        if at and (self.command, self.path) == at[0]:
            at[1] -= 1
            if at[1] == 0:
                self.server.reached.set()
                self.server.go_on.wait(60)

    def do_GET(self):
        self.hold()
        super().do_GET()

    def do_POST(self):
        self.hold()
        super().do_POST()


class HeldDashboard(PeerDashboard):
    def __init__(self, config):
        self.hold_at, self.reached, self.go_on = None, threading.Event(), threading.Event()
        super().__init__(config)
        self.RequestHandlerClass = Held

    def hold(self, method, path, nth=1):
        self.hold_at = [(method, path), nth]


@pytest.fixture
def held():
    server = HeldDashboard({"aws_access_key_id": "before", "some_key": "x"})
    yield server
    server.go_on.set()
    server.shutdown()
    server.server_close()


READ = ("GET", "/api/setup/config")
WRITE = ("POST", "/api/setup/import")


@pytest.mark.parametrize("action, at, nth, told, not_told", [
    ("export", READ, 1, "nothing was written", "bundle was written"),
    ("diff", READ, 1, "nothing was written", "undo"),
    ("diff --plan-out", READ, 1, "nothing was written", "undo"),
    ("import --apply", ("GET", "/api/setup/status"), 1, "nothing was written", "undo"),
    ("import --apply", READ, 1, "nothing was written", "undo"),
    ("import --apply", WRITE, 1, "all of it or nothing", "nothing was written"),
    ("import --apply", READ, 2, "everything was written", "nothing was written"),
])
def test_ctrl_c_says_what_was_and_what_was_not_written(held, scratch, action, at, nth, told, not_told):
    home = scratch / "home"
    home.mkdir()
    bundle = write_bundle(scratch / "b.json", config={"aws_access_key_id": "after"})
    out = scratch / "out.json"
    words = {"export": ["export", "--source", held.url, "--out", out],
             "diff": ["diff", "--target", held.url, "--bundle", bundle],
             "diff --plan-out": ["diff", "--target", held.url, "--bundle", bundle, "--plan-out", out],
             "import --apply": ["import", "--target", held.url, "--bundle", bundle, "--apply"]}[action]
    held.hold(*at, nth)
    at_terminal = Terminal("migrate", *words, "--token", "a.b.c", "--output", "json", env={"HOME": str(home)})
    assert held.reached.wait(30)
    done = at_terminal.interrupt().end()
    assert done.code == 130 and told in done.err and not_told not in done.err, done
    assert done.json["error"]["code"] == "interrupted" and done.json["schema"] == 1
    assert told in done.json["error"]["message"]
    assert not out.exists() and no_half_file(home)
    if nth == 2:
        assert "To undo: dashctl migrate import --bundle " in done.err


def test_progress_is_drawn_on_a_terminal_for_what_takes_longer_than_a_second(held, scratch):
    held.hold(*READ)
    bundle = write_bundle(scratch / "b.json", config={"aws_access_key_id": "after"})
    at = Terminal("migrate", "diff", "--target", held.url, "--bundle", bundle, "--token", "a.b.c",
                  env={"HOME": str(scratch)})
    at.wait_for(f"reading {held.url} … 1 s")
    held.go_on.set()
    done = at.end()
    assert done.code == 0 and "\r\x1b[K" in done.err and "CHANGE: 1" in done.out, done


def test_no_progress_is_drawn_where_nobody_looks(held, scratch):
    bundle = write_bundle(scratch / "b.json", config={"aws_access_key_id": "after"})
    held.hold(*READ)
    threading.Timer(1.6, held.go_on.set).start()
    quiet = Terminal("migrate", "diff", "--target", held.url, "--bundle", bundle, "--token", "a.b.c", "--quiet",
                     env={"HOME": str(scratch)}).end()
    assert quiet.code == 0 and "\x1b" not in quiet.err, quiet
