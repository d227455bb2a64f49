"""data.corpora, data.sampling and start_from: several datasets with weights, subwords at random, weights of another run."""

import json
import random

import pytest
from small_run import SMALL_RUN

QUIET = {"OMP_WAIT_POLICY": "passive"}


@pytest.fixture(scope="module")
def corpora(reversed_words, tandem):
    """Two datasets of one vocabulary: data with 300 pairs, more with 500 that were prepared like it."""
    folder = reversed_words(300)
    rng = random.Random(8)
    words = (folder / "train.src").read_text().split()
    lines = [rng.choices(words, k=rng.randint(2, 9)) for _ in range(500)]
    (folder / "more.src").write_text("".join(" ".join(line) + "\n" for line in lines))
    (folder / "more.tgt").write_text("".join(" ".join(reversed(line)) + "\n" for line in lines))
    done = tandem("prepare", "--src", folder / "more.src", "--tgt", folder / "more.tgt", "--like", folder / "data",
                  "--out", folder / "more", "--json")
    assert done.returncode == 0, done.stderr
    card, own = json.loads(done.stdout), json.loads((folder / "data/card.json").read_text())
    assert card["vocab"]["hash"] == own["vocab"]["hash"]
    assert card["valid"]["fingerprint"] == own["valid"]["fingerprint"]
    return folder


@pytest.fixture
def train(tandem, corpora, tmp_path):
    """train(run, settings...) -> the losses of its steps, to the bit."""
    config = tmp_path / "config.yaml"
    config.write_text(SMALL_RUN + "checkpoint: {every: 50}\n")

    def call(run, *more, code=0):
        done = tandem("train", config, f"data.path={corpora}/data", f"run={tmp_path / run}", *more, env=QUIET)
        assert done.returncode == code, done.stderr
        if code:
            return done.stderr
        lines = [json.loads(line) for line in (tmp_path / run / "journal.jsonl").read_text().splitlines()]
        return [(line["step"], line["epoch"], line["sentences"], line["loss"].hex()) for line in lines if line["type"] == "step"]

    return call


def mixed(corpora, first=2, second=0.5):
    return f"data.corpora={corpora}/data:{first}, {corpora}/more:{second}"


def nearly(a, b):
    """The same sentences, and losses that differ by rounding: nothing at first, a little after many steps."""
    away = [abs(float.fromhex(x[3]) - float.fromhex(y[3])) for x, y in zip(a, b)]
    return [row[:3] for row in a] == [row[:3] for row in b] and max(away[:2]) < 1e-5 and max(away) < 0.02


def test_one_corpus_with_weight_1_is_the_dataset_itself(train, corpora):
    assert train("a", "stop.steps=9") == train("b", f"data.corpora={corpora}/data", "stop.steps=9")


@pytest.mark.parametrize("sampling", ["null", "0.2"])
def test_a_mixture_goes_on_to_the_bit_and_with_other_workers(train, corpora, sampling):
    settings = (mixed(corpora), f"data.sampling={sampling}")
    whole = train("whole", *settings, "stop.steps=30")
    assert max(epoch for _, epoch, _, _ in whole) >= 1
    train("cut", *settings, "stop.steps=13")
    assert train("cut", *settings, "stop.steps=30") == whole
    assert nearly(train("two", *settings, "stop.steps=30", "--workers", "2"), whole)
    first = [sentences for _, epoch, sentences, _ in whole if epoch == 0]
    assert 2 * 300 + 0.5 * 500 - 60 < sum(first) < 2 * 300 + 0.5 * 500 + 60  # deviation 11


def test_the_journal_and_the_start_tell_of_all_corpora(train, tandem, corpora, tmp_path):
    train("a", mixed(corpora), "stop.steps=1")
    data = json.loads((tmp_path / "a/journal.jsonl").read_text().splitlines()[0])["data"]
    own, more = (json.loads((corpora / name / "card.json").read_text())["train"]["pairs"] for name in ("data", "more"))
    assert [(part["path"], part["weight"], part["pairs"]) for part in data["corpora"]] == [
        (f"{corpora}/data", 2, own), (f"{corpora}/more", 0.5, more)]
    assert data["train"]["pairs"] == own + more
    plan = tandem("plan", tmp_path / "config.yaml", f"data.path={corpora}/data", mixed(corpora), "stop.epochs=1", "stop.steps=null")
    assert plan.returncode == 0 and f"{corpora}/more" in plan.stdout, plan.stderr
    assert f"{more} pairs of {corpora}/more, 0.5 times an epoch" in (tmp_path / "a/logs/rank-0.log").read_text()


def test_what_does_not_fit_is_refused(train, reversed_words, corpora):
    other = reversed_words(100, seed=9) / "data"
    said = train("a", f"data.corpora={corpora}/data, {other}", code=2)
    assert str(other) in said and f"--like {corpora}/data" in said
    assert "absent" in train("a", f"data.corpora={corpora}/absent", code=2)
    train("b", mixed(corpora), "stop.steps=2")
    said = train("b", mixed(corpora, second=0.25), "stop.steps=3", code=2)
    assert "dataset.train was" in said and ":0.25" in said
    assert "data.sampling was null and is 0.1" in train("b", mixed(corpora), "data.sampling=0.1", "stop.steps=3", code=2)
    assert "unigram" in train("c", "data.sampling=0.1", "data.sampling_nbest=8", "stop.steps=1", code=2)


def test_sampling_changes_training_but_not_validation(train, tmp_path):
    plain = train("plain", "stop.steps=4", "eval.every=1000")
    sampled = train("sampled", "stop.steps=4", "data.sampling=0.3")
    assert [row[:3] for row in plain] == [row[:3] for row in sampled]
    assert [row[3] for row in plain] != [row[3] for row in sampled]
    # A rate of nothing leaves the weights alone: then losses of the validation part are equal.
    still = ("optim.lr=1e-30", "optim.schedule=constant", "optim.warmup_steps=0", "eval.every=1", "stop.steps=1")
    losses = []
    for run, alpha in (("x", "null"), ("y", "0.3")):
        train(run, f"data.sampling={alpha}", *still)
        lines = [json.loads(line) for line in (tmp_path / run / "journal.jsonl").read_text().splitlines()]
        losses.append([(line["val_loss"].hex(), line["train_loss"].hex()) for line in lines if line["type"] == "eval"])
    assert losses[0] == losses[1] and losses[0]


def test_a_run_starts_from_the_weights_of_another(train, tandem, corpora, tmp_path, reversed_words):
    long = train("general", "stop.steps=60", "eval.every=60")
    tuned = train("tuned", f"data.corpora={corpora}/more", f"start_from={tmp_path}/general", "stop.steps=3", "optim.lr=1e-4")
    loss = lambda row: float.fromhex(row[3])
    assert loss(tuned[0]) < 0.8 * loss(long[0])
    assert "began with the weights of" in (tmp_path / "tuned/logs/rank-0.log").read_text()
    # Going on needs the other run no more, and two workers begin alike.
    (tmp_path / "general").rename(tmp_path / "moved")
    train("tuned", f"data.corpora={corpora}/more", f"start_from={tmp_path}/general", "stop.steps=5", "optim.lr=1e-4")
    two = train("two", f"data.corpora={corpora}/more", f"start_from={tmp_path}/moved", "stop.steps=3", "optim.lr=1e-4", "--workers", "2")
    assert nearly(two, tuned)
    assert "model.heads=2" in train("x", f"start_from={tmp_path}/moved", "model.heads=4", code=2)
    other = reversed_words(100, seed=9) / "data"
    assert "--vocab" in train("y", f"start_from={tmp_path}/moved", f"data.path={other}", code=2)
    assert "absent" in train("z", f"start_from={tmp_path}/absent", code=2)
