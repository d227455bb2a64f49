"""A journal of 300,000 steps: report, first screen of watch and export against the limits of time and memory.

Usage: scripts/bench long_journal [--json] [--steps N]. Exit code 1 when a limit is missed.
`screen` is the full screen in a terminal: seconds until it is there, and then the share of a core while the journal grows.
"""

import argparse
import json
import math
import os
import pathlib
import pty
import random
import select
import sys
import tempfile
import time as clock

from peers import TANDEM, alternate, summary

# name, limit in seconds, limit in MB
LIMITS = {"report": (5.0, 500.0), "watch": (0.3, None)}
FIRST_SCREEN_SECONDS, SCREEN_CORE_SHARE = 0.3, 0.02


def step_line(rng, step, steps, time):
    loss = 1.6 + 7 * math.exp(-8 * step / steps) + rng.gauss(0, 0.05)
    forward, backward, exchange = rng.gauss(0.15, 0.004), rng.gauss(0.3, 0.008), abs(rng.gauss(0.05, 0.01))
    seconds = {"total": 0, "data": 1.1e-05, "forward": forward, "backward": backward, "exchange": exchange,
               "wait": abs(rng.gauss(0, 0.002)), "optimizer": 0.0213, "other": 0.000141}
    seconds["total"] = sum(seconds.values())
    return {"type": "step", "time": time, "step": step, "rank": 0, "epoch": step // 5000, "loss": loss, "nll": loss - 0.9,
            "tokens": 24990 + step % 20, "src_tokens": 24000, "sentences": 850, "micro_batches": 1,
            "lr": 0.001 * min(step / 8000, math.sqrt(8000 / step)), "grad_norm": abs(rng.gauss(0.4, 0.05)),
            "loss_scale": 1.0, "skipped": False, "seconds": seconds, "bytes_out": 125000000, "bytes_in": 125000000}


def system_line(rng, time):
    return {"type": "system", "time": time, "host": "a", "cores": 8, "cpu": rng.random(), "process_cores": 7.1,
            "memory_used_bytes": 8e9, "memory_total_bytes": 32e9, "disk_free_bytes": 4e11, "interface": "eth0",
            "net_out_per_s": 1.1e8, "net_in_per_s": 1.1e8, "link_bits_per_s": 1e9, "gpus": []}


def eval_line(rng, step, steps, time):
    loss = 1.7 + 6 * math.exp(-8 * step / steps)
    return {"type": "eval", "time": time, "step": step, "val_loss": loss + rng.gauss(0, 0.002), "train_loss": loss - 0.1,
            "bleu": 27 * (1 - math.exp(-8 * step / steps)), "chrf": 55.0, "seconds": 60.0,
            "samples": [{"source": "A dog runs.", "reference": "Ein Hund rennt.", "hypothesis": f"Ein Hund {step}."}] * 2}


def write_journal(path: pathlib.Path, steps: int):
    """The journal of a healthy run over a slow link, as `tandem train` writes it: no blanks, type first."""
    rng = random.Random(1)
    time = 1.79e9
    with open(path, "w") as out:
        put = lambda line: out.write(json.dumps(line, separators=(",", ":")) + "\n")
        put({"type": "run", "time": time, "version": 1, "resumed_from": None, "tandem": "0.1.0", "host": "a", "device": "cpu",
             "cluster": {"workers": 2}, "parameters": 60000000, "checkpoint_bytes": 720000000, "steps_per_epoch": 5000,
             "settings": {"stop": {"steps": steps}, "optim": {"schedule": "transformer_policy", "warmup_steps": 8000}}})
        next_sample = time
        for step in range(1, steps + 1):
            line = step_line(rng, step, steps, time)
            time += line["seconds"]["total"]
            put(line)
            while next_sample < time:
                put(system_line(rng, next_sample))
                next_sample += 2
            if step % 4000 == 0:
                put(eval_line(rng, step, steps, time))


class Screen:
    """`tandem watch` in a terminal of its own."""

    def __init__(self, run: pathlib.Path):
        self.started = clock.monotonic()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LINES="24", COLUMNS="80")
            os.execv(TANDEM, [TANDEM, "watch", str(run)])

    def read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        return os.read(self.terminal, 1 << 16) if ready else b""

    def wait_for(self, text: bytes) -> float:
        seen = b""
        while text not in seen:
            seen += self.read(10)
        return clock.monotonic() - self.started

    def processor_seconds(self) -> float:
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def quit(self):
        os.write(self.terminal, b"q")
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def watch_in_a_terminal(run: pathlib.Path, steps: int, repeats: int, seconds: float) -> dict:
    """Seconds to the first screen (each time), and the share of a core while two lines a second are added."""
    first = []
    for _ in range(repeats):
        screen = Screen(run)
        first.append(screen.wait_for(b"quit"))
        screen.quit()
    screen = Screen(run)
    screen.wait_for(b"quit")
    rng = random.Random(2)
    before, began = screen.processor_seconds(), clock.monotonic()
    while (spent := clock.monotonic() - began) < seconds:
        with open(run / "journal.jsonl", "a") as journal:
            journal.write(json.dumps(step_line(rng, steps, steps, clock.time()), separators=(",", ":")) + "\n")
        end = clock.monotonic() + 0.5
        while (left := end - clock.monotonic()) > 0:
            screen.read(left)
    share = (screen.processor_seconds() - before) / spent
    screen.quit()
    return {"first_screen_seconds": sorted(first), "core_share": share}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--steps", type=int, default=300000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", help="leave the journal in this directory, and measure nothing")
    options = parser.parse_args()
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
        write_journal(pathlib.Path(options.keep) / "journal.jsonl", options.steps)
        return 0

    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        run.mkdir()
        write_journal(run / "journal.jsonl", options.steps)
        megabytes = (run / "journal.jsonl").stat().st_size / 1e6
        runs = alternate({"start": [TANDEM, "--version"], "report": [TANDEM, "report", str(run)],
                          "watch": [TANDEM, "watch", "--once", str(run)],
                          "export": f"{TANDEM} export-log {run} > /dev/null"}, options.repeats)
        page = (run / "report.html").stat().st_size / 1e6
        screen = watch_in_a_terminal(run, options.steps, options.repeats, 20)
    rows = {name: {"seconds": summary(r), "processor_seconds": summary(r, "processor_seconds"), "peak_mb": summary(r, "peak_mb")}
            for name, r in runs.items()}
    first = screen["first_screen_seconds"][len(screen["first_screen_seconds"]) // 2]
    screen["held"] = first <= FIRST_SCREEN_SECONDS and screen["core_share"] <= SCREEN_CORE_SHARE
    held = page < 3 and screen["held"]
    for name, (seconds, peak) in LIMITS.items():
        rows[name]["held"] = (rows[name]["seconds"]["median"] <= seconds and (peak is None or rows[name]["peak_mb"]["max"] <= peak))
        held = held and rows[name]["held"]
    if options.json:
        print(json.dumps({"bench": "long_journal", "steps": options.steps, "journal_mb": megabytes, "page_mb": page, "rows": rows,
                          "screen": screen}))
    else:
        print(f"{options.steps:,} steps, journal {megabytes:.0f} MB, page {page:.2f} MB")
        for name, row in rows.items():
            mark = {True: "ok  ", False: "MISS", None: "    "}[row.get("held")]
            print(f"  {mark} {name:<8} {row['seconds']['median']:6.2f} s  {row['processor_seconds']['median']:6.2f} s of processors"
                  f"  {row['peak_mb']['max']:6.0f} MB")
        print(f"  {'ok  ' if screen['held'] else 'MISS'} screen   {first:6.2f} s to the first one, then {100 * screen['core_share']:.1f} % of a core")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
