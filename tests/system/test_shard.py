"""optim.shard: each worker keeps a part of the optimizer's state; the same training to the bit, from checkpoints that fit all."""

import json
import os
import shutil
import signal

import pytest
from small_run import SMALL_RUN
from test_workers import LONG, Run

SHARDED = ["optim.shard=true", "optim.weight_decay=0.01"]
WHOLE = ["optim.weight_decay=0.01"]


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


@pytest.fixture
def make_run(program, tandem, data, tmp_path):
    def make(name):
        (tmp_path / name).mkdir()
        return Run(program, tandem, data, tmp_path / name)

    return make


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_sharded_state_trains_the_same_to_the_bit(make_run, workers):
    whole, sharded = make_run("whole"), make_run("sharded")
    whole.train(workers, *WHOLE)
    told = sharded.train(workers, *SHARDED).stderr
    assert sharded.losses() == whole.losses() and len(whole.losses()) == 20
    for key in ("val_loss", "train_loss", "bleu"):
        assert [line[key] for line in sharded.lines("eval")] == [line[key] for line in whole.lines("eval")]
    assert sharded.weights(20) == whole.weights(20)
    assert (sharded.path / "model/model.safetensors").read_bytes() == (whole.path / "model/model.safetensors").read_bytes()
    assert (f"of state a worker, sharded over {workers};" in told) == (workers > 1)


def test_checkpoints_fit_any_number_of_workers_sharded_or_not(make_run):
    whole, mixed = make_run("whole"), make_run("mixed")
    whole.train(1, *WHOLE)
    mixed.train(2, *SHARDED, "stop.steps=6")
    assert "optim.shard was true and is false from here on" in mixed.train(4, *WHOLE, "stop.steps=12").stderr
    mixed.train(2, *SHARDED)
    assert mixed.losses() == pytest.approx(whole.losses(), rel=1e-4) and len(mixed.losses()) == 20


def test_a_killed_worker_is_started_again_and_nothing_is_lost(make_run):
    whole, killed = make_run("whole"), make_run("killed")
    whole.train(2, *SHARDED, *LONG)
    child = killed.start(2, *SHARDED, *LONG)
    killed.wait_for_step(child, 7)
    os.kill(killed.pids()[1], signal.SIGKILL)
    _, stderr = child.communicate(timeout=100)
    assert child.returncode == 0, stderr
    assert [line for line in killed.lines("event") if line["kind"] == "restart"]
    assert killed.losses() == whole.losses() and killed.weights(400) == whole.weights(400)


def test_the_newest_averaged_weights_become_the_model_when_none_is_best(make_run):
    whole, sharded = make_run("whole"), make_run("sharded")
    whole.train(2, *WHOLE, "checkpoint.best=0", "stop.steps=6")
    sharded.train(2, *SHARDED, "checkpoint.best=0", "stop.steps=6")
    assert (sharded.path / "model/model.safetensors").read_bytes() == (whole.path / "model/model.safetensors").read_bytes()


@pytest.mark.parametrize("mode", ["int8", "int4", "local"])
def test_modes_that_it_does_not_go_with_are_refused_by_name(make_run, mode):
    done = make_run("a").train(2, *SHARDED, f"cluster.mode={mode}", code=2)
    assert f"optim.shard=true does not go with cluster.mode={mode}" in done.stderr


@pytest.fixture
def train_on_hosts(lab, program, data):
    """train_on_hosts(run's name, settings...): the step records of two hosts with two workers each."""
    if not shutil.which("mpirun"):
        pytest.skip("needs mpirun: scripts/setup --tests installs it")
    hosts = lab()
    for name in hosts.names:
        shutil.copytree(data, hosts.folder / name / "data")
        (hosts.folder / name / "config.yaml").write_text(SMALL_RUN)

    def run(name, *settings):
        done = hosts.mpirun([program, "train", hosts.disk / "config.yaml", f"data.path={hosts.disk}/data", f"run={hosts.disk}/{name}",
                             "optim.clip=1.0", "cluster.check_every=3", *settings], workers=2, env={"OMP_WAIT_POLICY": "passive"}, timeout=300)
        assert done.returncode == 0, done.stdout
        journal = [json.loads(line) for line in (hosts.folder / "host-a" / name / "journal.jsonl").read_text().splitlines()]
        parameters = next(line["parameters"] for line in journal if line["type"] == "run")
        steps = [line for line in journal if line["type"] == "step"]
        return [line["loss"] for line in steps], steps[0]["bytes_out"] / parameters

    return run


def test_two_hosts_train_the_same_to_the_bit(train_on_hosts):
    # bf16 carries a gradient's sum in two bytes; sharded, half the gradients leave a host and half the weights, in four bytes.
    for wire, whole_bytes, sharded_bytes in (("fp32", 4, 4), ("bf16", 2, 3)):
        whole, sent = train_on_hosts(f"{wire}-whole", "stop.steps=6", "cluster.mode=exact", f"cluster.wire={wire}")
        sharded, sent_sharded = train_on_hosts(f"{wire}-sharded", "stop.steps=6", f"cluster.wire={wire}", "optim.shard=true")
        assert sharded == whole and len(whole) == 6
        assert sent == pytest.approx(whole_bytes, rel=0.02) and sent_sharded == pytest.approx(sharded_bytes, rel=0.1)
