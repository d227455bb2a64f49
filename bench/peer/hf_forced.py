"""Beam search of Hugging Face's MarianMT with random weights and as many steps for every line. Prints seconds for all lines.
Usage: hf_forced.py tiny|base LINES BATCH THREADS
"""

import os
import sys
import time

os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
import transformers  # noqa: E402
from forced_sizes import BEAM, SIZES, STEPS, WORDS, random_lines  # noqa: E402

size, lines, batch, threads = SIZES[sys.argv[1]], *map(int, sys.argv[2:])
torch.set_num_threads(threads)
transformers.logging.set_verbosity_error()
PAD, BOS, EOS = 0, 1, 2
config = transformers.MarianConfig(vocab_size=WORDS, d_model=size["d_model"], encoder_layers=size["layers"], decoder_layers=size["layers"],
                                   encoder_ffn_dim=size["ffn"], decoder_ffn_dim=size["ffn"], encoder_attention_heads=size["heads"],
                                   decoder_attention_heads=size["heads"], activation_function="relu", pad_token_id=PAD, bos_token_id=BOS,
                                   eos_token_id=EOS, forced_eos_token_id=None, decoder_start_token_id=BOS, max_position_embeddings=512)
config._attn_implementation = "sdpa"
model = transformers.MarianMTModel(config).eval()
ids = torch.tensor([line + [EOS] for line in random_lines(lines)])


def translate(some):
    with torch.inference_mode():
        found = model.generate(input_ids=some, attention_mask=torch.ones_like(some), num_beams=BEAM, min_new_tokens=STEPS, max_new_tokens=STEPS)
    assert found.shape[1] == STEPS + 1, found.shape


translate(ids[:8])
start = time.perf_counter()
for some in ids.split(batch):
    translate(some)
print(time.perf_counter() - start)
