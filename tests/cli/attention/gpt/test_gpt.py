"""`attn gpt`: whose code it trains, what it refuses, and that a killed run ends as if nothing had happened.

The model is tiny. Where a run must be stopped at a certain step, the student's own code does it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from cli.attention.gpt.training_run import CHECKPOINT, TrainingRun
from grader.core.json_record import from_json
from tests.cli.conftest import Attn
from tests.conftest import ROOT
from tests.pages.browser import needs_browser, open_browser, violations

TINY = ("--context", 8, "--width", 8, "--layers", 1, "--heads", 2, "--batch", 4)
TEXT = "Once the cat sat on the mat. " * 20
MODEL = (ROOT / "solutions" / "12_transformer" / "transformer.py").read_text()
# From the student's own code: in its seventh batch it ends a process, if a file asks for that.
ENDING = """

_plain_batch, _batches = get_batch, 0


def get_batch(*given):
    import os, signal, time
    from pathlib import Path

    global _batches
    _batches += 1
    wish = Path({folder!r}) / "wish"
    if wish.exists() and _batches == 7:
        number, whose = wish.read_text().split()
        os.kill(os.getppid() if whose == "parent" else os.getpid(), int(number))
    if wish.exists() and _batches >= 7:
        time.sleep(0.05)  # so that the run lasts longer than the wish needs to reach this process
    return _plain_batch(*given)
"""


@pytest.fixture
def student(tmp_path: Path) -> Path:
    """A bundle of module 12 alone: a fallback stands in for module 06."""
    shutil.copytree(ROOT / "modules" / "12_transformer", tmp_path / "modules" / "12_transformer")
    shutil.copy(ROOT / "course.toml", tmp_path)
    (tmp_path / "modules" / "12_transformer" / "transformer.py").write_text(MODEL)
    (tmp_path / "my.txt").write_text(TEXT)
    return tmp_path


def trained(attn: Attn, folder: Path, *more: object, to: str = "gpt") -> subprocess.CompletedProcess[str]:
    return attn("gpt", "--text", "my.txt", "--to", to, *TINY, *more, cwd=folder)


def arrays(folder: Path) -> dict[str, bytes]:
    with np.load(folder / CHECKPOINT, allow_pickle=False) as file:
        return {name: file[name].tobytes() for name in file.files}


def wish(folder: Path, text: str) -> None:
    """Let the student's code send a signal in its seventh batch."""
    (folder / "wish").write_text(text)


@pytest.mark.exhaustive
def test_a_killed_run_is_resumed_to_the_same_weights(attn: Attn, student: Path) -> None:
    own = student / "modules" / "12_transformer" / "transformer.py"
    own.write_text(MODEL + ENDING.format(folder=str(student)))
    assert trained(attn, student, "--steps", 10, to="whole").returncode == 0
    wish(student, "9 child")
    done = trained(attn, student, "--steps", 10, to="parts")
    assert done.returncode == 3
    assert "the training process was killed by signal 9. Saved is step 6: nothing before it is lost" in done.stderr
    (student / "wish").unlink()
    own.write_text("raise ValueError('edited since')\n")
    done = attn("gpt", "--resume", "--to", "parts", cwd=student)
    assert done.returncode == 0, done.stderr
    assert "It goes on after step 6." in done.stdout
    assert "transformer.py changed since this run began" in done.stderr
    assert arrays(student / "parts") == arrays(student / "whole")


@pytest.mark.exhaustive
def test_ctrl_c_saves_and_says_how_to_go_on(attn: Attn, student: Path) -> None:
    own = student / "modules" / "12_transformer" / "transformer.py"
    own.write_text(MODEL + ENDING.format(folder=str(student)))
    wish(student, "2 parent")
    done = trained(attn, student, "--steps", 2000)
    assert done.returncode == 130
    assert "`attn gpt --resume` goes on from there." in done.stderr
    run = from_json(TrainingRun, json.loads((student / "gpt" / "run.json").read_text()))
    with np.load(student / "gpt" / CHECKPOINT) as file:
        assert 7 <= len(file["losses"]) < run.steps


@pytest.mark.exhaustive
def test_a_run_from_begin_to_writing(attn: Attn, student: Path) -> None:
    done = trained(attn, student, "--steps", 20, "--sentence", "the cat", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["modules"] == [
        {"module": "12_transformer", "used": "own", "why": ""},
        {"module": "06_multi_head_attention", "used": "fallback", "why": "is missing"},
    ]
    assert [one["step"] for one in found["samples"]] == list(range(2, 21, 2))
    assert 0 < found["bigram"]["learnt"] < found["loss"]
    assert "step 20 of 20" in done.stderr
    page = (student / "gpt" / "gpt.html").read_text()
    assert page.count('<table class="heat">') == 2
    assert "a fallback stands in, because your own is missing" in page
    assert "<script" not in page
    assert (student / "gpt" / "loss.svg").read_text().startswith("<svg")
    again = trained(attn, student, "--steps", 20)
    assert (again.returncode, again.stdout) == (2, "")
    assert "has a run at step 20 of 20. `attn gpt --write TEXT` lets it write" in again.stderr
    written = attn("gpt", "--write", "Once", "--length", 30, cwd=student)
    assert written.returncode == 0, written.stderr
    assert written.stdout.startswith("Once")
    unknown = attn("gpt", "--write", "Zebra", cwd=student)
    assert unknown.returncode == 2
    assert "the model has never seen 'Z' 'b' 'r'" in unknown.stderr
    (student / "my.txt").write_text(TEXT.replace("cat", "dog"))
    changed = trained(attn, student, "--resume")
    assert changed.returncode == 2
    assert "my.txt is not the text that this run learns from (my.txt), or it has changed" in changed.stderr
    other = attn("gpt", "--resume", "--seed", 3, cwd=student)
    assert "this run has --seed 0, and keeps it" in other.stderr
    longer = attn("gpt", "--resume", "--steps", 30, "--json", cwd=student)
    assert json.loads(longer.stdout)["steps"] == 30


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--steps", 5, "--context", 60), "my.txt has 580 characters. A model with a context of 60 needs at least 620"),
        (("--heads", 3), "--width 8 cannot be cut into 3 heads"),
        (("--sentence", "the longest sentence"), "--sentence has 20 characters. The maps need 1 to 8"),
        (("--resume", "--again"), "--resume, --again and --write exclude each other"),
        (("--resume",), "gpt has no run.json, so it is not a run of `attn gpt`"),
        (("--write", "Once"), "gpt has no run.json, so it is not a run of `attn gpt`"),
    ],
)
def test_a_mistake_in_the_command_line_writes_nothing(
    attn: Attn, student: Path, arguments: tuple[object, ...], said: str
) -> None:
    done = trained(attn, student, *arguments)
    assert done.returncode == 2, done.stdout
    assert said in " ".join(done.stderr.split())
    assert not (student / "gpt").exists()


def test_a_folder_with_other_files_is_left_alone(attn: Attn, student: Path) -> None:
    done = trained(attn, student, to=".")
    assert done.returncode == 2
    assert "has other files in it" in done.stderr
    assert (student / "my.txt").read_text() == TEXT


def test_without_module_12_it_is_said(attn: Attn, bundle: Path) -> None:
    shutil.rmtree(bundle / "modules" / "12_transformer")
    done = attn("gpt", cwd=bundle)
    assert done.returncode == 2
    assert "there is no module transformer, which builds the GPT" in done.stderr


@pytest.mark.exhaustive
def test_a_stub_and_an_error_are_named_with_their_line(attn: Attn, student: Path) -> None:
    own = student / "modules" / "12_transformer" / "transformer.py"
    shutil.copy(ROOT / "modules" / "12_transformer" / "transformer.py", own)
    done = trained(attn, student)
    assert done.returncode == 1
    assert "is not written yet (line " in done.stderr
    own.write_text(MODEL.replace("return (log_sums - chosen).mean()", "return log_sums + undefined"))
    done = trained(attn, student, "--steps", 5)  # nothing was trained before, so nothing is in the way
    assert done.returncode == 1
    assert "Your code raised NameError: name 'undefined' is not defined (transformer.py, line " in done.stderr
    assert "Fix this, then run `attn gpt`." in done.stderr


@pytest.mark.exhaustive
def test_a_wrong_module_06_is_replaced_and_named(attn: Attn, bundle: Path) -> None:
    wrong = (ROOT / "solutions" / "06_multi_head_attention" / "multi_head_attention.py").read_text()
    line = "merged = merge_heads(weights @ V)"
    assert line in wrong
    files = {"06_multi_head_attention": wrong.replace(line, "merged = merge_heads(V)"), "12_transformer": MODEL}
    for name, text in files.items():
        (bundle / "modules" / name / f"{name[3:]}.py").write_text(text)
    (bundle / "my.txt").write_text(TEXT)
    done = trained(attn, bundle, "--steps", 10)
    assert done.returncode == 0, done.stderr
    assert "06_multi_head_attention    a fallback stands in: your own fails its checks" in done.stdout
    (bundle / "modules" / "06_multi_head_attention" / "multi_head_attention.py").write_text(wrong)
    done = trained(attn, bundle, "--steps", 10, "--again")
    assert "06_multi_head_attention    your own" in done.stdout
    assert (bundle / "gpt" / "before" / CHECKPOINT).is_file()


@pytest.mark.exhaustive
def test_axe_finds_nothing_on_the_page(attn: Attn, student: Path) -> None:
    needs_browser()
    assert trained(attn, student, "--steps", 10).returncode == 0
    with open_browser() as browser:
        for scheme in ("light", "dark"):
            with browser.page(student / "gpt" / "gpt.html", color_scheme=scheme) as page:
                assert violations(page) == []
                page.set_viewport_size({"width": 320, "height": 640})
                assert page.evaluate("document.documentElement.scrollWidth") <= 320
