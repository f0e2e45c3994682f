"""A policy engine that is a script: the real one for what runs and ends, and as a server whatever a test makes it."""
import os
from pathlib import Path

from support.engine import engine_binary
from support.wait import wait_until

SERVER = '''#!/usr/bin/python3
import json, os, socketserver, subprocess, sys, time
from http.server import BaseHTTPRequestHandler
HERE, REAL = {here!r}, {real!r}

def note(name, text):
    with open(os.path.join(HERE, name), "a") as out:
        out.write(text + "\\n")

def mode():
    try:
        return open(os.path.join(HERE, "mode")).read()
    except OSError:
        return ""

note("starts", sys.argv[1])
if sys.argv[1] != "run" or not mode():
    os.execv(REAL, [REAL] + sys.argv[1:])
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["/bin/sleep", "1000"])
note("pids", str(os.getpid()))
note("pids", str(child.pid))
if mode() == "hang at start":
    time.sleep(1000)

class Engine(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if "dashctl_gate" in self.path:
            note("questions", self.path)
            if mode() == "hang on a question":
                time.sleep(1000)
            if mode() == "slow":
                time.sleep(0.4)
        body = json.dumps({{"result": {{"reasons": []}}}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
    def address_string(self):
        return "unix"

class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

Server(sys.argv[sys.argv.index("--addr") + 1].removeprefix("unix://"), Engine).serve_forever()
'''


class FakeEngine:
    """Modes: "" (the real engine), "hang at start", "hang on a question", "slow" (0.4 s a question)."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.path = folder / "engine"
        self.path.write_text(SERVER.format(here=str(folder), real=engine_binary()))
        self.path.chmod(0o755)

    def mode(self, text):
        # Never half written: the engine may look at any moment.
        (self.folder / "next").write_text(text)
        os.rename(self.folder / "next", self.folder / "mode")

    def lines(self, name):
        file = self.folder / name
        return file.read_text().splitlines() if file.exists() else []

    @property
    def starts(self):
        """Starts of its server."""
        return self.lines("starts").count("run")

    @property
    def alive(self):
        """Its processes, children included, that still run."""
        def runs(pid):
            try:
                return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
            except OSError:
                return False
        return [pid for pid in self.lines("pids") if runs(pid)]

    def wait_for_start(self, more_than=0):
        wait_until(lambda: len(self.lines("pids")) > more_than, what="a start of the engine", seconds=60)
