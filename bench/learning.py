"""What lossy exchanges cost in learning: BLEU and validation loss of each cluster.mode at equal tokens, over several seeds.

Multi30k (--text: a folder with train.en.gz, val.de.gz, ...) with configs/multi30k-tiny.yaml on two hosts of the lab, one worker with
one thread each, links at full speed: how fast a link is changes no number here (scripts/bench links measures that). Every
mode starts from the same weights and sees the same sentences as exact of its seed. Differences are to that exact run.
Usage: scripts/bench learning --text DIR [--json] [--modes exact,int8,int4,local] [--seeds 3] [--steps 3000] [--local-steps 8] [KEY=VALUE ...]
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys
import tempfile

import peers
from train import make_data

sys.path.insert(0, str(peers.ROOT / "tests/lab"))
import lab as lab_of_hosts  # noqa: E402


def train(lab, mode, seed, options):
    run = f"{mode}-{seed}"
    settings = [peers.ROOT / "configs/multi30k-tiny.yaml", f"data.path={lab.disk}/data", f"run={lab.disk}/{run}", "threads=1",
                f"seed={seed}", f"cluster.mode={mode}", f"stop.steps={options.steps}", f"eval.every={max(1, options.steps // 6)}",
                "checkpoint.every=0", *options.settings]
    if mode == "local":
        settings.append(f"cluster.local_steps={options.local_steps}")
    done = lab.mpirun([peers.TANDEM, "train", *settings], workers=1, env={"OMP_NUM_THREADS": "1"}, timeout=4 * 3600)
    if done.returncode != 0:
        raise SystemExit(f"bench: {run} failed: {done.stdout}")
    with open(lab.folder / "host-a" / run / "journal.jsonl") as lines:
        records = [json.loads(line) for line in lines]
    steps = [r for r in records if r["type"] == "step"]
    evals = [r for r in records if r["type"] == "eval"]
    return {"mode": mode, "seed": seed, "tokens": sum(s["tokens"] for s in steps), "val_loss": evals[-1]["val_loss"], "bleu": evals[-1]["bleu"],
            "bleu_by_step": [[e["step"], e["bleu"]] for e in evals]}


def describe(r):
    return f"{r['mode']:6} seed {r['seed']}: validation loss {r['val_loss']:.4f}, BLEU {r['bleu']:.2f} after {r['tokens']} tokens"


def compare(rows):
    """mode -> mean and spread of its differences to exact, seed by seed."""
    exact = {r["seed"]: r for r in rows if r["mode"] == "exact"}
    differences = {}
    for mode in dict.fromkeys(r["mode"] for r in rows if r["mode"] != "exact"):
        pairs = [(r, exact[r["seed"]]) for r in rows if r["mode"] == mode and r["seed"] in exact]
        if not pairs:
            continue
        bleu = [r["bleu"] - e["bleu"] for r, e in pairs]
        loss = [100 * (r["val_loss"] / e["val_loss"] - 1) for r, e in pairs]
        differences[mode] = {"seeds": len(pairs), "bleu": statistics.mean(bleu), "bleu_each": bleu, "val_loss_percent": statistics.mean(loss),
                             "val_loss_percent_each": loss}
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--text", required=True)
    parser.add_argument("--modes", default="exact,int8,int4,local")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--local-steps", type=int, default=8)
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="for all runs")
    options = parser.parse_args()
    if why := lab_of_hosts.missing():
        raise SystemExit(f"bench: no lab here: {why}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_data(folder, options.text)
        with lab_of_hosts.Lab(hosts=2, rate="1gbit", folder=folder / "lab") as lab:
            lab.full_speed()
            for host in lab.names:
                shutil.copytree(folder / "data", lab.folder / host / "data")
            for seed in range(1, options.seeds + 1):
                for mode in options.modes.split(","):
                    rows.append(train(lab, mode, seed, options))
                    print(f"  {describe(rows[-1])}", file=sys.stderr, flush=True)
    differences = compare(rows)
    if options.json:
        print(json.dumps({"runs": rows, "beside_exact": differences}))
        return
    for row in rows:
        print(describe(row))
    for mode, d in differences.items():
        print(f"{mode:6} beside exact, mean of {d['seeds']} seeds: BLEU {d['bleu']:+.2f} ({', '.join(f'{b:+.2f}' for b in d['bleu_each'])}), "
              f"validation loss {d['val_loss_percent']:+.2f} % ({', '.join(f'{x:+.2f}' for x in d['val_loss_percent_each'])})")


if __name__ == "__main__":
    main()
