"""Settings with typing errors."""

import json
import re
import subprocess

from workshop import TANDEM, scenario

LETTERS = "abcdefghijklmnopqrstuvwxyz_"


def keys_of(tree: dict, before: str = "") -> list:
    found = []
    for name, value in tree.items():
        found += keys_of(value, f"{before}{name}.") if isinstance(value, dict) and value else [before + name]
    return found


def typos_of(key: str) -> set:
    """One letter lost, inserted, exchanged for another, or swapped with its neighbour, at every place of every name on the way."""
    names = key.split(".")
    bad = set()
    for at, name in enumerate(names):
        wrong = {name[:i] + letter + name[i:] for i in range(len(name) + 1) for letter in LETTERS}
        for i in range(len(name)):
            wrong |= {name[:i] + name[i + 1:], name[:i] + name[i + 1:i + 2] + name[i] + name[i + 2:]}
            wrong |= {name[:i] + letter + name[i + 1:] for letter in LETTERS}
        bad |= {".".join((*names[:at], one, *names[at + 1:])) for one in wrong if one}
    return bad


@scenario("26", cases=100_000, short=200)
def mistyped_settings(workshop, cases, rng):
    """Every one-letter typing error of every key is refused and answered with the right name."""
    answer = subprocess.run([TANDEM, "config", "--json"], capture_output=True, text=True, check=True)
    keys = keys_of(json.loads(answer.stdout)["settings"])
    assert len(keys) > 50, keys
    typos = [(wrong, key) for key in keys for wrong in sorted(typos_of(key)) if wrong not in keys]
    if len(typos) > cases:
        typos = rng.sample(typos, cases)
    for first in range(0, len(typos), 50):  # as many problems are told at once
        part = typos[first:first + 50]
        done = subprocess.run([TANDEM, "config", *(f"{wrong}=1" for wrong, _ in part)], capture_output=True, text=True)
        assert done.returncode == 2, done.stderr
        for wrong, key in part:
            line = next((line for line in done.stderr.splitlines() if re.search(rf"\b{re.escape(wrong)}\b", line)), None)
            assert line, f"{wrong} was taken"
            told = re.search(r'did you mean "([^"]+)"', line)
            assert told and (told[1] == key or wrong in typos_of(told[1])), f"{wrong}: {key} is not suggested: {line}"
    return f"{len(typos)} typing errors of {len(keys)} keys refused, each with the right name"

