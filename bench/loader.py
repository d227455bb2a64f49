"""Training data at the size of WMT14 English-German: opening, planning, cutting, packing, against the limits.

Usage: scripts/bench loader [--json]. Exit code 1 when a limit is missed.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "build/release/bench/bench_loader"

# name in the program's output, what it is, unit, factor to the unit, limit in it, whether more is better
LIMITS = [
    ("tokens_per_s", "target tokens a second and core", "million", 1e-6, 2.0, True),
    ("tokens_per_s_one_of_8", "the same, own part of one of 8 workers", "million", 1e-6, 2.0, True),
    ("plan_s", "plan of an epoch", "s", 1, 2.0, False),
    ("plan_mb", "memory of a plan", "MB", 1, 200.0, False),
    ("open_s", "opening the dataset", "s", 1, 0.2, False),
    ("border_wait_s", "longest wait at the end of an epoch, steps of 100 ms", "ms", 1000, 10.0, False),
    ("balance_worst", "heaviest of 8 workers to the mean, worst batch", "x", 1, 1.02, False),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    measured = json.loads(subprocess.run([PROGRAM], check=True, stdout=subprocess.PIPE, text=True).stdout)
    rows = []
    for key, what, unit, factor, limit, more_is_better in LIMITS:
        value = measured[key] * factor
        held = value >= limit if more_is_better else value <= limit
        rows.append({"name": key, "what": what, "value": value, "unit": unit,
                     "limit": limit, "more_is_better": more_is_better, "held": held})

    if options.json:
        print(json.dumps({"bench": "loader", "rows": rows, "measured": measured}))
    else:
        print(f"{measured['pairs']:,} pairs, {measured['batches']:,} batches of "
              f"{measured['tokens_mean']:,.0f} (deviation {measured['tokens_deviation']:.0f}) target tokens, "
              f"{measured['left_out']:,} pairs too long")
        for row in rows:
            sign = ">=" if row["more_is_better"] else "<="
            print(f"  {'ok  ' if row['held'] else 'MISS'} {row['what']:<54} "
                  f"{row['value']:10.4g} {row['unit']:<8} limit {sign} {row['limit']:g}")
    return 0 if all(row["held"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
