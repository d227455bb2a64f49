"""tandem prepare beside spm_encode: characters a second with one vocabulary, one thread and two.

Usage: scripts/bench prepare [--json] [--pairs N] [--repeats N] [--rehearsal [--keep DIR]]
--rehearsal: the size of WMT14 English-German instead (4.56 million invented pairs, 32K vocabulary):
wall time, peak memory, dataset size. Takes several minutes and 2 GB of disk.
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

import peers

TEXT = str(peers.ROOT / "build/release/bench/bench_wmt_text")


def beside_spm_encode(folder, pairs, repeats):
    src, tgt, valid_src, valid_tgt = (folder / name for name in ("src", "tgt", "valid.src", "valid.tgt"))
    peers.run([TEXT, str(pairs), str(src), str(tgt)])
    peers.run([TEXT, "100", str(valid_src), str(valid_tgt), "2"])
    data, vocab = folder / "data", folder / "vocab.model"
    prepare = [peers.TANDEM, "prepare", "--src", str(src), "--tgt", str(tgt), "--valid-src", str(valid_src),
               "--valid-tgt", str(valid_tgt), "--out", str(data)]
    # One vocabulary for all, trained once.
    peers.run(prepare + ["--vocab-size", "8000", "--vocab-sample", "20000"])
    shutil.copy(data / "vocab.model", vocab)
    with_vocab = prepare + ["--vocab", str(vocab)]
    runs = peers.alternate({
        "spm_encode": f"spm_encode --model={vocab} --output_format=id --output={folder}/src.ids {src} && "
                      f"spm_encode --model={vocab} --output_format=id --output={folder}/tgt.ids {tgt}",
        "tandem 1 thread": with_vocab + ["--threads", "1"],
        "tandem 2 threads": with_vocab + ["--threads", "2"],
    }, repeats, before=lambda: shutil.rmtree(data, ignore_errors=True))
    characters = sum(len(path.read_text(encoding="utf-8")) for path in (src, tgt))
    times = {name: peers.summary(r) for name, r in runs.items()}
    one, two, peer = (times[n]["median"] for n in ("tandem 1 thread", "tandem 2 threads", "spm_encode"))
    cpu = {name: peers.summary(r, "processor_seconds")["median"] for name, r in runs.items()}
    return {"benchmark": "prepare", "pairs": pairs, "characters": characters, "repeats": repeats,
            "seconds": times, "processor_ratio_1_thread": cpu["spm_encode"] / cpu["tandem 1 thread"], "ratio_1_thread": peer / one, "ratio_2_threads_to_1": one / two,
            "ratio_2_threads": peer / two}


def rehearsal(folder, pairs):
    src, tgt, valid_src, valid_tgt = (folder / name for name in ("src", "tgt", "valid.src", "valid.tgt"))
    peers.run([TEXT, str(pairs), str(src), str(tgt)])
    peers.run([TEXT, "3000", str(valid_src), str(valid_tgt), "2"])
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    done = peers.run([peers.TANDEM, "prepare", "--src", str(src), "--tgt", str(tgt), "--valid-src", str(valid_src),
                      "--valid-tgt", str(valid_tgt), "--out", str(data), "--vocab-size", "32000", "--json"])
    card = json.loads(done["output"])
    return {"benchmark": "prepare --rehearsal", "pairs": pairs,
            "text_mb": (src.stat().st_size + tgt.stat().st_size) / 1e6, "seconds": done["seconds"],
            "peak_mb": done["peak_mb"], "pairs_kept": card["train"]["pairs"],
            "tokens": card["train"]["src"]["tokens"] + card["train"]["tgt"]["tokens"],
            "dataset_mb": sum(f.stat().st_size for f in data.iterdir()) / 1e6}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rehearsal", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="work in this folder and leave text and dataset there")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if args.rehearsal:
            result = rehearsal(folder, args.pairs or 4_560_000)
        else:
            result = beside_spm_encode(folder, args.pairs or 200_000, args.repeats)
    if args.json:
        print(json.dumps(result))
    elif args.rehearsal:
        print("{pairs:,} pairs, {text_mb:,.0f} MB of text: {seconds:.0f} s, peak memory {peak_mb:,.0f} MB, "
              "{tokens:,} tokens, dataset {dataset_mb:,.0f} MB".format(**result))
    else:
        print(f"{result['pairs']:,} pairs, {result['characters']:,} characters, median of {args.repeats} alternating runs")
        for name, t in result["seconds"].items():
            print(f"  {name:18} {t['median']:7.2f} s  ({t['min']:.2f} to {t['max']:.2f})  "
                  f"{result['characters'] / t['median'] / 1e6:7.2f} M characters/s")
        print(f"  1 thread {result['ratio_1_thread']:.2f}x spm_encode, 2 threads "
              f"{result['ratio_2_threads_to_1']:.2f}x 1 thread, {result['ratio_2_threads']:.2f}x spm_encode; "
              f"by processor time 1 thread {result['processor_ratio_1_thread']:.2f}x spm_encode")


if __name__ == "__main__":
    sys.exit(main())
