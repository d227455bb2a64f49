"""How cost grows with model width, sentence length, batch and corpus: training beside a plain PyTorch loop, and prepare.

One thing changes at a time from: 3+3 layers, d 128, ffn 512, 4 heads, sentences of 25 tokens, 2,048 target tokens a step, one
thread. The programs run in turn, `--repeats` times each; tables show medians. Random words, so that every length is there.
Usage: scripts/bench growth [--json] [--repeats 3] [--sweeps width,length,batch,corpus] [--plots docs/results]
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys
import tempfile

import peers
import train
from scaling import LENGTH, make_data

USUAL = {"d_model": 128, "heads": 4, "layers": 3, "ffn": 512, "tokens": 2048, "length": LENGTH}
SWEEPS = {"width": [64, 128, 256, 512], "length": [6, 12, 25, 50, 100], "batch": [512, 1024, 2048, 4096, 8192]}
CORPUS = [20_000, 80_000, 320_000, 1_280_000]  # lines
LABELS = {"width": "d_model", "length": "tokens a sentence", "batch": "target tokens a step", "corpus": "pairs"}
STEPS = 8


def settings_at(sweep, value):
    changed = {"width": {"d_model": value, "heads": value // 32, "ffn": 4 * value}, "length": {"length": value}, "batch": {"tokens": value}}
    return {**USUAL, **changed[sweep], "dropout": 0.1, "max_length": 256, "lr": 0.003, "warmup": 100, "beta2": 0.98, "threads": 1,
            "steps": STEPS, "seed": 1, "warm_steps": train.WARM_STEPS, "validate": False}


def folder_of(root, length):
    """Text and a dataset of sentences of this length, made at first use."""
    folder = root / f"length-{length}"
    if not folder.exists():
        folder.mkdir()
        make_data(folder, length, lines=max(2000, 400_000 // length))
    return folder


def training_rows(root, sweep, repeats):
    rows = []
    for value in SWEEPS[sweep]:
        s = settings_at(sweep, value)
        folder = folder_of(root, s["length"])
        runs = {"torch": [], "tandem": []}
        for i in range(repeats):
            runs["torch"].append(train.run_peer("torch", folder, s))
            runs["tandem"].append(train.run_tandem(folder, s, f"{sweep}-{value}-{i}"))
        row = {"sweep": sweep, "value": value}
        for name, several in runs.items():
            row[name] = {"tokens_per_s": statistics.median(r["tokens_per_s"] for r in several), "peak_mb": max(r["peak_mb"] for r in several)}
        rows.append(row)
        print(f"  {describe(row)}", file=sys.stderr)
    return rows


def corpus_rows(root, repeats):
    """tandem prepare with a vocabulary that is there: seconds and memory by the size of the text."""
    source = folder_of(root, LENGTH)
    text = {side: (source / f"train.{side}").read_text().splitlines(keepends=True) for side in ("src", "tgt")}
    folder = root / "corpus"
    folder.mkdir()
    rows = []
    for lines in CORPUS:
        for side, known in text.items():
            with open(folder / f"train.{side}", "w") as out:
                for at in range(0, lines, len(known)):
                    out.writelines(known[:lines - at])
        command = (f"{peers.TANDEM} prepare --src {folder}/train.src --tgt {folder}/train.tgt --valid-src {source}/valid.src "
                   f"--valid-tgt {source}/valid.tgt --vocab {source}/data/vocab.model --out {folder}/data >/dev/null 2>&1")
        runs = []
        for _ in range(repeats):
            shutil.rmtree(folder / "data", ignore_errors=True)
            runs.append(peers.run(command))
        rows.append({"sweep": "corpus", "value": lines, "prepare_s": statistics.median(r["seconds"] for r in runs),
                     "peak_mb": max(r["peak_mb"] for r in runs)})
        print(f"  {describe(rows[-1])}", file=sys.stderr)
    return rows


def describe(row):
    place = f"{LABELS[row['sweep']]} {row['value']:>9,}: "
    if row["sweep"] == "corpus":
        return f"{place}prepare {row['prepare_s']:.1f} s, {row['value'] / row['prepare_s']:,.0f} pairs/s, peak {row['peak_mb']:.0f} MB"
    ours, theirs = row["tandem"], row["torch"]
    return (f"{place}tandem {ours['tokens_per_s']:,.0f} tokens/s, {ours['peak_mb']:.0f} MB; torch {theirs['tokens_per_s']:,.0f} tokens/s, "
            f"{theirs['peak_mb']:.0f} MB; {ours['tokens_per_s'] / theirs['tokens_per_s']:.2f}x")


def plot(rows, folder):
    """growth-SWEEP.svg for each sweep."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tandem"  # the same picture is the same file
    from matplotlib import pyplot
    folder.mkdir(parents=True, exist_ok=True)
    for sweep in dict.fromkeys(row["sweep"] for row in rows):
        points = [row for row in rows if row["sweep"] == sweep]
        values = [row["value"] for row in points]
        figure, (speed, memory) = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
        if sweep == "corpus":
            speed.plot(values, [r["prepare_s"] for r in points], "o-", label="tandem prepare")
            memory.plot(values, [r["peak_mb"] for r in points], "o-", label="tandem prepare")
        else:
            for name in ("tandem", "torch"):
                speed.plot(values, [r[name]["tokens_per_s"] for r in points], "o-", label=name)
                memory.plot(values, [r[name]["peak_mb"] for r in points], "o-", label=name)
        speed.set_ylabel("seconds" if sweep == "corpus" else "target tokens/s")
        memory.set_ylabel("peak memory, MB")
        for axes in (speed, memory):
            axes.set(xscale="log", xlabel=LABELS[sweep], ylim=(0, None))
            axes.set_xticks(values, [f"{v:,}" for v in values], minor=False)
            axes.minorticks_off()
            axes.grid(alpha=0.3)
            axes.legend()
        figure.savefig(folder / f"growth-{sweep}.svg", metadata={"Date": None})
        pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sweeps", default=",".join([*SWEEPS, "corpus"]))
    parser.add_argument("--plots", type=pathlib.Path, help="folder for the pictures")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for sweep in options.sweeps.split(","):
            rows += corpus_rows(root, options.repeats) if sweep == "corpus" else training_rows(root, sweep, options.repeats)
    if options.plots:
        plot(rows, options.plots)
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(describe(row))


if __name__ == "__main__":
    main()
