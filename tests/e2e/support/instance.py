"""An instance: a data directory and the server on it."""
import json
import signal
import subprocess
from pathlib import Path

from support.databases import database_of
from support.http_client import Http
from support.program import BINARY, clean_environment, run
from support.wait import wait_until

PASSWORD = "correct horse battery"


class Instance:
    """A data directory and, while started, the `dashctl serve` on it."""

    def __init__(self, folder, env=None):
        self.folder = Path(folder)
        self.env = {**(env or {}), **database_of(self.folder, env or {})}
        self.wrapper = []  # words before the server's command
        self.process = None
        self.port = None
        self.log_file = self.folder.with_name(self.folder.name + ".log")

    def start(self, *args):
        assert self.process is None
        # Into a file: whoever reads a pipe line by line takes a processor from what a benchmark measures.
        with self.log_file.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, BINARY, "serve", "--data-dir", str(self.folder), "--listen", "127.0.0.1:0", *map(str, args)],
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


def sign_in(instance, name, password):
    return Http(instance.port).post("/api/auth/login", form={"username": name, "password": password})
