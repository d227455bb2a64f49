"""The whole training under each launcher: srun with and without PMIx, torchrun with a restart, mpirun, by hand on two hosts."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_run import SMALL_RUN

CONFIG = SMALL_RUN + """
cluster: {wire: fp32, mode: exact, join_timeout: 60}
checkpoint: {every: 4}
stop: {steps: 6}
"""
QUIET = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
OPTIONS = dict(env={**os.environ, **QUIET}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


def records(run: Path, kind: str) -> list:
    """Lines that count: a resumed run supersedes what came after its checkpoint."""
    path, kept = run / "journal.jsonl", []
    text = path.read_text() if path.exists() else ""
    for line in map(json.loads, text[:text.rfind("\n") + 1].splitlines()):
        if line["type"] == "run" and line["resumed_from"] is not None:
            kept = [old for old in kept if old.get("step", 0) <= line["resumed_from"] or old["type"] == "run"]
        kept.append(line)
    return [line for line in kept if line["type"] == kind]


def losses(run: Path) -> list:
    return [(line["step"], line["loss"]) for line in records(run, "step")]


@pytest.fixture(scope="module")
def expected_run(tandem, data, tmp_path_factory):
    """Of two local workers."""
    folder = tmp_path_factory.mktemp("expected")
    (folder / "config.yaml").write_text(CONFIG)
    done = tandem("train", folder / "config.yaml", f"data.path={data}", f"run={folder}/run", "--workers", 2, "stop.steps=200", env=QUIET)
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture
def expected(expected_run):
    """expected(steps): its losses."""
    return lambda steps: losses(expected_run)[:steps]


@pytest.fixture
def command(program, data, tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG)
    return [program, "train", tmp_path / "config.yaml", f"data.path={data}", f"run={tmp_path}/run"]


@pytest.mark.parametrize("mpi", ["pmix", "none"])
def test_srun_trains(mpi, slurm, command, expected, tmp_path):
    done = slurm.run(["srun", f"--mpi={mpi}", "--kill-on-bad-exit=1", "-n", "2", *command], env=QUIET)
    assert done.returncode == 0, done.stdout
    assert "workers     2 on 1 host; launched by srun: rank 0 of 2" in done.stdout
    assert losses(tmp_path / "run") == expected(6)


def test_torchrun_starts_again_and_the_run_goes_on(command, expected, tmp_path):
    torchrun = Path(sys.executable).parent / "torchrun"
    if not torchrun.exists():
        pytest.skip("needs torchrun beside this Python")
    launched = subprocess.Popen(
        [str(part) for part in (torchrun, "--standalone", "--no-python", "--nproc-per-node=2", "--max-restarts=1", *command,
                                "stop.steps=200", "checkpoint.every=2")], **OPTIONS)  # so many that the kill comes in time
    run, deadline = tmp_path / "run", time.monotonic() + 100
    while not records(run, "checkpoint") and launched.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert records(run, "checkpoint"), launched.communicate()[0]
    victim = records(run, "run")[0]["cluster"]["by_rank"][1]["pid"]
    os.kill(victim, signal.SIGKILL)
    output, _ = launched.communicate(timeout=100)
    assert launched.returncode == 0, output
    starts = records(run, "run")
    assert len(starts) == 2 and starts[1]["resumed_from"] >= 2, output
    (event,) = [line["text"] for line in records(run, "event") if line["kind"] == "restart"]
    assert event == "restart 1: the launcher started all workers again"
    assert losses(run) == expected(200)


@pytest.fixture
def mpirun(command):
    """mpirun(workers, steps) -> the command"""
    if shutil.which("mpirun") is None:
        pytest.skip("needs mpirun: scripts/setup --tests installs it")
    return lambda workers, steps: [str(part) for part in ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", workers, *command,
                                                          f"stop.steps={steps}")]


def test_mpirun_goes_on_with_more_and_with_fewer_workers(mpirun, expected_run, tmp_path):
    for workers, steps in ((2, 4), (3, 8), (1, 12)):
        done = subprocess.run(mpirun(workers, steps), timeout=100, **OPTIONS)
        assert done.returncode == 0, done.stdout
    run = tmp_path / "run"
    assert [(line.get("cluster", {}).get("workers", 1), line["resumed_from"]) for line in records(run, "run")] == [(2, None), (3, 4), (1, 8)]
    for key, bound in (("sentences", 0), ("loss", 1e-4)):
        assert [line[key] for line in records(run, "step")] == pytest.approx([line[key] for line in records(expected_run, "step")[:12]], rel=bound)


def test_mpirun_passes_sigusr1_on_and_all_is_saved(mpirun, expected, tmp_path):
    launched = subprocess.Popen(mpirun(2, 100000), **OPTIONS)
    run, deadline = tmp_path / "run", time.monotonic() + 100
    while len(records(run, "step")) < 2 and launched.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    launched.send_signal(signal.SIGUSR1)
    output, _ = launched.communicate(timeout=100)
    assert launched.returncode == 75, output
    last = records(run, "step")[-1]["step"]
    assert (run / f"checkpoints/step-{last:08}/MANIFEST.json").exists(), output
    if last < 12:
        done = subprocess.run(mpirun(2, 12), timeout=100, **OPTIONS)
        assert done.returncode == 0, done.stdout
        assert losses(run) == expected(12)


@pytest.mark.parametrize("wrong", [{"TANDEM_TOKEN": "another team's secret"}, {"WORLD_SIZE": "3"}])
def test_who_has_another_token_or_world_is_refused_within_seconds(command, free_port, wrong):
    common = {**os.environ, **QUIET, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port), "TANDEM_TOKEN": "a secret of the team"}
    start = lambda rank, env: subprocess.Popen([str(part) for part in (*command, "cluster.join_timeout=120")], env={**common, "RANK": rank, **env},
                                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    first, second = start("0", {}), start("1", wrong)
    try:
        said, _ = second.communicate(timeout=40)  # 10 s, and the start of two programs on a busy machine
        assert second.returncode == 2 and "was refused by rank 0" in said and "job token" in said, said
        assert first.poll() is None  # the right one may still come
    finally:
        first.terminate()
        said, _ = first.communicate(timeout=60)
    assert first.returncode == 75 and "refused" in said, said


@pytest.fixture
def by_hand(command, free_port):
    """by_hand(rank, of, settings...) -> the worker, on this host; none outlives the test."""
    started = []
    common = {**os.environ, **QUIET, "MASTER_ADDR": "localhost", "MASTER_PORT": str(free_port), "TANDEM_TOKEN": "a secret of the team"}

    def start(rank, of, *settings):
        env = {**common, "RANK": str(rank), "WORLD_SIZE": str(of)}
        started.append(subprocess.Popen([str(part) for part in (*command, *settings)], **{**OPTIONS, "env": env}))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()
        worker.communicate()


@pytest.mark.parametrize("how, victim", [(signal.SIGKILL, 0), (signal.SIGTERM, 0), (signal.SIGKILL, 1)])
def test_who_dies_while_workers_meet_is_named_by_the_others(by_hand, how, victim):
    workers = [by_hand(rank, 4) for rank in range(3)]
    said = ""
    while "waiting for 1 of 4 workers" not in said:
        line = workers[0].stdout.readline()
        assert line, said
        said += line
    workers[victim].send_signal(how)
    outputs = [worker.communicate(timeout=60)[0] for worker in workers]
    others = [rank for rank in range(3) if rank != victim]
    assert [workers[rank].returncode for rank in others] == [3, 3], outputs
    assert workers[victim].returncode == (75 if how == signal.SIGTERM else -how), outputs
    for rank in others:
        assert re.search(rf"rank {victim} \(pid {workers[victim].pid}\) died in phase meeting at step 0", outputs[rank]), outputs


def test_why_a_worker_cannot_begin_is_told_to_all(by_hand):
    workers = [by_hand(0, 2), by_hand(1, 2, "device=cuda")]
    outputs = [worker.communicate(timeout=60)[0] for worker in workers]
    if workers[1].returncode == 0:
        pytest.skip("there is a GPU here")
    why = outputs[1].splitlines()[-1].removeprefix("tandem: ")
    assert workers[0].returncode == 3 and why in outputs[0] and "died" not in outputs[0], outputs


def test_hosts_without_a_token_are_refused(lab, program, data):
    hosts = lab()
    (hosts.folder / "host-a/config.yaml").write_text(CONFIG)
    env = {"WORLD_SIZE": 2, "RANK": 0, "MASTER_ADDR": hosts.address["host-a"], "MASTER_PORT": 29500, **QUIET}
    worker = hosts.start("host-a", [program, "train", hosts.disk / "config.yaml", f"data.path={data}", f"run={hosts.disk}/run"], env)
    said, _ = worker.communicate(timeout=60)
    assert worker.returncode == 2 and "TANDEM_TOKEN" in said, said


# Gloo's door is closed: it does not answer.
KNOCK = """import socket
for port in {ports} * {times}:
    try:
        with socket.create_connection(('{address}', port), 0.5) as s:
            s.sendall(b'hello')
    except OSError:
        pass"""


def test_hosts_that_train_listen_to_each_other_only_and_tell_of_strangers(lab, program, data):
    hosts = lab()
    for name in hosts.names:
        (hosts.folder / name / "config.yaml").write_text(CONFIG)
    command = [program, "train", hosts.disk / "config.yaml", f"data.path={data}", f"run={hosts.disk}/run", "stop.steps=1000000"]
    common = {"WORLD_SIZE": 2, "MASTER_ADDR": hosts.address["host-a"], "MASTER_PORT": 29500, "TANDEM_TOKEN": "a secret of the team", **QUIET}
    workers = [hosts.start(name, command, {"RANK": rank, **common}) for rank, name in enumerate(hosts.names)]
    run, deadline = hosts.folder / "host-a/run", time.monotonic() + 100
    while len(records(run, "step")) < 3 and workers[0].poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    other = {"host-a": "host-b", "host-b": "host-a"}
    for name in hosts.names:
        listening = hosts.run(name, ["ss", "-Hltn"]).stdout
        assert listening and all(line.split()[3].startswith((hosts.address[name], "127.0.0.1")) for line in listening.splitlines()), listening
        ports = [int(port) for port in re.findall(rf"{hosts.address[name]}:(\d+) ", listening)]
        knock = KNOCK.format(ports=ports, times=5, address=hosts.address[name])
        hosts.run(other[name], [sys.executable, "-S", "-c", knock])
    refused = lambda: [line["text"] for line in records(run, "event") if line["kind"] == "stranger"]
    while len({text.startswith("port for files") for text in refused()}) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert refused() and all(f"from {hosts.address['host-b']}" in text for text in refused())
    assert {text.startswith("port for files") for text in refused()} == {False, True}, refused()
    workers[0].terminate()
    outputs = [worker.communicate(timeout=100)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [75, 75], outputs
    assert "refused" in (run / "logs/rank-0.log").read_text()
    assert re.search(rf"^tandem: host-b: port for files: refused .* from {hosts.address['host-a']}", outputs[1], re.M), outputs


def test_by_hand_on_two_hosts(lab, program, data, expected):
    hosts = lab()
    for name in hosts.names:
        shutil.copytree(data, hosts.folder / name / "data")
        (hosts.folder / name / "config.yaml").write_text(CONFIG)
    command = [program, "train", hosts.disk / "config.yaml", f"data.path={hosts.disk}/data", f"run={hosts.disk}/run"]
    common = {"WORLD_SIZE": 2, "MASTER_ADDR": hosts.address["host-a"], "MASTER_PORT": 29500, "TANDEM_TOKEN": "a secret of the team", **QUIET}
    workers = [hosts.start(name, command, {"RANK": rank, **common}) for rank, name in enumerate(hosts.names)]
    outputs = [worker.communicate(timeout=100)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], outputs
    assert "workers     2 on 2 hosts; launched by hand: rank 0 of 2 on host-a" in outputs[0]
    assert not re.search(r"^step ", outputs[1], re.M)
    assert [loss for _, loss in losses(hosts.folder / "host-a/run")] == pytest.approx([loss for _, loss in expected(6)], rel=1e-5)
