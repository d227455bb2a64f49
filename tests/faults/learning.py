"""Training that runs away, and training that does not."""

import shutil
import subprocess

import numpy
from safetensors.numpy import load_file

from workshop import TANDEM, scenario

CALM = ("checkpoint.every=20", "checkpoint.keep=20")
# Gradients that overflow every few steps, and a checkpoint after each.
OVERFLOWING = ("precision=fp16", "optim.loss_scale=1073741824", "optim.loss_scale_window=3", "checkpoint.every=1", "checkpoint.keep=50")


@scenario("18", cases=6, short=1)
def divergence(workshop, cases, rng):
    """A learning rate of a hundred times as much from some step on: found, taken back to before it, and trained to the end."""
    latest = 0
    for case in range(cases):
        workers, calm_steps = 1 + case % 2, rng.choice([130, 150, 170])
        run = workshop.run(workers, calm_steps, *CALM)
        run.to_end()
        assert not [line for line in run.lines("event") if line["kind"] == "rollback"], "an alarm in a healthy run"
        wild = workshop.run(workers, calm_steps + 100, *CALM, "optim.lr=1")
        shutil.copytree(run.path, wild.path)
        wild.to_end()
        text = (wild.path / "journal.jsonl").read_text()
        assert '"kind":"rollback"' in text, "divergence was not found"
        event = next(line for line in wild.lines("event") if line["kind"] == "rollback")
        assert event["step"] <= calm_steps, f"went back to step {event['step']}, when the rate had risen already"
        found = int(event["text"].split("diverged at step ")[1].split(",")[0])
        latest = max(latest, found - calm_steps)
        assert 0 < found - calm_steps < 50, f"found only at step {found}"
        assert wild.last_step() == calm_steps + 100
        workshop.forget(run)
        workshop.forget(wild)
    return f"{cases} of {cases} found after {latest} steps at most and taken back"


@scenario("18", cases=20, short=1)
def healthy_runs(workshop, cases, rng):
    """Runs of several seeds, rates and numbers of workers: no alarm of any kind."""
    steps = 0
    for case in range(cases):
        settings = [f"seed={rng.randrange(1, 10_000)}", f"optim.lr={rng.choice([0.002, 0.005, 0.01])}", f"model.dropout={rng.choice([0.0, 0.2])}"]
        run = workshop.run(1 + case % 2, rng.choice([500, 550, 650]), *settings)
        errors = run.to_end()
        alarms = [line["text"] for line in run.lines("event") if line["kind"] in ("rollback", "restart", "straggler")]
        assert not alarms, f"{settings}: {alarms}"
        assert not any(line["skipped"] for line in run.lines("step")), f"{settings}: a step was skipped"
        assert run.starts() == 1 and "stopped answering" not in errors, f"{settings}: {errors}"
        steps += run.last_step()
        workshop.forget(run)
    return f"{cases} runs, {steps} steps, no alarm"


@scenario("17", cases=100, short=3)
def nan_gradients(workshop, cases, rng):
    """NaN or infinity in a gradient of one rank, one number or all, for a step or more: skipped by all alike (train_test) and never saved."""
    test = "TrainerWorkers.AGradientOfOneRankThatIsNotFiniteIsSkippedByAllAlike"
    done = subprocess.run([TANDEM.parent / "train_test", f"--gtest_filter={test}", f"--gtest_repeat={cases}", "--gtest_shuffle",
                           f"--gtest_random_seed={rng.randrange(1, 99_000 - cases)}", "--gtest_brief=1"], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert done.stdout.count("[  PASSED  ] 1 test") == cases, done.stdout[-1000:]
    run = workshop.run(2, 50, *OVERFLOWING)
    run.to_end()
    skipped = sum(line["skipped"] for line in run.lines("step"))
    assert 0 < skipped < 50, f"{skipped} of 50 steps were skipped"
    for path in run.path.rglob("*.safetensors"):
        assert all(numpy.isfinite(values).all() for values in load_file(path).values()), f"{path} holds numbers that are not finite"
    saved = len(run.checkpoints())
    assert saved == 50, f"only {saved} checkpoints"
    workshop.forget(run)
    return f"{cases} of {cases} skipped alike; weights equal and finite on all ranks and in {saved} checkpoints of a run that skipped {skipped}"
