"""The source keeps its layers, and tools/check_layers.py finds it when it does not."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def check(repo):
    return lambda root: subprocess.run([sys.executable, repo / "tools/check_layers.py", root],
                                       capture_output=True, text=True)


def test_the_source_keeps_its_layers(check, repo):
    done = check(repo)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_unit_test_is_compiled(repo, program):
    """CMake's own list, so that a file which the globs miss is found too."""
    commands = json.loads((program.parent / "compile_commands.json").read_text())
    compiled = {entry["file"] for entry in commands}
    for bundle in [file for file in compiled if "/Unity/" in file]:  # of a few files that are compiled together
        compiled.update(re.findall(r'#include "(.*)"', Path(bundle).read_text()))
    tracked = subprocess.run(["git", "ls-files", "*_test.cpp"], cwd=repo, capture_output=True, text=True, check=True)
    assert [test for test in tracked.stdout.split() if str(repo / test) not in compiled] == []


@pytest.fixture
def tree(tmp_path):
    """A small source tree that keeps the rules, to plant one violation in."""

    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        return tmp_path

    write("CMakeLists.txt", "tandem_folder(base LIBRARIES zlib)\ntandem_folder(data USES base)\n")
    write("src/base/text.h", "#pragma once\n#include <string>\n#include <sys/stat.h>\n")
    write("src/base/text.cpp", '#include "base/text.h"\n\n#include <zlib.h>\n')
    write("src/base/text_test.cpp", '#include "base/text.h"\n\n#include <gtest/gtest.h>\n#include <zlib.h>\n')
    write("src/base/format.h", "#include <fmt/format.h>\n")
    write("src/data/batch.h", '#include "base/text.h"\n')
    return write


def test_a_clean_tree_passes(check, tree):
    done = check(tree("src/data/plan.cpp", '#include "base/text.h"\n'))
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.parametrize("path, line, finding", [
    ("src/base/up.cpp", '#include "data/batch.h"', "src/base/up.cpp:1: base/ may not include data/"),
    ("src/train/side.cpp", '#include "translate/beam.h"', "train/ may not include translate/"),
    ("src/base/near.cpp", '#include "text.h"', 'is to be named from src/, e.g. "base/text.h"'),
    ("src/base/rel.cpp", '#include "../data/batch.h"', "is to be named from src/"),
    ("src/extra/a.cpp", "", "src/extra/ has no level"),
    ("src/base/second.cpp", "#include <zlib.h>", "zlib.h: included by base/second.cpp, base/text.cpp"),
    ("src/data/gz.cpp", "#include <zlib.h>", "this library belongs to base/"),
    ("src/base/shown.h", "#include <nlohmann/json.hpp>", "a header may not show a library's types"),
    ("src/data/say.cpp", "#include <fmt/core.h>", "fmt is used through base/format.h"),
    ("src/data/plan.cpp", "  #  include <torch/types.h>", "does not know Torch"),
    ("src/base/plan.h", "#include <c10/util/Half.h>", "does not know Torch"),
    ("src/data/x.cpp", "#include <gtest/gtest.h>", "only tests may include it"),
    ("src/data/x.cpp", "#include <boost/any.hpp>", "not in LIBRARIES"),
    ("src/model/lost_test.cpp", "", "src/model/lost_test.cpp: no CMake target builds it"),
    ("tests/lost_test.cpp", "", "tests/lost_test.cpp: no CMake target builds it"),
    ("src/data/long.cpp", "\n" * 501, "src/data/long.cpp has 502 lines"),
])
def test_a_planted_violation_is_found(check, tree, path, line, finding):
    done = check(tree(path, line + "\n"))
    assert done.returncode == 1
    assert finding in done.stdout


def test_a_long_file_only_warns(check, tree):
    done = check(tree("src/data/longish.cpp", "\n" * 450))
    assert done.returncode == 0 and "warning: src/data/longish.cpp has 450 lines" in done.stdout
