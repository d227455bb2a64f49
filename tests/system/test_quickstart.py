"""quickstart: from nothing to a dataset, and to a translator."""

import json
import re
import signal
import subprocess
import time

import pytest


def test_makes_text_and_dataset_and_can_be_run_again(tandem, tmp_path):
    out = tmp_path / "quick"
    done = tandem("quickstart", "--only-data", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "30000 pairs" in done.stdout and "Next:" in done.stdout
    parts = {name: (out / "text" / f"{name}.en").read_text(encoding="utf-8").splitlines() for name in ("train", "valid", "test")}
    assert [len(lines) for lines in parts.values()] == [30000, 1000, 1000]
    assert not set(parts["train"]) & (set(parts["valid"]) | set(parts["test"])) and not set(parts["valid"]) & set(parts["test"])
    first = json.loads(tandem("inspect", out / "data", "--verify", "--json").stdout)
    assert first["train"]["pairs"] == 30000 and first["valid_in_train"] == {"pairs": 0, "sources": 0}
    assert tandem("quickstart", "--only-data", "--out", out).returncode == 0
    again = json.loads(tandem("inspect", out / "data", "--json").stdout)
    assert again["train"]["fingerprint"] == first["train"]["fingerprint"]


def test_stops_when_told_to(program, tmp_path):
    out = tmp_path / "quick"
    child = subprocess.Popen([program, "quickstart", "--out", out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    journal = out / "run/journal.jsonl"
    deadline = time.monotonic() + 600
    while not (journal.exists() and '"type":"step"' in journal.read_text()):
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    child.send_signal(signal.SIGTERM)
    said, _ = child.communicate(timeout=120)
    assert child.returncode == 75 and "Traceback" not in said, said
    assert list((out / "run/checkpoints").glob("step-*/MANIFEST.json")), said


def test_trains_evaluates_and_translates(tandem, tmp_path, sanitized):
    if sanitized:
        pytest.skip("with sanitizers 15 minutes were not enough; the test above begins it")
    out = tmp_path / "quick"
    done = tandem("quickstart", "--out", out, timeout=1200)
    assert done.returncode == 0, done.stderr
    for verb in ("prepare", "check", "train", "evaluate", "translate", "report"):
        assert f"\n$ tandem {verb} " in done.stdout
    bleu = float(re.search(r"^ *BLEU\S* = ([\d.]+)", done.stdout, re.M)[1])
    assert bleu >= 90
    last = json.loads((out / "run/journal.jsonl").read_text().splitlines()[-1])
    assert last["type"] == "end" and last["reason"] == "steps"
    translations = done.stdout.split("five.en\n")[1].split("\n\n")[0].splitlines()
    references = (out / "text/five.de").read_text(encoding="utf-8").splitlines()
    assert len(translations) == 5 and sum(a == b for a, b in zip(translations, references)) >= 2


def test_a_folder_that_cannot_be_made_is_named(tandem, tmp_path):
    (tmp_path / "file").write_text("")
    done = tandem("quickstart", "--out", tmp_path / "file" / "x")
    assert done.returncode == 2 and str(tmp_path / "file") in done.stderr and done.stderr.count("\n") == 1
