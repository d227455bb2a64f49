"""Hosts that lose each other (tests/lab)."""

import shutil
import time
from pathlib import Path

import lab as laboratory
from workshop import CONFIG, QUIET, TANDEM, Skipped, scenario, wait_until

STEPS, ENDLESS = 20, 1_000_000  # a run that was cut goes on to the next multiple of STEPS
SETTINGS = ("cluster.mode=exact", "cluster.wire=fp32", "cluster.join_timeout=7", "checkpoint.every=1")


class TwoHosts:
    """A worker on each of two hosts with disks of their own, started by hand."""

    def __init__(self, workshop, lab):
        self.lab, self.workers, self._references = lab, [], {}
        for name in lab.names:
            shutil.copytree(workshop.data, lab.folder / name / "data")
            (lab.folder / name / "config.yaml").write_text(CONFIG)

    def start(self, run: str, steps: int):
        command = [TANDEM, "train", self.lab.disk / "config.yaml", f"data.path={self.lab.disk}/data", f"run={self.lab.disk}/{run}",
                   f"stop.steps={steps}", *SETTINGS]
        common = {"WORLD_SIZE": 2, "MASTER_ADDR": self.lab.address["host-a"], "MASTER_PORT": 29500, "TANDEM_TOKEN": "a secret of the team", **QUIET}
        self.workers = [self.lab.start(name, command, {"RANK": rank, **common}) for rank, name in enumerate(self.lab.names)]

    def to_end(self, run: str, steps: int):
        self.start(run, steps)
        codes = self.codes()
        assert codes == [0, 0], f"exit {codes}: {self.said}"

    def ended(self) -> bool:
        return all(worker.poll() is not None for worker in self.workers)

    def codes(self) -> list:
        self.said = [worker.communicate(timeout=120)[0] for worker in self.workers]
        for worker in self.workers:
            self.lab.forget(worker)
        return [worker.returncode for worker in self.workers]

    def folder(self, host: str, run: str) -> Path:
        return self.lab.folder / host / run

    def saved(self, run: str) -> int:
        """The newest step of rank 0's checkpoints."""
        return max((int(p.name[5:]) for p in self.folder("host-a", run).glob("checkpoints/step-*")), default=0)

    def result(self, run: str, steps: int) -> list:
        last = self.folder("host-a", run) / f"checkpoints/step-{steps:08}"
        return [(last / name).read_bytes() for name in ("model.safetensors", "optimizer.safetensors")]

    def reference(self, steps: int) -> list:
        """Result of an undisturbed run."""
        if steps not in self._references:
            self.to_end(f"reference-{steps}", steps)
            self._references[steps] = self.result(f"reference-{steps}", steps)
        return self._references[steps]


@scenario("8", cases=50, short=1)
def partition(workshop, cases, rng):
    """A cable between two hosts is pulled at any moment: both sides end, only rank 0's has checkpoints, and the run goes on exactly."""
    if why := laboratory.missing():
        raise Skipped(why)
    longest = 0.0
    with laboratory.Lab(2, "1gbit", workshop.folder / "lab") as lab:
        hosts = TwoHosts(workshop, lab)
        for case in range(cases):
            run = f"run-{case}"
            journal = hosts.folder("host-a", run) / "journal.jsonl"
            hosts.start(run, ENDLESS)  # so that nothing but the cable ends it
            if case % 3 != 2:  # else while they meet
                wait_until(lambda: hosts.ended() or (journal.exists() and '"type":"step"' in journal.read_text()), 60, "a first step")
            time.sleep(rng.uniform(0, 1.5))
            assert not hosts.ended(), f"it ended before the cable was pulled: {hosts.codes()}, {hosts.said}"
            lab.pull_cable("host-b")
            began = time.monotonic()
            wait_until(hosts.ended, workshop.most(10), "both sides are out")
            longest = max(longest, time.monotonic() - began)
            codes = hosts.codes()
            assert codes == [3, 3], f"exit {codes} instead of 3 for both: {hosts.said}"
            lab.plug_in("host-b")
            end = (hosts.saved(run) // STEPS + 1) * STEPS
            hosts.to_end(run, end)
            assert hosts.result(run, end) == hosts.reference(end), f"case {case}: not the undisturbed run"
            left = [str(p) for p in hosts.folder("host-b", run).rglob("step-*")]
            assert not left, f"the side without rank 0 wrote {left}"
            for name in lab.names:
                shutil.rmtree(hosts.folder(name, run))
    return f"{cases} cuts, both sides out after {longest:.1f} s at most, one side alone has checkpoints, every end equal to the bit"
