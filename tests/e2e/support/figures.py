"""Durations of calls, printed as percentiles."""
import statistics
import time


class Figures:
    """Seconds of many calls, printed as percentiles."""

    def __init__(self, title, capsys):
        self.title, self.capsys, self.seconds = title, capsys, []

    def time(self, call):
        start = time.monotonic()
        value = call()
        self.seconds.append(time.monotonic() - start)
        return value

    def print(self, *more):
        ordered = sorted(self.seconds)
        line = ""
        if ordered:
            at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000
            line = f"{len(ordered)} calls, p50 {statistics.median(ordered) * 1000:.1f} ms, p99 {at(0.99):.1f} ms, most {ordered[-1] * 1000:.1f} ms"
        with self.capsys.disabled():
            print(f"\n  {self.title}: " + ", ".join(filter(None, [line, *more])))
