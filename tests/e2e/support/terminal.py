"""A command on a terminal of its own."""
import fcntl
import os
import pty
import select
import subprocess
import termios
import time

from support.program import BINARY, CommandResult, clean_environment


class Terminal:
    """A command on a terminal of its own: what it shows there, and what is typed when it asks. stdout is a pipe."""

    def __init__(self, *args, env=None, cwd=None):
        self.screen = ""
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [BINARY, *map(str, args)], stdin=slave, stderr=slave, stdout=subprocess.PIPE, text=True, cwd=cwd,
            env=clean_environment(env), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.slave = slave  # kept open: the master reads on after the command has ended

    def wait_for(self, text, seconds=30):
        """Reads until `text` stands on the screen."""
        end = time.monotonic() + seconds
        while text not in self.screen:
            assert time.monotonic() < end, f"no {text!r} on the screen: {self.screen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.screen += os.read(self.master, 65536).decode(errors="replace")
        return self

    def answer(self, question, reply):
        self.wait_for(question)
        self.screen = self.screen.split(question, 1)[1]
        os.write(self.master, (reply + "\n").encode())
        return self

    @property
    def shows_what_is_typed(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def interrupt(self):
        os.write(self.master, b"\x03")
        return self

    def end(self, seconds=60):
        """Everything it said, as CommandResult; what stood on the screen since the last answer is its stderr."""
        out, _ = self.process.communicate(timeout=seconds)
        while select.select([self.master], [], [], 0.1)[0]:
            self.screen += os.read(self.master, 65536).decode(errors="replace")
        os.close(self.master)
        os.close(self.slave)
        return CommandResult(subprocess.CompletedProcess([], self.process.returncode, out, self.screen))
