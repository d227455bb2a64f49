"""Programs beside each other: run alternately, so that a busy machine disturbs all of them alike."""

import os
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TANDEM = os.environ.get("TANDEM", str(ROOT / "build/release/tandem"))


def run(command):
    """One command (a list, or a line for the shell): seconds elapsed and of processors, peak memory in MB, standard
    output. Processor seconds are nearly the same on a busy machine; elapsed ones are what people wait for."""
    start = time.perf_counter()
    child = subprocess.Popen(command, shell=isinstance(command, str), stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"bench: {command} failed with status {status}")
    return {"seconds": time.perf_counter() - start, "processor_seconds": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss * 1024 / 1e6, "output": output}


def alternate(commands, repeats, before=lambda: None):
    """{name: command} -> {name: [run, ...]}; before() is called ahead of every run."""
    runs = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            before()
            runs[name].append(run(command))
    return runs


def summary(runs, what="seconds"):
    """Median, least and most of one measure over some runs of one command."""
    values = [r[what] for r in runs]
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}
