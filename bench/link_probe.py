"""The link probe of the preflight on links of known speed: two network namespaces and a token bucket (needs root).

Usage: scripts/bench link_probe [--json] [--each] [--only NAME] [--repeats N]. Exit code 1 when a reading is further off than its limit, a half-duplex
link is not recognised, or a probe takes longer than 2 s. Half duplex is emulated by one bucket for both directions. On a lopsided
link acknowledgements wait behind data: there only each direction alone is judged. --each: every probe is judged, not their median.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "build/release/bench/bench_link_probe"
PAYLOAD = 1448 / 1514  # what is left of an Ethernet frame as a token bucket counts it
LONGEST = 2.0
ADDRESSES = ("10.9.0.1", "10.9.0.2")

# name, set rate in bits a second there and back, the bucket's size, whether both directions share one, most off
LINKS = [
    ("100 Mbps", 100e6, 100e6, "64kb", False, 0.1),
    ("1 Gbps", 1e9, 1e9, "256kb", False, 0.1),
    ("100 Mbps half duplex", 100e6, 100e6, "64kb", True, 0.1),
    ("100 Mbps there, 20 Mbps back", 100e6, 20e6, "64kb", False, 0.1),
    ("10 Mbps", 10e6, 10e6, "16kb", False, 0.15),
    ("5,271 kbps", 5.271e6, 5.271e6, "8kb", False, 0.15),
    ("3 Mbps", 3e6, 3e6, "8kb", False, 0.15),
    ("3 Mbps, 128 kB at once", 3e6, 3e6, "128kb", False, 0.15),
]


class Link:
    """Two hosts as network namespaces, held by sleeping processes: all of it vanishes with them."""

    def __init__(self, there, back, burst, shared):
        self.burst, self.holders = burst, []
        try:
            self.share(there) if shared else self.join(there, back)
        except BaseException:
            self.close()
            raise

    def hold(self, count):
        self.holders = [subprocess.Popen(["unshare", "-n", "sleep", "600"]) for _ in range(count)]
        own = os.readlink("/proc/self/ns/net")
        while any(os.readlink(f"/proc/{p.pid}/ns/net") == own for p in self.holders):
            time.sleep(0.01)

    def wire(self, one, one_address, other, other_address, rate=None, other_rate=None):
        """A veth pair between two namespaces; a rate limits what leaves that end."""
        names = [f"to{other}", f"to{one}"]
        self.do("ip", "link", "add", names[0], "netns", self.holders[one].pid, "type", "veth", "peer", "name", names[1],
                "netns", self.holders[other].pid)
        for end, name, address, limit in ((one, names[0], one_address, rate), (other, names[1], other_address, other_rate)):
            self.inside(end, "ip", "address", "add", f"{address}/24", "dev", name)
            self.inside(end, "ip", "link", "set", name, "up")
            if limit:
                self.inside(end, "tc", "qdisc", "add", "dev", name, "root", "tbf", "rate", f"{limit:.0f}bit", "burst",
                            self.burst, "latency", "50ms")

    def join(self, there, back):
        self.hold(2)
        self.wire(0, ADDRESSES[0], 1, ADDRESSES[1], there, back)

    def share(self, rate):
        """Hosts 0 and 1 send to 2, which passes everything through one bucket to 3, which delivers it."""
        self.hold(4)
        self.wire(0, "10.1.0.1", 2, "10.1.0.2")
        self.wire(1, "10.2.0.1", 2, "10.2.0.2")
        self.wire(2, "10.3.0.1", 3, "10.3.0.2", rate)
        self.wire(0, "10.4.0.1", 3, "10.4.0.2")
        self.wire(1, "10.5.0.1", 3, "10.5.0.2")
        for end in range(4):
            self.inside(end, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward; "
                        "for f in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 >$f; done")
        for end, gate in ((0, "10.1.0.2"), (1, "10.2.0.2")):
            self.inside(end, "ip", "link", "set", "lo", "up")
            self.inside(end, "ip", "address", "add", f"{ADDRESSES[end]}/32", "dev", "lo")
            self.inside(end, "ip", "route", "add", ADDRESSES[1 - end], "via", gate, "src", ADDRESSES[end])
        self.inside(2, "ip", "route", "add", "10.9.0.0/24", "via", "10.3.0.2")
        self.inside(3, "ip", "route", "add", ADDRESSES[0], "via", "10.4.0.1")
        self.inside(3, "ip", "route", "add", ADDRESSES[1], "via", "10.5.0.1")

    def command(self, end, *command):
        return ["nsenter", "-t", str(self.holders[end].pid), "-n", *map(str, command)]

    def inside(self, end, *command):
        self.do(*self.command(end, *command))

    @staticmethod
    def do(*command):
        subprocess.run([str(word) for word in command], check=True)

    def probe(self):
        answer = subprocess.Popen(self.command(1, PROGRAM, "answer", ADDRESSES[1]), stdout=subprocess.PIPE, text=True)
        door = answer.stdout.readline().split()
        opened = subprocess.run(self.command(0, PROGRAM, "open", *ADDRESSES, *door), check=True,
                                stdout=subprocess.PIPE, text=True)
        answer.wait()
        return json.loads(opened.stdout)

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()


def judge(probe, there, back, shared, most_off):
    share = 0.5 if shared else 1
    off = {key: probe[key] * 8 / (rate * PAYLOAD * part) - 1
           for key, rate, part in (("there_both", there, share), ("back_both", back, share),
                                   ("there_alone", there, 1), ("back_alone", back, 1))}
    both_off = (probe["there_both"] + probe["back_both"]) * 8 / ((there + back) * PAYLOAD * share) - 1
    at_once = [both_off] if shared else [off["there_both"], off["back_both"]] if there == back else []
    judged = at_once + [off["there_alone"], off["back_alone"]]
    return {"off": off, "both_off": both_off, "most_off": max(map(abs, judged)),
            "held": max(map(abs, judged)) <= most_off and probe["seconds"] <= LONGEST and probe["shares_directions"] == shared}


def measure(name, there, back, burst, shared, most_off, options):
    link = Link(there, back, burst, shared)
    try:
        probes = [link.probe() for _ in range(options.repeats)]
    finally:
        link.close()
    median = {key: statistics.median(p[key] for p in probes) for key in probes[0]}
    verdicts = [judge(p, there, back, shared, most_off) for p in probes]
    of_median = judge({**median, "shares_directions": shared}, there, back, shared, most_off)
    recognised = all(p["shares_directions"] == shared for p in probes)
    held = all(v["held"] for v in verdicts) if options.each else of_median["held"] and recognised
    return {"name": name, "held": held, "off": of_median["off"], "both_off": of_median["both_off"], "median": median,
            "most_off": max(v["most_off"] for v in verdicts), "seconds_longest": max(p["seconds"] for p in probes)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=3, help="probes of each link")
    parser.add_argument("--each", action="store_true", help="judge every probe")
    parser.add_argument("--only", default="", help="links whose name contains this")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("bench link_probe: needs root, to make network namespaces")

    rows = [measure(*link, options) for link in LINKS if options.only in link[0]]
    if options.json:
        print(json.dumps({"bench": "link_probe", "rows": rows}))
    else:
        print("Mbps of payload, there and back (off from the set rate)")
        for row in rows:
            m, off = row["median"], row["off"]
            cell = lambda key: f"{m[key] * 8e-6:6.1f} ({off[key]:+.1%})"
            print(f"  {'ok  ' if row['held'] else 'MISS'} {row['name']:<30} at once {cell('there_both')} {cell('back_both')}"
                  f"  alone {cell('there_alone')} {cell('back_alone')}  round trip {m['rtt_median_s'] * 1e3:.2f} ms"
                  f"  {m['seconds']:.2f} s, longest {row['seconds_longest']:.2f} s; one probe at most {row['most_off']:.1%} off")
    return 0 if all(row["held"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
