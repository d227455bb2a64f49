"""The public corpora that `tandem get` knows, made up and small: the same files under the same names, laid out alike."""
import gzip
import io
import json
import random
import tarfile

from get_site import sha256


def sentences(seed: int, count: int) -> tuple:
    rng = random.Random(seed)
    words = ["".join(random.Random(i).choices("abdegilnorstu", k=2 + i % 5)) for i in range(60)]
    lines = [rng.choices(words, k=rng.randint(2, 9)) for _ in range(count)]
    text = lambda order: "".join(" ".join(order(line)) + "\n" for line in lines).encode()
    return text(list), text(lambda line: line[::-1])


def archive(files: dict, form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=form) as tar:
        for name, contents in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(contents)
            entry.mtime = 1234567890.5  # pax writes an extra header for it
            tar.addfile(entry, io.BytesIO(contents))
    return out.getvalue()


def sgm(text: bytes) -> bytes:
    lines = text.decode().splitlines()
    return ('<srcset setid="newstest2014">\n<doc>\n<p>\n' + "".join(f'<seg id="{i}">{line}</seg>\n' for i, line in enumerate(lines, 1))
            + "</p>\n</doc>\n</srcset>\n").encode()


def sites() -> dict:
    files = {}
    for seed, (part, count) in enumerate((("train", 300), ("val", 20), ("test_2016_flickr", 10))):
        for language, text in zip(("en", "de"), sentences(seed, count)):
            files[f"{part}.{language}.gz"] = gzip.compress(text)
    for seed, (name, prefix, form) in enumerate((("training-parallel-europarl-v7", "training/europarl-v7", tarfile.GNU_FORMAT),
                                                 ("training-parallel-commoncrawl", "commoncrawl", tarfile.PAX_FORMAT),
                                                 ("training-parallel-nc-v9", "training/news-commentary-v9", tarfile.USTAR_FORMAT))):
        en, de = sentences(10 + seed, 120)
        files[f"{name}.tgz"] = archive({f"{prefix}.cs-en.en": b"none\n" * 300, f"{prefix}.de-en.de": de, f"{prefix}.de-en.en": en,
                                        f"{prefix}.fr-en.en": b"none\n"}, form)
    en, de = sentences(20, 20)
    files["dev.tgz"] = archive({"dev/newstest2013.en": en, "dev/newstest2013.de": de})
    en, de = sentences(21, 10)
    files["test-full.tgz"] = archive({"test-full/newstest2014-deen-src.en.sgm": sgm(en), "test-full/newstest2014-deen-ref.de.sgm": sgm(de)})
    return files


def catalog_of(server, listed: str) -> str:
    """What `tandem get --list --json` printed, with the addresses, sizes and hashes of the server's files."""
    catalog = json.loads(listed)
    for corpus in catalog["corpora"]:
        for file in corpus["files"]:
            contents = server.files[file["name"]]
            file.update(url=f"{server.url}/{file['name']}", bytes=len(contents), sha256=sha256(contents))
    return json.dumps(catalog)
