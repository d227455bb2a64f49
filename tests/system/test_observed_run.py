"""What real runs leave for those who watch them: samples, TensorBoard's files, a report with the right verdicts."""

import json

import pytest

CONFIG = """
threads: 1
model: {preset: tiny, d_model: 64, heads: 2, ffn: 128, encoder_layers: 1, decoder_layers: 1, dropout: 0.0}
data: {max_length: 64}
batch: {tokens: 700}
optim: {schedule: inverse_sqrt, lr: 0.005, warmup_steps: 20, label_smoothing: 0.0}
eval: {beam: 1, sentences: 5, samples: 3}
checkpoint: {every: 1000}
"""
QUIET = {"OMP_WAIT_POLICY": "passive"}


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(200) / "data"


@pytest.fixture
def trained(tandem, data, tmp_path):
    def train(*settings):
        (tmp_path / "config.yaml").write_text(CONFIG)
        done = tandem("train", tmp_path / "config.yaml", f"data.path={data}", f"run={tmp_path / 'run'}", *settings, env=QUIET)
        assert done.returncode == 0, done.stderr
        return tmp_path / "run"
    return train


def verdicts(run):
    report = json.loads((run / "report.json").read_text())
    assert len(report["answers"]) == 11
    return {finding["key"]: finding for finding in report["findings"]}


def test_a_run_that_goes_on_too_long_is_called_overfitted(trained):
    run = trained("stop.steps=400", "eval.every=40")
    found = verdicts(run)
    assert found["overfitting"]["class"] == "yes", found["overfitting"]
    assert found["network"]["class"] == "no"
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    assert any(line["type"] == "event" and line["kind"] == "verdict" and "overfitting" in line["text"] for line in lines)
    seconds = lines[-1]["time"] - lines[0]["time"]
    samples = [line for line in lines if line["type"] == "system"]
    assert len(samples) >= seconds / 2 - 2 and all(line["process_cores"] >= 0 for line in samples)
    assert len(list((run / "tensorboard").iterdir())) == 1
    assert (run / "report.html").stat().st_size < 3_000_000


def test_a_run_that_ends_too_early_is_called_unfinished(trained):
    found = verdicts(trained("stop.steps=40", "eval.every=5"))
    assert found["fully_trained"]["class"] == "no", found["fully_trained"]
    assert found["overfitting"]["class"] == "no", found["overfitting"]


def test_the_loss_on_training_data_is_of_pairs_that_are_trained_on(trained):
    run = trained("stop.steps=300", "eval.every=0", "data.max_length=16", "batch.tokens=400", "log.every=100")
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    last = [line["nll"] for line in lines if line["type"] == "step"][-20:]
    judged = [line for line in lines if line["type"] == "eval"][-1]
    assert judged["train_loss"] == pytest.approx(sum(last) / len(last), abs=0.2)
    assert judged["val_loss"] > judged["train_loss"] + 1
