"""Scenarios of scripts/faults against a program that is broken on purpose: each must find it out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[1] / "faults/run.py"
# Scripts that stand before the program, and what the scenario then has to say.
BROKEN = {
    "sigterm": ('for a in "$@"; do case $a in run=*) run=${a#run=};; esac; done\n'
                '[ -e "$run/checkpoints" ] && exec "$TANDEM_WHOLE" "$@" optim.lr=0.0101\nexec "$TANDEM_WHOLE" "$@"',
                "not resumed exactly"),
    "frozen_worker": ('exec "$TANDEM_WHOLE" "$@" 2> >(sed -u "s/rank [0-9]/rank 7/g" >&2)', "is not named"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_program_is_found_out(name, program, tmp_path):
    script, defect = BROKEN[name]
    broken = tmp_path / "broken"
    broken.write_text(f"#!/usr/bin/env bash\n{script}\n")
    broken.chmod(0o755)
    done = subprocess.run([sys.executable, RUN, name, "--short"], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "TANDEM": str(broken), "TANDEM_WHOLE": str(program)})
    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith(f"FAILED {name}") and defect in done.stdout, done.stdout + done.stderr
