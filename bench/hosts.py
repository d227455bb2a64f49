"""Two hosts of the lab at 1 Gbps and 100 Mbps: forecast beside measurement, and beside PyTorch's DistributedDataParallel.

Two hosts with one and two workers each, one thread a worker, `tandem train` by mpirun as in docs/launch.md. The forecast is
what the program said before its first step; measured is the median step after it. DDP (bench/peer/ddp.py, one worker a
host) has the same model and as many tokens, and runs directly after tandem. Four workers share this machine's cores.
Usage: scripts/bench hosts [--json] [--presets tiny,base] [--rates 1gbit,100mbit] [--steps N] [--alone]; needs root, as the lab does
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys
import tempfile

import peers
from scaling import LENGTH, QUIET, SIZES, WARM_UP, make_data, train_command

sys.path.insert(0, str(peers.ROOT / "tests/lab"))
import lab as lab_of_hosts  # noqa: E402

TOKENS = {"tiny": 4096, "base": 1024}  # a worker


def train(lab, preset, workers, steps):
    run = f"{preset}-{workers}"
    shutil.rmtree(lab.folder / "host-a" / run, ignore_errors=True)
    shutil.rmtree(lab.folder / "host-b" / run, ignore_errors=True)
    tokens = TOKENS[preset] * workers * len(lab.names)
    done = lab.mpirun(train_command(lab.disk / "data", lab.disk / run, preset, tokens, WARM_UP + steps, "cluster.mode=exact"),
                      workers=workers, env=QUIET, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"bench: a run failed: {done.stdout}")
    with open(lab.folder / "host-a" / run / "journal.jsonl") as lines:
        records = [json.loads(line) for line in lines]
    preflight = next(r for r in records if r["type"] == "run")["preflight"]
    counted = [r for r in records if r["type"] == "step"][WARM_UP:]
    median = lambda value: statistics.median(map(value, counted))
    link = next(r for r in records if r["type"] == "run")["link_bits_per_s"]
    return {"forecast_s": preflight["forecast"]["step_s"], "measured_s": median(lambda r: r["seconds"]["total"]),
            "forecast_exposed_s": preflight["forecast"]["exposed_s"], "exposed_s": median(lambda r: r["seconds"]["exchange"]),
            "wire_s": 8 * median(lambda r: r["bytes_out"]) / link, "backward_s": median(lambda r: r["seconds"]["backward"]),
            "link_mbps": link / 1e6, "check_s": preflight["seconds"],
            "tokens_per_second": sum(r["tokens"] for r in counted) / sum(r["seconds"]["total"] for r in counted)}


def train_ddp(lab, preset, steps):
    settings = {**SIZES[preset], "tokens": TOKENS[preset], "length": LENGTH, "steps": WARM_UP + steps, "warm_up": WARM_UP, "together": True}
    started = []
    for rank, host in enumerate(lab.names):
        env = {**QUIET, "RANK": rank, "MASTER_ADDR": lab.address["host-a"], "MASTER_PORT": 29400, "GLOO_SOCKET_IFNAME": "eth0"}
        command = [sys.executable, peers.ROOT / "bench/peer/ddp.py", json.dumps({**settings, "out": str(lab.disk / "ddp.json")})]
        started.append(lab.start(host, command, env))
    for process in started:
        output, _ = process.communicate(timeout=600)
        if process.returncode != 0:
            raise SystemExit(f"bench: DDP failed: {output}")
    return sum(max(json.loads((lab.folder / host / "ddp.json").read_text())) for host in lab.names)


def measure(data, folder, rate, presets, steps, alone):
    rows = []
    with lab_of_hosts.Lab(hosts=2, rate="1gbit" if rate == "full" else rate, folder=folder / rate) as lab:
        if rate == "full":
            lab.full_speed()
        for name in lab.names:
            shutil.copytree(data, lab.folder / name / "data")
        for preset in presets:
            for workers in (1, 2):
                row = {"rate": rate, "preset": preset, "workers": workers,
                       **train(lab, preset, workers, steps or SIZES[preset]["steps"])}
                if workers == 1 and not alone:
                    row["of_ddp"] = row["tokens_per_second"] / train_ddp(lab, preset, steps or SIZES[preset]["steps"])
                rows.append(row)
                print(f"  {describe(row)}", file=sys.stderr)
    return rows


def describe(r):
    error = r["forecast_s"] / r["measured_s"] - 1
    beside = f", {r['of_ddp']:.2f}x DDP" if "of_ddp" in r else ""
    return (f"{r['rate']:8} {r['preset']} 2 x {r['workers']}: forecast {r['forecast_s']:6.2f} s, measured {r['measured_s']:6.2f} s a step "
            f"({100 * error:+.0f} %); exposed {r['forecast_exposed_s']:.2f} s told, {r['exposed_s']:.2f} s seen, bytes need {r['wire_s']:.2f} s "
            f"at {r['link_mbps']:.0f} Mbps, backward {r['backward_s']:.2f} s; check {r['check_s']:.1f} s; "
            f"{r['tokens_per_second']:.0f} tokens/s{beside}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--presets", default="tiny,base")
    parser.add_argument("--rates", default="1gbit,100mbit")
    parser.add_argument("--steps", type=int, default=0, help="counted steps of a run; 0: by preset")
    parser.add_argument("--alone", action="store_true", help="without DDP")
    args = parser.parse_args()
    if why := lab_of_hosts.missing():
        raise SystemExit(f"bench: no lab here: {why}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = make_data(folder)
        rows = [row for rate in args.rates.split(",") for row in measure(data, folder, rate, args.presets.split(","), args.steps, args.alone)]
    errors = sorted(abs(r["forecast_s"] / r["measured_s"] - 1) for r in rows)
    if args.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(describe(row))
    print(f"forecast off by {100 * statistics.median(errors):.0f} % in the median, {100 * errors[-1]:.0f} % at worst")


if __name__ == "__main__":
    main()
