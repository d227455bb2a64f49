"""torch.nn.Transformer under DistributedDataParallel on Gloo: the peer of bench/scaling.py and bench/hosts.py.

Started once it makes both workers; with RANK, MASTER_ADDR and MASTER_PORT in the environment it is one of them.
"""

import json
import math
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F

WORDS = 8000


class Translator(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.width = s["d_model"]
        self.embedding = nn.Embedding(WORDS, self.width)
        nn.init.normal_(self.embedding.weight, std=self.width ** -0.5)
        self.positions = nn.Parameter(torch.randn(s["length"], self.width), requires_grad=False)
        self.body = nn.Transformer(self.width, s["heads"], s["layers"], s["layers"], s["ffn"], 0.1, batch_first=True,
                                   norm_first=True)
        self.drop = nn.Dropout(0.1)

    def forward(self, src, tgt):
        embed = lambda ids: self.drop(self.embedding(ids) * math.sqrt(self.width) + self.positions)
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1])
        return F.linear(self.body(embed(src), embed(tgt), tgt_mask=mask, tgt_is_causal=True), self.embedding.weight)


def work(rank, s, speeds):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    model = Translator(s)
    # The stock optimiser in its fastest form for the CPU, with the clipping that tandem has too.
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], fused=True)
    trained = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True) if s["together"] else model
    sentences = s["tokens"] // s["length"]
    times = []
    dist.barrier()
    for _ in range(s["steps"]):
        src, tgt, out = torch.randint(4, WORDS, (3, sentences, s["length"]))
        optimizer.zero_grad(set_to_none=not s["together"])
        loss = F.cross_entropy(trained(src, tgt).flatten(0, 1), out.flatten(), reduction="sum", label_smoothing=0.1)
        (loss / (2 * s["tokens"])).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        times.append(time.time())
    speeds[rank] = sentences * s["length"] * (s["steps"] - s["warm_up"]) / (times[-1] - times[s["warm_up"] - 1])
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    settings = json.loads(sys.argv[1])
    if "RANK" in os.environ:
        speeds = [0.0, 0.0]
        work(int(os.environ["RANK"]), settings, speeds)
    else:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
        speeds = mp.get_context("spawn").Manager().list([0.0, 0.0])
        mp.spawn(work, (settings, speeds), nprocs=2)
    with open(settings["out"], "w") as out:
        json.dump(list(speeds), out)


if __name__ == "__main__":
    main()
