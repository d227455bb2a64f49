"""Rules about tracked files: formatted, linked, and free of the machine they were written on."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

# Places that everybody may ask; others that this machine is told to use are its own business.
PUBLIC_HOSTS = {"deb.debian.org", "security.debian.org", "snapshot.debian.org", "archive.ubuntu.com",
                "security.ubuntu.com", "pypi.org", "files.pythonhosted.org", "download.pytorch.org"}


@pytest.fixture(scope="module")
def tracked(repo):
    """Names of tracked files that end with one of the endings (all without)."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=repo, capture_output=True, text=True, check=True).stdout
    files = [name for name in names.split("\0") if name and (repo / name).is_file()]
    return lambda *endings: [name for name in files if not endings or name.endswith(endings)]


def test_cpp_files_are_formatted(repo, tracked):
    assert shutil.which("clang-format"), "clang-format is missing; scripts/setup installs it"
    done = subprocess.run(["clang-format", "--dry-run", "--Werror", *tracked(".cpp", ".h")],
                          cwd=repo, capture_output=True, text=True)
    assert done.returncode == 0, "run scripts/format:\n" + done.stderr[:2000]


def test_every_header_is_in_the_table_of_its_folder(repo, tracked):
    tables = [repo / name for name in tracked("README.md") if "| file | in one sentence |" in (repo / name).read_text()]
    assert len(tables) > 3
    missing = [str(header.relative_to(repo)) for table in tables for header in table.parent.glob("*.h") if f"`{header.name}`" not in table.read_text()]
    assert missing == []


def unknown_names(*files) -> list:
    """Names that Python files use and nobody defines: they fail only where they are reached."""
    said = subprocess.run([sys.executable, "-m", "pyflakes", *map(str, files)], capture_output=True, text=True)
    assert "No module named" not in said.stderr, said.stderr
    return [line for line in (said.stdout + said.stderr).splitlines() if "undefined name" in line or "syntax" in line]


def test_python_files_use_no_unknown_names(repo, tracked):
    assert unknown_names(*(repo / name for name in tracked(".py"))) == []


def test_an_unknown_name_is_found(tmp_path):
    (tmp_path / "a.py").write_text("def f(server):\n    workshop.within(server)\n")
    assert len(unknown_names(tmp_path / "a.py")) == 1


def test_scripts_can_be_run(repo, tracked):
    scripts = [name for name in tracked() if name.startswith("scripts/") and "." not in Path(name).name]
    assert [name for name in scripts if not (repo / name).stat().st_mode & 0o100] == []


def broken_links(page: Path) -> list:
    """Relative links of a Markdown page whose target does not exist. Code is not looked at."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)(?: +\"[^\"]*\")?\)|^\[[^\]]+\]: *(\S+)", text, re.MULTILINE)
    targets = [a or b for a, b in links]
    local = [t.split("#")[0] for t in targets if not re.match(r"[a-z]+:|#", t)]
    return [t for t in local if not (page.parent / t).exists()]


def test_links_between_pages_exist(repo, tracked):
    assert {name: bad for name in tracked(".md") if (bad := broken_links(repo / name))} == {}


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "there.md").touch()
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#x) [b](gone.md) [c](https://example.org) [d](#here) `[e](code.md)`\n\n[f]: lost.md\n")
    assert broken_links(page) == ["gone.md", "lost.md"]


def machine_words(repo: Path) -> list:
    """What names this machine: the folders in which the repository lies, and the private hosts of apt and pip."""
    common = subprocess.run(["git", "rev-parse", "--path-format=absolute", "--git-common-dir"],
                            cwd=repo, capture_output=True, text=True, check=True).stdout.strip()
    homes = [repo, Path(common).parent]  # differ in a linked worktree
    words = {f"{home}/" for home in homes} | {f"{home.parent}/" for home in homes if len(home.parent.parts) > 2}
    urls = []
    for source in [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]:
        urls += re.findall(r"https?://\S+", source.read_text(errors="replace"))
    pip = configparser.ConfigParser(interpolation=None)
    pip.read(["/etc/pip.conf", Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"])
    urls += [url for section in pip.values() for value in section.values() for url in re.findall(r"https?://\S+", value)]
    hosts = {urlsplit(url).hostname for url in urls} - {None, ""}
    return sorted(words) + sorted(hosts - PUBLIC_HOSTS)


def test_no_tracked_file_names_this_machine(repo, tracked):
    words = [word.encode() for word in machine_words(repo)]
    assert [(name, word) for name in tracked() for word in words if word in (repo / name).read_bytes()] == []


def test_the_machines_own_words_are_known(repo):
    assert f"{repo}/" in machine_words(repo)
