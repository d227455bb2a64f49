"""What a host's interface carries: gradients are summed inside a host first, so four workers on two hosts send what two would."""

import importlib.util
import json
import re
import shutil
import sys
import time

import pytest

CONFIG = """
threads: 1
model: {preset: tiny, d_model: 64, heads: 2, ffn: 256, encoder_layers: 2, decoder_layers: 2, dropout: 0.1}
data: {max_length: 64}
batch: {tokens: 200, max_tokens_per_micro: 250}
optim: {schedule: inverse_sqrt, lr: 0.01, warmup_steps: 5}
cluster: {wire: fp32, mode: exact, check_every: 0}
eval: {every: 1000000, beam: 1}
checkpoint: {every: 1000000}
stop: {steps: 1000000}
log: {every: 1000}
"""
WORKERS_A_HOST, HOSTS = 2, 2
STEPS = 200


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(300) / "data"


class Journal:
    def __init__(self, path):
        self.path = path

    def records(self, kind):
        text = self.path.read_text() if self.path.exists() else ""
        lines = map(json.loads, text[:text.rfind("\n") + 1].splitlines())
        return [line for line in lines if line["type"] == kind]

    def wait_for(self, step, process):
        deadline = time.monotonic() + 150
        while not (steps := self.records("step")) or steps[-1]["step"] < step:
            assert process.poll() is None, process.stdout.read()
            assert time.monotonic() < deadline, f"step {step} was not reached"
            time.sleep(0.02)
        return steps[-1]["step"]


def start(lab, program, data, workers, *settings):
    """A run that goes on until the lab is gone, its hosts and its journal."""
    if not shutil.which("mpirun"):
        pytest.skip("needs mpirun: scripts/setup --tests installs it")
    hosts = lab(rate="1gbit")
    for name in hosts.names:
        shutil.copytree(data, hosts.folder / name / "data")
        (hosts.folder / name / "config.yaml").write_text(CONFIG)
    process = hosts.start_mpirun([program, "train", hosts.disk / "config.yaml", f"data.path={hosts.disk}/data", f"run={hosts.disk}/run", *settings],
                                 workers=workers, env={"OMP_WAIT_POLICY": "passive"})
    return process, hosts, Journal(hosts.folder / "host-a/run/journal.jsonl")


def test_an_interface_carries_the_hosts_sum_and_not_each_workers(lab, program, data):
    process, hosts, journal = start(lab, program, data, WORKERS_A_HOST)
    first = journal.wait_for(5, process)
    before = {name: hosts.bytes_sent(name) for name in hosts.names}
    last = journal.wait_for(first + STEPS, process)
    after = {name: hosts.bytes_sent(name) for name in hosts.names}

    gradient_bytes = journal.records("run")[0]["parameters"] * 4
    by_hosts = gradient_bytes * 2 * (HOSTS - 1) / HOSTS  # a sum of two hosts: each sends all it has, once
    workers = WORKERS_A_HOST * HOSTS
    by_ring = gradient_bytes * 2 * (workers - 1) / workers  # what crosses the one cable of a host in a ring of all workers
    for name in hosts.names:
        a_step = (after[name] - before[name]) / (last - first)
        print(f"{name}: {a_step:.0f} bytes a step; by hosts {by_hosts:.0f}, as a ring of all workers {by_ring:.0f}")
        assert a_step == pytest.approx(by_hosts, rel=0.05)
        assert by_ring / a_step > 1.5 / 1.05
    assert all(step["bytes_out"] == pytest.approx(by_hosts, rel=0.01) for step in journal.records("step"))


WIDE = "model.d_model=256 model.ffn=1024 model.encoder_layers=1 model.decoder_layers=1 batch.tokens=100 cluster.wire=bf16".split()


@pytest.mark.parametrize("mode, bytes_a_parameter", [("exact", 2.0), ("int8", 1.02), ("int4", 0.53)])
def test_an_exchange_sends_so_many_bytes_a_parameter(lab, program, data, mode, bytes_a_parameter):
    process, hosts, journal = start(lab, program, data, 1, f"cluster.mode={mode}", *WIDE)
    first = journal.wait_for(5, process)
    before = hosts.bytes_sent("host-a")
    last = journal.wait_for(first + STEPS, process)
    a_step = (hosts.bytes_sent("host-a") - before) / (last - first)
    parameters = journal.records("run")[0]["parameters"]
    print(f"{mode}: {a_step:.0f} bytes an exchange of {parameters} parameters: {a_step / parameters:.3f} each")
    assert a_step / parameters == pytest.approx(bytes_a_parameter, rel=0.05)


# Sums of a vector over all workers by Gloo, as DistributedDataParallel does it; the first of each host reads its interface.
RING = """
import sys, torch, torch.distributed as dist
values, times = int(sys.argv[1]), int(sys.argv[2])
dist.init_process_group("gloo")
vector = torch.zeros(values)
sent = lambda: int(open("/sys/class/net/eth0/statistics/tx_bytes").read())
dist.all_reduce(vector); dist.barrier()
before = sent()
for _ in range(times):
    dist.all_reduce(vector)
dist.barrier()
print(f"rank {dist.get_rank()} sent {(sent() - before) / times:.0f}", flush=True)
dist.barrier()
"""


def test_a_ring_of_all_workers_carries_half_as_much_again(lab):
    if not importlib.util.find_spec("torch"):
        pytest.skip("needs torch for Python: it is the peer here")
    hosts, values = lab(rate="1gbit"), 240_384
    common = {"WORLD_SIZE": 4, "MASTER_ADDR": hosts.address["host-a"], "MASTER_PORT": 29500, "GLOO_SOCKET_IFNAME": "eth0",
              "OMP_NUM_THREADS": 1}
    workers = [hosts.start(hosts.names[rank // 2], [sys.executable, "-c", RING, values, 40], {"RANK": rank, **common}) for rank in range(4)]
    outputs = [worker.communicate(timeout=150)[0] for worker in workers]
    assert all(worker.returncode == 0 for worker in workers), outputs
    for rank in (0, 2):
        sent = int(re.search(rf"rank {rank} sent (\d+)", outputs[rank])[1])
        print(f"{hosts.names[rank // 2]}: a ring of all workers sends {sent} bytes, {sent / (values * 4):.3f} of the vector")
        assert sent == pytest.approx(1.5 * values * 4, rel=0.05)
