"""The audit log's speed: verifying N entries (processor seconds, peak memory), and denials a second whose entry is durable.

Writes the log's rows itself, by the format of core/audit/entry.hpp, so it is also a second implementation of that format.
Prints one JSON document. Usage: audit_bench.py [ENTRIES [DENIALS]]; DASHCTL names the binary, POLICY_BINARY the engine."""
import hashlib
import hmac
import http.client
import json
import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from conftest import BINARY, Instance, clean_environment  # noqa: E402
from test_policy_cli import engine  # noqa: E402

DETAILS = json.dumps({"reasons": ['region "mars-1" is not in the allowed list ["eu-west-1"]'], "request": {"region": "mars-1"}},
                     separators=(",", ":"))
MACHINE = {"region": "mars-1", "instance_type": "t3.large", "image": "ami-1", "name": "web"}


def hkdf(key, info):
    """RFC 5869 with SHA-256, no salt, 32 bytes."""
    extracted = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(extracted, info.encode() + b"\x01", "sha256")


def text(value):
    return struct.pack(">I", len(value)) + value.encode()


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def write_log(folder, count):
    """Puts `count` sealed and chained entries, and their head, into a fresh instance."""
    signing = (folder / "signing.key").read_text().strip().encode()
    log_key = hkdf(signing, "dashctl audit head v1")
    seal_key, head_key = hkdf(log_key, "dashctl audit entry seal"), hkdf(log_key, "dashctl audit head seal")
    tail = text("alice") + text("cloud1:vm:deploy:denied") + text("web") + text(DETAILS) + text("10.0.0.7") + text("0123456789ab")
    roots, hashed, at = [], bytes(32), 1_780_000_000_000_000

    def rows():
        nonlocal hashed
        for seq in range(1, count + 1):
            body = hashed + struct.pack(">qq", seq, at + seq) + tail
            seal = hmac.digest(seal_key, body, "sha256")[:16]
            hashed = hashlib.sha256(b"\x00" + body + seal).digest()
            leaf, size = hashed, seq - 1
            while size & 1:
                leaf, size = node(roots.pop(), leaf), size >> 1
            roots.append(leaf)
            yield seq, at + seq, "alice", "cloud1:vm:deploy:denied", "web", DETAILS, "10.0.0.7", "0123456789ab", seal, hashed

    db = sqlite3.connect(folder / "dashctl.db")
    with db:
        db.execute("DELETE FROM audit_log")
        db.executemany("INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows())
        frontier = f"{count}:{b''.join(roots).hex()}"
        sealed = f"audit head v1\n{count}\n{hashed.hex()}\n{frontier}\n0\n"
        db.execute("UPDATE audit_head SET count = ?, entry_hash = ?, frontier = ?, tainted_at = 0, mac = ?",
                   (count, hashed.hex(), frontier, hmac.digest(head_key, sealed.encode(), "sha256").hex()))
    db.close()
    # The checkpoint that the instance made of its own first entries.
    (folder / "audit.checkpoint").unlink(missing_ok=True)


def verify(folder):
    """(answer, processor seconds, peak MiB) of one `audit verify`."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.execve(BINARY, [BINARY, "audit", "verify", "--data-dir", str(folder), "--output", "json"], clean_environment())
    os.close(write)
    with os.fdopen(read) as out:
        told = json.load(out)
    _, _, usage = os.wait4(pid, 0)
    return told, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure_verify(folder, count):
    instance = Instance(folder / "verify")
    instance.add_user("root", admin=True)
    out = {}
    for entries in (count // 10, count):
        write_log(instance.folder, entries)
        told, seconds, peak = verify(instance.folder)
        assert told["ok"] and told["count"] == entries, told
        out[entries] = (seconds, peak)
    (few, few_peak), (many, peak) = out.values()
    return {"entries": count, "cpu_seconds": round(many, 2), "peak_mib": round(peak, 1), "peak_mib_at_a_tenth": round(few_peak, 1),
            "entries_per_cpu_second": round((count - count // 10) / (many - few))}


def deny(port, token, count):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    data, headers = json.dumps(MACHINE), {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    taken = []
    for _ in range(count):
        begin = time.perf_counter()
        connection.request("POST", "/api/cloud1/deploy", body=data, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        taken.append(time.perf_counter() - begin)
        assert answer.status == 403, content
    return taken


def fdatasyncs(folder, count):
    """Seconds of each write and fdatasync of one page, in place, as a journal that is used again writes."""
    fd, taken = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY), []
    os.write(fd, bytes(4096 * count))
    os.fsync(fd)
    for page in range(count):
        begin = time.perf_counter()
        os.pwrite(fd, bytes(4096), 4096 * page)
        os.fdatasync(fd)
        taken.append(time.perf_counter() - begin)
    os.close(fd)
    return taken


def p50_us(taken):
    return round(sorted(taken)[len(taken) // 2] * 1e6)


def measure_denials(folder, count):
    instance = Instance(folder / "deny", {"POLICY_BINARY": engine()})
    instance.add_user("root", admin=True)
    instance.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy", admission_allowed_regions="eu-west-1")
    instance.start()
    try:
        token = instance.login("root").token
        deny(instance.port, token, 20)
        syncs = fdatasyncs(folder, 200)
        alone = deny(instance.port, token, count // 8)
        begin = time.perf_counter()
        with ProcessPoolExecutor(16) as pool:
            for share in [pool.submit(deny, instance.port, token, count // 16) for _ in range(16)]:
                share.result()
        together = time.perf_counter() - begin
        told = instance.login("root").get("/api/audit/verify").json
        assert told["ok"], told
    finally:
        instance.stop()
    return {"bare_fdatasync_p50_us": p50_us(syncs), "bare_fdatasyncs_per_second": round(len(syncs) / sum(syncs)),
            "one_connection_p50_us": p50_us(alone), "sixteen_connections_per_second": round(count // 16 * 16 / together)}


def main():
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    denials = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir="/tmp"))
    try:
        print(json.dumps({"verify": measure_verify(folder, entries), "denials": measure_denials(folder, denials)}, indent=2))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
