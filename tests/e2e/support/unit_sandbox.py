"""Runs a command with what launchers/dashctl.service leaves to the server: a user without rights, no capability, no new
privileges and its filter of system calls. Mounts and devices are not those of the unit.

    python3 unit_sandbox.py COMMAND…
"""
import ctypes
import errno
import os
import platform
import re
import struct
import subprocess
import sys
from pathlib import Path

UNIT = Path(__file__).resolve().parents[3] / "launchers" / "dashctl.service"
NUMBERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
ANALYZE = "/usr/bin/systemd-analyze"
NOBODY = 65534
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 22, 2, 24, 38
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06


def missing():
    """Why it cannot run here; empty when it can."""
    if platform.machine() != "x86_64" or not NUMBERS.exists():
        return "needs the numbers of system calls of x86_64"
    if not Path(ANALYZE).exists():
        return "needs systemd-analyze"
    return "" if os.geteuid() == 0 else "needs root"


def group(name):
    lines = subprocess.run([ANALYZE, "syscall-filter", name], check=True, capture_output=True, text=True).stdout.splitlines()
    found = set()
    for line in (line.strip() for line in lines[1:]):
        if line.startswith("@"):
            found |= group(line)
        elif line and not line.startswith("#"):
            found.add(line)
    return found


def allowed_calls():
    """The names that the unit's SystemCallFilter= lines allow, in their order."""
    allowed = set()
    for value in re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(), re.MULTILINE):
        names = set()
        for word in value.lstrip("~").split():
            names |= group(word) if word.startswith("@") else {word}
        allowed = allowed - names if value.startswith("~") else allowed | names
    return allowed


def filter_program():
    numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)", NUMBERS.read_text()))
    numbers.setdefault("landlock_create_ruleset", "444")
    code = [(LOAD, 0, 0, 0)]
    for number in sorted(int(numbers[name]) for name in allowed_calls() if name in numbers):
        code += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    code.append((RETURN, 0, 0, REFUSE))
    return b"".join(struct.pack("<HBBI", *one) for one in code), len(code)


def enter():
    program, length = filter_program()
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("<H6xQ", length, ctypes.addressof(buffer)))
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(header), 0, 0)):
        if libc.prctl(*(ctypes.c_ulong(word) for word in call)) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    enter()
    os.execv(sys.argv[1], sys.argv[1:])
