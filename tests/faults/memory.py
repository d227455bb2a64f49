"""Memory that runs out."""

import subprocess

from saves import HERE
from workshop import TANDEM, Skipped, scenario

STEPS = 10
LEAST_BYTES = 4096  # of an allocation that may fail; what is smaller is mostly not ours


def shim(workshop):
    library = workshop.folder / "fail_memory.so"
    if not library.exists():
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "fail_memory.c"], check=True)
    return library


@scenario("20", cases=100, short=1)
def out_of_memory(workshop, cases, rng):
    """One allocation of one of two workers fails: all end and say so, or go on; no hang, no broken checkpoint, exact from there."""
    if b"__asan_init" in TANDEM.read_bytes():
        raise Skipped("AddressSanitizer has an allocator of its own")
    settings = ("cluster.restarts=0",)
    first = workshop.run(2, STEPS, *settings)
    count = workshop.folder / "allocations"
    common = {"LD_PRELOAD": str(shim(workshop)), "FAULT_LEAST": str(LEAST_BYTES)}
    first.to_end({**common, "FAULT_RANK": "1", "FAULT_COUNT": str(count)})
    allocations = int(count.read_text())
    assert allocations > 100, f"only {allocations} allocations were seen"
    expected = first.result()
    workshop.forget(first)
    ends = {}
    for _ in range(cases):
        rank, point = rng.randrange(2), rng.randint(1, allocations)
        run = workshop.run(2, STEPS, *settings)
        child = run.start({**common, "FAULT_RANK": str(rank), "FAULT_AT": str(point)})
        _, errors = child.communicate(timeout=120)
        where = f"rank {rank}, allocation {point}: exit {child.returncode}: {errors}"
        assert child.returncode in (0, 3), where
        assert child.returncode == 0 or "memory" in errors or "died" in errors, where
        ends[child.returncode] = ends.get(child.returncode, 0) + 1
        said = run.to_end()
        assert "cannot be used" not in said, f"{where}; a broken checkpoint was left: {said}"
        assert run.result()[1:] == expected[1:], f"{where}; not trained on exactly"
        workshop.forget(run)
    return f"{cases} failed allocations of {allocations}: {ends.get(0, 0)} runs went on, {ends.get(3, 0)} ended and said why; all trained on exactly"
