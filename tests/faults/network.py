"""Hosts that lose each other (tests/lab)."""

import shutil
import time
from pathlib import Path

import lab as laboratory
from workshop import CONFIG, QUIET, TANDEM, Skipped, scenario, wait_until

STEPS = 60
SETTINGS = ("cluster.mode=exact", "cluster.wire=fp32", "cluster.join_timeout=7", "checkpoint.every=1")
LAST = f"checkpoints/step-{STEPS:08}"
BOUND_SECONDS = 45  # more than the goal, for a busy machine


class TwoHosts:
    """A worker on each of two hosts with disks of their own, started by hand."""

    def __init__(self, workshop, lab):
        self.lab, self.workers = lab, []
        for name in lab.names:
            shutil.copytree(workshop.data, lab.folder / name / "data")
            (lab.folder / name / "config.yaml").write_text(CONFIG)

    def start(self, run: str):
        command = [TANDEM, "train", self.lab.disk / "config.yaml", f"data.path={self.lab.disk}/data", f"run={self.lab.disk}/{run}",
                   f"stop.steps={STEPS}", *SETTINGS]
        common = {"WORLD_SIZE": 2, "MASTER_ADDR": self.lab.address["host-a"], "MASTER_PORT": 29500, "TANDEM_TOKEN": "a secret", **QUIET}
        self.workers = [self.lab.start(name, command, {"RANK": rank, **common}) for rank, name in enumerate(self.lab.names)]

    def ended(self) -> bool:
        return all(worker.poll() is not None for worker in self.workers)

    def codes(self) -> list:
        self.said = [worker.communicate(timeout=120)[0] for worker in self.workers]
        for worker in self.workers:
            self.lab.forget(worker)
        return [worker.returncode for worker in self.workers]

    def folder(self, host: str, run: str) -> Path:
        return self.lab.folder / host / run

    def result(self, run: str) -> list:
        return [(self.folder("host-a", run) / LAST / name).read_bytes() for name in ("model.safetensors", "optimizer.safetensors")]


@scenario("8", cases=50, short=1)
def partition(workshop, cases, rng):
    """A cable between two hosts is pulled at any moment: both sides end, only rank 0's has checkpoints, and the run goes on exactly."""
    if why := laboratory.missing():
        raise Skipped(why)
    longest = 0.0
    with laboratory.Lab(2, "1gbit", workshop.folder / "lab") as lab:
        hosts = TwoHosts(workshop, lab)
        hosts.start("reference")
        assert hosts.codes() == [0, 0], hosts.said
        for case in range(cases):
            run = f"run-{case}"
            journal = hosts.folder("host-a", run) / "journal.jsonl"
            hosts.start(run)
            if case % 3 != 2:  # else while they meet
                wait_until(lambda: hosts.ended() or (journal.exists() and '"type":"step"' in journal.read_text()), 60, "a first step")
            time.sleep(rng.uniform(0, 1.5))
            lab.pull_cable("host-b")
            began = time.monotonic()
            wait_until(hosts.ended, BOUND_SECONDS, "both sides end")
            longest = max(longest, time.monotonic() - began)
            codes = hosts.codes()
            assert codes == [0, 0] or 0 not in codes, f"one side took the run for done: {hosts.said}"
            lab.plug_in("host-b")
            if codes != [0, 0]:
                hosts.start(run)
                assert hosts.codes() == [0, 0], hosts.said
            assert hosts.result(run) == hosts.result("reference"), f"case {case}: not the undisturbed run"
            left = [str(p) for p in hosts.folder("host-b", run).rglob("step-*")]
            assert not left, f"the side without rank 0 wrote {left}"
            for name in lab.names:
                shutil.rmtree(hosts.folder(name, run))
    workshop.within(longest, 10, "both sides are out")
    return f"{cases} cuts, both sides out after {longest:.1f} s at most, one side alone has checkpoints, every end equal to the bit"
