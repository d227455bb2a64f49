"""Power that fails during a save: what was not synced is gone, in part there, or rubbish."""

import re
import shutil
import subprocess
from pathlib import Path

from disk_model import Disk, File
from saves import environment
from workshop import TANDEM, scenario

STEPS = 20  # four checkpoints, of which two are kept
KEEP = "checkpoint.keep=2"
# What becomes of folders and files that are not sure. "now" for both is a mere kill (kill_in_save).
WAYS = {
    "nothing": lambda rng: lambda node: "sure",
    "names without bytes": lambda rng: lambda node: "sure" if isinstance(node, File) else "now",
    "half of the bytes": lambda rng: lambda node: "half" if isinstance(node, File) else "now",
    "zeros": lambda rng: lambda node: "zeros" if isinstance(node, File) else "now",
    "anything": lambda rng: lambda node: rng.choice(["sure", "now", "half", "zeros"] if isinstance(node, File) else ["sure", "now"]),
}
# Which syncs, with the call before each, a careless program forgets: it must be found out.
CARELESS = {
    "files": lambda run, before, sync: is_of_a_file(sync),
    "folders": lambda run, before, sync: not is_of_a_file(sync),
    "the folder of a checkpoint's files": lambda run, before, sync: sync[1].endswith(".partial"),
    "the folder of a new checkpoint": lambda run, before, sync: re.search(r"/step-\d+$", before[2]),
    "the folder of a new run": lambda run, before, sync: Path(sync[1]) == run.path.parent,
}


def is_of_a_file(call: tuple) -> bool:
    return call[1].endswith((".safetensors", ".tmp"))


def calls_of(trace: Path) -> list:
    data, at, calls = trace.with_name(trace.name + ".data").read_bytes(), 0, []
    for line in trace.read_text().splitlines():
        call, path, to, size = line.split("\t")
        calls.append((call, path, to, data[at:at + int(size)]))
        at += int(size)
    return calls


def checkpoints_of(run) -> Path:
    return run.path / "checkpoints"


def first_calls_of(workshop, run) -> list:
    """Those that make its folder and the one of its checkpoints, as another run does it: where all threads are written down, their bytes mix."""
    other, trace = workshop.run(1, 1), workshop.folder / "first-trace"
    other.to_end(environment(workshop, other, FAULT_BELOW=str(other.path.parent), FAULT_TRACE=str(trace)))
    workshop.forget(other)
    calls = []
    for line in trace.read_text().splitlines():
        call, path, *_ = line.split("\t")
        if Path(path).parent == checkpoints_of(other):
            return calls
        if call in ("mkdir", "sync") and Path(path) in (other.path.parent, other.path, checkpoints_of(other)):
            calls.append((call, str(run.path.parent / Path(path).relative_to(other.path.parent)), "", b""))
    raise AssertionError("no checkpoint was seen")


def tree_of(folder: Path) -> dict:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Judge:
    """Asks the program's own reader; an answer for every folder."""

    def __init__(self):
        self._checker = subprocess.Popen([TANDEM.parent / "tandem_check_checkpoints"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def whole_steps(self, checkpoints: Path) -> list:
        whole = []
        for folder in sorted(checkpoints.glob("step-*")) if checkpoints.exists() else []:
            self._checker.stdin.write(f"{folder}\n")
            self._checker.stdin.flush()
            answer = self._checker.stdout.readline().strip()
            assert answer, "the reader crashed"
            if answer == "whole":
                whole.append(int(folder.name[5:]))
        return whole

    def close(self):
        self._checker.stdin.close()
        self._checker.wait()


def ends_of(calls: list, run, real: dict, lost: Path, rng) -> list:
    """(call, way, newest whole step) of every way in which the power can fail after every call; asserts that nothing is lost."""
    ends, disk, done, judge = [], Disk(run.path.parent), 0, Judge()
    latest, left = str(checkpoints_of(run) / "latest"), lost / checkpoints_of(run).relative_to(run.path.parent)
    try:
        for number, call in enumerate(calls, 1):
            disk.apply(*call)
            if call[2] == latest:  # the program counts on it: from now on older ones may go
                done = int(disk.node(latest).now.removeprefix(b"step-"))
            for way, choose in WAYS.items():
                shutil.rmtree(lost, ignore_errors=True)
                disk.write_out(lost, choose(rng))
                whole = judge.whole_steps(left)
                assert max(whole, default=0) >= done, f"call {number} {call[:3]}, {way}: {whole} are whole, {done} was done"
                for step in whole:
                    model = f"step-{step:08}/model.safetensors"
                    assert model not in real or (left / model).read_bytes() == real[model], f"call {number}, {way}: other weights"
                ends.append((number, way, max(whole, default=None)))
        assert done == STEPS, f"no save after {done} was seen to be done"
    finally:
        judge.close()
        shutil.rmtree(lost, ignore_errors=True)
    return ends


def all_calls_were_seen(calls: list, run, real: dict, folder: Path) -> bool:
    disk = Disk(run.path.parent)
    for call in calls:
        disk.apply(*call)
    disk.write_out(folder, lambda node: "now")
    return tree_of(folder) == {f"{checkpoints_of(run).relative_to(run.path.parent)}/{name}": data for name, data in real.items()}


def finds_out(careless: str, calls: list, run, real: dict, lost: Path, rng) -> bool:
    forgets = CARELESS[careless]
    kept = [call for before, call in zip(calls, calls[1:]) if call[0] != "sync" or not forgets(run, before, call)]
    try:
        ends_of([calls[0], *kept], run, real, lost, rng)
    except AssertionError as why:
        return "was done" in str(why)
    return False


@scenario("3", cases=20, short=1)
def power_loss(workshop, cases, rng):
    """After every call of four saves the power fails: the newest checkpoint that was done is there; a case: one of the ends trained on."""
    run = workshop.run(1, STEPS, KEEP)
    trace = workshop.folder / "trace"
    run.to_end(environment(workshop, run, FAULT_BELOW=str(checkpoints_of(run)), FAULT_TRACE=str(trace)))
    first, (top, *others) = first_calls_of(workshop, run), calls_of(trace)
    assert top in first, f"{top} instead of the folder of the checkpoints"
    calls, real, lost = first + others, tree_of(checkpoints_of(run)), workshop.folder / "after"
    assert all_calls_were_seen(calls, run, real, workshop.folder / "all"), "the library did not see every call"
    ends = ends_of(calls, run, real, lost, rng)
    for careless in CARELESS:
        assert finds_out(careless, calls, run, real, lost, rng), f"{careless}: not to sync did not matter; this scenario finds nothing"
    chosen = rng.sample(ends, min(cases, len(ends)))
    train_on(workshop, run, calls, chosen, rng)
    workshop.forget(run)
    return f"{len(calls)} calls, {len(ends)} ends: always the newest that was done or a newer one; {len(chosen)} trained on exactly"


def train_on(workshop, run, calls, ends, rng):
    """The run goes on from what the power left, to the same end."""
    expected = run.result()
    for number, way, newest in ends:
        disk = Disk(run.path.parent)
        for call in calls[:number]:
            disk.apply(*call)
        again = workshop.run(1, STEPS, KEEP)
        disk.write_out(again.path.parent, WAYS[way](rng))
        before = len(again.lines("run"))
        again.to_end()
        resumed = again.lines("run")[before]["resumed_from"]
        assert way == "anything" or resumed == newest, f"call {number}, {way}: resumed from {resumed} instead of {newest}"
        assert again.result()[1:] == expected[1:], f"call {number}, {way}: not trained on exactly"
        workshop.forget(again)
