"""Faults on purpose: named, seeded scenarios against the real program, each with an oracle that can fail.

    scripts/faults                      the list
    scripts/faults NAME|all [--short] [--seed N] [--cases N]
"""

import argparse
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import files  # noqa: F401  (each registers its scenarios)
import kills  # noqa: F401
import learning  # noqa: F401
import memory  # noqa: F401
import network  # noqa: F401
import power  # noqa: F401
import saves  # noqa: F401
import settings  # noqa: F401
import soak  # noqa: F401
import standing  # noqa: F401
import strangers  # noqa: F401
import visitors  # noqa: F401
from workshop import SCENARIOS, Run, Skipped, Workshop


def attempt(chosen, workshop, options) -> bool:
    cases = options.cases or (chosen.short if options.short else chosen.cases)
    began = time.monotonic()
    try:
        said = chosen.run(workshop, cases, random.Random(f"{chosen.name} {options.seed}"))
    except Skipped as why:
        print(f"skip   {chosen.name} (fault {chosen.number}): {why}", flush=True)
        return True
    except Exception as defect:
        traceback.print_exc()
        print(f"FAILED {chosen.name} (fault {chosen.number}, seed {options.seed}): {defect}", flush=True)
        return False
    finally:
        Run.end_all()
    print(f"ok     {chosen.name} (fault {chosen.number}, seed {options.seed}, {time.monotonic() - began:.0f} s): {said}", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=[*SCENARIOS, "all"], help="a scenario, or all of them")
    parser.add_argument("--short", action="store_true", help="a few cases of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=0, help="instead of the scenario's own number")
    options = parser.parse_args()
    if not options.name:
        for known in SCENARIOS.values():
            print(f"  {known.name:20} fault {known.number:5} {known.cases:6} cases: {known.run.__doc__}")
        return 0
    chosen = SCENARIOS.values() if options.name == "all" else [SCENARIOS[options.name]]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("faults: ended by a signal"))  # the runs under way end, too
    with tempfile.TemporaryDirectory(prefix="tandem-faults-", ignore_cleanup_errors=True) as folder:
        workshop = Workshop(Path(folder), options.short)
        results = [attempt(one, workshop, options) for one in chosen]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
