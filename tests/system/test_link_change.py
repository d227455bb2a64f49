"""A link between hosts of the lab that changes while a run goes on: told in every mode; mode local plans anew, and resumes to the bit."""

import json
import re
import shutil
import signal
import time

import pytest

# Large enough that an exchange says something about the link.
CONFIG = """
threads: 1
model: {preset: tiny, d_model: 256, heads: 4, ffn: 2048, encoder_layers: 1, decoder_layers: 1, dropout: 0.1}
data: {max_length: 64}
batch: {tokens: 200}
optim: {schedule: inverse_sqrt, lr: 0.001, warmup_steps: 5}
eval: {every: 1000000, beam: 1}
cluster: {check_every: 7}
log: {every: 10}
"""


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


class Run:
    def __init__(self, hosts, program, data):
        self.hosts, self.program = hosts, program
        for name in hosts.names:
            shutil.copytree(data, hosts.folder / name / "data")
            (hosts.folder / name / "config.yaml").write_text(CONFIG)

    def start(self, name, *settings):
        disk = self.hosts.disk
        command = [self.program, "train", disk / "config.yaml", f"data.path={disk}/data", f"run={disk}/{name}", *settings]
        return self.hosts.start_mpirun(command, workers=1, env={"OMP_WAIT_POLICY": "passive"})

    def records(self, name, kind):
        path = self.hosts.folder / "host-a" / name / "journal.jsonl"
        text = path.read_text() if path.exists() else ""
        lines = map(json.loads, text[:text.rfind("\n") + 1].splitlines())
        return [line for line in lines if line["type"] == kind]

    def events(self, name, kind):
        return [event for event in self.records(name, "event") if event["kind"] == kind]

    def wait_until(self, condition, process, what):
        deadline = time.monotonic() + 150
        while not condition():
            assert process.poll() is None, process.stdout.read()
            assert time.monotonic() < deadline, what
            time.sleep(0.1)


@pytest.fixture
def run(lab, program, data):
    if not shutil.which("mpirun"):
        pytest.skip("needs mpirun: scripts/setup --tests installs it")
    return Run(lab(rate="1gbit"), program, data)


def anew(event):
    """The steps between exchanges that it tells of; None: it tells of something else."""
    found = re.search(r"every (\d+) steps from here on", event["text"])
    return found and int(found[1])


def test_mode_local_plans_anew_and_resumes_to_the_bit(run):
    settings = ("cluster.mode=local", "cluster.local_code=int8", "checkpoint.every=20")
    process = run.start("run", *settings, "stop.steps=1000000")
    run.wait_until(lambda: len(run.records("run", "step")) >= 20, process, "no twentieth step")
    run.hosts.set_rate("5mbit")
    run.wait_until(lambda: run.events("run", "link"), process, "the change was not told")
    run.wait_until(lambda: any(map(anew, run.events("run", "exchange"))), process, "it was not planned anew")
    changed = run.events("run", "exchange")[-1]["step"]
    run.wait_until(lambda: run.records("run", "checkpoint")[-1]["step"] > changed, process, "no checkpoint after it")
    process.send_signal(signal.SIGUSR1)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 75, output
    assert "it was" in run.events("run", "link")[0]["text"] and "it was" in output

    saved, end = [record["step"] for record in run.records("run", "checkpoint")][-2:]
    last_change = run.events("run", "exchange")[-1]
    if last_change["step"] > saved:
        pytest.skip("a busy machine made the link's rate waver: the steps between exchanges changed once more at the end")
    folder = run.hosts.folder / "host-a/run/checkpoints"
    before = run.records("run", "run")[0]["exchange"]["local_steps"]
    after = json.loads((folder / f"step-{saved:08}/state.json").read_text())["exchange"]["local_steps"]
    assert after > before and after == anew(last_change)

    # The steps between exchanges are part of the checkpoint, whatever the link is now.
    run.hosts.set_rate("100mbit")
    for name in run.hosts.names:
        again = run.hosts.folder / name / "again"
        shutil.copytree(run.hosts.folder / name / "run", again)
        shutil.rmtree(again / f"checkpoints/step-{end:08}", ignore_errors=True)
    resumed = run.start("again", *settings, f"stop.steps={end}")
    output, _ = resumed.communicate(timeout=240)
    assert resumed.returncode == 0, output
    steps = {name: {step["step"]: step["loss"] for step in run.records(name, "step")} for name in ("run", "again")}
    assert run.records("again", "run")[-1]["resumed_from"] == saved
    assert steps["again"] == steps["run"] and len(steps["run"]) == end
    for file in ("model.safetensors", "optimizer.safetensors"):
        one, other = ((run.hosts.folder / "host-a" / name / f"checkpoints/step-{end:08}" / file).read_bytes() for name in ("run", "again"))
        assert one == other


def test_the_first_exchanges_correct_what_the_check_took_the_link_for(run):
    run.hosts.set_rate("5mbit")
    process = run.start("run", "cluster.mode=local", "cluster.local_code=int8", "batch.tokens=600", "checkpoint.every=0", "stop.steps=100000")
    run.wait_until(lambda: run.records("run", "run"), process, "it did not begin")
    run.hosts.set_rate("100mbit")
    planned = run.records("run", "run")[0]["exchange"]["local_steps"]
    run.wait_until(lambda: any(map(anew, run.events("run", "exchange"))), process, "it was not planned anew")
    process.kill()
    changes = run.events("run", "exchange")
    assert "while the check before the start found" in changes[0]["text"]
    first = next(filter(anew, changes))
    assert anew(first) < 0.5 * planned
    # Five of the eight fragments, and a few until all have heard of it.
    assert first["step"] <= 2 * planned


def test_where_every_step_exchanges_it_is_told_and_reported(run, tandem):
    process = run.start("run", "cluster.mode=exact", "checkpoint.every=0", "stop.steps=100000")
    run.wait_until(lambda: len(run.records("run", "step")) >= 25, process, "no twenty-fifth step")
    run.hosts.set_rate("50mbit")
    run.wait_until(lambda: run.events("run", "link"), process, "the change was not told")
    process.kill()
    report = tandem("report", run.hosts.folder / "host-a/run", "--json")
    assert report.returncode == 0, report.stderr
    network = next(f for f in json.loads(report.stdout)["findings"] if f["key"] == "network")
    assert "the link changed" in network["verdict"]
