"""CTranslate2 on one file: subwords, beam search, text again. Prints seconds for all lines, without loading the model.
FORCED: every translation gets this many steps, whatever the model says; 0: it ends by itself.
Usage: ct2_translate.py MODEL_DIR VOCAB.model SOURCE WORKERS THREADS COMPUTE_TYPE FORCED OUT
"""

import sys
import time

import ctranslate2
import sentencepiece

folder, vocab, source, workers, threads, kind, forced, out = sys.argv[1:]
length = {"min_decoding_length": int(forced), "max_decoding_length": int(forced)} if int(forced) else {}
pieces = sentencepiece.SentencePieceProcessor(model_file=vocab)
translator = ctranslate2.Translator(folder, device="cpu", compute_type=kind, inter_threads=int(workers), intra_threads=int(threads))
with open(source, encoding="utf-8") as file:
    lines = [line.rstrip("\n") for line in file]


def translate(some):
    found = translator.translate_batch([pieces.encode(line, out_type=str) for line in some], beam_size=4, length_penalty=0.6,
                                       max_batch_size=1024, batch_type="tokens", **length)
    return [pieces.decode(one.hypotheses[0]) for one in found]


translate(lines[:8])
start = time.perf_counter()
texts = translate(lines)
seconds = time.perf_counter() - start
with open(out, "w", encoding="utf-8") as file:
    file.writelines(text + "\n" for text in texts)
print(seconds)
