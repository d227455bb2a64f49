"""export-log: the journal as a table that a spreadsheet reads."""

import csv
import io

from journal_text import journal_lines, write_run


def table(tandem, run, *options):
    done = tandem("export-log", run, "--format", "csv", *options)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout, newline="")))


def test_steps_are_all_there_to_the_last_bit(tandem, tmp_path):
    lines = journal_lines(steps=50)
    rows = table(tandem, write_run(tmp_path / "run", lines))
    steps = [line for line in lines if line["type"] == "step"]
    assert [int(row["step"]) for row in rows] == list(range(1, 51))
    for row, line in zip(rows, steps):
        assert float(row["loss"]) == line["loss"] and float(row["seconds.backward"]) == line["seconds"]["backward"]


def test_what_a_resume_supersedes_is_left_out(tandem, tmp_path):
    lines = journal_lines(steps=20, evals=0, ended=False)
    start = dict(lines[0], resumed_from=10)
    again = [dict(line, loss=9.5) for line in lines if line["type"] == "step" and 10 < line["step"] <= 15]
    rows = table(tandem, write_run(tmp_path / "run", lines + [start] + again))
    assert [int(row["step"]) for row in rows] == list(range(1, 16))
    assert [row["loss"] == "9.5" for row in rows] == [False] * 10 + [True] * 5


def test_text_is_quoted_and_is_no_formula(tandem, tmp_path):
    lines = journal_lines(steps=8, evals=4)
    bad = '=HYPERLINK("http://x","a,b")\nnext'
    for line in lines:
        if line["type"] == "eval":
            line["samples"][0]["source"] = bad
    rows = table(tandem, write_run(tmp_path / "run", lines), "--kind", "eval")
    assert len(rows) == 4 and all(row["source"] == "'" + bad for row in rows)


def test_a_wrong_format_is_refused(tandem, tmp_path):
    run = write_run(tmp_path / "run", journal_lines(steps=8, evals=0))
    assert tandem("export-log", run, "--format", "xlsx").returncode == 2
    assert tandem("export-log", tmp_path / "absent").returncode == 2
