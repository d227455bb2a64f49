"""`tandem get` against a real server that drops, lies, stalls and changes its files."""
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

import pytest

from flaky_server import FlakyServer, Reply
from get_site import BIG, ENV, OTHER, PROGRAM, Site, is_one_sentence, sha256, until


@pytest.fixture
def site(tmp_path):
    with FlakyServer({"a.gz": BIG}) as server:
        yield Site(server, tmp_path, hashed=True)


@pytest.fixture
def unhashed(tmp_path):
    with FlakyServer({"a.gz": BIG}) as server:
        yield Site(server, tmp_path, hashed=False)


# ---- what works ----

def test_a_second_call_asks_the_server_nothing(tmp_path):
    files = {"a.gz": BIG, "b.gz": OTHER, "empty": b""}
    with FlakyServer(files) as server:
        site = Site(server, tmp_path, hashed=True)
        first = site.get()
        assert first.returncode == 0, first.stderr
        assert f"tandem prepare --src {site.out}/a.gz" in first.stdout
        assert site.left() == ["SHA256SUMS", "a.gz", "b.gz", "empty"]
        assert all((site.out / name).read_bytes() == contents for name, contents in files.items())
        assert subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=site.out,
                              capture_output=True).returncode == 0
        asked = len(server.requests)
        second = site.get()
        assert second.returncode == 0 and second.stdout.count("already there") == 3
        assert len(server.requests) == asked == 3


def test_json_says_what_was_done(site):
    answer = json.loads(site.get("--json").stdout)
    assert answer["files"] == [{"name": "a.gz", "status": "downloaded", "bytes": len(BIG),
                                "bytes_received": len(BIG), "sha256": sha256(BIG), "verified": True}]
    again = json.loads(site.get("--json").stdout)
    assert again["files"][0]["status"] == "already there"
    assert again["files"][0]["bytes_received"] == 0


def test_a_mirror_replaces_every_address(site):
    catalog = json.loads(site.catalog.read_text())
    catalog["corpora"][0]["files"][0]["url"] = "http://nowhere.invalid/deep/path/a.gz"
    site.catalog.write_text(json.dumps(catalog))
    site.server.files["sub/a.gz"] = BIG
    for slash in ("", "/"):
        assert site.get("--mirror", site.server.url + "/sub" + slash).returncode == 0
        assert site.has(BIG)
        shutil.rmtree(site.out)
    failed = site.get()
    assert failed.returncode == 3 and is_one_sentence(failed, "nowhere.invalid", "check the address")


def test_the_list_can_be_used_as_a_catalog(tandem, tmp_path):
    listed = tandem("get", "--list", "--json")
    assert listed.returncode == 0
    assert {c["name"] for c in json.loads(listed.stdout)["corpora"]} >= {"multi30k", "wmt14-en-de"}
    (tmp_path / "mine.json").write_text(listed.stdout)
    assert tandem("get", "--list", "--json", "--catalog", tmp_path / "mine.json").stdout == listed.stdout
    assert "not known" in tandem("get", "wmt14-en-de", "--list").stdout


def test_redirects_are_followed(site):
    site.server.files["moved"] = BIG
    site.server.script("a.gz", Reply(status=302, headers={"Location": "/moved"}))
    assert site.get().returncode == 0 and site.has(BIG)


# ---- breaking connections ----

def test_a_link_that_breaks_often_gets_there_without_sending_a_byte_twice(site):
    drops = [Reply(drop_after=n) for n in (50_000, 1, 100_000, 60_000, 20_000, 70_000, 30_000)]
    site.server.script("a.gz", *drops)  # more breaks than --retries: each got further
    result = site.get("--json")
    assert result.returncode == 0, result.stderr
    assert site.has(BIG)
    assert json.loads(result.stdout)["files"][0]["bytes_received"] == len(BIG)
    assert site.server.ranges("a.gz")[:4] == [None, "bytes=50000-", "bytes=50001-", "bytes=150001-"]


def test_resume_by_date_when_there_is_no_strong_etag(site):
    date = "Tue, 01 Jan 2019 00:00:00 GMT"
    site.server.script("a.gz", Reply(drop_after=1000, etag='W/"weak"', last_modified=date))
    site.server.behave("a.gz", Reply(etag='W/"weak"', last_modified=date))
    assert site.get().returncode == 0 and site.has(BIG)
    assert site.server.requests[1].if_range == date


def test_a_server_without_ranges_starts_over(site):
    site.server.script("a.gz", Reply(drop_after=90_000), Reply(drop_after=200_000, accept_ranges=False))
    site.server.behave("a.gz", Reply(accept_ranges=False))
    assert site.get().returncode == 0 and site.has(BIG)


def test_without_a_validator_nothing_is_continued(site):
    site.server.script("a.gz", Reply(drop_after=90_000, etag=None))
    site.server.behave("a.gz", Reply(etag=None))
    assert site.get().returncode == 0 and site.has(BIG)
    assert site.server.ranges("a.gz") == [None, None]


def test_without_a_total_nothing_is_continued(unhashed):
    unhashed.server.script("a.gz", Reply(drop_after=90_000, chunked=True))
    assert unhashed.get().returncode == 0 and unhashed.has(BIG)
    assert unhashed.server.ranges("a.gz") == [None, None]


def test_a_server_that_never_gets_further_is_given_up(site):
    site.server.behave("a.gz", Reply(drop_after=1000, accept_ranges=False))
    result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, site.server.url + "/a.gz", "4 retries")
    assert len(site.server.requests) == 1 + 4
    assert site.part().stat().st_size == 1000


def test_a_stalled_connection_is_left_and_continued(site):
    site.server.script("a.gz", Reply(stall_after=120_000))
    assert site.get().returncode == 0 and site.has(BIG)
    assert site.server.ranges("a.gz") == [None, "bytes=120000-"]


def test_nobody_listens(site):
    dead = FlakyServer({})
    dead._server.server_close()
    result = site.get("--mirror", dead.url)
    assert result.returncode == 3 and is_one_sentence(result, dead.url)
    assert site.left() == []


# ---- the file changes in between ----

@pytest.mark.parametrize("later", [
    Reply(body=OTHER),                                             # honest: 200 with the new file
    Reply(body=OTHER, check_if_range=False),                       # 206 of a version we did not begin
    Reply(body=OTHER + b"x", check_if_range=False, etag=None),     # told by its size only
    Reply(shift=50_000),                                           # another place than asked for
    Reply(check_if_range=False, content_range="nonsense"),
], ids=["if-range", "etag", "size", "place", "nonsense"])
def test_two_versions_are_never_mixed(unhashed, later):
    unhashed.server.script("a.gz", Reply(drop_after=100_000), later)
    result = unhashed.get()
    assert result.returncode == 0, result.stderr
    assert unhashed.has(later.body or BIG)


def test_a_rest_longer_than_promised_is_not_believed(unhashed):
    longer = Reply(etag='"same"', check_if_range=False, content_range="bytes 100000-399999/400000",
                   body=BIG + b"and more")
    unhashed.server.script("a.gz", Reply(drop_after=100_000, etag='"same"'), longer, Reply(body=BIG))
    assert unhashed.get().returncode == 0 and unhashed.has(BIG)


def test_a_file_that_became_shorter_starts_over(unhashed):
    unhashed.server.script("a.gz", Reply(drop_after=100_000), Reply(status=416))
    unhashed.server.files["a.gz"] = BIG
    assert unhashed.get().returncode == 0 and unhashed.has(BIG)
    assert unhashed.server.ranges("a.gz") == [None, "bytes=100000-", None]


def test_a_new_process_notices_the_change_too(unhashed):
    unhashed.server.behave("a.gz", Reply(drop_after=100_000, accept_ranges=False))
    assert unhashed.get(retries=0).returncode == 3
    assert unhashed.part().stat().st_size == 100_000
    unhashed.server.behave("a.gz", Reply(body=OTHER))
    assert unhashed.get().returncode == 0 and unhashed.has(OTHER)


def test_a_part_of_another_address_is_not_continued(site):
    site.server.behave("a.gz", Reply(drop_after=100_000))
    assert site.get(retries=0).returncode == 3
    with FlakyServer({"a.gz": BIG}) as mirror:
        assert site.get("--mirror", mirror.url).returncode == 0 and site.has(BIG)
        assert mirror.ranges("a.gz") == [None]


# ---- refusals ----

@pytest.mark.parametrize("status", [403, 404, 410, 501])
def test_a_refusal_is_final_and_named(site, status):
    site.server.behave("a.gz", Reply(status=status))
    result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, site.server.url + "/a.gz", status)
    assert len(site.server.requests) == 1 and site.left() == []


def test_passing_trouble_is_waited_out(site):
    site.server.script("a.gz", Reply(status=500), Reply(status=503, headers={"Retry-After": "1"}),
                       Reply(drop_after=5000), Reply(status=502), Reply(status=429))
    start = time.monotonic()
    assert site.get().returncode == 0 and site.has(BIG)
    assert time.monotonic() - start > 1.0  # Retry-After
    assert site.server.ranges("a.gz")[3:] == ["bytes=5000-"] * 3


def test_lasting_trouble_is_given_up(site):
    site.server.behave("a.gz", Reply(status=503))
    result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, site.server.url + "/a.gz", 503)
    assert len(site.server.requests) == 1 + 4 and site.left() == []


@pytest.mark.parametrize("wrong", [OTHER, BIG[:-1], b"", b"<html>log in</html>"],
                         ids=["content", "short", "empty", "page"])
def test_a_wrong_file_is_refused_and_removed(site, wrong):
    site.server.files["a.gz"] = wrong
    result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, "a.gz", sha256(BIG), sha256(wrong))
    assert site.left() == []
    site.server.files["a.gz"] = BIG
    assert site.get().returncode == 0 and site.has(BIG)


@pytest.mark.parametrize("chunked", [False, True])
def test_more_than_was_expected_is_not_stored(site, chunked):
    site.server.behave("a.gz", Reply(body=BIG + b"x", chunked=chunked))
    result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, site.server.url, len(BIG))
    assert site.left() == []


def test_a_length_that_promises_too_much_never_gives_a_file(unhashed):
    unhashed.server.behave("a.gz", Reply(content_length=len(BIG) + 10))
    result = unhashed.get()
    assert result.returncode == 3 and is_one_sentence(result, "a.gz")
    assert not (unhashed.out / "a.gz").exists()


def test_a_length_that_promises_too_little_is_told_by_the_hash(site):
    site.server.behave("a.gz", Reply(content_length=1000))
    result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, sha256(BIG), sha256(BIG[:1000]))
    assert site.left() == []


def test_without_length_and_hash_a_cut_would_not_be_noticed(unhashed):
    unhashed.server.script("a.gz", Reply(content_length="none"))
    result = unhashed.get()
    assert result.returncode == 3 and is_one_sentence(result, "without its length")
    assert unhashed.left() == []
    unhashed.server.behave("a.gz", Reply(chunked=True))  # says where it ends
    assert unhashed.get().returncode == 0 and unhashed.has(BIG)


def test_with_a_hash_the_length_is_not_needed(site):
    site.server.script("a.gz", Reply(content_length="none", drop_after=70_000))
    site.server.behave("a.gz", Reply(content_length="none"))
    assert site.get().returncode == 0 and site.has(BIG)


@pytest.mark.parametrize("target", ["/a.gz", "file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_bad_redirects_end(site, target):
    site.server.behave("a.gz", Reply(status=302, headers={"Location": target}))
    result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, site.server.url + "/a.gz")
    assert len(site.server.requests) <= 11 and site.left() == []


# ---- hashes that nobody knows ----

def test_an_unknown_hash_is_said_and_written_down_for_the_next_download(unhashed):
    result = unhashed.get()
    assert result.returncode == 0 and "could not be verified" in result.stdout
    assert (unhashed.out / "SHA256SUMS").read_text() == f"{sha256(BIG)}  a.gz\n"
    assert "already there" in unhashed.get().stdout
    (unhashed.out / "a.gz").unlink()
    unhashed.server.files["a.gz"] = OTHER
    later = unhashed.get()
    assert later.returncode == 3
    assert is_one_sentence(later, "SHA256SUMS", sha256(BIG), sha256(OTHER))
    assert unhashed.left() == ["SHA256SUMS"]


def test_a_damaged_file_is_fetched_anew(site):
    assert site.get().returncode == 0
    (site.out / "a.gz").write_bytes(BIG[:-1] + b"?")
    result = site.get()
    assert result.returncode == 0 and "getting it anew" in result.stderr and site.has(BIG)


def test_a_file_of_the_wrong_size_is_fetched_anew(site):
    site.catalog.write_text(site.catalog.read_text().replace(f'"{sha256(BIG)}"', "null"))  # its size alone is known
    site.out.mkdir()
    sums = site.out / "SHA256SUMS"
    for recorded in ("", f"{sha256(BIG[:4])}  a.gz\n"):  # by an earlier download that took it for right
        sums.write_text(recorded)
        (site.out / "a.gz").write_bytes(BIG[:4])
        result = site.get()
        assert result.returncode == 0 and "getting it anew" in result.stderr and site.has(BIG)
        assert sums.read_text() == f"{sha256(BIG)}  a.gz\n"
    (site.out / "a.gz").write_bytes(BIG[:4])  # cut since: what was written down of the whole file holds
    site.server.files["a.gz"] = OTHER
    result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, "SHA256SUMS", sha256(BIG), sha256(OTHER))


# ---- the end of the process ----

def run_until_stalled(site, process, at):
    assert site.server.waiting.wait(5)
    until(lambda: site.part().exists() and site.part().stat().st_size == at)


def test_killed_in_the_middle_a_new_process_goes_on(site):
    site.server.script("a.gz", Reply(wait_after=250_000))
    with site.start() as process:
        run_until_stalled(site, process, 250_000)
        process.kill()
    assert site.left() == ["a.gz.part", "a.gz.part.state"]
    result = site.get("--json")
    assert result.returncode == 0 and site.has(BIG)
    assert json.loads(result.stdout)["files"][0]["bytes_received"] == len(BIG) - 250_000


def test_killed_before_the_rename_nothing_is_fetched_twice(site):
    assert site.get().returncode == 0
    (site.out / "a.gz").rename(site.part())
    etag = hashlib.md5(BIG).hexdigest()
    (site.out / "a.gz.part.state").write_text(
        f'url {site.server.url}/a.gz\netag "{etag}"\nlast-modified \ntotal {len(BIG)}\n')
    assert site.get().returncode == 0 and site.has(BIG)
    assert len(site.server.requests) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_part_and_says_so(site, number):
    site.server.script("a.gz", Reply(wait_after=250_000))
    with site.start() as process:
        run_until_stalled(site, process, 250_000)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=5)
    assert process.returncode == 75
    assert stderr.startswith("tandem: stopped") and str(site.part()) in stderr
    assert site.get().returncode == 0 and site.has(BIG)
    assert site.server.ranges("a.gz") == [None, "bytes=250000-"]


def test_a_signal_ends_the_wait_for_a_retry(site):
    site.server.behave("a.gz", Reply(status=503, headers={"Retry-After": "60"}))
    with site.start() as process:
        until(lambda: site.server.requests)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=2)
    assert process.returncode == 75 and site.left() == []


def test_two_processes_do_not_share_a_folder(site):
    site.server.script("a.gz", Reply(wait_after=1000))
    with site.start() as process:
        run_until_stalled(site, process, 1000)
        second = site.get()
        assert second.returncode == 3 and is_one_sentence(second, "another tandem", site.out)
        site.server.release.set()
        process.communicate(timeout=5)
    assert process.returncode == 0 and site.has(BIG)


# ---- the disk ----

def in_tmpfs(site, options, script):
    """Runs a shell script with a small file system of its own at site.out; get runs the program."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root and unshare")
    site.out.mkdir()
    command = " ".join(shlex.quote(str(a)) for a in [PROGRAM, *site.args()])
    result = subprocess.run(
        ["unshare", "-m", "bash", "-c",
         f"mount -t tmpfs -o {options} tmpfs \"$OUT\" || exit 99\nget() {{ {command}; }}\n{script}"],
        env={**os.environ, **ENV, "OUT": str(site.out)}, text=True, capture_output=True, timeout=30)
    if result.returncode == 99:
        pytest.skip("this machine does not let root mount a tmpfs")
    return result


def test_a_full_disk_keeps_what_fits_and_goes_on_later(site):
    result = in_tmpfs(site, "size=200k", """
        get; echo "first $?"; ls "$OUT"
        mount -o remount,size=2m "$OUT"
        get > /dev/null; echo "second $?"; sha256sum < "$OUT/a.gz" """)
    assert "first 3" in result.stdout and "a.gz.part\n" in result.stdout
    assert "No space left on device; make room" in result.stderr
    assert "second 0" in result.stdout and sha256(BIG) in result.stdout
    assert int(site.server.ranges("a.gz")[1].removeprefix("bytes=").rstrip("-")) > 100_000


def test_a_folder_that_cannot_be_written(site):
    if os.geteuid() == 0:  # whom only a read-only file system stops
        result = in_tmpfs(site, "ro", "get")
    else:
        site.out.mkdir(mode=0o555)
        result = site.get()
    assert result.returncode == 3 and is_one_sentence(result, site.out)


def test_a_folder_that_cannot_be_made(site):
    (site.tmp_path / "file").write_text("in the way")
    site.out = site.tmp_path / "file" / "out"
    result = site.get()
    assert result.returncode == 2 and is_one_sentence(result, site.out)
    assert site.server.requests == []


def test_nothing_escapes_the_folder(site):
    site.server.behave("a.gz", Reply(headers={"Content-Disposition": 'attachment; filename="../evil"'}))
    assert site.get().returncode == 0 and site.has(BIG)
    (site.out / "a.gz").unlink()
    site.part().symlink_to(site.tmp_path / "evil")
    assert site.get().returncode == 3
    assert sorted(p.name for p in site.tmp_path.iterdir()) == ["catalog.json", "out"]


# ---- what comes next ----

def test_the_next_command_is_the_recipes_and_fits_the_settings_there_are(tandem, repo):
    configs = [path.read_text() for path in (repo / "configs").glob("*.yaml")]
    recipes = [path.read_text() for path in (repo / "docs/recipes").glob("*.md")]
    for corpus in json.loads(tandem("get", "--list", "--json").stdout)["corpora"]:
        prepare, *train = corpus["next"]
        out = re.search(r" --out (\S+)", prepare)[1]
        assert any(f"\n  path: {out}\n" in text for text in configs), prepare
        assert any(re.search(re.escape(prepare).replace(re.escape("{dir}"), r"\S+") + "\n", text) for text in recipes), prepare
        for command in train:
            assert f"\n  path: {out}\n" in (repo / command.split()[2]).read_text()


# ---- the user's mistakes ----

@pytest.mark.parametrize("arguments, part", [
    (["multi30", "--out", "x"], 'did you mean "multi30k"?'),
    (["multi30k"], "--out"),
    ([], "--list"),
    (["multi30k", "--out", "x", "--mirror", "ftp://h/"], "--mirror ftp://h/"),
    (["multi30k", "--out", "x", "--mirror", "/srv/data"], "http://"),
    (["multi30k", "--out", "x", "--retries", "-1"], "--retries"),
    (["multi30k", "--out", "x", "--catalog", "none.json"], "none.json"),
])
def test_mistakes_are_named_and_leave_nothing(tandem, tmp_path, monkeypatch, arguments, part):
    monkeypatch.chdir(tmp_path)
    result = tandem("get", *arguments)
    assert result.returncode == 2 and is_one_sentence(result, part)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/b", ".", "SHA256SUMS", "x.part"])
def test_a_catalog_cannot_name_a_path(site, name):
    catalog = json.loads(site.catalog.read_text())
    catalog["corpora"][0]["files"][0]["name"] = name
    site.catalog.write_text(json.dumps(catalog))
    result = site.get()
    assert result.returncode == 2 and is_one_sentence(result, "catalog.json", name)
    assert site.left() == [] and site.server.requests == []
