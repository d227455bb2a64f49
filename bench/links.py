"""Slow links between two hosts: step time of cluster.mode beside no communication and a flat ring.

63 million parameters, two hosts of the lab with two workers each: real buffers, codecs and sockets, but computing is only
waited for (simulated compute: a CPU cannot imitate a V100). flat is Gloo's ring over all workers with 2 bytes a number, which is what
Horovod and DDP do when nobody tells them about hosts. rho = fp16 bytes / (bandwidth x compute time).
Usage: scripts/bench links [--json] [--rates 1gbit,100mbit] [--compute 0.10,0.15,0.30] [--modes auto,flat] [--steps N]
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

import peers

sys.path.insert(0, str(peers.ROOT / "tests/lab"))
import lab as lab_of_hosts  # noqa: E402

VALUES = 63e6
GOODPUT = {"1gbit": 117.7e6, "100mbit": 11.77e6}  # bytes a second of TCP
ROUNDS = {"flat": 1, "exact": 2, "int8": 3, "int4": 4}  # steps of modes that wait for every exchange
PROGRAM = peers.ROOT / "build/release/bench/bench_links"


def run(lab, mode, compute, steps):
    done = lab.mpirun([PROGRAM, mode, compute, steps], env={"OMP_NUM_THREADS": 1}, timeout=900)
    if done.returncode != 0:
        raise SystemExit(f"bench: {mode} failed: {done.stdout}")
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def measure(folder, rate, computes, modes, steps):
    rows = []
    with lab_of_hosts.Lab(hosts=2, rate=rate, folder=folder / rate) as lab:
        for compute in computes:
            free = statistics.mean(run(lab, "none", compute, 20)["seconds"])
            for mode in modes:
                told = run(lab, mode, compute, 1 + ROUNDS.get(mode, steps))
                chosen = told.get("choice", {})
                warm = 2 * chosen.get("local_steps", 0) or 1  # connections, first pages; first rounds
                # Means: exchanges that are not hidden fall on single steps.
                step = statistics.mean(told["seconds"][warm:])
                rows.append({"rate": rate, "compute_s": compute, "mode": mode, "chosen": told.get("chosen", mode), "step_s": step,
                             "free_s": free, "of_free": step / free, "rho": 2 * VALUES / (GOODPUT.get(rate, 0) * compute or 1),
                             "steps": len(told["seconds"]) - warm})
                print(f"  {describe(rows[-1])}", file=sys.stderr)
    return rows


def describe(r):
    chosen = f" ({r['chosen']})" if r["chosen"] != r["mode"] else ""
    return (f"{r['rate']:8} compute {r['compute_s']:.2f} s, rho {r['rho']:5.1f}: {r['mode']}{chosen} {r['step_s']:.3f} s a step over "
            f"{r['steps']} steps, {r['of_free']:.3f} times no communication")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rates", default="1gbit,100mbit")
    parser.add_argument("--compute", default="0.10,0.15,0.30")
    parser.add_argument("--modes", default="auto,flat")
    parser.add_argument("--steps", type=int, default=160, help="of modes whose exchange is hidden")
    args = parser.parse_args()
    if why := lab_of_hosts.missing():
        raise SystemExit(f"bench: no lab here: {why}")
    computes = [float(text) for text in args.compute.split(",")]
    with tempfile.TemporaryDirectory() as name:
        rows = [row for rate in args.rates.split(",")
                for row in measure(pathlib.Path(name), rate, computes, args.modes.split(","), args.steps)]
    if args.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(describe(row))
    for row in rows:
        flat = [r for r in rows if r["mode"] == "flat" and (r["rate"], r["compute_s"]) == (row["rate"], row["compute_s"])]
        if row["mode"] == "auto" and flat:
            print(f"{row['rate']} compute {row['compute_s']:.2f} s: auto has {flat[0]['step_s'] / row['step_s']:.1f} times the tokens of a flat ring, "
                  f"{2 * row['free_s'] / row['step_s']:.2f} times those of one host")


if __name__ == "__main__":
    main()
