"""Every benchmark, one after the other: first speed beside peers (an hour on two cores), then the rest (another one).

With --text, a folder with train.en.gz, train.de.gz, val.en.gz, val.de.gz, training and translating are measured on that text, else on the
built-in corpus. Results are added to --keep line by line as they are known, so a run that was interrupted goes on with what it lacks.
Not among them: learning and rehearsal, which want text or a dataset and take hours.
Usage: scripts/bench all [--json] [--text DIR] [--keep FILE] [--only train,decode,...]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import peers


def side_of(text, language):
    found = sorted(text.glob(f"train.{language}*"))
    if not found:
        raise SystemExit(f"bench: {text} has no train.{language} or train.{language}.gz")
    return str(found[0])


def calls(text):
    """Name and arguments of each, in order."""
    trained = ["--text", str(text)] if text else []
    forced = ["--src", side_of(text, "en"), "--ref", side_of(text, "de")] if text else []
    decoding = [["decode", "--forced", "tiny", "--lines", "4000", *forced], ["decode", "--forced", "base", "--lines", "600", *forced]] if text else [["decode"]]
    return [["train", "--model", "tiny", "--learn-steps", "0", *trained],
            ["train", "--model", "base", "--learn-steps", "0", "--speed-steps", "4", *trained],
            *decoding,
            ["prepare"],
            ["scaling"],
            ["growth", "--plots", str(peers.ROOT / "docs/results")],
            *([name] for name in ("loader", "score", "hosts", "links", "link_probe", "plan", "serve", "marian", "shard", "long_journal"))]


def run(call, as_json):
    """What it printed, and whether it failed; why, it said itself. A limit that is missed is a failure with results."""
    name, *arguments = call
    command = [sys.executable, str(peers.ROOT / f"bench/{name}.py"), *arguments, *(["--json"] if as_json else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return done.stdout, done.returncode != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="of each benchmark: its own JSON as the text")
    parser.add_argument("--text", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="file of results; what it has is not measured again")
    parser.add_argument("--only", help="these alone, by name")
    options = parser.parse_args()
    planned = calls(options.text)
    chosen = options.only.split(",") if options.only else [name for name, *_ in planned]
    if strange := set(chosen) - {name for name, *_ in planned}:
        raise SystemExit(f"bench: not among all: {', '.join(sorted(strange))}")
    failed = []
    with tempfile.TemporaryDirectory() as name:
        kept = options.keep or pathlib.Path(name) / "results.jsonl"
        known = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
        for call in (call for call in planned if call[0] in chosen):
            print(f"== {' '.join(call)}", file=sys.stderr, flush=True)
            result = next((r for r in known if r["call"] == call and r["json"] == options.json), None)
            if result is None:
                began = time.monotonic()
                text, bad = run(call, options.json)
                if bad:
                    failed.append(call[0])
                if not text:
                    continue
                result = {"call": call, "json": options.json, "seconds": round(time.monotonic() - began),
                          "text": json.loads(text) if options.json else text}
                with open(kept, "a") as out:
                    out.write(json.dumps(result) + "\n")
            print(json.dumps(result) if options.json else f"== {' '.join(call)} ({result['seconds']} s)\n{result['text']}", flush=True)
    if failed:
        raise SystemExit(f"bench: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
