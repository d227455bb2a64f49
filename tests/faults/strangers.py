"""Strangers at the workers' ports."""

import os
import re
import socket
import statistics
from pathlib import Path

from workshop import scenario, wait_until


def listening(pids: list) -> list:
    """(address, port) of the TCP ports at which these processes listen."""
    sockets = set()
    for pid in pids:
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            try:
                if found := re.match(r"socket:\[(\d+)\]", os.readlink(fd)):
                    sockets.add(found[1])
            except OSError:
                pass
    ports = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in sockets:
            address, port = fields[1].split(":")
            ports.append((".".join(str(b) for b in reversed(bytes.fromhex(address))), int(port, 16)))
    return ports


@scenario("22", cases=10_000, short=100)
def strangers(workshop, cases, rng):
    """Random bytes, half a greeting, silence: nobody gets in, and training does not notice."""
    steps = 400
    run = workshop.run(2, steps)
    child = run.start()
    wait_until(lambda: run.last_step() > 0, 60, "a first step")
    ports = listening([child.pid, *run.pids()])
    assert ports, "nobody listens"
    assert all(address == "127.0.0.1" for address, _ in ports), f"a port is open to others: {ports}"
    tried = 0
    while tried < cases and child.poll() is None:
        try:
            with socket.create_connection(rng.choice(ports), timeout=5) as knock:
                knock.sendall(rng.randbytes(rng.choice([0, 1, 7, 64, 1000, 100_000])))
                knock.shutdown(socket.SHUT_WR)
                knock.settimeout(0.001)
                try:
                    knock.recv(1000)
                except OSError:
                    pass
        except OSError:
            pass
        tried += 1
    _, errors = child.communicate(timeout=300)
    assert child.returncode == 0, errors
    assert run.result() == workshop.reference(2, steps), "training was disturbed"
    median = statistics.median(line["seconds"]["total"] for line in run.lines("step"))
    workshop.forget(run)
    return f"{tried} attempts at {len(ports)} ports, none disturbed; median step {1000 * median:.1f} ms"
