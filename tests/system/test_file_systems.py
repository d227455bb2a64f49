"""Folders appear whole on file systems that lack a call or are too small, and what lies there in place of a file is refused."""

import json
import os
import re
import shutil
import subprocess
from types import SimpleNamespace

import pytest
from conftest import run
from small_run import FULL_RUN

# Stand before the C library. (Injecting errors by strace would need ptrace, which containers often refuse.)
# renameat2 with flags answers as NFS does; KILL_AT=n: at the n-th move of a whole folder that is written or replaced.
NO_FLAGS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int moves;
static int ends(const char* path, const char* how) {
  const size_t size = strlen(path), end = strlen(how);
  return size >= end && strcmp(path + size - end, how) == 0;
}
static int is_staged(const char* path) { return ends(path, ".partial") || ends(path, ".partial.old"); }
int rename(const char* from, const char* to) {
  const char* at = getenv("KILL_AT");
  if ((is_staged(from) || is_staged(to)) && at && ++moves == atoi(at)) raise(SIGKILL);
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  if (flags == 0) return renameat(from_folder, from, to_folder, to);
  fputs("renameat2 refused\n", stderr);
  errno = EINVAL;
  return -1;
}
"""
# Every second open is interrupted by a signal, as it may be where the disk is a network's; but not that of a pipe.
SIGNALS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int calls;
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
  va_end(more);
  if (strstr(path, "files_test") && !strstr(path, "pipe") && atomic_fetch_add(&calls, 1) % 2 == 0) {
    fputs("open interrupted\n", stderr);
    errno = EINTR;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
"""


@pytest.fixture
def before(tmp_path, sanitized):
    """before(text) -> environment of a program before whose C library it stands."""

    def make(text: str) -> dict:
        (tmp_path / "before.c").write_text(text)
        library = tmp_path / "before.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "before.c"], check=True)
        return {"LD_PRELOAD": str(library), **({"ASAN_OPTIONS": "verify_asan_link_order=0"} if sanitized else {})}

    return make


@pytest.mark.parametrize(("text", "tests", "said"), [(NO_FLAGS, "StagedFolder.*", "renameat2 refused"), (SIGNALS, "Files.*:StagedFolder.*", "open interrupted")],
                         ids=["that cannot exchange names", "that interrupts"])
def test_unit_tests_of_files_hold_on_a_file_system(before, program, text, tests, said):
    done = run([program.parent / "base_test", f"--gtest_filter={tests}"], env=before(text))
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stderr
    assert int(re.search(r"\[  PASSED  \] (\d+) tests", done.stdout)[1]) >= 9


@pytest.fixture(scope="module")
def trained(tandem, reversed_words, tmp_path_factory):
    """.train(*settings, ...) trains for four steps, .command(*settings) is how; .path: such a run, with checkpoints at 2 and 4."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "config.yaml").write_text(FULL_RUN)
    data = reversed_words(100) / "data"

    def command(*settings) -> tuple:
        return ("train", folder / "config.yaml", f"data.path={data}", "checkpoint.every=2", "eval.every=0", "stop.steps=4", *settings)

    def train(*settings, **options):
        return tandem(*command(*settings), **options)

    done = train(f"run={folder / 'run'}")
    assert done.returncode == 0, done.stderr
    return SimpleNamespace(path=folder / "run", command=command, train=train)


def files_of(folder) -> set:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_kill_between_two_moves_loses_no_folder(before, trained, tmp_path):
    """Where names cannot be exchanged: a damaged checkpoint and model/ are replaced, and every move of it may be the last."""
    environment, kills = before(NO_FLAGS), 0
    for at in range(1, 20):
        path = tmp_path / f"run-{at}"
        shutil.copytree(trained.path, path)
        with (path / "checkpoints/step-00000004/model.safetensors").open("ab") as model:
            model.write(b"damaged")
        done = trained.train(f"run={path}", env={**environment, "KILL_AT": str(at)})
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr
        kills += 1
        refused = trained.train(f"run={path}", "--resume", tmp_path / "absent")  # with the run's lock, but before any work
        assert refused.returncode == 2, refused.stderr
        for name in ("checkpoints", "model"):
            assert files_of(path / name) == files_of(trained.path / name), f"after move {at - 1}"
        assert not [left for left in files_of(path) if ".partial" in left]
        done = trained.train(f"run={path}")
        assert done.returncode == 0, done.stderr
        line = [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines() if '"type":"run"' in line][-1]
        assert line["resumed_from"] == (2 if at == 1 else 4), f"after move {at - 1}: {done.stderr}"
        for name in ("checkpoints/step-00000004", "model"):
            assert (path / name / "model.safetensors").read_bytes() == (trained.path / name / "model.safetensors").read_bytes()
    assert kills >= 4, "two moves of the checkpoint and two of model/ at least"


@pytest.mark.parametrize("name", ["MANIFEST.json", "state.json", "model.safetensors"])
def test_a_pipe_in_a_checkpoint_is_refused_and_not_waited_for(trained, tmp_path, name):
    path = tmp_path / "run"
    shutil.copytree(trained.path, path)
    (path / "checkpoints/step-00000004" / name).unlink()
    os.mkfifo(path / "checkpoints/step-00000004" / name)
    done = trained.train(f"run={path}", timeout=60)
    assert re.search(f"step-00000004 cannot be used: .*{re.escape(name)}.*pipe", done.stderr), done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("keep", "told"), [(1000, True), (1, False)], ids=["too small", "large enough"])
def test_a_disk_that_is_too_small_for_the_run_is_told_before_the_first_step(trained, program, small_disk, keep, told):
    disk = small_disk(8 << 20)  # a checkpoint takes some hundred kilobytes
    done = disk.run(program, *trained.command(f"run={disk.path / 'run'}", f"checkpoint.keep={keep}"))
    lines = [json.loads(line) for line in (disk.view / "run/journal.jsonl").read_text().splitlines()]
    early = lines[:next(at for at, line in enumerate(lines) if line["type"] == "step")]
    warnings = [line["text"] for line in early if line["type"] == "event" and line["kind"] == "warning" and "free some, or lower checkpoint.keep" in line["text"]]
    assert len(warnings) == told, lines
    assert done.returncode == 0 and ("free some, or lower checkpoint.keep" in done.stderr) == told, done.stderr
