"""Everything together, for long."""

import contextlib
import os
import signal
import subprocess
import time

import lab as laboratory
from workshop import QUIET, Run, alive, scenario, wait_until

FAULTS_APART = (20, 200)  # steps
ENDLESS = 10**8  # steps
CASES, MINUTES = 500, 120  # of the full form, both at least
FAULTS = ["kill", "kill rank 0", "sigterm", "launcher", "damage", "pause", "frozen", "full disk", "cable"]
DISK = "16m"  # a dozen of the run's checkpoints


class Soak:
    """A run with two workers, its launcher, and a disk and hosts of its own to spoil."""

    def __init__(self, run: Run, lab, rng):
        self.run, self.lab, self.rng = run, lab, rng
        self.disk = run.path / "checkpoints"
        self.starts = -1
        self.start()

    def start(self):
        self.starts += 1
        self.child = self.run.start()

    def ended(self) -> bool:
        return self.child.poll() is not None

    def stop(self, sign):
        workers = self.run.pids()
        self.child.send_signal(sign)
        self.child.communicate(timeout=60)
        wait_until(lambda: not any(map(alive, workers)), 30, "the workers are out")

    def do(self, fault: str):
        workers, seen = self.run.pids(), self.run.starts()
        if fault == "pause":
            os.kill(workers[-1], signal.SIGSTOP)
            time.sleep(3)
            os.kill(workers[-1], signal.SIGCONT)
            return
        if fault == "full disk":
            return self.fill_disk()
        if fault.startswith("kill"):
            os.kill(workers[0 if fault == "kill rank 0" else -1], signal.SIGKILL)
        elif fault == "frozen":
            os.kill(self.rng.choice(workers), signal.SIGSTOP)
        else:
            self.stop(signal.SIGTERM if fault in ("sigterm", "cable") else signal.SIGKILL)
            if fault == "damage" and len(self.run.checkpoints()) > 1:
                newest = self.disk / f"step-{max(self.run.checkpoints()):08}/model.safetensors"
                newest.write_bytes(newest.read_bytes()[:-1])
            if fault == "cable":
                self.lose_a_host()
            seen = self.run.starts()
            self.start()
        wait_until(lambda: self.run.starts() > seen or self.ended(), 120, f"a start after {fault}")

    def fill_disk(self):
        """Until three saves have failed."""
        failed = lambda: (self.run.path / "journal.jsonl").read_bytes().count(b"could not be saved")
        before, saved = failed(), max(self.run.checkpoints(), default=0)
        filler = self.disk / "filler"
        with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as out:
            while True:
                out.write(bytes(4096))
        wait_until(lambda: failed() >= before + 3, 120, "failed saves")
        assert max(self.run.checkpoints()) >= saved, "a checkpoint is gone"
        filler.unlink()
        wait_until(lambda: max(self.run.checkpoints()) > saved, 120, "a save with room again")

    def lose_a_host(self):
        """The same run goes on with its two workers on two hosts for a moment, which then lose each other."""
        env = {"WORLD_SIZE": 2, "MASTER_ADDR": self.lab.address["host-a"], "MASTER_PORT": 29500, "TANDEM_TOKEN": "a secret of the team", **QUIET}
        command = [part for part in self.run.command if part not in ("--workers", "2")]
        command += ["cluster.mode=exact", "cluster.wire=fp32"]
        workers = [self.lab.start(name, command, {"RANK": rank, **env}) for rank, name in enumerate(self.lab.names)]
        ended = lambda: all(worker.poll() is not None for worker in workers)
        apart, seen = self.rng.randint(1, 40), self.run.starts()
        try:
            wait_until(lambda: ended() or (self.run.starts() > seen and self.run.new_steps() >= apart), 120, "steps on two hosts")
        except AssertionError as late:
            for worker in workers:
                worker.terminate()
            raise AssertionError(f"{late}; {self.run.starts() - seen} starts; they said {[worker.communicate(timeout=60)[0] for worker in workers]}") from late
        self.lab.pull_cable("host-b")
        wait_until(ended, 45, "both hosts end")
        self.lab.plug_in("host-b")
        for worker in workers:
            said = worker.communicate()[0]
            self.lab.forget(worker)
            assert worker.returncode == 3, f"exit {worker.returncode}: {said}"

    def finish(self):
        """A few steps after the last fault."""
        wait_until(lambda: self.run.new_steps() >= FAULTS_APART[1] or self.ended(), 600, "steps after the last fault")
        assert not self.ended(), self.child.communicate()[1]
        self.stop(signal.SIGTERM)
        self.run.end_at(self.run.last_step() + FAULTS_APART[1])
        self.start()
        _, errors = self.child.communicate(timeout=300)
        assert self.child.returncode == 0, errors


def may_mount(disk) -> bool:
    disk.mkdir(parents=True)
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", disk], capture_output=True).returncode == 0


@scenario("25", cases=CASES, short=2)
def soak(workshop, cases, rng):
    """Random faults one after the other (a case each), in the full form for two hours, against one run that must end as an undisturbed one does."""
    run = workshop.run(2, ENDLESS)
    kinds, done, files, began = list(FAULTS), [], set(), time.monotonic()
    minutes = lambda: (time.monotonic() - began) / 60
    with contextlib.ExitStack() as cleanup:
        if may_mount(run.path / "checkpoints"):
            cleanup.callback(subprocess.run, ["umount", "--lazy", run.path / "checkpoints"])
        else:
            kinds.remove("full disk")
        if laboratory.missing():
            kinds.remove("cable")
            lab = None
        else:
            lab = cleanup.enter_context(laboratory.Lab(2, "1gbit", workshop.folder / "soak-lab"))
        cleanup.callback(Run.end_all)
        soaked = Soak(run, lab, rng)
        while len(done) < cases or (cases >= CASES and minutes() < MINUTES):
            pause = rng.randint(*FAULTS_APART)
            wait_until(lambda: run.new_steps() >= pause or soaked.ended(), 600, f"{pause} steps")
            assert not soaked.ended(), f"it ended after {len(done)} faults: {soaked.child.communicate()[1]}"
            files.add(len(os.listdir(f"/proc/{run.pids()[0]}/fd")))
            done.append(rng.choice(kinds))
            soaked.do(done[-1])
        faults_took = minutes()
        soaked.finish()
        assert run.result() == workshop.reference(2, run.steps), "not the undisturbed run"
    assert max(files) - min(files) < 5, f"open files of rank 0 grow: {sorted(files)}"
    workshop.forget(run)
    counts = ", ".join(f"{done.count(kind)} {kind}" for kind in sorted(set(done)))
    return (f"{len(done)} faults ({counts}) in {faults_took:.0f} min, {run.steps} steps, {soaked.starts} starts by the same command, "
            f"{min(files)} to {max(files)} open files; the end is equal to the bit")
