"""Saves that are cut off or refused at every single call."""

import re
import subprocess
from pathlib import Path

from workshop import scenario

HERE = Path(__file__).resolve().parent
STEPS = 10  # two checkpoints, at 5 and at 10
SAVED = ("checkpoints", "best", "model", ".model.partial", "config.yaml")  # what a run appends to has tests of its own


def faulty(workshop) -> Path:
    library = workshop.folder / "fail_call.so"
    if not library.exists():
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "fail_call.c", "-ldl"], check=True)
    return library


def environment(workshop, run, **more) -> dict:
    below = ":".join(str(run.path / name) for name in SAVED)
    return {"LD_PRELOAD": str(faulty(workshop)), "FAULT_BELOW": below, "ASAN_OPTIONS": "verify_asan_link_order=0", **more}


def undisturbed(workshop) -> tuple:
    """Names of the calls of a run, and the models that it leaves."""
    run = workshop.run(1, STEPS)
    names = workshop.folder / "calls"
    names.write_text("")
    run.to_end(environment(workshop, run, FAULT_CALLS=str(names)))
    calls, models = names.read_text().split(), models_of(run)
    assert len(calls) > 20, f"only {calls} were seen: the library does not stand before the program"
    assert len(models) > 1, f"only {[*models]}"
    workshop.forget(run)
    return calls, models


def models_of(run) -> dict:
    return {str(path.relative_to(run.path)): path.read_bytes() for name in ("best", "model") for path in (run.path / name).rglob("*.safetensors")}


def some(points: list, cases: int, rng) -> list:
    """Every one when there are cases enough."""
    return points if cases >= len(points) else sorted(rng.sample(points, cases))


@scenario("2", cases=10_000, short=3)
def kill_in_save(workshop, cases, rng):
    """kill -9 at every call that changes checkpoints, models or the settings beside them: old or new, never none, and exact from there."""
    calls, models = undisturbed(workshop)
    chosen = some(list(range(1, len(calls) + 1)), cases, rng)
    for point in chosen:
        run = workshop.run(1, STEPS)
        child = run.start(environment(workshop, run, FAULT_AT=str(point), FAULT_HOW="kill"))
        child.communicate(timeout=120)
        assert child.returncode == -9, f"call {point} was not reached"
        before = run.checkpoints()
        errors = run.to_end()
        assert "cannot be used" not in errors, f"call {point} left a broken checkpoint: {errors}"
        resumed = run.lines("run")[-1]["resumed_from"]
        assert resumed == (max(before) if before else None), f"call {point}: resumed from {resumed}, there were {before}"
        assert run.result() == workshop.reference(1, STEPS), f"call {point}: not resumed exactly"
        assert models_of(run) == models, f"call {point}: other models"
        left = [str(path.relative_to(run.path)) for path in run.path.rglob("*") if path.suffix in (".partial", ".tmp")]
        assert not left, f"call {point}: {left} of the killed save are still there"
        workshop.forget(run)
    return f"killed at {len(chosen)} of {len(calls)} calls of a save: always the newest whole checkpoint, always exact"


@scenario("4, 5", cases=10_000, short=3)
def failing_save(workshop, cases, rng):
    """No space, an I/O error and a short write at every call: training goes on, and nothing old is lost."""
    calls, models = undisturbed(workshop)
    faults = [(point, how) for point, call in enumerate(calls, 1) for how in ("ENOSPC", "EIO", "short") if how != "short" or call == "write"]
    chosen = some(faults, cases, rng)
    survived = 0
    for point, how in chosen:
        where = f"{how} at call {point}"
        run = workshop.run(1, STEPS)
        child = run.start(environment(workshop, run, FAULT_AT=str(point), FAULT_HOW=how))
        _, errors = child.communicate(timeout=120)
        # Only a failure before the first step, of the very last save and of the model made at the end may end the run, and it says so.
        cannot = child.returncode == 3 and re.search("^tandem: cannot (create|write|sync|rename)", errors, re.M)
        assert cannot or child.returncode == 0 or (child.returncode == 3 and "could not be saved" in errors), f"{where}: {errors}"
        survived += child.returncode == 0
        assert run.last_step() in ((0, STEPS) if cannot else (STEPS,)), f"{where}: training did not go on"
        run.to_end()
        assert run.result() == workshop.reference(1, STEPS), f"{where}: not the undisturbed run"
        assert models_of(run) == models, f"{where}: other models: {errors}"
        workshop.forget(run)
    return f"{len(chosen)} faults at {len(calls)} calls, {survived} runs ended as if nothing had been, the others said what could not be saved"
