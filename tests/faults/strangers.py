"""Strangers at the workers' ports."""

import contextlib
import os
import re
import signal
import socket
import statistics
import struct
import time
from pathlib import Path

from workshop import scenario, wait_until

GREETING = 40  # bytes: "tandem", the version, a nonce


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
    for family, table in ((socket.AF_INET, Path("/proc/net/tcp")), (socket.AF_INET6, Path("/proc/net/tcp6"))):
        for line in table.read_text().splitlines()[1:] if table.exists() else []:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                address, port = fields[1].split(":")
                words = [bytes.fromhex(address[i:i + 8])[::-1] for i in range(0, len(address), 8)]
                ports.append((socket.inet_ntop(family, b"".join(words)), int(port, 16)))
    return ports


@contextlib.contextmanager
def core(number: int):
    """What is started within stays on this core; where there is only one, everything is on it anyway."""
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(all_cores)[number % len(all_cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


def knock(port: tuple, text: bytes):
    try:
        with socket.create_connection(port, timeout=0.005) as door:  # a door that is closed does not answer
            door.sendall(text)
            door.shutdown(socket.SHUT_WR)
            door.settimeout(0.001)
            door.recv(1000)
    except OSError:
        pass


def greeting(door: socket.socket) -> bytes:
    """What the hub says to a caller (handshake.h); nothing at other ports, and where a stranger is turned away at once."""
    door.settimeout(2)
    text = b""
    try:
        while len(text) < GREETING and (more := door.recv(GREETING - len(text))):
            text += more
    except OSError:
        return b""
    return text if text.startswith(b"tandem\0") else b""


def hub_of(ports: list) -> tuple:
    for port in ports:
        with contextlib.suppress(OSError), socket.create_connection(port, timeout=2) as door:  # a closed door does not answer
            if len(greeting(door)) == GREETING:
                return port
    raise AssertionError(f"no hub at {ports}")


def lie(hub: tuple, rng) -> bool:
    """An answer in the form of a worker's, without the token. Whether it was heard out: closed, without a verdict."""
    with socket.create_connection(hub, timeout=2) as door:
        if len(greeting(door)) < GREETING:
            return False
        purpose, rank, workers = rng.randint(0, 6), rng.choice([0, 1, 2, 2**32 - 1]), rng.choice([0, 2, 3])
        try:
            door.sendall(rng.randbytes(32) + struct.pack("<BII", purpose, rank, workers) + rng.randbytes(32))
            verdict = door.recv(1000)
        except TimeoutError as waits:
            raise AssertionError("a stranger's answer is not refused") from waits
        except ConnectionError:
            return True
        assert not verdict, f"a stranger is told {verdict.hex()}"
        return True


def besiege(ports: list, hub: tuple, attempts: int, rng) -> tuple:
    """When it began and ended, and how many wrong answers were refused: every fourth attempt is one."""
    began, lies = time.time(), 0
    for attempt in range(attempts):
        if attempt % 4 == 0:
            lies += lie(hub, rng)
        else:
            knock(rng.choice(ports), rng.randbytes(rng.choice([0, 1, 7, 64, 1000, 100_000])))
        time.sleep(0.003)
    return began, time.time(), lies


def open_files(run) -> int:
    return max(len(os.listdir(f"/proc/{pid}/fd")) for pid in run.pids())


def slow_down(steps: list, sieges: list) -> float:
    """Mean step within sieges by that in the silences between: what else comes and goes on a machine is in both."""
    silences = [(end, begin) for (_, end), (begin, _) in zip(sieges, sieges[1:])]

    def mean(spans):
        seconds = [step["seconds"]["total"] for step in steps
                   if any(begin < step["time"] - step["seconds"]["total"] and step["time"] < end for begin, end in spans)]
        return statistics.fmean(seconds) if seconds else float("nan")  # a few cases may have none

    return mean(sieges) / mean(silences)


@scenario("22", cases=10_000, short=200)
def strangers(workshop, cases, rng):
    """Random bytes, silence, whole answers without the token, in sieges of 100 with pauses: nobody gets in, and training does not notice."""
    run = workshop.run(2, 1_000_000)
    with core(1):  # strangers come from other machines: their own work must not slow the workers
        child = run.start()
    wait_until(lambda: run.last_step() > 0, 60, "a first step")
    ports = listening([child.pid, *run.pids()])
    assert ports, "nobody listens"
    assert all(address == "127.0.0.1" for address, _ in ports), f"a port is open to others: {ports}"
    sieges, files, lies = [], open_files(run), 0
    with core(0):
        hub = hub_of(ports)
        for _ in range(cases // 100):
            began, ended, refused = besiege(ports, hub, 100, rng)
            sieges.append((began, ended))
            lies += refused
            time.sleep(ended - began)
    assert lies > 20 * len(sieges), f"only {lies} wrong answers were heard out"
    assert open_files(run) < files + 20, f"strangers are kept: {open_files(run)} open files instead of {files}"
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 75, errors
    run.steps = run.last_step()
    assert run.result() == workshop.reference(2, run.steps), "training was disturbed"
    assert run.starts() == 1, f"a worker was lost: {errors}"
    assert re.search(r"refused \d+ connection", errors), f"nothing is said of strangers: {errors}"
    slower = slow_down(run.lines("step"), sieges)
    workshop.forget(run)
    if cases >= 1000:  # a few sieges tell nothing
        workshop.within(100 * (slower - 1), 2, "a step takes longer within sieges", "%")
    return (f"{100 * len(sieges)} attempts at {len(ports)} ports, {lies} of them answers without the token, during {run.steps} steps, none let in, trained to the bit; "
            f"a step takes {100 * (slower - 1):+.1f} % within sieges")
