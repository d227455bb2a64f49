"""onmt_translate with a model after one step of onmt_train, and as many steps for every line. Prints seconds for all lines, which
are those of all less those of one line. Needs a Python with OpenNMT-py. Usage: opennmt_forced.py tiny|base LINES BATCH THREADS
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

from forced_sizes import BEAM, SIZES, STEPS, WORDS, random_lines

size, lines, batch, threads = SIZES[sys.argv[1]], *map(int, sys.argv[2:])
# Its checkpoints hold more than tensors, which newer versions of torch load only when told so.
environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}


def run(folder, program, *arguments):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-m", f"onmt.bin.{program}", *map(str, arguments)], check=True, cwd=folder,
                   env=environment, capture_output=True)
    return time.perf_counter() - start


def translate(folder, source):
    return run(folder, "translate", "-model", "model_step_1.pt", "-src", source, "-output", "out", "-beam_size", BEAM, "-min_length", STEPS,
               "-max_length", STEPS, "-batch_size", batch, "-gpu", -1)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "vocab").write_text("".join(f"w{i}\t1\n" for i in range(WORDS)))
    text = ["".join(" ".join(f"w{i}" for i in line) + "\n" for line in random_lines(count)) for count in (1, max(lines, 200))]
    (folder / "one").write_text(text[0])
    (folder / "all").write_text("".join(text[1].splitlines(keepends=True)[:lines]))
    (folder / "train").write_text(text[1])
    (folder / "model.yaml").write_text(
        "data: {corpus_1: {path_src: train, path_tgt: train}}\n"
        f"src_vocab: vocab\ntgt_vocab: vocab\nshare_vocab: true\nsrc_vocab_size: {WORDS}\ntgt_vocab_size: {WORDS}\n"
        "save_model: model\ntrain_steps: 1\nsave_checkpoint_steps: 1\nbatch_size: 256\nbatch_type: tokens\nbucket_size: 200\nnum_workers: 0\n"
        "optim: adam\nlearning_rate: 1.0e-9\nencoder_type: transformer\ndecoder_type: transformer\nposition_encoding: true\n"
        f"enc_layers: {size['layers']}\ndec_layers: {size['layers']}\nheads: {size['heads']}\nhidden_size: {size['d_model']}\n"
        f"word_vec_size: {size['d_model']}\ntransformer_ff: {size['ffn']}\nshare_embeddings: true\nshare_decoder_embeddings: true\n")
    run(folder, "train", "-config", "model.yaml")
    one = translate(folder, "one")
    print(translate(folder, "all") - one)
    written = (folder / "out").read_text().splitlines()
    assert len(written) == lines and all(len(line.split()) == STEPS for line in written)
