"""train: what a run keeps, and what begins anew, when it is resumed with changed settings or went back to an earlier checkpoint."""

import math
import re
import shutil
import signal

import pytest
from test_train import Run, data, make_run, refused  # noqa: F401

CALM = ("checkpoint.every=20", "checkpoint.keep=40", "eval.sentences=1", "log.every=100", "optim.ema=0")
WILD = ("optim.schedule=transformer_policy", "optim.lr=1e5")


def events(run, kind):
    return [line["text"] for line in run.raw_lines() if line["type"] == "event" and line["kind"] == kind]


def best_steps(run):
    return sorted(int(path.name.split("-")[-1]) for path in (run.path / "best").iterdir())


def test_another_label_smoothing_is_no_divergence(make_run):
    run = make_run()
    calm = (*CALM, "eval.every=0", "checkpoint.every=10")
    run.train(*calm, "optim.label_smoothing=0", "stop.steps=120")
    before = run.checkpoints()
    run.train(*calm, "optim.label_smoothing=0.4", "stop.steps=150")
    assert not events(run, "rollback") and run.checkpoints()[:12] == before and max(run.losses()) == 150


def test_who_went_back_too_often_and_lowers_the_rate_has_the_rate_that_is_set_and_keeps_best_models(make_run):
    run = make_run()
    calm = (*CALM, "eval.every=20", "checkpoint.best=1")
    run.train(*calm, "stop.steps=400")
    best_before = best_steps(run)
    done = run.train(*calm, *WILD, "stop.steps=700", code=2)
    refused(done, "it went back 3 times already", "delete the checkpoints after step-")
    last = re.search(r"went back to (step-\d+)", events(run, "rollback")[-1])[1]
    for name in run.checkpoints():
        if name > last:
            shutil.rmtree(run.path / "checkpoints" / name)
    step = int(last[5:])
    assert step < best_before[0]  # the best model of then is of a course that was left
    # Weights stay as they are: no evaluation is better than those before.
    done = run.train(*calm, "optim.lr=1e-30", f"stop.steps={step + 40}")
    assert "the learning rate is as set" in done.stderr
    later = [line for line in run.lines("step") if line["step"] > step]
    assert len(later) == 40 and all(line["lr"] == pytest.approx(1e-30 * math.sqrt(5 / line["step"])) for line in later)
    assert len(best_steps(run)) == 1 and best_steps(run)[0] > step
    assert f"model is the best by validation loss, of step {best_steps(run)[0]}" in events(run, "model")[-1]


def test_best_models_of_another_run_are_not_those_of_this_one(make_run):
    run, other = make_run(), make_run("other")
    run.train("stop.steps=10", "optim.ema=0")
    # Weights stay as they are: no evaluation is better than those of the other run.
    other.train("--resume", run.path / "checkpoints/step-00000010", "optim.ema=0", "optim.lr=1e-30", "stop.steps=20")
    assert best_steps(other) == [15, 20]
    assert "model is the best by validation loss, of step 15" in events(other, "model")[-1]


def test_another_validation_part_has_best_models_and_patience_of_its_own(make_run, tandem, data, tmp_path):
    run, text = make_run(), data.parent
    run.train("stop.steps=10")
    done = tandem("prepare", "--src", text / "train.src", "--tgt", text / "train.tgt", "--valid-src", text / "valid.tgt", "--valid-tgt",
                  text / "valid.src", "--out", tmp_path / "other", "--vocab", data / "vocab.model")
    assert done.returncode == 0, done.stderr
    assert best_steps(run) == [5, 10]
    run.data = tmp_path / "other"
    done = run.train("stop.steps=15")
    assert "the validation part is another one: best models and patience begin anew" in done.stderr
    assert best_steps(run) == [10, 15]  # judged again where it went on
    judged = {line["step"]: line["val_loss"] for line in run.raw_lines() if line["type"] == "eval"}
    assert {path.name for path in (run.path / "best").iterdir()} == {f"val_loss={judged[step]:.4f}-step-{step}" for step in (10, 15)}
    assert "another one" not in run.train("stop.steps=16").stderr


def test_the_advice_after_an_early_divergence_can_be_followed(make_run):
    run = make_run()
    wild = ("optim.schedule=transformer_policy", "optim.lr=1e30", "optim.clip=0", "checkpoint.every=1")
    refused(run.train(*wild, code=2), "diverged", "another run=", "delete all its checkpoints and add --resume never")
    for name in run.checkpoints():
        shutil.rmtree(run.path / "checkpoints" / name)
    run.train("--resume", "never", "stop.steps=5")
    assert run.checkpoints() == ["step-00000005"]


def test_a_fixed_loss_scale_that_is_too_high_can_be_lowered(make_run):
    run = make_run()
    fp16 = ("precision=fp16", "optim.loss_scaling=fixed", "eval.every=0", "checkpoint.every=1")
    refused(run.train(*fp16, "optim.loss_scale=1073741824", "stop.steps=60", code=2), "diverged", "lower optim.loss_scale")
    newest = int(run.checkpoints()[-1][5:])
    run.train(*fp16, "optim.loss_scale=128", f"stop.steps={newest + 5}")
    later = [line for line in run.lines("step") if line["step"] > newest]
    assert len(later) == 5 and all(line["loss_scale"] == 128 and not line["skipped"] for line in later)


def test_what_has_no_effect_on_a_resumed_run_is_told_so(make_run):
    run, other = make_run(), make_run("other")
    run.train("stop.steps=5")
    shutil.copytree(run.path, other.path)
    done = other.train(f"start_from={run.path}", "stop.steps=6")
    assert "start_from has no effect" in done.stderr and "start_from was" not in done.stderr


@pytest.mark.parametrize("resume", ["never", "named"])
def test_who_was_stopped_is_told_how_to_go_on(make_run, resume):
    run, first = make_run(), make_run("first")
    if resume == "named":
        first.train("stop.steps=1")
    how = ("--resume", "never" if resume == "never" else first.path / "checkpoints/step-00000001")
    child = run.start(*how, "stop.steps=1000000")
    run.wait_for_step(child, 3)
    child.send_signal(signal.SIGTERM)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 75 and "run the same command without --resume to go on" in stderr, stderr
    refused(run.train(*how, code=2), "leave --resume out to go on")
    run.train(f"stop.steps={int(run.checkpoints()[-1][5:]) + 1}")


def test_pairs_that_no_loss_counts_are_told(make_run):
    run = make_run()
    run.train("stop.steps=1", "data.max_length=20", "model.max_positions=20")
    told = [text for text in events(run, "warning") if "validation pair" in text]
    assert len(told) == 1 and re.match(r"\d+ validation pairs? (is|are) longer than model.max_positions=20 and left out of the loss", told[0])
    other = make_run("other")
    other.train("stop.steps=1")
    assert not [text for text in events(other, "warning") if "validation pair" in text]
