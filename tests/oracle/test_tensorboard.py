"""TensorBoard's files against the real tensorboard package: tags, values, resume, and a file that a kill cut short."""

import os
import pathlib
import shutil
import struct
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TANDEM = pathlib.Path(os.environ.get("TANDEM", ROOT / "build/release/tandem"))
TAGS = {"train/loss", "train/nll", "train/lr", "train/grad_norm", "train/loss_scale", "speed/steps_per_s",
        "speed/tokens_per_s", "net/bytes_out_per_s", "net/bytes_in_per_s", "valid/loss", "valid/train_slice_loss",
        "valid/bleu", "valid/chrf", "system/cpu", "system/gpu0/utilisation", "system/b/cpu"}
TAGS |= {f"time/{part}" for part in ("total", "data", "forward", "backward", "exchange", "wait", "optimizer", "other")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    subprocess.run([TANDEM.parent / "tandem_dump_events", folder], check=True)
    return folder


def files(folder):
    return sorted(folder.iterdir(), key=lambda path: path.stat().st_size, reverse=True)


def accumulated(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    found = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    found.Reload()
    return found


def texts(found, tag):
    return [event.tensor_proto.string_val[0].decode() for event in found.Tensors(tag)]


def test_the_tags_are_those_that_people_know(folder):
    found = accumulated(folder)
    assert TAGS <= set(found.Tags()["scalars"])
    assert {"settings", "samples"} <= set(found.Tags()["tensors"])
    assert found.summary_metadata["samples"].plugin_data.plugin_name == "text"


def test_values_are_those_of_the_run(folder, tmp_path):
    shutil.copy(files(folder)[0], tmp_path)  # the first start alone
    found = accumulated(tmp_path)
    loss = {event.step: event.value for event in found.Scalars("train/loss")}
    assert len(loss) == 1500 and loss[500] == pytest.approx(0.02) and loss[1] == 10
    assert found.Scalars("speed/tokens_per_s")[7].value == 2000
    assert found.Scalars("time/backward")[7].value == pytest.approx(0.2)
    assert [(event.step, event.value) for event in found.Scalars("valid/bleu")] == [(500, 30.5), (1000, 30.5), (1500, 30.5)]


def test_a_resumed_run_supersedes_what_came_after_its_checkpoint(folder):
    loss = accumulated(folder).Scalars("train/loss")
    assert [event.step for event in loss] == list(range(1, 1021))
    assert all((event.value == 77) == (event.step > 1000) for event in loss)


def test_text_from_outside_is_shown_as_it_is(folder):
    from tensorboard.plugins.text import text_plugin
    import numpy
    for tag in ("settings", "samples"):
        html = text_plugin.text_array_to_html(numpy.array(texts(accumulated(folder), tag)), enable_markdown=True)
        assert "<script" not in html and "<strong>" not in html and "<h1>" not in html and "<h2>" not in html
        assert "script&gt;" in html


def record_ends(data: bytes):
    at, ends = 0, []
    while at < len(data):
        at += 8 + 4 + struct.unpack("<Q", data[at:at + 8])[0] + 4
        ends.append(at)
    return ends


def test_a_file_cut_at_every_byte_of_its_last_record_still_opens(folder, tmp_path):
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    data = files(folder)[1].read_bytes()
    ends = record_ends(data)
    assert ends[-1] == len(data) and len(ends) == 23
    path = tmp_path / "events.out.tfevents.1.a.1.0"
    for size in range(ends[-2], ends[-1]):
        path.write_bytes(data[:size])
        assert len(list(EventFileLoader(str(path)).Load())) == 22, size
