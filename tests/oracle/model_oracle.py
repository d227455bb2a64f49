"""The model written out in PyTorch, padded, from the description in src/model/README.md. Weights are a dict of
tensors by tandem's names. Nothing of tandem's code is used."""
import math

import torch
from torch.nn import functional as F


def sinusoidal(length, width):
    sines = (width + 1) // 2
    table = torch.zeros(length, width, dtype=torch.float64)
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    frequency = 10000.0 ** (-2.0 * torch.arange(sines, dtype=torch.float64) / width)
    table[:, :sines] = torch.sin(position * frequency)
    table[:, sines:] = torch.cos(position * frequency[: width - sines])
    return table


class Model:
    def __init__(self, weights, settings):
        self.w = weights
        self.s = settings

    def linear(self, name, x, rows=slice(None)):
        return F.linear(x, self.w[name + ".weight"][rows], self.w[name + ".bias"][rows])

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"], 1e-5)

    def embed(self, stack, ids):
        name = "embedding.weight" if self.s["tied"] == "all" else stack + ".embedding.weight"
        width = self.s["d_model"]
        if self.s["positions"] == "learned":
            positions = self.w[stack + ".positions.weight"][: ids.shape[1]]
        else:
            positions = sinusoidal(ids.shape[1], width).to(self.w[name].dtype)
        return F.embedding(ids, self.w[name]) * math.sqrt(width) + positions

    def attend(self, q, k, v, mask):
        """q [B, Lq, D], k, v [B, Lk, D], mask True where a query may look."""
        heads = self.s["heads"]
        split = lambda x: x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)
        q, k, v = split(q), split(k), split(v)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)
        return (weights @ v).transpose(1, 2).flatten(2)

    def self_attention(self, name, x, mask):
        width = self.s["d_model"]
        part = lambda i: self.linear(name + ".qkv", x, slice(i * width, (i + 1) * width))
        return self.linear(name + ".out", self.attend(part(0), part(1), part(2), mask))

    def cross_attention(self, name, x, memory, mask):
        width = self.s["d_model"]
        k = self.linear(name + ".kv", memory, slice(0, width))
        v = self.linear(name + ".kv", memory, slice(width, 2 * width))
        return self.linear(name + ".out", self.attend(self.linear(name + ".q", x), k, v, mask))

    def feed_forward(self, name, x):
        act = torch.relu if self.s["activation"] == "relu" else F.gelu
        return self.linear(name + ".out", act(self.linear(name + ".in", x)))

    def sublayer(self, name, x, f):
        if self.s["norm"] == "pre":
            return x + f(self.norm(name + ".norm", x))
        return self.norm(name + ".norm", x + f(x))

    def stack(self, stack, ids, self_mask, memory=None, memory_mask=None):
        x = self.embed(stack, ids)
        for i in range(self.s[stack + "_layers"]):
            layer = f"{stack}.layers.{i}"
            x = self.sublayer(layer + ".attention", x, lambda h: self.self_attention(layer + ".attention", h, self_mask))
            if memory is not None:
                x = self.sublayer(layer + ".cross", x,
                                  lambda h: self.cross_attention(layer + ".cross", h, memory, memory_mask))
            x = self.sublayer(layer + ".ffn", x, lambda h: self.feed_forward(layer + ".ffn", h))
        return self.norm(stack + ".norm", x) if self.s["norm"] == "pre" else x

    def scores(self, src, src_present, tgt):
        """Padded ids [B, L]; src_present True where there is a token."""
        see_source = src_present[:, None, None, :]
        memory = self.stack("encoder", src, see_source)
        causal = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).tril()[None, None]
        hidden = self.stack("decoder", tgt, causal, memory, see_source)
        name = {"all": "embedding.weight", "decoder": "decoder.embedding.weight", "none": "output.weight"}
        return F.linear(hidden, self.w[name[self.s["tied"]]][: self.s["vocabulary"]])


def padded(ids, offsets, filler=0):
    rows = [torch.tensor(ids[a:b]) for a, b in zip(offsets, offsets[1:])]
    present = torch.nn.utils.rnn.pad_sequence([torch.ones_like(r, dtype=torch.bool) for r in rows], batch_first=True)
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=filler), present


def run(weights, settings):
    """Log probabilities [Nt, V], smoothed sum, nll sum; gradients are left in the weights."""
    src, src_present = padded(settings["src_ids"], settings["src_offsets"])
    tgt, present = padded(settings["tgt_in"], settings["tgt_offsets"])
    out, _ = padded(settings["tgt_out"], settings["tgt_offsets"], filler=-100)
    scores = Model(weights, settings).scores(src, src_present, tgt)
    total = F.cross_entropy(scores.flatten(0, 1), out.flatten(), reduction="sum", ignore_index=-100,
                            label_smoothing=settings["label_smoothing"])
    nll = F.cross_entropy(scores.flatten(0, 1), out.flatten(), reduction="sum", ignore_index=-100)
    total.backward()
    return torch.log_softmax(scores, -1)[present].detach(), total.item(), nll.item()
