"""PostgreSQL servers of a test's own: to be restarted, killed, and to have a standby that takes over."""
import os
import signal
import subprocess
from pathlib import Path

from support.ports import free_port
from support.wait import wait_until

USER = "tester"
BIN = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None)


def as_server(*command):
    """initdb and postgres refuse root."""
    words = [str(word) for word in command]
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", *words] if os.geteuid() == 0 else words


def call(*command):
    done = subprocess.run(as_server(*command), cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


class PostgresServer:
    """One server; its folder lies in `folder`, which its account must be able to enter."""

    def __init__(self, folder):
        self.port = free_port()
        self.home = Path(folder)
        self.home.mkdir(mode=0o755)
        if os.geteuid() == 0:
            subprocess.run(["chown", "postgres:postgres", self.home], check=True)
        self.data, self.process = self.home / "data", None

    @classmethod
    def primary(cls, folder):
        server = cls(folder)
        call(BIN / "initdb", "-D", server.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        server.start()
        server.sql("CREATE DATABASE dash", "postgres")
        return server

    @classmethod
    def standby_of(cls, primary, folder):
        """A standby; from now on the primary waits for it with every commit."""
        server = cls(folder)
        call(BIN / "pg_basebackup", "-D", server.data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-h", "127.0.0.1",
             "-p", primary.port, "-U", USER)
        server.start()
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "postgres")
        primary.sql("SELECT pg_reload_conf()", "postgres")
        wait_until(lambda: primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync", what="the synchronous standby")
        return server

    def start(self, *settings):
        log = (self.home / "log").open("ab")
        self.process = subprocess.Popen(
            as_server(BIN / "postgres", "-D", self.data, "-h", "127.0.0.1", "-p", self.port, "-k", "", "-c", "fsync=off",
                      "-c", "max_connections=100", *settings), cwd="/", stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait_until(self.is_up, what="PostgreSQL")

    def is_up(self):
        assert self.process.poll() is None, (self.home / "log").read_text()[-2000:]
        return subprocess.run([BIN / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-d", "postgres"],
                              check=False).returncode == 0

    def sql(self, text, database="dash"):
        done = subprocess.run(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER,
                               "-d", database, "-c", text], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def end(self, how):
        """SIGINT ends connections cleanly, SIGQUIT at once, without a checkpoint: what a crash leaves."""
        process, self.process = self.process, None
        if process is not None:
            process.send_signal(how)
            process.wait(timeout=60)

    def stop(self):
        self.end(signal.SIGINT)

    def crash(self):
        self.end(signal.SIGQUIT)

    def promote(self):
        self.sql("SELECT pg_promote()", "postgres")
        wait_until(lambda: self.sql("SELECT pg_is_in_recovery()", "postgres") == "f", what="the promotion")


def url_of(*servers, options=""):
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    return f"postgres://{USER}@{hosts}/dash{options}"
