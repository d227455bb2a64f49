"""Two workers on one machine beside two that do not talk to each other, and beside PyTorch's DistributedDataParallel.

Every worker has one thread. "apart" is two processes that train on their own at the same time, each with half the batch:
what two cores can do at most, since they share memory and caches. "workers" is one `tandem train --workers 2`.
"ddp" is torch.nn.Transformer of the same size under DistributedDataParallel on Gloo, with as many target tokens in
sentences of equal length, so that it has no padding; "ddp apart" the same without it, for what its exchange costs. The
four run in turn. Usage: bench/scaling.py [--json] [--presets tiny,base] [--repeats N] [--steps N]
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import peers

WARM_UP = 3  # steps before the clock counts
SIZES = {"tiny": {"d_model": 128, "heads": 4, "ffn": 256, "layers": 4, "tokens": 4096, "steps": 20},
         "base": {"d_model": 512, "heads": 8, "ffn": 2048, "layers": 6, "tokens": 2048, "steps": 8}}
LENGTH = 25  # tokens a sentence
QUIET = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}


def make_data(folder, length=LENGTH, lines=20000):
    """Random words, mostly one piece each; sentences of about this many tokens."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abdegilnorstu", k=rng.randint(3, 7))) for _ in range(6000)]
    for part, count in (("train", lines), ("valid", 50)):
        for side in ("src", "tgt"):
            with open(folder / f"{part}.{side}", "w") as out:
                for _ in range(count):
                    out.write(" ".join(rng.choices(words, k=max(1, length * (LENGTH - 6) // LENGTH))) + "\n")
    files = [argument for part, option in (("train", ""), ("valid", "valid-")) for side in ("src", "tgt")
             for argument in (f"--{option}{side}", str(folder / f"{part}.{side}"))]
    subprocess.run([peers.TANDEM, "prepare", *files, "--vocab-size", "8000", "--out", str(folder / "data")],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "data"


def train_command(data, run, preset, tokens, steps, *more):
    size = SIZES[preset]
    settings = [f"data.path={data}", f"run={run}", "threads=1", "device=cpu", f"model.d_model={size['d_model']}",
                f"model.heads={size['heads']}", f"model.ffn={size['ffn']}", f"model.encoder_layers={size['layers']}",
                f"model.decoder_layers={size['layers']}", "model.dropout=0.1", "model.tied=all", f"batch.tokens={tokens}",
                "optim.label_smoothing=0.1", "eval.every=0", "checkpoint.every=0", f"stop.steps={steps}"]
    return [peers.TANDEM, "train", *settings, *more]


def start_tandem(*arguments):
    return subprocess.Popen(train_command(*arguments), env={**os.environ, **QUIET},
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def steps_of(run):
    with open(pathlib.Path(run) / "journal.jsonl") as lines:
        return [line for line in map(json.loads, lines) if line["type"] == "step"]


def tokens_per_second(steps):
    counted = steps[WARM_UP:]
    return sum(s["tokens"] for s in counted) / (counted[-1]["time"] - steps[WARM_UP - 1]["time"])


def finish(child):
    _, errors = child.communicate()
    if child.returncode != 0:
        raise SystemExit(f"bench: a run failed: {errors}")


def run_apart(data, folder, preset, steps):
    tokens = SIZES[preset]["tokens"]
    runs = [folder / f"apart{time.monotonic_ns()}-{i}" for i in range(2)]
    children = [start_tandem(data, run, preset, tokens, steps, f"seed={i + 1}") for i, run in enumerate(runs)]
    for child in children:
        finish(child)
    return {"tokens_per_second": sum(tokens_per_second(steps_of(run)) for run in runs)}


def run_workers(data, folder, preset, steps):
    run = folder / f"workers{time.monotonic_ns()}"
    finish(start_tandem(data, run, preset, 2 * SIZES[preset]["tokens"], steps, "--workers", "2"))
    done = steps_of(run)
    mean = lambda phase: statistics.mean(s["ranks"]["mean"][phase] / s["ranks"]["mean"]["total"] for s in done[WARM_UP:])
    return {"tokens_per_second": tokens_per_second(done), "exchange": mean("exchange"), "wait": mean("wait")}


def run_ddp(folder, preset, steps, together):
    answer = folder / f"ddp{time.monotonic_ns()}.json"
    command = [sys.executable, str(peers.ROOT / "bench/peer/ddp.py"), json.dumps(
        {**SIZES[preset], "length": LENGTH, "steps": steps, "warm_up": WARM_UP, "together": together, "out": str(answer)})]
    subprocess.run(command, check=True, env={**os.environ, **QUIET})
    return {"tokens_per_second": sum(json.loads(answer.read_text()))}


def measure(data, folder, preset, repeats, steps):
    runs = {"apart": lambda: run_apart(data, folder, preset, steps),
            "workers": lambda: run_workers(data, folder, preset, steps),
            "ddp apart": lambda: run_ddp(folder, preset, steps, False),
            "ddp": lambda: run_ddp(folder, preset, steps, True)}
    results = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            results[name].append(run())
            print(f"  {preset} {name}: {results[name][-1]['tokens_per_second']:.0f} tokens/s", file=sys.stderr)
    # Ratios of neighbours in time: the machine's mood is nearly the same for both.
    ratio = lambda a, b: statistics.median(x["tokens_per_second"] / y["tokens_per_second"]
                                           for x, y in zip(results[a], results[b]))
    return {"tokens_per_second": {name: statistics.median(r["tokens_per_second"] for r in several)
                                  for name, several in results.items()},
            "workers_of_apart": ratio("workers", "apart"), "ddp_of_ddp_apart": ratio("ddp", "ddp apart"),
            "workers_of_ddp": ratio("workers", "ddp"),
            "exchange_share": statistics.median(r["exchange"] for r in results["workers"]),
            "wait_share": statistics.median(r["wait"] for r in results["workers"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--presets", default="tiny,base")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=0, help="counted steps of a run; 0: by preset")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = make_data(folder)
        results = {preset: measure(data, folder, preset, args.repeats, WARM_UP + (args.steps or SIZES[preset]["steps"]))
                   for preset in args.presets.split(",")}
    if args.json:
        print(json.dumps(results))
        return
    for preset, r in results.items():
        speeds = ", ".join(f"{name} {speed:.0f}" for name, speed in r["tokens_per_second"].items())
        print(f"{preset}: target tokens/s: {speeds}")
        print(f"  2 workers are {r['workers_of_apart']:.3f} of two apart (DDP: {r['ddp_of_ddp_apart']:.3f}) and "
              f"{r['workers_of_ddp']:.2f}x DDP; exchange {100 * r['exchange_share']:.1f} %, "
              f"waiting for the slowest {100 * r['wait_share']:.1f} % of a step")


if __name__ == "__main__":
    main()
