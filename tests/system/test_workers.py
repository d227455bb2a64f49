"""train --workers: several workers on this machine train what one trains, and end together."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from small_run import FULL_RUN, MANY_MICRO, STOPS, steps_of_an_epoch

CONFIG = FULL_RUN + """
eval: {every: 5, beam: 1}
stop: {steps: 20}
log: {every: 5}
cluster: {check_every: 5}
"""
QUIET = {"OMP_WAIT_POLICY": "passive"}


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


class Run:
    def __init__(self, program, tandem, data, folder: Path):
        self.program, self.tandem, self.data, self.path = program, tandem, data, folder / "run"
        self.config = folder / "config.yaml"
        self.config.write_text(CONFIG)

    def command(self, workers, *more):
        return ["train", self.config, "--workers", workers, f"data.path={self.data}", f"run={self.path}", *more]

    def train(self, workers, *more, code=0):
        done = self.tandem(*self.command(workers, *more), env=QUIET)
        assert done.returncode == code, done.stderr
        return done

    def start(self, workers, *more):
        return subprocess.Popen([str(part) for part in (self.program, *self.command(workers, *more))], stdin=subprocess.DEVNULL,
                                env={**os.environ, **QUIET}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def lines(self, kind):
        """The lines that count: a resumed run supersedes what came after its checkpoint."""
        path = self.path / "journal.jsonl"
        text = path.read_text() if path.exists() else ""
        kept = []
        for line in map(json.loads, text[:text.rfind("\n") + 1].splitlines()):
            if line["type"] == "run" and line["resumed_from"] is not None:
                kept = [old for old in kept if old.get("step", 0) <= line["resumed_from"]]
            kept.append(line)
        return [line for line in kept if line["type"] == kind]

    def wait_for_step(self, child, step):
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline and child.poll() is None:
            if any(line["step"] >= step for line in self.lines("step")):
                return
            time.sleep(0.01)
        child.kill()
        raise AssertionError(f"step {step} was not reached: {child.communicate()[1]}")

    def losses(self):
        return {line["step"]: line["loss"] for line in self.lines("step")}

    def pids(self):
        """Of the workers, by rank."""
        return [worker["pid"] for worker in self.lines("run")[-1]["cluster"]["by_rank"]]

    def weights(self, step):
        folder = self.path / f"checkpoints/step-{step:08}"
        return (folder / "model.safetensors").read_bytes(), (folder / "optimizer.safetensors").read_bytes()


@pytest.fixture
def make_run(program, tandem, data, tmp_path):
    def make(name="a"):
        (tmp_path / name).mkdir()
        return Run(program, tandem, data, tmp_path / name)

    return make


@pytest.fixture(scope="module")
def whole(program, tandem, data, tmp_path_factory):
    """Uninterrupted runs, by number of workers and settings."""
    made = {}

    def of(*how):
        if how not in made:
            made[how] = Run(program, tandem, data, tmp_path_factory.mktemp("whole"))
            made[how].train(*how)
        return made[how]

    return of


def gone(pids, seconds=10):
    deadline = time.monotonic() + seconds
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("workers", [2, 4])
def test_many_workers_train_what_one_trains(whole, workers):
    one, many = whole(1), whole(workers)
    assert many.losses() == pytest.approx(one.losses(), rel=1e-5) and len(many.losses()) == 20
    for key in ("tokens", "sentences", "src_tokens"):
        assert [s[key] for s in many.lines("step")] == [s[key] for s in one.lines("step")]
    for ours, theirs in zip(many.lines("eval"), one.lines("eval")):
        assert ours["val_loss"] == pytest.approx(theirs["val_loss"], rel=1e-5)
        assert ours["train_loss"] == pytest.approx(theirs["train_loss"], rel=1e-5)
    assert (many.path / "model/model.safetensors").exists()


def test_the_journal_tells_of_all_workers(whole):
    run = whole(2)
    facts = run.lines("run")[0]["cluster"]
    assert facts["workers"] == 2 and facts["hosts"] == 1 and len(facts["by_rank"]) == 2
    for line in run.lines("step"):
        ranks = line["ranks"]
        assert ranks["workers"] == 2 and set(ranks["mean"]) == set(line["seconds"])
        for phase in line["seconds"]:
            assert ranks["min"][phase] <= ranks["mean"][phase] <= ranks["max"][phase]
        assert line["bytes_out"] == line["bytes_in"] == 0  # nothing leaves the host
    assert "ranks" not in whole(1).lines("step")[0]
    assert "step 20/20" in (run.path / "logs/rank-0.log").read_text()
    assert "step 20/20" in (run.path / "logs/rank-1.log").read_text()


def test_what_is_written_is_for_its_owner_alone(whole, data):
    written = [path for folder in (whole(2).path, data) for path in (folder, *folder.rglob("*")) if not path.is_symlink()]
    assert len(written) > 20
    assert not [path for path in written if path.stat().st_mode & 0o077]


@pytest.mark.parametrize("env", [{"SLURM_JOB_ID": 7, "SLURM_PROCID": 0, "SLURM_STEP_NUM_TASKS": 1}, {"RANK": 0, "WORLD_SIZE": 1},
                                 {"MASTER_ADDR": "10.0.0.1"}])
def test_they_start_where_a_launcher_started_no_others(make_run, tandem, env):
    run = make_run()
    done = tandem(*run.command(2, "stop.steps=2"), env={**QUIET, **env})
    assert done.returncode == 0, done.stderr
    assert len(run.lines("run")[0]["cluster"]["by_rank"]) == 2


def test_they_do_not_start_beside_those_of_a_launcher(make_run, tandem):
    env = {"RANK": 0, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29500}
    done = tandem(*make_run().command(2), env={**QUIET, **env})
    assert done.returncode == 2 and "as one of several already" in done.stderr


def test_only_rank_0_prints(make_run):
    done = make_run().train(2, "stop.steps=5")
    assert done.stderr.count("step 5/5") == 1 and done.stderr.count("workers     2 on 1 host") == 1


@pytest.mark.parametrize("workers", [2, 4])
def test_the_same_number_of_workers_resumes_to_the_bit(make_run, whole, workers):
    run = make_run()
    child = run.start(workers, "stop.steps=1000000")
    run.wait_for_step(child, 7)
    child.send_signal(signal.SIGTERM)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 75, stderr
    if max(run.losses()) < 20:
        run.train(workers)
        assert run.losses() == whole(workers).losses()
        assert run.weights(20) == whole(workers).weights(20)


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("point", STOPS)
def test_stopped_at_any_step_they_go_on_exactly(make_run, whole, point, workers):
    stop = STOPS[point](steps_of_an_epoch(whole(workers)))
    run = make_run()
    run.train(workers, f"stop.steps={stop}")
    run.train(workers)
    assert run.lines("run")[-1]["resumed_from"] == stop
    assert run.losses() == whole(workers).losses() and run.weights(20) == whole(workers).weights(20)


@pytest.mark.parametrize("workers", [2, 4])
def test_killed_inside_an_accumulation_window_they_go_on_exactly(make_run, whole, workers):
    reference = whole(workers, *MANY_MICRO)
    assert all(line["micro_batches"] >= 4 for line in reference.lines("step"))
    run = make_run()
    child = run.start(workers, *MANY_MICRO)
    run.wait_for_step(child, 5)
    while child.poll() is None and not any(line["step"] >= 4 for line in run.lines("checkpoint")):  # written beside training
        time.sleep(0.01)
    time.sleep(0.4 * run.lines("step")[-1]["seconds"]["total"])
    pids = run.pids()
    for pid in (child.pid, *pids):
        with contextlib.suppress(ProcessLookupError):  # it was quicker
            os.kill(pid, signal.SIGKILL)
    child.communicate()
    assert gone(pids)
    run.train(workers, *MANY_MICRO)
    assert run.lines("run")[-1]["resumed_from"] >= 4
    assert run.losses() == reference.losses() and run.weights(20) == reference.weights(20)


def test_ten_stops_in_a_row_change_nothing(make_run, whole):
    run = make_run()
    for stop in [*sorted(random.Random(11).sample(range(1, 20), 10)), 20]:
        run.train(2, f"stop.steps={stop}")
    assert len([line for line in run.lines("run") if line["resumed_from"] is not None]) == 10
    assert run.losses() == whole(2).losses() and run.weights(20) == whole(2).weights(20)


@pytest.fixture(scope="module")
def data_to_judge_for_long(reversed_words):
    """The same to learn from, and 400 times as much to judge by."""
    return reversed_words(300, valid=8000) / "data"


@pytest.mark.parametrize("told", ["alone", "all", "rank 0", "rank 1"])
def test_a_signal_ends_an_evaluation_and_the_resumed_run_makes_up_for_it(make_run, whole, data_to_judge_for_long, told):
    workers = 1 if told == "alone" else 2
    run = make_run()
    run.data = data_to_judge_for_long
    child = run.start(workers, "eval.beam=16")
    run.wait_for_step(child, 5)
    time.sleep(0.3)
    os.kill(run.pids()[int(told[-1])] if told.startswith("rank") else child.pid, signal.SIGTERM)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 75, stderr
    assert not run.lines("eval") and max(run.losses()) == 5
    run.train(workers, "eval.sentences=20")
    assert [line["step"] for line in run.lines("eval")] == [5, 10, 15, 20]
    assert run.losses() == whole(workers).losses() and run.weights(20) == whole(workers).weights(20)


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05])
def test_a_signal_after_the_last_save_changes_nothing(make_run, delay):
    child = make_run().start(2)
    said = ""
    while not said.startswith("done"):
        said = child.stderr.readline()
        assert said, "it did not get done"
    time.sleep(delay)
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2, 0.4])
def test_a_signal_before_the_workers_are_there_is_a_stop(make_run, delay):
    child = make_run().start(2, "stop.steps=100000")  # more than it can do before the signal
    while not Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text():
        time.sleep(0.001)
    time.sleep(delay)
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 75, errors


def test_another_validation_set_on_a_worker_is_refused(program, data, reversed_words, free_port, tmp_path):
    """It would wait for ever in the first evaluation."""
    other = reversed_words(300, valid=10) / "data"
    (tmp_path / "config.yaml").write_text(CONFIG)
    common = {**os.environ, **QUIET, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port), "TANDEM_TOKEN": "a secret of the team"}
    workers = [subprocess.Popen([str(part) for part in (program, "train", tmp_path / "config.yaml", f"data.path={path}", f"run={tmp_path}/run")],
                                env={**common, "RANK": str(rank)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
               for rank, path in enumerate((data, other))]
    said = [worker.communicate(timeout=60)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [2, 2], said
    assert "has other settings or another dataset: valid is" in said[0]


def test_resume_on_other_numbers_of_workers(make_run, whole):
    run = make_run()
    run.train(4, "stop.steps=6")
    run.train(2, "stop.steps=12")
    run.train(4)
    assert run.losses() == pytest.approx(whole(1).losses(), rel=1e-4) and len(run.losses()) == 20
    assert [s["sentences"] for s in run.lines("step")] == [s["sentences"] for s in whole(1).lines("step")]


def test_sentences_per_worker_fix_the_number_of_workers(make_run):
    run = make_run()
    run.config.write_text(CONFIG.replace("batch: {tokens: 700,", "batch: {sentences_per_worker: 20,"))
    run.train(2, "stop.steps=3")
    assert run.lines("step")[0]["sentences"] == 40
    done = run.train(4, code=2)
    assert "workers was 2 and is 4" in done.stderr


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_killed_worker_ends_the_others_with_its_name(make_run, rank):
    run = make_run()
    child = run.start(3, "stop.steps=1000000", "cluster.restarts=0")
    run.wait_for_step(child, 6)
    pids = run.pids()
    os.kill(pids[rank], signal.SIGKILL)
    _, stderr = child.communicate(timeout=30)
    assert child.returncode == 3, stderr
    assert re.search(rf"rank {rank} \(pid {pids[rank]}\)", stderr), stderr
    assert len([line for line in stderr.splitlines() if line.startswith("tandem: ") and "rank" in line]) == 1, stderr
    assert gone(pids)
    run.train(3, "stop.steps=8")  # and the same command goes on


LONG = ("stop.steps=400", "eval.every=100")


@pytest.fixture(scope="module")
def long_run(program, tandem, data, tmp_path_factory):
    """Uninterrupted, and long enough that the kill of a worker comes in time."""
    run = Run(program, tandem, data, tmp_path_factory.mktemp("long"))
    run.train(2, *LONG)
    return run


@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_worker_is_started_again_and_nothing_is_lost(make_run, long_run, rank):
    run = make_run()
    child = run.start(2, *LONG)
    run.wait_for_step(child, 7)
    first = run.pids()
    os.kill(first[rank], signal.SIGKILL)
    _, stderr = child.communicate(timeout=100)
    assert child.returncode == 0, stderr
    assert re.search(r"the workers start again in 0\.5 s, restart 1 of 3 without a new checkpoint", stderr), stderr
    (event,) = [line for line in run.lines("event") if line["kind"] == "restart"]
    assert event["text"] == f"restart 1: rank {rank} (pid {first[rank]}) was ended by signal 9 (Killed)"
    assert run.losses() == long_run.losses() and run.weights(400) == long_run.weights(400)
    assert gone(first)


def test_workers_that_always_die_are_given_up(make_run):
    run = make_run()
    child = run.start(2, "checkpoint.every=0", "eval.every=0", "stop.steps=1000000", "cluster.restarts=1")
    for _ in range(2):
        seen = len([line for line in run.lines("run")])
        deadline = time.monotonic() + 60
        while len(run.lines("run")) == seen and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(run.pids()[1], signal.SIGKILL)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 93, stderr
    last = stderr.splitlines()[-1]
    assert re.match(r"tandem: gave up after 1 restart without a new checkpoint: rank 1 \(pid \d+\) was ended by signal 9", last), last
    assert gone(run.pids())


def test_ctrl_c_saves_once_and_ends_with_75(make_run):
    run = make_run()
    child = run.start(2, "checkpoint.every=0", "eval.every=0", "stop.steps=1000000")
    run.wait_for_step(child, 3)
    pids = run.pids()
    child.send_signal(signal.SIGINT)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode == 75, stderr
    assert stderr.count("everything is saved") == 1
    steps = max(run.losses())
    assert sorted(p.name for p in (run.path / "checkpoints").glob("step-*")) == [f"step-{steps:08}"]
    assert gone(pids)


@pytest.mark.parametrize("inherited", [signal.SIG_DFL, signal.SIG_IGN])
def test_workers_do_not_outlive_their_parent(make_run, inherited):
    run, before = make_run(), signal.signal(signal.SIGTERM, inherited)
    child = run.start(2, "stop.steps=1000000")
    signal.signal(signal.SIGTERM, before)
    run.wait_for_step(child, 3)
    pids = run.pids()
    child.kill()
    child.communicate()
    assert gone(pids, 30)
    run.train(2, "stop.steps=1")  # no lock is left


def test_auto_takes_a_worker_for_each_core(make_run):
    cores = sorted(os.sched_getaffinity(0))[:2]
    for batch, expected in (("batch.tokens=1100", len(cores)), ("batch.tokens=400", 1)):
        run = make_run(batch)
        child = subprocess.run(["taskset", "-c", ",".join(map(str, cores)), run.program, *map(str, run.command("auto", batch, "stop.steps=2"))],
                               capture_output=True, text=True, env={**os.environ, **QUIET})
        assert child.returncode == 0, child.stderr
        assert len(run.lines("step")) == 2
        assert len((run.lines("run")[-1].get("cluster") or {"by_rank": [0]})["by_rank"]) == expected


def test_mistakes_are_told_once(make_run, tandem):
    run = make_run()
    for more, words in ((["data.path=absent"], "absent"), (["optim.lrr=1"], "optim.lrr"),
                        (["run=/proc/run"], "/proc/run"), (["--resume", "absent"], "absent")):
        done = tandem(*run.command(2, *more), env=QUIET)
        assert done.returncode in (2, 3), done.stderr
        assert words in done.stderr and done.stderr.count("tandem: ") == 1, done.stderr
    done = tandem(*run.command(2), env={**QUIET, "RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                                       "MASTER_PORT": "29511"})
    assert done.returncode == 2 and "--workers" in done.stderr


def test_a_run_that_diverges_ends_alike_everywhere(make_run):
    done = make_run().train(2, "optim.schedule=transformer_policy", "optim.lr=1e30", "optim.clip=0", code=2)
    assert done.stderr.count("diverged at step") == 1, done.stderr
