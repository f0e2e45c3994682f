# Ansible's callback plugin of dashctl: the default output and every outcome, as one JSON object a line on the
# file descriptor that DASHCTL_EVENTS_FD names. core/automation/run_events.hpp reads them:
#   {"event": "lines", "host": NAME or null, "lines": [TEXT, …]}    output; null: of no single host
#   {"event": "outcome", "host": NAME, "outcome": WORD, "error": TEXT}   as far as the host is
#   {"event": "done", "host": NAME}                                 nothing is left to do there
# WORD: ok, changed, unreachable, failed, skipped. Works with ansible-core 2.18 and 2.19.
import json
import os

from ansible.plugins.callback.default import CallbackModule as Default

DOCUMENTATION = """
    name: dashctl_events
    type: stdout
    short_description: events for dashctl
    description: Writes the default output and the outcomes of hosts as JSON lines to a file descriptor.
    extends_documentation_fragment:
      - default_callback
      - result_format_callback
"""

MAX_LINE = 4096  # characters of a line of output; the rest of it is dropped
MAX_ERROR = 1000
# What ssh, and ansible of a login by password, say of a host key that is not the pinned one.
KEY_SIGNS = ("Host key verification failed", "because Host Key checking is enabled")
KEY_ERROR = ("Host key verification failed: the host shows another key than the pinned one, so nothing was sent to it. Compare "
             "its key before you keep the host anew with the other one (dashctl host test)")
COMMAND_FAILED = "non-zero return code"  # says ansible of a command, whose last line of stderr says why
RANK = {"skipped": 0, "ok": 1, "changed": 2, "failed": 3, "unreachable": 4}


class LineDisplay:
    """Ansible's display, whose output becomes events. `host` is the host whose result is being printed."""

    def __init__(self, display, emit):
        self._display, self._emit = display, emit
        self.host = None

    def __getattr__(self, name):
        return getattr(self._display, name)

    def display(self, msg, *args, log_only=False, **options):
        if log_only:  # what the screen has got already
            return
        lines = [line[:MAX_LINE] for line in str(msg).split("\n")]
        self._emit({"event": "lines", "host": self.host, "lines": lines})

    def banner(self, msg, *args, **options):
        self.display(str(msg).strip())


class CallbackModule(Default):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "dashctl_events"

    def __init__(self):
        super().__init__()
        self._fd = int(os.environ["DASHCTL_EVENTS_FD"])
        os.set_inheritable(self._fd, False)  # programs that modules start do not get it
        self._shows_output = os.environ.get("DASHCTL_SHOW_OUTPUT") == "1"
        self._display = LineDisplay(self._display, self._emit)
        self._outcomes, self._errors = {}, {}
        self._plays_left, self._last_task, self._is_static = 0, None, False

    def _emit(self, event):
        data = (json.dumps(event) + "\n").encode("ascii")
        while data:
            data = data[os.write(self._fd, data):]

    # Outcomes

    def _raise_outcome(self, host, outcome, error=""):
        known = self._outcomes.get(host)
        if known is None or RANK[outcome] > RANK[known]:
            self._set_outcome(host, outcome, error)

    def _set_outcome(self, host, outcome, error=""):
        if self._outcomes.get(host) == outcome:
            return
        self._outcomes[host] = outcome
        self._errors[host] = error[:MAX_ERROR]
        self._emit({"event": "outcome", "host": host, "outcome": outcome, "error": error[:MAX_ERROR]})

    def _finish_task(self, host, task, is_lost=False):
        if self._is_static and self._plays_left == 0 and (is_lost or task._uuid == self._last_task):
            self._emit({"event": "done", "host": host})

    @staticmethod
    def _parts(result):
        """Host name, task and result of ansible-core 2.19, or of 2.18."""
        if hasattr(result, "host"):
            return result.host.get_name(), result.task, result.result
        return result._host.get_name(), result._task, result._result

    @staticmethod
    def _error_of(found):
        last_lines = str(found.get("stderr") or "").strip().splitlines()[-1:]
        if found.get("msg") == COMMAND_FAILED and last_lines:
            return f"{COMMAND_FAILED}: {last_lines[0]}"
        for name in ("msg", "module_stderr", "stderr", "reason"):
            if isinstance(found.get(name), str) and found[name].strip():
                text = found[name].strip()
                return KEY_ERROR if any(sign in text for sign in KEY_SIGNS) else text
        return "the task failed"

    def _of_host(self, host, print_result, result, *args, **options):
        self._display.host = host
        try:
            print_result(result, *args, **options)
        finally:
            self._display.host = None

    def _show_output(self, host, found):
        if not self._shows_output:
            return
        for name in ("stdout_lines", "stderr_lines"):
            lines = found.get(name)
            if isinstance(lines, list) and lines:
                self._emit({"event": "lines", "host": host, "lines": [str(line)[:MAX_LINE] for line in lines]})

    def v2_runner_on_ok(self, result):
        host, task, found = self._parts(result)
        self._of_host(host, super().v2_runner_on_ok, result)
        self._show_output(host, found)
        self._raise_outcome(host, "changed" if found.get("changed") else "ok")
        self._finish_task(host, task)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        host, task, found = self._parts(result)
        error = self._error_of(found)
        self._of_host(host, super().v2_runner_on_failed, result, ignore_errors=ignore_errors)
        if ignore_errors:
            self._raise_outcome(host, "changed" if found.get("changed") else "ok")
        else:
            self._set_outcome(host, "failed", error)
        self._finish_task(host, task, is_lost=not ignore_errors)

    def v2_runner_on_unreachable(self, result):
        host, task, found = self._parts(result)
        self._of_host(host, super().v2_runner_on_unreachable, result)
        is_ignored = getattr(task, "ignore_unreachable", False)
        if not is_ignored:
            self._set_outcome(host, "unreachable", self._error_of(found))
        self._finish_task(host, task, is_lost=not is_ignored)

    def v2_runner_on_skipped(self, result):
        host, task, _ = self._parts(result)
        self._of_host(host, super().v2_runner_on_skipped, result)
        self._raise_outcome(host, "skipped")
        self._finish_task(host, task)

    # Which task is the last one of a host: known only where nothing can be added while the playbook runs, and
    # where no task follows a failed one.

    def v2_playbook_on_start(self, playbook):
        super().v2_playbook_on_start(playbook)
        self._plays_left = len(playbook.get_plays())

    def v2_playbook_on_play_start(self, play):
        super().v2_playbook_on_play_start(play)
        self._plays_left -= 1
        self._is_static = not play.handlers and not play.serial
        tasks = [task for block in play.compile() for task in self._tasks_of(block)]
        works = [task for task in tasks if task.action not in ("meta", "ansible.builtin.meta")]
        self._is_static = self._is_static and not any("include" in task.action for task in works)
        self._last_task = works[-1]._uuid if works else None

    def _tasks_of(self, block):
        if block.rescue or block.always:
            self._is_static = False
        for entry in block.block:
            if hasattr(entry, "block"):
                yield from self._tasks_of(entry)
            else:
                yield entry

    def v2_playbook_on_stats(self, stats):
        super().v2_playbook_on_stats(stats)
        for host in stats.processed:
            outcome = "skipped"
            if stats.dark.get(host):
                outcome = "unreachable"
            elif stats.failures.get(host):
                outcome = "failed"
            elif stats.changed.get(host):
                outcome = "changed"
            elif stats.ok.get(host) or stats.rescued.get(host) or stats.ignored.get(host):
                outcome = "ok"
            self._set_outcome(host, outcome, self._errors.get(host, "") if RANK[outcome] > 2 else "")
            self._emit({"event": "done", "host": host})
