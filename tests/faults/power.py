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


def calls_of(trace: Path) -> list:
    data, at, calls = trace.with_name(trace.name + ".data").read_bytes(), 0, []
    for line in trace.read_text().splitlines():
        call, path, to, size = line.split("\t")
        calls.append((call, path, to, data[at:at + int(size)]))
        at += int(size)
    return calls


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


def ends_of(calls: list, top: Path, real: dict, lost: Path, rng) -> list:
    """(call, way, newest whole step) of every way in which the power can fail after every call; asserts that nothing is lost."""
    ends, disk, done, judge = [], Disk(top), 0, Judge()
    try:
        for number, call in enumerate(calls, 1):
            disk.apply(*call)
            if call[0] == "sync" and Path(call[1]) == top:  # a save is done when the name of its folder is sure
                done = max((int(name[5:]) for name in disk.root.sure if re.fullmatch(r"step-\d+", name)), default=0)
            for way, choose in WAYS.items():
                shutil.rmtree(lost, ignore_errors=True)
                disk.write_out(lost, choose(rng))
                whole = judge.whole_steps(lost)
                assert max(whole, default=0) >= done, f"call {number} {call[:3]}, {way}: {whole} are whole, {done} was done"
                for step in whole:
                    model = f"step-{step:08}/model.safetensors"
                    assert model not in real or (lost / model).read_bytes() == real[model], f"call {number}, {way}: other weights"
                ends.append((number, way, max(whole, default=None)))
    finally:
        judge.close()
        shutil.rmtree(lost, ignore_errors=True)
    return ends


def all_calls_were_seen(calls: list, top: Path, real: dict, folder: Path) -> bool:
    disk = Disk(top)
    for call in calls:
        disk.apply(*call)
    disk.write_out(folder, lambda node: "now")
    return tree_of(folder) == real


@scenario("3", cases=20, short=1)
def power_loss(workshop, cases, rng):
    """After every call of four saves the power fails: the newest checkpoint that was done is there; a case: one of the ends trained on."""
    run = workshop.run(1, STEPS, KEEP)
    trace, top = workshop.folder / "trace", run.path / "checkpoints"
    run.to_end(environment(workshop, run, FAULT_BELOW=str(top), FAULT_TRACE=str(trace)))
    calls, real, lost = calls_of(trace), tree_of(top), workshop.folder / "after"
    assert all_calls_were_seen(calls, top, real, workshop.folder / "all"), "the library did not see every call"
    ends = ends_of(calls, top, real, lost, rng)
    # A program that forgets to sync its files would be found out.
    careless = [call for call in calls if call[0] != "sync" or not call[1].endswith((".safetensors", ".tmp"))]
    try:
        ends_of(careless, top, real, lost, rng)
        raise RuntimeError("files that were not synced did not matter: this scenario finds nothing")
    except AssertionError:
        pass
    chosen = rng.sample(ends, min(cases, len(ends)))
    train_on(workshop, run, calls, chosen, rng)
    workshop.forget(run)
    return f"{len(calls)} calls, {len(ends)} ends: always the newest that was done or a newer one; {len(chosen)} trained on exactly"


def train_on(workshop, run, calls, ends, rng):
    """The run goes on from what the power left, to the same end."""
    expected = run.result()
    for number, way, newest in ends:
        disk = Disk(run.path / "checkpoints")
        for call in calls[:number]:
            disk.apply(*call)
        again = workshop.run(1, STEPS, KEEP)
        again.path.mkdir()
        disk.write_out(again.path / "checkpoints", WAYS[way](rng))
        before = len(again.lines("run"))
        again.to_end()
        resumed = again.lines("run")[before]["resumed_from"]
        assert way == "anything" or resumed == newest, f"call {number}, {way}: resumed from {resumed} instead of {newest}"
        assert again.result()[1:] == expected[1:], f"call {number}, {way}: not trained on exactly"
        workshop.forget(again)
