#!/usr/bin/python3
"""Requests per second of the daemon against nginx serving a file of the same size, in turns in one run.

    tests/bench/http_bench.py [--seconds 6] [--rounds 5]

Needs wrk and nginx, and the release build (or DASHCTL=…). Prints one JSON document: per server requests per second (median and
range), latency, and CPU microseconds a request, which is the steadiest figure on a shared machine. Both write an access log.
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("DASHCTL", str(ROOT / "build/release/dashctl"))
PASSWORD = "correct horse battery"
LISTED = 20  # assets of a folder
NGINX = """
{user}worker_processes 2; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log {folder}/access.log; keepalive_requests 1000000000; default_type application/json;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; root {folder}/www; }}
}}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def family(pid):
    """The process and its children: nginx works in them."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def cpu_seconds(pid):
    total = 0
    for one in family(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def peak_mib(pid):
    peaks = [re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{one}/status").read_text()) for one in family(pid)]
    return round(sum(int(peak[1]) for peak in peaks if peak) / 1024, 1)


def await_port(port):
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError(f"nobody listens on {port}")


def start_dashctl(folder):
    data = str(folder / "data")
    subprocess.run([BINARY, "user", "add", "root", "--admin", "--data-dir", data, "--password-file", "-"], input=PASSWORD,
                   text=True, check=True, capture_output=True)
    port = free_port()
    log = open(folder / "dashctl.log", "w", encoding="utf-8")
    assets = folder / "assets"
    assets.mkdir()
    for number in range(LISTED):
        (assets / f"asset-{number}.sh").touch()
    for key, value in (("storage_local_path", str(assets)), ("storage_active_backend", "local")):
        subprocess.run([BINARY, "config", "set", key, "-", "--data-dir", data], input=value, text=True, check=True, capture_output=True)
    process = subprocess.Popen([BINARY, "serve", "--data-dir", data, "--listen", f"127.0.0.1:{port}"], stderr=log)
    await_port(port)
    return process, port


def start_nginx(folder, body):
    (folder / "www").mkdir()
    (folder / "www/status").write_bytes(body)
    port = free_port()
    config = folder / "nginx.conf"
    # As root nginx would change to an account that cannot read the scratch folder.
    user = "user root; " if os.getuid() == 0 else ""
    config.write_text(NGINX.format(folder=folder, port=port, user=user))
    process = subprocess.Popen(["nginx", "-c", str(config), "-e", str(folder / "error.log")])
    await_port(port)
    return process, port


def login(port):
    form = urllib.parse.urlencode({"username": "root", "password": PASSWORD}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/auth/login", form) as answer:
        return json.load(answer)["access_token"]


def milliseconds(text):
    value, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def measure(pid, url, seconds, headers, connections=64):
    before = cpu_seconds(pid)
    words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", url]
    for header in headers:
        words[1:1] = ["-H", header]
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        raise RuntimeError(f"{url} did not answer every request:\n{out}")
    requests = int(re.search(r"(\d+) requests in", out)[1])
    return {"per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]),
            "p50_ms": milliseconds(re.search(r"^\s+50%\s+(\S+)$", out, re.M)[1]),
            "p99_ms": milliseconds(re.search(r"^\s+99%\s+(\S+)$", out, re.M)[1]),
            "cpu_us": (cpu_seconds(pid) - before) * 1e6 / requests}


def summary(rounds, pid):
    rates = [one["per_second"] for one in rounds]
    median = {name: round(statistics.median(one[name] for one in rounds), 2) for name in rounds[0]}
    return {**median, "range": [round(min(rates)), round(max(rates))], "peak_mib": peak_mib(pid)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="http-bench-"))
    started = []
    try:
        dashctl, port = start_dashctl(folder)
        started.append(dashctl)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/setup/status") as answer:
            body = answer.read()
        nginx, nginx_port = start_nginx(folder, body)
        started.append(nginx)
        bearer = [f"Authorization: Bearer {login(port)}"]
        cases = {"nginx file": (nginx.pid, f"http://127.0.0.1:{nginx_port}/status", []),
                 "dashctl /livez": (dashctl.pid, f"http://127.0.0.1:{port}/livez", []),
                 "dashctl /api/setup/status": (dashctl.pid, f"http://127.0.0.1:{port}/api/setup/status", []),
                 "dashctl /api/auth/me signed in": (dashctl.pid, f"http://127.0.0.1:{port}/api/auth/me", bearer),
                 "dashctl /livez at 16": (dashctl.pid, f"http://127.0.0.1:{port}/livez", [], 16),
                 f"dashctl list of {LISTED} assets at 16": (dashctl.pid, f"http://127.0.0.1:{port}/api/storage/list", bearer, 16)}
        rounds = {name: [] for name in cases}
        for _ in range(options.rounds):
            for name, (pid, url, headers, *connections) in cases.items():
                rounds[name].append(measure(pid, url, options.seconds, headers, *connections))
        print(json.dumps({"body_bytes": len(body), "connections": 64, "peer": "nginx file",
                          "servers": {name: summary(rounds[name], case[0]) for name, case in cases.items()}}, indent=1))
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
            process.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
