"""tandem check: what is known before the first step, on one host and on two hosts of the lab."""

import json
import os
import socket
import subprocess

import pytest

CONFIG = """
threads: 1
model: {preset: tiny, d_model: 256, heads: 4, ffn: 1024, encoder_layers: 2, decoder_layers: 2}
data: {max_length: 64}
batch: {tokens: 1000}
stop: {steps: 200}
cost: {per_host_hour: 3.0, currency: EUR}
cluster: {mode: exact}
"""
QUIET = {"OMP_WAIT_POLICY": "passive"}


@pytest.fixture(scope="module")
def data(reversed_words):
    folder = reversed_words(400, seed=5, shortest=4, longest=12)
    (folder / "config.yaml").write_text(CONFIG)
    return folder


def settings(data, folder, *more):
    return ["check", data / "config.yaml", f"data.path={data / 'data'}", f"run={folder / 'run'}", *more]


def test_one_host_says_what_can_be_known(tandem, data, tmp_path):
    done = tandem(*settings(data, tmp_path, "--json"), env=QUIET)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report["hosts"]) == 1 and report["links"] == [] and report["refused"] is None
    assert report["hosts"][0]["memory_free_bytes"] > 0 and report["hosts"][0]["disk_free_bytes"] > 0
    forecast, compute = report["forecast"], report["compute"]
    assert forecast["step_s"] == pytest.approx(compute["total_s"])
    assert forecast["seconds_to_end"] == pytest.approx(200 * forecast["step_s"], rel=1e-6)
    assert forecast["cost"] == pytest.approx(forecast["seconds_to_end"] / 3600 * 3)
    assert not (tmp_path / "run").exists()  # it only looks


def test_the_forecast_of_one_host_is_near_the_truth(tandem, data, tmp_path):
    check = json.loads(tandem(*settings(data, tmp_path, "--json"), env=QUIET).stdout)
    train = tandem("train", data / "config.yaml", f"data.path={data / 'data'}", f"run={tmp_path / 'run'}", "stop.steps=20",
                   "eval.every=0", env=QUIET)
    assert train.returncode == 0, train.stderr
    lines = [json.loads(line) for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()]
    seconds = sorted(line["seconds"]["total"] for line in lines if line["type"] == "step")
    # The machine may be busy in one of the two: a factor, not a percentage.
    assert 0.2 < check["forecast"]["step_s"] / seconds[len(seconds) // 2] < 5


def test_the_text_is_for_people(tandem, data, tmp_path):
    done = tandem(*settings(data, tmp_path), env=QUIET)
    assert done.returncode == 0, done.stderr
    words = [line.split()[0] for line in done.stdout.splitlines()]
    assert words[:3] == ["host", "compute", "forecast"]
    assert "200 steps in" in done.stdout and "EUR" in done.stdout


def test_a_full_disk_is_foreseen(small_disk, program, data):
    disk = small_disk(4 << 20)
    done = disk.run(program, *settings(data, disk.path), env=QUIET)
    assert done.returncode == 0, done.stderr
    assert "warning" in done.stdout and "of disk free" in done.stdout


def test_a_missing_dataset_is_a_mistake(tandem, data, tmp_path):
    done = tandem("check", data / "config.yaml", f"data.path={tmp_path / 'absent'}")
    assert done.returncode == 2 and "absent" in done.stderr


@pytest.mark.parametrize("setting", ["cluster.timeout=1.9", "cluster.timeout=1e300", "cluster.join_timeout=1e300", "cluster.stuck_timeout=1e9",
                                     "cluster.local_timeout=0"])
def test_a_patience_that_makes_no_sense_is_a_mistake(tandem, data, tmp_path, setting):
    done = tandem(*settings(data, tmp_path, setting))
    assert done.returncode == 2 and setting.split("=")[0] in done.stderr


def check_two_workers(program, data, folder, *more_of_second):
    """Exit codes and outputs of two workers on this host, started by hand."""
    env = {**QUIET, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "TANDEM_TOKEN": "a" * 64}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        env["MASTER_PORT"] = str(free.getsockname()[1])
    workers = []
    for rank, more in enumerate(((), more_of_second)):
        command = [str(part) for part in (program, *settings(data, folder, "--json", *more))]
        workers.append(subprocess.Popen(command, env={**os.environ, **env, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    outputs = [worker.communicate(timeout=120) for worker in workers]
    return [worker.returncode for worker in workers], outputs


def test_workers_of_one_host_need_no_link(program, data, tmp_path):
    codes, outputs = check_two_workers(program, data, tmp_path)
    assert codes == [0, 0], outputs
    report = json.loads(outputs[0][0])
    assert outputs[1][0] == ""  # the first one speaks
    assert report["workers_per_host"] == 2 and report["links"] == [] and len(report["hosts"]) == 1


def test_a_worker_with_other_settings_is_refused_and_nothing_is_forecast(program, data, tmp_path):
    codes, outputs = check_two_workers(program, data, tmp_path, "seed=77")
    assert codes == [2, 2], outputs
    report = json.loads(outputs[0][0])
    assert "rank 1 (pid" in report["refused"] and "seed (77, but 1 there)" in report["refused"]
    assert all(report[key] is None for key in ("forecast", "compute", "software", "exchange", "step_without_links_s"))


# --- two hosts --------------------------------------------------------------------------------------------------------


def check_by_hand(lab, program, data, *more, on_b=()):
    """The check on host-a and host-b, started by hand; each with its own folder. Exit codes and outputs."""
    workers = []
    for rank, host in enumerate(lab.names):
        env = {**QUIET, "RANK": rank, "WORLD_SIZE": len(lab.names), "MASTER_ADDR": lab.address["host-a"], "MASTER_PORT": 29517,
               "TANDEM_TOKEN": "b" * 64}
        own = on_b if host == "host-b" else ()
        workers.append(lab.start(host, [program, *settings(data, lab.disk, *more, *own)], env))
    outputs = [worker.communicate(timeout=120)[0] for worker in workers]
    return [worker.returncode for worker in workers], outputs


def report_of(outputs):
    text = outputs[0]
    return json.loads(text[text.index("{"):])


@pytest.mark.parametrize("rate, mbps", [("100mbit", 100), ("1gbit", 1000)])
def test_a_link_is_measured_and_weighed(lab, program, data, sanitized, rate, mbps):
    codes, outputs = check_by_hand(lab(2, rate), program, data, "--json")
    assert codes == [0, 0], outputs
    report = report_of(outputs)
    link = report["links"][0]["link"]
    slack = 0.4 if sanitized else 0.7  # a busy machine does not fill a gigabit
    for direction in ("there_both", "back_both", "there_alone", "back_alone"):
        assert slack * mbps < link[direction] * 8e-6 < 1.15 * mbps, link
    assert {report["links"][0]["opening_host"], report["links"][0]["answering_host"]} == {"host-a", "host-b"}
    assert report["exchange"]["per_value_s"] > 2 / (mbps * 1e6 / 8 * 1.15)  # bf16 cannot be faster than the wire
    forecast = report["forecast"]
    assert forecast["exchange"] == "exact bf16" and forecast["speed_up"] < 2.2


def test_a_link_of_a_few_megabits_is_read_right(lab, program, data, sanitized):
    codes, outputs = check_by_hand(lab(2, "5271kbit"), program, data, "--json")
    assert codes == [0, 0], outputs
    link = report_of(outputs)["links"][0]["link"]
    slack = 0.5 if sanitized else 0.75
    for direction in ("there_both", "back_both", "there_alone", "back_alone"):
        assert slack * 5.04 < link[direction] * 8e-6 < 1.15 * 5.04, link  # of payload


def test_a_slow_link_is_announced_in_words(lab, program, data):
    codes, outputs = check_by_hand(lab(2, "100mbit"), program, data, "batch.tokens=100")
    assert codes == [0, 0], outputs
    warning = next(line for line in outputs[0].splitlines() if line.startswith("warning"))
    assert "between host-a and host-b" in warning and "instead of" in warning and "ask for 1 Gbps" in warning


def test_other_settings_on_one_host_are_refused_by_name(lab, program, data):
    codes, outputs = check_by_hand(lab(2, "1gbit"), program, data, on_b=["optim.lr=0.5"])
    assert codes == [2, 2], outputs
    assert "host-b has other settings than host-a: optim.lr" in outputs[0]
    assert "tandem:" not in outputs[1]  # said once


def test_each_host_has_its_own_interface_and_device(lab, program, data):
    codes, outputs = check_by_hand(lab(2, "1gbit"), program, data, on_b=["cluster.interface=eth9, eth0", "device=cpu"])
    assert codes == [0, 0], outputs


def test_a_delay_above_the_steps_is_a_mistake(lab, program, data):
    codes, outputs = check_by_hand(lab(2, "1gbit"), program, data, "cluster.local_steps=4", "cluster.local_delay=5")
    assert codes == [2, 2], outputs
    assert "cluster.local_delay=5 is more than cluster.local_steps=4" in outputs[0]


def test_a_missing_dataset_on_one_host_is_refused_by_name(lab, program, data):
    codes, outputs = check_by_hand(lab(2, "1gbit"), program, data, on_b=["data.path=absent"])
    assert codes == [2, 2], outputs
    assert "host-b has no dataset" in outputs[0]


def test_a_required_speed_up_is_demanded(lab, program, data):
    codes, outputs = check_by_hand(lab(2, "100mbit"), program, data, "cluster.require=1.9", "batch.tokens=100")
    assert codes == [3, 3], outputs
    assert "cluster.require asks for 1.90" in outputs[0]
