"""No test may be lost: what tools/run_tests.py says about programs that pass, fail, skip, crash or say nothing."""

import subprocess
import sys

import pytest

PASSING = '<testcase classname="A" name="one" status="run"/>'
FAILING = '<testcase classname="A" name="two" status="run"><failure message="x">two is not three</failure></testcase>'
SKIPPED = '<testcase classname="A" name="s" status="run"><skipped message="a.cpp:3&#x0A;needs root"/></testcase>'
DISABLED = '<testcase classname="A" name="DISABLED_d" status="notrun"/>'


@pytest.fixture
def summed(repo, tmp_path):
    """Runs the tool over programs given as (report cases or None, shell commands that follow)."""

    def call(*programs, pytest_files=()):
        paths = []
        for number, (cases, rest) in enumerate(programs):
            path = tmp_path / f"p{number}_test"
            report = "" if cases is None else f"cat > \"${{1#--gtest_output=xml:}}\" <<'X'\n<t><s>{cases}</s></t>\nX\n"
            path.write_text(f"#!/bin/sh\n{report}{rest}\n")
            path.chmod(0o755)
            paths.append(path)
        return subprocess.run(
            [sys.executable, repo / "tools/run_tests.py", "--gtest", *paths, "--pytest", *pytest_files],
            capture_output=True, text=True, stdin=subprocess.DEVNULL)

    return call


def last_line(done):
    return done.stdout.splitlines()[-1]


def test_adds_up_programs(summed):
    done = summed((PASSING * 2, ""), (PASSING, ""))
    assert (last_line(done), done.returncode) == ("3 passed, 0 failed", 0)


def test_a_failure_is_named_with_its_reason(summed):
    done = summed((PASSING + FAILING, "exit 1"), (PASSING, ""))
    assert (last_line(done), done.returncode) == ("2 passed, 1 failed", 1)
    assert "A.two" in done.stdout and "two is not three" in done.stdout


def test_skips_are_counted_and_say_why(summed):
    done = summed((PASSING + SKIPPED + DISABLED, ""))
    assert (last_line(done), done.returncode) == ("1 passed, 0 failed, 2 skipped", 0)
    assert "A.s: needs root" in done.stdout and "disabled in the source" in done.stdout


def test_a_crash_counts_and_keeps_what_was_finished(summed):
    output = "printf '[ RUN      ] A.a\\n[       OK ] A.a (0 ms)\\n[ RUN      ] A.b\\n'; kill -SEGV $$"
    done = summed((None, output), (PASSING, ""))
    assert (last_line(done), done.returncode) == ("2 passed, 1 failed", 1)
    assert "in A.b" in done.stdout and "exit code -11" in done.stdout


@pytest.mark.parametrize("program", [
    (None, "exit 0"),  # ended by exit() inside a test: no report
    ("", "exit 0"),  # no tests
    (PASSING + "<broken", "exit 0"),
])
def test_silence_is_a_failure(summed, program):
    done = summed(program)
    assert done.returncode == 1 and last_line(done).endswith("1 failed")


def test_a_bad_exit_after_good_tests_is_a_failure(summed):
    done = summed((PASSING, "echo 'ERROR: LeakSanitizer'; exit 23"))
    assert (last_line(done), done.returncode) == ("1 passed, 1 failed", 1)
    assert "LeakSanitizer" in done.stdout


def test_a_pytest_file_has_a_second_attempt_and_only_one(summed, tmp_path):
    file = tmp_path / "test_at_last.py"
    file.write_text("from pathlib import Path\n"
                    "def test_it():\n"
                    "    count = Path(__file__).with_suffix('.count')\n"
                    "    count.write_text(count.read_text() + 'x' if count.exists() else 'x')\n"
                    "    assert count.read_text() == LAST\n".replace("LAST", "'xx'"))
    done = summed(pytest_files=[file])
    assert (last_line(done), done.returncode) == ("1 passed, 0 failed", 0)
    assert "failed at the first attempt" in done.stdout and "test_it" in done.stdout
    done = summed(pytest_files=[file])  # the third and fourth time
    assert (last_line(done), done.returncode) == ("0 passed, 1 failed", 1)


def test_nothing_to_run_is_a_failure(summed):
    assert (last_line(done := summed()), done.returncode) == ("0 passed, 0 failed", 1)


def test_pytest_files_count_alike(summed, tmp_path):
    good, broken, empty = tmp_path / "test_good.py", tmp_path / "test_broken.py", tmp_path / "test_empty.py"
    good.write_text("import pytest\n\ndef test_a(): pass\n\ndef test_b(): pytest.skip('no network here')\n")
    broken.write_text("import there_is_no_such_module\n")
    empty.write_text("")
    done = summed(pytest_files=[good, broken, empty])
    assert (last_line(done), done.returncode) == ("1 passed, 2 failed, 1 skipped", 1)
    assert "no network here" in done.stdout and "there_is_no_such_module" in done.stdout
