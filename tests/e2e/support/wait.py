"""Waiting for a condition instead of for a time."""
import time


def wait_until(condition, seconds=30, what="condition"):
    """Polls until condition() is truthy and gives its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not come true in {seconds} s"
        time.sleep(0.02)
