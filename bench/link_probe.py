"""The link probe of the preflight on links of known speed: two network namespaces and a token bucket (needs root).

Usage: scripts/bench link_probe [--json] [--repeats N]. Exit code 1 when a reading is off by more than 10 %, a half-duplex
link is not recognised, or a probe takes longer than 2 s. Half duplex is emulated by one bucket for both directions.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "build/release/bench/bench_link_probe"
PAYLOAD = 1448 / 1514  # what is left of an Ethernet frame as a token bucket counts it
FEWEST_OFF, LONGEST = 0.10, 2.0

# name, set rate in bits a second there and back, the bucket's size, whether both directions share one
LINKS = [
    ("100 Mbps", 100e6, 100e6, "64kb", False),
    ("1 Gbps", 1e9, 1e9, "256kb", False),
    ("100 Mbps half duplex", 100e6, 100e6, "64kb", True),
    ("100 Mbps there, 20 Mbps back", 100e6, 20e6, "64kb", False),
    ("10 Mbps", 10e6, 10e6, "16kb", False),
]


class Link:
    """Two namespaces held by sleeping processes; both vanish with them."""

    def __init__(self, there, back, burst, shared):
        self.holders = [subprocess.Popen(["unshare", "-n", "sleep", "600"]) for _ in range(2)]
        a, b = (str(p.pid) for p in self.holders)
        self.wait_for_namespaces()
        self.do("ip", "link", "add", "vA", "netns", a, "type", "veth", "peer", "name", "vB", "netns", b)
        for end, device, address in ((0, "vA", "10.9.0.1/24"), (1, "vB", "10.9.0.2/24")):
            self.inside(end, "ip", "address", "add", address, "dev", device)
            self.inside(end, "ip", "link", "set", device, "up")
        if shared:
            self.share(there, burst)
        else:
            self.limit(0, "vA", there, burst)
            self.limit(1, "vB", back, burst)

    def wait_for_namespaces(self):
        own = os.readlink("/proc/self/ns/net")
        while any(os.readlink(f"/proc/{p.pid}/ns/net") == own for p in self.holders):
            pass

    def limit(self, end, device, rate, burst):
        self.inside(end, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{rate:.0f}bit", "burst", burst,
                    "latency", "50ms")

    def share(self, rate, burst):
        """Packets of both directions pass one device with one bucket."""
        self.inside(0, "ip", "link", "add", "ifb0", "type", "ifb")
        self.inside(0, "ip", "link", "set", "ifb0", "up")
        self.limit(0, "ifb0", rate, burst)
        redirect = ["matchall", "action", "mirred", "egress", "redirect", "dev", "ifb0"]
        self.inside(0, "tc", "qdisc", "add", "dev", "vA", "ingress")
        self.inside(0, "tc", "filter", "add", "dev", "vA", "parent", "ffff:", *redirect)
        self.inside(0, "tc", "qdisc", "add", "dev", "vA", "root", "handle", "1:", "prio")
        self.inside(0, "tc", "filter", "add", "dev", "vA", "parent", "1:", *redirect)

    def command(self, end, *command):
        return ["nsenter", "-t", str(self.holders[end].pid), "-n", *map(str, command)]

    def inside(self, end, *command):
        self.do(*self.command(end, *command))

    @staticmethod
    def do(*command):
        subprocess.run(command, check=True)

    def probe(self):
        answer = subprocess.Popen(self.command(1, PROGRAM, "answer", "10.9.0.2"), stdout=subprocess.PIPE, text=True)
        door = answer.stdout.readline().split()
        opened = subprocess.run(self.command(0, PROGRAM, "open", "10.9.0.1", "10.9.0.2", *door), check=True,
                                stdout=subprocess.PIPE, text=True)
        answer.wait()
        return json.loads(opened.stdout)

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()


def measure(name, there, back, burst, shared, repeats):
    link = Link(there, back, burst, shared)
    try:
        probes = [link.probe() for _ in range(repeats)]
    finally:
        link.close()
    median = {key: statistics.median(p[key] for p in probes) for key in probes[0]}
    share = 0.5 if shared else 1
    off = {key: median[key] * 8 / (rate * PAYLOAD * part) - 1
           for key, rate, part in (("there_both", there, share), ("back_both", back, share),
                                   ("there_alone", there, 1), ("back_alone", back, 1))}
    both_off = (median["there_both"] + median["back_both"]) * 8 / ((there + back) * PAYLOAD * share) - 1
    judged = ([both_off] if shared else [off["there_both"], off["back_both"]]) + [off["there_alone"], off["back_alone"]]
    held = (all(abs(value) <= FEWEST_OFF for value in judged) and median["seconds"] <= LONGEST
            and all(p["shares_directions"] == shared for p in probes))
    return {"name": name, "held": held, "off": off, "both_off": both_off, "median": median,
            "seconds_longest": max(p["seconds"] for p in probes)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=3, help="probes of each link")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("bench link_probe: needs root, to make network namespaces")

    rows = [measure(*link, options.repeats) for link in LINKS]
    if options.json:
        print(json.dumps({"bench": "link_probe", "rows": rows}))
    else:
        print("Mbps of payload, there and back (off from the set rate)")
        for row in rows:
            m, off = row["median"], row["off"]
            cell = lambda key: f"{m[key] * 8e-6:6.1f} ({off[key]:+.1%})"
            print(f"  {'ok  ' if row['held'] else 'MISS'} {row['name']:<30} at once {cell('there_both')} {cell('back_both')}"
                  f"  alone {cell('there_alone')} {cell('back_alone')}  round trip {m['rtt_median_s'] * 1e3:.2f} ms"
                  f"  {m['seconds']:.2f} s, longest {row['seconds_longest']:.2f} s")
    return 0 if all(row["held"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
