"""Training that runs away."""

import shutil

from workshop import scenario

CALM = ("checkpoint.every=20", "checkpoint.keep=20")


@scenario("18", cases=6, short=1)
def divergence(workshop, cases, rng):
    """A learning rate of a hundred times as much from some step on: found, taken back to before it, and trained to the end."""
    latest = 0
    for case in range(cases):
        workers, calm_steps = 1 + case % 2, rng.choice([130, 150, 170])
        run = workshop.run(workers, calm_steps, *CALM)
        run.to_end()
        assert not [line for line in run.lines("event") if line["kind"] == "rollback"], "an alarm in a healthy run"
        wild = workshop.run(workers, calm_steps + 100, *CALM, "optim.lr=1")
        shutil.copytree(run.path, wild.path)
        wild.to_end()
        text = (wild.path / "journal.jsonl").read_text()
        assert '"kind":"rollback"' in text, "divergence was not found"
        event = next(line for line in wild.lines("event") if line["kind"] == "rollback")
        assert event["step"] <= calm_steps, f"went back to step {event['step']}, when the rate had risen already"
        found = int(event["text"].split("diverged at step ")[1].split(",")[0])
        latest = max(latest, found - calm_steps)
        assert 0 < found - calm_steps < 50, f"found only at step {found}"
        assert wild.last_step() == calm_steps + 100
        workshop.forget(run)
        workshop.forget(wild)
    return f"{cases} of {cases} found after {latest} steps at most and taken back"
