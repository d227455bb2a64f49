"""Options and paths as people mistype them: one sentence that names them, and exit code 2."""

import os
import shutil
import subprocess

import pytest
from journal_text import journal_lines, write_run
from test_translate import SRC, lines, model  # noqa: F401

TOO_LONG = "x" * 300


def refused(done, *words):
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert done.stderr.startswith("tandem: ") and done.stderr.count("\n") == 1, done.stderr
    assert "filesystem error" not in done.stderr
    for word in words:
        assert str(word) in done.stderr, done.stderr


@pytest.mark.parametrize("command, meant", [
    (["score", "--jsn", "a", "b"], "--json"), (["score", "-json", "a", "b"], "--json"), (["score", "a", "b", "--widht=3"], "--width"),
    (["average", "--rnu", "r", "--out", "o"], "--run"),  # and not only that --run is missing
    (["prepare", "--vocabsize", "8000"], "--vocab-size"), (["translate", "--bean", "4"], "--beam"), (["--verison"], "--version"),
])
def test_a_mistyped_option_is_answered_with_the_nearest_one(tandem, command, meant):
    mistyped = next(word for word in command if word.startswith("-")).split("=")[0]
    refused(tandem(*command), f'there is no option "{mistyped}" (did you mean "{meant}"?)')


@pytest.mark.parametrize("command, named", [
    (["-x"], '"-x"'), (["--qqqqqq"], '"--qqqqqq"'), (["-x", "score", "a", "b"], '"-x"'), (["score", "-q", "a", "b"], '"-q"'),
    (["score", "a", "b", "--qqqqqq"], '"--qqqqqq"'),
])
def test_an_option_like_no_other_is_named(tandem, command, named):
    done = tandem(*command)
    refused(done, f"there is no option {named};", "--help explains")
    assert "did you mean" not in done.stderr


def test_an_argument_too_many_is_named(tandem):
    refused(tandem("watch", "a", "b"), '"b" was not expected; tandem watch --help')
    refused(tandem("average", "a"), '"a" was not expected')


def test_what_is_missing_is_still_told(tandem):
    refused(tandem("average", "--out", "o"), "--run is required")
    refused(tandem("score", "a"), "REF is required")


@pytest.mark.parametrize("command", [
    ["report", TOO_LONG], ["watch", TOO_LONG], ["watch", "--json", TOO_LONG], ["inspect", TOO_LONG], ["score", TOO_LONG, "-"],
    ["export-log", TOO_LONG], ["import", "x", "--out", TOO_LONG], ["translate", "--model", TOO_LONG],
], ids=lambda command: command[0])
def test_a_name_that_is_too_long_is_the_users_mistake(tandem, command):
    refused(tandem(*command), TOO_LONG)


def test_a_dataset_without_one_of_its_files_is_the_users_mistake(tandem, reversed_words):
    data = reversed_words(60) / "data"
    (data / "valid.tokens").unlink()
    for options in ([], ["--verify"]):
        refused(tandem("inspect", data, *options), data / "valid.tokens")


@pytest.fixture(scope="module")
def data(reversed_words):
    return reversed_words(60) / "data"


@pytest.mark.parametrize("name, words", [(TOO_LONG, ["File name too long"]), ("file", ["file", "is not a directory"]),
                                         ("file/run", ["file", "is not a directory"])], ids=["long", "file", "below a file"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_can_have_no_folder_is_the_users_mistake(tandem, data, tmp_path, name, words, workers):
    (tmp_path / "file").write_text("")
    done = tandem("train", f"data.path={data}", f"run={tmp_path / name}", "model.preset=tiny", "batch.tokens=600", "stop.steps=1",
                  "--workers", workers)
    assert done.returncode == 2, done.stderr
    sentences = done.stderr.strip().splitlines()
    assert "filesystem error" not in done.stderr and any(all(word in line for word in [name, *words]) for line in sentences), done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def test_a_checkpoint_with_a_name_too_long_is_the_users_mistake(tandem, data, tmp_path):
    done = tandem("train", f"data.path={data}", f"run={tmp_path / 'run'}", "model.preset=tiny", "batch.tokens=600", "--resume", TOO_LONG)
    refused(done, "--resume", "File name too long")


def test_average_and_export_need_a_name_that_can_be(tandem, model, tmp_path):  # noqa: F811
    run = tmp_path / "run"
    shutil.copytree(model, run / "best/val_loss=0.5000-step-20")
    (tmp_path / "file").write_text("")
    for verb in (["average", "--run"], ["export", "--model"]):
        refused(tandem(*verb, run, "--out", tmp_path / TOO_LONG), TOO_LONG)
        refused(tandem(*verb, run, "--out", tmp_path / "file/out"), f"{tmp_path / 'file'}: it is not a directory")


def test_get_into_a_file_is_the_users_mistake(tandem, tmp_path):
    (tmp_path / "file").write_text("")
    refused(tandem("get", "multi30k", "--out", tmp_path / "file"), f"{tmp_path / 'file'}: it is not a directory")
    refused(tandem("get", "multi30k", "--out", tmp_path / TOO_LONG), "File name too long")


def test_evaluate_knows_before_the_work_that_it_cannot_write(tandem, model, tmp_path):  # noqa: F811
    (tmp_path / "file").write_text(lines(SRC))
    (tmp_path / "folder").mkdir()
    for out, words in (("folder", "it is a directory, not a file"), ("absent/hyp", "there is no folder"), (TOO_LONG, "too long"),
                       ("file/hyp", "file is not a directory")):
        # Neither model nor text is looked at before.
        done = tandem("evaluate", "--model", tmp_path / "no model", "--src", "absent", "--ref", "absent", "--out", tmp_path / out)
        refused(done, tmp_path / out, words)
    (tmp_path / "hyp").write_text("of an earlier evaluation\n")
    done = tandem("evaluate", "--model", model, "--src", tmp_path / "file", "--ref", tmp_path / "file", "--out", tmp_path / "hyp")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "hyp").read_text() != "of an earlier evaluation\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder", "hyp"]


def test_a_report_cannot_take_the_place_of_a_folder(tandem, tmp_path):
    run = write_run(tmp_path / "run", journal_lines(steps=30))
    (tmp_path / "folder").mkdir()
    refused(tandem("report", run, "--out", tmp_path / "folder"), f"cannot write {tmp_path / 'folder'}: it is a directory, not a file")
    refused(tandem("report", run, "--out", tmp_path / TOO_LONG), f"cannot create {tmp_path / TOO_LONG}: File name too long")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "run"]


def test_a_folder_as_standard_input_is_the_users_mistake(program, model, tmp_path):  # noqa: F811
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        done = subprocess.run([program, "translate", "--model", model], stdin=folder, capture_output=True, text=True)
    finally:
        os.close(folder)
    refused(done, "cannot read standard input: it is a directory, not a file")


@pytest.mark.parametrize("verb, option, wrong, bounds", [
    *[("prepare", "--character-coverage", wrong, "0.98 to 1") for wrong in ("7", "0.5", "-1")],
    *[("prepare", "--max-ratio", wrong, "1 to 1000000000") for wrong in ("-1", "0.5", "1e10")],
    *[(verb, "--alpha", wrong, "0 to 10") for verb in ("translate", "evaluate", "serve") for wrong in ("-1", "11")],
    ("get", "--retry-seconds", "-0.1", "0 to 30"),
])
def test_a_fraction_outside_its_bounds_is_refused_with_them(tandem, verb, option, wrong, bounds):
    refused(tandem(verb, option, wrong), f"{option}: {wrong} is not from {bounds}")


@pytest.mark.parametrize("wrong", ["nan", "-nan", "inf", "-inf", "1e999", "many", "1,5", ""])
def test_a_fraction_is_a_finite_number(tandem, wrong):
    for verb, option in (("prepare", "--max-ratio"), ("prepare", "--character-coverage"), ("translate", "--alpha"),
                         ("plan", "--gbps"), ("get", "--retry-seconds")):
        refused(tandem(verb, f"{option}={wrong}" if wrong else f"{option}=", *(["x"] if verb == "plan" else [])), option)
