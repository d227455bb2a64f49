"""The settings that tests of training share, and where they stop it; each adds its own evaluation, cluster and stop."""

SMALL_RUN = """
threads: 1
model: {preset: tiny, d_model: 32, heads: 2, ffn: 64, encoder_layers: 1, decoder_layers: 1, dropout: 0.1}
data: {max_length: 64}
batch: {tokens: 700, max_tokens_per_micro: 250}
optim: {schedule: inverse_sqrt, lr: 0.01, warmup_steps: 5}
eval: {every: 1000000, beam: 1}
log: {every: 1}
"""

# All that a resume has to keep: dropout, clipping, averaged weights, and three micro-batches a step. About six steps an epoch of 300 pairs.
FULL_RUN = """
threads: 1
model: {preset: tiny, d_model: 32, heads: 2, ffn: 64, encoder_layers: 1, decoder_layers: 1, dropout: 0.2}
data: {max_length: 64}
batch: {tokens: 700, max_tokens_per_micro: 250}
optim: {schedule: inverse_sqrt, lr: 0.01, warmup_steps: 5, clip: 1.0, ema: 0.9}
checkpoint: {every: 5}
"""

# Settings of a run with many micro-batches a step, so that nearly all of a step's time lies between two of them.
MANY_MICRO = ("batch.max_tokens_per_micro=16", "checkpoint.every=2", "eval.every=0")

# Where a run is stopped and resumed, by the steps of an epoch.
STOPS = {"step 1": lambda epoch: 1, "mid-epoch": lambda epoch: epoch // 2, "last of an epoch": lambda epoch: epoch,
         "first of the next": lambda epoch: epoch + 1}


def steps_of_an_epoch(run) -> int:
    steps = sum(line["epoch"] == 0 for line in run.lines("step"))
    assert 3 <= steps <= 12
    return steps


# A model whose matrices are large enough to be coded, for the lossy exchanges.
CODED_RUN = """
threads: 1
model: {preset: tiny, d_model: 128, heads: 2, ffn: 256, encoder_layers: 1, decoder_layers: 1, dropout: 0.1}
data: {max_length: 64}
batch: {tokens: 400}
optim: {schedule: inverse_sqrt, lr: 0.003, warmup_steps: 5}
eval: {every: 1000000, beam: 1}
log: {every: 1}
"""
