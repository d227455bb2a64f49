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
import sys
import tempfile

import peers


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
            "tandem": [peers.TANDEM, "score", str(hyp), str(ref), "--width", "6"],
            "tandem_1_thread": [peers.TANDEM, "score", str(hyp), str(ref), "--width", "6", "--threads", "1"],
        }
        runs = peers.alternate(commands, args.repeats)
    texts = {one["output"] for several in runs.values() for one in several}
    if len(texts) != 1:
        sys.exit("score: the programs disagree:\n" + "\n".join(texts))

    elapsed = {name: peers.summary(several) for name, several in runs.items()}
    cpu = {name: peers.summary(several, "processor_seconds") for name, several in runs.items()}
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
