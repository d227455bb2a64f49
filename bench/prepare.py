"""tandem prepare beside spm_encode: characters a second with one vocabulary, one thread and two.

Usage: scripts/bench prepare [--json] [--pairs N] [--repeats N] [--rehearsal [--keep DIR] [--vocab M.model]]
--rehearsal: WMT14 English-German in its real size instead (4.56 million invented pairs, 32K vocabulary), downloaded by `tandem get` from a
server on this machine and prepared from its archives: wall time, peak memory, dataset size. Takes several minutes and 5 GB of disk.
"""

import argparse
import functools
import hashlib
import http.server
import json
import pathlib
import shutil
import sys
import tarfile
import tempfile
import threading

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


def pack(path, texts):
    """A .tgz of {member: file}; packed quickly, which is as much work to read."""
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for member, file in texts.items():
            tar.add(file, member)


def make_site(folder, pairs):
    """The archives of WMT14 with invented text, and the catalog of the program with their sizes and hashes, to be had from `address`."""
    site, text = folder / "site", folder / "text"
    for path in (site, text):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()

    def invent(count, seed):
        peers.run([TEXT, str(count), str(text / f"{seed}.en"), str(text / f"{seed}.de"), str(seed)])
        return {language: text / f"{seed}.{language}" for language in ("en", "de")}

    for seed, (archive, member, share) in enumerate((("training-parallel-europarl-v7", "training/europarl-v7.de-en", 0.42),
                                                     ("training-parallel-commoncrawl", "commoncrawl.de-en", 0.53),
                                                     ("training-parallel-nc-v9", "training/news-commentary-v9.de-en", 0.05)), 3):
        pack(site / f"{archive}.tgz", {f"{member}.{language}": file for language, file in invent(max(1, int(pairs * share)), seed).items()})
    pack(site / "dev.tgz", {f"dev/newstest2013.{language}": file for language, file in invent(3000, 2).items()})
    for language, file in invent(3000, 1).items():
        lines = file.read_text(encoding="utf-8").splitlines()
        file.write_text("".join(f'<seg id="{i}">{line}</seg>\n' for i, line in enumerate(lines, 1)), encoding="utf-8")
    pack(site / "test-full.tgz", {"test-full/newstest2014-deen-src.en.sgm": text / "1.en", "test-full/newstest2014-deen-ref.de.sgm": text / "1.de"})
    shutil.rmtree(text)
    return site


def write_catalog(path, site, address):
    catalog = json.loads(peers.run([peers.TANDEM, "get", "--list", "--json"])["output"])
    catalog["corpora"] = [corpus for corpus in catalog["corpora"] if corpus["name"] == "wmt14-en-de"]
    for file in catalog["corpora"][0]["files"]:
        contents = (site / file["name"]).read_bytes()
        file.update(url=f"{address}/{file['name']}", bytes=len(contents), sha256=hashlib.sha256(contents).hexdigest())
    path.write_text(json.dumps(catalog))


def rehearsal(folder, pairs, vocab):
    """What the recipe says, from a server on this machine."""
    site, corpus, data = make_site(folder, pairs), folder / "corpus", folder / "data"
    for path in (corpus, data):
        shutil.rmtree(path, ignore_errors=True)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    handler.func.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        write_catalog(folder / "catalog.json", site, f"http://127.0.0.1:{server.server_address[1]}")
        got = peers.run([peers.TANDEM, "get", "wmt14-en-de", "--catalog", str(folder / "catalog.json"), "--out", str(corpus)])
        server.shutdown()
    done = peers.run([peers.TANDEM, "prepare", "--from", str(corpus), "--out", str(data), "--json",
                      *(["--vocab", vocab] if vocab else ["--vocab-size", "32768"])])
    card = json.loads(done["output"])
    sides = [card["train"][side] for side in ("src", "tgt")]
    return {"benchmark": "prepare --rehearsal", "pairs": card["train"]["lines"], "archives_mb": sum(f.stat().st_size for f in site.iterdir()) / 1e6,
            "text_mb": sum(side["text_bytes"] for side in sides) / 1e6, "get_seconds": got["seconds"], "seconds": done["seconds"],
            "peak_mb": done["peak_mb"], "pairs_kept": card["train"]["pairs"], "tokens": sum(side["tokens"] for side in sides),
            "dataset_mb": sum(f.stat().st_size for f in data.iterdir()) / 1e6}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rehearsal", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="work in this folder and leave text and dataset there")
    parser.add_argument("--vocab", help="take this vocabulary in the rehearsal instead of learning one")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if args.rehearsal:
            result = rehearsal(folder, args.pairs or 4_560_000, args.vocab)
        else:
            result = beside_spm_encode(folder, args.pairs or 200_000, args.repeats)
    if args.json:
        print(json.dumps(result))
    elif args.rehearsal:
        print("{pairs:,} pairs, {text_mb:,.0f} MB of text in archives of {archives_mb:,.0f} MB: downloaded in {get_seconds:.0f} s, prepared in {seconds:.0f} s, peak memory {peak_mb:,.0f} MB, "
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
