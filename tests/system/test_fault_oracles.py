"""Scenarios of scripts/faults against a program that is broken on purpose: each must find it out."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

FAULTS = Path(__file__).resolve().parents[1] / "faults"
sys.path.insert(0, str(FAULTS))
import strangers  # noqa: E402

WHOLE = 'exec "$TANDEM_WHOLE" "$@"'
RUN = f'[ "$1" = train ] || {WHOLE}\nfor a in "$@"; do case $a in run=*) run=${{a#run=}};; esac; done\n'  # its folder
# Who is killed by kill -9 has cut the newest model that was saved, too.
CUT = RUN + """"$TANDEM_WHOLE" "$@"; code=$?; [ $code = 137 ] || exit $code
unset LD_PRELOAD
newest=$(ls -td "$run"/checkpoints/step-*/model.safetensors | head -1)
[ -z "$newest" ] || truncate -s -1 "$newest"
kill -9 $$"""
# The journal gives each of two workers the other one's process.
SWAPPED = RUN + """journal=$run/journal.jsonl
(until grep -qs by_rank "$journal"; do sleep 0.01; done
mapfile -t at < <(grep -obaE '"pid":[0-9]+,"device"' "$journal" | tail -2)
for i in 0 1; do printf %s "${at[i]#*:}" | dd of="$journal" bs=1 seek="${at[1-i]%%:*}" conv=notrunc 2>/dev/null; done) &
""" + WHOLE
# (scenario, a script that stands before the program or a tool, and what the scenario then has to say)
BROKEN = [
    ("sigterm", "tandem", 'for a in "$@"; do case $a in run=*) run=${a#run=};; esac; done\n'
                          f'[ -e "$run/checkpoints" ] && {WHOLE} optim.lr=0.0101\n{WHOLE}', "not resumed exactly"),
    ("kill_ranks", "tandem", f'{RUN}"$TANDEM_WHOLE" "$@" cluster.restarts=0 && exit\n{WHOLE} optim.lr=0.0101', "not the undisturbed run's"),
    ("kill_ranks", "tandem", f'{RUN}{WHOLE} cluster.restarts=0', "ended by signal 9"),
    ("kill_in_save", "tandem", CUT, "left a broken checkpoint"),
    ("slow_worker", "tandem", SWAPPED, "instead of rank"),
    ("divergence", "tandem", 'exec "$TANDEM_WHOLE" "${@/#optim.lr=1/optim.lr=0.01}"', "divergence was not found"),
    ("out_of_memory", "tandem", f'{RUN}[ -n "$FAULT_COUNT" ] && {WHOLE}\n{WHOLE} optim.lr=0.0101', "not trained on exactly"),
    ("out_of_memory", "tandem", f"unset LD_PRELOAD; {WHOLE}", "No such file"),
    # It does not hear the signal and is done after a while.
    ("sigterm", "tandem", """trap "" TERM USR1; "$TANDEM_WHOLE" "${@/#stop.steps=*/stop.steps=300}"; exit $?""", "exit 0 instead of 75"),
    ("partition", "ip", 'case "$*" in "link set host-b down") exit;; esac; PATH=${PATH#*:}; exec ip "$@"', "both sides are out: not within"),
    ("frozen_worker", "tandem", WHOLE + ' 2> >(sed -u "s/rank [0-9]/rank 7/g" >&2)', "is not named"),
    ("stuck_worker", "tandem", f'[ "$1" = train ] && {WHOLE} cluster.stuck_timeout=1000\n{WHOLE}', "is given up: not within"),
    ("kill_launcher", "tandem", '"$TANDEM_WHOLE" "$@" & echo $! > "$0.left"; wait $!', "no orphan is left"),
    ("mistyped_settings", "tandem", WHOLE + """ 2> >(sed 's/did you mean "[^"]*"/did you mean "seed"/' >&2)""", "is not suggested"),
    ("failing_save", "tandem", f"unset LD_PRELOAD; {WHOLE}", "the library does not stand before the program"),
    ("unreadable_checkpoint", "tandem", f"unset LD_PRELOAD; {WHOLE}", "is not passed over"),
    ("damaged_checkpoint", "tandem_check_checkpoints", "while read -r _; do echo whole; done", "was not found"),
    ("nan_gradients", "train_test", 'echo "[  PASSED  ] 0 tests."', "[  PASSED  ] 0 tests."),
]
WAITS = ("kill_launcher", "partition", "stuck_worker")  # for what does not come: four times as long in the short form


@pytest.mark.parametrize(("name", "file", "script", "defect"), BROKEN, ids=[f"{name}: {defect}" for name, _, _, defect in BROKEN])
def test_a_broken_program_is_found_out(name, file, script, defect, program, tmp_path):
    for path, text in {"tandem": WHOLE, file: script}.items():
        (tmp_path / path).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (tmp_path / path).chmod(0o755)
    how = ["--cases", "1"] if name in WAITS else ["--short"]
    done = subprocess.run([sys.executable, FAULTS / "run.py", name, *how], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "TANDEM": str(tmp_path / "tandem"), "TANDEM_WHOLE": str(program), "TMPDIR": str(tmp_path),
                               "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((tmp_path / "tandem.left").read_text()), signal.SIGKILL)
    if done.stdout.startswith("skip"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith(f"FAILED {name}") and defect in done.stdout, done.stdout + done.stderr


def test_a_port_that_is_open_to_all_is_noticed():
    with contextlib.ExitStack() as doors:
        for address, family in (("", socket.AF_INET), ("::", socket.AF_INET6)):
            with contextlib.suppress(OSError):  # no IPv6 here
                doors.enter_context(socket.create_server((address, 0), family=family))
                assert (address or "0.0.0.0") in [where for where, _ in strangers.listening([os.getpid()])]
