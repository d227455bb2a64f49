"""docs/recipes: every command of every page runs, at reduced size.

A page's ```sh blocks are run one after the other in one folder. SMALLER says, page by page, which words are exchanged
to make them small or to run them on one machine; each must occur. Blocks marked ```sh elsewhere need what a test cannot
have (podman); their syntax is checked."""

import json
import os
import re
import shutil
import subprocess
import time

import pytest

from flaky_server import FlakyServer
from get_site import ENV
from public_corpora import catalog_of, sentences, sites

# Comes behind the settings of the page, so it wins; the command line of the page still wins over it.
SMALL = """
threads: 1
precision: fp32
model: {preset: tiny, d_model: 32, heads: 2, ffn: 64, encoder_layers: 1, decoder_layers: 1}
batch: {tokens: 600}
optim: {lr: 0.01, warmup_steps: 2}
eval: {every: 3, sentences: 10, beam: 2, sample_every: 0}
checkpoint: {every: 3}
stop: {steps: 6}
cluster: {join_timeout: 60}
log: {every: 1}
"""
MPIRUN = {"-H 10.0.0.1:2,10.0.0.2:2": "--allow-run-as-root --oversubscribe", "mpirun -n 4": "mpirun -n 2"}
BASE = {"configs/transformer-base.yaml": "configs/transformer-base.yaml small.yaml"}
TUNED = {"stop.steps=2000": "stop.steps=4", "optim.warmup_steps=200": "optim.warmup_steps=2"}

SMALLER = {
    "multi30k": {"configs/multi30k-tiny.yaml": "configs/multi30k-tiny.yaml small.yaml", "stop.steps=18000": "stop.steps=6",
                 "--vocab-size 6000": "--vocab-size 120", "tandem get multi30k": "tandem get multi30k --catalog catalog.json",
                 "--best 3": "--best 2"},
    "wmt14-base": {**BASE, **MPIRUN, "device=cuda cluster": "device=cpu cluster", "--vocab-size 32768": "--vocab-size 120",
                   "tandem get wmt14-en-de": "tandem get wmt14-en-de --catalog catalog.json", "--best 5": "--best 2"},
    "fine-tuning": {**TUNED, "eval.every=200": "eval.every=2"},
    "slow-links": {**BASE, **MPIRUN, "cluster.require=1.3": "cluster.require=0.001"},
    "slurm": {**BASE, "--nodes=2": "--nodes=1", "#SBATCH --gres=gpu:2\n": "", "--cpus-per-task=8": "--cpus-per-task=1",
              "\nsbatch train.sbatch": "\nsbatch --wait train.sbatch"},
    "containers": {'podman run --rm -v "$PWD:/data" tandem': "tandem", 'podman run --rm -i -v "$PWD:/data" tandem': "tandem",
                   "--vocab-size 8000": "--vocab-size 120"},
    "cloud-checklist": {**MPIRUN, "--vocab-size 32000": "--vocab-size 120", "batch.tokens=4000": "batch.tokens=600",
                        "stop.steps=50": "stop.steps=3", "checkpoint.every=1000": "checkpoint.every=3"},
}


def blocks(page: str, info: str) -> list:
    return re.findall(rf"^```{info}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands_of(page: str, table: dict) -> str:
    text = "\n".join(blocks(page, "sh"))
    for words, others in table.items():
        assert words in text, f"{words!r} is no longer on the page"
        text = text.replace(words, others)
    return text


class Recipe:
    def __init__(self, repo, program, folder):
        self.pages, self.folder = repo / "docs/recipes", folder
        (folder / "bin").mkdir()
        (folder / "bin/tandem").symlink_to(program)
        shutil.copytree(repo / "configs", folder / "configs")
        (folder / "small.yaml").write_text(SMALL)
        (folder / "config.yaml").write_text(SMALL)
        self.env = {**os.environ, **ENV, "PATH": f"{folder}/bin:{os.environ['PATH']}", "OMP_WAIT_POLICY": "passive",
                    "OMP_NUM_THREADS": "1"}

    def text(self, name: str, seed: int, count: int):
        for language, text in zip(("en", "de"), sentences(seed, count)):
            (self.folder / f"{name}.{language}").write_bytes(text)

    def prepare(self, out: str, name: str = "train"):
        self.shell(f"tandem prepare --src {name}.en --tgt {name}.de --valid-src valid.en --valid-tgt valid.de --vocab-size 120 --out {out}")

    def shell(self, script: str) -> str:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}"
        return done.stdout

    def page(self, name: str) -> str:
        page = (self.pages / f"{name}.md").read_text()
        for block in blocks(page, "sh elsewhere"):
            self.shell(f"bash -n <<'RECIPE'\n{block}\nRECIPE")
        return commands_of(page, SMALLER[name])

    def steps(self, run: str) -> int:
        lines = (self.folder / run / "journal.jsonl").read_text().splitlines()
        return max(record["step"] for record in map(json.loads, lines) if record["type"] == "step")


@pytest.fixture
def recipe(repo, program, tmp_path):
    return Recipe(repo, program, tmp_path)


@pytest.fixture
def site(recipe):
    """A server with the public corpora at reduced size, and catalog.json that names it."""
    with FlakyServer(sites()) as server:
        (recipe.folder / "catalog.json").write_text(catalog_of(server, recipe.shell("tandem get --list --json")))
        yield server


def needs_mpirun():
    if not shutil.which("mpirun"):
        pytest.skip("needs mpirun: scripts/setup --tests installs it")


def test_every_page_is_run_and_linked(repo):
    pages = {path.stem for path in (repo / "docs/recipes").glob("*.md")}
    assert pages == set(SMALLER)
    readme = (repo / "README.md").read_text()
    assert all(f"docs/recipes/{page}.md" in readme for page in pages)


def test_multi30k(recipe, site):
    said = recipe.shell(recipe.page("multi30k"))
    assert "BLEU|" in said and recipe.steps("runs/multi30k-tiny") == 6 and (recipe.folder / "report.html").exists()


def test_wmt14_base(recipe, site):
    needs_mpirun()
    said = recipe.shell(recipe.page("wmt14-base"))
    assert "BLEU|" in said and recipe.steps("runs/transformer-base") == 6
    assert len((recipe.folder / "data/wmt14-en-de/test.src.txt").read_text().splitlines()) == 10
    assert json.loads((recipe.folder / "data/wmt14-en-de/card.json").read_text())["train"]["lines"] == 360


def test_fine_tuning(recipe):
    for seed, (name, count) in enumerate((("general", 300), ("valid", 20), ("field", 100), ("field-valid", 20), ("field-test", 10))):
        recipe.text(name, seed, count)
    recipe.prepare("general-data", "general")
    recipe.shell("tandem train config.yaml data.path=general-data run=runs/general model.norm=post && "
                 "tandem export --model runs/general --format huggingface --out opus-mt")
    said = recipe.shell(recipe.page("fine-tuning"))
    assert said.count("BLEU|") == 3
    assert [recipe.steps(f"runs/{run}") for run in ("field", "mixed", "opus-field")] == [4, 4, 4]


def test_slow_links(recipe):
    needs_mpirun()
    recipe.text("train", 1, 300)
    recipe.text("valid", 2, 20)
    recipe.prepare("data/wmt14-en-de")
    recipe.shell(recipe.page("slow-links"))
    assert recipe.steps("runs/transformer-base") == 6


def test_containers(recipe):
    for seed, (name, count) in enumerate((("train", 300), ("valid", 20), ("test", 10))):
        recipe.text(name, seed, count)
    recipe.shell(recipe.page("containers"))
    assert len((recipe.folder / "test.hyp").read_text().splitlines()) == 10


def test_the_container_file_is_what_the_page_says(repo):
    text = (repo / "Containerfile").read_text()
    assert "scripts/setup --cpu" in text and "WORKDIR /data" in text and "ENTRYPOINT" in text


def test_cloud_checklist(recipe):
    needs_mpirun()
    recipe.text("train", 1, 300)
    recipe.text("valid", 2, 20)
    recipe.shell(recipe.page("cloud-checklist"))
    assert recipe.steps("runs/a") == 6


def test_slurm(recipe, slurm):
    recipe.text("train", 1, 300)
    recipe.text("valid", 2, 20)
    recipe.prepare("data/wmt14-en-de")
    recipe.env = slurm.environment(recipe.env)
    said = recipe.shell(recipe.page("slurm"))
    logs = "".join(path.read_text() for path in recipe.folder.glob("train-*.log"))
    assert recipe.steps("runs/transformer-base") == 6, said + logs


def wait_until(ready, what: str, seconds: float = 60):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.1)


def test_the_slurm_script_queues_itself_again_when_its_time_ends(recipe, slurm):
    recipe.text("train", 1, 300)
    recipe.text("valid", 2, 20)
    recipe.prepare("data/wmt14-en-de")
    recipe.env = slurm.environment(recipe.env)
    script = recipe.page("slurm").split("bash -n")[0].replace("data.distribute=true", "data.distribute=true stop.steps=100000")
    job = recipe.shell(script + "sbatch --parsable train.sbatch").split()[-1]
    run = recipe.folder / "runs/transformer-base"
    try:
        wait_until(lambda: (run / "checkpoints/latest").exists(), "a checkpoint")
        recipe.shell(f"scancel --signal=TERM {job}")  # as --signal does before the limit
        state = lambda: recipe.shell(f"squeue -h -j {job} -o %T").strip()
        wait_until(lambda: state() == "PENDING", "the job in the queue")
        assert "everything is saved" in "".join(path.read_text() for path in recipe.folder.glob("train-*.log"))
    finally:
        recipe.shell(f"scancel {job}")
