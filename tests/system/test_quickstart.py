"""quickstart: from nothing to a prepared dataset."""

import json


def test_makes_text_and_dataset_and_can_be_run_again(tandem, tmp_path):
    out = tmp_path / "quick"
    done = tandem("quickstart", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "30000 pairs" in done.stdout and "Next:" in done.stdout
    parts = {name: (out / "text" / f"{name}.en").read_text(encoding="utf-8").splitlines() for name in ("train", "valid", "test")}
    assert [len(lines) for lines in parts.values()] == [30000, 1000, 1000]
    assert not set(parts["train"]) & (set(parts["valid"]) | set(parts["test"])) and not set(parts["valid"]) & set(parts["test"])
    first = json.loads(tandem("inspect", out / "data", "--verify", "--json").stdout)
    assert first["train"]["pairs"] == 30000 and first["valid_in_train"] == {"pairs": 0, "sources": 0}
    assert tandem("quickstart", "--out", out).returncode == 0
    again = json.loads(tandem("inspect", out / "data", "--json").stdout)
    assert again["train"]["fingerprint"] == first["train"]["fingerprint"]


def test_a_folder_that_cannot_be_made_is_named(tandem, tmp_path):
    (tmp_path / "file").write_text("")
    done = tandem("quickstart", "--out", tmp_path / "file" / "x")
    assert done.returncode == 3 and str(tmp_path / "file") in done.stderr and done.stderr.count("\n") == 1
