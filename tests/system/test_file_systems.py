"""Folders appear whole on file systems that lack a call, too."""

import re
import subprocess

from conftest import run

# Stands before the C library: renameat2 with flags answers as NFS does. (Injecting the error by strace would need
# ptrace, which containers often refuse.)
NO_FLAGS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  if (flags == 0) return renameat(from_folder, from, to_folder, to);
  fputs("renameat2 refused\n", stderr);
  errno = EINVAL;
  return -1;
}
"""


def test_a_file_system_that_cannot_exchange_names(program, sanitized, tmp_path):
    """NFS answers EINVAL to renameat2's flags: the unit tests of staged folders hold there as well."""
    (tmp_path / "no_flags.c").write_text(NO_FLAGS)
    library = tmp_path / "no_flags.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "no_flags.c"], check=True)
    environment = {"LD_PRELOAD": str(library)}
    if sanitized:
        environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"
    done = run([program.parent / "base_test", "--gtest_filter=StagedFolder.*"], env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "renameat2 refused" in done.stderr
    assert int(re.search(r"\[  PASSED  \] (\d+) tests", done.stdout)[1]) >= 9
