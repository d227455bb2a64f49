"""Journals of made-up runs, for tests of what reads them."""

import json
import math
import random


def journal_lines(steps=400, evals=8, seed=1, workers=1, exchange=0.0, overfit=False, slow=False, settings=None,
                  facts=None, samples=2, ended=True):
    """Lines as dicts: a healthy run that has levelled off, unless told otherwise.
    exchange: share of a step; overfit: validation loss turns up half way; slow: it still falls at the end."""
    rng = random.Random(seed)
    time = 1.79e9
    rate = 0.9 if slow else 0.08
    lines = [{"type": "run", "time": time, "version": 1, "resumed_from": None, "tandem": "0.1.0", "host": "host-a",
              "device": "cpu", "cluster": {"workers": workers}, "parameters": 1111552, "checkpoint_bytes": 13338624,
              "steps_per_epoch": 87, "data": {"train": {"pairs": 29000, "lines": 29000, "src_bytes": 1801239,
                                                        "tgt_bytes": 2110399, "src_tokens": 413960, "tgt_tokens": 428154}},
              "settings": settings or {"run": "runs/x", "seed": 1, "optim": {"schedule": "inverse_sqrt", "lr": 0.003,
                                                                            "warmup_steps": 50},
                                       "stop": {"steps": steps}, "cost": {"per_host_hour": 3.0, "currency": "EUR"}},
              **(facts or {})}]
    next_sample = time
    for step in range(1, steps + 1):
        at = step / steps
        total = 0.5 * (1 + 0.02 * rng.gauss(0, 1))
        compute = total * (0.98 - exchange)
        loss = 2 + 6 * math.exp(-at / rate) + 0.02 * rng.gauss(0, 1)
        traffic = 5000000 if workers > 1 else 0
        time += total
        lines.append({"type": "step", "time": time, "step": step, "rank": 0, "epoch": step // 87, "loss": loss,
                      "nll": loss - 0.6, "tokens": 4096, "src_tokens": 4000, "sentences": 350, "micro_batches": 1,
                      "lr": 0.003 * min(step / 50, math.sqrt(50 / step)), "grad_norm": 0.5 + 0.05 * rng.random(),
                      "loss_scale": 1.0, "skipped": False,
                      "seconds": {"total": total, "data": 0.002 * total, "forward": 0.35 * compute, "backward": 0.6 * compute,
                                  "exchange": exchange * total, "wait": 0.0, "optimizer": 0.05 * compute, "other": 0.018 * total},
                      "bytes_out": traffic, "bytes_in": traffic})
        while next_sample < time:
            lines.append({"type": "system", "time": next_sample, "host": "host-a", "cores": 2, "cpu": 0.97,
                          "process_cores": 1.9, "memory_used_bytes": 1.6e9, "memory_total_bytes": 8e9,
                          "disk_free_bytes": 4e10, "interface": "eth0", "net_out_per_s": traffic * 2.0,
                          "net_in_per_s": traffic * 2.0, "link_bits_per_s": 1e8, "gpus": []})
            next_sample += 2
        if evals and step % (steps // evals) == 0:
            rise = 2 * max(0, at - 0.5) if overfit else 0
            lines.append({"type": "eval", "time": time, "step": step,
                          "val_loss": 2.1 + 6 * math.exp(-at / rate) + rise + 0.001 * rng.gauss(0, 1),
                          "train_loss": 2 + 6 * math.exp(-at / rate) - (0.5 * at if overfit else 0),
                          "bleu": 30 * (1 - math.exp(-at / rate)), "chrf": 50 * (1 - math.exp(-at / rate)), "seconds": 1.5,
                          "samples": [{"source": f"A dog runs {i}.", "reference": f"Ein Hund rennt {i}.",
                                       "hypothesis": f"Ein Hund läuft {i}."} for i in range(samples)]})
    lines.append({"type": "checkpoint", "time": time, "step": steps, "bytes": 13340000, "pause_seconds": 0.02, "write_seconds": 0.5})
    lines.append({"type": "event", "time": time, "step": steps, "kind": "model", "text": "model/ is the best by validation loss"})
    if ended:
        lines.append({"type": "end", "time": time, "step": steps, "reason": "steps", "text": f"stop.steps={steps} reached",
                      "seconds": time - 1.79e9, "tokens": 4096 * steps})
    return lines


def write_run(folder, lines):
    """A directory with this journal, written as `tandem train` does."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (folder / "journal.jsonl").write_text(text)
    return folder
