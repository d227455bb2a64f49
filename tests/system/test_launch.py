"""Launching and meeting: the same worker under mpirun, srun, torchrun and by hand, on hosts of the lab; killed, frozen, cut off.

The worker is tandem_meet (tests/lab/meet.cpp): launch detection, meeting, store and heartbeat without a training.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import run

READY = re.compile(r"ready: rank (\d+) is process (\d+)")


@pytest.fixture(scope="module")
def meet(program) -> Path:
    path = program.parent / "tandem_meet"
    assert path.exists(), f"{path} is not built; scripts/build does it"
    return path


def worlds(output: str) -> dict:
    """What each rank saw: {rank: its lines without that rank}."""
    seen = {}
    for rank, text in re.findall(r"world seen by (\d+): (.*)", output):
        seen.setdefault(int(rank), []).append(text)
    return seen


def assert_all_met(output: str, size: int):
    seen = worlds(output)
    assert sorted(seen) == list(range(size)), output
    assert all(len(lines) == size for lines in seen.values()), output
    assert len({tuple(lines) for lines in seen.values()}) == 1, output
    assert sorted(re.findall(r"done: rank (\d+)", output)) == [str(rank) for rank in range(size)], output


# --- each launcher ----------------------------------------------------------------------------------------------------


def need(tool: str):
    if not shutil.which(tool):
        pytest.skip(f"needs {tool}")


def test_the_old_mpirun_command_line_meets_on_two_hosts(lab, meet):
    need("mpirun")
    done = lab(rate="100mbit").mpirun([meet, "join_timeout=60"])
    assert done.returncode == 0, done.stdout
    assert_all_met(done.stdout, 4)
    assert "launched by mpirun: rank 3 of 4, worker 1 of 2 on host-b" in done.stdout
    assert re.search(r"host-b rank 3 \(pid \d+\) at 10\.77\.0\.2, worker 1 of host 1", done.stdout)
    assert "eth0 (10.77.0.1, 10.77.0.2): all 2 hosts reach each other there" in done.stdout
    assert "TANDEM_TOKEN" not in done.stdout


def test_mpirun_names_the_host_of_a_missing_rank(lab, meet):
    need("mpirun")
    late = f'[ "$OMPI_COMM_WORLD_RANK" != 3 ] || sleep 60; exec {meet} join_timeout=6'
    done = lab().mpirun(["sh", "-c", late])
    assert done.returncode == 3
    assert re.search(r"waiting for 1 of 4 workers: rank 3 \((host-b|10\.77\.0\.2)\)", done.stdout), done.stdout
    assert re.search(r"rank 3 \((host-b|10\.77\.0\.2)\) did not join within 6 s", done.stdout), done.stdout


@pytest.mark.parametrize("mpi", ["pmix", "none"])
def test_srun_meets(slurm, meet, mpi):
    done = slurm.run(["srun", f"--mpi={mpi}", "-n", "4", meet, "join_timeout=60"])
    assert done.returncode == 0, done.stdout
    assert "launched by srun: rank 3 of 4" in done.stdout
    assert_all_met(done.stdout, 4)


def test_two_steps_of_srun_at_the_same_time_do_not_mix(slurm, meet, tmp_path):
    script = tmp_path / "job.sh"
    step = f"srun --overlap --mpi=none -n 2 {meet} seconds=1 join_timeout=60"
    script.write_text(f"#!/bin/sh\n{step} > one 2>&1 &\n{step} > two 2>&1 &\nwait\n")
    done = slurm.run(["sbatch", "--wait", "-n", "4", "-D", tmp_path, script])
    assert done.returncode == 0, done.stdout
    for name in ("one", "two"):
        assert_all_met((tmp_path / name).read_text(), 2)


def test_a_batch_script_without_srun_is_one_worker(slurm, meet, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\nexec {meet}\n")
    done = slurm.run(["sbatch", "--wait", "-n", "4", "-o", tmp_path / "out", script])
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "out").read_text().startswith("one worker on ")


def test_torchrun_meets_again_after_a_restart(repo, meet):
    torchrun = Path(sys.executable).parent / "torchrun"
    if not torchrun.exists():
        pytest.skip("needs torchrun beside this Python")
    fails_once = f'{meet} seconds=1 join_timeout=60; code=$?; [ "$RANK$TORCHELASTIC_RESTART_COUNT" != 10 ] || exit 9; exit $code'
    done = run([torchrun, "--standalone", "--no-python", "--nproc-per-node=2", "--max-restarts=1", "sh", "-c", fails_once],
               env={"OMP_NUM_THREADS": "1"})
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "launched by torchrun: rank 1 of 2, worker 1 of 2 on" in output
    assert "restart 1" in output
    assert len(re.findall(r"ready: rank 1 ", output)) == 2, output


# --- by hand, on hosts of the lab -------------------------------------------------------------------------------------


class Workers:
    """Workers started by hand, `each` on every host of a lab, with their output apart."""

    def __init__(self, lab, meet, *arguments, each=2, leave_out=(), env=None):
        self.lab = lab
        size = each * len(lab.names)
        self.processes, self.output = {}, {rank: [] for rank in range(size)}
        self.pids, self._threads = {}, []
        common = {"WORLD_SIZE": size, "MASTER_ADDR": lab.address["host-a"], "MASTER_PORT": 29500, "TANDEM_TOKEN": "a secret of the team",
                  **(env or {})}
        for rank in set(range(size)) - set(leave_out):
            self.processes[rank] = lab.start(lab.names[rank // each], [meet, *arguments], {"RANK": rank, **common})
            self._threads.append(threading.Thread(target=self._read, args=(rank,)))
            self._threads[-1].start()

    def _read(self, rank: int):
        for line in self.processes[rank].stdout:
            self.output[rank].append((time.monotonic(), line.rstrip("\n")))
            if found := READY.match(line):
                self.pids[int(found[1])] = int(found[2])

    def text(self, rank: int) -> str:
        return "\n".join(line for _, line in self.output[rank])

    def everything(self) -> str:
        return "\n".join(f"--- rank {rank}\n{self.text(rank)}" for rank in self.output)

    def wait_until_ready(self, seconds=60):
        deadline = time.monotonic() + seconds
        while len(self.pids) < len(self.processes):
            assert time.monotonic() < deadline, self.everything()
            time.sleep(0.02)
        time.sleep(2.2)  # two beats or so of training

    def wait(self, ranks=None, seconds=60) -> dict:
        """Exit codes, by rank."""
        ranks = self.processes if ranks is None else ranks
        codes = {rank: self.processes[rank].wait(timeout=seconds) for rank in ranks}
        for thread, rank in zip(self._threads, self.processes):
            if rank in codes:
                thread.join(timeout=10)
        return codes

    def delay(self, rank: int, since: float, pattern: str) -> float:
        """Seconds until that rank said so."""
        times = [at - since for at, line in self.output[rank] if re.search(pattern, line)]
        assert times, f"rank {rank} did not say {pattern}\n{self.everything()}"
        return times[0]


# A fault is to be named within ten seconds; the rest is for a busy machine.
BOUND_SECONDS = 10 + 5


def test_by_hand_on_three_hosts(lab, meet):
    workers = Workers(lab(hosts=3), meet, "join_timeout=60", each=1)
    assert set(workers.wait().values()) == {0}, workers.everything()
    assert_all_met(workers.everything(), 3)
    assert "launched by hand: rank 2 of 3 on host-c" in workers.text(2)


@pytest.mark.parametrize("victim", range(4))
def test_a_killed_worker_is_named_by_all_others(lab, meet, victim):
    workers = Workers(lab(), meet, "seconds=60")
    workers.wait_until_ready()
    since = time.monotonic()
    os.kill(workers.pids[victim], signal.SIGKILL)
    others = [rank for rank in range(4) if rank != victim]
    assert set(workers.wait(others).values()) == {3}, workers.everything()
    host = "host-a" if victim < 2 else "host-b"
    cause = rf"tandem: {host} rank {victim} \(pid {workers.pids[victim]}\) died in phase exchange at step \d+$"
    for rank in others:
        assert workers.delay(rank, since, cause) < BOUND_SECONDS


@pytest.mark.parametrize("victim", [0, 3])
def test_a_frozen_worker_is_named_by_all_others(lab, meet, victim):
    workers = Workers(lab(), meet, "seconds=60")
    workers.wait_until_ready()
    since = time.monotonic()
    os.kill(workers.pids[victim], signal.SIGSTOP)
    others = [rank for rank in range(4) if rank != victim]
    assert set(workers.wait(others).values()) == {3}, workers.everything()
    cause = rf"rank {victim} \(pid {workers.pids[victim]}\) stopped answering in phase exchange at step \d+"
    for rank in others:
        assert workers.delay(rank, since, cause) < BOUND_SECONDS


def test_a_short_freeze_is_forgiven(lab, meet):
    workers = Workers(lab(), meet, "seconds=6", each=1)
    workers.wait_until_ready()
    for rank in (0, 1):
        os.kill(workers.pids[rank], signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(workers.pids[rank], signal.SIGCONT)
    assert set(workers.wait().values()) == {0}, workers.everything()


def test_a_pulled_cable_is_named_on_both_sides(lab, meet):
    hosts = lab()
    workers = Workers(hosts, meet, "seconds=60")
    workers.wait_until_ready()
    since = time.monotonic()
    hosts.pull_cable("host-b")
    assert set(workers.wait().values()) == {3}, workers.everything()
    for rank in (0, 1):
        assert workers.delay(rank, since, "host-b rank 2 .* stopped answering .*; host-b rank 3 .* stopped") < BOUND_SECONDS
    for rank in (2, 3):
        assert workers.delay(rank, since, "host-a rank 0 .* stopped answering in phase exchange") < BOUND_SECONDS


def test_mpirun_ends_with_the_cause_when_a_worker_is_killed(lab, meet):
    need("mpirun")
    process = lab().start_mpirun([meet, "seconds=60"])
    lines, pids = [], {}
    while len(pids) < 4:
        lines.append(process.stdout.readline())
        assert lines[-1], "".join(lines)
        if found := READY.match(lines[-1]):
            pids[int(found[1])] = int(found[2])
    os.kill(pids[2], signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert f"tandem: host-b rank 2 (pid {pids[2]}) died" in output, output


def test_a_missing_rank_is_named(lab, meet):
    workers = Workers(lab(), meet, "join_timeout=6", leave_out=[3])
    assert set(workers.wait().values()) == {3}, workers.everything()
    assert "tandem: waiting for 1 of 4 workers: rank 3" in workers.text(0)
    for rank in (0, 1, 2):
        assert "1 of 4 workers: rank 3 did not join within 6 s" in workers.text(rank)


def test_a_taken_port_is_named(lab, meet):
    hosts = lab()
    listen = "import socket,time; s=socket.socket(); s.bind(('10.77.0.1',29500)); s.listen(); print('up',flush=True); time.sleep(60)"
    other = hosts.start("host-a", [sys.executable, "-S", "-c", listen])
    assert other.stdout.readline() == "up\n"
    workers = Workers(hosts, meet, "join_timeout=4", each=1)
    assert workers.wait() == {0: 3, 1: 3}, workers.everything()
    assert "rank 0 cannot listen at 10.77.0.1 of host-a on port 29500: Address already in use; choose another" in workers.text(0)
    assert "rank 1 on host-b did not reach rank 0 within 4 s" in workers.text(1)


def test_an_interface_that_does_not_exist_is_refused_by_all(lab, meet):
    workers = Workers(lab(), meet, "interface=eth7", "join_timeout=30", each=1)
    assert workers.wait() == {0: 2, 1: 2}, workers.everything()
    for rank in (0, 1):
        assert "cluster.interface=eth7 fits no interface of host-b that is up" in workers.text(rank)
        assert "it has lo (127.0.0.1), eth0 (10.77.0.2)" in workers.text(rank)


@pytest.fixture
def with_false_friends(lab):
    """Hosts that also have networks which lead nowhere: docker0 with the same address on each, and fast0."""
    hosts = lab()
    for number, name in enumerate(hosts.names, 1):
        for interface, address in (("docker0", "172.17.0.1/16"), ("fast0", f"10.9.{number}.1/24")):
            made = hosts.run(name, ["sh", "-c", f"ip link add {interface} type veth peer name {interface}-end && "
                                                f"ip addr add {address} dev {interface} && "
                                                f"ip link set {interface} up && ip link set {interface}-end up"])
            assert made.returncode == 0, made.stdout
    return hosts


def test_an_interface_that_others_do_not_reach_is_passed_over(with_false_friends, meet):
    workers = Workers(with_false_friends, meet, "join_timeout=30", each=1)
    assert set(workers.wait().values()) == {0}, workers.everything()
    assert "eth0 (10.77.0.1, 10.77.0.2): all 2 hosts reach" in workers.text(1)


def test_an_interface_that_others_do_not_reach_is_refused_when_named(with_false_friends, meet):
    workers = Workers(with_false_friends, meet, "interface=fast0", "join_timeout=30", each=1)
    assert workers.wait() == {0: 3, 1: 3}, workers.everything()
    for rank in (0, 1):
        assert re.search(r"no address of host-a is reached by all other hosts \(from host-b to fast0 \(10\.9\.1\.1\): ",
                         workers.text(rank)), workers.everything()


def test_nccls_variable_is_honoured(with_false_friends, meet):
    workers = Workers(with_false_friends, meet, "join_timeout=30", each=1, env={"NCCL_SOCKET_IFNAME": "^docker,eth"})
    assert workers.wait() == {0: 3, 1: 3}, workers.everything()
    assert "fast0" in workers.text(0)


@pytest.mark.parametrize("each", [1, 2])
def test_a_name_that_is_loopback_at_home_leaves_no_port_open_that_nobody_came_in_by(with_false_friends, meet, each):
    """Debian's own line in /etc/hosts: 127.0.1.1 and the host's name, on that host only."""
    hosts = with_false_friends
    own = hosts.folder / "host-a/etc-hosts"
    own.write_text("127.0.0.1 localhost\n127.0.1.1 host-a\n10.77.0.2 host-b\n")
    mounted = hosts.run("host-a", ["mount", "--bind", hosts.disk / "etc-hosts", "/etc/hosts"])
    assert mounted.returncode == 0, mounted.stdout
    workers = Workers(hosts, meet, "seconds=6", "join_timeout=30", each=each, env={"MASTER_ADDR": "host-a"})
    workers.wait_until_ready()
    listening = re.findall(r"(\S+):29500 ", hosts.run("host-a", ["ss", "-Hltn"]).stdout)
    assert set(workers.wait().values()) == {0}, workers.everything()
    assert sorted(listening) == (["10.77.0.1"] if each == 1 else ["10.77.0.1", "127.0.1.1"])


def test_strangers_do_not_disturb_and_nothing_listens_to_the_whole_world(lab, meet):
    hosts = lab()
    workers = Workers(hosts, meet, "seconds=20", each=1)
    workers.wait_until_ready()
    listening = hosts.run("host-a", ["ss", "-Hltn"]).stdout
    assert "10.77.0.1:29500" in listening
    assert not re.search(r"(0\.0\.0\.0|\*|\[::\]):\d+ ", listening.replace("0.0.0.0:*", "")), listening
    knock = ("import os,socket\nfor i in range(300):\n s=socket.create_connection(('10.77.0.1',29500),5)\n"
             " s.sendall(os.urandom(i*7%400))\n i%3 or s.close()\nprint('knocked')")
    assert hosts.run("host-b", [sys.executable, "-S", "-c", knock]).stdout == "knocked\n"
    assert set(workers.wait().values()) == {0}, workers.everything()
    assert re.search(r"refused \d+ connections? that did not know the job token", workers.text(0))


def test_another_secret_does_not_get_in(lab, meet):
    hosts = lab()
    workers = Workers(hosts, meet, "join_timeout=15", each=1, leave_out=[1])
    done = hosts.run("host-b", [meet], {"RANK": 1, "WORLD_SIZE": 2, "MASTER_ADDR": "10.77.0.1", "MASTER_PORT": 29500, "TANDEM_TOKEN": "another team's secret"})
    assert done.returncode == 2
    assert "was refused by rank 0 at 10.77.0.1:29500: it has another job token (are TANDEM_TOKEN, " in done.stdout
    assert workers.wait() == {0: 3}
    assert "rank 1 did not join" in workers.text(0)


def test_without_a_token_one_host_meets_on_loopback_only(lab, meet):
    hosts = lab()
    env = {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_ADDR": hosts.address["host-a"], "MASTER_PORT": 29500}
    workers = [hosts.start("host-a", [meet, "seconds=6", "join_timeout=30"], {"RANK": rank, "LOCAL_RANK": rank, **env}) for rank in (0, 1)]
    seen = []
    while not any("ready: rank 0" in line for line in seen):
        seen.append(workers[0].stdout.readline())
        assert seen[-1], "".join(seen)
    listening = re.findall(r"(\S+):29500 ", hosts.run("host-a", ["ss", "-Hltn"]).stdout)
    outputs = ["".join(seen) + workers[0].communicate(timeout=60)[0], workers[1].communicate(timeout=60)[0]]
    assert [worker.returncode for worker in workers] == [0, 0], outputs
    assert listening == ["127.0.0.1"]
    assert_all_met("".join(outputs), 2)
    assert "10.77.0.1" not in "".join(outputs)


# --- the environment itself -------------------------------------------------------------------------------------------


def test_half_a_set_of_variables_is_refused_by_name(meet):
    done = run([meet], env={"RANK": "1"})
    assert done.returncode == 2
    assert "WORLD_SIZE is not" in done.stderr


def test_ctrl_c_while_waiting_ends_at_once(meet, free_port):
    process = subprocess.Popen([meet], env={**os.environ, "RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                                            "MASTER_PORT": str(free_port)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    process.stdout.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 75, output
