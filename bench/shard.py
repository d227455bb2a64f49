"""Sharded optimizer state (optim.shard) beside whole: memory and time of two workers on one machine, equal losses checked.

Memory is a worker's own (RssAnon, read every 10 ms; gradients lie in shared memory, the same both ways): while it trains, and at most,
with rank 0's copy for the checkpoint at the end. One thread a worker, fp32. The two run in turn.
Usage: scripts/bench shard [--json] [--preset tiny|base] [--workers 2] [--steps 6] [--repeats 1] [--ema 0.999]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import scaling

WARM_UP = 2  # steps before the clock counts


def own_memory(pid):
    """In MB; 0: there is no such process any more."""
    try:
        with open(f"/proc/{pid}/status") as lines:
            return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


def journal(run):
    path = run / "journal.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


def train(data, folder, shard, options):
    run = folder / f"run{time.monotonic_ns()}"
    tokens = options.workers * scaling.SIZES[options.preset]["tokens"] // 4
    child = subprocess.Popen(
        scaling.train_command(data, run, options.preset, tokens, options.steps, "--workers", str(options.workers), "optim.clip=1",
                              f"optim.ema={options.ema}", f"optim.shard={str(shard).lower()}"),
        env={**os.environ, **scaling.QUIET}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    pids, training, most = [], {}, {}
    while child.poll() is None:
        lines = journal(run) if not pids or not training else None
        if lines and not pids:
            pids = [worker["pid"] for line in lines if line["type"] == "run" for worker in line["cluster"]["by_rank"]]
        for pid in pids:
            most[pid] = max(most.get(pid, 0), own_memory(pid))
        if lines and not training and any(line["type"] == "step" and line["step"] > WARM_UP for line in lines):
            training = {pid: own_memory(pid) for pid in pids}
        time.sleep(0.01)
    told = child.stderr.read()
    if child.returncode != 0:
        raise SystemExit(f"bench: a run failed: {told}")
    steps = [line for line in journal(run) if line["type"] == "step"]
    mean = lambda phase: statistics.mean(s["ranks"]["mean"][phase] for s in steps[WARM_UP:])
    return {"losses": [s["loss"] for s in steps], "training_mb": [training[pid] for pid in pids], "most_mb": [most[pid] for pid in pids],
            "seconds": {phase: mean(phase) for phase in ("total", "optimizer", "exchange", "wait")},
            "said": [line for line in told.splitlines() if line.startswith(("model ", "memory ", "optimizer "))]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--preset", default="base")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--ema", type=float, default=0.999)
    options = parser.parse_args()
    runs = {"whole": [], "sharded": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = scaling.make_data(folder)
        for _ in range(options.repeats):
            for kind in runs:
                runs[kind].append(train(data, folder, kind == "sharded", options))
    assert all(run["losses"] == runs["whole"][0]["losses"] for several in runs.values() for run in several), "losses differ"
    if options.json:
        return print(json.dumps({"benchmark": "shard", "preset": options.preset, "workers": options.workers, **runs}))
    for line in runs["sharded"][0]["said"]:
        print(line)
    for kind, several in runs.items():
        run = several[-1]
        of = lambda phase: statistics.median(r["seconds"][phase] for r in several)
        print(f"{kind:8} own memory while training {', '.join(f'{mb:.0f}' for mb in run['training_mb'])} MB, at most "
              f"{', '.join(f'{mb:.0f}' for mb in run['most_mb'])} MB; a step {of('total'):.2f} s: optimizer {of('optimizer'):.3f}, "
              f"exchange {of('exchange'):.3f}, waiting {of('wait'):.3f}")


if __name__ == "__main__":
    main()
