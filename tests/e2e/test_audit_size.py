"""`audit verify` walks a log of any length in the same memory."""
import pytest

from support.audit_rows import verify, write_log
from support.databases import new_database

SLACK_MIB = 8


def check_memory(make_instance, capsys, entries):
    one = make_instance(start=False, env=new_database("sqlite"))
    peaks = {}
    for count in (entries // 10, entries):
        write_log(one.folder, count)
        answer, _, peaks[count] = verify(one.folder)
        assert answer["ok"] is True and answer["count"] == count, answer
    with capsys.disabled():
        print("\n  audit verify: " + ", ".join(f"{peak:.1f} MiB for {count:,} entries" for count, peak in peaks.items()))
    assert peaks[entries] <= peaks[entries // 10] + SLACK_MIB, peaks


def test_ten_times_the_entries_take_the_same_memory(make_instance, capsys):
    check_memory(make_instance, capsys, 100_000)


@pytest.mark.long
def test_ten_million_entries_take_the_memory_of_a_million(make_instance, capsys):
    check_memory(make_instance, capsys, 10_000_000)
