"""Clients of `tandem serve` that send what no client should, beside one that behaves."""

import concurrent.futures
import gzip
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

from workshop import TANDEM, scenario, wait_until

SRC = ["a small dog runs.", "two men sit on a bench.", "no.", "the girl reads a book."]
TGT = ["ein kleiner Hund rennt.", "zwei Männer sitzen auf einer Bank.", "nein.", "das Mädchen liest ein Buch."]
ANY = {200, 400, 403, 404, 405, 408, 411, 413, 414, 415, 416, 431, 503}  # all that it ever says; 500 is a defect
BODY_KB = 64


class Server:
    def __init__(self, folder: Path, *options):
        (folder / "src").write_text("".join(line + "\n" for line in SRC))
        (folder / "tgt").write_text("".join(line + "\n" for line in TGT))
        subprocess.run([TANDEM.parent / "tandem_make_model", folder / "src", folder / "tgt", folder / "model"], check=True, capture_output=True,
                       timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.log = folder / "log"
        self.process = subprocess.Popen([TANDEM, "serve", "--model", folder / "model", "--port", "0", "--threads", "1", "--max-body-kb", str(BODY_KB),
                                         *map(str, options)], stdout=subprocess.PIPE, stderr=self.log.open("w"), text=True)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline())[1])

    def connect(self, timeout=30) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def memory_mb(self) -> float:
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1000

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def request(body=b"", method=b"POST", path=b"/translate", headers=(b"Content-Type: application/json",), length=None, version=b"HTTP/1.1") -> bytes:
    head = [b"%s %s %s" % (method, path, version), b"Host: localhost", *headers]
    if length is not False:
        head.append(b"Content-Length: %s" % (length if length is not None else b"%d" % len(body)))
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def ask(text, **more) -> bytes:
    return json.dumps({"text": text, **more}).encode()


def answers(data: bytes, whole=True) -> list:
    """(status, body) of every answer in these bytes; asserts that they are nothing but answers."""
    found = []
    while data:
        head, end, rest = data.partition(b"\r\n\r\n")
        first = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
        assert first and end, f"no HTTP: {data[:200]}"
        if first[1] == b"100":
            data = rest
            continue
        if re.search(rb"(?i)\r\ntransfer-encoding: chunked", head):
            body = b""
            while size := int((rest.partition(b"\r\n")[0] or b"0"), 16):
                start = rest.index(b"\r\n") + 2
                body += rest[start:start + size]
                rest = rest[start + size + 2:]
            rest = rest.partition(b"\r\n\r\n")[2]
        else:
            size = int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)[1])
            assert not whole or len(rest) >= size, f"half an answer: {data[:300]}"
            body, rest = rest[:size], rest[size:]
        found.append((int(first[1]), body))
        data = rest
    return found


def exchange(server, data: bytes) -> list:
    """All answers to these bytes, behind which nothing more is sent."""
    got = b""
    with server.connect() as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it may refuse before it has all
        try:
            while part := connection.recv(65536):
                got += part
        except ConnectionError:
            pass
    return answers(got)


GOOD = request(ask(SRC[0]))
CLOSING = (b"Content-Type: application/json", b"Connection: close")
CHUNKED = (b"Content-Type: application/json", b"Transfer-Encoding: chunked")

# What is sent, and the statuses that come back, no more and no fewer.
CERTAIN = [
    (request(b"{"), [400]), (request(b""), [400]), (request(b"[" * 50_000), [400]), (request(b'{"text": "\xff\xfe"}'), [400]),
    (request(b'{"text": "a\0b"}'), [400]), (request(b'{"text": 1e999}'), [400]), (request(b'{"text": "a", "beam": 99999999999999999999}'), [400]),
    (request(ask("a", beam=-1)), [400]), (request(ask("a", beam=1000)), [400]), (request(b'{"texts": {"a": 1}}'), [400]), (request(b"null"), [400]),
    (request(ask("a"), headers=(b"Content-Type: text/plain",)), [415]), (request(ask("a"), headers=()), [415]),
    (request(method=b"GET", length=False), [405]), (request(method=b"GET", path=b"/../../etc/passwd", length=False), [404]),
    (request(method=b"GET", path=b"/%2e%2e/%00", length=False), [404]), (request(method=b"GET", path=b"/" + b"a" * 3000, length=False), [414]),
    (request(method=b"GET", path=b"/" + b"a" * 12_000, length=False), [414]), (request(method=b"BREW", length=False), [400]),
    (request(method=b"GET", path=b"/health", length=False, version=b"HTTP/9.9"), [400]),
    (request(method=b"GET", path=b"/health", length=False, headers=(b"Range: bytes=9-1,-,5-",)), [416]),
    (b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", [403]), (b"GET /health HTTP/1.1\r\n\r\n", [403]), (b"\r\n\r\n", [400]),
    (request(length=False), [411]), (request(b"{}", length=b"-5"), [400]), (request(b"{}", length=b"2x"), [400]), (request(b"{}", length=b"+2"), [400]),
    (request(b"{}", length=b"99999999999999999999"), [413]), (request(b"{}", length=b"%d" % (BODY_KB * 1024 + 1)), [413]),
    (request(ask("a" * 200_000)), [413]), (request(ask("a" * 200_000), headers=(b"Expect: 100-continue", b"Content-Type: application/json")), [413]),
    (request(gzip.compress(ask("a" * 20_000_000)), headers=(b"Content-Type: application/json", b"Content-Encoding: gzip")), [413]),
    # Where the request ends is in doubt: one answer, and what may be a second request is not read.
    (request(b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", headers=CHUNKED), [400]),
    (request(ask("a"), headers=(b"Content-Type: application/json", b"Content-Length: 3")), [400]),
    (request(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", method=b"PUT"), [405]),
    (request(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", method=b"GET", path=b"/health"), [200]),
    (request(b"zz\r\n", headers=CHUNKED, length=False), [400]), (request(b"-1\r\n{}\r\n0\r\n\r\n", headers=CHUNKED, length=False), [400]),
    (request(b"ffffffffffffffff\r\n" + b"a" * 300_000, headers=CHUNKED, length=False), [400]),
    (request(b"ffffffff\r\n" + b"a" * 300_000, headers=CHUNKED, length=False), [413]),
    (request(b"1\r\na\r\n" * 60_000 + b"0\r\n\r\n", headers=CHUNKED, length=False), [413]),
    (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", [431]),
    (b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", [431]), (b"A" * 200_000, [431]),
    (request(b"%x\r\n%s\r\n0\r\n\r\n" % (len(ask(SRC[2])), ask(SRC[2])), headers=CHUNKED, length=False), [200]),
    (GOOD * 3 + request(method=b"GET", path=b"/health", length=False) + GOOD + b"rubbish\r\n\r\n", [200] * 5 + [400]),
]


def check_certain(server):
    """Every request that has one right answer gets it."""
    for data, expected in CERTAIN:
        got = exchange(server, data)
        assert [status for status, _ in got] == expected, f"{data[:150]}: {got} instead of {expected}"
        for status, body in got:
            assert status == 200 or json.loads(body)["error"], (data[:150], body)
    texts = [json.loads(body)["text"] for _, body in exchange(server, b"".join(request(ask(text)) for text in SRC * 5))]
    assert texts == TGT * 5, "answers to several requests at once are mixed up"


def broken(rng) -> bytes:
    """A request that was right once."""
    long = rng.randbytes(rng.choice([10, 1000, 100_000]))
    data = bytearray(rng.choice([GOOD, GOOD * 2, request(ask(SRC[1], alternatives=2)), request(json.dumps({"document": " ".join(SRC)}).encode()),
                                 request(b"5\r\nhello\r\n0\r\n\r\n", headers=CHUNKED, length=False), rng.choice(CERTAIN)[0]]))
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        change = rng.randrange(6)
        if change == 0:
            data[at:at + 1] = bytes([rng.randrange(256)])
        elif change == 1:
            data[at:at] = rng.choice([b"\r\n", b"\n", b"\0", b" ", b":", b"\xff", b"{", b"0\r\n\r\n", long])
        elif change == 2:
            del data[at:at + rng.randint(1, 40)]
        elif change == 3:
            data[at:at] = data[rng.randrange(len(data) + 1):][:200]
        elif change == 4:
            data = data[:max(1, at)]
        else:
            data[:] = re.sub(rb"(?i)(content-length: *)\d+", b"\\g<1>%d" % rng.choice([0, 1, 10, 2**31, 2**63, 2**64]), bytes(data), count=1)
    return bytes(data) or b"x"


def reset(server, data: bytes, rng):
    """Leaves without a word, at any time."""
    try:
        with server.connect() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(data[:rng.randrange(len(data) + 1)])
            time.sleep(rng.choice([0, 0, 0.01]))
    except OSError:
        pass


def attack(server, seed: int, rng) -> str:
    data = broken(rng)
    if rng.random() < 0.15:
        reset(server, data, rng)
        return "reset"
    for status, _ in exchange(server, data):
        assert status in ANY, f"seed {seed}: {status} for {data[:500]}"
    return "answered"


class SlowClients(threading.Thread):
    """Connections that send a byte now and then; those that are cut off come back."""

    def __init__(self, server, count: int):
        super().__init__(daemon=True)
        self.server, self.count, self.ended, self.cut_off = server, count, threading.Event(), 0

    def run(self):
        clients = [None] * self.count
        at = 0
        while not self.ended.wait(0.5):
            at += 1
            for i, client in enumerate(clients):
                try:
                    if client is None:
                        clients[i] = client = self.server.connect(5)
                        client.setblocking(False)
                    client.sendall(GOOD[at % 60:at % 60 + 1] if at > 1 else GOOD[:1])
                    if client.recv(1000) is not None:  # anything but "nothing yet"
                        raise ConnectionError
                except BlockingIOError:
                    pass
                except OSError:
                    self.cut_off += 1
                    if clients[i] is not None:
                        clients[i].close()
                    clients[i] = None
        for client in filter(None, clients):
            client.close()


class OrdinaryClient(threading.Thread):
    """One request after the other; any wrong or missing answer is a defect."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.ended, self.seconds, self.defect, self.count = server, threading.Event(), [], None, 0

    def run(self):
        try:
            while not self.ended.is_set():
                i = self.count % len(SRC)
                start = time.monotonic()
                (status, body), = exchange(self.server, request(ask(SRC[i]), headers=CLOSING)) if self.count % 2 else self.kept(i)
                assert status == 200 and json.loads(body)["text"] == TGT[i], (status, body)
                self.seconds.append(time.monotonic() - start)
                self.count += 1
        except Exception as defect:  # told by the scenario's own thread
            self.defect = defect

    def milliseconds(self, share):
        return round(1000 * sorted(self.seconds)[int(share * (len(self.seconds) - 1))], 1)

    def kept(self, i):
        """Over a connection that stays open until the answer is there."""
        with self.server.connect(60) as connection:
            connection.sendall(request(ask(SRC[i])))
            got = b""
            while not (found := re.search(rb"(?is)content-length: *(\d+).*?\r\n\r\n", got)) or len(got) < found.end() + int(found[1]):
                part = connection.recv(65536)
                assert part, f"the connection ended: {got}"
                got += part
            return answers(got)


def hammer(server, cases: int, rng) -> dict:
    """Counts by what came of them."""
    seeds = [rng.randrange(2**32) for _ in range(cases)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(lambda seed: attack(server, seed, random.Random(seed)), seeds))
    return {end: ends.count(end) for end in sorted(set(ends))}


@scenario("23", cases=20_000, short=200)
def http(workshop, cases, rng):
    """tandem serve between broken requests, slow clients and resets: right statuses, others answered, memory bounded, a clean end."""
    return besieged(workshop, "http", cases, rng, slow_clients=200)


@scenario("23", cases=20_000, short=200)
def http_crowded(workshop, cases, rng):
    """The same with more slow clients than connections are served at a time."""
    return besieged(workshop, "http_crowded", cases, rng, 40, "--connections", 32)


def besieged(workshop, name, cases, rng, slow_clients, *settings):
    folder = workshop.folder / name
    folder.mkdir()
    server = Server(folder, *settings)
    try:
        check_certain(server)
        hammer(server, 50, rng)  # what is allocated once is there now
        undisturbed = OrdinaryClient(server)
        undisturbed.start()
        wait_until(lambda: undisturbed.count >= 300 or undisturbed.defect, 120, "300 answers")
        undisturbed.ended.set()
        undisturbed.join(120)
        memory, files = server.memory_mb(), server.open_files()
        slow, good = SlowClients(server, slow_clients), OrdinaryClient(server)
        slow.start()
        good.start()
        ends = hammer(server, cases, rng)
        wait_until(lambda: slow.cut_off >= 20, 120, "20 slow clients cut off")
        wait_until(lambda: good.count >= 10 or good.defect, 120, "an ordinary client between slow ones")
        check_certain(server)
        grown = server.memory_mb() - memory
        for thread in (slow, good):
            thread.ended.set()
            thread.join(120)
        defect = undisturbed.defect or good.defect
        assert defect is None, f"an ordinary client was not served: {defect}"
        assert server.process.poll() is None, "the server ended"
        assert grown < 64 or b"__asan_init" in TANDEM.read_bytes(), f"{grown:.0f} MB more than before"  # AddressSanitizer keeps what is freed
        wait_until(lambda: server.open_files() <= files + 2, 30, f"{server.open_files()} open files, {files} before")
        late = OrdinaryClient(server)
        late.start()
        wait_until(lambda: late.count > 0, 60, "an answer")
        start = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
        drained = time.monotonic() - start
        workshop.within(drained, 10, "the server has ended after SIGTERM")
        lines = server.log.read_text().split("\n")[:-1]
        odd = [line for line in lines if not re.fullmatch(r"\S+Z [\d.]* \S* .* \d{3} [\d.]+ ms", line)]
        assert lines and not odd, f"lines of the log that are no visits: {odd[:3]}"
        return (f"{cases} broken requests {ends}, {len(CERTAIN)} with one right answer, {slow.cut_off} slow clients cut off; an ordinary client: {good.count} "
                f"answers, median {good.milliseconds(0.5)} ms, of a hundred the slowest {good.milliseconds(0.99)} ms ({undisturbed.milliseconds(0.5)} and "
                f"{undisturbed.milliseconds(0.99)} ms before), at most {max(good.seconds):.1f} s; memory {grown:+.1f} MB; "
                f"ended after {drained:.1f} s")
    finally:
        server.process.kill()
        server.process.wait()
