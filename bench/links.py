"""Slow links between two hosts: step time of cluster.mode beside no communication and a flat ring.

A base model of 63 million parameters on two hosts of the lab with two workers each: real buffers, codecs and sockets, but computing is
only waited for (simulated compute: a CPU cannot imitate a V100), with gradients that become ready as in a real backward. flat is
Gloo's ring over all workers with 2 bytes a number after backward, what Horovod and DDP do when nobody tells them about hosts; it is
measured once for a rate. Modes: auto, exact, int8, int4, local, local:H with H steps between exchanges. full: a link as fast as the machine moves memory. rho = fp16 bytes / (bandwidth x compute time).
Usage: scripts/bench links [--json] [--rates full,1gbit,100mbit] [--compute 0.10,0.15,0.30] [--modes auto] [--steps N] [--workers 2]
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

import peers

sys.path.insert(0, str(peers.ROOT / "tests/lab"))
import lab as lab_of_hosts  # noqa: E402

GOODPUT = {"1gbit": 117.7e6, "100mbit": 11.77e6}  # bytes a second of TCP
FREE_STEPS, FLAT_STEPS = 20, 2
ROUNDS = {"exact": 3, "int8": 4, "int4": 5}  # steps of modes that wait for every exchange
PROGRAM = peers.ROOT / "build/release/bench/bench_links"


def run(lab, mode, compute, steps, workers):
    done = lab.mpirun([PROGRAM, mode, compute, steps], workers=workers, env={"OMP_NUM_THREADS": 1}, timeout=900)
    if done.returncode != 0:
        raise SystemExit(f"bench: {mode} failed: {done.stdout}")
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def row_of(rate, compute, mode, told, free, flat, workers):
    chosen = told.get("choice", {})
    warm = chosen.get("local_steps", 0) or 1  # connections, first pages; the first round
    # Means: exchanges that are not hidden fall on single steps.
    step = statistics.mean(told["seconds"][warm:])
    row = {"rate": rate, "compute_s": compute, "mode": mode, "chosen": told["chosen"], "exchange": chosen, "predicted_s": told["predicted"], "step_s": step,
           "free_s": free, "of_free": step / free, "of_one_host": 2 * free / step, "of_flat": (free + flat) / step, "work_s": statistics.mean(told["work"][warm:]), "steps": len(told["seconds"]) - warm}
    if "local_steps" in chosen:  # what nobody can avoid: here all workers share cores and memory, elsewhere each host has its own
        row["floor"] = 1 + max(1, 2 * workers / os.cpu_count()) * told["pass"] / chosen["local_steps"] / free
        row["floor_of_one_host"] = 1 + told["pass_of_one_host"] / chosen["local_steps"] / free
    if rate in GOODPUT:
        row["rho"] = 2 * told["parameters"] / (GOODPUT[rate] * compute)
    return row


def measure(lab, rate, computes, modes, steps, workers):
    rows = []
    # With nothing to compute a step is the ring alone; the first one makes connections.
    flat = min(run(lab, "flat", 0, 1 + FLAT_STEPS, workers)["seconds"][1:])
    for compute in computes:
        free = statistics.mean(run(lab, "none", compute, FREE_STEPS, workers)["seconds"])
        for mode in modes:
            told = run(lab, mode, compute, 1 + ROUNDS.get(mode, steps), workers)
            rows.append(row_of(rate, compute, mode, told, free, flat, workers))
            print(f"  {describe(rows[-1])}", file=sys.stderr, flush=True)
    return rows


def describe(r):
    rho = f", rho {r['rho']:.1f}" if "rho" in r else ""
    floor = f" (least passes over the weights: {r['floor']:.3f}, with cores and memory for each host {r['floor_of_one_host']:.3f})" if "floor" in r else ""
    return (f"{r['rate']:8} compute {r['compute_s']:.2f} s{rho}: {r['mode']} ({r['exchange']}) {r['step_s']:.3f} s a step over {r['steps']} steps, "
            f"{r['predicted_s']:.3f} s predicted, {r['work_s']:.3f} s of processor time in it; {r['of_free']:.3f} times no communication{floor}, {r['of_one_host']:.2f} times the tokens of one host; "
            f"{r['of_flat']:.1f} times those of a flat ring")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rates", default="full,1gbit,100mbit")
    parser.add_argument("--compute", default="0.10,0.15,0.30")
    parser.add_argument("--modes", default="auto")
    parser.add_argument("--steps", type=int, default=40, help="least steps of modes whose exchange is hidden")
    parser.add_argument("--workers", type=int, default=2, help="of each host")
    args = parser.parse_args()
    if why := lab_of_hosts.missing():
        raise SystemExit(f"bench: no lab here: {why}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for rate in args.rates.split(","):
            with lab_of_hosts.Lab(hosts=2, rate="1gbit" if rate == "full" else rate, folder=pathlib.Path(name) / rate) as lab:
                if rate == "full":
                    lab.full_speed()
                rows += measure(lab, rate, [float(text) for text in args.compute.split(",")], args.modes.split(","), args.steps, args.workers)
    if args.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(describe(row))


if __name__ == "__main__":
    main()
