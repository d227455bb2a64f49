"""A journal survives kill -9 at any moment. A hundred moments: tests/system/kill_journal.py."""

import kill_journal


def test_a_kill_loses_no_record_and_breaks_no_line(program):
    rounds = kill_journal.kill_often(moments=10, seed=7)
    assert len(rounds) == 10 and sum(r["told"] for r in rounds) > 100
    # A second may be lost; what is written at once is not.
    assert all(r["lost"] == 0 for r in rounds), rounds
