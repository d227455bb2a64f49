"""A plain PyTorch training loop around torch.nn.Transformer: the peer of bench/train.py.

What a good engineer writes in an afternoon: sentences sorted into padded batches of similar length, pre-norm, three-way
tied embeddings, label smoothing, Adam, clipping. The same settings as tandem gets. When the loss is to be compared, batches are
mixed as tandem's are (sentences of one length a batch teach less) and go through the model in slices of similar length, whose
gradients are added up. Prints one JSON object.
Usage: torch_transformer.py DATASET SETTINGS.json, where DATASET is tandem's (vocab.model) with train.src ... beside it
"""

import json
import math
import pathlib
import random
import sys
import time

import sentencepiece
import torch
from torch import nn

PAD, BOS, EOS = 0, 1, 2


class Model(nn.Module):
    def __init__(self, words, s):
        super().__init__()
        self.width = s["d_model"]
        self.embedding = nn.Embedding(words, self.width, padding_idx=PAD)
        self.transformer = nn.Transformer(self.width, s["heads"], s["layers"], s["layers"], s["ffn"], s["dropout"],
                                          activation="relu", batch_first=True, norm_first=True)
        self.dropout = nn.Dropout(s["dropout"])
        sines = self.width // 2
        place = torch.arange(512).unsqueeze(1) * 10000.0 ** (-2.0 * torch.arange(sines) / self.width)
        self.register_buffer("places", torch.cat([place.sin(), place.cos()], 1))
        for name, value in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(value)
            elif value.dim() > 1 and not name.startswith("embedding"):
                nn.init.xavier_uniform_(value)
        nn.init.normal_(self.embedding.weight, std=self.width ** -0.5)

    def embed(self, ids):
        return self.dropout(self.embedding(ids) * math.sqrt(self.width) + self.places[: ids.shape[1]])

    def forward(self, src, tgt):
        future = torch.triu(torch.full((tgt.shape[1], tgt.shape[1]), True), 1)
        hidden = self.transformer(self.embed(src), self.embed(tgt), tgt_mask=future, tgt_is_causal=True,
                                  src_key_padding_mask=src == PAD, memory_key_padding_mask=src == PAD,
                                  tgt_key_padding_mask=tgt == PAD)
        return hidden @ self.embedding.weight.t()


def read(folder, part, vocab, longest):
    pairs = []
    with open(folder / f"{part}.src", encoding="utf-8") as src, open(folder / f"{part}.tgt", encoding="utf-8") as tgt:
        for a, b in zip(src, tgt):
            a, b = vocab.encode(a.rstrip("\n")) + [EOS], vocab.encode(b.rstrip("\n")) + [EOS]
            if max(len(a), len(b)) <= longest:
                pairs.append((a, b))
    return pairs


SLICES = 8  # of a mixed batch: padding it as a whole would triple the work


def padded(pairs):
    pad = lambda rows: nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], True, PAD)
    return pad([a for a, _ in pairs]), pad([[BOS] + b[:-1] for _, b in pairs]), pad([b for _, b in pairs])


def slices_of(batch):
    ordered = sorted(batch, key=lambda pair: (len(pair[1]), len(pair[0])))
    size = -(-len(ordered) // SLICES)
    return [ordered[i:i + size] for i in range(0, len(ordered), size)]


def batches(pairs, tokens, rng, mixed):
    """Batches with about as many target tokens each, in random order; each a list of padded slices, one unless mixed."""
    order = list(range(len(pairs)))
    rng.shuffle(order)
    if not mixed:
        order.sort(key=lambda i: (len(pairs[i][1]), len(pairs[i][0])))
    made, batch, count = [], [], 0
    for i in order:
        batch.append(pairs[i])
        count += len(pairs[i][1])
        if count >= tokens:
            made.append(batch)
            batch, count = [], 0
    if batch:
        made.append(batch)
    rng.shuffle(made)
    for batch in made:
        yield [padded(part) for part in (slices_of(batch) if mixed else [batch])]


@torch.no_grad()
def validation_loss(model, pairs):
    model.eval()
    total = count = 0
    for [(src, tgt_in, tgt_out)] in batches(pairs, 2000, random.Random(0), False):
        scores = model(src, tgt_in)
        total += nn.functional.cross_entropy(scores.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, reduction="sum").item()
        count += (tgt_out != PAD).sum().item()
    model.train()
    return total / count


def main(make_model=Model):
    folder, s = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    torch.set_num_threads(s["threads"])
    torch.manual_seed(s["seed"])
    rng = random.Random(s["seed"])
    vocab = sentencepiece.SentencePieceProcessor(model_file=str(folder / "data/vocab.model"))
    train, valid = (read(folder, part, vocab, s["max_length"]) for part in ("train", "valid"))
    model = make_model((vocab.get_piece_size() + 7) // 8 * 8, s)
    adam = torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, s["beta2"]), eps=1e-9, fused=True)
    step, seen, timed, seconds = 0, 0, 0, 0.0
    while step < s["steps"]:
        for slices in batches(train, s["tokens"], rng, s["validate"]):
            start = time.perf_counter()
            rate = s["lr"] * min((step + 1) / s["warmup"], (s["warmup"] / (step + 1)) ** 0.5)
            for group in adam.param_groups:
                group["lr"] = rate
            count = sum((tgt_out != PAD).sum() for _, _, tgt_out in slices)
            adam.zero_grad()
            for src, tgt_in, tgt_out in slices:
                scores = model(src, tgt_in)
                loss = nn.functional.cross_entropy(scores.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, reduction="sum",
                                                   label_smoothing=0.1) / count
                loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            step += 1
            seen += count.item()
            if step > s["warm_steps"]:
                timed += count.item()
                seconds += time.perf_counter() - start
            if step == s["steps"]:
                break
    result = {"tokens_per_s": timed / seconds, "tokens": seen}
    if s["validate"]:
        result["val_loss"] = validation_loss(model, valid)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
