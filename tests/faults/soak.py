"""Everything together, for long."""

import os
import signal
import time

from workshop import alive, scenario, wait_until

FAULTS_APART = (20, 200)  # steps


@scenario("25", cases=500, short=1)
def soak(workshop, cases, rng):
    """Random faults one after the other (a case each) against one run that must end by itself as an undisturbed one does."""
    steps = (FAULTS_APART[1] + 20) * cases
    run = workshop.run(2, steps)
    began, faults, starts, files = time.monotonic(), [], 0, set()
    child = run.start()

    def go_on():
        nonlocal child, starts
        starts += 1
        child = run.start()

    for _ in range(cases):
        apart = rng.randint(*FAULTS_APART)
        wait_until(lambda: run.new_steps() >= apart or child.poll() is not None, 600, f"{apart} steps")
        assert child.poll() is None, f"it ended after {len(faults)} faults: {child.communicate()[1]}"
        fault = rng.choice(["kill", "kill rank 0", "sigterm", "launcher", "damage", "pause", "frozen"])
        workers = run.pids()
        files.add(len(os.listdir(f"/proc/{workers[0]}/fd")))
        faults.append(fault)
        seen = run.starts()
        if fault.startswith("kill"):
            os.kill(workers[0 if fault == "kill rank 0" else -1], signal.SIGKILL)
        elif fault == "frozen":
            os.kill(rng.choice(workers), signal.SIGSTOP)
        elif fault == "pause":
            os.kill(workers[-1], signal.SIGSTOP)
            time.sleep(3)
            os.kill(workers[-1], signal.SIGCONT)
        else:
            child.send_signal(signal.SIGTERM if fault == "sigterm" else signal.SIGKILL)
            child.communicate(timeout=60)
            wait_until(lambda: not any(map(alive, workers)), 30, "the workers are out")
            if fault == "damage" and len(run.checkpoints()) > 1:
                newest = run.path / f"checkpoints/step-{max(run.checkpoints()):08}/model.safetensors"
                newest.write_bytes(newest.read_bytes()[:-1])
            go_on()
        if fault != "pause":
            wait_until(lambda: run.starts() > seen or child.poll() is not None, 120, f"a start after {fault}")
    while child.poll() is None or child.returncode != 0:
        _, errors = child.communicate(timeout=300 + steps)
        if child.returncode == 0:
            break
        assert child.returncode == 75, errors
        go_on()
    assert run.result() == workshop.reference(2, steps), "not the undisturbed run"
    assert max(files) - min(files) < 5, f"open files of rank 0 grow: {sorted(files)}"
    workshop.forget(run)
    counts = ", ".join(f"{faults.count(kind)} {kind}" for kind in sorted(set(faults)))
    return f"{len(faults)} faults ({counts}) in {(time.monotonic() - began) / 60:.0f} min, {starts} starts by the same command, {min(files)} to {max(files)} open files; the end is equal to the bit"
