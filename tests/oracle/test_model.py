"""Forward pass, loss and every gradient against PyTorch with the same weights; files against the safetensors package."""
import json
import os
import pathlib
import random
import subprocess

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import model_oracle

ROOT = pathlib.Path(__file__).resolve().parents[2]
TANDEM = pathlib.Path(os.environ.get("TANDEM", ROOT / "build/release/tandem"))
LIMIT = 1e-4  # of the largest magnitude in the tensor


def sample_settings(**own):
    settings = dict(d_model=32, heads=4, ffn=56, encoder_layers=2, decoder_layers=2, norm="pre", activation="relu",
                    tied="all", positions="sinusoidal", vocabulary=61, seed=3, label_smoothing=0.1)
    settings.update(own)
    draw = random.Random(7)
    word = lambda: draw.randrange(3, settings["vocabulary"])
    settings.update(src_ids=[], src_offsets=[0], tgt_in=[], tgt_out=[], tgt_offsets=[0])
    for _ in range(7):
        source = [word() for _ in range(draw.randrange(0, 19))]
        target = [word() for _ in range(draw.randrange(0, 19))]
        settings["src_ids"] += source + [2]
        settings["tgt_in"] += [1] + target
        settings["tgt_out"] += target + [2]
        settings["src_offsets"].append(len(settings["src_ids"]))
        settings["tgt_offsets"].append(len(settings["tgt_in"]))
    return settings


def dump(settings, folder):
    path = folder / "settings.json"
    path.write_text(json.dumps(settings))
    subprocess.run([TANDEM.parent / "tandem_dump_model", path, folder], check=True)


def error(got, expected):
    return ((got.double() - expected.double()).abs().max() / expected.double().abs().max().clamp_min(1e-30)).item()


CASES = [dict(norm=norm, tied=tied, activation=activation) for norm in ("pre", "post")
         for tied in ("all", "decoder", "none") for activation in ("relu", "gelu")]
CASES += [dict(encoder_layers=3, decoder_layers=1), dict(encoder_layers=1, decoder_layers=4, norm="post"),
          dict(positions="learned"), dict(label_smoothing=0.0), dict(vocabulary=64), dict(d_model=36, heads=3),
          dict(heads=1, ffn=7)]


@pytest.mark.parametrize("own", CASES, ids=lambda own: "-".join(f"{k}={v}" for k, v in own.items()))
def test_forward_loss_and_every_gradient_equal_pytorch(own, tmp_path):
    settings = sample_settings(**own)
    dump(settings, tmp_path)
    weights = {name: w.double().requires_grad_() for name, w in load_file(tmp_path / "weights.safetensors").items()}
    logs, total, nll = model_oracle.run(weights, settings)

    assert error(load_file(tmp_path / "forward.safetensors")["logs"], logs) < LIMIT
    loss = json.loads((tmp_path / "loss.json").read_text())
    assert loss["tokens"] == len(settings["tgt_out"])
    assert loss["sum"] == pytest.approx(total, rel=1e-5)
    assert loss["nll"] == pytest.approx(nll, rel=1e-5)
    gradients = load_file(tmp_path / "gradients.safetensors")
    assert gradients.keys() == weights.keys()
    for name, w in weights.items():
        assert error(gradients[name], w.grad) < LIMIT, name


def test_the_oracle_sees_a_wrong_weight(tmp_path):
    settings = sample_settings()
    dump(settings, tmp_path)
    weights = load_file(tmp_path / "weights.safetensors")
    weights["decoder.layers.1.cross.kv.bias"][40] += 0.05
    logs, _, _ = model_oracle.run({k: w.double().requires_grad_() for k, w in weights.items()}, settings)
    assert error(load_file(tmp_path / "forward.safetensors")["logs"], logs) > LIMIT


def test_our_files_open_with_the_safetensors_package_and_come_back_equal(tmp_path):
    dump(sample_settings(), tmp_path)
    ours = tmp_path / "weights.safetensors"
    weights = load_file(ours)
    with safe_open(ours, "pt") as file:
        assert "encoder.layers.0.attention.qkv.weight" in file.keys()
    again = tmp_path / "again.safetensors"
    save_file(weights, again)
    back = load_file(again)
    assert all(torch.equal(back[name], weights[name]) for name in weights)
