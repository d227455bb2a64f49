"""train and average: the real program on a small corpus; stopped, killed and resumed."""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy
import pytest
from small_run import FULL_RUN, MANY_MICRO, STOPS, steps_of_an_epoch


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


CONFIG = FULL_RUN + """
eval: {every: 5, beam: 1}
stop: {steps: 20}
log: {every: 5}
"""


# Threads that wait for each other sleep: on a machine that is busy otherwise they would spin for minutes.
QUIET = {"OMP_WAIT_POLICY": "passive"}


class Run:
    def __init__(self, program, tandem, data, folder: Path, name: str):
        self.program, self.tandem, self.data = program, tandem, data
        self.path = folder / name
        self.config = folder / "config.yaml"
        self.config.write_text(CONFIG)

    def command(self, *more):
        return ["train", self.config, f"data.path={self.data}", f"run={self.path}", *more]

    def train(self, *more, code=0):
        done = self.tandem(*self.command(*more), env=QUIET)
        assert done.returncode == code, done.stderr
        return done

    def start(self, *more):
        return subprocess.Popen([str(part) for part in (self.program, *self.command(*more))], stdin=subprocess.DEVNULL,
                                env={**os.environ, **QUIET}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_step(self, child, step):
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline and child.poll() is None:
            if any(line["type"] == "step" and line["step"] >= step for line in self.raw_lines()):
                return
            time.sleep(0.005)
        child.kill()
        raise AssertionError(f"step {step} was not reached: {child.communicate()[1]}")

    def raw_lines(self):
        """Every whole line of the journal."""
        path = self.path / "journal.jsonl"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def lines(self, kind):
        """The lines that count: a resumed run supersedes what came after its checkpoint."""
        kept = []
        for line in self.raw_lines():
            if line["type"] == "run" and line["resumed_from"] is not None:
                kept = [old for old in kept if old.get("step", 0) <= line["resumed_from"]]
            kept.append(line)
        return [line for line in kept if line["type"] == kind]

    def losses(self):
        """By step; what is not finite is null in the journal."""
        bits = lambda value: value if value is None else float(value).hex()
        return {line["step"]: tuple(bits(line[key]) for key in ("loss", "nll", "grad_norm", "lr", "loss_scale"))
                for line in self.lines("step")}

    def checkpoints(self):
        return sorted(path.name for path in (self.path / "checkpoints").glob("step-*"))

    def weights(self, step):
        folder = self.path / f"checkpoints/step-{step:08}"
        return (folder / "model.safetensors").read_bytes(), (folder / "optimizer.safetensors").read_bytes()


@pytest.fixture
def make_run(program, tandem, data, tmp_path):
    return lambda name="run": Run(program, tandem, data, tmp_path, name)


@pytest.fixture(scope="module")
def whole(program, tandem, data, tmp_path_factory):
    """Uninterrupted runs, by setting."""
    made = {}

    def of(*more):
        if more not in made:
            made[more] = Run(program, tandem, data, tmp_path_factory.mktemp("whole"), "run")
            made[more].train(*more)
        return made[more]

    return of


def assert_equal_runs(a: Run, b: Run, step=20):
    assert a.losses() == b.losses() and len(a.losses()) == step
    assert a.weights(step) == b.weights(step)
    evals = lambda run: [(e["step"], e["val_loss"].hex(), e["train_loss"].hex()) for e in run.lines("eval")]
    assert evals(a) == evals(b)


def refused(done, *words, code=2):
    assert done.returncode == code, done.stderr
    sentence = done.stderr.strip().split("\n")[-1]
    assert sentence.startswith("tandem: "), sentence
    for word in words:
        assert str(word) in sentence, sentence


# --- it trains -------------------------------------------------------------------------------------------------------


def test_a_run_leaves_what_the_design_says(whole):
    run = whole()
    losses = [line["loss"] for line in run.lines("step")]
    assert losses[-1] < losses[0]
    assert run.checkpoints() == ["step-00000010", "step-00000015", "step-00000020"]
    assert (run.path / "checkpoints/latest").read_text() == "step-00000020\n"
    for folder in [run.path / "model", *(run.path / "best").iterdir()]:
        assert {p.name for p in folder.iterdir()} == {"model.safetensors", "config.yaml", "vocab.model"}
    assert len(list((run.path / "best").iterdir())) == 4
    best = min(run.lines("eval"), key=lambda e: e["val_loss"])
    assert (run.path / f"best/val_loss={best['val_loss']:.4f}-step-{best['step']}").exists()
    assert run.tandem("config", run.path / "config.yaml").returncode == 0
    log = (run.path / "logs/rank-0.log").read_text()
    for word in ("parameters", "an epoch", "highest", "memory", "checkpoint", "free"):
        assert word in log
    assert "step 20/20" in log and "validation loss" in log and "done: 20 steps" in log


def test_journal_lines_say_where_the_time_went(whole):
    run = whole()
    assert [line["type"] for line in run.raw_lines()][0] == "run" and run.raw_lines()[-1]["type"] == "end"
    for line in run.lines("step"):
        seconds = line["seconds"]
        assert set(seconds) == {"total", "data", "forward", "backward", "exchange", "wait", "optimizer", "other"}
        assert sum(seconds.values()) - seconds["total"] == pytest.approx(seconds["total"], rel=1e-6)
        assert line["tokens"] > 0 and line["micro_batches"] >= 2 and not line["skipped"]
    assert [line["step"] for line in run.lines("checkpoint")] == [5, 10, 15, 20]
    assert run.lines("checkpoint")[-1]["bytes"] == sum(
        p.stat().st_size for p in (run.path / "checkpoints/step-00000020").iterdir())


def test_the_checkpoint_opens_with_the_safetensors_package(whole):
    from safetensors.numpy import load_file
    folder = whole().path / "checkpoints/step-00000020"
    model, optimizer = load_file(folder / "model.safetensors"), load_file(folder / "optimizer.safetensors")
    assert set(optimizer) == {f"{kind}.{name}" for kind in ("first_moment", "second_moment", "raw") for name in model}
    assert all((optimizer[f"second_moment.{name}"] >= 0).all() for name in model)


def test_average_is_the_mean_of_the_best(whole, tandem, tmp_path):
    from safetensors.numpy import load_file
    run = whole()
    done = tandem("average", "--run", run.path, "--best", "3", "--out", tmp_path / "mean")
    assert done.returncode == 0, done.stderr
    best = sorted((run.path / "best").iterdir(), key=lambda p: float(re.match(r"val_loss=([\d.]+)-", p.name)[1]))[:3]
    models = [load_file(p / "model.safetensors") for p in best]
    mean = load_file(tmp_path / "mean/model.safetensors")
    for name, values in mean.items():
        assert abs(values - sum(m[name].astype("f8") for m in models) / 3).max() < 1e-7
    assert (tmp_path / "mean/vocab.model").read_bytes() == (best[0] / "vocab.model").read_bytes()
    refused(tandem("average", "--run", run.path, "--out", tmp_path / "mean"), "mean", "exists")
    refused(tandem("average", "--run", tmp_path, "--out", tmp_path / "other"), "best")


@pytest.mark.parametrize("stop, reason", [("stop.epochs=2", "epochs"), ("stop.patience=1", "patience"), ("stop.hours=1e-9", "hours")])
def test_other_ways_to_end(make_run, stop, reason):
    run = make_run()
    # A rate of nearly nothing: the validation loss soon stops getting better.
    run.train(stop, "stop.steps=60", "eval.every=1", "optim.ema=0", *(["optim.lr=1e-30"] if reason == "patience" else []))
    assert run.lines("end")[-1]["reason"] == reason


def test_a_target_bleu_ends_the_run(make_run):
    run = make_run()
    run.train("stop.bleu=0.01", "stop.steps=400", "eval.every=10", "checkpoint.every=50", "log.every=100")
    last = run.lines("eval")[-1]
    assert run.lines("end")[-1]["reason"] == "bleu" and last["bleu"] >= 0.01
    assert all(line["bleu"] < 0.01 for line in run.lines("eval")[:-1])


def test_samples_are_kept_and_shown_between_evaluations(make_run):
    run = make_run()
    done = run.train("stop.steps=10", "eval.every=5", "eval.sample_every=2", "eval.samples=2")
    text = (run.path / "samples.txt").read_text()
    assert re.findall(r"^step (\d+)$", text, re.M) == ["2", "4", "5", "6", "8", "10"]
    assert text.count("  hypothesis ") == 12 and done.stderr.count("  hypothesis ") == 12
    references = (run.data / "valid.tgt.txt").read_text().splitlines()
    assert set(re.findall(r"^  reference  (.*)$", text, re.M)) <= set(references)


# --- exact resume ----------------------------------------------------------------------------------------------------


SETTINGS = {"1 thread": (), "2 threads": ("threads=2",),
            "fp16": ("precision=fp16", "optim.loss_scale=1073741824", "optim.loss_scale_window=3"),
            "lazy": ("model.tied=none", "optim.lazy_embedding=true", "optim.weight_decay=0.1")}


@pytest.mark.parametrize("setting", SETTINGS)
def test_killed_and_resumed_equals_uninterrupted_to_the_bit(make_run, whole, setting):
    more = SETTINGS[setting]
    run = make_run()
    child = run.start(*more, "stop.steps=1000000")
    run.wait_for_step(child, 12)
    child.kill()
    child.communicate()
    end = max(20, 8 + int(run.checkpoints()[-1][5:]))  # the kill may come many steps later
    run.train(*more, f"stop.steps={end}")
    assert 0 < run.lines("run")[-1]["resumed_from"] < end
    assert_equal_runs(run, whole(*more, *([f"stop.steps={end}"] if end > 20 else [])), step=end)
    if setting == "fp16":
        assert any(line["skipped"] for line in run.lines("step")) and not all(line["skipped"] for line in run.lines("step"))


@pytest.mark.parametrize("setting", ["1 thread", "2 threads", "fp16"])
@pytest.mark.parametrize("point", STOPS)
def test_stopped_at_any_step_it_goes_on_exactly(make_run, whole, point, setting):
    more = SETTINGS[setting]
    reference = whole(*more)
    stop = STOPS[point](steps_of_an_epoch(reference))
    run = make_run()
    # Evaluations at the end of the first part do not belong to the uninterrupted run.
    run.train(*more, f"stop.steps={stop}")
    run.train(*more)
    assert run.lines("run")[-1]["resumed_from"] == stop
    assert run.losses() == reference.losses() and run.weights(20) == reference.weights(20)


@pytest.mark.parametrize("setting", ["1 thread", "2 threads", "fp16"])
def test_killed_inside_an_accumulation_window_it_goes_on_exactly(make_run, whole, setting):
    more = (*SETTINGS[setting], *MANY_MICRO, "stop.steps=10")
    reference = whole(*more)
    assert all(line["micro_batches"] >= 10 for line in reference.lines("step"))
    run = make_run()
    child = run.start(*more)
    run.wait_for_step(child, 5)
    last = run.lines("step")[-1]
    time.sleep(0.4 * last["seconds"]["total"])
    child.kill()
    child.communicate()
    if run.lines("step")[-1]["step"] < 10:  # else the machine slept past the end
        assert 2 <= int(run.checkpoints()[-1][5:]) <= run.lines("step")[-1]["step"]
    run.train(*more)
    assert_equal_runs(run, reference, step=10)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_saves_ends_with_75_and_resumes_exactly(make_run, whole, sign):
    run = make_run()
    child = run.start("checkpoint.every=0", "eval.every=0", "stop.steps=1000000")
    run.wait_for_step(child, 3)
    child.send_signal(sign)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 75, stderr
    assert "saved" in stderr.splitlines()[-1]
    steps = max(run.losses())
    assert run.checkpoints() == [f"step-{steps:08}"]
    if steps < 20:
        run.train()
        assert run.losses() == whole().losses() and run.weights(20) == whole().weights(20)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_signal_before_the_program_listens_is_heard_later(make_run, sanitized, workers):
    if sanitized:
        pytest.skip("built with sanitizers the program begins with their own initialisers")
    run = make_run()
    child = run.start("--workers", str(workers))
    holds = lambda: int(re.search(r"SigBlk:\s*(\w+)", Path(f"/proc/{child.pid}/status").read_text())[1], 16) >> (signal.SIGTERM - 1) & 1
    while not holds():  # it loads libraries; its first line of code is half a second away
        assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 75, stderr
    assert run.losses() == {}


@pytest.mark.parametrize("first, second", [(signal.SIGTERM, signal.SIGTERM), (signal.SIGUSR1, signal.SIGTERM)])
def test_a_second_signal_does_not_spoil_what_is_being_saved(make_run, first, second):
    run = make_run()
    child = run.start("stop.steps=1000000", "batch.tokens=40000", "model.d_model=128", "model.encoder_layers=4", "checkpoint.every=0", "eval.every=0")
    run.wait_for_step(child, 1)
    child.send_signal(first)
    for _ in range(10):
        if child.poll() is None:
            child.send_signal(second)
        time.sleep(0.2)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 75, stderr
    assert run.checkpoints() == [f"step-{max(run.losses()):08}"]


def test_a_finished_run_is_left_as_it_is(make_run):
    run = make_run()
    run.train()
    before = run.weights(20)
    run.train()
    assert run.weights(20) == before and len(run.losses()) == 20
    run.train("stop.steps=22")
    assert max(run.losses()) == 22


def test_observers_of_another_rhythm_do_not_change_the_weights(make_run, whole):
    run = make_run()
    run.train("log.every=1", "eval.every=3", "checkpoint.every=4", "checkpoint.best=1", "cost.per_host_hour=3")
    assert run.losses() == whole().losses() and run.weights(20) == whole().weights(20)


# --- damage, and other processes -------------------------------------------------------------------------------------


def test_a_damaged_checkpoint_is_named_and_the_older_one_used(make_run, whole):
    run = make_run()
    run.train()
    for name in ("model.safetensors", "MANIFEST.json"):
        path = run.path / f"checkpoints/step-000000{20 if name[0] == 'm' else 15}" / name
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 16
        path.write_bytes(content)
    done = run.train()
    assert "step-00000020 cannot be used: model.safetensors is damaged" in done.stderr
    assert "step-00000015 cannot be used: MANIFEST.json" in done.stderr
    assert run.lines("run")[-1]["resumed_from"] == 10
    assert_equal_runs(run, whole())


def exchange(newest: Path, older: Path):
    content = newest.read_bytes()
    newest.write_bytes(older.read_bytes())
    older.write_bytes(content)


def make_directory(path: Path):
    path.unlink()
    path.mkdir()


# (what is done to a file of the newest checkpoint and of the one before, the step that is left)
DAMAGES = {"exchanged": (exchange, 10), "the older one": (lambda newest, older: newest.write_bytes(older.read_bytes()), 15),
           "empty": (lambda newest, older: newest.write_bytes(b""), 15), "a directory": (lambda newest, older: make_directory(newest), 15)}


@pytest.mark.parametrize("damage, name", [
    ("exchanged", "model.safetensors"), ("exchanged", "optimizer.safetensors"), ("exchanged", "state.json"), ("the older one", "model.safetensors"),
    ("empty", "model.safetensors"), ("empty", "MANIFEST.json"), ("a directory", "state.json"), ("a directory", "MANIFEST.json")])
def test_a_file_that_is_not_the_checkpoints_own_is_named_and_an_older_one_used(make_run, whole, damage, name):
    run, (spoil, left) = make_run(), DAMAGES[damage]
    shutil.copytree(whole().path, run.path)
    spoil(*(run.path / f"checkpoints/step-000000{step}" / name for step in (20, 15)))
    done = run.train()
    told = re.findall(r"step-000000(\d+) cannot be used: (.*)", done.stderr)
    assert [int(step) for step, _ in told] == [step for step in (20, 15) if step > left] and all(name in why for _, why in told), done.stderr
    assert run.lines("run")[-1]["resumed_from"] == left
    assert_equal_runs(run, whole())


def test_what_a_killed_save_left_is_gone_after_the_next_start_and_nothing_else(make_run):
    run = make_run()
    run.train("stop.steps=5")
    left = [".model.partial/config.yaml", "checkpoints/.step-00000003.partial/model.safetensors", "checkpoints/latest.123.tmp", "config.yaml.99.tmp",
            "best/.val_loss=1.5000-step-3.partial/model.safetensors", "hosts/.0-step-00000003.partial/state.json"]
    own = ["notes.tmp", "notes.7.tmp", ".notes.partial/a", "checkpoints/.notes.partial/a", "checkpoints/mine.7.tmp"]
    for name in left + own:
        (run.path / name).parent.mkdir(parents=True, exist_ok=True)
        (run.path / name).write_text("half")
    run.train("stop.steps=6")
    assert run.lines("run")[-1]["resumed_from"] == 5
    there = {str(path.relative_to(run.path)) for path in run.path.rglob("*") if re.search(r"\.(partial|tmp)(/|$)", str(path.relative_to(run.path)))}
    assert there == {*own, ".notes.partial", "checkpoints/.notes.partial"}


def test_without_a_whole_checkpoint_it_does_not_start_anew(make_run):
    run = make_run()
    run.train("stop.steps=5", "checkpoint.keep=1")
    (run.path / "checkpoints/step-00000005/state.json").unlink()
    before = run.raw_lines()
    refused(run.train(code=2), "no checkpoint", "state.json is missing", "run=")
    assert run.raw_lines() == before


def test_without_any_checkpoint_it_does_not_start_anew_by_itself(make_run):
    run = make_run()
    run.train("stop.steps=5")
    shutil.rmtree(run.path / "checkpoints")
    before = run.raw_lines()
    refused(run.train(code=2), "its checkpoints are gone", "--resume never")
    assert run.raw_lines() == before
    run.train("--resume", "never", "stop.steps=5")
    assert run.checkpoints() == ["step-00000005"]


def test_damaged_checkpoints_do_not_push_whole_ones_out(make_run):
    run = make_run()
    run.train("checkpoint.keep=4")
    for step in (10, 15, 20):
        (run.path / f"checkpoints/step-{step:08}/model.safetensors").write_bytes(b"")
    run.train("checkpoint.keep=3", "stop.steps=7")
    assert run.checkpoints()[:2] == ["step-00000005", "step-00000007"]
    run.train("checkpoint.keep=3", "stop.steps=8")
    assert run.lines("run")[-1]["resumed_from"] == 7


def test_resume_never_and_from_a_named_checkpoint(make_run, whole):
    run = make_run()
    run.train("stop.steps=10")
    refused(run.train("--resume", "never", code=2), "checkpoints", "run=")
    other = make_run("other")
    other.train("--resume", run.path / "checkpoints/step-00000005")
    assert {s: l for s, l in whole().losses().items() if s > 5} == other.losses()
    assert other.weights(20) == whole().weights(20)
    refused(other.train("--resume", run.path / "absent", code=2), "absent")


def test_settings_that_may_not_change_are_refused_by_name(make_run):
    run = make_run()
    run.train("stop.steps=5")
    refused(run.train("model.ffn=80", "seed=2", code=2), "model.ffn was 64 and is 80", "seed was 1 and is 2")
    refused(run.train("batch.tokens=800", code=2), "batch.tokens")
    done = run.train("stop.steps=6", "optim.lr=0.005")
    assert "optim.lr was 0.01 and is 0.005" in done.stderr


def test_another_dataset_is_refused_by_hash(make_run, tandem, data, tmp_path):
    run = make_run()
    run.train("stop.steps=5")
    source = data.parent
    done = tandem("prepare", "--src", source / "train.tgt", "--tgt", source / "train.src", "--valid-src", source / "valid.src",
                  "--valid-tgt", source / "valid.tgt", "--out", tmp_path / "other", "--vocab", data / "vocab.model")
    assert done.returncode == 0, done.stderr
    refused(run.train(f"data.path={tmp_path / 'other'}", code=2), "dataset.train was")


def test_a_second_process_is_refused_with_the_number_of_the_first(make_run):
    run = make_run()
    child = run.start("stop.steps=1000000")
    run.wait_for_step(child, 1)
    refused(run.train(code=2), "in use", child.pid)
    child.kill()
    child.communicate()
    run.train("stop.steps=1")  # a killed process leaves no lock


def test_a_closed_terminal_does_not_stop_it(make_run):
    run = make_run()
    child = run.start("stop.steps=60")
    run.wait_for_step(child, 2)
    child.stderr.close()
    child.stdout.close()
    child.send_signal(signal.SIGHUP)
    assert child.wait(timeout=60) == 0
    assert max(run.losses()) == 60 and "done: 60 steps" in (run.path / "logs/rank-0.log").read_text()


def test_a_second_signal_ends_it_at_once(make_run, reversed_words):
    run = make_run()
    run.data = reversed_words(6000) / "data"  # one step of many seconds
    child = run.start("stop.steps=1000000", "batch.tokens=200000", "model.d_model=256", "model.encoder_layers=6",
                      "checkpoint.every=0", "eval.every=0")
    while not run.lines("run"):
        assert child.poll() is None
    time.sleep(0.3)  # within the first step
    child.send_signal(signal.SIGINT)
    time.sleep(0.7)  # sooner, it would be the same wish passed on
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    assert child.returncode == -signal.SIGINT


# --- the machine's failures ------------------------------------------------------------------------------------------


def test_a_full_disk_during_a_save_is_a_warning_and_training_goes_on(program, small_disk, make_run):
    run = make_run()
    disk = small_disk(700_000)  # some checkpoints of 190 kB
    run.path = disk.path / "run"
    done = disk.run(program, *run.command("checkpoint.keep=1000", "checkpoint.every=1"))
    assert "could not be saved" in done.stderr and "No space left on device" in done.stderr
    assert "step 20/20" in done.stderr
    assert done.returncode == 3  # the last one could not be saved either
    kept = sorted((disk.view / "run/checkpoints").glob("step-*"))
    assert kept and all((p / "MANIFEST.json").exists() for p in kept)


def test_folders_that_cannot_be_used(make_run, tandem):
    run = make_run()
    refused(run.train("run=/proc/run", code=3), "/proc/run", code=3)
    refused(run.train("data.path=absent", code=2), "absent")
    refused(tandem("train", run.path / "absent.yaml"), "absent.yaml")


@pytest.mark.parametrize("name", ["journal.jsonl", "samples.txt", ".lock", "logs/rank-0.log"])
def test_a_link_does_not_lead_a_file_out_of_the_run(make_run, tmp_path, name):
    """As a run that came from somebody else may hold."""
    run, outside = make_run(), tmp_path / "precious"
    outside.write_text("precious")
    link = run.path / name
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    done = run.tandem(*run.command("stop.steps=5"), env=QUIET)
    assert f"{link} is a link" in done.stderr and done.returncode == (0 if name == "samples.txt" else 2), done.stderr
    assert outside.read_text() == "precious"


@pytest.mark.parametrize("name", ["checkpoints", "best", "tensorboard", "logs", "hosts", "export"])
def test_a_link_does_not_lead_a_folder_out_of_the_run(make_run, tmp_path, name):
    run, outside = make_run(), tmp_path / "elsewhere"
    outside.mkdir()
    run.path.mkdir()
    (run.path / name).symlink_to(outside)
    refused(run.train(code=2), f"{run.path / name} is a link", "run=")
    assert not list(outside.iterdir())


def test_what_is_written_at_once_replaces_a_link(make_run, tmp_path):
    run, outside = make_run(), tmp_path / "precious"
    outside.write_text("precious")
    run.path.mkdir()
    for name in ("config.yaml", "report.html"):
        (run.path / name).symlink_to(outside)
    run.train("stop.steps=5")
    run.tandem("report", run.path)
    assert outside.read_text() == "precious"
    assert not any((run.path / name).is_symlink() for name in ("config.yaml", "report.html"))


@pytest.mark.parametrize("name", ["train.tokens", "valid.tokens", "valid.src.txt", "valid.tgt.txt", "vocab.model"])
def test_a_damaged_dataset_is_not_trained_on(make_run, data, tmp_path, name):
    run = make_run()
    run.data = shutil.copytree(data, tmp_path / "data")
    content = bytearray((run.data / name).read_bytes())
    content[len(content) // 2] ^= 1
    (run.data / name).write_bytes(content)
    done = run.tandem(*run.command(), env=QUIET)
    assert done.returncode == 2 and name in done.stderr.splitlines()[-1], done.stderr
    assert name == "valid.tokens" or not run.losses()  # that one is looked at in the first evaluation


def test_a_dataset_that_is_cut_meanwhile_is_named(make_run, data, tmp_path):
    run = make_run()
    run.data = shutil.copytree(data, tmp_path / "data")
    child = run.start("stop.steps=1000000")
    run.wait_for_step(child, 3)
    os.truncate(run.data / "train.tokens", 0)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 3 and f"cannot read {run.data}/train.tokens" in stderr.splitlines()[-1], stderr


def test_what_texts_hold_does_nothing_to_terminals_and_logs(make_run, tandem, data, tmp_path):
    evil, text = "a \x1b]0;owned\x07 \x1b[2J \u202e \u009b31m b", data.parent
    for side in ("src", "tgt"):
        (tmp_path / f"valid.{side}").write_text(f"{evil}\n" * 4)
    done = tandem("prepare", "--src", text / "train.src", "--tgt", text / "train.tgt", "--valid-src", tmp_path / "valid.src", "--valid-tgt",
                  tmp_path / "valid.tgt", "--out", tmp_path / "data", "--vocab-size", "100")
    assert done.returncode == 0, done.stderr
    run = make_run()
    run.data = tmp_path / "data"
    said = run.train("stop.steps=5", "eval.samples=2").stderr
    texts = [said, (run.path / "logs/rank-0.log").read_text(), (run.path / "samples.txt").read_text(),
             tandem("\x1b[2J").stderr, tandem("train", "\x1b[2J.yaml").stderr]
    for text in texts:
        assert text and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), repr(text)


def test_unknown_settings_are_refused(make_run):
    run = make_run()
    refused(run.train("optim.lrr=1", code=2), "optim.lrr", "optim.lr")
    assert not run.path.exists()


def test_a_run_goes_back_three_times_and_never_again(make_run):
    run = make_run()
    calm = ("checkpoint.every=20", "checkpoint.keep=20", "eval.every=0", "log.every=100")
    run.train(*calm, "stop.steps=400")
    wild = (*calm, "stop.steps=700", "optim.schedule=transformer_policy", "optim.lr=1e5")
    went_back = lambda: [line for line in run.raw_lines() if line["type"] == "event" and line["kind"] == "rollback"]
    refused(run.train(*wild, code=2), "diverged", "it went back 3 times already", "optim.lr")
    assert len(went_back()) == 3 and [line["text"].split("times ")[1].split()[0] for line in went_back()] == ["0.5", "0.25", "0.125"]
    kept = run.checkpoints()
    refused(run.train(*wild, code=2), "it went back 3 times already")
    assert len(went_back()) == 3 and run.checkpoints() == kept


def test_a_loss_that_is_not_finite_stops_the_run_and_spares_the_weights(make_run):
    run = make_run()
    refused(run.train("optim.schedule=transformer_policy", "optim.lr=1e30", "optim.clip=0", "checkpoint.every=1", code=2),
            "diverged at step", "optim.lr")
    assert run.lines("end")[-1]["reason"] == "error"
    # The step that failed was not saved, and what was saved holds numbers only.
    from safetensors.numpy import load_file
    failed = max(run.losses(), default=0) + 1
    assert run.checkpoints() and max(run.checkpoints()) < f"step-{failed:08}"
    newest = load_file(run.path / "checkpoints" / run.checkpoints()[-1] / "model.safetensors")
    assert all(numpy.isfinite(values).all() for values in newest.values())


RUNS_AWAY = ("optim.schedule=transformer_policy", "optim.lr=1e40", "optim.warmup_steps=1", "eval.every=0", "checkpoint.every=0")
NOT_SAVED = "step 1 could not be saved: the weights are not numbers"


def test_weights_that_are_not_numbers_at_the_end_are_divergence_and_no_model(make_run):
    run = make_run()
    done = run.train(*RUNS_AWAY, "stop.steps=1", code=2)
    refused(done, "diverged at step 1", "weights are not numbers", "optim.lr")
    assert NOT_SAVED in done.stderr and NOT_SAVED in [line["text"] for line in run.lines("event")]
    assert run.lines("end")[-1]["reason"] == "error"
    assert not run.checkpoints() and not (run.path / "model").exists()


def test_a_signal_never_says_that_weights_which_are_not_numbers_are_saved(make_run):
    run = make_run()
    child = run.start(*RUNS_AWAY, "stop.steps=1000000", "batch.tokens=20000", "batch.max_tokens_per_micro=200")
    run.wait_for_step(child, 1)
    child.send_signal(signal.SIGTERM)
    _, stderr = child.communicate(timeout=60)
    if "diverged" in stderr:
        pytest.skip("the signal came after ten steps")
    assert child.returncode == 75, stderr
    last = stderr.splitlines()[-1]
    assert "but not saved: the weights are not numbers; there is no checkpoint" in last and "everything is saved" not in stderr
    assert "could not be saved" in run.lines("event")[-1]["text"] and not run.checkpoints()


def sign(folder: Path):
    """The manifest says that the files are as they are."""
    xxhash = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxhash.argtypes, xxhash.restype = (ctypes.c_char_p, ctypes.c_size_t), ctypes.c_uint64
    hash_of = lambda content: f"{xxhash(content, len(content)):016x}"
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    for name, entry in manifest["files"].items():
        content = (folder / name).read_bytes()
        entry.update(bytes=len(content), hash=hash_of(content))
    manifest["hash"] = ""
    manifest["hash"] = hash_of(json.dumps(manifest, separators=(",", ":")).encode())
    (folder / "MANIFEST.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("key, value", [("step", -7), ("step", 2**63 - 1), ("step", 6), ("updates", -7), ("rate_factor", -5), ("rollbacks", -10**9),
                                        ("cursor", {"epoch": 2**63 - 1, "next": 0})])
def test_a_checkpoint_of_what_no_run_counts_to_is_refused(make_run, whole, key, value):
    run = make_run()
    shutil.copytree(whole().path, run.path)
    folder = run.path / "checkpoints/step-00000020"
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps({**state, key: value}))
    sign(folder)
    before = run.checkpoints()
    refused(run.train("stop.steps=21", code=2), folder / "state.json", "epoch" if key == "cursor" else key)
    assert run.checkpoints() == before


def test_no_model_is_made_of_weights_that_are_not_numbers(make_run, whole):
    from safetensors.numpy import load_file, save_file
    run = make_run()
    shutil.copytree(whole().path, run.path)
    shutil.rmtree(run.path / "best")
    folder = run.path / "checkpoints/step-00000020"
    weights = load_file(folder / "model.safetensors")
    next(iter(weights.values())).flat[0] = numpy.nan
    save_file(weights, folder / "model.safetensors")
    sign(folder)
    model = (run.path / "model/model.safetensors").read_bytes()
    refused(run.train(code=2), "weights of step 20 are not numbers")
    assert (run.path / "model/model.safetensors").read_bytes() == model


def test_a_name_in_a_file_forges_no_line(make_run, whole, tmp_path):
    run, model = make_run(), shutil.copytree(whole().path / "model", tmp_path / "model")
    for name in ("a\ntandem: done, all is well\nx", "k" * 3_000_000):
        key = json.dumps(name)
        header = f'{{{key}: {{}}, {key}: {{}}}}'.encode()
        (model / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
        done = run.train(f"start_from={model}", code=2)
        refused(done, "appears twice", "model.safetensors")
        assert len(done.stderr.splitlines()[-1]) < 500 and not any(line.startswith("tandem: done") for line in done.stderr.splitlines())


def test_out_of_memory_says_which_batch_and_what_to_change(measured, make_run):
    run = make_run()
    done = measured(*run.command("batch.tokens=20000", "batch.max_tokens_per_micro=20000", "model.ffn=65536"),
                    memory_limit=2 << 30)
    refused(done, "out of memory at step 1", "sentences", "batch.max_tokens_per_micro", code=3)
