"""What the tests of `tandem get` share: a flaky server with a catalog of its files, and the program run on it."""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = str(pathlib.Path(os.environ.get("TANDEM") or ROOT / "build/release/tandem").resolve())
QUICK = ["--retry-seconds", "0.01", "--stall-seconds", "1"]
ENV = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
BIG = random.Random(1).randbytes(400_000)
OTHER = random.Random(2).randbytes(400_000)


def sha256(contents):
    return hashlib.sha256(contents).hexdigest()


class Site:
    """A server, a catalog that names its files, and an empty folder to download into."""

    def __init__(self, server, tmp_path, hashed):
        self.server, self.tmp_path = server, tmp_path
        self.out = tmp_path / "out"
        self.catalog = tmp_path / "catalog.json"
        files = [{"name": name, "url": f"{server.url}/{name}",
                  "bytes": len(contents) if hashed else None,
                  "sha256": sha256(contents) if hashed else None}
                 for name, contents in server.files.items()]
        self.catalog.write_text(json.dumps(
            {"corpora": [{"name": "tiny", "files": files, "next": ["tandem prepare --src {dir}/a.gz"]}]}))

    def args(self, *more, retries=4):
        return ["get", "tiny", "--catalog", self.catalog, "--out", self.out, *QUICK,
                "--retries", retries, *more]

    def get(self, *more, **options):
        return subprocess.run([PROGRAM, *map(str, self.args(*more, **options))], env={**os.environ, **ENV},
                              text=True, capture_output=True, timeout=30)

    @contextlib.contextmanager
    def start(self):
        """The program in the background; killed at the end if it still runs."""
        process = subprocess.Popen(
            [PROGRAM, *map(str, self.args())], env={**os.environ, **ENV}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            # A test run in the background of a shell has SIGINT ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def left(self):
        return sorted(p.name for p in self.out.iterdir()) if self.out.exists() else []

    def part(self, name="a.gz"):
        return self.out / (name + ".part")

    def has(self, contents, name="a.gz"):
        return (self.out / name).read_bytes() == contents and self.left() == ["SHA256SUMS", name]


def until(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def is_one_sentence(result, *parts):
    """The last line of stderr is the error and names these parts."""
    last = result.stderr.rstrip("\n").split("\n")[-1]
    assert last.startswith("tandem: ")
    for part in parts:
        assert str(part) in last, (part, result.stderr)
    return True
