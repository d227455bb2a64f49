"""prepare and inspect: the real program on good and on bad text."""

import gzip
import json
import os
import random
import signal
import subprocess
import time

import pytest


def sentences(seed, count):
    rng = random.Random(seed)
    words = ["".join(rng.choices("abdegilnorstuü", k=rng.randint(2, 8))) for _ in range(300)]
    return [" ".join(rng.choices(words, k=rng.randint(3, 15))) + "." for _ in range(count)]


class Text:
    """Four files, and the command that prepares them."""

    def __init__(self, folder, pairs=500):
        self.folder = folder
        self.src, self.tgt = folder / "train.en", folder / "train.de"
        self.valid_src, self.valid_tgt = folder / "valid.en", folder / "valid.de"
        self.out = folder / "data"
        for seed, (path, count) in enumerate([(self.src, pairs), (self.tgt, pairs), (self.valid_src, 20), (self.valid_tgt, 20)]):
            path.write_text("\n".join(sentences(seed, count)) + "\n", encoding="utf-8")

    def command(self, *more, out=None):
        return ["prepare", "--src", self.src, "--tgt", self.tgt, "--valid-src", self.valid_src, "--valid-tgt",
                self.valid_tgt, "--out", out or self.out, "--vocab-size", "200", *more]

    def left_overs(self):
        """Folders, also hidden ones, that should not be there after a failure."""
        return [p.name for p in self.folder.iterdir() if p.is_dir()]


@pytest.fixture
def text(tmp_path):
    return Text(tmp_path)


def card_of(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(done, *words, code=2):
    """One clear sentence on standard error that names the place, and the right exit code."""
    assert done.returncode == code, done.stderr
    sentence = done.stderr.strip().split("\n")[-1]
    assert sentence.startswith("tandem: ")
    for word in words:
        assert str(word) in sentence, sentence


def test_the_card_tells_sizes_lines_and_tokens(tandem, text):
    card = card_of(tandem(*text.command("--json")))
    assert card["train"]["src"]["text_bytes"] == text.src.stat().st_size
    assert card["train"]["tgt"]["text_bytes"] == text.tgt.stat().st_size
    assert card["train"]["lines"] == 500
    assert card["train"]["pairs"] + sum(card["train"]["dropped"].values()) == 500
    assert sum(card["train"]["src"]["length_histogram"]) == card["train"]["pairs"]
    ids = tandem("encode", "--vocab", text.out / "vocab.model", "--ids", input=text.valid_src.read_bytes()).stdout.split()
    assert card["valid"]["src"]["tokens"] == len(ids)


def test_human_readable_card_and_inspect(tandem, text):
    done = tandem(*text.command())
    assert "500 lines" in done.stdout and "wrote" in done.stdout
    shown = tandem("inspect", text.out, "--verify", "--pairs", "2")
    assert shown.returncode == 0 and "sound" in shown.stdout and sentences(0, 1)[0] in shown.stdout
    assert json.loads(tandem("inspect", text.out, "--json").stdout)["kind"] == "dataset"
    assert json.loads(tandem("inspect", text.out / "vocab.model", "--json").stdout)["eos"] == 2


def test_gzip_gives_the_same_dataset(tandem, text):
    plain = card_of(tandem(*text.command("--json", out=text.folder / "plain")))
    for path in (text.src, text.tgt):
        path.write_bytes(gzip.compress(path.read_bytes()))
    packed = card_of(tandem(*text.command("--json")))
    assert packed["train"]["fingerprint"] == plain["train"]["fingerprint"]
    assert packed["train"]["src"]["text_bytes"] == plain["train"]["src"]["text_bytes"]


def test_a_given_vocabulary_is_used(tandem, text):
    first = card_of(tandem(*text.command("--json", out=text.folder / "first")))
    again = card_of(tandem(*text.command("--json", "--vocab", text.folder / "first/vocab.model")))
    assert again["vocab"]["hash"] == first["vocab"]["hash"] and again["vocab"]["trained_on_sentences"] == 0
    assert again["train"]["fingerprint"] == first["train"]["fingerprint"]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_vocabulary_opens_in_sentencepiece(tandem, text, kind):
    import sentencepiece
    card_of(tandem(*text.command("--json", "--vocab-type", kind)))
    processor = sentencepiece.SentencePieceProcessor(model_file=str(text.out / "vocab.model"))
    assert (processor.pad_id(), processor.bos_id(), processor.eos_id(), processor.unk_id()) == (0, 1, 2, 3)
    pieces = [line.split("\t")[0] for line in (text.out / "vocab.vocab").read_text(encoding="utf-8").splitlines()]
    assert pieces == [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


# --- bad text (faults.md 15) -----------------------------------------------------------------------------------------


def test_missing_and_unreadable_files(tandem, text):
    for option in ("src", "tgt", "valid_src", "valid_tgt"):
        path = getattr(text, option)
        saved = path.read_bytes()
        path.unlink()
        refused(tandem(*text.command()), path, "No such file")
        path.mkdir()
        refused(tandem(*text.command()), path, "directory")
        path.rmdir()
        path.write_bytes(saved)
    assert text.left_overs() == []


def test_unequal_line_counts_are_refused_before_any_work(tandem, text):
    for path in (text.tgt, text.valid_tgt):
        saved = path.read_text()
        count = len(saved.splitlines())
        path.write_text(saved + "one more\n")
        refused(tandem(*text.command()), path, count, count + 1)
        path.write_text(saved)
    assert text.left_overs() == []


def test_empty_files(tandem, text):
    text.src.write_text("")
    refused(tandem(*text.command()), text.src, "0 lines", "500")
    text.tgt.write_text("")
    refused(tandem(*text.command()), text.src, "empty")
    text.src.write_text("\n\n")
    text.tgt.write_text("\n\n")
    refused(tandem(*text.command()))
    assert text.left_overs() == []


@pytest.mark.parametrize("line, reason", [
    (b"\xff\xfe broken", "invalid_utf8"), (b"\xc0\xaf overlong", "invalid_utf8"), (b"\xed\xa0\x80 surrogate", "invalid_utf8"),
    (b"cut \xc3", "invalid_utf8"), (b"a \x00 b", "nul"), (b"", "empty"), (b" \t ", "empty"), (b"x" * (1 << 20) + b"y", "too_long"),
    (b"\xe2\x80\x8b", "empty"), (b" ".join([b"ab"] * 300), "too_long"), (b" ".join([b"abd"] * 80), "length_ratio"),
])
@pytest.mark.parametrize("side", ["src", "tgt"])
def test_bad_lines_are_left_out_in_pairs_and_counted(tandem, text, line, reason, side):
    before = card_of(tandem(*text.command("--json", out=text.folder / "before")))
    for name in ("src", "tgt"):
        path = getattr(text, name)
        lines = path.read_bytes().split(b"\n")
        lines.insert(250, line if name == side else b"fine")
        path.write_bytes(b"\n".join(lines))
    # With the vocabulary given, all else is equal to the byte.
    card = card_of(tandem(*text.command("--json", "--vocab", text.folder / "before/vocab.model")))
    assert card["train"]["dropped"][reason] == before["train"]["dropped"][reason] + 1
    assert card["train"]["fingerprint"] == before["train"]["fingerprint"]


def test_bom_crlf_and_missing_last_newline_change_nothing(tandem, text):
    before = card_of(tandem(*text.command("--json", out=text.folder / "before")))
    data = text.src.read_bytes()
    for variant in (b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data.rstrip(b"\n")):
        text.src.write_bytes(variant)
        card = card_of(tandem(*text.command("--json", "--replace")) if text.out.exists() else tandem(*text.command("--json")))
        assert card["train"]["fingerprint"] == before["train"]["fingerprint"]


def test_u2028_is_no_line_end(tandem, text):
    lines = text.src.read_text(encoding="utf-8").split("\n")
    lines[3] += "\u2028and more\u0085"
    text.src.write_text("\n".join(lines), encoding="utf-8")
    assert card_of(tandem(*text.command("--json")))["train"]["lines"] == 500


def test_a_line_of_100_mb_does_not_fill_the_memory(measured, text, sanitized):
    usual = measured(*text.command("--json", out=text.folder / "usual"))
    for path in (text.src, text.tgt):
        with open(path, "ab") as file:
            file.write((b"word " * 200_000 * 100 if path == text.src else b"short") + b"\n")
    done = measured(*text.command("--json"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["train"]["dropped"]["too_long"] == 1
    if not sanitized:
        assert done.peak_rss_bytes < usual.peak_rss_bytes + 200e6


def test_a_gzip_file_cut_short_is_refused(tandem, text):
    packed = gzip.compress(text.src.read_bytes())
    for size in (20, len(packed) // 2, len(packed) - 1):
        text.src.write_bytes(packed[:size])
        refused(tandem(*text.command()), text.src, "gzip")
    text.src.write_bytes(packed[:100] + b"\x00\x01\x02" + packed[103:])
    refused(tandem(*text.command()), text.src, "gzip")
    assert text.left_overs() == []


def test_a_tsv_line_without_a_tab_is_counted(tandem, text):
    tsv = text.folder / "train.tsv"
    tsv.write_text("".join(f"{a}\t{b}\n" for a, b in zip(sentences(0, 500), sentences(1, 500))) + "no tab here\n")
    card = card_of(tandem("prepare", "--tsv", tsv, "--valid-src", text.valid_src, "--valid-tgt", text.valid_tgt, "--out",
                          text.out, "--vocab-size", "200", "--json"))
    assert card["train"]["dropped"]["no_tab"] == 1


def test_fuzzed_text_never_crashes(tandem, text):
    rng = random.Random(20)
    for round_number in range(5):
        for path in (text.src, text.tgt):
            lines = path.read_bytes().split(b"\n")[:500]
            for _ in range(250):
                lines[rng.randrange(500)] = bytes(b for b in rng.randbytes(rng.randrange(200)) if b != 10)
            path.write_bytes(b"\n".join(lines) + b"\n")
        card = card_of(tandem(*text.command("--json", out=text.folder / f"data{round_number}")))
        assert card["train"]["pairs"] + sum(card["train"]["dropped"].values()) == card["train"]["lines"] == 500
        assert tandem("inspect", text.folder / f"data{round_number}", "--verify").returncode == 0


# --- bad arguments and vocabularies (faults.md 16) -------------------------------------------------------------------


def test_wrong_arguments(tandem, text):
    refused(tandem("prepare", "--src", text.src, "--tgt", text.tgt, "--out", text.out), "--valid-src")
    refused(tandem("prepare", "--src", text.src, "--out", text.out), "--tgt")
    refused(tandem(*text.command("--vocab-size", "many")), "many")
    refused(tandem(*text.command("--threads", "0")), "--threads")
    refused(tandem(*text.command("--vocab-type", "words")), "bpe")
    refused(tandem(*text.command("--nonsense")), "--nonsense")
    assert tandem("prepare", "--help").returncode == 0


def test_an_existing_dataset_is_kept_unless_told(tandem, text):
    card_of(tandem(*text.command("--json")))
    before = (text.out / "card.json").read_bytes()
    refused(tandem(*text.command()), text.out, "name another folder or add --replace")
    assert (text.out / "card.json").read_bytes() == before
    card_of(tandem(*text.command("--json", "--replace")))
    other = text.folder / "other"
    other.mkdir()
    thesis = other / "thesis.txt"
    thesis.write_text("years of work")
    done = tandem(*text.command(out=other))
    refused(done, other, "name another folder")
    assert "--replace" not in done.stderr
    refused(tandem(*text.command("--replace", out=other)), other, "no dataset", "name another folder")
    assert thesis.read_text() == "years of work" and not (text.folder / ".other.partial").exists()
    thesis.unlink()  # where nothing is lost
    card_of(tandem(*text.command("--json", "--replace", out=other)))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_cores_of_a_machine_do_not_change_the_dataset(tandem, text, kind):
    cores = os.sched_getaffinity(0)
    command = text.command("--json", "--vocab-type", kind)
    try:
        os.sched_setaffinity(0, {min(cores)})  # which the program inherits
        one = card_of(tandem(*command))
    finally:
        os.sched_setaffinity(0, cores)
    for options in ([], ["--threads", "5"]):
        assert card_of(tandem(*command, "--replace", *options)) == one


def test_a_vocabulary_of_another_size_than_asked_for_is_told(tandem, text):
    text.src.write_text("".join(f"{a} {b}\n" for a in "abcdef" for b in "abcdef"))
    text.tgt.write_text("".join(f"{b}{a}\n" for a in "abcdef" for b in "abcdef"))
    files = ["--src", text.src, "--tgt", text.tgt, "--valid-src", text.valid_src, "--valid-tgt", text.valid_tgt]
    asked = tandem("prepare", *files, "--json", "--out", text.out, "--vocab-size", 80000)
    size = card_of(asked)["vocab"]["size"]
    assert size < 200
    assert asked.stderr == (f"tandem: warning: the vocabulary has {size} pieces and not 80000 (--vocab-size): "
                            "the text does not give more\n")
    for i, options in enumerate([[], ["--vocab-size", size], ["--vocab", text.out / "vocab.model"]]):
        done = tandem("prepare", *files, "--json", "--out", text.folder / f"other{i}", *options)
        assert card_of(done)["vocab"]["size"] == size and done.stderr == ""
    given = tandem("prepare", *files, "--json", "--out", text.folder / "given", "--vocab", text.out / "vocab.model", "--vocab-size", 500)
    assert card_of(given)["vocab"]["size"] == size and "it was given" in given.stderr


def test_wrong_vocabularies(tandem, text, tmp_path):
    refused(tandem(*text.command("--vocab", text.src)), text.src, "SentencePiece")
    import sentencepiece
    for name, options in {"no_bos": {"bos_id": -1}, "no_eos": {"eos_id": -1}}.items():
        sentencepiece.SentencePieceTrainer.train(input=str(text.src), model_prefix=str(tmp_path / name), vocab_size=100,
                                                 model_type="bpe", minloglevel=2, **options)
        refused(tandem(*text.command("--vocab", tmp_path / f"{name}.model")), f"{name}.model", "<s>")
    refused(tandem(*text.command("--vocab-size", "9")), "--vocab-size")
    assert text.left_overs() == []


def test_a_vocabulary_of_openseq2seq_is_taken_over(tandem, text, tmp_path):
    """Made as its tokenizer_wrapper.py does: the end of a sentence is 1 and its begin 2."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="scripts/setup --tests installs it")
    sentencepiece.SentencePieceTrainer.train(
        f"--input={text.src},{text.tgt} --model_type=bpe --model_prefix={tmp_path}/m_common --vocab_size=200 --pad_id=0 --eos_id=1 "
        "--bos_id=2 --unk_id=3 --character_coverage=1.0 --minloglevel=2")
    model = tmp_path / "m_common.model"
    card = card_of(tandem(*text.command("--json", "--vocab", model)))
    assert [card["vocab"][name] for name in ("pad", "bos", "eos", "unk", "size")] == [0, 2, 1, 3, 200]
    # Old files of subwords become text again, and text the same subwords.
    line = sentences(0, 1)[0]
    pieces = " ".join(sentencepiece.SentencePieceProcessor(model_file=str(model)).encode(line, out_type=str))
    assert tandem("decode", "--vocab", model, input=pieces + "\n").stdout == line + "\n"
    assert tandem("encode", "--vocab", model, input=line + "\n").stdout == pieces + "\n"

    train = tandem("train", f"data.path={text.out}", f"run={tmp_path}/run", "model.preset=tiny", "batch.tokens=600", "eval.every=0",
                   "stop.steps=2", "optim.lr=0.01", env={"OMP_NUM_THREADS": "1"})
    assert train.returncode == 0, train.stderr
    done = tandem("translate", "--model", tmp_path / "run", "--beam", "2", "--nbest", "2", "--json", input=line + "\n")
    assert done.returncode == 0, done.stderr
    exported = tandem("export", "--model", tmp_path / "run", "--format", "ctranslate2", "--out", tmp_path / "ct2")
    assert exported.returncode == 0, exported.stderr
    config = json.loads((tmp_path / "ct2/config.json").read_text())
    assert (config["bos_token"], config["eos_token"], config["decoder_start_token"]) == ("<s>", "</s>", "<s>")


def test_an_exchanged_vocabulary_of_equal_size_is_found(tandem, text):
    """Ten vocabularies of the same size in another order: each is refused by its hash."""
    card_of(tandem(*text.command("--json")))
    import sentencepiece
    own = text.out / "vocab.model"
    saved = own.read_bytes()
    for seed in range(10):
        other = text.folder / "other.txt"
        other.write_text("\n".join(sentences(100 + seed, 500)), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(input=str(other), model_prefix=str(text.folder / "other"), vocab_size=200,
                                                 model_type="bpe", minloglevel=2, pad_id=0, bos_id=1, eos_id=2, unk_id=3)
        own.write_bytes((text.folder / "other.model").read_bytes())
        refused(tandem("inspect", text.out, "--verify"), "vocab.model")
    own.write_bytes(saved)
    assert tandem("inspect", text.out, "--verify").returncode == 0


def test_flipped_bits_are_named_by_the_program(tandem, text):
    """A few here; some 500 more, in every file, in prepare_test.cpp, where each costs milliseconds."""
    card_of(tandem(*text.command("--json")))
    rng = random.Random(16)
    files = sorted(text.out.iterdir())
    for _ in range(30):
        path = rng.choice(files)
        data = bytearray(path.read_bytes())
        bit = rng.randrange(len(data) * 8)
        data[bit // 8] ^= 1 << bit % 8
        saved = path.read_bytes()
        path.write_bytes(data)
        refused(tandem("inspect", text.out, "--verify"), text.out)
        path.write_bytes(saved)


def test_inspect_of_other_things(tandem, text):
    refused(tandem("inspect", text.folder), text.folder, "card.json")
    refused(tandem("inspect", text.folder / "absent"), "absent")
    refused(tandem("inspect", text.src), text.src)


# --- the machine's failures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1 << 14, 1 << 15, 1 << 16, 100_000, 1 << 17])
def test_a_full_disk_leaves_nothing(program, small_disk, tmp_path, size):
    text = Text(tmp_path, pairs=3000)
    disk = small_disk(size)
    done = disk.run(program, *text.command(out=disk.path / "data"))
    refused(done, "No space left on device", code=3)
    assert list(disk.view.iterdir()) == []


def test_a_folder_that_cannot_be_written(tandem, text):
    refused(tandem(*text.command(out="/proc/data")), "/proc", code=3)
    blocked = text.folder / "file"
    blocked.write_text("")
    refused(tandem(*text.command(out=blocked / "data")), f"{blocked}: it is not a directory")


def test_threads_that_the_system_refuses(program, tandem, text, sanitized):
    """Counting and encoding do with fewer; training and its display do not."""
    if sanitized:
        pytest.skip("sanitizers have threads of their own")
    another = ["setpriv", f"--reuid={100_000 + os.getpid()}", "--clear-groups", "--inh-caps=+dac_override",
               "--ambient-caps=+dac_override"]  # root has no limit; another user may read and write here, too
    if subprocess.run([*another, "true"], capture_output=True).returncode:
        pytest.skip("needs root: becomes a user without other processes")
    first = text.folder / "first"
    card_of(tandem(*text.command("--json", out=first)))
    given = ["--vocab", first / "vocab.model", "--threads", "8"]
    for options, most, code in [(given, 2, 0), (given, 5, 0), (["--threads", "8"], 3, 0), (["--threads", "8"], 2, 3),
                                (["--vocab-type", "unigram", "--threads", "1"], 9, 3)]:
        done = subprocess.run([*another, "prlimit", f"--nproc={most}", program, *text.command("--replace", *options)], text=True,
                              capture_output=True)
        if code == 0:
            assert done.returncode == 0, done.stderr
            assert (text.out / "train.tokens").read_bytes() == (first / "train.tokens").read_bytes()
        else:
            refused(done, "cannot start a thread", "limit", code=code)
        assert sorted(text.left_overs()) == ["data", "first"]


@pytest.mark.parametrize("sign, code", [(signal.SIGINT, 75), (signal.SIGTERM, 75), (signal.SIGKILL, -9)])
def test_interrupted_it_leaves_no_half_dataset(program, tandem, tmp_path, sign, code):
    text = Text(tmp_path, pairs=60_000)
    # A unigram model is encoded line by line: slow enough to be met in the middle.
    child = subprocess.Popen([program, *text.command("--vocab-type", "unigram", "--threads", "1")], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    staging = text.folder / ".data.partial"
    deadline = time.monotonic() + 60
    while not (staging / "train.tokens").exists() and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(sign)
    child.communicate()
    assert child.returncode == code
    assert not text.out.exists()
    assert staging.exists() == (sign == signal.SIGKILL)
    # The next one cleans up and succeeds.
    card_of(tandem(*text.command("--json")))
    assert not staging.exists() and tandem("inspect", text.out, "--verify").returncode == 0


def test_a_signal_while_the_vocabulary_is_trained_is_answered(program, tmp_path):
    text = Text(tmp_path)
    rng = random.Random(1)
    for path in (text.src, text.tgt):  # no word twice: a vocabulary of many pieces takes a while
        path.write_text("".join("".join(rng.choices("abdegilnorstuü ", k=150)) + "\n" for _ in range(20_000)))
    command = ["30000" if part == "200" else part for part in text.command("--threads", "1")]
    child = subprocess.Popen([program, *command], stderr=subprocess.PIPE, text=True)
    assert child.stderr.readline().startswith("training a vocabulary")
    child.send_signal(signal.SIGINT)
    told = time.monotonic()
    assert child.stderr.readline() == "tandem: stops when the vocabulary is trained; Ctrl-C again ends it at once\n"
    assert time.monotonic() - told < 2
    time.sleep(0.6)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=2)
    assert child.returncode == -signal.SIGINT and not text.out.exists()


def test_two_at_once_do_not_mix(program, tmp_path):
    text = Text(tmp_path, pairs=20_000)
    children = [subprocess.Popen([program, *text.command("--vocab-type", "unigram")], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) for _ in range(3)]
    codes = sorted((child.communicate(), child.returncode)[1] for child in children)
    assert codes == [0, 2, 2]
    assert not (text.folder / ".data.partial").exists()


def test_progress_is_shown_when_it_takes_long(program, tmp_path):
    text = Text(tmp_path, pairs=200)
    done = subprocess.run([program, *text.command()], capture_output=True)
    assert done.returncode == 0 and done.stderr == b""  # a quick job says nothing
