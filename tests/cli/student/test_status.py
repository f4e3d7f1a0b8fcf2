"""`attn`, `attn status` and `attn test`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course.notebook import make_notebook
from tests.cli.conftest import Attn
from tests.conftest import ROOT

SOLUTION = ROOT / "solutions" / "01_softmax" / "softmax.py"


def stub_of(bundle: Path) -> Path:
    return bundle / "modules" / "01_softmax" / "softmax.py"


def test_attn_alone_shows_the_next_module(attn: Attn, bundle: Path) -> None:
    done = attn(cwd=bundle / "modules")
    assert done.returncode == 0
    assert "(a student's copy)" in done.stdout
    assert "Next: 01_softmax, Softmax (60 min): not started" in done.stdout
    assert "run    attn test softmax" in done.stdout
    assert "(a full course)" in attn(cwd=ROOT).stdout


def test_status_follows_the_work(attn: Attn, bundle: Path) -> None:
    def state() -> str:
        return str(json.loads(attn("status", "--json", cwd=bundle).stdout)[0]["state"])

    assert state() == "untouched"
    text = stub_of(bundle).read_text()
    stub_of(bundle).write_text(text + "\n")
    assert state() == "started"
    attn("test", "softmax", cwd=bundle)
    assert state() == "failing"
    assert "0 of 5 visible checks pass" in attn("status", cwd=bundle).stdout
    shutil.copy(SOLUTION, stub_of(bundle))
    assert state() == "started"
    attn("test", "softmax", cwd=bundle)
    assert state() == "passing"
    assert "run    attn complete softmax" in attn(cwd=bundle).stdout
    assert "locked, needs 01_softmax" in attn("status", cwd=bundle).stdout
    stub_of(bundle).write_text(text)
    assert state() == "untouched"


def test_a_broken_progress_file_is_not_an_error(attn: Attn, bundle: Path) -> None:
    (bundle / ".attnlab").mkdir()
    (bundle / ".attnlab" / "progress.json").write_text("{")
    assert "not started" in attn("status", cwd=bundle).stdout


def test_the_stub_fails_and_says_where(attn: Attn, bundle: Path) -> None:
    done = attn("test", cwd=bundle)
    assert done.returncode == 1
    line = stub_of(bundle).read_text().splitlines().index("    raise NotImplementedError") + 1
    assert "5 not written yet\n" in done.stdout
    assert "\nWrite next: softmax\nLook at: " in done.stdout
    assert f"Look at: softmax.py, line {line}\n" in done.stdout
    assert "hidden" not in done.stdout


def test_the_solution_passes_from_any_folder(attn: Attn, bundle: Path) -> None:
    shutil.copy(SOLUTION, stub_of(bundle))
    for folder, arguments in ((bundle, ["test", "1"]), (stub_of(bundle).parent, ["test"])):
        done = attn(*arguments, cwd=folder)
        assert done.returncode == 0
        assert "5 of 5 visible checks pass." in done.stdout


def test_a_full_clone_runs_only_visible_checks(attn: Attn, course_copy: object, tmp_path: Path) -> None:
    del course_copy
    shutil.copy(SOLUTION, stub_of(tmp_path / "course"))
    report = json.loads(attn("test", "softmax", "--json", cwd=tmp_path / "course").stdout)
    assert {check["suite"] for check in report["checks"]} == {"visible"}
    assert report["score"] == report["max_score"] == 6.0


def test_printed_text_is_shown(attn: Attn, bundle: Path) -> None:
    stub_of(bundle).write_text("def softmax(x, axis=-1):\n    print('shape', x.shape, '\\x1b[2J')\n    return x\n")
    done = attn("test", cwd=bundle)
    assert "  | shape (5,) \\u{1b}[2J" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_file_that_does_not_import_says_why_once(attn: Attn, bundle: Path) -> None:
    stub_of(bundle).write_text("import nothing_like_it\n")
    done = attn("test", cwd=bundle)
    assert done.returncode == 1
    assert done.stdout.count("No module named 'nothing_like_it'") == 1
    assert "Fix this first" in done.stdout


def test_a_newer_notebook_counts(attn: Attn, bundle: Path) -> None:
    notebook = stub_of(bundle).with_suffix(".ipynb")
    notebook.write_text(make_notebook(SOLUTION.read_text(), "softmax"))
    done = attn("test", cwd=bundle)
    assert done.returncode == 0
    assert "softmax.ipynb" in done.stdout


def test_an_unknown_module_is_a_usage_mistake(attn: Attn, bundle: Path) -> None:
    done = attn("test", "sotfmax", cwd=bundle)
    assert done.returncode == 2
    assert "Did you mean softmax?" in done.stderr


def test_grading_in_a_bundle_says_what_is_missing(attn: Attn, bundle: Path) -> None:
    done = attn("grade", SOLUTION, cwd=bundle)
    assert done.returncode == 2
    assert "In a student's bundle, use `attn test`" in done.stderr


@pytest.mark.parametrize("arguments", [["status"], [], ["test", "--help"], ["grade", "--help"]])
def test_light_commands_load_no_heavy_library(arguments: list[str]) -> None:
    script = (
        f"import sys; sys.argv = ['attn', *{arguments!r}]\nfrom cli.main import run; run()\n"
        "heavy = {'numpy', 'torch', 'pytest', '_pytest', 'psutil', 'nbformat'}\nprint(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_help_teaches_by_example(attn: Attn) -> None:
    assert "attn test softmax" in attn("--help").stdout
    assert "attn grade class/ --to reports" in attn("grade", "--help").stdout
    assert "attn dev new sorting" in attn("dev", "--help").stdout
    assert "attn release --bundle softmax" in attn("release", "--help").stdout
