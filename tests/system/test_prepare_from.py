"""`tandem prepare --from` on what `tandem get` downloaded: the texts out of the archives, and one sentence when one is not right."""
import json
from types import SimpleNamespace

import pytest
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset

from flaky_server import FlakyServer
from get_site import ENV, sha256
from public_corpora import archive, catalog_of, sentences, sgm, sites
from test_prepare import card_of, refused

EUROPARL = "training-parallel-europarl-v7.tgz"


class Downloads:
    """A folder with WMT14, downloaded from a server of made-up files."""

    def __init__(self, tandem, folder, files):
        self.tandem, self.folder, self.corpus, self.out = tandem, folder, folder / "wmt14", folder / "data"
        with FlakyServer(files) as server:
            (folder / "catalog.json").write_text(catalog_of(server, tandem("get", "--list", "--json").stdout))
            done = tandem("get", "wmt14-en-de", "--catalog", folder / "catalog.json", "--out", self.corpus, env=ENV)
        assert done.returncode == 0, done.stderr
        self.said = done.stdout

    def prepare(self, *more):
        done = self.tandem("prepare", "--from", self.corpus, "--vocab-size", "120", "--out", self.out, *more)
        assert done.returncode == 0 or not [p for p in self.folder.iterdir() if p.is_dir() and p != self.corpus]
        return done

    def replace(self, name, contents):
        """Another file, as if it had been downloaded so."""
        sums = self.corpus / "SHA256SUMS"
        sums.write_text(sums.read_text().replace(sha256((self.corpus / name).read_bytes()), sha256(contents)))
        (self.corpus / name).write_bytes(contents)


@pytest.fixture
def downloads(tandem, tmp_path):
    return Downloads(tandem, tmp_path, sites())


def test_one_command_gives_the_dataset_that_unpacking_by_hand_gives(tandem, downloads, tmp_path):
    assert f"tandem prepare --from {downloads.corpus} " in downloads.said
    before = sorted(path.name for path in downloads.corpus.iterdir())
    card = card_of(downloads.prepare("--json"))
    assert sorted(path.name for path in downloads.corpus.iterdir()) == before  # nothing is unpacked

    parts = {"train": [sentences(10 + i, 120) for i in range(3)], "valid": [sentences(20, 20)]}
    for part, texts in parts.items():
        for side, language in enumerate(("en", "de")):
            (tmp_path / f"{part}.{language}").write_bytes(b"".join(pair[side] for pair in texts))
    by_hand = card_of(tandem("prepare", "--src", tmp_path / "train.en", "--tgt", tmp_path / "train.de", "--valid-src", tmp_path / "valid.en",
                             "--valid-tgt", tmp_path / "valid.de", "--vocab-size", "120", "--out", tmp_path / "by-hand", "--json"))
    for part in ("train", "valid"):
        for side in ("src", "tgt"):
            del card[part][side]["file"], by_hand[part][side]["file"]
        assert card[part] == by_hand[part]
    for side, text in zip(("src", "tgt"), sentences(21, 10)):
        assert (downloads.out / f"test.{side}.txt").read_bytes() == text
    assert tandem("inspect", downloads.out, "--verify").returncode == 0
    (downloads.out / "test.tgt.txt").write_text("other\n")
    refused(tandem("inspect", downloads.out, "--verify"), "test.tgt.txt")


def test_segments_are_what_sacrebleu_takes(tandem, tmp_path):
    text = "  two  blanks \nR&amp;D > 3 < 4 &quot;x&quot;\n</seg> inside\nüber — Maß\n".encode()
    files = sites()
    files["test-full.tgz"] = archive({"test-full/newstest2014-deen-src.en.sgm": sgm(text), "test-full/newstest2014-deen-ref.de.sgm": sgm(text)})
    downloads = Downloads(tandem, tmp_path, files)
    assert downloads.prepare().returncode == 0
    (tmp_path / "theirs.sgm").write_bytes(sgm(text))
    FakeSGMLDataset._convert_format(SimpleNamespace(_clean=FakeSGMLDataset._clean), str(tmp_path / "theirs.sgm"), str(tmp_path / "theirs"))
    assert (downloads.out / "test.src.txt").read_text() == (tmp_path / "theirs").read_text()


def test_its_validation_text_can_be_exchanged(tandem, downloads, tmp_path):
    (tmp_path / "v.en").write_text("ab de\n")
    (tmp_path / "v.de").write_text("de ab\n")
    card = card_of(downloads.prepare("--json", "--valid-src", tmp_path / "v.en", "--valid-tgt", tmp_path / "v.de"))
    assert card["valid"]["lines"] == 1 and card["train"]["lines"] == 360
    refused(tandem("prepare", "--from", downloads.corpus, "--src", "a", "--tgt", "b", "--out", tmp_path / "x"), "--from", "--src")


def test_an_archive_that_changed_is_named_with_the_command_that_helps(downloads):
    path = downloads.corpus / EUROPARL
    whole = path.read_bytes()
    path.write_bytes(whole[:-1000])
    refused(downloads.prepare(), path, sha256(whole), sha256(whole[:-1000]), f"tandem get wmt14-en-de --out {downloads.corpus}")
    path.unlink()
    refused(downloads.prepare(), path, "tandem get wmt14-en-de")


def test_an_archive_that_was_cut_before_it_was_downloaded_is_named(downloads):
    whole = (downloads.corpus / EUROPARL).read_bytes()
    downloads.replace(EUROPARL, whole[:len(whole) // 3])
    refused(downloads.prepare(), downloads.corpus / EUROPARL, "cut short")
    downloads.replace(EUROPARL, b"<html>moved</html>" * 100)
    refused(downloads.prepare(), downloads.corpus / EUROPARL, "not a tar archive")


def test_a_missing_member_and_unequal_sides_are_named(downloads):
    en, de = sentences(10, 120)
    downloads.replace(EUROPARL, archive({"training/europarl-v7.de-en.en": en}))
    refused(downloads.prepare(), downloads.corpus / EUROPARL, "has no file training/europarl-v7.de-en.de")
    downloads.replace(EUROPARL, archive({"training/europarl-v7.de-en.en": en, "training/europarl-v7.de-en.de": de + b"more\n"}))
    refused(downloads.prepare(), f"{EUROPARL}:training/europarl-v7.de-en.en has 120 lines", "has 121")


def test_a_folder_that_get_did_not_finish_is_refused(tandem, downloads, tmp_path):
    refused(tandem("prepare", "--from", tmp_path / "nowhere", "--out", downloads.out), "nowhere/corpus.json", "tandem get")
    (downloads.corpus / "corpus.json").write_text("{")
    refused(downloads.prepare(), "corpus.json")
    (downloads.corpus / "corpus.json").write_text(json.dumps({"corpora": []}))
    refused(downloads.prepare(), "corpus.json", "train")
