"""Fixtures that drive the built binary from outside: commands, running instances, HTTP."""
import base64
import fcntl
import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import termios
import time
import urllib.parse
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery"


def pytest_configure(config):
    # A shell's background job ignores SIGINT, and so would every process that a test means to interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The same of SIGHUP under nohup. A handler is not inherited, so that only the tests themselves go on ignoring it.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda number, frame: None)
    config.addinivalue_line("markers", "long: loops that take minutes; scripts/test long runs them")
    config.addinivalue_line("markers", "attack: a running server under attack; scripts/attack runs them")


def find_binary():
    named = os.environ.get("DASHCTL")
    for path in [named] if named else [ROOT / "build/release/dashctl", ROOT / "build/dev/dashctl"]:
        if Path(path).is_file():
            return str(path)
    raise RuntimeError("no dashctl binary: build the release preset, or name one in DASHCTL")


BINARY = find_binary()


def wait_until(condition, seconds=30, what="condition"):
    """Polls until condition() is truthy and gives its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not come true in {seconds} s"
        time.sleep(0.02)


class Ran:
    """How a command ended."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Answer:
    """An HTTP answer."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()

    def __repr__(self):
        return f"{self.status} {self.body[:2000]!r}"


class Http:
    """A client of one instance, signed in or not."""

    def __init__(self, port, token=None, host="127.0.0.1"):
        self.port, self.token, self.host = port, token, host

    def request(self, method, path, body=None, headers=None, form=None, timeout=60):
        headers = dict(headers or {})
        if form is not None:
            body = urllib.parse.urlencode(form)
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        elif isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if self.token and "Authorization" not in headers:
            headers["Authorization"] = f"Bearer {self.token}"
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path, **kw):
        return self.request("GET", path, **kw)

    def post(self, path, body=None, **kw):
        return self.request("POST", path, body=body, **kw)

    def put(self, path, body=None, **kw):
        return self.request("PUT", path, body=body, **kw)

    def patch(self, path, body=None, **kw):
        return self.request("PATCH", path, body=body, **kw)

    def delete(self, path, **kw):
        return self.request("DELETE", path, **kw)


def clean_environment(extra=None):
    """The caller's environment without settings of dashctl that would leak into a test."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("DASHCTL_")}
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        env.pop(name, None)
    env["NO_COLOR"] = "1"
    env.update(extra or {})
    return env


def run(*args, stdin=None, env=None, cwd=None, timeout=120):
    done = subprocess.run([BINARY, *map(str, args)], input=stdin if stdin is not None else "", env=clean_environment(env),
                          cwd=cwd, timeout=timeout, capture_output=True, text=True, check=False)
    return Ran(done)


class Terminal:
    """A command on a terminal of its own: what it shows there, and what is typed when it asks. stdout is a pipe."""

    def __init__(self, *args, env=None, cwd=None):
        self.screen = ""
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [BINARY, *map(str, args)], stdin=slave, stderr=slave, stdout=subprocess.PIPE, text=True, cwd=cwd,
            env=clean_environment(env), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.slave = slave  # kept open: the master reads on after the command has ended

    def wait_for(self, text, seconds=30):
        """Reads until `text` stands on the screen."""
        end = time.monotonic() + seconds
        while text not in self.screen:
            assert time.monotonic() < end, f"no {text!r} on the screen: {self.screen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.screen += os.read(self.master, 65536).decode(errors="replace")
        return self

    def answer(self, question, reply):
        self.wait_for(question)
        self.screen = self.screen.split(question, 1)[1]
        os.write(self.master, (reply + "\n").encode())
        return self

    @property
    def shows_what_is_typed(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def interrupt(self):
        os.write(self.master, b"\x03")
        return self

    def end(self, seconds=60):
        """Everything it said, as Ran; what stood on the screen since the last answer is its stderr."""
        out, _ = self.process.communicate(timeout=seconds)
        while select.select([self.master], [], [], 0.1)[0]:
            self.screen += os.read(self.master, 65536).decode(errors="replace")
        os.close(self.master)
        os.close(self.slave)
        return Ran(subprocess.CompletedProcess([], self.process.returncode, out, self.screen))


class Instance:
    """A data directory and, while started, the `dashctl serve` on it."""

    def __init__(self, folder, env=None):
        self.folder = Path(folder)
        self.env = dict(env or {})
        self.process = None
        self.port = None
        self.log_file = self.folder.with_name(self.folder.name + ".log")

    def start(self, *args):
        assert self.process is None
        # Into a file: whoever reads a pipe line by line takes a processor from what a benchmark measures.
        with self.log_file.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [BINARY, "serve", "--data-dir", str(self.folder), "--listen", "127.0.0.1:0", *map(str, args)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=clean_environment(self.env))
        self.port = wait_until(self._listening, what="the listening event")
        return self

    @property
    def log(self):
        """The whole lines that the latest start has written."""
        return [line for line in self.log_file.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]

    def _listening(self):
        for line in self.log:
            if '"event":"listening"' in line:
                return int(json.loads(line)["addr"].rsplit(":", 1)[1])
        assert self.process.poll() is None, "serve ended: " + "".join(self.log)
        return None

    def events(self, name):
        found = []
        for line in self.log:
            if line.startswith("{") and json.loads(line).get("event") == name:
                found.append(json.loads(line))
        return found

    def stop(self, expect=0):
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
        assert code == expect, f"serve ended with {code}: " + "".join(self.log[-20:])

    def kill(self):
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()

    def restart(self):
        self.stop()
        return self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def dashctl(self, *args, **kw):
        env = {**self.env, **kw.pop("env", {})}
        return run(*args, "--data-dir", self.folder, env=env, **kw)

    def add_user(self, name, admin=False, workgroups=(), grants=(), password=PASSWORD):
        flags = ["--admin"] if admin else []
        for workgroup in workgroups:
            flags += ["--workgroup", workgroup]
        for grant in grants:
            flags += ["--grant", grant]
        done = self.dashctl("user", "add", name, *flags, "--password-file", "-", stdin=password)
        assert done.code == 0, done

    def login(self, name, password=PASSWORD):
        answer = Http(self.port).post("/api/auth/login", form={"username": name, "password": password})
        assert answer.status == 200, answer
        return Http(self.port, answer.json["access_token"])

    def token(self, user, name="test"):
        done = self.dashctl("token", "issue", name, "--user", user)
        assert done.code == 0, done
        return done.out.strip()

    def set(self, **settings):
        for key, value in settings.items():
            done = self.dashctl("config", "set", key, "-", stdin=value)
            assert done.code == 0, done

    @property
    def anonymous(self):
        return Http(self.port)


@pytest.fixture
def scratch():
    """A short scratch folder (socket paths are limited to 107 bytes)."""
    folder = Path(tempfile.mkdtemp(prefix="e2e-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def make_instance(scratch):
    """Makes instances, started with an admin `root` unless asked otherwise; all are ended, cleanly, with the test."""
    made = []

    def make(name="one", start=True, admin=True, env=None):
        instance = Instance(scratch / name, env)
        made.append(instance)
        if admin:
            instance.add_user("root", admin=True)
        if start:
            instance.start()
        return instance

    yield make
    for instance in made:
        instance.stop()


@pytest.fixture
def instance(make_instance):
    return make_instance()


@pytest.fixture
def root(instance):
    """A signed-in admin of `instance`."""
    return instance.login("root")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def b64(data):
    return base64.b64encode(data).decode()


def fingerprint_line(line):
    """(key, chars, fingerprint) of a line `<key> = <n> chars #<fingerprint>`, or None."""
    found = re.match(r"\s*(\S.*?) = (\d+) chars #([0-9a-f]{8})$", line)
    return (found[1], int(found[2]), found[3]) if found else None
