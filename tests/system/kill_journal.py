"""kill -9 at random moments of a program that writes a journal as fast as it can: what is lost, and is anything broken?

Usage: tests/system/kill_journal.py [--moments 100] [--seed 1]; the program is beside the one that TANDEM names.
Every round goes on in the same journal, so that half a line in its middle would show.
"""

import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TANDEM = Path(os.environ.get("TANDEM") or ROOT / "build/release/tandem")
MOST_LINES_BYTES = 4 << 20  # of a round; then a new journal


def whole_lines(journal: Path) -> tuple:
    """(records, bytes of half a line at the end); a whole line that is no record raises."""
    whole, _, half = journal.read_bytes().rpartition(b"\n")
    return [json.loads(line) for line in whole.split(b"\n") if line], len(half)


def last_step(journal: Path) -> int:
    return max((r["step"] for r in whole_lines(journal)[0] if r["type"] == "step"), default=0)


def kill_once(folder: Path, rng: random.Random) -> dict:
    """One more round in this folder: the steps that were told and are not there, and half a line's bytes."""
    journal, told = folder / "journal.jsonl", folder / "told"
    done = last_step(journal) if journal.exists() else 0
    told.unlink(missing_ok=True)
    process = subprocess.Popen([TANDEM.parent / "tandem_write_journal", journal, told, str(done)])
    while not told.exists() or told.stat().st_size < 16 or struct.unpack("qd", told.read_bytes())[0] == 0:
        assert process.poll() is None, "it ended by itself"
    time.sleep(rng.expovariate(1 / 0.05))
    process.kill()
    process.wait()
    step, _ = struct.unpack("qd", told.read_bytes())
    records, half = whole_lines(journal)
    steps = [r["step"] for r in records if r["type"] == "step"]
    assert steps == list(range(1, len(steps) + 1)), "a step is missing or twice in the middle"
    return {"told": step - done, "lost": max(0, step - steps[-1]), "half": half}


def kill_often(moments: int, seed: int) -> list:
    rng = random.Random(seed)
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        for number in range(moments):
            folder = Path(name) / str(number)
            before = Path(name) / str(number - 1)
            if number and (before / "journal.jsonl").stat().st_size < MOST_LINES_BYTES:
                before.rename(folder)
            else:
                folder.mkdir()
            rounds.append(kill_once(folder, rng))
            # The program itself reads it, half a line or not, and finds the same steps.
            read = subprocess.run([TANDEM, "export-log", folder, "--format", "csv"], capture_output=True, text=True, timeout=60)
            assert read.returncode == 0, read.stderr
            assert read.stdout.count("\n") - 1 == last_step(folder / "journal.jsonl")
    return rounds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rounds = kill_often(options.moments, options.seed)
    print(f"{len(rounds)} kills, {sum(r['told'] for r in rounds):,} records told, {sum(r['lost'] for r in rounds)} lost, "
          f"{sum(r['half'] > 0 for r in rounds)} times half a line at the end, no broken line read as data")
    return 0 if all(r["lost"] == 0 for r in rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
