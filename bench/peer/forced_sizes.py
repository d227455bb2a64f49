"""What the decoders of training programs share: sizes of bench/decode.py --forced, and random lines."""

import random

SIZES = {"tiny": {"d_model": 128, "ffn": 256, "layers": 4, "heads": 4}, "base": {"d_model": 512, "ffn": 2048, "layers": 6, "heads": 8}}
WORDS, PIECES, STEPS, BEAM = 8000, 13, 15, 4


def random_lines(count):
    """Numbers of words; the first few are for the marks."""
    rng = random.Random(1)
    return [rng.choices(range(4, WORDS), k=PIECES) for _ in range(count)]
