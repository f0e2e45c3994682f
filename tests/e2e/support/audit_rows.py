"""An audit log of many entries, written into an instance's SQLite database by the format of core/audit/entry.hpp: also a second
implementation of that format. And what `audit verify` takes for it."""
import hashlib
import hmac
import json
import os
import sqlite3
import struct

from support.program import BINARY, clean_environment

# A build with the address sanitizer keeps what was freed; without it, this says nothing to the program.
NO_QUARANTINE = {"ASAN_OPTIONS": "quarantine_size_mb=0:detect_leaks=0"}
DETAILS = json.dumps({"reasons": ['region "mars-1" is not in the allowed list ["eu-west-1"]'], "request": {"region": "mars-1"}},
                     separators=(",", ":"))


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


def measured(*words):
    """(answer, processor seconds, peak MiB) of one command that answers with JSON."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.execve(BINARY, [BINARY, *map(str, words), "--output", "json"], clean_environment(NO_QUARANTINE))
    os.close(write)
    with os.fdopen(read) as out:
        answer = json.load(out)
    _, _, usage = os.wait4(pid, 0)
    return answer, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def verify(folder):
    return measured("audit", "verify", "--data-dir", folder)
