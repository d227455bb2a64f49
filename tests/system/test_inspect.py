"""inspect: what a run, its checkpoints, models and files are, and that damage in them is found. Datasets: test_prepare.py."""

import json
import shutil

import pytest
from safetensors import safe_open
from small_run import SMALL_RUN
from test_prepare import refused


@pytest.fixture(scope="module")
def trained(tandem, reversed_words, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    (folder / "small.yaml").write_text(SMALL_RUN)
    done = tandem("train", folder / "small.yaml", f"data.path={reversed_words(300) / 'data'}", f"run={folder / 'run'}", "stop.steps=6",
                  "checkpoint.every=3", "eval.every=3")
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture
def run(trained, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(trained, tmp_path / "run")


def facts(tandem, path, *options):
    done = tandem("inspect", path, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def numbers(file) -> int:
    with safe_open(file, "np") as tensors:
        return sum(tensors.get_tensor(name).size for name in tensors.keys())


def test_a_checkpoint_says_where_it_stands_and_what_it_holds(tandem, trained):
    checkpoint = trained / "checkpoints/step-00000006"
    told = facts(tandem, checkpoint, "--verify")
    assert told["kind"] == "checkpoint" and told["step"] == 6 and told["tokens"] > 0 and told["verified"]
    assert told["parameters"] == numbers(checkpoint / "model.safetensors")
    assert told["bytes"] == {name: (checkpoint / name).stat().st_size for name in ("model.safetensors", "optimizer.safetensors", "state.json")}
    assert told["hashes"] == {name: entry["hash"] for name, entry in json.loads((checkpoint / "MANIFEST.json").read_text())["files"].items()}


def test_a_model_says_its_shape_and_vocabulary(tandem, trained):
    told = facts(tandem, trained / "model", "--verify")
    assert told["kind"] == "model" and told["model"]["d_model"] == 32 and told["vocabulary"] == 100
    assert told["parameters"] == numbers(trained / "model/model.safetensors")
    assert facts(tandem, trained / "model/model.safetensors")["numbers"] == told["parameters"]


def test_a_run_lists_its_checkpoints_and_what_would_translate(tandem, trained):
    told = facts(tandem, trained, "--verify")
    assert told["checkpoints"] == ["step-00000003", "step-00000006"] and len(told["best"]) == 2
    assert told["kind"] == "run" and told["model"] == str(trained / "model")
    for path in (trained, trained / "model", trained / "checkpoints/step-00000003"):
        assert tandem("inspect", path).stdout.startswith("kind ")


@pytest.mark.parametrize("file", ["checkpoints/step-00000003/optimizer.safetensors", "checkpoints/step-00000006/model.safetensors",
                                  "model/model.safetensors"])
def test_a_flipped_bit_is_found(tandem, run, file):
    damaged = bytearray((run / file).read_bytes())
    damaged[-5] ^= 1
    (run / file).write_bytes(damaged)
    refused(tandem("inspect", (run / file).parent, "--verify"), (run / file).parent)
    refused(tandem("inspect", run, "--verify"), (run / file).parent)


def test_a_damaged_best_model_is_found(tandem, run):
    worst = max((run / "best").iterdir())  # not the one that translates
    weights = bytearray((worst / "model.safetensors").read_bytes())
    weights[-5] ^= 1
    (worst / "model.safetensors").write_bytes(weights)
    refused(tandem("inspect", run, "--verify"), worst)
    assert tandem("inspect", run).returncode == 0  # nothing was verified


@pytest.mark.parametrize("same_size", [False, True])
def test_a_damaged_state_is_named_without_verify(tandem, run, same_size):
    checkpoint = run / "checkpoints/step-00000003"
    size = (checkpoint / "state.json").stat().st_size
    (checkpoint / "state.json").write_text('{"step": 3}'.ljust(size if same_size else 0))
    refused(tandem("inspect", checkpoint), checkpoint, "state.json", "this checkpoint is not used")


def test_what_is_missing_is_named(tandem, run):
    checkpoint = run / "checkpoints/step-00000003"
    (checkpoint / "MANIFEST.json").unlink()
    refused(tandem("inspect", checkpoint), checkpoint, "MANIFEST.json")
    shutil.copy(run / "model/vocab.model", run / "vocab.model")
    (run / "model/vocab.model").write_text("other")
    refused(tandem("inspect", run / "model", "--verify"), "vocab.model")
    refused(tandem("inspect", run / "best"), "no dataset")
