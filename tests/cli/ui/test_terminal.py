"""Terminals: colours, encodings and the Tab key; and small options of the student commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.journey.terminal import Terminal
from tests.cli.conftest import EXECUTABLE, Attn
from tests.conftest import ROOT

SOLUTION = ROOT / "solutions" / "01_softmax" / "softmax.py"
ROW_BY_ROW = """

def softmax(x, axis=-1):
    x = np.asarray(x)
    rows = np.moveaxis(x if x.dtype.kind == "f" else x.astype(float), axis, -1)
    exps = [np.exp(row - row.max()) for row in rows.reshape(-1, rows.shape[-1])]
    return np.moveaxis(np.array([row / row.sum() for row in exps]).reshape(rows.shape), -1, axis)
"""
ESCAPE = "\x1b["


def run(bundle: Path, *arguments: str, **env: str) -> str:
    done = subprocess.run(
        [EXECUTABLE, *arguments], cwd=bundle, capture_output=True, env={**os.environ, **env}, check=False
    )
    return done.stdout.decode(env.get("PYTHONIOENCODING", "utf-8"))


@pytest.mark.parametrize(
    ("arguments", "env", "coloured"),
    [([], {}, True), (["--plain"], {}, False), ([], {"NO_COLOR": "1"}, False), ([], {"TERM": "dumb"}, False)],
)
def test_colours_are_for_terminals_that_want_them(
    bundle: Path, arguments: list[str], env: dict[str, str], coloured: bool
) -> None:
    terminal = Terminal([EXECUTABLE, *arguments, "test", "softmax"], bundle, env)
    assert terminal.finish() == 1
    assert (ESCAPE in terminal.raw) == coloured
    assert "not written" in terminal.text  # in words, whatever the colour


def test_a_pipe_has_no_colours(attn: Attn, bundle: Path) -> None:
    assert ESCAPE not in attn("test", "softmax", cwd=bundle).stdout


def test_a_missing_character_is_replaced(bundle: Path) -> None:
    shutil.copy(ROOT / "solutions" / "03_attention" / "attention.py", bundle / "modules" / "03_attention")
    shown = run(bundle, "profile", "attention", "project_qkv", PYTHONIOENCODING="cp1252")
    assert "n·m·d_k" in shown
    assert "\\u" not in shown


@pytest.mark.parametrize(
    ("typed", "found"),
    [("attn wa", ["watch"]), ("attn test so", ["softmax"]), ("attn start 04", ["04_masks"]), ("attn hint zz", [])],
)
def test_the_tab_key(bundle: Path, typed: str, found: list[str]) -> None:
    count = str(len(typed.split()) - 1)
    shown = run(bundle, COMP_WORDS=typed, COMP_CWORD=count, _ATTN_COMPLETE="bash_complete")
    assert [line.split(",")[1] for line in shown.splitlines() if line] == found


def test_one_case(attn: Attn, bundle: Path) -> None:
    done = attn("test", "softmax", "--case", "ROWS", "--json", cwd=bundle)
    assert [check["name"] for check in json.loads(done.stdout)["checks"]] == ["softmax_rows_sum_to_one"]
    assert "\n01_softmax               not started" in attn("status", cwd=bundle).stdout  # one case is not a run
    assert attn("test", "softmax", "--case", "nothing like it", cwd=bundle).returncode == 2


def test_only_the_first_thing_is_shown_and_with_all_every_check(attn: Attn, bundle: Path) -> None:
    done = attn("test", "softmax", cwd=bundle)
    assert "\n--------------------  5 not written yet\n" in done.stdout
    assert "Write next: softmax\n" in done.stdout
    assert "log_softmax" not in done.stdout
    everything = attn("test", "softmax", "--all", cwd=bundle).stdout
    assert everything.count("  not written  ") == 5
    assert "Then: log_softmax\n" in everything


def test_start_keeps_an_existing_notebook(attn: Attn, bundle: Path) -> None:
    assert attn("start", "softmax", "--notebook", cwd=bundle).returncode == 0
    notebook = bundle / "modules" / "01_softmax" / "softmax.ipynb"
    before = notebook.read_bytes()
    shutil.copy(SOLUTION, bundle / "modules" / "01_softmax")
    done = attn("start", "softmax", "--notebook", cwd=bundle)
    assert "already exists and was not changed" in done.stderr
    assert notebook.read_bytes() == before


def test_a_locked_module_cannot_be_started(attn: Attn, bundle: Path) -> None:
    done = attn("start", "loop_attention", cwd=bundle)
    assert done.returncode == 2
    assert "02_loop_attention is locked until 01_softmax is complete\nUse --anyway" in done.stderr
    assert attn("complete", "loop_attention", cwd=bundle).returncode == 2
    assert attn("start", "loop_attention", "--anyway", cwd=bundle).returncode == 0


def test_complete_says_what_is_unlocked(attn: Attn, bundle: Path) -> None:
    shutil.copy(SOLUTION, bundle / "modules" / "01_softmax")
    done = attn("complete", "softmax", "--json", cwd=bundle)
    assert done.returncode == 0, done.stderr
    entry = json.loads(done.stdout)
    assert (entry["complete"], entry["unlocked"]) == (True, ["02_loop_attention"])
    assert json.loads(attn("status", "--json", cwd=bundle).stdout)[0]["completed"] is True


def test_code_that_costs_too_much_is_not_complete(attn: Attn, bundle: Path) -> None:
    (bundle / "modules" / "01_softmax" / "softmax.py").write_text(SOLUTION.read_text() + ROW_BY_ROW)
    done = attn("complete", "softmax", cwd=bundle)
    assert done.returncode == 1
    assert "TOO MUCH" in done.stdout
    assert "- limit of softmax: rounds of Python loops" in done.stdout
    assert "`attn profile softmax` shows where a limit is broken." in done.stdout
    assert not (bundle / "mylab").exists()


@pytest.mark.parametrize("name", ["modules/01_softmax/softmax.py", "nowhere/map.svg", "notes.svg"])
def test_svg_overwrites_only_drawings(attn: Attn, bundle: Path, name: str) -> None:
    (bundle / "notes.svg").write_text("my notes")
    shutil.copy(
        ROOT / "solutions" / "02_loop_attention" / "loop_attention.py", bundle / "modules" / "02_loop_attention"
    )
    before = {path: path.read_bytes() for path in bundle.rglob("*.py")}
    for command in (["show", "-m", "2"], ["profile", "2", "dot_product"]):
        assert attn(*command, "--svg", name, cwd=bundle).returncode == 2
    assert {path: path.read_bytes() for path in bundle.rglob("*.py")} == before
    assert (bundle / "notes.svg").read_text() == "my notes"
    assert not (bundle / "nowhere").exists()


def test_files_written_by_hand_in_mylab_are_kept(attn: Attn, bundle: Path) -> None:
    shutil.copy(SOLUTION, bundle / "modules" / "01_softmax")
    (bundle / "mylab").mkdir()
    (bundle / "mylab" / "softmax.py").write_text("mine = 1\n")
    assert attn("complete", "softmax", cwd=bundle).returncode == 0
    assert (bundle / "mylab" / "softmax.py.old").read_text() == "mine = 1\n"


def test_a_known_mistake_is_not_complete(attn: Attn, bundle: Path) -> None:
    path = bundle / "modules" / "01_softmax" / "softmax.py"
    wrong = "\n\ndef softmax(x, axis=-1):\n    e = np.exp(x)\n    return e / e.sum(axis=axis, keepdims=True)\n"
    path.write_text(SOLUTION.read_text() + wrong)
    done = attn("complete", "softmax", cwd=bundle)
    assert done.returncode == 1
    assert "####################  5 passed" in done.stdout
    assert "small calls do not do what is stated" in done.stdout
    assert "`attn test softmax` shows the first. Or go on with --anyway." in done.stdout
    assert attn("hint", "softmax", cwd=bundle).returncode == 0
    assert attn("complete", "softmax", "--anyway", cwd=bundle).returncode == 0


def test_several_small_mistakes_that_pass_the_visible_checks_are_not_complete(attn: Attn, bundle: Path) -> None:
    path = bundle / "modules" / "01_softmax" / "softmax.py"
    wrong = "\n\ndef softmax(x, axis=-1):\n    e = np.exp(np.float64(x))\n"
    wrong += "    return e / (e.sum(-1, keepdims=True) + 1e-9)\n"
    questions = "\nREFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = None\n"
    path.write_text(SOLUTION.read_text() + wrong + questions)
    done = attn("complete", "softmax", "--json", cwd=bundle)
    assert done.returncode == 1
    entry = json.loads(done.stdout)
    assert not entry["complete"]
    assert entry["open"][0].startswith("softmax: ")
    assert entry["open"][-1] == "question under Reflect: REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 is not answered"
    assert entry["report"]["diagnoses"], "what is wrong is said, though it has no single name"


@pytest.mark.exhaustive
def test_an_edited_module_was_complete(attn: Attn, bundle: Path) -> None:
    path = bundle / "modules" / "01_softmax" / "softmax.py"
    shutil.copy(SOLUTION, path)
    attn("complete", "softmax", cwd=bundle)
    assert "Next: 02_loop_attention" in attn(cwd=bundle).stdout
    path.write_text(path.read_text() + "\n\ndef softmax(x, axis=-1):\n    return x\n")
    assert "01_softmax               was complete; now changed, not tested yet" in attn("status", cwd=bundle).stdout
    attn("test", "softmax", cwd=bundle)
    assert "Next: 01_softmax" in attn(cwd=bundle).stdout


def test_a_file_that_is_gone_can_be_brought_back(attn: Attn, bundle: Path) -> None:
    (bundle / "modules" / "01_softmax" / "softmax.py").unlink()
    done = attn("test", "softmax", cwd=bundle)
    assert done.returncode == 2
    assert "Run `attn reset softmax` to restore the stub" in done.stderr
    assert attn("reset", "softmax", "--yes", cwd=bundle).returncode == 0
    assert attn("test", "softmax", cwd=bundle).returncode == 1


def test_a_stub_has_no_cost(attn: Attn, bundle: Path) -> None:
    done = attn("profile", "loop_attention", cwd=bundle)
    assert done.returncode == 1
    assert "TOO MUCH" not in done.stdout
    assert done.stdout.count("NOT MEASURED") == 3


def test_an_unreadable_progress_file_is_kept(attn: Attn, bundle: Path) -> None:
    (bundle / ".attnlab").mkdir()
    (bundle / ".attnlab" / "progress.json").write_text("garbage")
    attn("test", "softmax", cwd=bundle)
    assert (bundle / ".attnlab" / "progress.json.bad").read_text() == "garbage"
