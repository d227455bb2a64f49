"""Settings as a user meets them: tandem config, the files in configs/ and the guide for movers."""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))


@pytest.fixture
def known_keys(tandem):
    return {option["key"] for option in json.loads(tandem("config", "--defaults", "--json").stdout)}


def settings(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["settings"]


def flat(nested):
    out = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            out.update({f"{key}.{leaf}": inner for leaf, inner in value.items()})
        else:
            out[key] = value
    return out


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_dump_of_each_shipped_file_loads_back_to_the_same_fingerprint(tandem, tmp_path, path):
    first = tandem("config", path)
    assert first.returncode == 0, first.stderr
    dump = tmp_path / "config.yaml"
    dump.write_text(first.stdout)
    assert tandem("config", dump).stdout == first.stdout
    assert tandem("config", dump, "seed=2").stdout != first.stdout


def test_defaults_explain_every_option(tandem, known_keys):
    text = tandem("config", "--defaults").stdout
    options = json.loads(tandem("config", "--defaults", "--json").stdout)
    for option in options:
        assert option["key"] + " = " in text
        assert option["sentence"] in text
        assert option["allowed"] in text
    assert max(map(len, text.splitlines())) <= 100
    assert set(flat(settings(tandem("config", "--json")))) == known_keys


def test_all_mistakes_are_named_at_once_and_exit_is_2(tandem, tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("optim:\n  lrr: 2.0\n  d_model: 512\nmodel:\n  heads: many\n")
    result = tandem("config", wrong, "stop.stepps=3", "precision=fp8")
    assert result.returncode == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0] == "tandem: 5 problems with the settings"
    for place, suggestion in [
        (f"{wrong}:2: ", '"optim.lr"'),
        (f"{wrong}:3: ", '"model.d_model"'),
        (f"{wrong}:5: ", "whole number"),
        ("command line: ", '"stop.steps"'),
        ("command line: ", "fp32, bf16, fp16"),
    ]:
        assert any(line.strip().startswith(place) and suggestion in line for line in lines), place


def test_later_files_and_overrides_win(tandem, tmp_path):
    (tmp_path / "a.yaml").write_text("seed: 1\noptim: {lr: 1.0}\n")
    (tmp_path / "b.yaml").write_text("optim: {lr: 1.5}\n")
    got = settings(tandem("config", tmp_path / "a.yaml", tmp_path / "b.yaml", "seed=7", "--json"))
    assert (got["seed"], got["optim"]["lr"]) == (7, 1.5)


def test_defaults_with_files_is_a_mistake(tandem):
    assert tandem("config", "--defaults", CONFIGS[0]).returncode == 2


def guide_rows():
    for line in (ROOT / "docs/from-openseq2seq.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and cells[0] != "OpenSeq2Seq" and set(cells[0]) != {"-"}:
            yield cells


def test_every_setting_in_the_guide_exists(known_keys):
    rows = list(guide_rows())
    assert len(rows) > 40
    for old, new, *_ in rows:
        assert new == "-" or new.strip("`") in known_keys, f"{old} -> {new}"
    text = (ROOT / "docs/from-openseq2seq.md").read_text()
    sections = {key.split(".")[0] for key in known_keys if "." in key}
    for name in re.findall(r"`([a-z_]+\.[a-z_0-9]+)\b", text):
        if name.split(".")[0] in sections:
            assert name in known_keys, name


@pytest.mark.parametrize("column, name", [(2, "transformer-base"), (3, "transformer-big")])
def test_the_guide_gives_the_values_of_the_files(tandem, column, name):
    values = flat(settings(tandem("config", ROOT / f"configs/{name}.yaml", "--json")))
    for row in guide_rows():
        if row[1] == "-" or row[column] == "-":
            continue
        value = values[row[1].strip("`")]
        written = row[column]
        if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
            assert float(written) == value, row
        else:
            assert written == {None: "null", True: "true", False: "false"}.get(value, value), row
