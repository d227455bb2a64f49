"""doctor: what it prints is what this machine has."""

import json
import os
import resource
import socket
import subprocess


def test_doctor_tells_of_this_machine(tandem):
    done = tandem("doctor")
    assert done.returncode == 0, done.stderr
    assert socket.gethostname() in done.stdout
    assert "LibTorch 2." in done.stdout
    assert "interface     lo (127.0.0.1)" in done.stdout
    assert "launch        one worker on" in done.stdout


def test_doctor_speaks_json(tandem):
    done = tandem("doctor", "--json")
    told = json.loads(done.stdout)
    assert told["machine"]["host"] == socket.gethostname()
    assert told["machine"]["cores"] == len(os.sched_getaffinity(0))
    assert all(one["mbps"] is None or one["mbps"] > 0 for one in told["machine"]["interfaces"])
    assert next(one for one in told["machine"]["interfaces"] if one["loopback"])["mbps"] is None


def test_locked_memory_has_a_unit(program):
    done = subprocess.run([program, "doctor"], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536)))
    assert "locked memory: 64 KiB\n" in done.stdout, done.stdout


def test_doctor_finds_half_a_set_of_launch_variables(tandem):
    done = tandem("doctor", env={"RANK": "1"})
    assert done.returncode == 2
    assert "WORLD_SIZE" in done.stderr


def test_doctor_warns_of_few_files(program):
    done = subprocess.run([program, "doctor"], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    assert done.returncode == 0
    assert "warning       only 256 files may be open" in done.stdout
