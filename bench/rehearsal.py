"""The old experiment in small: Transformer-base with a 32K vocabulary on two hosts of the lab, at the real dataset's size.

--data is a dataset of about 4.5 million pairs with 32,000 pieces or more (`bench_wmt_text` writes text of that size, docs/results.md says
how). One worker with one thread a host, cluster.mode exact. Told: each worker's peak memory, where a step's time goes, forecast beside
measurement, and the checkpoint's files.
Usage: scripts/bench rehearsal --data DIR [--json] [--steps 200] [--tokens 1024] [--rate 1gbit]; needs root, as the lab does
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import peers
from scaling import QUIET, WARM_UP

sys.path.insert(0, str(peers.ROOT / "tests/lab"))
import lab as lab_of_hosts  # noqa: E402

PHASES = ("data", "forward", "backward", "exchange", "wait", "optimizer", "other")


class PeakMemory(threading.Thread):
    """Most resident bytes of every process that trains, by process id."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_setting, self.peak = f"run={run}", {}
        self.start()

    def run(self):
        while True:
            for status in pathlib.Path("/proc").glob("[0-9]*/status"):
                try:
                    arguments = (status.parent / "cmdline").read_text().split("\0")
                    if arguments[0].endswith("tandem") and self.run_setting in arguments:
                        self.peak[status.parent.name] = 1024 * int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1])
                except (OSError, TypeError):
                    continue  # it has ended
            time.sleep(1)


def read_run(run):
    with open(run / "journal.jsonl") as lines:
        records = [json.loads(line) for line in lines]
    preflight = next(r for r in records if r["type"] == "run")["preflight"]
    counted = [r for r in records if r["type"] == "step"][WARM_UP:]
    median = lambda name: statistics.median(r["seconds"].get(name, 0) for r in counted)
    return {"steps": len(counted) + WARM_UP, "forecast_s": preflight["forecast"]["step_s"], "check_s": preflight["seconds"],
            "measured_s": median("total"), "seconds": {name: median(name) for name in PHASES if any(name in r["seconds"] for r in counted)},
            "bytes_out": statistics.median(r["bytes_out"] for r in counted),
            "tokens_per_second": sum(r["tokens"] for r in counted) / sum(r["seconds"]["total"] for r in counted)}


def files_of(folder):
    return {str(f.relative_to(folder)): f.stat().st_size for f in sorted(folder.rglob("*")) if f.is_file()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--tokens", type=int, default=1024, help="of a step, both hosts together")
    parser.add_argument("--rate", default="1gbit")
    options = parser.parse_args()
    if why := lab_of_hosts.missing():
        raise SystemExit(f"bench: no lab here: {why}")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        with lab_of_hosts.Lab(hosts=2, rate=options.rate, folder=pathlib.Path(name) / "lab") as lab:
            for host in lab.names:  # a copy for each, which costs no space
                subprocess.run(["cp", "-rl", options.data.resolve(), lab.folder / host / "data"], check=True)
            memory = PeakMemory(lab.disk / "run")
            done = lab.mpirun([peers.TANDEM, "train", peers.ROOT / "configs/transformer-base.yaml", f"data.path={lab.disk}/data",
                               f"run={lab.disk}/run", "threads=1", "device=cpu", "precision=fp32", "cluster.mode=exact",
                               "batch.sentences_per_worker=null", f"batch.tokens={options.tokens}", f"stop.steps={options.steps}",
                               f"checkpoint.every={options.steps}", "eval.every=0", "eval.sentences=20"],
                              workers=1, env=QUIET, timeout=4 * 3600)
            if done.returncode != 0:
                raise SystemExit(f"bench: the run failed: {done.stdout}")
            run = lab.folder / "host-a/run"
            result = {"bench": "rehearsal", "rate": options.rate, "tokens": options.tokens, **read_run(run),
                      "peak_bytes": sorted(memory.peak.values()),
                      "checkpoint": files_of(next((run / "checkpoints").glob("step-*")))}
            summary = done.stdout
    if options.json:
        print(json.dumps(result))
        return
    print(summary)
    print(f"forecast {result['forecast_s']:.2f} s, measured {result['measured_s']:.2f} s a step (median of {result['steps'] - WARM_UP}, check {result['check_s']:.1f} s), "
          f"{result['tokens_per_second']:.0f} target tokens/s, {result['bytes_out'] / 1e6:.1f} MB out of rank 0's host a step")
    print("of a step: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in result["seconds"].items()))
    print("peak memory of the workers: " + ", ".join(f"{peak / 1e6:.0f} MB" for peak in result["peak_bytes"]))
    print("checkpoint: " + ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in result["checkpoint"].items()))


if __name__ == "__main__":
    main()
