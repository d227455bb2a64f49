"""translate and evaluate: the real program with a small model that knows some pairs by heart."""

import json
import os
import pty
import select
import shutil
import subprocess
import time

import pytest
import sacrebleu

SRC = ["a small dog runs.", "two men sit on a bench.", "the girl reads a book.", "no.", "a red car stands in the street.",
       "the children play in the garden.", "a woman drinks coffee.", "the old man sleeps."]
TGT = ["ein kleiner Hund rennt.", "zwei Männer sitzen auf einer Bank.", "das Mädchen liest ein Buch.", "nein.",
       "ein rotes Auto steht auf der Straße.", "die Kinder spielen im Garten.", "eine Frau trinkt Kaffee.",
       "der alte Mann schläft."]


def lines(texts):
    return "".join(text + "\n" for text in texts)


@pytest.fixture(scope="module")
def model(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("translate")
    (folder / "src").write_text(lines(SRC))
    (folder / "tgt").write_text(lines(TGT))
    subprocess.run([program.parent / "tandem_make_model", folder / "src", folder / "tgt", folder / "model"], check=True,
                   capture_output=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"})  # more would wait for each other on a busy machine
    return folder / "model"


def test_a_line_for_a_line(tandem, model):
    source = [SRC[i * 3 % len(SRC)] if i % 5 else "" for i in range(300)]
    expected = [TGT[i * 3 % len(TGT)] if i % 5 else "" for i in range(300)]
    for options in ([], ["--threads", 1], ["--beam", 1], ["--batch-tokens", 1], ["--chunk", 7], ["--weights", "int8"]):
        done = tandem("translate", "--model", model, *options, input=lines(source))
        assert done.returncode == 0 and done.stderr == ""
        assert done.stdout == lines(expected)


def test_weights_of_8_bits_change_scores_a_little(tandem, model):
    exact, rounded = (tandem("translate", "--model", model, "--json", "--nbest", 2, "--weights", kind, input=lines(SRC)).stdout.splitlines()
                      for kind in ("float32", "int8"))
    differences = [abs(a["score"] - b["score"]) for one, other in zip(exact, rounded)
                   for a, b in zip(json.loads(one)["hypotheses"][:1], json.loads(other)["hypotheses"][:1])]
    assert len(differences) == len(SRC)
    assert 0 < max(differences) < 0.3


@pytest.mark.parametrize("data, count", [("", 0), ("\n", 1), ("no.", 1), ("no.\r\n\n\nno.\n", 4), ("\n" * 100, 100)])
def test_line_count_is_kept(tandem, model, data, count):
    assert tandem("translate", "--model", model, input=data).stdout.count("\n") == count


def test_long_lines_are_translated_in_parts_and_named(tandem, model):
    together = " ".join(SRC)
    done = tandem("translate", "--model", model, input=f"no.\n{together}\n")
    assert done.returncode == 0
    assert "line 2 has" in done.stderr and "parts" in done.stderr and "line 1 " not in done.stderr
    first, second = done.stdout.splitlines()
    assert first == "nein."
    assert sacrebleu.sentence_chrf(second, [" ".join(TGT)]).score > 30  # nothing is lost, seams may be rough
    endless = tandem("translate", "--model", model, "--beam", 1, input="a" * 20000 + "\nno.\n")
    assert endless.returncode == 0 and endless.stdout.count("\n") == 2 and endless.stdout.endswith("nein.\n")


def test_lines_that_are_no_utf8_are_named_and_translated(tandem, model):
    done = tandem("translate", "--model", model, input=b"no.\n\xff\xfe broken\nno.\n")
    assert done.returncode == 0
    assert "line 2 is not valid UTF-8" in done.stderr
    out = done.stdout.splitlines()
    assert len(out) == 3 and out[0] == out[2] == "nein."


def test_json_holds_the_hypotheses(tandem, model):
    done = tandem("translate", "--model", model, "--json", "--nbest", 3, input=lines(SRC[:2] + [""]))
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert [o["text"] for o in objects] == [*TGT[:2], ""]
    for o in objects[:2]:
        assert len(o["hypotheses"]) == 3 and o["hypotheses"][0]["text"] == o["text"]
        scores = [h["score"] for h in o["hypotheses"]]
        assert scores == sorted(scores, reverse=True) and scores[0] <= 0
        assert "".join(o["hypotheses"][0]["tokens"]).replace("▁", " ").strip() == o["text"]
    assert objects[2]["hypotheses"] == [{"text": "", "score": 0.0, "tokens": []}]


def test_scores_and_n_best_lists(tandem, model):
    scored = tandem("translate", "--model", model, "--scores", input=lines(SRC)).stdout.splitlines()
    assert [line.split("\t")[1] for line in scored] == TGT
    assert all(float(line.split("\t")[0]) <= 0 for line in scored)
    listed = tandem("translate", "--model", model, "--nbest", 2, input=lines(SRC)).stdout.splitlines()
    fields = [line.split(" ||| ") for line in listed]
    assert [int(f[0]) for f in fields] == [i // 2 for i in range(2 * len(SRC))]
    assert [f[1] for f in fields[::2]] == TGT


def test_a_stream_is_answered_line_by_line(program, model):
    with subprocess.Popen([program, "translate", "--model", model, "--chunk", "1"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        for source, target in list(zip(SRC, TGT))[:3]:
            process.stdin.write(source + "\n")
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 60)[0], "no answer while the stream is open"
            assert process.stdout.readline() == target + "\n"
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_terminal_gets_a_prompt(program, model):
    outside, inside = pty.openpty()
    process = subprocess.Popen([program, "translate", "--model", model], stdin=inside, stdout=inside, stderr=inside)
    os.close(inside)
    seen = b""

    def read_until(text):
        nonlocal seen
        until = time.monotonic() + 60
        while text not in seen and time.monotonic() < until:
            if select.select([outside], [], [], 0.2)[0]:
                seen += os.read(outside, 4096)
        assert text in seen, seen
        seen = seen.split(text, 1)[1]

    read_until(b"> ")
    os.write(outside, SRC[1].encode() + b"\n")
    read_until(TGT[1].encode())
    read_until(b"> ")
    os.write(outside, b"\n")  # an empty line is no end
    read_until(b"> ")
    os.write(outside, b"\x04")  # Ctrl-D
    assert process.wait(60) == 0
    os.close(outside)


def test_scores_of_evaluate_are_sacrebleus(tandem, model, tmp_path):
    # References that are half right, so that the scores say something.
    refs = [TGT[i] if i % 2 else TGT[i].replace("ein", "der").upper() for i in range(len(TGT))]
    (tmp_path / "src").write_text(lines(SRC))
    (tmp_path / "ref").write_text(lines(refs))
    for options, lowercase in ([], False), (["--lowercase"], True):
        done = tandem("evaluate", "--model", model, "--src", tmp_path / "src", "--ref", tmp_path / "ref", "--json", "--out",
                      tmp_path / "hyp", *options)
        assert done.returncode == 0, done.stderr
        scores = json.loads(done.stdout)
        hyps = (tmp_path / "hyp").read_text().splitlines()
        bleu = sacrebleu.corpus_bleu(hyps, [refs], lowercase=lowercase)
        metric = sacrebleu.CHRF(lowercase=lowercase)
        assert hyps == TGT and 5 < bleu.score < 100
        assert scores["bleu"]["score"] == pytest.approx(bleu.score, abs=1e-9)
        assert scores["chrf"]["score"] == pytest.approx(metric.corpus_score(hyps, [refs]).score, abs=1e-9)
        assert "tok:13a" in scores["bleu"]["signature"] and f"case:{'lc' if lowercase else 'mixed'}" in scores["bleu"]["signature"]
        score = tandem("score", tmp_path / "hyp", tmp_path / "ref", "--json", *options)
        assert json.loads(score.stdout)["bleu"]["signature"] == scores["bleu"]["signature"]
    plain = tandem("evaluate", "--model", model, "--src", tmp_path / "src", "--ref", tmp_path / "ref")
    assert plain.stdout == tandem("score", tmp_path / "hyp", tmp_path / "ref").stdout


@pytest.mark.parametrize("out", ["src", "ref", "link"])
def test_evaluate_does_not_overwrite_the_texts_it_reads(tandem, model, tmp_path, out):
    src, ref = tmp_path / "src", tmp_path / "ref"
    src.write_text(lines(SRC))
    ref.write_text(lines(TGT))
    (tmp_path / "link").symlink_to(ref)
    done = tandem("evaluate", "--model", model, "--src", src, "--ref", ref, "--out", tmp_path / out)
    assert done.returncode == 2 and f"--out {tmp_path / out} is the same file as " in done.stderr, done.stderr
    assert src.read_text() == lines(SRC) and ref.read_text() == lines(TGT) and (tmp_path / "link").is_symlink()


def test_evaluate_calls_standard_input_by_its_name(tandem, model, tmp_path):
    (tmp_path / "ref").write_text(lines(TGT))
    done = tandem("evaluate", "--model", model, "--src", "-", "--ref", tmp_path / "ref", input="no.\n")
    assert done.returncode == 2 and "standard input has 1 lines but" in done.stderr
    done = tandem("evaluate", "--model", model, "--src", "-", "--ref", "-", input="no.\n")
    assert done.returncode == 2 and "standard input can be read once only" in done.stderr


def test_a_run_directory_names_its_model(tandem, model, tmp_path):
    shutil.copytree(model, tmp_path / "run/best/val_loss=0.5000-step-20")
    assert tandem("translate", "--model", tmp_path / "run", input="no.\n").stdout == "nein.\n"


def refused(done, *words):
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert str(word) in done.stderr


def test_what_is_no_model_is_refused(tandem, model, tmp_path):
    refused(tandem("translate", "--model", tmp_path / "absent", input="a\n"), tmp_path / "absent")
    refused(tandem("translate", "--model", tmp_path, input="a\n"), tmp_path, "no model")
    for name, data in ("model.safetensors", (model / "model.safetensors").read_bytes()[:5000]), ("vocab.model", b"x" * 99), \
            ("config.yaml", b"modle: 1\n"):
        broken = shutil.copytree(model, tmp_path / f"broken-{name}")
        (broken / name).write_bytes(data)
        refused(tandem("translate", "--model", broken, input="a\n"), broken / name)


def test_bad_options_are_refused(tandem, model, tmp_path):
    refused(tandem("translate", "--model", model, "--nbest", 5, input="a\n"), "--beam 5")
    (tmp_path / "two").write_text("a\nb\n")
    (tmp_path / "three").write_text("a\nb\nc\n")
    (tmp_path / "none").write_text("")
    refused(tandem("evaluate", "--model", model, "--src", tmp_path / "two", "--ref", tmp_path / "three"), "two", "three")
    refused(tandem("evaluate", "--model", model, "--src", tmp_path / "none", "--ref", tmp_path / "none"), "empty")


def test_a_closed_output_is_an_error(program, model):
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, "translate", "--model", model], input=b"no.\n", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3 and b"standard output" in done.stderr


def test_a_byte_order_mark_is_not_translated(tandem, model, tmp_path):
    (tmp_path / "src").write_text(lines(SRC))
    (tmp_path / "ref").write_text(lines(TGT))
    (tmp_path / "marked").write_text("\ufeff" + lines(SRC))
    for name in ("src", "marked"):
        done = tandem("evaluate", "--model", model, "--src", tmp_path / name, "--ref", tmp_path / "ref", "--out", tmp_path / f"{name}.out")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "marked.out").read_text() == (tmp_path / "src.out").read_text() == lines(TGT)
