"""What lossy exchanges cost in learning: BLEU and validation loss of each cluster.mode at equal tokens, over several seeds.

Multi30k (--text: a folder with train.en.gz, val.de.gz, ...) with configs/multi30k-tiny.yaml, cut to 2+2 layers, 4,000 pieces, greedy search
and no averaged weights (mode local has none), on two hosts of the lab, one worker with one thread each, links at full speed: how fast a
link is changes no number here (scripts/bench links measures that). The rate falls to zero at the last step. Every way starts from
the same weights and sees the same sentences as exact of its seed; differences are to that run. val and, where it is there,
test_2016_flickr are judged together: nothing is chosen by them.

A way is a name of WAYS below, or one with settings over it: exact:optim.lr=0.0042:optim.clip=1.41
A way with a rate has links that slow, so that auto has something to choose and times count: auto@1700kbit; state rho then, which is
fp16 bytes / (bandwidth x compute time) and 72 for a base model on V100s at 100 Mbps.
With --keep DIR a bench that was interrupted goes on where it stopped, in the middle of a run too; rows that are there stay.
Usage: scripts/bench learning --text DIR [--keep DIR] [--json] [--ways exact,int8,int4,local] [--seeds 1,2,3] [--steps 2000] [KEY=VALUE ...]
"""

import argparse
import gzip
import itertools
import json
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import peers

sys.path.insert(0, str(peers.ROOT / "tests/lab"))
import lab as lab_of_hosts  # noqa: E402

# What hides the transfer of 63 million parameters behind steps of 0.15 s: at 100 Mbps local, at 1 Gbps local-1gbps; auto takes more steps where processors are short.
WAYS = {"exact": ["cluster.mode=exact"],
        "int8": ["cluster.mode=int8"],
        "int4": ["cluster.mode=int4"],
        "local": ["cluster.mode=local", "cluster.local_steps=24", "cluster.local_code=int4"],
        "local-1gbps": ["cluster.mode=local", "cluster.local_steps=5", "cluster.local_code=int8"],
        "auto": ["cluster.mode=auto"]}
MODEL = ["model.encoder_layers=2", "model.decoder_layers=2", "model.dropout=0.1", "batch.tokens=1024", "optim.ema=0", "eval.beam=1"]
PARTS = {"train": ["train"], "valid": ["val", "test_2016_flickr"]}
EVALUATIONS = 8


def make_data(text, folder):
    """A dataset in folder/data."""
    for part, names in PARTS.items():
        for side, language in (("src", "en"), ("tgt", "de")):
            found = [path for name in names for path in sorted(pathlib.Path(text).glob(f"{name}.{language}*"))]
            if not found:
                raise SystemExit(f"bench: {text} has no {names[0]}.{language} or {names[0]}.{language}.gz")
            opened = [gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in found]
            (folder / f"{part}.{side}").write_bytes(b"".join(opened))
    subprocess.run([peers.TANDEM, "prepare", "--src", folder / "train.src", "--tgt", folder / "train.tgt", "--valid-src", folder / "valid.src",
                    "--valid-tgt", folder / "valid.tgt", "--out", folder / "data", "--vocab-size", "4000"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def rate_of(way):
    """Of its links; empty: as fast as the machine moves memory."""
    return way.split(":")[0].partition("@")[2]


def settings_of(way, seed, options):
    name, *own = way.split(":")
    name = name.partition("@")[0]
    if name not in WAYS:
        raise SystemExit(f"bench: there is no way {name}; there are: {', '.join(WAYS)}")
    every = max(1, options.steps // EVALUATIONS)
    return [*MODEL, f"seed={seed}", f"stop.steps={options.steps}", f"optim.warmup_steps={3 * options.steps // 20}", f"eval.every={every}", f"checkpoint.every={every}", *options.settings,
            *WAYS[name], *own]


def train(lab, way, seed, settings):
    """The row of one run, which goes on where an earlier bench left it."""
    run = f"{way}-{seed}".replace(":", "-")
    if rate_of(way):
        lab.set_rate(rate_of(way))
    done = lab.mpirun([peers.TANDEM, "train", peers.ROOT / "configs/multi30k-tiny.yaml", f"data.path={lab.disk}/data", f"run={lab.disk}/{run}",
                       "threads=1", *settings], workers=1, env={"OMP_NUM_THREADS": "1"}, timeout=4 * 3600)
    if rate_of(way):
        lab.full_speed()
    if done.returncode != 0:
        raise SystemExit(f"bench: {run} failed: {done.stdout}")
    with open(lab.folder / "host-a" / run / "journal.jsonl") as lines:
        records = [json.loads(line) for line in lines]
    # A run that was resumed has done some steps twice: the later records hold.
    steps = {r["step"]: r for r in records if r["type"] == "step"}
    evals = {r["step"]: r for r in records if r["type"] == "eval"}
    last = evals[max(evals)]
    seconds = dict(zip(sorted(steps), itertools.accumulate(steps[step]["seconds"]["total"] for step in sorted(steps))))
    start = next(r for r in records if r["type"] == "run")
    spent = [r["seconds"] for r in steps.values()]
    changes = [[r["step"], r["text"]] for r in records if r["type"] == "event" and r["kind"] in ("exchange", "link")]  # of the steps between exchanges, too
    for host in lab.names:
        shutil.rmtree(lab.folder / host / run)
    return {"way": way, "seed": seed, "settings": settings, "tokens": sum(s["tokens"] for s in steps.values()), "steps": max(steps),
            "seconds": seconds[max(steps)], "val_loss": last["val_loss"], "bleu": last["bleu"],
            "parameters": start["parameters"], "exchange": start["exchange"], "changes": changes,
            "compute_s": statistics.median(s["total"] - s["exchange"] - s["wait"] for s in spent),
            "mean_s": {part: statistics.mean(s[part] for s in spent) for part in spent[0]},
            "curve": [[step, e["val_loss"], e["bleu"], seconds[step]] for step, e in sorted(evals.items()) if step > 0]}


def all_rows(folder, options):
    """Rows of an earlier bench with the same settings, and what they lack; every row is on disk as soon as it is known."""
    path = folder / "rows.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if not (folder / "data").exists():
        make_data(options.text, folder)
    rows = []
    with lab_of_hosts.Lab(hosts=2, rate="1gbit", folder=folder / "lab") as lab:
        lab.full_speed()
        for host in lab.names:
            shutil.copytree(folder / "data", lab.folder / host / "data", dirs_exist_ok=True)
        for seed in map(int, options.seeds.split(",")):
            for way in options.ways.split(","):
                settings = settings_of(way, seed, options)
                row = next((r for r in known if r["way"] == way and r["settings"] == settings and "mean_s" in r), None)
                if row is None:
                    row = train(lab, way, seed, settings)
                    with open(path, "a") as out:
                        out.write(json.dumps(row) + "\n")
                rows.append(row)
                print(f"  {describe(row)}", file=sys.stderr, flush=True)
    return rows


def rho_of(row):
    number, unit = re.fullmatch(r"([\d.]+)([km])bit", rate_of(row["way"])).groups()
    bytes_per_second = float(number) * {"k": 1e3, "m": 1e6}[unit] / 8 * 1448 / 1538  # of TCP
    return 2 * row["parameters"] / (bytes_per_second * row["compute_s"])


def describe(r):
    link = f", rho {rho_of(r):.0f}, exchange {r['exchange']}, then {r['changes'] or 'no other'}" if rate_of(r["way"]) else ""
    mean = r["mean_s"]
    link = f", a step {mean['total']:.3f} s in the mean, {mean['exchange']:.3f} s of it exchange, {mean['wait']:.3f} s waiting, {r['compute_s']:.3f} s computing in the median{link}"
    return (f"{r['way']} seed {r['seed']}: validation loss {r['val_loss']:.4f}, BLEU {r['bleu']:.2f} after {r['steps']} steps, {r['tokens']} tokens, "
            f"{r['seconds']:.0f} s{link}")


def reached(curve, bleu, place):
    """Where (0: step, 3: seconds) a curve reached it, in a straight line between evaluations; None: never."""
    before, had = 0, 0.0
    for point in curve:
        at, has = point[place], point[2]
        if has >= bleu:
            return before + (at - before) * (bleu - had) / (has - had) if has > had else at
        before, had = at, has
    return None


def times_exact(row, exact, place):
    """To exact's final BLEU - 0.2; None: never."""
    own, its = (reached(r["curve"], exact["bleu"] - 0.2, place) for r in (row, exact))
    return own / its if own is not None else None


def compare(rows):
    """way -> its differences to exact, seed by seed."""
    exact = {r["seed"]: r for r in rows if r["way"] == "exact"}
    differences = {}
    for way in dict.fromkeys(r["way"] for r in rows if r["way"] != "exact"):
        pairs = [(r, exact[r["seed"]]) for r in rows if r["way"] == way and r["seed"] in exact]
        differences[way] = {"bleu": [r["bleu"] - e["bleu"] for r, e in pairs],
                            "val_loss_percent": [100 * (r["val_loss"] / e["val_loss"] - 1) for r, e in pairs],
                            "steps_to_bleu": [times_exact(r, e, 0) for r, e in pairs]}
        if rate_of(way):
            differences[way]["seconds_to_bleu"] = [times_exact(r, e, 3) for r, e in pairs]
    return {way: d for way, d in differences.items() if d["bleu"]}


def mean_text(values, form):
    deviation = f" ± {statistics.stdev(values) / len(values) ** 0.5:.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):{form}}{deviation} ({', '.join(f'{v:{form}}' for v in values)})"


def describe_difference(way, d):
    factors = [f"times exact's {what} to its BLEU - 0.2: {', '.join('never' if v is None else f'{v:.2f}' for v in d[key])}"
               for what, key in (("steps", "steps_to_bleu"), ("seconds", "seconds_to_bleu")) if key in d]
    return ", ".join([f"{way} beside exact, {len(d['bleu'])} seeds: BLEU {mean_text(d['bleu'], '+.2f')}",
                      f"validation loss {mean_text(d['val_loss_percent'], '+.2f')} %", *factors])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--text", required=True)
    parser.add_argument("--keep", help="a folder for the dataset, runs under way and rows; without it nothing is kept")
    parser.add_argument("--ways", default="exact,int8,int4,local")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="for all runs")
    options = parser.parse_args()
    if why := lab_of_hosts.missing():
        raise SystemExit(f"bench: no lab here: {why}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by a signal"))  # the lab and what runs in it end, too
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(options.keep or name).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        rows = all_rows(folder, options)
    differences = compare(rows)
    if options.json:
        print(json.dumps({"runs": rows, "beside_exact": differences}))
        return
    for row in rows:
        print(describe(row))
    for way, difference in differences.items():
        print(describe_difference(way, difference))


if __name__ == "__main__":
    main()
