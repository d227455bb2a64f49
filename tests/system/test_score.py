"""tandem score against sacreBLEU: equal numbers, equal signatures, equal text; and bad input."""

import gzip
import json
import os
import random
import re
import subprocess
import sys
import unicodedata

import pytest
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International

TOKENIZERS = ["13a", "intl", "none"]
SEED = int(os.environ.get("TANDEM_TEST_SEED", "20240229"))

WORDS = (
    "der die das und Häuser über Straße größer Ärger naïve café don't it's 1.000 3,14 5-6 10-Euro 1984. "
    "U.S.A. e.g. x.y ... .. ,, .5 5. 7,a a,7 -3 3- Nord-Süd well- -ish „Zitat“ «guillemets» ‚a‘ \"quoted\" "
    "&quot; &amp; &lt; &gt; &amp;lt; &amp;quot; &apos; & &; <skipped> <b> </b> <SKIPPED> &QUOT; (hi) [x] {y} "
    "a/b a_b a^b ~ ` @home #tag $5 100% € £3 5€ +1 1+1=2 µ № ½ ² ٣ ٤٫٥ Ⅷ 日本語 中文。 한국어 ラーメン、 😀 👩‍👩‍👧 🇩🇪 ❤️ "
    "e\u0301 A\u030a o\u0308. ΌΔΟΣ ΣΑΣ ΑΣ. Σ ΑΣ\u0301 İstanbul I ẞ ǅ ﬁ 𝐀 𝟗.𝟗 ．，！ ¿qué? ¡ay! — – ‐ … · • "
    "zero\u200bwidth soft\u00adhyphen \ufeffbom nul\x00nul \x01 \ufffd"
).split(" ")
SPACES = ["\u00a0", "\t", "\u2028", "\u3000", "\x0b", "\x1c", "\x85", "\r", "  ", "\u200a", "\u180e"]
# Unicode tables differ between Python, regex and ICU only in code points that one of them does not know.
ASSIGNED = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]


def tricky_line(rng):
    if rng.random() < 0.05:
        return rng.choice(["", " ", "\t", "\u2028", "\r", ".", "-", "…", "😀"])
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, 25))]
    return "".join(w + (rng.choice(SPACES) if rng.random() < 0.08 else " ") for w in words)


def fuzzed_line(rng):
    pools = [ASSIGNED, "aäA.,-&;<>0 1 9", "ΑΣσς\u0301.' ", " \t\u2028\x1f\u00a0ab", "日本。、 a", "½²٣.,-1 "]
    return "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randint(0, 60))).replace("\n", "")


def corrupted(rng, line):
    """The line with some words changed, so that hypotheses and references share n-grams."""
    words = line.split(" ")
    for _ in range(rng.randint(0, 1 + len(words) // 4)):
        at = rng.randrange(len(words))
        change = rng.randrange(4)
        if change == 0:
            del words[at:at + 1]
        elif change == 1:
            words.insert(at, rng.choice(WORDS))
        elif change == 2:
            words[at] = words[at].swapcase()
        else:
            words[at] = words[at][::-1]
        words = words or [""]
    return " ".join(words)


def make_corpus(make_line, lines, refs, seed):
    rng = random.Random(seed)
    truth = [make_line(rng) for _ in range(lines)]
    return [[corrupted(rng, line) for line in truth] for _ in range(1 + refs)]


def write(path, lines, end="\n"):
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


def write_corpus(folder, texts):
    """Paths of the texts, and the lines as sacreBLEU's program reads them."""
    paths = [write(folder / f"text{i}", text) for i, text in enumerate(texts)]
    return paths, [[line.rstrip() for line in open(p, encoding="utf-8", newline="\n")] for p in paths]


def assert_equals_sacrebleu(tandem, paths, texts, tokenize, lowercase):
    options = ["--tokenize", tokenize] + ["--lowercase"] * lowercase
    done = tandem("score", *paths, *options, "--sentence", "--json")
    assert done.returncode == 0, done.stderr
    ours = json.loads(done.stdout)
    hyps, refs = texts[0], texts[1:]

    for name, metric, sentence_metric in [
        ("bleu", BLEU(tokenize=tokenize, lowercase=lowercase, force=True),
         BLEU(tokenize=tokenize, lowercase=lowercase, force=True, effective_order=True)),
        ("chrf", CHRF(lowercase=lowercase), CHRF(lowercase=lowercase)),
    ]:
        score = metric.corpus_score(hyps, refs)
        assert ours[name]["score"] == pytest.approx(score.score, abs=1e-9, rel=0)
        assert ours[name]["signature"] == str(metric.get_signature())
        for i, (hyp, *line_refs) in enumerate(zip(hyps, *refs)):
            expected = sentence_metric.sentence_score(hyp, line_refs).score
            got = ours["sentences"][i][name]
            assert got == pytest.approx(expected, abs=1e-9, rel=0), (name, i, hyp, line_refs)
        assert ours[name]["sentence_signature"] == str(sentence_metric.get_signature())
        if name == "bleu":
            assert ours[name]["precisions"] == pytest.approx(score.precisions, abs=1e-9, rel=0)
            assert ours[name]["bp"] == pytest.approx(score.bp, abs=1e-9, rel=0)
            assert (ours[name]["hyp_len"], ours[name]["ref_len"]) == (score.sys_len, score.ref_len)
    assert len(ours["sentences"]) == len(hyps)


def sacrebleu_text(hyp, refs, *options):
    """What sacreBLEU's own program prints."""
    command = [sys.executable, "-m", "sacrebleu", *map(str, refs), "-i", str(hyp), "-f", "text", *options]
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def test_the_signature_names_the_release_that_the_tests_compare_with(tandem, tmp_path):
    text = write(tmp_path / "a", ["one line"])
    assert f"version:{sacrebleu.__version__} " in tandem("score", text, text).stdout


@pytest.mark.parametrize("lowercase", [False, True], ids=["mixed", "lower"])
@pytest.mark.parametrize("tokenize", TOKENIZERS)
@pytest.mark.parametrize("make_line", [tricky_line, fuzzed_line])
@pytest.mark.parametrize("refs", [1, 3])
def test_random_corpora_score_as_with_sacrebleu(tandem, tmp_path, make_line, refs, tokenize, lowercase):
    print("seed", SEED)
    paths, texts = write_corpus(tmp_path, make_corpus(make_line, 400, refs, SEED + refs))
    assert_equals_sacrebleu(tandem, paths, texts, tokenize, lowercase)


@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_very_long_lines_score_as_with_sacrebleu(tandem, tmp_path, tokenize):
    rng = random.Random(SEED)
    long = [" ".join(tricky_line(rng) for _ in range(1500)), "ab" * 40_000]
    texts = [[corrupted(rng, line) for line in long] for _ in range(2)]
    paths, texts = write_corpus(tmp_path, texts)
    assert_equals_sacrebleu(tandem, paths, texts, tokenize, False)


@pytest.mark.parametrize("hyps,refs", [
    ([""], [""]), ([""], ["a b c d e"]), (["a b c d e"], [""]), (["a"], ["a"]), (["a b"], ["a b"]), (["x"], ["y"]),
    (["", "a b c d", ""], ["", "", "a b c d"]), (["a a a a a"], ["a a"]), (["a b c d"], ["a b c d e f g h"]),
    (["abcdef"], ["abc"]), (["abc"], ["abcdef"]), ([" \u2028 "], ["\t"]),
])
def test_corners_score_as_with_sacrebleu(tandem, tmp_path, hyps, refs):
    paths, texts = write_corpus(tmp_path, [hyps, refs])
    for tokenize in TOKENIZERS:
        assert_equals_sacrebleu(tandem, paths, texts, tokenize, False)


@pytest.mark.parametrize("width", ["1", "4"])
def test_the_text_is_that_of_sacrebleus_program(tandem, tmp_path, width):
    (hyp, *refs), _ = write_corpus(tmp_path, make_corpus(tricky_line, 60, 2, SEED))
    for options, theirs in [
        ([], ["-m", "bleu", "chrf"]),
        (["--metric", "bleu", "--tokenize", "intl", "--lowercase"], ["-m", "bleu", "-tok", "intl", "-lc"]),
        (["--metric", "chrf", "--lowercase"], ["-m", "chrf", "--chrf-lowercase"]),
        (["--metric", "bleu", "--sentence"], ["-m", "bleu", "-sl"]),
        (["--metric", "chrf", "--sentence"], ["-m", "chrf", "-sl"]),
    ]:
        ours = tandem("score", hyp, *refs, "--width", width, *options)
        assert ours.stdout == sacrebleu_text(hyp, refs, "-w", width, *theirs), options


def test_lines_are_read_as_sacrebleu_reads_them(tandem, tmp_path):
    """CRLF, white space at line ends, line separators inside lines, no newline at the end."""
    hyp, ref = tmp_path / "hyp", tmp_path / "ref"
    hyp.write_bytes("ein Haus\r\n  zwei Häuser \u2028\r\n\r\ndrei\u2028vier\x0bfünf\x85sechs\rsieben acht".encode())
    ref.write_bytes("ein Haus\nzwei Häuser\n\ndrei vier fünf sechs sieben\u3000acht\n".encode())
    for tokenize in TOKENIZERS:
        ours = tandem("score", hyp, ref, "--width", "9", "--tokenize", tokenize)
        assert ours.stdout == sacrebleu_text(hyp, [ref], "-w", "9", "-m", "bleu", "chrf", "-tok", tokenize)
        assert " = 100.000000000" in ours.stdout


def test_a_byte_order_mark_is_what_it_is_to_sacrebleu(tandem, tmp_path):
    """A character of the first word, also before a line end of Windows and a NUL."""
    plain = write(tmp_path / "plain", ["ein Haus am See", "zwei\x00drei", "", "vier"])
    marked = write(tmp_path / "marked", ["\ufeffein Haus am See", "zwei\x00drei", "\x00", "vier"], "\r\n")
    for hyp, ref in [(marked, plain), (plain, marked), (marked, marked)]:
        ours = tandem("score", hyp, ref, "--width", "9")
        assert ours.stdout == sacrebleu_text(hyp, [ref], "-w", "9", "-m", "bleu", "chrf"), (hyp, ref)


def test_every_known_code_point_has_the_class_that_regex_gives_it(tandem, tmp_path):
    """The number of words tells punctuation, symbol, number and white space from other characters."""
    lines = [f"a{c}b c{c}d 1{c}2 1{c} {c}.{c}" for c in ASSIGNED if c != "\n"]
    path = write(tmp_path / "lines", lines)
    printed = tandem("score", path, path, "--metric", "bleu", "--tokenize", "intl", "--sentence").stdout
    ours = [int(n) for n in re.findall(r"hyp_len = (\d+)", printed)]
    tokenizer = TokenizerV14International()
    tokenize = TokenizerV14International.__call__.__wrapped__  # without its cache
    expected = [len(tokenize(tokenizer, line.rstrip()).split()) for line in lines]
    assert len(ours) == len(expected)
    assert [line for line, a, b in zip(lines, ours, expected) if a != b] == []
    assert set(expected) == {5, 7, 8, 12, 14}  # number, other, white space, punctuation, symbol


def test_every_known_code_point_is_lowered_as_by_python(tandem, tmp_path):
    lines = [f"{c} X{c}Σ{c} XΣ{c}X" for c in ASSIGNED if c != "\n"]
    mixed = write(tmp_path / "mixed", lines)
    lower = write(tmp_path / "lower", [line.lower() for line in lines])
    options = ["--tokenize", "none", "--metric", "bleu", "--sentence", "--json"]
    scores = json.loads(tandem("score", mixed, lower, "--lowercase", *options).stdout)["sentences"]
    wrong = [line for line, score in zip(lines, scores) if abs(score["bleu"] - 100) > 1e-9]
    assert wrong == []
    scores = json.loads(tandem("score", mixed, lower, *options).stdout)["sentences"]
    assert max(score["bleu"] for score in scores) < 100  # without the option every line differs


def test_threads_do_not_change_the_output(tandem, tmp_path):
    paths, _ = write_corpus(tmp_path, make_corpus(tricky_line, 3000, 2, SEED))
    for options in [["--json"], ["--sentence"]]:
        outputs = {tandem("score", *paths, *options, "--threads", n).stdout for n in ("1", "2", "7")}
        assert len(outputs) == 1


def test_gzip_and_standard_input_are_read(tandem, tmp_path):
    hyps, refs = make_corpus(tricky_line, 50, 1, SEED)
    hyp, ref = write(tmp_path / "hyp", hyps), write(tmp_path / "ref", refs)
    (tmp_path / "ref.gz").write_bytes(gzip.compress(ref.read_bytes()))
    expected = tandem("score", hyp, ref).stdout
    assert "BLEU|" in expected
    assert tandem("score", hyp, tmp_path / "ref.gz").stdout == expected
    assert tandem("score", "-", ref, input=hyp.read_bytes().decode()).stdout == expected


def test_json_has_only_the_metrics_that_were_asked_for(tandem, tmp_path):
    text = write(tmp_path / "a", ["a b c d"])
    for metric, keys in [("bleu", {"bleu"}), ("chrf", {"chrf"}), ("both", {"bleu", "chrf"})]:
        assert set(json.loads(tandem("score", text, text, "--json", "--metric", metric).stdout)) == keys


def test_forgotten_detokenization_is_noticed(tandem, tmp_path):
    tokenized = write(tmp_path / "tokenized", ["das ist gut ."] * 100)
    fewer = write(tmp_path / "fewer", ["das ist gut ."] * 99 + ["das ist gut."])
    assert "not detokenized" in tandem("score", tokenized, fewer).stderr
    assert tandem("score", fewer, tokenized).stderr == ""


def assert_refused(done, *parts):
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


def test_bad_input_is_refused_by_name(tandem, tmp_path):
    three = write(tmp_path / "three", ["a", "b", "c"])
    four = write(tmp_path / "four", ["a", "b", "c", ""])
    empty = write(tmp_path / "empty", [])
    assert_refused(tandem("score", three, four), f"{three} has 3 lines", f"{four} has 4")
    assert_refused(tandem("score", three, three, four), f"{three} has 3 lines", f"{four} has 4")
    assert_refused(tandem("score", empty, empty), f"{empty} is empty")
    assert_refused(tandem("score", three, empty), f"{three} has 3 lines", f"{empty} has 0")
    assert_refused(tandem("score", three, tmp_path / "missing"), "missing")
    assert_refused(tandem("score", three, tmp_path), str(tmp_path))
    assert_refused(tandem("score", three), "REF")
    assert_refused(tandem("score", three, three, "--tokenize", "zh"), "zh", "13a")
    assert_refused(tandem("score", three, three, "--threads", "0"), "--threads")


@pytest.mark.parametrize("bytes_", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe2\x80"])
def test_invalid_utf8_is_refused_with_its_place(tandem, tmp_path, bytes_):
    good = write(tmp_path / "good", ["a", "b", "c"])
    bad = tmp_path / "bad"
    bad.write_bytes(b"a\nlong enough to be read in blocks " + bytes_ + b"\nc\n")
    with pytest.raises(UnicodeDecodeError):  # sacreBLEU refuses it, too
        bad.read_text(encoding="utf-8")
    assert_refused(tandem("score", bad, good), f"{bad}:2 is not valid UTF-8")
    assert_refused(tandem("score", good, bad), f"{bad}:2 is not valid UTF-8")


def test_standard_input_is_called_by_its_name_and_read_once(tandem, tmp_path):
    text = write(tmp_path / "text", ["one line"])
    for arguments, input, sentence in [((text, "-"), "a\nb\n", "but standard input has 2"), (("-", text), "a\nb\n", "standard input has 2 lines"),
                                       (("-", tmp_path / "text"), b"\xff\n", "standard input:1 is not valid UTF-8"),
                                       (("-", "-"), "a\n", "standard input can be read once only; name a file for one of them"),
                                       ((text, "-", "-"), "one line\n", "standard input can be read once only")]:
        done = tandem("score", *arguments, input=input)
        assert done.returncode == 2 and sentence in done.stderr, done.stderr
    write(tmp_path / "none", [])
    assert "tandem: standard input is empty" in tandem("score", "-", tmp_path / "none", input="").stderr
    assert tandem("score", "-", text, input="one line\n").returncode == 0
