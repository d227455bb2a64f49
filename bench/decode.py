"""Translating a file beside CTranslate2 (float32 and int8) with the same weights: sentences a second and BLEU, beam 4.

CTranslate2 gets the model from `tandem export` and its best arrangement of the threads: a worker for each, or one worker with
all. Loading is left out on both sides: tandem's time is that of all lines less that of one line. The model: --model, else that
of `tandem quickstart`, which takes two minutes; --forced base|tiny: an untrained model of that size with 8,000 words, learned
from --src and --ref, and lines of 13 subwords, so that every translation has 15 steps. --forced also runs the beam search of
Hugging Face's MarianMT and of OpenNMT-py (--peers), on a quarter of as many lines.
Usage: scripts/bench decode [--json] [--model RUN|MODEL] [--forced base|tiny [--peers transformers,opennmt]] [--src FILE --ref FILE]
                            [--lines 1000] [--threads 2] [--repeats 3]
"""

import argparse
import gzip
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import peers

CT2 = peers.ROOT / "bench/peer/ct2_translate.py"
KINDS = ("float32", "int8")
sys.path.insert(0, str(CT2.parent))
from forced_sizes import PIECES, STEPS, WORDS  # noqa: E402


def quiet(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def lines_of(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def quickstart(folder):
    quiet(peers.TANDEM, "quickstart", "--out", folder)
    return folder / "run", folder / "text/valid.en", folder / "text/valid.de"


def untrained(folder, size, source, reference, words):
    """A model after one step: it never ends a sentence before the length limit."""
    few = [write(folder / f"few{i}", lines_of(path)[:8]) for i, path in enumerate((source, reference))]
    quiet(peers.TANDEM, "prepare", "--src", source, "--tgt", reference, "--valid-src", few[0], "--valid-tgt", few[1], "--vocab-size", words,
          "--out", folder / "data")
    (folder / "run.yaml").write_text(
        f"run: {folder / 'run'}\ndata: {{path: {folder / 'data'}}}\nmodel: {{preset: {size}}}\nbatch: {{tokens: 256}}\n"
        f"optim: {{lr: 1.0e-9}}\nstop: {{steps: 1}}\neval: {{sentences: 1, extra_decode_steps: 1}}\n", encoding="utf-8")
    quiet(peers.TANDEM, "train", folder / "run.yaml")
    return folder / "run"


def lines_of_length(model, lines, pieces):
    encoded = subprocess.run([peers.TANDEM, "encode", "--vocab", vocab_of(model)], input="".join(line + "\n" for line in lines),
                             text=True, capture_output=True, check=True).stdout.splitlines()
    return [line for line, some in zip(lines, encoded) if len(some.split()) == pieces]


def vocab_of(model):
    """Of a model's folder or of a run's."""
    return next(path for path in (pathlib.Path(model) / "vocab.model", pathlib.Path(model) / "model/vocab.model") if path.exists())


class Bench:
    def __init__(self, folder, model, lines, forced, threads):
        self.folder, self.model, self.forced, self.threads = folder, model, forced, threads
        self.source, self.one = write(folder / "source", lines), write(folder / "one", lines[:1])
        quiet(peers.TANDEM, "export", "--model", model, "--format", "ctranslate2", "--out", folder / "ct2")

    def tandem(self, kind):
        command = f"{peers.TANDEM} translate --model {self.model} --beam 4 --alpha 0.6 --threads {self.threads} --weights {kind}"
        out = self.folder / f"tandem {kind}"
        one, every = (peers.run(f"{command} < {path} > '{out}' 2>/dev/null")["seconds"] for path in (self.one, self.source))
        return every - one

    def ct2(self, kind, workers, threads):
        return float(peers.run([sys.executable, str(CT2), str(self.folder / "ct2"), str(vocab_of(self.model)), str(self.source),
                                str(workers), str(threads), kind, str(self.forced), str(self.folder / f"ctranslate2 {kind}")])["output"])

    def best_arrangement(self, kind):
        arrangements = {(self.threads, 1), (1, self.threads)}
        return min(arrangements, key=lambda some: self.ct2(kind, *some)) if len(arrangements) > 1 else (1, 1)


class TrainingPeer:
    """The decoder of a program that trains. Lines are shared by processes with some threads each."""

    BATCHES = (32, 128)

    def __init__(self, python, script, size, lines, cores):
        self.command, self.lines = [python, str(CT2.parent / script), size], lines
        ways = [(processes, cores // processes, batch) for processes in {1, cores} for batch in self.BATCHES]
        self.way = min(ways, key=lambda way: self.seconds(way, lines // 2))

    def seconds(self, way, lines):
        processes, threads, batch = way
        arguments = [str(number) for number in (lines // processes, batch, threads)]
        children = [subprocess.Popen(self.command + arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(processes)]
        return max(float(child.communicate()[0]) for child in children)

    def sentences_per_s(self):
        return self.lines / self.seconds(self.way, self.lines)


def training_peers(options):
    if not options.forced:
        return {}
    scripts = {"transformers": (lambda: sys.executable, "hf_forced.py"), "opennmt": (lambda: peers.python_of("opennmt"), "opennmt_forced.py")}
    chosen = {name: scripts[name] for name in options.peers.split(",") if name}
    return {name: TrainingPeer(python(), script, options.forced, options.lines // 4, options.threads) for name, (python, script) in chosen.items()}


def bleu(texts, reference):
    return json.loads(peers.run([peers.TANDEM, "score", "--json", str(texts), str(reference)])["output"])["bleu"]["score"]


def measure(bench, repeats, others):
    """Sentences a second of every program, run by run, and how CTranslate2 was arranged."""
    arrangements = {kind: bench.best_arrangement(kind) for kind in KINDS}
    speeds = {f"{program} {kind}": [] for program in ("ctranslate2", "tandem") for kind in KINDS} | {name: [] for name in others}
    lines = len(lines_of(bench.source))
    for _ in range(repeats):  # alternately, so that a busy machine disturbs all
        for kind in KINDS:
            speeds[f"ctranslate2 {kind}"].append(lines / bench.ct2(kind, *arrangements[kind]))
            speeds[f"tandem {kind}"].append(lines / bench.tandem(kind))
        for name, other in others.items():
            speeds[name].append(other.sentences_per_s())
    return speeds, arrangements


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--forced", choices=("base", "tiny"))
    parser.add_argument("--peers", default="transformers,opennmt", help="training programs whose decoders run beside it, with --forced")
    parser.add_argument("--src")
    parser.add_argument("--ref")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, source, reference = options.model, options.src, options.ref
        if options.forced:
            model, reference = untrained(folder, options.forced, source, reference, WORDS), None
            lines = lines_of_length(model, lines_of(source), PIECES)
            lines = (lines * (options.lines // len(lines) + 1))[:options.lines]
        else:
            if not model:
                model, source, reference = quickstart(folder / "quick")
            lines = lines_of(source)[:options.lines]
        bench = Bench(folder, model, lines, STEPS if options.forced else 0, options.threads)
        others = training_peers(options)
        speeds, arrangements = measure(bench, options.repeats, others)
        result = {"bench": "decode", "sentences": len(lines), "threads": options.threads, "steps": bench.forced or None,
                  "ctranslate2_workers": {kind: some[0] for kind, some in arrangements.items()},
                  "processes_threads_batch": {name: other.way for name, other in others.items()}}
        if reference:
            reference = write(folder / "reference", lines_of(reference)[:options.lines])
        for program, several in speeds.items():
            result[program] = {"sentences_per_s": statistics.median(several), "least": min(several), "most": max(several),
                               "bleu": bleu(folder / program, reference) if reference else None}
        for kind in KINDS:
            for peer in [f"ctranslate2 {its}" for its in KINDS] + list(others):
                result[f"tandem {kind} / {peer}"] = result[f"tandem {kind}"]["sentences_per_s"] / result[peer]["sentences_per_s"]

    if options.json:
        print(json.dumps(result))
        return
    for program in speeds:
        r = result[program]
        score = f", BLEU {r['bleu']:.2f}" if reference else ""
        print(f"{program:20} {r['sentences_per_s']:7.1f} sentences/s ({r['least']:.1f} to {r['most']:.1f}){score}")
    for key, ratio in result.items():
        if " / " in key:
            print(f"{key}: {ratio:.2f}x")


main()
