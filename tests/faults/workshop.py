"""What the scenarios share: a small dataset, runs on it, an undisturbed run to compare with, and the list of scenarios."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TANDEM = Path(os.environ.get("TANDEM") or ROOT / "build/release/tandem").resolve()
sys.path[:0] = [str(ROOT / "tests/lab"), str(ROOT / "tests/system")]
from small_run import FULL_RUN  # noqa: E402

CONFIG = FULL_RUN + """
eval: {every: 20, beam: 1}
log: {every: 1000}
cluster: {check_every: 5}
"""
QUIET = {"OMP_WAIT_POLICY": "passive"}
BUSY_FACTOR = 4  # by which the short form may miss a goal


@dataclass(frozen=True)
class Scenario:
    """number: of the fault in the list of issue 8. run(workshop, cases, rng) returns a sentence with what was measured; an
    assertion that fails is the defect."""

    name: str
    number: str
    run: object
    cases: int
    short: int


class Skipped(Exception):
    """This machine forbids what the scenario needs."""


SCENARIOS = {}


def scenario(number: str, cases: int, short: int):
    def keep(function):
        SCENARIOS[function.__name__] = Scenario(function.__name__, number, function, cases, short)
        return function

    return keep


def wait_until(what, seconds: float, why: str):
    """Polls; the value of what() as soon as it is true."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        if value := what():
            return value
        assert began < deadline, f"{why}: not within {seconds} s"
        time.sleep(max(0.01, 5 * (time.monotonic() - began)))  # asking must not be what the processors do


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


class Run:
    started = []  # by all runs

    def __init__(self, data: Path, folder: Path, workers: int, steps: int, *settings: str):
        self.path, self.workers = folder / "run", workers
        self._read, self._run_lines = 0, []  # of the journal: how far, and where they begin
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(CONFIG)
        self.command = [str(TANDEM), "train", str(folder / "config.yaml"), f"data.path={data}", f"run={self.path}",
                        *(["--workers", str(workers)] if workers > 1 else []), *settings]
        self.end_at(steps)

    def end_at(self, steps: int):
        """From the next start on."""
        self.steps = steps
        self.command = [part for part in self.command if not part.startswith("stop.steps=")] + [f"stop.steps={steps}"]

    def start(self, env=None, launcher=()) -> subprocess.Popen:
        """launcher: a command that starts the workers instead of tandem itself."""
        command = self.command
        if launcher:
            at = command.index("--workers")
            command = [*map(str, launcher), *command[:at], *command[at + 2:]]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                 env={**os.environ, **QUIET, **(env or {})}, start_new_session=True)
        Run.started.append(child)
        return child

    @staticmethod
    def end_all():
        """What a scenario that failed left running: launchers and, frozen ones too, their workers."""
        for child in Run.started:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        Run.started.clear()

    def to_end(self, env=None, code: int = 0) -> str:
        child = self.start(env)
        _, errors = child.communicate(timeout=300 + self.steps)
        assert child.returncode == code, f"exit {child.returncode} instead of {code}: {errors}"
        return errors

    def lines(self, kind: str) -> list:
        """Lines that count: a resumed run supersedes what came after its checkpoint."""
        path = self.path / "journal.jsonl"
        text = path.read_text() if path.exists() else ""
        kept = []
        for line in map(json.loads, text[:text.rfind("\n") + 1].splitlines()):
            if line["type"] == "run" and line["resumed_from"] is not None:
                kept = [old for old in kept if old.get("step", 0) <= line["resumed_from"]]
            kept.append(line)
        return [line for line in kept if line["type"] == kind]

    def starts(self) -> int:
        self._read_on()
        return len(self._run_lines)

    def newest_start(self) -> list:
        """Its lines, the run line first; none before there is one."""
        self._read_on()
        return [json.loads(line) for line in self._bytes_from(self._run_lines[-1]).splitlines()] if self._run_lines else []

    def _bytes_from(self, place: int) -> bytes:
        """Of the journal, whole lines only."""
        path = self.path / "journal.jsonl"
        if not path.exists():
            return b""
        with path.open("rb") as journal:
            journal.seek(place)
            text = journal.read()
        return text[:text.rfind(b"\n") + 1]

    def _read_on(self):
        """Finds the run lines among those that came since the last look: a journal grows to a hundred megabytes and is asked often."""
        text = self._bytes_from(self._read)
        self._run_lines += [self._read + text.rfind(b"\n", 0, found.start()) + 1 for found in re.finditer(b'"type":"run"', text)]
        self._read += len(text)

    def new_steps(self) -> int:
        """Since the newest start."""
        start = self.newest_start()
        return max((line["step"] - (start[0]["resumed_from"] or 0) for line in start if line["type"] == "step"), default=0)

    def last_step(self) -> int:
        start = self.newest_start()
        return (start[0]["resumed_from"] or 0) + self.new_steps() if start else 0

    def pids(self) -> list:
        newest = self.newest_start()[0]
        return [worker["pid"] for worker in newest["cluster"]["by_rank"]] if self.workers > 1 else [newest["pid"]]

    def checkpoints(self) -> list:
        """Steps of those that have all their files."""
        return sorted(int(p.parent.name[5:]) for p in (self.path / "checkpoints").glob("step-*/MANIFEST.json"))

    def result(self):
        """Losses of all steps, weights and optimizer to the bit."""
        folder = self.path / f"checkpoints/step-{self.steps:08}"
        losses = {line["step"]: line["loss"] for line in self.lines("step")}
        return losses, (folder / "model.safetensors").read_bytes(), (folder / "optimizer.safetensors").read_bytes()


class Workshop:
    def __init__(self, folder: Path, short: bool):
        self.folder, self.short = folder, short
        self._references = {}
        self._count = 0
        rng = random.Random(4)
        words = ["".join(rng.choices("abdegilnorstu", k=rng.randint(2, 6))) for _ in range(60)]
        for part, count in (("train", 300), ("valid", 20)):
            lines = [rng.choices(words, k=rng.randint(2, 9)) for _ in range(count)]
            (folder / f"{part}.src").write_text("".join(" ".join(line) + "\n" for line in lines))
            (folder / f"{part}.tgt").write_text("".join(" ".join(reversed(line)) + "\n" for line in lines))
        self.data = folder / "data"
        subprocess.run([TANDEM, "prepare", "--src", folder / "train.src", "--tgt", folder / "train.tgt", "--valid-src", folder / "valid.src",
                        "--valid-tgt", folder / "valid.tgt", "--out", self.data, "--vocab-size", "100"], check=True, capture_output=True)

    def run(self, workers: int, steps: int, *settings: str) -> Run:
        self._count += 1
        return Run(self.data, self.folder / f"run-{self._count}", workers, steps, *settings)

    def reference(self, workers: int, steps: int):
        """Result of an undisturbed run."""
        if (workers, steps) not in self._references:
            whole = self.run(workers, steps)
            whole.to_end()
            self._references[workers, steps] = whole.result()
            self.forget(whole)
        return self._references[workers, steps]

    def forget(self, run: Run):
        shutil.rmtree(run.path.parent)

    def most(self, goal: float) -> float:
        """What a goal allows; the short form runs beside other work and finds hangs only."""
        return BUSY_FACTOR * goal if self.short else goal

    def within(self, measured: float, goal: float, what: str, unit: str = "s"):
        assert measured <= self.most(goal), f"{what}: {measured:.1f} {unit} instead of {self.most(goal):g} {unit} at most"
