"""Runs a command as on a kernel without Landlock: its system calls answer ENOSYS.

    python3 without_landlock.py COMMAND…
"""
import errno
import os
import sys

import unit_sandbox as sandbox

CREATE, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture


def filter_program():
    code = [(sandbox.LOAD, 0, 0, 0)]
    for number in (CREATE, ADD_RULE, RESTRICT_SELF):
        code += [(sandbox.EQUAL, 0, 1, number), (sandbox.RETURN, 0, 0, sandbox.ERROR | errno.ENOSYS)]
    return [*code, (sandbox.RETURN, 0, 0, sandbox.ALLOW)]


if __name__ == "__main__":
    sandbox.install_filter(filter_program())
    os.execv(sys.argv[1], sys.argv[1:])
