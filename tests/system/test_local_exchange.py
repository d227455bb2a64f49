"""cluster.mode local and auto on hosts of the lab: bytes, losses, exact resume, a cut link, the choice."""

import json
import os
import shutil
import signal
import time

import pytest
from small_run import CODED_RUN

CONFIG = CODED_RUN + """
checkpoint: {every: 1000000}
cluster: {check_every: 7}
"""
LOCAL = ("cluster.mode=local", "cluster.local_steps=4", "cluster.local_code=int8")
BUSY_FACTOR = 2  # other work may run beside
CUT_SECONDS = float(os.environ.get("TANDEM_CUT_SECONDS", 8))


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


class Hosts:
    def __init__(self, lab, program, data):
        self.lab, self.program = lab, program
        for name in lab.names:
            shutil.copytree(data, lab.folder / name / "data")
            (lab.folder / name / "config.yaml").write_text(CONFIG)

    def command(self, run, *settings) -> list:
        disk = self.lab.disk
        return [self.program, "train", disk / "config.yaml", f"data.path={disk}/data", f"run={disk}/{run}", *settings]

    def train(self, run, *settings, workers=1) -> list:
        """The journal; and what was printed, in self.output."""
        done = self.lab.mpirun(self.command(run, *settings), workers=workers, env={"OMP_WAIT_POLICY": "passive"},
                               timeout=300)
        self.output = done.stdout
        assert done.returncode == 0, done.stdout
        return self.journal(run)

    def journal(self, run, host="host-a") -> list:
        path = self.lab.folder / host / run / "journal.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def weights(self, run) -> bytes:
        newest = max((self.lab.folder / "host-a" / run / "checkpoints").glob("step-*"))
        return (newest / "model.safetensors").read_bytes() + (newest / "optimizer.safetensors").read_bytes()


@pytest.fixture
def hosts(lab, program, data):
    if not shutil.which("mpirun"):
        pytest.skip("needs mpirun: scripts/setup --tests installs it")
    return lambda **options: Hosts(lab(**options), program, data)


def losses(records) -> list:
    return [record["loss"] for record in records if record["type"] == "step"]


def events(records) -> str:
    return "\n".join(record["text"] for record in records if record["type"] == "event")


def test_few_bytes_nearly_the_same_losses_and_exact_resume(hosts):
    two = hosts()
    exact = two.train("exact", "cluster.mode=exact", "stop.steps=18", workers=2)
    whole = two.train("whole", *LOCAL, "cluster.local_rate=1", "stop.steps=18", workers=2)
    parameters = next(record for record in whole if record["type"] == "run")["parameters"]
    sent = [record["bytes_out"] for record in whole if record["type"] == "step"]
    assert 0.98 < sum(sent[8:16]) / 2 / parameters / 1.04 < 1.04  # of two rounds
    assert losses(whole) == pytest.approx(losses(exact), rel=0.15)
    assert losses(whole)[-1] < 0.9 * losses(whole)[0]

    two.train("parts", *LOCAL, "cluster.local_rate=1", "stop.steps=9", workers=2)
    parts = two.train("parts", *LOCAL, "cluster.local_rate=1", "stop.steps=18", workers=2)
    assert losses(parts) == losses(whole)
    assert two.weights("parts") == two.weights("whole")
    assert "not to the bit" not in events(parts)

    # Without its part of the checkpoint a host starts from what all had in common, and so do all.
    shutil.rmtree(two.lab.folder / "host-b/parts/hosts")
    more = two.train("parts", *LOCAL, "cluster.local_rate=1", "stop.steps=20", workers=2)
    assert "host-b" in events(more) and "not to the bit" in events(more)
    assert len(losses(more)) == 20

    # A disk that takes no part is told of, in the journal and the terminal, and the run goes on.
    shutil.rmtree(two.lab.folder / "host-b/parts/hosts")
    (two.lab.folder / "host-b/parts/hosts").write_text("in the way")
    more = two.train("parts", *LOCAL, "cluster.local_rate=1", "stop.steps=22", workers=2)
    assert "could not save its part of step 22: cannot create" in events(more) and "could not save its part" in two.output
    assert len(losses(more)) == 22 and (two.lab.folder / "host-a/parts/checkpoints/step-00000022").exists()


def test_with_fp16_each_host_scales_its_own_loss_and_goes_on_exactly(hosts):
    two = hosts()
    settings = (*LOCAL, "precision=fp16", "optim.loss_scale=1073741824", "optim.loss_scale_window=2")
    whole = two.train("whole", *settings, "stop.steps=40")
    assert 0 < sum(record["skipped"] for record in whole if record["type"] == "step") < 30
    two.train("parts", *settings, "stop.steps=29")
    own = [json.loads((two.lab.folder / name / f"parts/hosts/{host}-step-00000029/state.json").read_text())["own"]
           for host, name in enumerate(two.lab.names)]
    assert own[0]["loss_scale"] != own[1]["loss_scale"], "else it tests little"
    parts = two.train("parts", *settings, "stop.steps=40")
    assert "not to the bit" not in events(parts)
    assert losses(parts) == losses(whole)
    assert two.weights("parts") == two.weights("whole")


def test_a_cut_link_is_survived_and_told_meanwhile(hosts):
    two = hosts()
    command = two.command("run", *LOCAL, "cluster.timeout=2", f"stop.hours={(2 * CUT_SECONDS + 16) / 3600}")
    process = two.lab.start_mpirun(command, workers=1, env={"OMP_WAIT_POLICY": "passive"})
    deadline = time.monotonic() + 120
    while len(losses(two.journal("run"))) < 10:
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline, "no tenth step within two minutes"
        time.sleep(0.1)
    two.lab.pull_cable("host-b")
    time.sleep(CUT_SECONDS)
    while "was not heard of" not in events(two.journal("run")):  # although training waits itself
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline, "nobody was told of the cut link"
        time.sleep(0.1)
    before = len(losses(two.journal("run")))
    two.lab.plug_in("host-b")
    plugged_in = time.time()
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    records = two.journal("run")
    assert len(losses(records)) > before + 8
    later = [record["time"] for record in records if record["type"] == "step"][before]
    print(f"cut for {CUT_SECONDS:.0f} s; the next step was done {later - plugged_in:.1f} s after that, {len(losses(records)) - before} steps followed")
    assert "heard of again" in events(records) and "training waits for it" in output
    assert two.journal("run", "host-b") == records


def test_three_hosts(hosts):
    three = hosts(hosts=3)
    records = three.train("run", *LOCAL, "cluster.local_code=int4", "stop.steps=14")
    assert losses(records)[-1] < losses(records)[0]
    chosen = next(record for record in records if record["type"] == "run")["exchange"]
    assert chosen == {"mode": "local", "format": "int4", "local_steps": 4, "local_delay": 2}


def test_auto_says_what_it_chose_and_keeps_it(hosts):
    slow = hosts(rate="5mbit")
    records = slow.train("run", "batch.tokens=100", "stop.steps=6")
    chosen = next(record for record in records if record["type"] == "run")["exchange"]
    assert chosen["mode"] == "local" and chosen["local_steps"] >= 2
    assert "chosen from the links" in slow.output and "lossy" in slow.output and "one host" in slow.output
    slow.lab.full_speed()
    again = [record for record in slow.train("run", "batch.tokens=100", "stop.steps=9") if record["type"] == "run"]
    assert len(again) == 2 and again[1]["exchange"] == chosen

    fast = slow.train("fast", "batch.tokens=4000", "stop.steps=3")
    assert next(record for record in fast if record["type"] == "run")["exchange"]["mode"] == "exact"


def two_workers(two, run, *settings) -> list:
    """One on each host, started by hand: mpirun would wait for the host that is cut off."""
    common = {"WORLD_SIZE": 2, "MASTER_ADDR": two.lab.address["host-a"], "MASTER_PORT": 29500, "TANDEM_TOKEN": "a secret of the team",
              "OMP_WAIT_POLICY": "passive"}
    return [two.lab.start(name, two.command(run, *settings), {"RANK": rank, **common}) for rank, name in enumerate(two.lab.names)]


def test_a_signal_is_answered_by_the_step_that_is_the_last(hosts):
    two = hosts()
    workers = two_workers(two, "run", "cluster.mode=local", "cluster.local_steps=160", "stop.steps=1000000")
    deadline = time.monotonic() + 120
    while len(losses(two.journal("run"))) < 3:
        assert workers[0].poll() is None, workers[0].stdout.read()
        assert time.monotonic() < deadline, "no third step within two minutes"
        time.sleep(0.1)
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
    said = [worker.communicate(timeout=240)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [75, 75], said
    last = len(losses(two.journal("run")))
    for host, text in (("host-a", events(two.journal("run"))), ("host-a", said[0]), ("host-b", said[1])):
        assert f"a worker of {host} was told to stop: all hosts do so after step {last}, " in text, text


def test_a_signal_while_the_link_is_cut_ends_the_run_at_its_newest_checkpoint(hosts):
    two = hosts()
    settings = (*LOCAL, "cluster.timeout=2", "checkpoint.every=5")
    workers = two_workers(two, "run", *settings, "stop.steps=1000000")
    deadline = time.monotonic() + 120
    while not any(record["type"] == "checkpoint" for record in two.journal("run")):
        assert workers[0].poll() is None, workers[0].stdout.read()
        assert time.monotonic() < deadline, "no checkpoint within two minutes"
        time.sleep(0.1)
    two.lab.pull_cable("host-b")
    time.sleep(1)
    began = time.monotonic()
    for worker in workers:  # as a scheduler does that takes both hosts away
        worker.send_signal(signal.SIGTERM)
    said = [worker.communicate(timeout=60)[0] for worker in workers]
    took = time.monotonic() - began
    assert [worker.returncode for worker in workers] == [75, 75], said
    assert took < 15 * BUSY_FACTOR, f"{took:.1f} s"
    print(f"both hosts ended {took:.1f} s after the signal")
    assert "host-b rank 1" in said[0] and "was not heard of" in said[0] and "newest checkpoint" in said[0]
    assert "host-a rank 0" in said[1], said[1]
    assert "newest checkpoint" in events(two.journal("run"))
    two.lab.plug_in("host-b")

    saved = max(int(path.name[5:]) for path in (two.lab.folder / "host-a/run/checkpoints").glob("step-*"))
    assert not list((two.lab.folder / "host-a/run/checkpoints").glob(".*"))
    end = saved + 7
    for run in ("run", "whole"):
        workers = two_workers(two, run, *settings, f"stop.steps={end}")
        said = [worker.communicate(timeout=240)[0] for worker in workers]
        assert [worker.returncode for worker in workers] == [0, 0], said
    resumed = [record for record in two.journal("run") if record["type"] == "run"][-1]
    assert resumed["resumed_from"] == saved and "not to the bit" not in events(two.journal("run"))
    assert two.weights("run") == two.weights("whole")
