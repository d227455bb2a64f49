"""Hugging Face's MarianMT in the same loop as torch_transformer.py (same batches, optimizer and settings): the fastest of the
field's own training systems on a CPU. Post-norm, as that model is; attention by scaled_dot_product_attention.
Usage: hf_marian.py DATASET SETTINGS.json
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from torch_transformer import BOS, EOS, PAD, main


class Marian(torch.nn.Module):
    def __init__(self, words, s):
        super().__init__()
        layers = dict(encoder_layers=s["layers"], decoder_layers=s["layers"], encoder_ffn_dim=s["ffn"], decoder_ffn_dim=s["ffn"],
                      encoder_attention_heads=s["heads"], decoder_attention_heads=s["heads"])
        rates = dict(dropout=s["dropout"], attention_dropout=s["dropout"], activation_dropout=s["dropout"])
        config = transformers.MarianConfig(vocab_size=words, d_model=s["d_model"], activation_function="relu", scale_embedding=True,
                                           pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS, decoder_start_token_id=BOS,
                                           max_position_embeddings=512, use_cache=False, **layers, **rates)
        config._attn_implementation = "sdpa"
        self.model = transformers.MarianMTModel(config)

    def forward(self, src, tgt):
        return self.model(input_ids=src, attention_mask=(src != PAD).long(), decoder_input_ids=tgt).logits


if __name__ == "__main__":
    main(Marian)
