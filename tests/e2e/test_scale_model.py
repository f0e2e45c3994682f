"""The simulation of tests/bench/scale_model.py, against what can be worked out by hand."""
import sys

import pytest

from support.program import ROOT

sys.path.insert(0, str(ROOT / "tests/bench"))
from scale_model import Costs, Site, simulate  # noqa: E402


def costs(**other):
    return Costs(**{"request": 0, "idle": 0, "writes": 1, "replica_write": 0, "database_write": 0, "database_entry": 0, "commit": 0, **other})


def test_one_caller_waits_for_all_that_it_does():
    slow = costs(request=0.002, idle=0.003, writes=2, replica_write=0.001, database_write=0.0005, database_entry=0.0005, commit=0.003)
    rate, shared = simulate(slow, Site(replicas=1, callers=1, database_processors=4))
    assert rate == pytest.approx(1 / (0.002 + 0.003 + 2 * (0.001 + 0.001 + 0.003)), rel=0.02) and shared == 1


def test_the_writers_lock_is_one_for_all_replicas():
    for replicas in (1, 2, 8):
        assert simulate(costs(commit=0.002), Site(replicas, callers=1, database_processors=8))[0] == pytest.approx(500, rel=0.02)


def test_callers_of_a_replica_share_a_transaction_and_those_of_two_do_not():
    rate, shared = simulate(costs(commit=0.002), Site(replicas=1, callers=16, database_processors=8))
    assert rate == pytest.approx(500 * shared, rel=0.02) and 8 <= shared <= 16
    assert simulate(costs(commit=0.002), Site(replicas=16, callers=1, database_processors=8))[1] == 1


def test_who_comes_while_a_replica_waits_for_the_lock_goes_along():
    rate, shared = simulate(costs(commit=0.002), Site(replicas=2, callers=16, database_processors=8))
    assert shared == pytest.approx(16, rel=0.05) and rate == pytest.approx(500 * 16, rel=0.05)


def test_processors_are_a_limit_and_idle_replicas_take_from_it():
    busy = costs(database_entry=0.01)
    assert simulate(busy, Site(8, callers=1, database_processors=2))[0] == pytest.approx(100, rel=0.05), "the lock: one transaction at a time"
    assert simulate(costs(request=0.01), Site(8, callers=1, database_processors=2))[0] == pytest.approx(200, rel=0.05)
    tired = simulate(costs(request=0.01), Site(8, callers=1, database_processors=2, background=0.125))[0]
    assert 95 <= tired <= 130, "up to half of both processors is read away; who waited for one pauses after it"
