"""What the tests share. TANDEM names the program under test; scripts/test sets it.

    def test_refuses(tandem, tmp_path):
        done = tandem("score", tmp_path / "absent", "-", input="a line\n")
        assert done.returncode == 2 and "absent" in done.stderr
"""

import json
import os
import random
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/lab"))
import lab as laboratory  # noqa: E402
import slurm as slurm_daemons  # noqa: E402

TIMEOUT_SECONDS = 120


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def program() -> Path:
    """The program under test."""
    path = Path(os.environ.get("TANDEM") or ROOT / "build/release/tandem").resolve()
    assert path.exists(), f"{path} is not built; scripts/build does it"
    return path


@pytest.fixture(scope="session")
def sanitized(program) -> bool:
    """Whether the program is built with AddressSanitizer: memory and time are then not its own."""
    return b"__asan_init" in program.read_bytes()


def run(command, input=None, env=None, **options) -> subprocess.CompletedProcess:
    """Runs a command to its end; never raises for its exit code. input may be str or bytes; without it standard input
    is empty. env is added to the environment (None removes a name). Output is text; bytes that are not UTF-8 come
    as surrogates, so that they can be compared (os.fsencode gives them back)."""
    merged = {**os.environ, **{key: str(value) for key, value in (env or {}).items() if value is not None}}
    for key in [key for key, value in (env or {}).items() if value is None]:
        merged.pop(key, None)
    if isinstance(input, str):
        input = input.encode("utf-8", "surrogateescape")
    done = subprocess.run([str(part) for part in command], input=input if input is not None else b"", env=merged,
                          capture_output=True, timeout=options.pop("timeout", TIMEOUT_SECONDS), **options)
    done.stdout = done.stdout.decode("utf-8", "surrogateescape")
    done.stderr = done.stderr.decode("utf-8", "surrogateescape")
    return done


@pytest.fixture(scope="session")
def tandem(program):
    """tandem("score", a, b, input=..., env=..., cwd=..., timeout=...) -> subprocess.CompletedProcess with text."""
    return lambda *arguments, **options: run([program, *arguments], **options)


# --- a disk that is nearly full ---------------------------------------------------------------------------------------


class SmallDisk:
    """A private tmpfs of a few bytes, in a mount namespace of its own: disk.run(...) sees it at disk.path, the test
    looks at it through disk.view, everybody else sees an empty folder. It vanishes with its holder."""

    def __init__(self, path: Path, size_bytes: int):
        self.path = path
        mount = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && echo ready && exec cat'
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", mount, "sh", str(size_bytes), str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self._holder.stdout.readline() != "ready\n":
            pytest.skip(f"cannot mount a private tmpfs here: {self._holder.stderr.read().strip()}")
        self.view = Path(f"/proc/{self._holder.pid}/root{path}")

    def run(self, *command, **options) -> subprocess.CompletedProcess:
        return run(["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt", *command], **options)

    def close(self):
        self._holder.communicate()


@pytest.fixture
def small_disk(tmp_path):
    """small_disk(size_bytes) -> SmallDisk"""
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a private tmpfs")
    disks = []

    def make(size_bytes: int) -> SmallDisk:
        path = tmp_path / f"disk{len(disks)}"
        path.mkdir()
        disks.append(SmallDisk(path, size_bytes))
        return disks[-1]

    yield make
    for disk in disks:
        disk.close()


# --- a dataset to train on --------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def reversed_words(tandem, tmp_path_factory):
    """reversed_words(pairs) -> folder: words and the same words backwards as text (train.src ...) and dataset (data)."""

    def make(pairs: int, seed: int = 4, shortest: int = 2, longest: int = 9, valid: int = 20) -> Path:
        folder = tmp_path_factory.mktemp("data")
        rng = random.Random(seed)
        words = ["".join(rng.choices("abdegilnorstu", k=rng.randint(2, 6))) for _ in range(60)]
        for part, count in (("train", pairs), ("valid", valid)):
            lines = [rng.choices(words, k=rng.randint(shortest, longest)) for _ in range(count)]
            (folder / f"{part}.src").write_text("".join(" ".join(line) + "\n" for line in lines))
            (folder / f"{part}.tgt").write_text("".join(" ".join(reversed(line)) + "\n" for line in lines))
        done = tandem("prepare", "--src", folder / "train.src", "--tgt", folder / "train.tgt", "--valid-src", folder / "valid.src",
                      "--valid-tgt", folder / "valid.tgt", "--out", folder / "data", "--vocab-size", "100")
        assert done.returncode == 0, done.stderr
        return folder

    return make


@pytest.fixture
def free_port():
    """Of the loopback, where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- several hosts ----------------------------------------------------------------------------------------------------


@pytest.fixture
def lab(tmp_path):
    """lab(hosts=2, rate="1gbit") -> Lab: hosts with names, networks and disks of their own on this machine (tests/lab)."""
    if why := laboratory.missing():
        pytest.skip(why)
    labs = []

    def make(hosts: int = 2, rate: str = "1gbit") -> laboratory.Lab:
        labs.append(laboratory.Lab(hosts, rate, tmp_path / f"lab{len(labs)}"))
        return labs[-1]

    yield make
    for made in labs:
        made.close()


# --- memory -----------------------------------------------------------------------------------------------------------


@dataclass
class Measured:
    returncode: int
    stdout: str
    stderr: str
    peak_rss_bytes: int
    cpu_seconds: float


# Forks from a small process: a child's peak starts at the size of the process it was forked from, and pytest is large.
_LAUNCHER = """
import json, os, resource, sys
report, limit, *command = sys.argv[1:]
child = os.fork()
if child == 0:
    if int(limit):
        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    os.execvp(command[0], command)
_, status, usage = os.wait4(child, 0)
with open(report, "w") as out:
    json.dump({"returncode": os.waitstatus_to_exitcode(status), "peak_rss_bytes": usage.ru_maxrss * 1024,
               "cpu_seconds": usage.ru_utime + usage.ru_stime}, out)
"""


@pytest.fixture
def measured(program, sanitized, tmp_path):
    """measured("prepare", ..., memory_limit=None, input=...) -> Measured. The program's peak resident memory; with
    memory_limit (bytes of address space) allocations beyond it fail."""

    def call(*arguments, memory_limit: int = 0, **options) -> Measured:
        if memory_limit and sanitized:
            pytest.skip("AddressSanitizer reserves terabytes of address space, so no limit can be set")
        report = tmp_path / "usage.json"
        done = run([sys.executable, "-S", "-c", _LAUNCHER, report, memory_limit, program, *arguments], **options)
        return Measured(stdout=done.stdout, stderr=done.stderr, **json.loads(report.read_text()))

    return call


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A Slurm of its own on this machine (tests/lab/slurm.py): slurm.run(["srun", ...])."""
    if why := slurm_daemons.missing():
        pytest.skip(why)
    with slurm_daemons.Slurm(tmp_path_factory.mktemp("slurm") / "s") as daemons:
        yield daemons
