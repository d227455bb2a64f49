"""Adam, decoupled weight decay and clipping against torch.optim and clip_grad_norm_."""
import json
import os
import pathlib
import subprocess

import pytest
import torch
from safetensors.torch import load_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
TANDEM = pathlib.Path(os.environ.get("TANDEM", ROOT / "build/release/tandem"))
LIMIT = 2e-6  # absolute, of weights between -1 and 1: some units of the last place of fp32


def settings_of(**own):
    settings = dict(beta1=0.9, beta2=0.997, eps=1e-9, weight_decay=0.0, clip=0.0, gradient_scale=0.01, factor=0.125,
                    rates=[0.001 * (step + 1) for step in range(12)])
    settings.update(own)
    return settings


def dump(settings, folder):
    (folder / "settings.json").write_text(json.dumps(settings))
    subprocess.run([TANDEM.parent / "tandem_dump_optim", folder / "settings.json", folder], check=True)
    return json.loads((folder / "norms.json").read_text())


def gradients(shape, step, settings):
    number = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    raw = ((number * 37 + step * 11) % 101 - 50) * settings["gradient_scale"]
    return raw.float().double().view(shape) * settings["factor"]


def pytorch_steps(folder, settings):
    """(norm, weights) after each step, in fp64."""
    weights = {name: w.double().requires_grad_() for name, w in load_file(folder / "start.safetensors").items()}
    kind = torch.optim.AdamW if settings["weight_decay"] else torch.optim.Adam
    optimizer = kind(weights.values(), betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"],
                     weight_decay=settings["weight_decay"])
    for step, rate in enumerate(settings["rates"], 1):
        for w in weights.values():
            w.grad = gradients(w.shape, step, settings)
        norm = torch.nn.utils.clip_grad_norm_(weights.values(), settings["clip"] or float("inf")).item()
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        yield norm, weights


@pytest.mark.parametrize("own", [{}, dict(clip=1.0), dict(clip=1e9), dict(weight_decay=0.1), dict(weight_decay=0.05, clip=0.5),
                                 dict(beta1=0.0), dict(beta2=0.98, eps=1e-6), dict(factor=1 / (4096 * 65536), gradient_scale=65536.0),
                                 dict(gradient_scale=1e-6, eps=1e-5)],
                         ids=lambda own: "-".join(f"{k}={v}" for k, v in own.items()) or "plain")
def test_updates_equal_pytorch(own, tmp_path):
    settings = settings_of(**own)
    norms = dump(settings, tmp_path)
    for step, (norm, weights) in enumerate(pytorch_steps(tmp_path, settings), 1):
        assert norms[step - 1] == pytest.approx(norm, rel=1e-6)
        ours = load_file(tmp_path / f"step-{step}.safetensors")
        for name, w in weights.items():
            assert (ours[name].double() - w).abs().max() < LIMIT, (step, name)


def test_the_oracle_sees_another_beta(tmp_path):
    settings = settings_of()
    dump(settings, tmp_path)
    settings["beta2"] = 0.99
    *_, (_, weights) = pytorch_steps(tmp_path, settings)
    ours = load_file(tmp_path / "step-12.safetensors")
    assert max((ours[name].double() - w).abs().max() for name, w in weights.items()) > 10 * LIMIT
