"""The fixtures themselves: a fixture that measures nothing makes every test that uses it worthless."""

import sys


def test_tandem_reports_and_does_not_raise(tandem):
    assert tandem("--version").stdout.startswith("tandem ")
    wrong = tandem("no-such-verb")
    assert wrong.returncode == 2 and "no-such-verb" in wrong.stderr


def test_a_small_disk_is_full_soon_private_and_visible(small_disk):
    disk = small_disk(64 << 10)
    fill = "open(sys.argv[1], 'wb').write(bytes(1 << 20))"
    done = disk.run(sys.executable, "-c", f"import sys; {fill}", disk.path / "big")
    assert done.returncode != 0 and "No space left" in done.stderr
    assert (disk.view / "big").exists()
    assert not (disk.path / "big").exists()


def test_peak_memory_is_the_programs_own(measured):
    ballast = bytearray(300 << 20)  # of this process; must not be counted
    ballast[:: 4096] = b"x" * len(ballast[:: 4096])
    done = measured("--version")
    assert done.returncode == 0
    assert 1 << 20 < done.peak_rss_bytes < 250 << 20


def test_a_memory_limit_binds(measured):
    done = measured("--version", memory_limit=2 << 20)
    assert done.returncode != 0
