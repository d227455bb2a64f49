"""Files that were damaged on disk, or that it does not give back."""

import shutil
import subprocess

from saves import faulty
from workshop import TANDEM, scenario

STEPS = 10  # two checkpoints, at 5 and at 10


@scenario("13", cases=2200, short=60)
def damaged_checkpoint(workshop, cases, rng):
    """Flipped bits and cut ends anywhere in a checkpoint: each is found and named."""
    run = workshop.run(1, 5)
    run.to_end()
    whole = run.path / "checkpoints/step-00000005"
    files = sorted(p for p in whole.iterdir() if p.is_file())
    broken = workshop.folder / "broken"
    shutil.copytree(whole, broken)
    checker = subprocess.Popen([TANDEM.parent / "tandem_check_checkpoints"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def judged() -> str:
        checker.stdin.write(f"{broken}\n")
        checker.stdin.flush()
        answer = checker.stdout.readline().strip()
        assert answer, "the reader crashed"
        return answer

    assert judged() == "whole"
    for case in range(cases):
        path = broken / rng.choice(files).name
        good = path.read_bytes()
        bad = bytearray(good)
        if case % 11 == 10:
            del bad[rng.randrange(len(bad)):]
        else:
            place = rng.randrange(min(len(bad), 4096)) if rng.random() < 0.5 else rng.randrange(len(bad))
            bad[place] ^= 1 << rng.randrange(8)
        path.write_bytes(bad)
        answer = judged()
        assert answer != "whole", f"damage in {path.name} was not found"
        path.write_bytes(good)
    assert judged() == "whole"
    checker.stdin.close()
    checker.wait()
    shutil.rmtree(broken)
    workshop.forget(run)
    return f"{cases} of {cases} damages found"


def on_bad_disk(workshop, files) -> dict:
    return {"LD_PRELOAD": str(faulty(workshop)), "FAULT_UNREADABLE": str(files), "ASAN_OPTIONS": "verify_asan_link_order=0"}


def pass_over_unreadable(workshop, name):
    """Of the newest checkpoint one file cannot be read."""
    run = workshop.run(1, STEPS)
    run.to_end()
    newest = run.path / f"checkpoints/step-{STEPS:08}"
    errors = run.to_end(on_bad_disk(workshop, newest / name))
    assert f"{newest} cannot be used: cannot read {newest / name}: Input/output error" in errors, f"{name} is not passed over: {errors}"
    assert run.lines("run")[-1]["resumed_from"] == 5, f"{name}: the older checkpoint was not used"
    assert run.result() == workshop.reference(1, STEPS), f"{name}: not resumed exactly"
    workshop.forget(run)


def save_unreadable(workshop, name):
    """While it is being saved one file of the first checkpoint cannot be read back."""
    run = workshop.run(1, STEPS)
    errors = run.to_end(on_bad_disk(workshop, run.path / "checkpoints/.step-00000005.partial" / name))
    assert "could not be saved" in errors and "Input/output error" in errors, errors
    assert run.checkpoints() == [STEPS], f"{name}: the next save does not work"
    assert run.result() == workshop.reference(1, STEPS), f"{name}: training did not go on"
    workshop.forget(run)


@scenario("13", cases=20, short=3)
def unreadable_checkpoint(workshop, cases, rng):
    """A disk that does not give back a file of the newest checkpoint, or of what is being saved: the older one is used, training goes on."""
    whole = [(pass_over_unreadable, name) for name in ("model.safetensors", "optimizer.safetensors", "state.json", "MANIFEST.json")]
    half = [(save_unreadable, name) for name in ("model.safetensors", "optimizer.safetensors", "state.json")]  # the manifest is made of these
    order = rng.sample(whole, len(whole)) + rng.sample(half, len(half))
    order.insert(1, order.pop())  # both kinds in a short run, too
    for case in range(cases):
        meet, name = order[case % len(order)]
        meet(workshop, name)
    return f"{cases} files could not be read: checkpoints were passed over, saves failed alone, and all runs ended exactly"
