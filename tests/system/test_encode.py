"""encode and decode against SentencePiece's own tools, for every kind of model."""

import os
import random
import select
import shutil
import subprocess

import pytest
import sentencepiece

SPM = shutil.which("spm_encode")


def text_lines(seed, count):
    """Lines of words and whatever else people put into text files."""
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters + "äöüß", k=rng.randint(1, 9))) for _ in range(400)]
    odd = ["½", "…", "ﬁ", "Ａ", "e\u0301", "\u00a0", "\u200b", "\u2028", "漢字", "🙂", "\t", "\r", "“", "”", "–", "«", "№",
           "\u2581", "▁▁", "<s>", "</s>", "<pad>", "&amp;", "1,000.50", "\u00ad", "İ", "ǅ", "\ufeff", "…"]
    lines = []
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(0, 25)):
            word = rng.choice(words)
            if rng.random() < 0.1:
                word = word.capitalize()
            if rng.random() < 0.04:
                word += rng.choice(odd)
            parts.append(word + rng.choice([" ", " ", " ", ", ", ". ", "  ", "-"]))
        lines.append("".join(parts))
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("encode")


@pytest.fixture(scope="module")
def training_text(folder):
    path = folder / "train.txt"
    path.write_text("\n".join(text_lines(1, 3000)) + "\n", encoding="utf-8")
    return path


MODELS = {
    "bpe": {"model_type": "bpe"},
    "unigram": {"model_type": "unigram"},
    "char": {"model_type": "char"},
    "word": {"model_type": "word"},
    "bpe_identity": {"model_type": "bpe", "normalization_rule_name": "identity"},
    "bpe_lower": {"model_type": "bpe", "normalization_rule_name": "nmt_nfkc_cf"},
    "bpe_spaces_kept": {"model_type": "bpe", "remove_extra_whitespaces": False},
    "bpe_no_prefix": {"model_type": "bpe", "add_dummy_prefix": False},
    "bpe_across_words": {"model_type": "bpe", "split_by_whitespace": False},
    "bpe_suffix": {"model_type": "bpe", "treat_whitespace_as_suffix": True},
    "bpe_user_symbols": {"model_type": "bpe", "user_defined_symbols": ["th", "ab c"]},
    "bpe_bytes": {"model_type": "bpe", "byte_fallback": True, "vocab_size": 700},
    "unigram_bytes": {"model_type": "unigram", "byte_fallback": True, "vocab_size": 700},
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, folder, training_text):
    prefix = folder / request.param
    options = {"vocab_size": 500, "hard_vocab_limit": False, "minloglevel": 2, "pad_id": 3, **MODELS[request.param]}
    if request.param == "word":
        options["vocab_size"] = 300
    sentencepiece.SentencePieceTrainer.train(input=str(training_text), model_prefix=str(prefix), **options)
    return prefix.with_suffix(".model")


def spm(tool, *arguments, data):
    done = subprocess.run([tool, *arguments], input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(SPM is None, reason="spm_encode is not installed (Debian package sentencepiece)")
@pytest.mark.parametrize("form", ["id", "piece"])
def test_encode_equals_spm_encode(tandem, model, form):
    data = ("\n".join(text_lines(2, 2000)) + "\n").encode()
    expected = spm("spm_encode", f"--model={model}", f"--output_format={form}", data=data)
    for threads in ("1", "3"):
        done = tandem("encode", "--vocab", model, "--threads", threads, *(["--ids"] if form == "id" else []), input=data)
        assert done.returncode == 0, done.stderr
        assert done.stdout.encode("utf-8", "surrogateescape") == expected


@pytest.mark.skipif(SPM is None, reason="spm_decode is not installed (Debian package sentencepiece)")
@pytest.mark.parametrize("form", ["id", "piece"])
def test_decode_equals_spm_decode(tandem, model, form):
    data = ("\n".join(line.replace("\r", "") for line in text_lines(3, 1000)) + "\n").encode()
    encoded = spm("spm_encode", f"--model={model}", f"--output_format={form}", data=data)
    expected = spm("spm_decode", f"--model={model}", f"--input_format={form}", data=encoded)
    done = tandem("decode", "--vocab", model, *(["--ids"] if form == "id" else []), input=encoded)
    assert done.returncode == 0, done.stderr
    assert done.stdout.encode("utf-8", "surrogateescape") == expected


@pytest.mark.skipif(SPM is None, reason="spm_encode is not installed (Debian package sentencepiece)")
def test_invalid_utf8_is_encoded_as_spm_encode_does(tandem, folder, model):
    rng = random.Random(4)
    data = b"".join(bytes(rng.choices([b for b in range(1, 256) if b != 10], k=rng.randint(0, 60))) + b"\n" for _ in range(500))
    expected = spm("spm_encode", f"--model={model}", "--output_format=id", data=data)
    assert tandem("encode", "--vocab", model, "--ids", input=data).stdout.encode() == expected


def test_python_sentencepiece_agrees(tandem, model):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    lines = [line.replace("\r", " ") for line in text_lines(5, 1000)]
    done = tandem("encode", "--vocab", model, "--ids", input="\n".join(lines) + "\n")
    ours = [[int(word) for word in line.split(" ") if word] for line in done.stdout.split("\n")[:-1]]
    assert ours == processor.encode(lines)


@pytest.fixture(scope="module")
def bpe(folder, training_text):
    prefix = folder / "plain"
    sentencepiece.SentencePieceTrainer.train(input=str(training_text), model_prefix=str(prefix), vocab_size=500,
                                             model_type="bpe", minloglevel=2)
    return prefix.with_suffix(".model")


def test_marks_are_explicit(tandem, bpe):
    assert tandem("encode", "--vocab", bpe, "--bos", "--eos", input="\n").stdout == "<s> </s>\n"
    assert tandem("encode", "--vocab", bpe, "--ids", "--eos", input="\n").stdout == "2\n"


def test_line_count_is_kept(tandem, bpe):
    for data, lines in [("", 0), ("\n", 1), ("a", 1), ("a\n\nb\n", 3), ("\n" * 1000, 1000)]:
        assert tandem("encode", "--vocab", bpe, input=data).stdout.count("\n") == lines


def test_bad_ids_name_the_line(tandem, bpe):
    for data, word in [("1 2\n3 x\n", '"x"'), ("1\n99999\n", "99999"), ("1\n-5\n", "-5")]:
        done = tandem("decode", "--vocab", bpe, "--ids", input=data)
        assert done.returncode == 2
        assert "line 2" in done.stderr and word in done.stderr and done.stderr.count("\n") == 1


def test_what_is_no_model_is_refused(tandem, bpe, training_text, tmp_path):
    cut = tmp_path / "cut.model"
    cut.write_bytes(bpe.read_bytes()[:1000])
    for path in (training_text, tmp_path / "absent.model", tmp_path, cut):
        done = tandem("encode", "--vocab", path, input="a\n")
        assert done.returncode == 2, path
        assert str(path) in done.stderr and done.stderr.count("\n") == 1


def test_a_full_disk_behind_standard_output_is_an_error(program, bpe):
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, "encode", "--vocab", bpe], input=b"a line of text\n" * 10000, stdout=full,
                              stderr=subprocess.PIPE)
    assert done.returncode == 3 and b"standard output" in done.stderr


def test_a_terminal_is_answered_line_by_line(program, bpe, tandem):
    expected = tandem("encode", "--vocab", bpe, input="a line\n").stdout.encode()
    outside, inside = os.openpty()
    process = subprocess.Popen([program, "encode", "--vocab", bpe], stdin=inside, stdout=subprocess.PIPE)
    os.close(inside)
    for line, answer in [(b"a line\n", expected), (b"\n", b"\n"), (b"a line\n", expected)]:
        os.write(outside, line)
        assert select.select([process.stdout], [], [], 60)[0], "no answer"
        assert process.stdout.readline() == answer
    os.write(outside, b"\x04")  # Ctrl-D
    assert process.wait(60) == 0
    os.close(outside)
