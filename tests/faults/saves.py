"""Saves that are cut off or refused at every single call."""

import subprocess
from pathlib import Path

from workshop import scenario

HERE = Path(__file__).resolve().parent
STEPS = 10  # two checkpoints, at 5 and at 10


def faulty(workshop) -> Path:
    library = workshop.folder / "fail_call.so"
    if not library.exists():
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "fail_call.c", "-ldl"], check=True)
    return library


def environment(workshop, run, **more) -> dict:
    return {"LD_PRELOAD": str(faulty(workshop)), "FAULT_BELOW": str(run.path / "checkpoints"), "ASAN_OPTIONS": "verify_asan_link_order=0", **more}


def calls_of_a_run(workshop) -> int:
    run = workshop.run(1, STEPS)
    count = workshop.folder / "calls"
    run.to_end(environment(workshop, run, FAULT_COUNT=str(count)))
    calls = int(count.read_text())
    assert calls > 20, f"only {calls} calls were seen: the library does not stand before the program"
    workshop.forget(run)
    return calls


def points(workshop, cases, rng) -> list:
    """Every call when there are cases enough, else some."""
    calls = calls_of_a_run(workshop)
    return list(range(1, calls + 1)) if cases >= calls else sorted(rng.sample(range(1, calls + 1), cases))


@scenario("2", cases=10_000, short=3)
def kill_in_save(workshop, cases, rng):
    """kill -9 at every call that changes files of checkpoints: old or new, never none, and exact from there."""
    chosen = points(workshop, cases, rng)
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
        workshop.forget(run)
    return f"killed at {len(chosen)} calls of a save: always the newest whole checkpoint, always exact"


@scenario("4, 5", cases=10_000, short=3)
def failing_save(workshop, cases, rng):
    """No space, an I/O error or a short write at every call: training goes on, and nothing old is lost."""
    chosen = points(workshop, cases, rng)
    survived = 0
    for point in chosen:
        how = rng.choice(["ENOSPC", "EIO", "short"])
        run = workshop.run(1, STEPS)
        child = run.start(environment(workshop, run, FAULT_AT=str(point), FAULT_HOW=how))
        _, errors = child.communicate(timeout=120)
        # Only a failure to make the folder, before the first step, and of the very last save may end the run, and it says so.
        refused = child.returncode == 3 and errors.startswith("tandem: cannot create")
        assert refused or child.returncode == 0 or (child.returncode == 3 and "could not be saved" in errors), f"call {point}, {how}: {errors}"
        survived += child.returncode == 0
        assert run.last_step() == (0 if refused else STEPS), f"call {point}, {how}: training did not go on"
        run.to_end()
        assert run.result() == workshop.reference(1, STEPS), f"call {point}, {how}: not the undisturbed run"
        workshop.forget(run)
    return f"{len(chosen)} calls failed, {survived} runs ended as if nothing had been, the others said what could not be saved"
