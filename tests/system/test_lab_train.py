"""Training on hosts of the lab, started by the mpirun command line that people know. No disk is shared."""

import json
import os
import re
import shutil
import signal
import time
from pathlib import Path

import pytest
from small_run import SMALL_RUN

CONFIG = SMALL_RUN + """
cluster: {wire: fp32, mode: exact}
checkpoint: {every: 1000000}
"""
# A fault is to be named within ten seconds; the rest is for a busy machine.
BOUND_SECONDS = 10 + 10


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


class Training:
    """The command, and a lab whose hosts each have the dataset and the settings on their own disk."""

    def __init__(self, lab, program: Path, data: Path):
        self.lab = lab
        for name in lab.names:
            own = lab.folder / name
            shutil.copytree(data, own / "data")
            (own / "config.yaml").write_text(CONFIG)
        self.command = [program, "train", lab.disk / "config.yaml", f"data.path={lab.disk}/data", f"run={lab.disk}/run"]
        self.host_a = lab.folder / "host-a"

    def journal(self, host: str = "host-a", run: str = "run") -> str:
        path = self.lab.folder / host / run / "journal.jsonl"
        return path.read_text() if path.exists() else ""

    def records(self, host: str = "host-a", run: str = "run") -> list:
        return [json.loads(line) for line in self.journal(host, run).splitlines() if line.endswith("}")]

    def steps(self) -> list:
        """(step, loss) of every step that rank 0 has written."""
        return [(record["step"], record["loss"]) for record in self.records() if record["type"] == "step"]

    def start(self, *more):
        process = self.lab.start_mpirun([*self.command, *more], env={"OMP_WAIT_POLICY": "passive"})
        deadline = time.monotonic() + 120
        while len(self.steps()) < 3 or '"type":"step"' not in self.journal("host-b"):
            assert process.poll() is None, process.stdout.read()
            assert time.monotonic() < deadline, "no third step within two minutes"
            time.sleep(0.1)
        return process

    def pid_of(self, rank: int) -> int:
        for host in self.lab.names:
            for pid in self.lab.processes(host):
                try:
                    variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                except OSError:
                    continue
                if f"OMPI_COMM_WORLD_RANK={rank}".encode() in variables:
                    return pid
        raise AssertionError(f"rank {rank} is nowhere")


@pytest.fixture
def training(lab, program, data):
    if not shutil.which("mpirun"):
        pytest.skip("needs mpirun: scripts/setup --tests installs it")
    return lambda **options: Training(lab(**options), program, data)


def lines_until(process, pattern: str, seconds: float) -> str:
    """Output until a line has the pattern; the reader is woken by the end of the program at the latest."""
    seen, deadline = [], time.monotonic() + seconds
    while line := process.stdout.readline():
        seen.append(line)
        if re.search(pattern, line):
            assert time.monotonic() < deadline, f"said too late: {line}"
            return line
    raise AssertionError(f"never said {pattern}:\n{''.join(seen)}")


def test_four_workers_on_two_hosts_train_as_one_does(training, tandem, data, tmp_path):
    both = training(rate="100mbit")
    done = both.lab.mpirun([*both.command, "stop.steps=8"], env={"OMP_WAIT_POLICY": "passive"}, timeout=300)
    assert done.returncode == 0, done.stdout
    (tmp_path / "config.yaml").write_text(CONFIG)
    alone = tandem("train", tmp_path / "config.yaml", f"data.path={data}", f"run={tmp_path}/run", "stop.steps=8")
    assert alone.returncode == 0, alone.stderr
    lines = (tmp_path / "run/journal.jsonl").read_text().splitlines()
    expected = [(r["step"], r["loss"]) for r in map(json.loads, lines) if r["type"] == "step"]
    assert [step for step, _ in both.steps()] == [step for step, _ in expected]
    for (_, here), (_, there) in zip(both.steps(), expected):
        assert here == pytest.approx(there, rel=1e-4)
    assert (both.host_a / "run/checkpoints").exists()
    assert not (both.lab.folder / "host-b/run/checkpoints").exists()


def test_every_host_keeps_the_journal_with_samples_of_all_and_makes_the_report(training):
    both = training()
    for hours in (0.0015, 0.003):  # the second start goes on, also in the copy
        done = both.lab.mpirun([*both.command, f"stop.hours={hours}"], env={"OMP_WAIT_POLICY": "passive"}, timeout=300)
        assert done.returncode == 0, done.stdout
        assert both.journal("host-b") == both.journal("host-a")
    records = both.records("host-b")
    starts = [record for record in records if record["type"] == "run"]
    assert len(starts) == 2 and starts[1]["resumed_from"] > 0 and records[-1]["type"] == "end"
    assert all(0 < start["link_bits_per_s"] < 1.2e9 for start in starts)  # as measured: the lab's card says 10 Gbps
    samples = [record for record in records if record["type"] == "system"]
    assert {sample["host"] for sample in samples} == {"host-a", "host-b"}
    assert all(sample["interface"] == "eth0" and sample["link_bits_per_s"] < 1.2e9 for sample in samples)
    step = next(record for record in reversed(records) if record["type"] == "step")
    assert all(len(step["ranks"][key]) == 4 for key in ("work", "wait", "tokens"))
    assert sum(step["ranks"]["tokens"]) == step["tokens"]
    for host in both.lab.names:
        own = both.lab.folder / host / "run"
        assert len(json.loads((own / "report.json").read_text())["answers"]) == 11
        page = (own / "report.html").read_text()
        assert "host-a" in page and "host-b" in page


# 3.7 million parameters: 7.4 MB each way and step as bf16, 0.6 s at 100 Mbps, more than the computing; and tokens enough that
# moving as much through memory is little beside the computing, whatever the processor.
LARGER = ["model.d_model=256", "model.ffn=1024", "model.encoder_layers=2", "model.decoder_layers=2", "batch.tokens=1000",
          "cluster.wire=bf16", "stop.steps=24"]


def test_the_report_blames_the_network_where_it_is_slow_and_only_there(training, sanitized):
    megabits = 10 if sanitized else 100  # with sanitizers computing takes ten times as long
    both = training(rate=f"{megabits}mbit")
    verdicts = {}
    for run in ("slow", "quick"):
        if run == "quick":
            both.lab.full_speed()
        command = [part for part in both.command if not str(part).startswith("run=")]
        done = both.lab.mpirun([*command, f"run={both.lab.disk}/{run}", *LARGER], workers=1,
                               env={"OMP_WAIT_POLICY": "passive"}, timeout=900)
        assert done.returncode == 0, done.stdout
        report = json.loads((both.lab.folder / "host-b" / run / "report.json").read_text())
        verdicts[run] = next(finding for finding in report["findings"] if finding["key"] == "network")
    slow, quick = verdicts["slow"], verdicts["quick"]
    assert slow["class"] == "yes", slow
    assert quick["class"] != "yes" and quick["evidence"]["exposed_share"] < slow["evidence"]["exposed_share"] / 2, quick
    # The share is what the bytes need on that link, but for the part that backward hides.
    steps = [record for record in both.records(run="slow") if record["type"] == "step"][4:]
    mean = lambda value: sum(map(value, steps)) / len(steps)
    total, backward = mean(lambda s: s["seconds"]["total"]), mean(lambda s: s["seconds"]["backward"])
    link = slow["evidence"]["link_bits_per_s"]  # as measured: busy cores may not fill it
    assert 0.4e6 * megabits < link < 1.05e6 * megabits
    bits = 8 * mean(lambda s: s["bytes_out"])
    share = slow["evidence"]["exposed_share"]
    assert (bits / (1e6 * megabits) - backward) / total - 0.1 < share < 1.4 * bits / link / total + 0.05, (bits, backward, total, slow)


@pytest.mark.parametrize("victim", [0, 3])
def test_a_killed_worker_ends_the_run_with_its_name(training, victim):
    run = training()
    process = run.start()
    pid = run.pid_of(victim)
    os.kill(pid, signal.SIGKILL)
    lines_until(process, rf"tandem: .*host-[ab] rank {victim} \(pid {pid}\) died in phase", BOUND_SECONDS)
    process.communicate(timeout=60)
    assert process.returncode != 0
    # The other host has the log, all but what was on its way.
    assert run.journal("host-a").startswith(run.journal("host-b"))
    assert any(record["type"] == "step" for record in run.records("host-b"))


def test_a_frozen_worker_ends_the_run_with_its_name(training):
    run = training()
    process = run.start()
    pid = run.pid_of(2)
    os.kill(pid, signal.SIGSTOP)
    lines_until(process, rf"tandem: .*host-b rank 2 \(pid {pid}\) stopped answering in phase", BOUND_SECONDS)


def test_a_pulled_cable_ends_the_run_with_the_hosts_name(training):
    run = training()
    process = run.start()
    run.lab.pull_cable("host-b")
    lines_until(process, r"tandem: .*host-b rank 2 .* stopped answering in phase", BOUND_SECONDS)
