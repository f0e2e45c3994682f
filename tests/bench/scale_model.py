"""A simulation, by discrete events, of what replicas share: the writers' lock of the database, which an append to the audit chain and
every change of a job hold, and processors. All times are seconds. scale_bench.py measures the costs and checks the outcome."""
import heapq
import itertools
from collections import deque
from dataclasses import dataclass

WAIT = object()  # what a process yields until another wakes it


class Events:
    """Time, and the processes in it: generators that yield a pause, or WAIT."""

    def __init__(self):
        self.now, self.running, self._heap, self._order = 0.0, None, [], itertools.count()

    def start(self, process, after=0.0):
        heapq.heappush(self._heap, (self.now + after, next(self._order), process))

    def run(self, until):
        while self._heap and self._heap[0][0] <= until:
            self.now, _, self.running = heapq.heappop(self._heap)
            process = self.running
            pause = next(process, WAIT)
            if pause is not WAIT:
                self.start(process, pause)
        self.now = until


class Servers:
    """So many alike servers, first come first served. One is a lock."""

    def __init__(self, events, count):
        self.events, self.free, self.waiting = events, count, deque()

    def take(self):
        if self.free:
            self.free -= 1
            return
        self.waiting.append(self.events.running)
        yield WAIT

    def give(self):
        if self.waiting:
            self.events.start(self.waiting.popleft())
        else:
            self.free += 1

    def use(self, seconds):
        yield from self.take()
        yield seconds
        self.give()


@dataclass
class Costs:
    """Of one operation: a refusal with its audit entry, or a job."""
    request: float           # processor time outside of transactions: the replica's, and its caller's or the job's program's
    idle: float              # waiting outside of transactions, on nothing that is shared
    writes: int              # transactions of it
    replica_write: float     # processor time of the replica in a transaction
    database_write: float    # processor time of the database in a transaction
    database_entry: float    # the same, for each write that shares the transaction
    commit: float            # waiting in a transaction: the disk, what starts and stops


@dataclass
class Site:
    """Where it runs. Without `processors` the replicas run on the database's machine."""
    replicas: int
    callers: int                # of a replica: connections, or workers
    database_processors: int
    processors: int = 0         # of each replica's own machine
    network: float = 0.0        # added to a transaction: its round trips to another machine
    background: float = 0.0     # processor seconds a second that the database spends on a replica without work


class Replica:
    """Callers that write one after the other. What comes while a transaction is under way, or while the writer waits for the lock,
    shares the next one (core/db/group_commit.cpp)."""

    def __init__(self, model, processors):
        self.model, self.processors, self.queue, self.writer_sleeps = model, processors, [], False
        self.writer = self._write()
        model.events.start(self.writer)
        for number in range(model.site.callers):
            model.events.start(self._call(), number * 1e-5)

    def _call(self):
        model, costs = self.model, self.model.costs
        while True:
            for _ in range(costs.writes):
                yield from self.processors.use(costs.request / costs.writes)
                self.queue.append(model.events.running)
                if self.writer_sleeps:
                    self.writer_sleeps = False
                    model.events.start(self.writer)
                yield WAIT
            if costs.idle:
                yield costs.idle
            model.done += 1

    def _write(self):
        model, costs = self.model, self.model.costs
        while True:
            if not self.queue:
                self.writer_sleeps = True
                yield WAIT
            yield from model.lock.take()
            batch, self.queue = self.queue, []
            yield from self.processors.use(costs.replica_write)
            yield from model.database.use(costs.database_write + costs.database_entry * len(batch))
            yield costs.commit + model.site.network
            model.lock.give()
            model.transactions += 1
            model.writes += len(batch)
            for caller in batch:
                model.events.start(caller)


class Model:
    def __init__(self, costs, site):
        self.costs, self.site, self.events = costs, site, Events()
        self.lock, self.database = Servers(self.events, 1), Servers(self.events, site.database_processors)
        self.done = self.transactions = self.writes = 0
        for _ in range(site.replicas):
            Replica(self, Servers(self.events, site.processors) if site.processors else self.database)
            if site.background:
                self.events.start(self._background(), site.background)

    def _background(self):
        """What a replica reads ten times a second without work: claims, sweeps, settings."""
        while True:
            yield from self.database.use(self.site.background / 10)
            yield 0.1

    def run(self, seconds):
        """(operations a second, writes of a transaction) after a tenth of the time, in which it settles."""
        self.events.run(seconds / 10)
        before = self.done, self.transactions, self.writes
        self.events.run(seconds * 1.1)
        done, transactions, writes = (now - then for now, then in zip((self.done, self.transactions, self.writes), before))
        return done / seconds, writes / max(1, transactions)


def simulate(costs, site, seconds=5.0):
    return Model(costs, site).run(seconds)
