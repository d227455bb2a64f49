"""Translations of a post-norm model beside transformers' MarianMTModel on the same text: how many are equal, and both BLEU.

transformers gets the model from `tandem export`. Compared are subwords of the best translation, without length penalty.
Without --model: a small one that has learned sixty lines by heart.
Usage: scripts/bench marian [--json] [--model RUN|MODEL --src FILE --ref FILE] [--lines 1000] [--threads 1] [--beams 1,4]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import peers
import serve

MARIAN = peers.ROOT / "bench/peer/marian_translate.py"


def ours(model, source, beam, threads, out):
    done = peers.run(f"{peers.TANDEM} translate --model {model} --json --beam {beam} --alpha 0 --threads {threads} < {source} 2>/dev/null")
    best = [json.loads(line)["hypotheses"][0] for line in done["output"].splitlines()]
    out.write_text("".join(b["text"] + "\n" for b in best), encoding="utf-8")
    return [b["tokens"] for b in best]


def theirs(folder, source, beam, threads, out):
    raw = out.with_suffix(".json")
    peers.run(f"{sys.executable} {MARIAN} {folder} {source} {beam} {threads} {raw} 2>/dev/null")
    found = [json.loads(line) for line in raw.read_text(encoding="utf-8").splitlines()]
    out.write_text("".join(f["text"] + "\n" for f in found), encoding="utf-8")
    return [f["tokens"] for f in found]


def bleu(texts, reference):
    return json.loads(peers.run([peers.TANDEM, "score", "--json", str(texts), str(reference)])["output"])["bleu"]["score"]


def first_lines(path, count, out):
    with open(path, encoding="utf-8") as file:
        out.write_text("".join(line for _, line in zip(range(count), file)), encoding="utf-8")
    return out


def compare(options, folder):
    hf = folder / "hf"
    subprocess.run([peers.TANDEM, "export", "--model", options.model, "--format", "huggingface", "--out", hf], check=True,
                   stdout=subprocess.DEVNULL)
    source = first_lines(options.src, options.lines, folder / "source")
    reference = first_lines(options.ref, options.lines, folder / "reference")
    result = {"benchmark": "marian", "beams": {}}
    for beam in options.beams:
        mine = ours(options.model, source, beam, options.threads, folder / "ours")
        other = theirs(hf, source, beam, options.threads, folder / "theirs")
        assert len(mine) == len(other)
        result["sentences"] = len(mine)
        result["beams"][beam] = {"equal": sum(a == b for a, b in zip(mine, other)), "bleu": bleu(folder / "ours", reference),
                                 "marian_bleu": bleu(folder / "theirs", reference)}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--src")
    parser.add_argument("--ref")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beams", type=lambda text: [int(beam) for beam in text.split(",")], default=[1, 4])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not options.model:
            options.model, _ = serve.make_model(folder)
            options.src, options.ref = folder / "src", folder / "tgt"
        result = compare(options, folder)
    if options.json:
        return print(json.dumps(result))
    for beam, found in result["beams"].items():
        share = 100 * found["equal"] / result["sentences"]
        print(f"beam {beam}: {found['equal']} of {result['sentences']} equal ({share:.1f} %), BLEU {found['bleu']:.2f}, "
              f"MarianMTModel {found['marian_bleu']:.2f}")


if __name__ == "__main__":
    main()
