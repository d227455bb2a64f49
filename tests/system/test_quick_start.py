"""Verbs that do not compute start before LibTorch is initialised (docs/decisions/0008-quick-start.md)."""

import re
import shutil

import pytest

from conftest import run


@pytest.fixture(scope="module")
def quick_verbs(repo):
    text = (repo / "src/cli/quick/hand_over.cpp").read_text()
    verbs = re.findall(r'"([a-z-]+)"', re.search(r"kQuickVerbs\[\] = \{(.*?)\}", text, re.S).group(1))
    assert "watch" in verbs and "report" in verbs
    return verbs


def initialised(program, *arguments):
    """The libraries whose initialisers ran, and the exit code."""
    done = run([program, *arguments], env={"LD_DEBUG": "files"})
    return done.returncode, re.findall(r"calling init: \S*/(\S+)", done.stderr)


def test_they_do_not_wait_for_libtorch(program, sanitized, quick_verbs):
    if sanitized:
        pytest.skip("with sanitizers the program does everything itself")
    for verb in quick_verbs:
        code, libraries = initialised(program, verb, "--help")
        assert code == 0 and libraries, verb
        assert not [name for name in libraries if name.startswith("libtorch")], verb
    code, libraries = initialised(program, "translate", "--help")
    assert code == 0 and [name for name in libraries if name.startswith("libtorch")]


def test_a_copy_of_the_program_alone_has_all_verbs(program, tmp_path):
    copy = tmp_path / "tandem"
    shutil.copy2(program, copy)
    for verb in ("config", "watch", "translate"):
        done = run([copy, verb, "--help"])
        assert done.returncode == 0 and verb in done.stdout, done.stderr
    mistake = run([copy, "watch", "no-such-run"])
    assert mistake.returncode == 2 and mistake.stderr.startswith("tandem: ")


@pytest.mark.parametrize("said, spins, policy", [({}, "0", "PASSIVE"), ({"OMP_WAIT_POLICY": "active"}, None, "ACTIVE"),
                                                 ({"GOMP_SPINCOUNT": "77"}, "77", None)])
def test_threads_that_wait_sleep_unless_told_otherwise(program, sanitized, said, spins, policy):
    """Spinning ones made a step fifteen times as long beside other work."""
    if sanitized:
        pytest.skip("with sanitizers the program starts once")
    done = run([program, "translate", "--help"], env={"OMP_DISPLAY_ENV": "verbose", **said})
    told = dict(re.findall(r"(OMP_WAIT_POLICY|GOMP_SPINCOUNT) = '(\w+)'", done.stderr))
    assert done.returncode == 0 and "translate" in done.stdout
    assert spins is None or told["GOMP_SPINCOUNT"] == spins, done.stderr
    assert policy is None or told["OMP_WAIT_POLICY"] == policy, done.stderr
