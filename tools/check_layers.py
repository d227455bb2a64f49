#!/usr/bin/env python3
"""Checks the rules that keep the source simple to change; tests/project runs it. Usage: tools/check_layers.py [ROOT]

- A folder of src/ includes only what ALLOWED lists: arrows go down.
- A third-party library is met by one .cpp of its folder (and that file's own test), never by a header.
- Torch stays out of the folders whose tests build and run in seconds.
- Every src/x/*_test.cpp is in a folder that CMake builds.
- A file over 500 lines fails, over 400 warns: it is likely more than one concept.
"""

import re
import sys
from pathlib import Path

# Level 0 to 5, bottom up; docs: CONTRIBUTING.md. `train` and `translate` do not know each other: cli joins them.
ALLOWED = {
    "base": [],
    "config": ["base"],
    "observe": ["base"],
    "data": ["base", "config"],
    "cluster": ["base", "config"],
    "report": ["base", "config", "observe"],
    "model": ["base", "config", "data"],
    "translate": ["base", "config", "data", "model", "observe"],
    "train": ["base", "config", "data", "model", "cluster", "observe"],
}
ALLOWED["cli"] = list(ALLOWED)

# Header (or its beginning) -> the folder in which one .cpp includes it. A library that is not here is refused.
LIBRARIES = {
    "CLI/": "cli",
    "benchmark/": "bench",
    "curl/": "data",
    "httplib.h": "translate",
    "nlohmann/": "base",
    "openssl/": "base",
    "pmix": "cluster",
    "protozero/": "base",
    "quickstart_config.h": "cli",  # made by CMake from configs/quickstart.yaml
    "ncurses.h": "report",
    "sentencepiece": "data",
    "simdjson.h": "report",
    "unicode/": "translate",
    "xxhash.h": "base",
    "yaml-cpp/": "config",
    "zlib.h": "base",
}
FMT_FILE = "base/format.h"
TEST_LIBRARIES = ("gtest/", "gmock/")
TORCH = ("torch/", "ATen/", "c10/")
TORCH_FOLDERS = ("model", "translate", "train", "cli", "bench")
TORCH_FILES = re.compile(r"cluster/(comm|grad_exchange|host_lane|leader_link|shard_link|local_courier|local_exchange|rank_threads|replicas|staging|bucket_gate|gpu_cost)(_\w+)?\.(h|cpp)")
C10D = "torch/csrc/distributed/"
C10D_FILE = "cluster/comm.cpp"

# The C and POSIX headers of the system itself; C++ ones have no dot.
SYSTEM = re.compile(r"[a-z_0-9]+|(sys|net|netinet|arpa|linux)/\w+\.h|(dlfcn|fcntl|ifaddrs|netdb|poll|pthread|pty|pwd|sched"
                    r"|signal|spawn|termios|unistd|limits|malloc|stdlib|immintrin|cpuid)\.h")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
WARN_LINES, MOST_LINES = 400, 500


def includes(path: Path):
    """(line number, whether in quotes, header) of every include."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1] == '"', match[2]


def sources(root: Path) -> list:
    return sorted(p for top in ("src", "bench") for p in (root / top).rglob("*") if p.suffix in (".h", ".cpp"))


def check_folders(root: Path) -> list:
    problems = []
    for path in sorted(p for p in (root / "src").rglob("*") if p.suffix in (".h", ".cpp")):
        own = path.relative_to(root / "src").parts[0]
        if own not in ALLOWED:
            problems.append(f"{path.relative_to(root)}: src/{own}/ has no level; add it to ALLOWED in tools/check_layers.py")
            continue
        for number, quoted, header in includes(path):
            folder = header.split("/")[0]
            at = f"{path.relative_to(root)}:{number}"
            if quoted and ("/" not in header or folder not in ALLOWED):
                problems.append(f'{at}: "{header}" is to be named from src/, e.g. "{own}/{Path(header).name}"')
            elif quoted and folder != own and folder not in ALLOWED[own]:
                problems.append(f"{at}: {own}/ may not include {folder}/")
    return problems


def library_problem(file: str, header: str) -> str:
    """What is wrong with this third-party header in this file (a path below src/ or bench/); "" when nothing."""
    folder, is_test = file.split("/")[0], file.endswith("_test.cpp")
    if header.startswith("fmt/"):
        return "" if file == FMT_FILE else f"fmt is used through {FMT_FILE}"
    if header.startswith(TEST_LIBRARIES):
        return "" if is_test or folder == "bench" else "only tests may include it"
    if header.startswith(C10D):
        return "" if file == C10D_FILE else f"c10d changes from version to version; it is used through {C10D_FILE}"
    if header.startswith(TORCH):
        free = folder in TORCH_FOLDERS or TORCH_FILES.fullmatch(file)
        return "" if free else "this half of the code does not know Torch, so that its tests build in seconds"
    known = next((home for prefix, home in LIBRARIES.items() if header.startswith(prefix)), None)
    if known is None:
        return "this library is not in LIBRARIES of tools/check_layers.py"
    if folder != known:
        return f"this library belongs to {known}/"
    return "a header may not show a library's types; include it in the .cpp" if file.endswith(".h") else ""


def check_libraries(root: Path) -> list:
    problems, users = [], {}
    for path in sources(root):
        inside = path.relative_to(root)
        file = str(inside) if inside.parts[0] == "bench" else str(inside.relative_to("src"))
        for number, quoted, header in includes(path):
            if quoted or SYSTEM.fullmatch(header):
                continue
            if problem := library_problem(file, header):
                problems.append(f"{inside}:{number}: <{header}>: {problem}")
            prefix = next((p for p in LIBRARIES if header.startswith(p)), None)
            if prefix and LIBRARIES[prefix] != "bench":
                users.setdefault(prefix, set()).add(file.replace("_test.cpp", ".cpp"))
    return problems + [f"{prefix}: included by {', '.join(sorted(files))}; one .cpp is to wrap it for all"
                       for prefix, files in sorted(users.items()) if len(files) > 1]


def check_tests_are_built(root: Path) -> list:
    built = set(re.findall(r"^tandem_folder\((\w+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE))
    return [f"{test.relative_to(root)}: no CMake target builds it; tests sit in a folder of tandem_folder()"
            for test in sorted(root.glob("*/**/*_test.cpp"))
            if test.relative_to(root).parts[0] != "build"
            and (test.relative_to(root).parts[0] != "src" or test.relative_to(root).parts[1] not in built)]


def check_sizes(root: Path) -> tuple:
    """(problems, warnings)"""
    lengths = [(p.relative_to(root), len(p.read_text(errors="replace").splitlines())) for p in sources(root)]
    say = "{} has {} lines: likely more than one concept"
    return ([say.format(p, n) for p, n in lengths if n > MOST_LINES],
            [say.format(p, n) for p, n in lengths if WARN_LINES < n <= MOST_LINES])


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    too_long, long = check_sizes(root)
    problems = check_folders(root) + check_libraries(root) + check_tests_are_built(root) + too_long
    for warning in long:
        print(f"warning: {warning}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
