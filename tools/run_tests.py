#!/usr/bin/env python3
"""Runs test programs two at a time and adds up what they report.

    tools/run_tests.py --gtest build/release/*_test --pytest tests/system/test_*.py

Each GoogleTest program and each pytest file is a process of its own that writes a JUnit report. No test may be lost:
a program that crashes, runs out of time, or leaves no readable report counts as one failed test named after it.
A pytest file that fails is run once more when nothing else is running: its tests start processes and wait for them, and a
machine that sleeps at the wrong moment is no defect. What failed the first time is printed all the same.
Ends with "N passed, N failed" (", N skipped" when some were) alone on a line; exit 1 when anything failed.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

LIMIT_SECONDS = 900  # for one program; the whole suite is to stay under 25 minutes
TAIL_LINES = 25  # of a crashed program's output


@dataclass
class Outcome:
    """What one program reported: the number that passed; (name, why) of the others."""

    passed: int = 0
    failed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)


def read_report(report: Path) -> Outcome:
    """The outcome in a JUnit file, as written by GoogleTest and by pytest alike."""
    outcome = Outcome()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        broken = [e for e in case if e.tag in ("failure", "error")]
        skipped = case.find("skipped")
        if broken:
            outcome.failed.append((name, "\n".join(e.text or e.get("message") or "" for e in broken).strip()))
        elif skipped is not None:
            outcome.skipped.append((name, skip_reason(skipped.get("message") or skipped.text or "")))
        elif case.get("status") == "notrun":  # GoogleTest: DISABLED_
            outcome.skipped.append((name, "disabled in the source"))
        else:
            outcome.passed += 1
    return outcome


def skip_reason(text: str) -> str:
    """The reason alone: GoogleTest puts the place before it, on lines of its own."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def outcome_of_crash(name: str, output: str, why: str) -> Outcome:
    """What can still be told of a program without a report: the tests it finished, and the one it died in."""
    finished = len(re.findall(r"^\[       OK \] ", output, re.MULTILINE))
    running = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    place = f", in {running[-1]}" if running else ""
    tail = "\n".join(output.splitlines()[-TAIL_LINES:])
    return Outcome(passed=finished, failed=[(f"{name}{place}", f"{why}\n{tail}")])


def judge(name: str, report: Path, status: int | None, output: str) -> Outcome:
    """status: the exit code, or None when the program ran out of time."""
    if status is None:
        return outcome_of_crash(name, output, f"no end after {LIMIT_SECONDS} s")
    try:
        outcome = read_report(report)
    except (OSError, ElementTree.ParseError) as error:
        return outcome_of_crash(name, output, f"exit code {status}, no readable report ({error})")
    if status != 0 and not outcome.failed:  # e.g. a sanitizer's report after the last test, no tests in a file
        outcome.failed.append((name, f"exit code {status}\n" + "\n".join(output.splitlines()[-TAIL_LINES:])))
    if status == 0 and not outcome.passed and not outcome.skipped:
        outcome.failed.append((name, "ran no test at all"))
    return outcome


def run(command: list, name: str, report: Path) -> tuple:
    """Runs one program in a process group of its own, so that nothing it started outlives its time."""
    began = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT_SECONDS)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            status = None
    outcome = judge(name, report, status, output)
    seconds = time.monotonic() - began
    print(f"{'FAILED' if outcome.failed else 'ok':6} {seconds:6.1f} s  {name}: {summary([outcome])}", flush=True)
    for test, why in outcome.failed:  # at once: the end of a long output may be cut off
        print(f"       {test}: {gist(why)}", flush=True)
    return outcome


def gist(why: str) -> str:
    """What a failure says of itself in one line: pytest marks the statement's outcome with E."""
    lines = [line.strip() for line in why.splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if re.match(r"E\s", line)]
    return (marked or lines or ["no reason given"])[0][:300]


def summary(outcomes: list) -> str:
    passed = sum(o.passed for o in outcomes)
    failed = sum(len(o.failed) for o in outcomes)
    skipped = sum(len(o.skipped) for o in outcomes)
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gtest", nargs="*", default=[], metavar="PROGRAM", type=Path)
    parser.add_argument("--pytest", nargs="*", default=[], metavar="FILE", type=Path)
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time (default: 2)")
    options = parser.parse_args()
    # A job in the background inherits Ctrl-C ignored, and so would the programs to which tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    with tempfile.TemporaryDirectory(prefix="tandem-tests-") as folder:
        jobs = []
        for number, path in enumerate(options.pytest + options.gtest):
            report = Path(folder, f"{number}.xml")
            if path in options.pytest:
                command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", path]
            else:
                command = [path.resolve(), f"--gtest_output=xml:{report}"]
            jobs.append((command, str(path), report))
        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(lambda job: run(*job), jobs))
        for number in [n for n in range(len(options.pytest)) if outcomes[n].failed]:
            for name, why in outcomes[number].failed:
                print(f"\n--- failed at the first attempt: {name}\n{why}\n", flush=True)
            outcomes[number] = run(*jobs[number])

    for name, why in [skip for o in outcomes for skip in o.skipped]:
        print(f"skipped: {name}: {why}")
    for name, why in [failure for o in outcomes for failure in o.failed]:
        print(f"\n--- failed: {name}\n{why}")
    if not jobs:
        print("there are no tests to run")
    print(f"\n{summary(outcomes)}")
    return 1 if any(o.failed for o in outcomes) or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
