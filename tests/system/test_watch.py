"""watch: one screen for scripts, and the full screen in a real terminal (tmux)."""

import json
import shutil
import subprocess
import time
import uuid

import pytest

from journal_text import journal_lines, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("watch") / "a-run", journal_lines(workers=2, exchange=0.35))


def test_once_prints_one_screen(tandem, run):
    done = tandem("watch", "--once", run)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    assert len(lines) == 25 and all(len(line) <= 80 for line in lines)
    for part in ("a-run", "step 400/400 (100 %)", "training loss", "validation loss", "exchange 35 %", "host-a",
                 "Was the network the bottleneck? yes", "EUR"):
        assert part in done.stdout, part
    assert any(0x2800 < ord(c) <= 0x28ff for c in done.stdout)  # braille


def test_json_is_the_report_so_far(tandem, run):
    done = tandem("watch", "--json", run)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["answers"]) == 11


def test_what_is_no_run_is_refused(tandem, tmp_path):
    done = tandem("watch", "--once", tmp_path)
    assert done.returncode == 2 and "journal.jsonl" in done.stderr


class Tmux:
    """A terminal of its own: keys in, screen out."""

    def __init__(self, columns, rows, command):
        self.name = f"tandem-test-{uuid.uuid4().hex}"
        self._run("new-session", "-d", "-s", "x", "-x", columns, "-y", rows, *command)

    def _run(self, *arguments):
        return subprocess.run(["tmux", "-L", self.name, "-u", *map(str, arguments)], capture_output=True, text=True, timeout=20)

    def keys(self, *keys):
        self._run("send-keys", "-t", "x", *keys)

    def screen(self):
        return self._run("capture-pane", "-t", "x", "-p").stdout

    def wait_for(self, text):
        for _ in range(300):
            if text in (seen := self.screen()):
                return seen
            time.sleep(0.1)
        raise AssertionError(f"{text!r} did not appear:\n{self.screen()}")

    def wait_for_end(self):
        for _ in range(300):
            if self._run("has-session", "-t", "x").returncode != 0:
                return
            time.sleep(0.1)
        raise AssertionError("it did not end")

    def close(self):
        self._run("kill-server")


@pytest.fixture
def terminal(program):
    if not shutil.which("tmux"):
        pytest.skip("needs tmux: scripts/setup --tests installs it")
    opened = []

    def open(columns, rows, *arguments):
        opened.append(Tmux(columns, rows, [str(program), *map(str, arguments)]))
        return opened[-1]

    yield open
    for one in opened:
        one.close()


@pytest.mark.parametrize("columns, rows", [(80, 24), (130, 40)])
def test_the_full_screen_and_its_keys(terminal, run, columns, rows):
    screen = terminal(columns, rows, "watch", run)
    first = screen.wait_for("q quit")
    assert "training loss" in first and "a-run" in first
    screen.keys("Tab")
    screen.wait_for("1. How long did it take")
    screen.keys("NPage", "Down", "j", "NPage")
    screen.wait_for("\n11. ")
    screen.keys("PPage", "Up", "k", "PPage")
    screen.wait_for("\n1. How long did it take")
    screen.keys("Tab")
    screen.wait_for("model/ is the best")
    screen.keys("p")
    screen.wait_for("PAUSED")
    screen.keys("q")
    screen.wait_for_end()


def test_it_follows_a_run(terminal, tmp_path):
    lines = journal_lines(steps=100, evals=4, ended=False)
    run = write_run(tmp_path / "live", lines[:40])
    screen = terminal(80, 24, "watch", run)
    screen.wait_for("step ")
    write_run(run, lines)
    screen.wait_for("step 100/100")
    screen.keys("C-c")
    screen.wait_for_end()
