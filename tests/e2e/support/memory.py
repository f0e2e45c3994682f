"""The memory of processes, as the kernel counts it."""
from pathlib import Path


def _status_kib(pid, name):
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def resident_kib(pid):
    """What it has now."""
    return _status_kib(pid, "VmRSS")


def peak_kib(pid):
    """The most it has had."""
    return _status_kib(pid, "VmHWM")


def with_children(pid):
    """The process and those that it started."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split())]
