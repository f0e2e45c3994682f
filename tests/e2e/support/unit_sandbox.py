"""Runs a command with what launchers/dashctl.service leaves to the server: a user without rights, no capability, no new
privileges, its filter of system calls, its address families and namespaces, and its view of files: a read-only system, no
home folders, own /tmp and /dev, and of /proc the own processes.

    UNIT_KEEPS=PATH:… python3 unit_sandbox.py COMMAND…      PATH: what is as it is outside, and may be written
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
RUNTIME = "/run/dashctl"
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "shm")
# linux/prctl.h, linux/mount.h, linux/sched.h, linux/filter.h
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 22, 2, 24, 38
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
CLONE_NEWNS, NAMESPACES = 0x20000, 0x7E020080
SUID_SGID = 0o6000
ALLOW, ERROR = 0x7FFF0000, 0x00050000
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}

libc = ctypes.CDLL(None, use_errno=True)


def missing():
    """Why it cannot run here; empty when it can."""
    if platform.machine() != "x86_64" or not NUMBERS.exists():
        return "needs the numbers of system calls of x86_64"
    if not Path(ANALYZE).exists():
        return "needs systemd-analyze"
    return "" if os.geteuid() == 0 else "needs root"


def option(name):
    """The last value of an option of the unit."""
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)[-1]


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


def refuse_if(call, argument, test, value, error):
    """Instructions: refuse this call where its argument passes the test; the call's number is loaded."""
    return [(EQUAL, 0, 4, call), (LOAD, 0, 0, 16 + 8 * argument), (test, 0, 1, value), (RETURN, 0, 0, ERROR | error), (LOAD, 0, 0, 0)]


def filter_program():
    numbers = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", NUMBERS.read_text())}
    numbers.setdefault("landlock_create_ruleset", 444)
    code = [(LOAD, 0, 0, 0)]
    families = [FAMILIES[name] for name in option("RestrictAddressFamilies").split()]
    code += [(EQUAL, 0, len(families) + 3, numbers["socket"]), (LOAD, 0, 0, 16)]
    code += [(EQUAL, len(families) - at, 0, family) for at, family in enumerate(families)]
    code += [(RETURN, 0, 0, ERROR | errno.EAFNOSUPPORT), (LOAD, 0, 0, 0)]
    if option("RestrictNamespaces") == "yes":
        for name in ("clone", "unshare"):
            code += refuse_if(numbers[name], 0, ANY_BIT, NAMESPACES, errno.EPERM)
        code += [(EQUAL, 0, 1, numbers["clone3"]), (RETURN, 0, 0, ERROR | errno.ENOSYS)]
        code += [(EQUAL, 0, 1, numbers["setns"]), (RETURN, 0, 0, ERROR | errno.EPERM)]
    if option("RestrictSUIDSGID") == "yes":
        for name, mode in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("mkdir", 1), ("mkdirat", 2), ("mknod", 1)):
            code += refuse_if(numbers[name], mode, ANY_BIT, SUID_SGID, errno.EPERM)
    for number in sorted(numbers[name] for name in allowed_calls() if name in numbers):
        code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    return [*code, (RETURN, 0, 0, ERROR | errno.EPERM)]


def check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source, target, kind=None, flags=0, data=None):
    words = [None if word is None else str(word).encode() for word in (source, target, kind)]
    check(libc.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None), f"mount {target}")


def set_read_only(path, read_only):
    """Of a mount and all beneath it."""
    attributes = struct.pack("<QQQQ", MOUNT_ATTR_RDONLY if read_only else 0, 0 if read_only else MOUNT_ATTR_RDONLY, 0, 0)
    check(libc.syscall(MOUNT_SETATTR, AT_FDCWD, str(path).encode(), AT_RECURSIVE, attributes, len(attributes)), f"mount_setattr {path}")


def show(handle, path):
    """Puts what was open under `path` back there."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o711)
    if os.path.isdir(f"/proc/self/fd/{handle}"):
        path.mkdir(exist_ok=True)
    else:
        path.touch()
    mount(f"/proc/self/fd/{handle}", path, flags=MS_BIND | MS_REC)


def replace_mounts(kept, programs):
    """ProtectSystem=strict, ProtectHome=, PrivateTmp=, PrivateDevices=, ProtectProc=, RuntimeDirectory=."""
    os.umask(0o022)
    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount(None, "/", flags=MS_REC | MS_PRIVATE)
    opened = {path: os.open(path, os.O_PATH) for path in [*kept, *programs]}
    devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in DEVICES}
    for place, mode in (("/tmp", "1777"), ("/var/tmp", "1777"), ("/home", "711"), ("/root", "711"), ("/dev", "755"), ("/run", "755")):
        mount("tmpfs", place, "tmpfs", MS_NOSUID if place == "/dev" else MS_NOSUID | MS_NODEV, f"mode={mode}")
    for name, handle in devices.items():
        show(handle, f"/dev/{name}")
    os.mkdir("/dev/pts")
    mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    os.symlink("pts/ptmx", "/dev/ptmx")
    os.symlink("/proc/self/fd", "/dev/fd")
    os.mkdir(RUNTIME, 0o700)
    os.chown(RUNTIME, NOBODY, NOBODY)
    for path, handle in opened.items():
        show(handle, path)
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=invisible")
    set_read_only("/", True)
    for path in ("/tmp", "/var/tmp", "/dev", "/run", *kept):
        set_read_only(path, False)
    os.chdir("/")


def install_filter(code):
    """From here on, for this process and what it starts."""
    program = b"".join(struct.pack("<HBBI", *one) for one in code)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("<H6xQ", len(code), ctypes.addressof(buffer)))
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(header), 0, 0)):
        check(libc.prctl(*(ctypes.c_ulong(word) for word in call)), "prctl")


def enter():
    kept = [path for path in os.environ.pop("UNIT_KEEPS", "").split(":") if path]
    programs = {os.path.realpath(path) for path in (sys.argv[1], os.environ.get("POLICY_BINARY")) if path}
    code = filter_program()
    if kept:
        replace_mounts(kept, [path for path in programs if path.startswith(("/root/", "/home/", "/tmp/"))])
        os.environ["RUNTIME_DIRECTORY"] = RUNTIME
    for name in ("HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)
    os.umask(int(option("UMask"), 8))
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    install_filter(code)


if __name__ == "__main__":
    enter()
    os.execv(sys.argv[1], sys.argv[1:])
