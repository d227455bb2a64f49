"""Files that were damaged on disk."""

import shutil
import subprocess

from workshop import TANDEM, scenario


@scenario("13", cases=2200, short=60)
def damaged_checkpoint(workshop, cases, rng):
    """Flipped bits and cut ends anywhere in a checkpoint: each is found and named."""
    run = workshop.run(1, 5)
    run.to_end()
    whole = run.path / "checkpoints/step-00000005"
    files = sorted(p for p in whole.iterdir() if p.is_file())
    broken = workshop.folder / "broken"
    shutil.copytree(whole, broken)
    checker = subprocess.Popen([TANDEM.parent / "tandem_check_checkpoints"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def judged() -> str:
        checker.stdin.write(f"{broken}\n")
        checker.stdin.flush()
        answer = checker.stdout.readline().strip()
        assert answer, "the reader crashed"
        return answer

    assert judged() == "whole"
    for case in range(cases):
        path = broken / rng.choice(files).name
        good = path.read_bytes()
        bad = bytearray(good)
        if case % 11 == 10:
            del bad[rng.randrange(len(bad)):]
        else:
            place = rng.randrange(min(len(bad), 4096)) if rng.random() < 0.5 else rng.randrange(len(bad))
            bad[place] ^= 1 << rng.randrange(8)
        path.write_bytes(bad)
        answer = judged()
        assert answer != "whole", f"damage in {path.name} was not found"
        path.write_bytes(good)
    assert judged() == "whole"
    checker.stdin.close()
    checker.wait()
    shutil.rmtree(broken)
    workshop.forget(run)
    return f"{cases} of {cases} damages found"
