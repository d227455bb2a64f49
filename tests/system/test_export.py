"""export: CTranslate2 and transformers translate exported models as we do, token for token."""

import json
import os
import random
import struct
import subprocess

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing here is to be fetched
ctranslate2 = pytest.importorskip("ctranslate2", reason="scripts/setup --tests installs it")
transformers = pytest.importorskip("transformers", reason="scripts/setup --tests installs it")
safetensors_numpy = pytest.importorskip("safetensors.numpy", reason="scripts/setup --tests installs it")
import numpy  # noqa: E402
import sentencepiece  # noqa: E402
import torch  # noqa: E402

SUBJECTS = ["a man", "the small dog", "two women", "our teacher", "the red car", "a child"]
VERBS = ["sees", "paints", "likes", "carries", "finds", "hides"]
OBJECTS = ["a house", "the old tree", "three books", "an umbrella", "the river", "my bike"]


def sentences():
    return [f"{s} {v} {o}." for s in SUBJECTS for v in VERBS for o in OBJECTS]


def known_sentences():
    """Those that the models learn."""
    return random.Random(3).sample(sentences(), 40)


def backwards(line):
    return " ".join(reversed(line.rstrip(".").split())) + "."


@pytest.fixture(scope="module")
def trained(program, tmp_path_factory):
    """trained(norm, ...) -> model folder: a model that learned some sentences, so that on others it is unsure."""
    made = {}

    def make(*settings):
        if settings not in made:
            folder = tmp_path_factory.mktemp("export")
            (folder / "src").write_text("".join(line + "\n" for line in known_sentences()))
            (folder / "tgt").write_text("".join(backwards(line) + "\n" for line in known_sentences()))
            subprocess.run([program.parent / "tandem_make_model", folder / "src", folder / "tgt", folder / "model", "150",
                            *settings], check=True, capture_output=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"})
            made[settings] = folder / "model"
        return made[settings]

    return make


def ours(tandem, model, lines, *options):
    """Subwords of the best translation of each line, and its score."""
    done = tandem("translate", "--model", model, "--json", *options, input="".join(line + "\n" for line in lines))
    assert done.returncode == 0, done.stderr
    best = [json.loads(line)["hypotheses"][0] for line in done.stdout.splitlines()]
    return [b["tokens"] for b in best], [b["score"] for b in best]


def exported(tandem, model, out, *options):
    done = tandem("export", "--model", model, "--out", out, *options)
    assert done.returncode == 0, done.stderr
    return out


def by_ctranslate2(folder, lines, beam, **options):
    vocab = sentencepiece.SentencePieceProcessor(model_file=str(folder / "vocab.model"))
    translator = ctranslate2.Translator(str(folder), inter_threads=1, intra_threads=1, **options)
    sources = [vocab.encode(line, out_type=str) for line in lines]
    results = translator.translate_batch(sources, beam_size=beam, length_penalty=0, disable_unk=True, max_decoding_length=60)
    best = [r.hypotheses[0] for r in results]
    return best, [sum(s.log_probs) for s in translator.score_batch(sources, best)]


def by_transformers(folder, lines, beam):
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    model = transformers.MarianMTModel.from_pretrained(folder).eval()
    batch = tokenizer(lines, return_tensors="pt", padding=True)
    with torch.no_grad():
        out = model.generate(**batch, num_beams=beam, length_penalty=0.0, max_length=60, early_stopping="never" if beam > 1 else False)
    special = set(tokenizer.all_special_tokens) | {"<s>"}
    return [[t for t in tokenizer.convert_ids_to_tokens(row) if t not in special] for row in out.tolist()], tokenizer


def equal_share(a, b):
    assert len(a) == len(b)
    return sum(x == y for x, y in zip(a, b)) / len(a)


SHAPES = [("norm=pre",), ("norm=post", "activation=gelu", "tied=decoder"), ("norm=pre", "tied=none", "positions=learned"),
          ("norm=post",)]


@pytest.mark.parametrize("settings", SHAPES, ids=" ".join)
def test_ctranslate2_gives_equal_translations(tandem, trained, tmp_path, settings):
    model = trained(*settings)
    folder = exported(tandem, model, tmp_path / "out")
    lines = sentences()
    greedy, _ = ours(tandem, model, lines, "--beam", 1, "--alpha", 0)
    theirs, _ = by_ctranslate2(folder, lines, 1)
    assert theirs == greedy
    wide, scores = ours(tandem, model, lines, "--beam", 4, "--alpha", 0)
    theirs, their_scores = by_ctranslate2(folder, lines, 4)
    assert equal_share(theirs, wide) >= 0.99
    same = [i for i in range(len(lines)) if theirs[i] == wide[i]]
    assert max(abs(scores[i] - their_scores[i]) for i in same) < 1e-3  # log probabilities of whole translations


def arrays_of(model_bin):
    """{name: array} of a model.bin, read by the format's own rules."""
    data, at = model_bin.read_bytes(), 0

    def take(kind):
        nonlocal at
        value = struct.unpack_from("<" + kind, data, at)[0]
        at += struct.calcsize("<" + kind)
        return value

    def text():
        nonlocal at
        length = take("H")
        at += length
        return data[at - length:at - 1].decode()

    assert take("I") == 6 and text() == "TransformerSpec" and take("I") == 7
    arrays = {}
    for _ in range(take("I")):
        name = text()
        shape = [take("I") for _ in range(take("B"))]
        kind = ["<f4", "i1", "<i2"][take("B")]
        size = take("I")
        arrays[name] = numpy.frombuffer(data[at:at + size], kind).reshape(shape)
        at += size
    for _ in range(take("I")):
        text(), text()
    assert at == len(data)
    return arrays


def test_ctranslate2_in_8_bits_is_smaller_and_still_the_model(tandem, trained, tmp_path):
    model = trained("norm=pre")
    whole = exported(tandem, model, tmp_path / "float32")
    small = exported(tandem, model, tmp_path / "int8", "--quantization", "int8")
    exact, rounded = arrays_of(whole / "model.bin"), arrays_of(small / "model.bin")
    matrices = [name for name in exact if name + "_scale" in rounded]
    assert len(matrices) == 1 + 4 + 7 and set(rounded) - set(exact) == {name + "_scale" for name in matrices}
    for name in matrices:
        scale = rounded[name + "_scale"][:, None]
        assert numpy.abs(rounded[name] / scale - exact[name]).max() <= 0.501 / scale.min()
        assert (numpy.abs(rounded[name]).max(axis=1) == 127).mean() > 0.9  # the whole range is used but for unused words
    lines = known_sentences()
    greedy, _ = ours(tandem, model, lines, "--beam", 1)
    assert equal_share(by_ctranslate2(small, lines, 1)[0], greedy) > 0.8
    with_floats = by_ctranslate2(small, lines, 1, compute_type="float32")[0]  # the same 8 bit numbers, other arithmetic
    assert equal_share(with_floats, greedy) > 0.8


@pytest.mark.parametrize("settings", [("norm=post",), ("norm=post", "activation=gelu", "tied=decoder"),
                                      ("norm=post", "tied=none")], ids=" ".join)
def test_transformers_gives_equal_translations(tandem, trained, tmp_path, settings):
    model = trained(*settings)
    folder = exported(tandem, model, tmp_path / "out", "--format", "huggingface")
    lines = sentences()[::3]
    greedy, _ = ours(tandem, model, lines, "--beam", 1, "--alpha", 0)
    theirs, tokenizer = by_transformers(folder, lines, 1)
    assert theirs == greedy
    text = tandem("translate", "--model", model, "--beam", 1, input=lines[7] + "\n").stdout.strip()
    assert tokenizer.decode(tokenizer.convert_tokens_to_ids(theirs[7])) == text
    wide, _ = ours(tandem, model, lines, "--beam", 4, "--alpha", 0)
    assert equal_share(by_transformers(folder, lines, 4)[0], wide) >= 0.99


def test_what_transformers_cannot_compute_is_refused(tandem, trained, tmp_path):
    done = tandem("export", "--model", trained("norm=pre"), "--format", "huggingface", "--out", tmp_path / "out")
    assert done.returncode == 2 and "post-norm" in done.stderr and "ctranslate2" in done.stderr
    assert not (tmp_path / "out").exists()
    done = tandem("train", "data.path=nowhere", "export.targets=huggingface")
    assert done.returncode == 2 and "export.targets=huggingface" in done.stderr and "model.norm" in done.stderr


def test_mistakes_are_named_and_leave_nothing(tandem, trained, tmp_path):
    model = trained("norm=pre")
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine").write_text("mine")
    assert tandem("export", "--model", model, "--out", taken).returncode == 2
    assert [p.name for p in tmp_path.iterdir()] == ["taken"] and (taken / "mine").read_text() == "mine"
    done = tandem("export", "--model", tmp_path / "absent", "--out", tmp_path / "out")
    assert done.returncode == 2 and "absent" in done.stderr
    done = tandem("export", "--model", model, "--out", tmp_path / "out", "--format", "huggingface", "--quantization", "int8")
    assert done.returncode == 2 and "int8" in done.stderr


def test_a_run_ends_with_what_export_targets_asks_for(tandem, reversed_words, tmp_path):
    data = reversed_words(200) / "data"
    run = tmp_path / "run"
    done = tandem("train", f"data.path={data}", f"run={run}", "model.preset=tiny", "model.d_model=32", "model.heads=2", "model.ffn=64",
                  "model.encoder_layers=1", "model.decoder_layers=1", "model.norm=post", "data.max_length=64", "batch.tokens=500",
                  "stop.steps=3", "eval.every=0", "threads=1", "export.targets=both")
    assert done.returncode == 0, done.stderr
    assert "export/ctranslate2" in (run / "journal.jsonl").read_text()
    assert ctranslate2.Translator(str(run / "export/ctranslate2"))
    assert transformers.MarianMTModel.from_pretrained(run / "export/huggingface")


@pytest.mark.parametrize("settings", [("norm=post",), ("norm=post", "activation=gelu", "tied=decoder"), ("norm=post", "tied=none")],
                         ids=" ".join)
def test_import_gives_back_what_was_exported(tandem, trained, tmp_path, settings):
    model = trained(*settings)
    folder = exported(tandem, model, tmp_path / "out", "--format", "huggingface")
    # Once through transformers' own writer, too.
    transformers.MarianMTModel.from_pretrained(folder).save_pretrained(tmp_path / "saved")
    transformers.MarianTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "saved")
    original = safetensors_numpy.load_file(model / "model.safetensors")
    for source in (folder, tmp_path / "saved"):
        done = tandem("import", source, "--out", tmp_path / f"from-{source.name}")
        assert done.returncode == 0, done.stderr
        again = safetensors_numpy.load_file(tmp_path / f"from-{source.name}" / "model.safetensors")
        assert again.keys() == original.keys()
        assert all(again[name].tobytes() == original[name].tobytes() for name in original)
    lines = sentences()[:50]
    assert ours(tandem, tmp_path / "from-saved", lines, "--beam", 4) == ours(tandem, model, lines, "--beam", 4)


def test_import_refuses_what_it_would_compute_otherwise(tandem, trained, tmp_path):
    folder = exported(tandem, trained("norm=post"), tmp_path / "out", "--format", "huggingface")
    config = json.loads((folder / "config.json").read_text())
    for key, value in [("activation_function", "swish"), ("scale_embedding", False),
                             ("d_model", 64), ("encoder_layers", 2), ("decoder_start_token_id", 0),
                             ("model_type", "bart"), ("encoder_attention_heads", 3), ("d_model", "32")]:
        (folder / "config.json").write_text(json.dumps({**config, key: value}))
        done = tandem("import", folder, "--out", tmp_path / "in")
        assert done.returncode == 2 and not (tmp_path / "in").exists(), (key, done.stderr)
    (folder / "config.json").write_text(json.dumps(config))
    weights = safetensors_numpy.load_file(folder / "model.safetensors")
    shared = weights["model.shared.weight"]
    fc1 = weights["model.encoder.layers.0.fc1.weight"]
    for name, array in [("lm_head.weight", shared + 1), ("model.decoder.embed_tokens.weight", shared[:-1]),
                        ("model.encoder.embed_positions.weight", numpy.ones((config["max_position_embeddings"], config["d_model"]), "f4")),
                        ("model.encoder.layers.1.fc1.weight", fc1), ("model.encoder.layer_norm.bias", shared[0])]:
        safetensors_numpy.save_file({**weights, name: array}, folder / "model.safetensors")
        done = tandem("import", folder, "--out", tmp_path / "in")
        assert done.returncode == 2 and "model.safetensors" in done.stderr and name in done.stderr, (name, done.stderr)
    for name, array, why in [("model.shared.weight", numpy.full_like(shared, numpy.nan), "not numbers"),
                             ("model.encoder.layers.0.fc1.weight", fc1.astype("f8"), "fp32"),
                             ("model.encoder.layers.0.fc1.weight", fc1.T.copy(), "shape")]:
        safetensors_numpy.save_file({**weights, name: array}, folder / "model.safetensors")
        done = tandem("import", folder, "--out", tmp_path / "in")
        assert done.returncode == 2 and name in done.stderr and why in done.stderr, (name, done.stderr)
    safetensors_numpy.save_file(weights, folder / "model.safetensors")
    vocab = json.loads((folder / "vocab.json").read_text())
    names = list(vocab)
    vocab[names[10]], vocab[names[11]] = vocab[names[11]], vocab[names[10]]
    (folder / "vocab.json").write_text(json.dumps(vocab))
    done = tandem("import", folder, "--out", tmp_path / "in")
    assert done.returncode == 2 and "source.spm" in done.stderr


def test_import_names_the_file_and_the_key(tandem, trained, tmp_path):
    folder = exported(tandem, trained("norm=post"), tmp_path / "out", "--format", "huggingface")

    def refused(name, content):
        original = (folder / name).read_text()
        (folder / name).write_text(json.dumps(content(json.loads(original))))
        done = tandem("import", folder, "--out", tmp_path / "in")
        (folder / name).write_text(original)
        assert done.returncode == 2 and not (tmp_path / "in").exists() and f"/{name}:" in done.stderr, (name, done.stderr)
        return done.stderr

    for name, key, value in [
            ("config.json", "d_model", "32"), ("config.json", "d_model", 64.5), ("config.json", "d_model", None), ("config.json", "dropout", "x"),
            ("config.json", "scale_embedding", 1), ("config.json", "activation_function", 3), ("config.json", "encoder_layers", -1),
            ("config.json", "max_position_embeddings", 1), ("config.json", "forced_bos_token_id", 5), ("config.json", "eos_token_id", [2]),
            ("generation_config.json", "length_penalty", -1), ("generation_config.json", "num_beams", "4"),
            ("generation_config.json", "num_beams", 1000), ("generation_config.json", "forced_bos_token_id", 5),
            ("generation_config.json", "decoder_start_token_id", 0), ("generation_config.json", "eos_token_id", 5),
            ("tokenizer_config.json", "model_max_length", 0), ("tokenizer_config.json", "model_max_length", -5),
            ("tokenizer_config.json", "model_max_length", "x"), ("vocab.json", "<s>", "1")]:
        assert key in refused(name, lambda content: {**content, key: value}), (name, key)
    for name in ("config.json", "generation_config.json", "tokenizer_config.json", "vocab.json"):
        assert "object" in refused(name, lambda content: [content])


def test_import_takes_null_for_not_set(tandem, trained, tmp_path):
    folder = exported(tandem, trained("norm=post"), tmp_path / "out", "--format", "huggingface")
    for name, keys in [("config.json", ["dropout", "forced_bos_token_id"]), ("tokenizer_config.json", ["model_max_length"]),
                       ("generation_config.json", ["num_beams", "length_penalty", "decoder_start_token_id", "forced_bos_token_id"])]:
        content = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**content, **dict.fromkeys(keys)}))
    done = tandem("import", folder, "--out", tmp_path / "in")
    assert done.returncode == 0, done.stderr


def test_import_takes_arrays_that_say_the_same_again(tandem, trained, tmp_path):
    """As older releases of transformers saved them: every name of a tied matrix, and the positions."""
    model = trained("norm=post")
    folder = exported(tandem, model, tmp_path / "out", "--format", "huggingface")
    theirs = transformers.MarianMTModel.from_pretrained(folder).model
    weights = safetensors_numpy.load_file(folder / "model.safetensors")
    for name in ("lm_head", "model.encoder.embed_tokens", "model.decoder.embed_tokens"):
        weights[f"{name}.weight"] = weights["model.shared.weight"].copy()
    for side, stack in (("encoder", theirs.encoder), ("decoder", theirs.decoder)):
        weights[f"model.{side}.embed_positions.weight"] = stack.embed_positions.weight.detach().numpy().copy()
    safetensors_numpy.save_file(weights, folder / "model.safetensors")
    done = tandem("import", folder, "--out", tmp_path / "in")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "in/model.safetensors").read_bytes()[-1000:] == (model / "model.safetensors").read_bytes()[-1000:]


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_import_takes_half_precision(tandem, trained, tmp_path, kind):
    folder = exported(tandem, trained("norm=post"), tmp_path / "out", "--format", "huggingface")
    whole = transformers.MarianMTModel.from_pretrained(folder)
    whole.to(getattr(torch, kind)).save_pretrained(tmp_path / "half")
    for name in ("vocab.json", "source.spm", "target.spm"):
        (tmp_path / "half" / name).write_bytes((folder / name).read_bytes())
    done = tandem("import", tmp_path / "half", "--out", tmp_path / "in")
    assert done.returncode == 0, done.stderr
    words = safetensors_numpy.load_file(tmp_path / "in/model.safetensors")["embedding.weight"]
    rounded = whole.model.shared.weight.detach().float().numpy()
    assert words.dtype == numpy.float32 and (words[:len(rounded)] == rounded).all()
