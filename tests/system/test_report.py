"""report: the eleven answers, the page in a real browser, text from outside that must stay text, runs compared."""

import json

import pytest

from journal_text import journal_lines, write_run
from webdriver import Browser


@pytest.fixture(scope="module")
def browser():
    started = Browser.start()
    if isinstance(started, str):
        pytest.skip(started)
    yield started
    started.close()


@pytest.fixture(scope="module")
def page(tandem, tmp_path_factory):
    """The page of a run of two workers over a slow link."""
    run = write_run(tmp_path_factory.mktemp("page") / "a-run", journal_lines(workers=2, exchange=0.35))
    done = tandem("report", run)
    assert done.returncode == 0, done.stderr
    return run / "report.html"


def answers(tandem, run):
    done = tandem("report", run, "--json")
    assert done.returncode == 0, done.stderr
    return {answer["id"]: answer for answer in json.loads(done.stdout)["answers"]}


# --- report.json ------------------------------------------------------------------------------------------------------


def test_the_answers_have_the_shape_that_scripts_rely_on(tandem, page):
    report = json.loads(page.with_suffix(".json").read_text())
    assert [answer["id"] for answer in report["answers"]] == list(range(1, 12))
    for answer in report["answers"]:
        assert {"id", "question", "verdict", "evidence", "confidence", "advice"} <= set(answer)
        assert answer["verdict"] and isinstance(answer["evidence"], dict)
    assert report["summary"]["steps"] == 400 and report["summary"]["currency"] == "EUR"


@pytest.mark.parametrize("made, truth", [
    (dict(), {2: "yes", 3: "no", 4: "yes", 5: "no"}),
    (dict(slow=True), {2: "no", 3: "no"}),
    (dict(overfit=True, evals=16), {3: "yes"}),
    (dict(workers=2, exchange=0.5), {4: "no", 5: "yes"}),
    (dict(workers=2, exchange=0.01), {4: "yes", 5: "no"}),
    (dict(evals=2), {2: "cannot tell", 3: "cannot tell"}),
])
def test_the_verdicts_are_those_of_the_journal(tandem, tmp_path, made, truth):
    found = answers(tandem, write_run(tmp_path / "run", journal_lines(**made)))
    assert {id: found[id]["class"] for id in truth} == truth, [found[id]["verdict"] for id in truth]


def test_numbers_are_those_of_the_journal(tandem, page):
    found = answers(tandem, page.parent)
    assert found[5]["evidence"]["exposed_share"] == pytest.approx(0.35, abs=0.01)
    assert found[7]["evidence"]["lines"] == 29000 and found[7]["evidence"]["megabytes"] == pytest.approx(3.911638)
    assert found[10]["evidence"]["seconds"] == pytest.approx(0.5, rel=0.02)
    assert "cannot tell, because" in found[8]["verdict"]


def test_what_is_no_run_is_refused(tandem, tmp_path):
    done = tandem("report", tmp_path)
    assert done.returncode == 2 and "journal.jsonl" in done.stderr
    run = write_run(tmp_path / "bad", journal_lines(steps=30)[:5])
    with open(run / "journal.jsonl", "a") as journal:
        journal.write('{"type":"step"\n')
    done = tandem("report", run)
    assert done.returncode == 2 and "journal.jsonl:6" in done.stderr


def test_a_cut_last_line_is_no_failure(tandem, tmp_path):
    run = write_run(tmp_path / "run", journal_lines(steps=60))
    whole = (run / "journal.jsonl").read_bytes()
    (run / "journal.jsonl").write_bytes(whole[:-25])
    assert answers(tandem, run)[1]["evidence"]["steps"] == 60


def test_an_empty_journal_has_a_report(tandem, tmp_path):
    run = write_run(tmp_path / "run", [])
    assert tandem("report", run).returncode == 0
    assert all((a["class"], a["confidence"]) == ("cannot tell", "none") for a in answers(tandem, run).values())


@pytest.mark.parametrize("text", ["", "no end of a line", '{"type":"package","time":1}\n'])
def test_a_file_that_holds_no_run_is_refused_and_leaves_nothing(tandem, tmp_path, text):
    (tmp_path / "notes").write_text(text)
    done = tandem("report", "notes", cwd=tmp_path)
    assert done.returncode == 2 and "notes is no journal" in done.stderr and done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_page_under_the_name_of_its_answers_is_refused(tandem, tmp_path):
    run = write_run(tmp_path / "run", journal_lines(steps=60))
    done = tandem("report", run, "--out", "y.json", cwd=tmp_path)
    assert done.returncode == 2 and "--out y.json" in done.stderr and "y.html" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_page_in_a_folder_that_is_not_there_is_the_users_mistake(tandem, tmp_path):
    run = write_run(tmp_path / "run", journal_lines(steps=60))
    done = tandem("report", run, "--out", tmp_path / "no" / "x.html")
    assert done.returncode == 2 and f"there is no folder {tmp_path / 'no'}" in done.stderr and done.stderr.count("\n") == 1


def test_pairs_that_are_left_out_are_told(tandem, tmp_path):
    lines = journal_lines(steps=60)
    lines[0]["data"]["train"].update(pairs=200, left_out=30, src_bytes=9000, tgt_bytes=9900)
    answer = answers(tandem, write_run(tmp_path / "run", lines))[7]
    assert "18.9 kB of text" in answer["verdict"]
    assert "200 pairs, of which 30 are longer than data.max_length and left out" in answer["verdict"]
    assert answer["evidence"]["pairs_used"] == 170


def test_a_run_that_goes_on_with_fewer_hosts_costs_no_less(tandem, tmp_path):
    lines = journal_lines(steps=60, workers=2)
    lines[0]["cluster"]["hosts"] = 2
    before = answers(tandem, write_run(tmp_path / "before", lines))[1]["evidence"]["cost"]
    end = lines[-1]
    again = {**lines[0], "time": end["time"] + 36000, "resumed_from": 60, "cluster": {"workers": 1, "hosts": 1}}
    run = write_run(tmp_path / "after", lines + [again, {**end, "time": again["time"] + 1, "seconds": end["seconds"] + 1}])
    assert answers(tandem, run)[1]["evidence"]["cost"] >= before > 0


def test_json_alone_writes_nothing(tandem, tmp_path):
    run = write_run(tmp_path / "run", journal_lines(steps=60))
    answers(tandem, run)
    assert [path.name for path in run.iterdir()] == ["journal.jsonl"]


# --- the page ---------------------------------------------------------------------------------------------------------


def errors(browser):
    return [entry for entry in browser.logs("browser") if entry["level"] in ("SEVERE", "WARNING")]


def test_the_page_draws_everything_and_asks_for_nothing(browser, page):
    assert page.stat().st_size < 3_000_000
    browser.open(page)
    assert browser.run("return document.documentElement.dataset.ready") == "yes"
    figures = browser.run("return [...document.querySelectorAll('figure[data-plot]')].map(f => [f.dataset.plot, f.dataset.drawn])")
    assert len(figures) >= 10 and all(drawn == "yes" for _, drawn in figures), figures
    inked = browser.run("""return [...document.querySelectorAll('figure canvas')].filter(c => {
        const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        return data.some((value, i) => i % 4 === 3 && value > 0);
    }).length""")
    assert inked >= len(figures)
    assert errors(browser) == []
    assert all(url.startswith(("file:", "data:")) for url in browser.requests())
    headings = browser.run("return [...document.querySelectorAll('#answers ~ article h3')].map(h => h.textContent)")
    assert [heading.split(".")[0] for heading in headings] == [str(i) for i in range(1, 12)]


def test_zoom_log_scale_and_smoothing_work(browser, page):
    browser.open(page)
    wanted = "const f = document.querySelector('figure[data-plot=train_loss]'); "
    reach = lambda: browser.run(wanted + "return [Number(f.dataset.from), Number(f.dataset.to)]")
    whole = reach()
    browser.run(wanted + "f.scrollIntoView({block: 'center'})")
    box = browser.run(wanted + "const b = f.querySelector('.plot').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]")
    browser.drag(box[0] + box[2] * 0.4, box[0] + box[2] * 0.7, box[1] + box[3] * 0.5)
    zoomed = reach()
    assert zoomed[1] - zoomed[0] < 0.5 * (whole[1] - whole[0])
    browser.run(wanted + "[...f.querySelectorAll('button')].find(b => b.textContent === 'all').click()")
    assert reach() == whole
    browser.run(wanted + "[...f.querySelectorAll('button')].find(b => b.textContent === '+').click()")
    assert reach()[1] - reach()[0] == pytest.approx((whole[1] - whole[0]) / 2, rel=0.01)
    assert browser.run(wanted + "f.querySelector('input').click(); return f.graph.getOption('logscale')") is True
    browser.run(wanted + "const s = f.querySelector('select'); s.value = 20; s.dispatchEvent(new Event('change'))")
    assert browser.run(wanted + "return f.graph.rollPeriod()") == 20
    assert errors(browser) == []


LABELS = """const f = document.querySelector(`figure[data-plot=${arguments[0]}]`), left = f.querySelector('.plot').getBoundingClientRect().left;
    return [...f.querySelectorAll('.dygraph-axis-label-x')].map(label => {
        const range = document.createRange();
        range.selectNodeContents(label);
        const box = range.getBoundingClientRect();
        return [label.textContent, (box.left + box.right) / 2 - left, f.graph.toDomXCoord(Number(label.textContent))];
    })"""


@pytest.mark.parametrize("plot", ["train_loss", "overfitting", "use"])
def test_labels_stand_below_what_they_are_about(browser, page, plot):
    browser.open(page)
    browser.run("""const graph = document.querySelector(`figure[data-plot=${arguments[0]}]`).graph;
        graph.updateOptions({dateWindow: [0, graph.xAxisRange()[1] >= 100 ? 400.1 : 3.001]})""", plot)  # a label at either edge
    labels = browser.run(LABELS, plot)
    assert [text for text, _, _ in labels][0] == "0" and labels[-1][0] in ("400", "3")
    for text, centre, place in labels:
        assert centre == pytest.approx(place, abs=3), labels


def test_labels_of_steps_keep_all_digits(browser, tandem, tmp_path):
    lines = journal_lines(steps=60)
    for line in lines:
        if "step" in line:
            line["step"] += 1234500
    run = write_run(tmp_path / "late", lines)
    assert tandem("report", run).returncode == 0
    browser.open(run / "report.html")
    browser.run("document.querySelector('figure[data-plot=train_loss]').graph.updateOptions({dateWindow: [1234520, 1234526]})")
    labels = [text for text, _, _ in browser.run(LABELS, "train_loss") if text]
    assert len(labels) == len(set(labels)) >= 3 and set(labels) <= {str(step) for step in range(1234520, 1234527)}, labels
    legend = browser.run("""const f = document.querySelector('figure[data-plot=train_loss]');
        f.graph.getOption('highlightCallback')(null, 1234523, []);
        return f.querySelector('.legend').textContent""")
    assert legend.startswith("step 1234523")


def test_light_dark_and_a_phone(browser, page):
    colours = {}
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(page)
        colours[scheme] = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.scheme("light")
    assert colours["light"] == "rgb(255, 255, 255)" and colours["dark"] != colours["light"]
    browser.size(390, 844, phone=True)
    browser.open(page)
    width = browser.run("return document.documentElement.scrollWidth")
    browser.command("Emulation.clearDeviceMetricsOverride")
    assert width <= 390


# --- text from outside ------------------------------------------------------------------------------------------------

ATTACKS = ["<script>PWN</script>", "</script><script>PWN</script>", "<img src=x onerror=PWN>", "\"><svg onload=PWN>", "' onload='PWN",
           "<iframe src=\"javascript:PWN\">", "javascript:PWN", "]]><script>PWN</script>", "<!--<script>PWN", "--><script>PWN</script>",
           "{{constructor.constructor('PWN')()}}", "${PWN}", "</style><script>PWN</script>", "</title><script>PWN</script>",
           "<a href=\"javascript:PWN\">x</a>", "\u202e<b onmouseover=PWN>", "\x1b]0;PWN\x07", "\r\n{\"type\":\"end\",\"text\":\"PWN\"}", "\u2028PWN//",
           "<math><mtext></table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=PWN&gt;\">"]


def payloads():
    """200 of them: each attack, with code of its own, in plain and nine disguises."""
    codes = ["window.pwned=1", "alert(1)", "document.title='pwned'", "window['pw'+'ned']=1", "setTimeout('window.pwned=1')",
             "fetch('http://127.0.0.1:9/')", "document.body.innerHTML='pwned'", "location='http://127.0.0.1:9/'",
             "new Image().src='http://127.0.0.1:9/'", "eval('window.pwned=1')"]
    return [attack.replace("PWN", code) for attack in ATTACKS for code in codes]


def poisoned(lines, texts):
    """The texts in every place that comes from outside."""
    take = iter(texts * 3)
    for line in lines:
        if line["type"] == "run":
            line["host"], line["device"] = next(take), next(take)
            line["settings"] = {next(take): next(take) for _ in range(15)}
            line.update({next(take): next(take) for _ in range(10)})
        if line["type"] == "system":
            line["interface"] = next(take)
        if line["type"] == "eval":
            line["samples"] = [{"source": next(take), "reference": next(take), "hypothesis": next(take)} for _ in range(4)]
    for text in texts:
        lines.append({"type": "event", "time": 1.79e9, "step": 1, "kind": text, "text": text})
    lines.append({"type": "end", "time": 1.79e9, "step": 5, "reason": texts[0], "text": texts[1], "seconds": 5, "tokens": 5})
    return lines


def test_text_from_outside_stays_text(browser, tandem, tmp_path):
    texts = payloads()
    assert len(set(texts)) >= 200
    lines = poisoned(journal_lines(steps=40, evals=8), texts)
    for host, line in enumerate(line for line in lines if line["type"] == "system"):
        line["host"] = texts[host % 20 * 10]
    run = write_run(tmp_path / "<img src=x onerror=window.pwned=1>", lines)
    done = tandem("report", run, "--out", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    browser.open(tmp_path / "page.html")
    assert browser.run("return window.pwned") is None
    assert "pwned" not in browser.run("return document.title").replace("window.pwned=1>", "")
    assert browser.run("return document.querySelectorAll('script').length") == 3
    assert browser.run("return document.querySelectorAll('img, iframe, svg, object, embed, math, form').length") == 0
    assert browser.run("""return [...document.querySelectorAll('*')].filter(
        e => [...e.attributes].some(a => a.name.startsWith('on') || a.value.startsWith('javascript:'))).length""") == 0
    assert browser.run("return document.querySelectorAll('figure[data-drawn=yes]').length") >= 5
    assert all(url.startswith(("file:", "data:")) for url in browser.requests())
    assert errors(browser) == []
    shown = browser.run("return document.querySelector('#events').parentElement.textContent")
    assert "<script>window.pwned=1</script>" in shown
    watch = tandem("watch", "--once", run)
    assert watch.returncode == 0 and "\x1b" not in watch.stdout


# --- runs beside each other -------------------------------------------------------------------------------------------


def test_runs_are_compared(browser, tandem, tmp_path):
    settings = lambda lr: {"run": f"runs/{lr}", "seed": 1, "optim": {"schedule": "constant", "lr": lr}, "stop": {"steps": 200}}
    a = write_run(tmp_path / "slow-lr", journal_lines(steps=200, settings=settings(0.001), slow=True))
    b = write_run(tmp_path / "fast-lr", journal_lines(steps=200, settings=settings(0.003)))
    done = tandem("report", a, b, "--out", tmp_path / "both.html", "--json")
    assert done.returncode == 0, done.stderr
    compared = json.loads(done.stdout)
    assert any(sentence.endswith("of slow-lr.") for sentence in compared["sentences"])
    assert compared["differing_settings"] == {"optim.lr": ["0.001", "0.003"]}
    assert any("fast-lr has the best validation loss" in sentence for sentence in compared["sentences"])
    browser.open(tmp_path / "both.html")
    assert browser.run("return [...document.querySelectorAll('figure')].every(f => f.dataset.drawn === 'yes')") is True
    legend = browser.run("return document.querySelector('figure .legend').textContent")
    assert "slow-lr" in legend and "fast-lr" in legend
    assert errors(browser) == []
