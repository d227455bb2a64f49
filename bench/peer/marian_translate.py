"""transformers' MarianMTModel on one file: subwords of the best translation of each line, and its text.
Usage: marian_translate.py MODEL_DIR SOURCE BEAM THREADS OUT

OUT gets a line {"tokens": [...], "text": ...} for each line. Prints seconds for all lines, without loading the model. No length penalty, and the
search ends when nothing better can come: only so two programs can agree. So sentences of a batch (at most 32) are equally long: generate() knows one
limit a batch, tandem one a sentence, and a young model now and then writes on and on.
"""

import json
import os
import sys
import time

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing here is to be fetched
import torch  # noqa: E402
import transformers  # noqa: E402

folder, source, beam, threads, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
transformers.logging.set_verbosity_error()
torch.set_num_threads(threads)
tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
model = transformers.MarianMTModel.from_pretrained(folder).eval()
special = set(tokenizer.all_special_tokens) | {"<s>"}
with open(source, encoding="utf-8") as file:
    lines = [line.rstrip("\n") for line in file]


def translate(some):
    batch = tokenizer(some, return_tensors="pt", padding=True)
    with torch.inference_mode():
        # 50 subwords more than the source has; the source's end mark is counted, the begin and end marks of the answer are too.
        found = model.generate(**batch, num_beams=beam, length_penalty=0.0, max_length=batch["input_ids"].shape[1] + 51,
                               early_stopping="never" if beam > 1 else False)
    texts = tokenizer.batch_decode(found, skip_special_tokens=True)
    tokens = [[t for t in tokenizer.convert_ids_to_tokens(row) if t not in special] for row in found.tolist()]
    return list(zip(tokens, texts))


def batches():
    """Numbers of lines."""
    by_length = {}
    for i, ids in enumerate(tokenizer(lines)["input_ids"]):
        by_length.setdefault(len(ids), []).append(i)
    for same in by_length.values():
        yield from (same[at:at + 32] for at in range(0, len(same), 32))


translate(lines[:1])
start = time.perf_counter()
results = [None] * len(lines)
for some in batches():
    for i, result in zip(some, translate([lines[i] for i in some])):
        results[i] = result
seconds = time.perf_counter() - start
with open(out, "w", encoding="utf-8") as file:
    file.writelines(json.dumps({"tokens": tokens, "text": text}) + "\n" for tokens, text in results)
print(seconds)
