"""Translating a file beside CTranslate2 (float32 and int8) with the same weights: sentences a second and BLEU, beam 4.

CTranslate2 gets the model from `tandem export`. Loading is left out on both sides: tandem's time is that of all lines less
that of one line. A worker is one thread. Without --model: the model and test text of `tandem quickstart`, which takes two minutes.
Usage: scripts/bench decode [--json] [--model RUN|MODEL --src FILE --ref FILE] [--workers 2] [--repeats 3]
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import peers

CT2 = peers.ROOT / "bench/peer/ct2_translate.py"


def quickstart(folder):
    subprocess.run([peers.TANDEM, "quickstart", "--out", folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "run", folder / "text/valid.en", folder / "text/valid.de"


def tandem_seconds(model, source, workers, out):
    one = out.with_suffix(".one")
    with open(source, encoding="utf-8") as file:
        one.write_text(file.readline(), encoding="utf-8")
    seconds = [peers.run(f"{peers.TANDEM} translate --model {model} --beam 4 --alpha 0.6 --threads {workers} < {path} > {out} 2>/dev/null")["seconds"]
               for path in (one, source)]
    return seconds[1] - seconds[0]


def vocab_of(model):
    """Of a model's folder or of a run's."""
    return next(path for path in (pathlib.Path(model) / "vocab.model", pathlib.Path(model) / "model/vocab.model") if path.exists())


def ct2_seconds(folder, vocab, source, workers, kind):
    return float(peers.run([sys.executable, str(CT2), str(folder / "ct2"), str(vocab), str(source), str(workers), kind, str(folder / kind)])["output"])


def bleu(texts, reference):
    done = peers.run([peers.TANDEM, "score", "--json", str(texts), str(reference)])
    return json.loads(done["output"])["bleu"]["score"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--src")
    parser.add_argument("--ref")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, source, reference = (options.model, options.src, options.ref) if options.model else quickstart(folder / "quick")
        subprocess.run([peers.TANDEM, "export", "--model", model, "--format", "ctranslate2", "--out", folder / "ct2"], check=True,
                       stdout=subprocess.DEVNULL)
        lines = len(pathlib.Path(source).read_text(encoding="utf-8").splitlines())
        seconds = {"ctranslate2 float32": [], "ctranslate2 int8": [], "tandem": []}
        for _ in range(options.repeats):  # alternately, so that a busy machine disturbs all
            for kind in ("float32", "int8"):
                seconds[f"ctranslate2 {kind}"].append(ct2_seconds(folder, vocab_of(model), source, options.workers, kind))
            seconds["tandem"].append(tandem_seconds(model, source, options.workers, folder / "tandem"))
        result = {"bench": "decode", "sentences": lines, "workers": options.workers}
        for program, several in seconds.items():
            result[program] = {"sentences_per_s": lines / statistics.median(several), "least": lines / max(several), "most": lines / min(several),
                               "bleu": bleu(folder / program.split()[-1], reference)}
        for kind in ("float32", "int8"):
            result[f"ratio_{kind}"] = result["tandem"]["sentences_per_s"] / result[f"ctranslate2 {kind}"]["sentences_per_s"]

    if options.json:
        print(json.dumps(result))
        return
    for program in seconds:
        r = result[program]
        print(f"{program:20} {r['sentences_per_s']:7.1f} sentences/s ({r['least']:.1f} to {r['most']:.1f}), BLEU {r['bleu']:.2f}")
    print(f"tandem / ctranslate2: float32 {result['ratio_float32']:.2f}x, int8 {result['ratio_int8']:.2f}x")


main()
