"""Training beside a plain PyTorch loop around nn.Transformer and Hugging Face's MarianMT: tokens a second, peak memory, share of
the machine's matrix-product rate measured in the same run, time from the program's start to its first step, and validation loss at
equal tokens.

--model tiny: 4+4 layers, d 128, ffn 256, 4 heads; base: 6+6, d 512, ffn 2048, 8 heads. 4,096 target tokens a step, dropout and
label smoothing on, one thread unless told otherwise. Text: Multi30k when --text names a folder with train.en.gz ..., else the
built-in corpus. Arithmetic of a step: 6 x weights that a token is multiplied by x tokens, the output layer included. The
machine's rate is that of LibTorch's product or of tandem's own, whichever is faster here.
Usage: scripts/bench train [--json] [--model tiny] [--repeats 3] [--speed-steps 12] [--learn-steps 300] [--threads 1] [--text DIR]
"""

import argparse
import gzip
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import peers

PEERS = {"torch": "torch_transformer.py", "marian-hf": "hf_marian.py"}
MODELS = {"tiny": {"d_model": 128, "heads": 4, "layers": 4, "ffn": 256}, "base": {"d_model": 512, "heads": 8, "layers": 6, "ffn": 2048}}
WARM_STEPS = 2  # not timed


def unpack(source: pathlib.Path, target: pathlib.Path):
    opened = gzip.open(source, "rb") if source.suffix == ".gz" else open(source, "rb")
    with opened as file:
        target.write_bytes(file.read())


def make_data(folder: pathlib.Path, text):
    """train.src ... and a dataset of 8,000 pieces (3,500 for the built-in corpus) in the folder."""
    if text:
        names = {"train": "train", "valid": "val"}
        for part, name in names.items():
            for side, language in (("src", "en"), ("tgt", "de")):
                unpack(next(pathlib.Path(text).glob(f"{name}.{language}*")), folder / f"{part}.{side}")
        size = "8000"
    else:
        subprocess.run([peers.TANDEM, "quickstart", "--only-data", "--out", folder / "quick"], check=True, stdout=subprocess.DEVNULL)
        for part in ("train", "valid"):
            for side, language in (("src", "en"), ("tgt", "de")):
                unpack(folder / f"quick/text/{part}.{language}", folder / f"{part}.{side}")
        size = "3500"
    subprocess.run([peers.TANDEM, "prepare", "--src", folder / "train.src", "--tgt", folder / "train.tgt", "--valid-src",
                    folder / "valid.src", "--valid-tgt", folder / "valid.tgt", "--out", folder / "data", "--vocab-size", size],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def settings(options, steps, validate):
    return {**MODELS[options.model], "dropout": 0.1, "tokens": 4096, "max_length": 128, "lr": 0.003,
            "warmup": 100, "beta2": 0.98, "threads": options.threads, "steps": steps, "seed": 1, "warm_steps": WARM_STEPS,
            "validate": validate}


def run_peer(name, folder, s):
    path = folder / "settings.json"
    path.write_text(json.dumps(s))
    done = peers.run([sys.executable, str(peers.ROOT / "bench/peer" / PEERS[name]), str(folder), str(path)])
    return {**json.loads(done["output"]), "peak_mb": done["peak_mb"]}


def matrix_rate(threads):
    """Floating-point operations a second of the faster product: LibTorch's or, where it is quicker, tandem's own."""
    programs = [sys.executable, str(peers.ROOT / "bench/peer/matrix_rate.py")], [str(peers.ROOT / "build/release/bench/bench_matrix_rate")]
    return 1e9 * max(float(peers.run([*program, str(threads)])["output"]) for program in programs)


def flops(s, words, src_tokens, tgt_tokens):
    width, inner = s["d_model"] ** 2, s["d_model"] * s["ffn"]
    source = s["layers"] * (4 * width + 2 * inner + 2 * width)  # the encoder, and keys and values for the decoder
    target = s["layers"] * (4 * width + 2 * width + 2 * inner) + words * s["d_model"]
    return 6 * (source * src_tokens + target * tgt_tokens)


def run_tandem(folder, s, name):
    run = folder / name
    config = folder / "config.yaml"
    config.write_text(f"""
threads: {s["threads"]}
seed: {s["seed"]}
model: {{d_model: {s["d_model"]}, heads: {s["heads"]}, ffn: {s["ffn"]}, encoder_layers: {s["layers"]},
        decoder_layers: {s["layers"]}, norm: pre, dropout: {s["dropout"]}}}
data: {{max_length: {s["max_length"]}}}
batch: {{tokens: {s["tokens"]}}}
optim: {{schedule: inverse_sqrt, lr: {s["lr"]}, warmup_steps: {s["warmup"]}, beta2: {s["beta2"]}, clip: 1.0, label_smoothing: 0.1}}
eval: {{every: 0, sentences: 1}}
checkpoint: {{every: 0}}
stop: {{steps: {s["steps"]}}}
""")
    started = time.time()
    done = peers.run(f"{peers.TANDEM} train {config} data.path={folder}/data run={run} 2>/dev/null")
    lines = [json.loads(line) for line in open(run / "journal.jsonl")]
    steps = [line for line in lines if line["type"] == "step"]
    timed = steps[WARM_STEPS:]
    seconds = sum(l["seconds"]["total"] for l in timed)
    words = (len((folder / "data/vocab.vocab").read_text().splitlines()) + 7) // 8 * 8
    result = {"tokens_per_s": sum(l["tokens"] for l in timed) / seconds,
              "flops_per_s": flops(s, words, sum(l["src_tokens"] for l in timed), sum(l["tokens"] for l in timed)) / seconds,
              "start_s": steps[0]["time"] - steps[0]["seconds"]["total"] - started,
              "tokens": sum(l["tokens"] for l in steps), "peak_mb": done["peak_mb"]}
    if s["validate"]:
        result["val_loss"] = [line for line in lines if line["type"] == "eval"][-1]["val_loss"]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model", choices=MODELS, default="tiny")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--speed-steps", type=int, default=12)
    parser.add_argument("--learn-steps", type=int, default=300, help="0: speed alone")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--text", help="folder with train.en, train.de, val.en, val.de (.gz or not)")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_data(folder, options.text)
        quick = settings(options, options.speed_steps, False)
        runs = {**{name: [] for name in PEERS}, "tandem": []}
        rates = []
        for i in range(options.repeats):  # alternately, so that a busy machine disturbs all
            for name in PEERS:
                runs[name].append(run_peer(name, folder, quick))
            rates.append(matrix_rate(options.threads))
            runs["tandem"].append(run_tandem(folder, quick, f"speed{i}"))
        result = {"bench": "train", "model": options.model, "threads": options.threads, "matrix_flops_per_s": statistics.median(rates)}
        for program, several in runs.items():
            speeds = [one["tokens_per_s"] for one in several]
            result[program] = {"tokens_per_s": statistics.median(speeds), "least": min(speeds), "most": max(speeds),
                               "peak_mb": max(one["peak_mb"] for one in several)}
        result["tandem"]["start_s"] = statistics.median(one["start_s"] for one in runs["tandem"])
        result["fastest_peer"] = max(PEERS, key=lambda name: result[name]["tokens_per_s"])
        result["speed_ratio"] = result["tandem"]["tokens_per_s"] / result[result["fastest_peer"]]["tokens_per_s"]
        result["matrix_share"] = statistics.median(one["flops_per_s"] / rate for one, rate in zip(runs["tandem"], rates))
        if options.learn_steps > 0:
            long = settings(options, options.learn_steps, True)
            for program, learned in (("torch", run_peer("torch", folder, long)), ("tandem", run_tandem(folder, long, "learn"))):
                result[program].update(val_loss=learned["val_loss"], tokens=learned["tokens"])
            result["val_loss_ratio"] = result["tandem"]["val_loss"] / result["torch"]["val_loss"]

    if options.json:
        print(json.dumps(result))
        return
    for program in (*PEERS, "tandem"):
        r = result[program]
        print(f"{program:9} {r['tokens_per_s']:8.0f} target tokens/s ({r['least']:.0f} to {r['most']:.0f}), peak {r['peak_mb']:.0f} MB"
              + (f", validation loss {r['val_loss']:.4f} after {r['tokens']} tokens" if "val_loss" in r else ""))
    print(f"tandem / {result['fastest_peer']}: speed {result['speed_ratio']:.2f}x; share of the matrix-product rate "
          f"({result['matrix_flops_per_s'] / 1e9:.0f} GFLOP/s) {result['matrix_share']:.2f}; first step begins after {result['tandem']['start_s']:.2f} s" +
          (f"; tandem / torch: validation loss {result['val_loss_ratio']:.4f}x" if "val_loss_ratio" in result else ""))


if __name__ == "__main__":
    main()
