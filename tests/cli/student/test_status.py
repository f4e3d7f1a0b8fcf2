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


def test_status_reads_the_beginning_of_a_golden_file(attn: Attn, bundle: Path) -> None:
    """It must be quick. Half a megabyte of results of probes follows the stub."""
    golden = stub_of(bundle).parent / "golden.json"
    text = golden.read_text()
    golden.write_text(text[: text.index('"targets"')])
    assert "01_softmax               not started" in attn("status", cwd=bundle).stdout
    stub_of(bundle).write_text(stub_of(bundle).read_text() + "\n")
    assert "Reflect 0 of 2 answered" in attn("status", cwd=bundle).stdout


def test_a_complete_module_takes_one_line_of_status(attn: Attn, bundle: Path) -> None:
    shutil.copy(SOLUTION, stub_of(bundle))
    attn("complete", "softmax", cwd=bundle)
    lines = attn("status", cwd=bundle).stdout.splitlines()
    assert lines[0] == "course #----------- 1 of 12"
    assert lines[2] == "01_softmax               complete; all 5 visible checks pass"
    assert lines[3].startswith("02_loop_attention")
    assert len(lines) <= 23
    assert "Reflect 2 of 2 answered" in attn("status", "--all", cwd=bundle).stdout


def test_every_screen_of_the_loop_has_the_bar_of_the_course(attn: Attn, bundle: Path) -> None:
    bar = "course ------------ 0 of 12"
    for arguments in ([], ["status"], ["start", "softmax"], ["test", "softmax"], ["hint", "softmax"]):
        shown = attn(*arguments, cwd=bundle).stdout
        assert bar in shown, arguments
        assert max(map(len, shown.splitlines()[1:])) <= 80


def test_a_path_names_its_module(attn: Attn, bundle: Path) -> None:
    file = stub_of(bundle)
    assert "01_softmax · softmax.py" in attn("test", file, cwd=ROOT.parent).stdout  # from any folder
    assert "01_softmax · softmax.py" in attn("test", "01_softmax/softmax.py", cwd=bundle / "modules").stdout
    assert attn("start", file, cwd=bundle).stdout.startswith("01_softmax")
    other = attn("test", "./course.toml", cwd=bundle)
    assert other.returncode == 2
    assert "course.toml is not in the folder of a module" in other.stderr
    assert "there is no file nowhere/softmax.py" in attn("test", "nowhere/softmax.py", cwd=bundle).stderr


@pytest.mark.parametrize("text", ["", "\n  \n", "# my notes\n"])
def test_an_empty_file_is_called_empty(attn: Attn, bundle: Path, text: str) -> None:
    stub_of(bundle).write_text(text)
    done = attn("test", "softmax", cwd=bundle)
    assert done.returncode == 1
    words = " ".join(done.stdout.split())
    assert "softmax.py is empty: it has no code." in words
    assert "`attn reset softmax`" in words


def test_help_is_also_a_word(attn: Attn) -> None:
    assert attn("help").stdout == attn("--help").stdout
    assert attn("help", "test").stdout == attn("test", "--help").stdout
    assert attn("help", "dev", "new").stdout == attn("dev", "new", "--help").stdout
    assert "there is no command 'nothing'" in attn("help", "nothing").stderr


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
