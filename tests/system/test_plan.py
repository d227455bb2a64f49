"""tandem plan: what hosts and links would give, from settings alone or from a run."""

import json
import subprocess
import sys
import time

import pytest

from journal_text import journal_lines, write_run

BASE = "configs/transformer-base.yaml"


@pytest.fixture
def plan(tandem, repo):
    def call(*arguments, code=0):
        done = tandem("plan", *arguments, "--json", cwd=repo)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if code == 0 else done.stderr

    return call


def by_name(result):
    return {row["exchange"]: row for row in result["exchanges"]}


def two_by_two(plan, gbps, *more):
    return by_name(plan(BASE, "precision=bf16", "--hosts", "2", "--workers-per-host", "2", "--gbps", gbps, "--compute-s", "0.15", *more))


def test_known_step_times_of_two_hosts_with_two_devices(plan):
    """61 M values: 1.6 to 1.8 s were seen at 1 Gbps with a flat ring in fp16, 30 s at 100 Mbps (half duplex or fp32)."""
    flat = two_by_two(plan, "1", "--mode", "flat")
    assert 1.5 < flat["flat ring fp16"]["step_s"] < 1.85
    slow = two_by_two(plan, "0.1", "--mode", "flat")
    assert 15.5 < slow["flat ring fp16"]["step_s"] < 17.7
    assert 30.5 < slow["flat ring fp32"]["step_s"] < 35.3
    half = two_by_two(plan, "0.1", "--mode", "flat", "--shared-medium")
    assert 30.5 < half["flat ring fp16"]["step_s"] < 35.3


def test_what_leaves_a_host_follows_the_formulas(plan):
    rows = two_by_two(plan, "1")
    values = rows["exact fp32"]["bytes_out_of_host"] / 4
    assert rows["exact bf16"]["bytes_out_of_host"] == pytest.approx(2 * values)
    assert rows["flat ring fp16"]["bytes_out_of_host"] == pytest.approx(3 * values)
    assert rows["int8"]["bytes_out_of_host"] <= 1.02 * values
    assert rows["int4"]["bytes_out_of_host"] <= 0.53 * values


def test_the_recommendation_follows_the_link(plan):
    def recommended(gbps, *more):
        return plan(BASE, "precision=bf16", "--hosts", "2", "--workers-per-host", "2", "--gbps", gbps, "--compute-s", "0.15", *more)["recommended"]

    assert recommended("100") == "exact bf16"
    assert recommended("1") == "local int8"
    assert recommended("0.1") == "local int4"
    # With so few steps between exchanges nothing hides the transfer.
    assert recommended("0.1", "--local-steps", "2") == "one host"
    assert recommended("100", "--mode", "flat") == "flat ring fp16"


@pytest.mark.parametrize("setting, gone", [
    ("optim.ema=0.999", {"local int8", "local int4"}), ("optim.shard=true", {"int8", "int4", "local int8", "local int4"})])
def test_what_a_run_would_refuse_is_not_recommended(plan, setting, gone):
    command = (BASE, "precision=bf16", setting, "--hosts", "2", "--gbps", "0.1", "--compute-s", "0.15")
    result = plan(*command)
    every = plan(BASE, "precision=bf16", *command[3:])
    assert set(by_name(every)) - set(by_name(result)) == gone and result["recommended"] not in gone
    assert setting.split("=")[0] in result["warnings"][0]
    assert "not shown: " in plan(*command, "--mode", "local", code=2)


@pytest.mark.parametrize("setting, gone", [
    ("cluster.wire=fp32", "exact bf16"), ("cluster.local_code=int4", "local int8"), ("cluster.local_code=int8", "local int4")])
def test_what_the_settings_of_the_exchange_exclude_is_not_shown(plan, setting, gone):
    for gbps in ("0.1", "1", "100"):
        result = plan(BASE, "precision=bf16", setting, "--hosts", "2", "--workers-per-host", "2", "--gbps", gbps, "--compute-s", "0.15")
        every = plan(BASE, "precision=bf16", "--hosts", "2", "--workers-per-host", "2", "--gbps", gbps, "--compute-s", "0.15")
        assert set(by_name(every)) - set(by_name(result)) == {gone} and result["recommended"] != gone
        assert f"not shown: {gone}: {setting}" in result["warnings"]
    assert result["recommended"] == ("exact fp32" if gone == "exact bf16" else "exact bf16")


def test_one_host_is_not_told_of_an_exchange(plan):
    assert not any("would use" in warning for warning in plan(BASE, "cluster.mode=int4", "--hosts", "1")["warnings"])
    assert any("would use int4" in warning for warning in plan(BASE, "cluster.mode=int4", "--hosts", "2", "--gbps", "1")["warnings"])


def test_gpus_with_fp16_have_all_exchanges_and_hide_them_as_cpus_do(plan):
    command = ("--hosts", "2", "--workers-per-host", "2", "--compute-s", "0.15", "--gbps")
    gpus = {gbps: plan(BASE, "device=cuda", "precision=fp16", *command, gbps) for gbps in ("0.1", "1")}
    cpus = plan(BASE, "precision=bf16", *command, "1")
    assert set(by_name(gpus["1"])) == set(by_name(cpus))
    assert gpus["0.1"]["recommended"] == "local int4" and gpus["1"]["recommended"] == "local int8"
    for name in ("exact bf16", "int8", "int4"):
        assert by_name(gpus["1"])[name]["step_s"] == pytest.approx(by_name(cpus)[name]["step_s"], rel=0.02)
    assert any("nothing has run on a GPU" in warning for warning in gpus["1"]["warnings"])


def test_settings_of_the_exchange_count(plan):
    command = ("--hosts", "2", "--gbps", "0.1", "--compute-s", "0.15")
    told = plan(BASE, "cluster.mode=local", "cluster.local_steps=7", *command)
    assert by_name(told)["local int4"]["local_steps"] == 7
    assert any("would use local" in warning for warning in told["warnings"])
    assert by_name(plan(BASE, "cluster.local_steps=7", *command, "--local-steps", "9"))["local int4"]["local_steps"] == 9


def test_round_trips_count_where_weights_are_exchanged_now_and_then(plan):
    near, far = (two_by_two(plan, "1", "--rtt-ms", rtt)["local int8"] for rtt in ("0.2", "50"))
    assert far["local_steps"] >= near["local_steps"] + 16 * 0.05 / 0.15
    assert two_by_two(plan, "1", "--rtt-ms", "50", "--local-steps", "4")["local int8"]["step_s"] > 0.15 + 16 * 0.05 / 4 - 0.15


def test_more_steps_cost_more_money(plan):
    def cost(steps, *more):
        return two_by_two(plan, "10", "--price", "3", f"stop.steps={steps}", *more)["exact bf16"]["cost"]

    assert cost(2000) == pytest.approx(2 * cost(1000))
    without = two_by_two(plan, "10")["exact bf16"]
    assert without["cost"] is None and without["seconds_to_end"] > 0


def test_thousands_of_workers_take_no_longer_than_two(tandem, repo, plan):
    start = time.monotonic()
    plan(BASE, "--hosts", "2", "--gbps", "10")
    two = time.monotonic() - start
    start = time.monotonic()
    many = plan(BASE, "--hosts", "1000", "--workers-per-host", "8", "--gbps", "100")
    assert time.monotonic() - start < 5 * two + 5  # starting the program is nearly all of it
    assert by_name(many)["exact bf16"]["speed_up"] > 100


def test_a_guess_is_called_one(tandem, repo):
    text = tandem("plan", BASE, "--hosts", "4", "--gbps", "10", cwd=repo).stdout
    assert "estimated" in text and "assumed" in text and "50 %" in text and "not measured" in text
    given = tandem("plan", BASE, "--hosts", "4", "--gbps", "10", "--compute-s", "0.2", cwd=repo).stdout
    assert "as given" in given and "25 %" in given


def test_a_runs_journal_tells_how_long_a_step_computes(plan, tmp_path):
    lines = [{"type": "run", "time": 0, "resumed_from": None}]
    for step in range(1, 30):
        late = 10 if step <= 3 or step == 20 else 1  # warming up, and one stall
        lines.append({"type": "step", "time": step, "step": step, "tokens": 25000, "micro_batches": 1,
                      "seconds": {"total": 2, "data": 0, "forward": 0.5 * late, "backward": 1.0 * late, "exchange": 0,
                                  "wait": 0, "optimizer": 0.1, "other": 0}})
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    one = plan("batch.tokens=25000", "--run", tmp_path)
    assert one["compute_s"] == pytest.approx(1.6)
    # Half of the tokens for each of two workers; the optimizer stays.
    two = plan("batch.tokens=25000", "--run", tmp_path, "--hosts", "2", "--gbps", "100")
    assert two["compute_s"] == pytest.approx(0.85)
    assert by_name(two)["one host"]["step_s"] == pytest.approx(1.6)
    # The same seconds with two workers: each did half of the tokens.
    lines[0]["cluster"] = {"workers": 2, "hosts": 1}
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert plan("batch.tokens=25000", "--run", tmp_path)["compute_s"] == pytest.approx(3.1)
    # What its check measured of codes: nothing is hidden behind so little computing.
    quick, codes = ("batch.tokens=2500", "--run", tmp_path, "--hosts", "2", "--gbps", "1"), {"exact bf16": 1e-9, "int8": 5e-8}
    before = by_name(plan(*quick))
    lines[0]["preflight"] = {"software": {"per_value_s": 0.0, "codec_per_value_s": codes}}
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    after = by_name(plan(*quick))
    assert after["int8"]["step_s"] > before["int8"]["step_s"] + 1 and after["int4"]["step_s"] == before["int4"]["step_s"]


def test_another_models_journal_is_refused_and_other_starts_do_not_count(plan, tmp_path):
    def step(number, seconds):
        return {"type": "step", "time": number, "step": number, "tokens": 25000, "micro_batches": 1,
                "seconds": {"total": 2, "data": 0, "forward": seconds, "backward": 0, "exchange": 0, "wait": 0, "optimizer": 0, "other": 0}}

    def write(*lines):
        (tmp_path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    start = {"type": "run", "time": 0, "resumed_from": None}
    write({**start, "parameters": 24832}, *(step(n, 1) for n in range(1, 10)))
    assert "the run trained a model of 24832 parameters" in plan("batch.tokens=25000", "--run", tmp_path, code=2)
    # Alone, then with two workers: each did half of the tokens. The third start has too few steps.
    write(start, *(step(n, 4) for n in range(1, 10)), {**start, "cluster": {"workers": 2, "hosts": 1}}, *(step(n, 2) for n in range(10, 20)),
          start, step(20, 8))
    assert plan("batch.tokens=25000", "--run", tmp_path)["compute_s"] == pytest.approx(4)
    # Slow steps that a resume took back.
    write(start, *(step(n, 4 if n <= 8 else 9) for n in range(1, 20)), {**start, "resumed_from": 8}, step(9, 9))
    assert plan("batch.tokens=25000", "--run", tmp_path)["compute_s"] == pytest.approx(4)


# A child's peak begins with that of the process that started it, so a small one stands between.
PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"""


def peak_bytes(*command):
    """The most memory that a command has at once."""
    return int(subprocess.run([sys.executable, "-c", PEAK, *map(str, command)], stdout=subprocess.PIPE, check=True).stdout)


def test_a_journal_takes_little_more_memory_than_disk(program, repo, sanitized, tmp_path):
    if sanitized:
        pytest.skip("memory is not the program's own")
    lines = journal_lines(steps=50000, evals=0)
    lines[0].pop("parameters")
    run = write_run(tmp_path / "long", lines)
    command = (program, "plan", repo / BASE, "--json")
    size = (run / "journal.jsonl").stat().st_size
    assert size > 20e6
    assert peak_bytes(*command, "--run", run) - peak_bytes(*command) < 2 * size


@pytest.mark.parametrize("arguments, says", [
    ((BASE, "--hosts", "2"), "--gbps is missing"),
    ((BASE, "--hosts", "2", "--gbps", "-1"), "--gbps must be above 0"),
    ((BASE, "--hosts", "2", "--gbps", "1e12"), "--gbps must be above 0 and at most"),
    ((BASE, "--hosts", "2", "--gbps", "1", "--rtt-ms", "1e12"), "--rtt-ms must be from 0"),
    ((BASE, "--price", "nan"), "--price"),
    ((BASE, "--hosts", "0"), "--hosts"),
    ((BASE, "--compute-s", "-2"), "--compute-s"),
    ((BASE, "--mode", "best"), "--mode"),
    ((BASE, "--run", "absent"), "absent has no journal.jsonl"),
    ((BASE, "optim.lrr=1"), "optim.lrr"),
])
def test_mistakes_are_named(plan, arguments, says):
    assert says in plan(*arguments, code=2)
