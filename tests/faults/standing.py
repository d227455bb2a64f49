"""Faults whose cases are tests, which run with all others anyway: here by name, so that `all` is all."""

import re
import subprocess
import sys

from workshop import ROOT, SCENARIOS, TANDEM, Scenario

SYSTEM = ROOT / "tests/system"
# name -> number, what it is, unit tests (program, filter), system tests (file, words of their names)
TESTS = {
    "resume_matrix": ("11", "Stopped at five points of an epoch and of a step, with 1, 2 and 4 workers, threads and fp16: goes on to the bit.", [],
                      [("test_train.py", "stopped_at_any_step or killed_and_resumed"), ("test_workers.py", "stopped_at_any_step or resumes_to_the_bit")]),
    "other_workers": ("12", "Goes on with more and with fewer workers: each sentence once an epoch, losses as of one worker.",
                      [("data_test", "BatchPlan.*")],
                      [("test_workers.py", "other_numbers_of_workers"), ("test_launch_train.py", "more_and_with_fewer")]),
    "bad_corpora": ("15,16", "Bad lines, other vocabularies, every flipped bit of a dataset: left out and counted, or found.",
                    [("data_test", "Corpus.*:Prepare.*")], [("test_prepare.py", "")]),
    "odd_replica": ("19", "A bit turned in one rank's weights: that rank is named, the run ends.",
                    [("cluster_test", "Replicas.*"), ("train_test", "*ReplicaThatDiffers*")], []),
    "wrong_world": ("21", "A port that is taken, another token or number of workers, a missing worker: refused by name.", [],
                    [("test_launch.py", "missing_rank or taken_port or another_secret"), ("test_launch_train.py", "another_token_or_world")]),
    "injected_text": ("24", "200 payloads in every text from outside, the page opened in a browser: none is live.", [],
                      [("test_report.py", "text_from_outside")]),
}


def run_tests(command: list, counted: str) -> int:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=3600, cwd=ROOT)
    passed = re.search(counted, done.stdout)
    assert done.returncode == 0 and passed, done.stdout[-3000:] + done.stderr[-1000:]
    return int(passed[1])


def of_tests(what: str, unit: list, system: list):
    def run(workshop, cases, rng):
        passed = sum(run_tests([TANDEM.parent / program, f"--gtest_filter={filter}"], r"\[  PASSED  \] ([1-9]\d*) test") for program, filter in unit)
        passed += sum(run_tests([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", SYSTEM / file, "-k", words], r"(\d+) passed")
                      for file, words in system)
        return f"{passed} tests passed"

    run.__doc__ = what
    return run


for name, (number, what, unit, system) in TESTS.items():
    SCENARIOS[name] = Scenario(name, number, of_tests(what, unit, system), 1, 1)
