"""tandem score beside sacreBLEU (one process): BLEU and chrF2 of the same 50,000 lines.

Both programs start, read the files and print their scores; they run alternately, so that a busy machine
disturbs both. Processor time is shown beside elapsed time, because only it is fair when other work shares the
cores. Usage: bench/score.py [--json] [--lines N] [--repeats N]
"""

import argparse
import json
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TANDEM = os.environ.get("TANDEM", str(ROOT / "build/release/tandem"))


def make_texts(folder, lines):
    """Lines as long as news sentences (about 24 words) with a vocabulary of Zipf's shape; the hypothesis has
    about a fifth of its words changed."""
    rng = random.Random(1)
    letters = "eeeeennnniiiirrrsssstttaaadddhhhuuullccggmmoobbwwffkkzzvpüäöß"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 11))) for _ in range(30_000)]
    words = [w.capitalize() if rng.random() < 0.3 else w for w in words]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    marks = [",", ".", " –", "!", ":", "'s", " 1.250,50", " 3-4", " (sic)", "“"]
    with open(folder / "hyp", "w", encoding="utf-8") as hyp, open(folder / "ref", "w", encoding="utf-8") as ref:
        for _ in range(lines):
            line = rng.choices(words, weights, k=max(3, int(rng.gauss(24, 9))))
            line = [w + rng.choice(marks) if rng.random() < 0.12 else w for w in line]
            ref.write(" ".join(line) + ".\n")
            line = [rng.choice(words) if rng.random() < 0.2 else w for w in line]
            hyp.write(" ".join(line) + ".\n")
    return folder / "hyp", folder / "ref"


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command):
    """(elapsed seconds, processor seconds), and what the command printed."""
    start, start_cpu = time.perf_counter(), processor_seconds()
    done = subprocess.run(command, check=True, capture_output=True, text=True,
                          env={**os.environ, "NO_COLOR": "1"})
    return (time.perf_counter() - start, processor_seconds() - start_cpu), done.stdout


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        hyp, ref = make_texts(pathlib.Path(folder), args.lines)
        commands = {
            "sacrebleu": [sys.executable, "-m", "sacrebleu", str(ref), "-i", str(hyp),
                          "-m", "bleu", "chrf", "-f", "text", "-w", "6"],
            "tandem": [TANDEM, "score", str(hyp), str(ref), "--width", "6"],
            "tandem_1_thread": [TANDEM, "score", str(hyp), str(ref), "--width", "6", "--threads", "1"],
        }
        times = {name: [] for name in commands}
        texts = set()
        for _ in range(args.repeats):
            for name, command in commands.items():
                taken, text = timed(command)
                times[name].append(taken)
                texts.add(text)
    if len(texts) != 1:
        sys.exit("score: the programs disagree:\n" + "\n".join(texts))

    elapsed = {name: summary([e for e, _ in taken]) for name, taken in times.items()}
    cpu = {name: summary([c for _, c in taken]) for name, taken in times.items()}
    result = {
        "benchmark": "score", "lines": args.lines, "repeats": args.repeats, "cores": os.cpu_count(),
        "scores": [float(x) for x in re.findall(r" = (\d+\.\d{6})\b", texts.pop())],
        "seconds": elapsed, "cpu_seconds": cpu,
        "speedup": {name: elapsed["sacrebleu"]["median"] / elapsed[name]["median"] for name in commands},
        "cpu_speedup": {name: cpu["sacrebleu"]["median"] / cpu[name]["median"] for name in commands},
    }
    if args.json:
        print(json.dumps(result))
        return
    print(f"BLEU and chrF2 of {args.lines} lines, medians of {args.repeats} alternating runs (least to most), "
          f"{result['cores']} cores; equal scores: {result['scores']}")
    for name in commands:
        e, c = elapsed[name], cpu[name]
        print(f"  {name:16} elapsed {e['median']:8.3f} s ({e['min']:.3f} to {e['max']:.3f}) "
              f"{result['speedup'][name]:6.1f}x   processor {c['median']:8.3f} s "
              f"({c['min']:.3f} to {c['max']:.3f}) {result['cpu_speedup'][name]:6.1f}x")


if __name__ == "__main__":
    main()
