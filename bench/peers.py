"""Programs beside each other: run alternately, so that a busy machine disturbs all of them alike."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TANDEM = os.environ.get("TANDEM", str(ROOT / "build/release/tandem"))

# Peers whose needs would disturb .venv. Its torch serves them, whatever they ask for: plain pip would fetch another build of it.
APART = {"opennmt": ["OpenNMT-py==3.5.1", "ConfigArgParse==1.9.0", "fasttext-wheel==0.9.2", "Flask==3.1.3", "pyahocorasick==2.3.1", "pyonmttok==1.38.1",
                     "RapidFuzz==3.14.6", "six==1.17.0", "spacy==3.8.18", "waitress==3.0.2"]}


def python_of(name):
    """A Python that has the peer beside all of .venv: an environment in build/peers, made when it is asked for the first time."""
    folder = ROOT / "build/peers" / name
    python, done = folder / "bin/python", folder / "installed"
    wanted = "\n".join(APART[name])
    if done.exists() and done.read_text() == wanted:
        return str(python)
    print(f"bench: installing {APART[name][0]} into {folder.relative_to(ROOT)}", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    mine, ours = (subprocess.run([some, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True).stdout.strip()
                  for some in (python, sys.executable))
    (pathlib.Path(mine) / "tandem.pth").write_text(ours + "\n")
    peer, *needs = APART[name]
    for packages in (["--no-deps", peer], needs):
        subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-q", "install", *packages], check=True, stdout=sys.stderr)
    done.write_text(wanted)
    return str(python)


def run(command):
    """One command (a list, or a line for the shell): seconds elapsed and of processors, peak memory in MB, standard
    output. Processor seconds are nearly the same on a busy machine; elapsed ones are what people wait for."""
    start = time.perf_counter()
    child = subprocess.Popen(command, shell=isinstance(command, str), stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"bench: {command} failed with status {status}")
    return {"seconds": time.perf_counter() - start, "processor_seconds": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss * 1024 / 1e6, "output": output}


def alternate(commands, repeats, before=lambda: None):
    """{name: command} -> {name: [run, ...]}; before() is called ahead of every run."""
    runs = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            before()
            runs[name].append(run(command))
    return runs


def summary(runs, what="seconds"):
    """Median, least and most of one measure over some runs of one command."""
    values = [r[what] for r in runs]
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}
