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
    child = subprocess.Popen([sys.executable, FAULTS / "run.py", name, "--short"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        said, errors = child.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        child.terminate()  # so that it ends its runs, which would go on for ever
        child.communicate(timeout=60)
        raise
    assert child.returncode == 0, said + errors
    if said.startswith("skip"):
        pytest.skip(said.strip())
