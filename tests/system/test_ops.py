"""ops=fused and ops=plain: two ways to compute the same training run."""

import json

from small_run import SMALL_RUN


def losses(tandem, data, folder, ops):
    config = folder / "config.yaml"
    config.write_text(SMALL_RUN)
    run = folder / ops
    done = tandem("train", config, f"data.path={data}", f"run={run}", f"ops={ops}", "stop.steps=30", "checkpoint.every=0")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    return [line["loss"] for line in lines if line["type"] == "step"], [line["val_loss"] for line in lines if line["type"] == "eval"][-1]


def test_fused_and_plain_operations_train_alike(tandem, reversed_words, tmp_path):
    data = reversed_words(300) / "data"
    fused, plain = (losses(tandem, data, tmp_path, ops) for ops in ("fused", "plain"))
    assert len(fused[0]) == len(plain[0]) == 30
    assert abs(fused[0][0] / plain[0][0] - 1) < 1e-5
    assert abs(fused[1] / plain[1] - 1) < 5e-3
    assert fused[0] != plain[0]  # else the setting did nothing
