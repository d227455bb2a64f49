"""`tandem plan` beside the lab: a run on two hosts calibrates it, then it forecasts two, three and four hosts, which are measured.

One worker with one thread a host, links so slow that the exchange is most of a step: the hosts share this machine's cores, so computing
does not get faster with them, and only the exchange can be compared. compute: what the measured run itself computed in a step, put
into the plan instead of the calibrated one (--compute-s): the error that is left is the exchange's.
local: with so few steps between exchanges that they are not hidden.
Usage: scripts/bench plan [--json] [--rate 50mbit] [--modes exact,int8,int4,local] [--hosts 2,3,4] [--steps 6]; needs root, as the lab does
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import peers
from scaling import QUIET, WARM_UP, make_data

sys.path.insert(0, str(peers.ROOT / "tests/lab"))
import lab as lab_of_hosts  # noqa: E402

MODEL = ["model.d_model=256", "model.ffn=1024", "model.heads=4", "model.encoder_layers=2", "model.decoder_layers=2", "batch.tokens=768", "threads=1",
         "optim.schedule=inverse_sqrt", "optim.lr=0.001", "optim.warmup_steps=5", "eval.every=0", "eval.sentences=1", "checkpoint.every=0"]
SCHEMES = {"exact": "exact bf16", "int8": "int8", "int4": "int4", "local": "local int4"}
LOCAL_STEPS = 2


def train(folder, data, hosts, rate, mode, steps):
    """Median seconds of a step and what of it is not exchange or waiting; the run's folder."""
    with lab_of_hosts.Lab(hosts=hosts, rate=rate, folder=folder / f"{mode}-{hosts}") as lab:
        for name in lab.names:
            shutil.copytree(data, lab.folder / name / "data")
        done = lab.mpirun([peers.TANDEM, "train", *MODEL, f"data.path={lab.disk}/data", f"run={lab.disk}/run", f"cluster.mode={mode}",
                           f"cluster.local_steps={LOCAL_STEPS}", "cluster.local_code=int4", f"stop.steps={WARM_UP + steps}"], workers=1, env=QUIET, timeout=600)
        if done.returncode != 0:
            raise SystemExit(f"bench: a run failed: {done.stdout}")
        run = lab.folder / "host-a/run"
    with open(run / "journal.jsonl") as lines:
        counted = [r for r in map(json.loads, lines) if r["type"] == "step"][WARM_UP:]
    seconds = [r["seconds"] for r in counted]
    usual = statistics.mean if mode == "local" else statistics.median  # exchanges of local fall on single steps
    return {"step": usual([s["total"] for s in seconds]),
            "compute": statistics.median(s["total"] - s["exchange"] - s["wait"] for s in seconds)}, run


def plan(data, run, hosts, rate, mode, *more):
    gbps = float(rate.removesuffix("mbit")) / 1000
    done = subprocess.run([peers.TANDEM, "plan", *MODEL, f"data.path={data}", "--run", run, "--hosts", str(hosts), "--gbps", str(gbps), "--rtt-ms", "0.1",
                           "--mode", mode, "--local-steps", str(LOCAL_STEPS), "--json", *more], check=True, capture_output=True, text=True)
    return next(r["step_s"] for r in json.loads(done.stdout)["exchanges"] if r["exchange"].startswith(SCHEMES[mode]))


def describe(r):
    return (f"{r['mode']:6} {r['hosts']} hosts: plan {r['plan_s']:.2f} s, with this run's compute {r['plan_compute_s']:.2f} s, measured {r['measured_s']:.2f} s "
            f"a step ({100 * (r['plan_s'] / r['measured_s'] - 1):+.0f} %, {100 * (r['plan_compute_s'] / r['measured_s'] - 1):+.0f} %), {r['compute_s']:.2f} s of it compute")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rate", default="50mbit", help="of every link: Nmbit")
    parser.add_argument("--modes", default="exact,int8,int4,local")
    parser.add_argument("--hosts", default="2,3,4")
    parser.add_argument("--steps", type=int, default=6, help="counted ones of a run")
    args = parser.parse_args()
    if why := lab_of_hosts.missing():
        raise SystemExit(f"bench: no lab here: {why}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = make_data(folder)
        _, calibration = train(folder / "calibration", data, 2, args.rate, "exact", args.steps)
        for mode in args.modes.split(","):
            for hosts in map(int, args.hosts.split(",")):
                seen, _ = train(folder, data, hosts, args.rate, mode, args.steps)
                rows.append({"mode": mode, "hosts": hosts, "plan_s": plan(data, calibration, hosts, args.rate, mode),
                             "plan_compute_s": plan(data, calibration, hosts, args.rate, mode, "--compute-s", str(seen["compute"])),
                             "measured_s": seen["step"], "compute_s": seen["compute"]})
                print(f"  {describe(rows[-1])}", file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(describe(row))
    for key, what in (("plan_s", "plan"), ("plan_compute_s", "plan with the run's own compute")):
        errors = sorted(abs(r[key] / r["measured_s"] - 1) for r in rows)
        print(f"{what}: off by {100 * statistics.median(errors):.0f} % in the median, {100 * errors[-1]:.0f} % at worst")


if __name__ == "__main__":
    main()
