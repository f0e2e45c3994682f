"""Callers that write without a pause and remember what was acknowledged to them."""
import http.client
import threading

from support.wait import wait_until


class WriteLoad:
    """Threads that make workgroups of new names. A caller who gets 503, or no answer, makes the same again."""

    def __init__(self, clients, threads=4):
        self.clients, self.acknowledged, self.odd, self.retried = clients, [], [], 0
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self._write, args=(number,), daemon=True) for number in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=120)
            assert not thread.is_alive()

    def wait_for(self, more):
        """Until so many more writes were acknowledged than by now."""
        wanted = len(self.acknowledged) + more
        wait_until(lambda: len(self.acknowledged) >= wanted, seconds=120, what=f"{more} more writes ({self.odd[:3]})")

    def _write(self, number):
        made = 0
        while not self.stopping.is_set():
            name, is_repeated = f"load-{number}-{made}", False
            made += 1
            while not self.stopping.is_set():
                outcome = self._attempt(number, name)
                if outcome in (201, 409 if is_repeated else 201):
                    with self.lock:
                        self.acknowledged.append(name)
                    break
                is_repeated = True
                with self.lock:
                    self.retried += 1
                    if outcome not in (503, None):
                        self.odd.append((name, outcome))
                # A caller that respects Retry-After would wait; one that hammers finds more.
                self.stopping.wait(0.02)

    def _attempt(self, number, name):
        client = self.clients[(number + self.retried) % len(self.clients)]
        try:
            return client().post("/api/workgroups", {"name": name}, timeout=90).status
        except (OSError, http.client.HTTPException):
            return None


def check_kept(root, load):
    """Nothing that was acknowledged is missing, and every answer was a 503 or none at all."""
    assert load.odd == [], load.odd[:5]
    there = {group["name"] for group in root.get("/api/workgroups").json}
    lost = set(load.acknowledged) - there
    assert not lost, f"lost {len(lost)} of {len(load.acknowledged)}: {sorted(lost)[:5]}"
    assert len(load.acknowledged) == len(set(load.acknowledged))
    verdict = root.get("/api/audit/verify").json
    assert verdict["ok"] is True, verdict
