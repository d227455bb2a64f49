"""cluster.mode int8 and int4 on two hosts of the lab: bytes on the wire, losses, exact resume."""

import json
import shutil

import pytest
from small_run import CODED_RUN

CONFIG = CODED_RUN + """
checkpoint: {every: 4}
"""
# Codes and scales alone are 1.008 and 0.516; a hundredth of so small a model are vectors, sent as fp32.
BYTES_A_PARAMETER = {"int8": (1.02, 1.06), "int4": (0.54, 0.58)}


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


@pytest.fixture
def train(lab, program, data):
    if not shutil.which("mpirun"):
        pytest.skip("needs mpirun: scripts/setup --tests installs it")
    hosts = lab()
    for name in hosts.names:
        shutil.copytree(data, hosts.folder / name / "data")
        (hosts.folder / name / "config.yaml").write_text(CONFIG)

    def run(name, *settings):
        """The run and step records, and the bytes that left host-a."""
        before = hosts.bytes_sent("host-a")
        done = hosts.mpirun([program, "train", hosts.disk / "config.yaml", f"data.path={hosts.disk}/data",
                             f"run={hosts.disk}/{name}", *settings], workers=1, env={"OMP_WAIT_POLICY": "passive"},
                            timeout=300)
        assert done.returncode == 0, done.stdout
        journal = (hosts.folder / "host-a" / name / "journal.jsonl").read_text().splitlines()
        return [json.loads(line) for line in journal], hosts.bytes_sent("host-a") - before

    return run


def losses(records) -> list:
    return [record["loss"] for record in records if record["type"] == "step"]


@pytest.mark.parametrize("mode", ["int8", "int4"])
def test_few_bytes_nearly_the_same_losses_and_exact_resume(train, mode):
    exact, _ = train("exact", "cluster.mode=exact", "stop.steps=8")
    whole, sent = train("whole", f"cluster.mode={mode}", "stop.steps=8")
    parameters = next(record for record in whole if record["type"] == "run")["parameters"]
    steps = [record for record in whole if record["type"] == "step"]
    least, most = BYTES_A_PARAMETER[mode]
    for step in steps:
        assert least < step["bytes_out"] / parameters < most
    assert sent > sum(step["bytes_out"] for step in steps)  # the interface agrees that they were sent
    assert losses(whole) == pytest.approx(losses(exact), rel=0.05)
    assert losses(whole) != losses(exact)

    train("parts", f"cluster.mode={mode}", "stop.steps=3")
    parts, _ = train("parts", f"cluster.mode={mode}", "stop.steps=8")
    assert losses(parts) == losses(whole)
