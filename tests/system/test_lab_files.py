"""Hosts without a shared disk: the dataset is sent, checkpoints are copied, and the newest one is found wherever it is."""

import json
import re
import shutil
from pathlib import Path

import pytest
from small_run import SMALL_RUN

CONFIG = SMALL_RUN + """
cluster: {wire: fp32, mode: exact}
checkpoint: {every: 4, keep: 2}
"""


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


class Hosts:
    """Two hosts; the dataset is on host-a only."""

    def __init__(self, lab, program: Path, data: Path):
        self.lab, self.a, self.b = lab, lab.folder / "host-a", lab.folder / "host-b"
        shutil.copytree(data, self.a / "data")
        for own in (self.a, self.b):
            (own / "config.yaml").write_text(CONFIG)
        self.command = [program, "train", lab.disk / "config.yaml", f"data.path={lab.disk}/data"]

    def train(self, *more, run="run", code=0):
        done = self.lab.mpirun([*self.command, f"run={self.lab.disk}/{run}", *more], workers=1,
                               env={"OMP_WAIT_POLICY": "passive"})
        assert (done.returncode == 0) == (code == 0), done.stdout
        return done.stdout

    def records(self, kind, run="run"):
        lines = (self.a / run / "journal.jsonl").read_text().splitlines()
        return [record for record in map(json.loads, lines) if record["type"] == kind]


@pytest.fixture
def hosts(lab, program, data):
    if not shutil.which("mpirun"):
        pytest.skip("needs mpirun: scripts/setup --tests installs it")
    return Hosts(lab(), program, data)


def contents(folder: Path) -> dict:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def checkpoints(host: Path, run="run") -> list:
    return sorted(path.name for path in (host / run / "checkpoints").glob("step-*"))


def test_the_dataset_is_sent_to_a_host_that_lacks_it(hosts):
    refused = hosts.train("stop.steps=2", code=2)
    assert re.search(r"host-b rank 1 .*/data is not a dataset", refused), refused
    hosts.train("stop.steps=2", "data.distribute=true")
    assert contents(hosts.b / "data") == contents(hosts.a / "data")
    assert not list(hosts.b.glob(".data*"))
    (note,) = [event["text"] for event in hosts.records("event") if event["kind"] == "files"]
    assert re.search(r"sent the dataset .* to host-b: .* in [0-9.]+ s", note)

    # Another one is replaced, an equal one is left alone.
    inode = (hosts.b / "data").stat().st_ino
    hosts.train("stop.steps=3", "data.distribute=true")
    assert (hosts.b / "data").stat().st_ino == inode
    card = hosts.b / "data/card.json"
    card.write_text(card.read_text().replace("train", "trian", 1))
    hosts.train("stop.steps=4", "data.distribute=true")
    assert contents(hosts.b / "data") == contents(hosts.a / "data")
    hosts.train("stop.steps=5")  # the setting may change
    assert [record["step"] for record in hosts.records("step")] == [1, 2, 3, 4, 5]

    # So is a damaged one.
    tokens = hosts.b / "data/train.tokens"
    damaged = bytearray(tokens.read_bytes())
    damaged[500] ^= 1
    tokens.write_bytes(damaged)
    hosts.train("stop.steps=6", "data.distribute=true")
    assert contents(hosts.b / "data") == contents(hosts.a / "data")


def test_what_is_no_dataset_is_not_replaced_by_one(hosts):
    (hosts.b / "data").mkdir()
    (hosts.b / "data/train.en").write_text("the only copy\n")
    refused = hosts.train("stop.steps=2", "data.distribute=true", code=3)
    assert re.search(r"cannot send the dataset to host-b: .*/data is there and is no dataset", refused), refused
    assert contents(hosts.b / "data") == {"train.en": b"the only copy\n"}


def test_all_corpora_are_sent(hosts):
    shutil.copytree(hosts.a / "data", hosts.a / "more")
    shutil.copytree(hosts.a / "data", hosts.b / "data")
    mixed = f"data.corpora={hosts.lab.disk}/data:2, {hosts.lab.disk}/more:0.5"
    refused = hosts.train("stop.steps=2", mixed, code=2)
    assert re.search(r"host-b rank 1 .*/more is not a dataset", refused), refused
    hosts.train("stop.steps=2", mixed, "data.distribute=true")
    assert contents(hosts.b / "more") == contents(hosts.a / "more")
    (note,) = [event["text"] for event in hosts.records("event") if event["kind"] == "files"]
    assert re.search(r"sent the dataset .*/more to host-b", note)
    assert [part["weight"] for part in hosts.records("run")[0]["data"]["corpora"]] == [2, 0.5]


def test_a_lost_disk_is_replaced_by_the_mirror_and_the_run_goes_on_to_the_bit(hosts):
    shutil.copytree(hosts.a / "data", hosts.b / "data")
    hosts.train("stop.steps=16", run="whole")
    assert not (hosts.b / "whole/checkpoints").exists()

    hosts.train("stop.steps=9", "checkpoint.mirror=true")
    assert checkpoints(hosts.a) == ["step-00000008", "step-00000009"]
    assert checkpoints(hosts.b)[-1] == "step-00000009"  # older ones may have been passed over
    for name in set(checkpoints(hosts.a)) & set(checkpoints(hosts.b)):
        assert contents(hosts.a / "run/checkpoints" / name) == contents(hosts.b / "run/checkpoints" / name)
    copied = [event["text"] for event in hosts.records("event") if event["kind"] == "mirror"]
    assert copied[-1] == "host-b has the checkpoint of step 9 too"

    shutil.rmtree(hosts.a / "run")
    hosts.train("stop.steps=16", "checkpoint.mirror=true")
    assert hosts.records("run")[0]["resumed_from"] == 9
    (note,) = [event["text"] for event in hosts.records("event") if event["kind"] == "files"]
    assert re.search(r"the checkpoint of step 9 \(.*\) came from host-b, which has the newest", note)
    last = "checkpoints/step-00000016"
    for name in ("model.safetensors", "optimizer.safetensors"):
        assert (hosts.a / "run" / last / name).read_bytes() == (hosts.a / "whole" / last / name).read_bytes()


def test_a_mirror_that_cannot_be_written_is_an_event_and_not_the_end(hosts):
    shutil.copytree(hosts.a / "data", hosts.b / "data")
    (hosts.b / "run/checkpoints").mkdir(parents=True)
    for step in (4, 5):
        (hosts.b / f"run/checkpoints/.step-{step:08}.partial").write_text("in the way")
    hosts.train("stop.steps=5", "checkpoint.mirror=true")
    warnings = [event["text"] for event in hosts.records("event") if event["kind"] == "warning"]
    assert any(re.search(r"the checkpoint of step [45] could not be copied to host-b: .*; training goes on", text) for text in warnings), warnings
    assert checkpoints(hosts.a) == ["step-00000004", "step-00000005"]


def test_what_a_run_went_back_from_is_gone_from_the_mirror_too(hosts):
    shutil.copytree(hosts.a / "data", hosts.b / "data")
    calm = ("checkpoint.mirror=true", "checkpoint.every=20", "checkpoint.keep=20", "eval.every=0", "log.every=100")
    hosts.train(*calm, "stop.steps=240")
    before = checkpoints(hosts.b)
    wild = ("stop.steps=500", "optim.schedule=transformer_policy", "optim.lr=1e5")
    refused = hosts.train(*calm, *wild, code=2)
    assert "it went back 3 times already" in refused, refused
    went_back = [event for event in hosts.records("event") if event["kind"] == "rollback"]
    least = min(event["step"] for event in went_back)
    assert len(went_back) == 3 and any(name > f"step-{least:08}" for name in before)
    assert set(checkpoints(hosts.b)) <= set(checkpoints(hosts.a))
    newest = checkpoints(hosts.a)[-1]
    refused = hosts.train(*calm, *wild, code=2)
    assert hosts.records("run")[-1]["resumed_from"] == int(newest.removeprefix("step-"))
    assert "came from host-b" not in refused


def test_a_new_start_is_refused_when_another_host_has_checkpoints(hosts):
    shutil.copytree(hosts.a / "data", hosts.b / "data")
    hosts.train("stop.steps=4", "checkpoint.mirror=true")
    shutil.rmtree(hosts.a / "run")
    refused = hosts.train("stop.steps=5", "--resume", "never", code=2)
    assert re.search(r"host-b rank 1 .* holds checkpoints, which --resume never would mix up", refused), refused
