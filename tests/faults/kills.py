"""Processes that die, freeze or are told to end."""

import ctypes
import os
import re
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from workshop import Skipped, alive, scenario, wait_until

STEPS, ENDLESS = 150, 1_000_000  # a run that was stopped goes on to the next multiple of STEPS
# Steps of tens of milliseconds that are computing and little else.
BUSY = ("model.d_model=128", "model.ffn=256", "batch.tokens=2000", "eval.every=0", "checkpoint.every=0")


# Of two workers; the first: tandem itself.
LAUNCHERS = [(), ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"),
             (Path(sys.executable).parent / "torchrun", "--standalone", "--no-python", "--nproc-per-node=2")]


@scenario("1", cases=200, short=1)
def kill_ranks(workshop, cases, rng):
    """kill -9 of a random one of 4 local workers at a random moment, a quarter of them rank 0; the run ends by itself."""
    out = back = 0.0
    killed = first = 0
    while killed < cases:
        run = workshop.run(4, STEPS)
        child = run.start()
        for _ in range(min(2, cases - killed)):
            wait_until(lambda: run.new_steps() > 0 or child.poll() is not None, 60, "a first step")
            time.sleep(rng.uniform(0.0, 1.0))
            if child.poll() is not None:
                break  # it was quicker: no case
            seen, victims, saved = run.starts(), run.pids(), max(run.checkpoints(), default=0)
            rank = 0 if killed % 4 == 0 else rng.randrange(1, 4)
            victim = victims[rank]
            if not alive(victim):
                break  # the run is about to end
            os.kill(victim, signal.SIGKILL)
            began = time.monotonic()
            wait_until(lambda: not any(map(alive, victims)), 30, "the others are out")
            out = max(out, time.monotonic() - began)
            wait_until(lambda: child.poll() is not None or (run.starts() > seen and run.new_steps() > 0), 60, "a step again")
            if child.poll() is not None:
                break  # all steps had been done
            back = max(back, time.monotonic() - began)
            assert max(run.checkpoints(), default=0) >= saved, "a checkpoint is gone"
            killed += 1
            first += rank == 0
        _, errors = child.communicate(timeout=300)
        assert child.returncode == 0, errors
        assert run.result() == workshop.reference(4, STEPS), "not the undisturbed run's losses and weights"
        workshop.forget(run)
    workshop.within(out, 2, "the others are out")
    workshop.within(back, 10, "a step again")
    return f"{killed} kills, {first} of rank 0, every end equal to the bit; others out after {out:.1f} s, a step again after {back:.1f} s at most"


@scenario("21", cases=50, short=3)
def kill_launcher(workshop, cases, rng):
    """kill -9 of what started the workers (tandem, mpirun, torchrun): none of them outlives it for long."""
    longest = 0.0
    for case in range(cases):
        run = workshop.run(2, ENDLESS)
        child = run.start(launcher=LAUNCHERS[case % len(LAUNCHERS)])
        wait_until(lambda: run.last_step() > 0, 60, "a first step")
        time.sleep(rng.uniform(0, 0.5))
        workers = run.pids()
        child.kill()
        child.wait()  # orphans would keep its output open
        began = time.monotonic()
        wait_until(lambda: not any(map(alive, workers)), workshop.most(5), "no orphan is left")
        longest = max(longest, time.monotonic() - began)
        workshop.forget(run)
    return f"{cases} launchers killed, no orphan after {longest:.1f} s at most"


@scenario("10", cases=50, short=1)
def sigterm(workshop, cases, rng):
    """SIGTERM or SIGUSR1 to the launcher, to one worker or to all, at any moment: saved, exit 75, resumed exactly."""
    longest = 0.0
    for case in range(cases):
        run = workshop.run(2, ENDLESS)  # so that nothing but the signal ends it
        child = run.start()
        wait_until(lambda: run.starts() > 0, 60, "the journal")  # before it there is nothing to save
        time.sleep(rng.uniform(0, 1.5))
        began, sign = time.monotonic(), rng.choice([signal.SIGTERM, signal.SIGUSR1])
        targets = {0: [child.pid], 1: [rng.choice(run.pids())], 2: [child.pid, *run.pids()]}[case % 3]
        for pid in targets:
            if alive(pid):
                os.kill(pid, sign)
        wait_until(lambda: child.poll() is not None, workshop.most(20), "saved and ended")
        longest = max(longest, time.monotonic() - began)
        _, errors = child.communicate()
        assert child.returncode == 75, f"exit {child.returncode} instead of 75: {errors}"
        last = run.last_step()
        assert last == max(run.checkpoints(), default=0), "the last step is not saved"
        run.end_at((last // STEPS + 1) * STEPS)
        run.to_end()
        assert run.result() == workshop.reference(2, run.steps), "not resumed exactly"
        workshop.forget(run)
    return f"{cases} signals, all saved and resumed to the bit; {longest:.1f} s to the exit at most"


@scenario("6", cases=50, short=1)
def frozen_worker(workshop, cases, rng):
    """SIGSTOP of a worker for ever: it is named with its rank, and the run ends."""
    longest = 0.0
    for _ in range(cases):
        run = workshop.run(3, ENDLESS, "cluster.restarts=0")
        child = run.start()
        wait_until(lambda: run.last_step() > 0, 60, "a first step")
        time.sleep(rng.uniform(0, 0.5))
        rank = rng.randrange(3)
        victim = run.pids()[rank]
        os.kill(victim, signal.SIGSTOP)
        began = time.monotonic()
        said = ""
        while f"rank {rank} (pid {victim})" not in said:
            line = child.stderr.readline()
            assert line, f"rank {rank} is not named: {said}"
            said += line
        longest = max(longest, time.monotonic() - began)
        child.communicate(timeout=60)
        wait_until(lambda: not alive(victim), 20, "the frozen one is gone")
        if rank > 0:  # who else could write it
            assert f"rank {rank} (pid {victim})" in run.lines("end")[-1]["text"], "the journal does not name it"
        workshop.forget(run)
    workshop.within(longest, 10, "the frozen one is named")
    return f"{cases} of {cases} named, after {longest:.1f} s at most"


class Hold(threading.Thread):
    """Stops the main thread of a process and no other, as a driver that never answers would: while it computes or while it waits. One that is
    found at the other is let go and stopped again a little later."""

    SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000  # PTRACE_..., __WALL: the system's numbers

    def __init__(self, pid: int, waits: bool):
        super().__init__(daemon=True)
        self.pid, self.waits, self.held, self.refused = pid, waits, threading.Event(), ""

    def trace(self, request: int):
        if ctypes.CDLL(None, use_errno=True).ptrace(request, self.pid, None, None) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def stop_it(self):
        self.trace(self.SEIZE)
        self.trace(self.INTERRUPT)
        os.waitpid(self.pid, self.WALL)

    def found_waiting(self) -> bool:
        return not Path(f"/proc/{self.pid}/syscall").read_text().startswith("-1")

    def run(self):
        try:
            self.stop_it()
            while self.found_waiting() != self.waits:
                self.trace(self.DETACH)
                time.sleep(0.02)
                self.stop_it()
        except OSError as why:
            self.refused = str(why)
        self.held.set()
        while not self.refused:  # a traced process is gone only when its tracer has heard of its end
            try:
                _, status = os.waitpid(self.pid, self.WALL)
            except ChildProcessError:
                return
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                return


@dataclass(frozen=True)
class StuckIn:
    """Where a worker is stopped: settings under which it is there most of the time, and what is then told."""

    settings: tuple
    waits: bool
    phases: tuple
    ranks: tuple = (0, 1)
    patience: int = 1  # times cluster.stuck_timeout


# A model that learns nothing, so that its translations stay long, and next to no text to train on.
EVALUATING = ("optim.lr=1.0e-9", "batch.tokens=100", "eval.every=1", "eval.beam=8", "checkpoint.every=0", "checkpoint.best=0")
# A large model and next to no text: rank 0 waits for its disk.
SAVING = ("model.d_model=512", "model.ffn=2048", "batch.tokens=100", "eval.every=0", "checkpoint.every=1", "optim.ema=0")
STUCK_IN = {
    "a step": StuckIn(BUSY, False, ("forward and backward", "update")),
    "an exchange": StuckIn(BUSY, True, ("exchange", "end of step")),
    "an evaluation": StuckIn(EVALUATING, True, ("evaluation",)),
    "a save": StuckIn(SAVING, True, ("saving",), (0,), 10),
}


def stop_one(workshop, rng, where: StuckIn, limit: int):
    """Seconds until the stopped worker was given up, and the phase in which it was."""
    run = workshop.run(2, ENDLESS, *where.settings, f"cluster.stuck_timeout={limit}")
    child = run.start()
    wait_until(lambda: run.last_step() > 5, 120, "some steps")  # so that it is known how long they take
    time.sleep(rng.uniform(2, 3))
    rank, seen = rng.choice(where.ranks), run.starts()
    victim = run.pids()[rank]
    hold = Hold(victim, where.waits)
    hold.start()
    hold.held.wait()
    if hold.refused:
        raise Skipped(f"ptrace: {hold.refused}")
    began = time.monotonic()
    # Phases are told once in a second, so the shortest step looks like one.
    longest_step = max(1, *(line["seconds"]["total"] for line in run.newest_start() if line["type"] == "step"))
    wait_until(lambda: run.starts() > seen, 30 + where.patience * limit + 15 * longest_step, f"rank {rank} is given up")
    took = time.monotonic() - began
    told = lambda: [line["text"] for line in run.newest_start() if line["type"] == "event" and line["kind"] == "restart"]
    cause = wait_until(told, 10, "the cause in the journal")[0]
    found = re.search(rf"rank {rank} \(pid {victim}\) answers, but is stuck in phase (.*) at step \d+$", cause)
    assert found, cause
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert child.returncode == 75, f"exit {child.returncode}"
    workshop.forget(run)
    return took, found[1]


@scenario("6", cases=20, short=4)
def stuck_worker(workshop, cases, rng):
    """A worker whose main thread stops in a step, an exchange, an evaluation or a save while its heartbeat goes on: named, started again."""
    limit, longest = 2, dict.fromkeys(STUCK_IN, 0.0)
    for case in range(cases):
        name = list(STUCK_IN)[case % len(STUCK_IN)]
        for _ in range(8):
            took, phase = stop_one(workshop, rng, STUCK_IN[name], limit)
            if phase in STUCK_IN[name].phases:
                break  # else it had left just before, and was found all the same
        else:
            raise AssertionError(f"no worker was stopped in {name}, the last one in {phase}")
        longest[name] = max(longest[name], took)
    workshop.within(max(longest.values()), 40, "the stuck one is named and started again")
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in longest.items() if seconds)
    return f"{cases} of {cases} named and started again, after at most: {times} (cluster.stuck_timeout={limit})"


class Brake(threading.Thread):
    """Lets a process run for a share of the time only, as a hot or shared processor would."""

    def __init__(self, pid: int, share: float):
        super().__init__()
        self.pid, self.share, self.over = pid, share, threading.Event()
        self.running = self.stopped = 0.0  # seconds so far

    def run(self):
        then = time.monotonic()
        while not self.over.is_set() and alive(self.pid):
            for sign, share in ((signal.SIGSTOP, 1 - self.share), (signal.SIGCONT, self.share)):
                os.kill(self.pid, sign)
                time.sleep(0.02 * share)
                now = time.monotonic()
                if sign == signal.SIGSTOP:
                    self.stopped += now - then
                else:
                    self.running += now - then
                then = now

    def factor(self) -> float:
        return (self.running + self.stopped) / self.running

    def release(self):
        self.over.set()
        self.join()


@scenario("7", cases=50, short=1)
def slow_worker(workshop, cases, rng):
    """A worker that may run for a share of the time only: named with its rank, and by how much it is slow; then that it is over."""
    longest = worst = 0.0
    for _ in range(cases):
        run = workshop.run(2, ENDLESS, *BUSY)
        child = run.start()
        wait_until(lambda: run.last_step() > 0, 60, "a first step")
        time.sleep(rng.uniform(0, 1))
        rank = rng.randrange(2)
        words = lambda: [line["text"] for line in run.lines("event") if line["kind"] == "straggler"]
        brake = Brake(run.pids()[rank], rng.uniform(0.25, 0.65))
        began = time.monotonic()
        brake.start()
        try:
            told = wait_until(words, 60, f"rank {rank} is slow by {1 / brake.share:.1f}x")
            longest = max(longest, time.monotonic() - began)
        finally:
            brake.release()
        assert f"rank {rank} (" in told[0] and "is slow" in told[0], f"{told} instead of rank {rank}"
        said = float(re.search(r"([\d.]+)x the median", told[0])[1])
        worst = max(worst, abs(said / brake.factor() - 1), key=abs)
        wait_until(lambda: len(words()) > 1, 60, "the end of it")
        assert f"rank {rank} (" in words()[1] and "no longer slow" in words()[1], words()
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)
        workshop.forget(run)
    workshop.within(longest, 10, "the slow one is named")
    workshop.within(100 * worst, 20, "the factor is off", "%")
    return f"{cases} of {cases} named, after {longest:.1f} s at most; the factor is told within {100 * worst:.0f} %"
