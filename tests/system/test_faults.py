"""The short form of scripts/faults: a few cases of every scenario that is not made of tests itself."""

import subprocess
import sys
from pathlib import Path

import pytest

FAULTS = Path(__file__).resolve().parents[1] / "faults"
sys.path.insert(0, str(FAULTS))
import run  # noqa: E402


@pytest.mark.parametrize("name", [name for name in run.SCENARIOS if name not in run.standing.TESTS])
def test_fault(name, program):
    done = subprocess.run([sys.executable, FAULTS / "run.py", name, "--short"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    if done.stdout.startswith("skip"):
        pytest.skip(done.stdout.strip())
