"""A folder store that fails at one call: failing_files.c, compiled and preloaded into the server."""
import errno
import mmap
import struct
import subprocess
from pathlib import Path

FOLDER_FAULTS = ["EIO", "ENOSPC", "EACCES", "EIO afterwards"]
FORMAT = "iiiii"  # struct control of failing_files.c
NEVER = (0, -1)
ALWAYS = 2**31 - 1


class FailingFolder:
    def __init__(self, scratch, folder):
        library, self.file = scratch / "failing_files.so", (scratch / "control").open("w+b")
        source = Path(__file__).with_name("failing_files.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        self.file.truncate(struct.calcsize(FORMAT))
        self.control = mmap.mmap(self.file.fileno(), struct.calcsize(FORMAT))
        self.env = {"LD_PRELOAD": str(library), "FAILING_FOLDER": str(folder), "FAILING_CONTROL": str(scratch / "control")}
        self.heal()

    def _set(self, first, last, error=0, is_afterwards=False):
        self.control[:] = struct.pack(FORMAT, 0, first, last, error, is_afterwards)

    def heal(self):
        """Counts from here and spoils nothing; the calls since the last count."""
        calls = struct.unpack(FORMAT, self.control)[0]
        self._set(*NEVER)
        return calls

    def spoil(self, n, fault, forever):
        """Spoils the n-th call from here, or all from there on."""
        name, *when = fault.split()
        self._set(n, ALWAYS if forever else n, getattr(errno, name), bool(when))

    def close(self):
        self.control.close()
        self.file.close()
