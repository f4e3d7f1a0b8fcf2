"""`attn` as a person runs it: a process of its own, its output and its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

ATTN = str(Path(sys.executable).with_name("attn"))
SOLUTION = ROOT / "solutions" / "01_softmax" / "softmax.py"
STUB = ROOT / "modules" / "01_softmax" / "softmax.py"


def attn(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ATTN, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)


def test_full_marks_exit_0() -> None:
    done = attn("grade", SOLUTION)
    assert (done.returncode, done.stderr) == (0, "")
    assert "score 40 / 40 (graded, sandbox: none)" in done.stdout


def test_less_than_full_marks_exit_1() -> None:
    done = attn("grade", STUB)
    assert done.returncode == 1
    assert "score 0 / 40" in done.stdout


def test_json_is_one_array_of_reports_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "ana.py").write_bytes(SOLUTION.read_bytes())
    (tmp_path / "ben.py").write_text("print('noise')\nimport sys; sys.stderr.write('more')\n")
    done = attn("grade", tmp_path, "--module", "softmax", "--json")
    reports = json.loads(done.stdout)
    assert [(report["submission"], report["score"]) for report in reports] == [("ana", 40.0), ("ben", 0.0)]
    assert done.returncode == 1


def test_the_same_file_graded_by_two_processes_gives_the_same_bytes(tmp_path: Path) -> None:
    odd = tmp_path / "odd.py"
    odd.write_text(
        "class T: pass\ndef softmax(x, axis=-1):\n    raise ValueError(f'{T()} {hash(str(x))} {set(\"xyz\")}')\n"
    )
    texts = []
    for run in ("one", "two"):
        attn("grade", odd, "-m", "1", "--to", tmp_path / run)
        data = json.loads((tmp_path / run / "01_softmax" / "odd.json").read_text())
        data["timing"] = None
        texts.append(json.dumps(data))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py"], "there is no such file or folder"),
        (["README.md"], "say which it is with --module"),
        ([], "Missing argument"),
        ([str(SOLUTION), "--module", "sotfmax"], "Did you mean softmax?"),
    ],
)
def test_usage_mistakes_exit_2(arguments: list[str], words: str) -> None:
    done = attn("grade", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_an_empty_folder_is_nothing_to_grade(tmp_path: Path) -> None:
    done = attn("grade", tmp_path)
    assert done.returncode == 2
    assert "nothing to grade" in done.stderr


def test_a_fault_of_the_course_exits_3(tmp_path: Path) -> None:
    import shutil

    for name in ("modules", "solutions", "tests/hidden"):
        shutil.copytree(ROOT / name, tmp_path / name)
    suite = tmp_path / "tests" / "hidden" / "test_01_softmax.py"
    suite.write_text(suite.read_text() + "\n\ndef test_unmarked(student):\n    pass\n")
    done = attn("grade", SOLUTION, cwd=tmp_path)
    assert done.returncode == 3
    assert "test_unmarked: has no @worth" in done.stderr
    suite.write_text(
        suite.read_text()
        .replace("def test_softmax_axis(student, rng):", "def test_softmax_axis(student, rng):\n    1 / 0\n", 1)
        .replace("\n\ndef test_unmarked(student):\n    pass\n", "")
    )
    done = attn("grade", SOLUTION, cwd=tmp_path)
    assert done.returncode == 3
    assert "GRADER FAULT" in done.stdout
    assert "– / 40" in done.stdout


def test_outside_a_course_exit_3_says_where_to_go(tmp_path: Path) -> None:
    done = attn("grade", SOLUTION, cwd=tmp_path)
    assert done.returncode == 3
    assert "not inside an AttnLab course" in done.stderr


def test_help_teaches_by_example_and_is_light() -> None:
    done = attn("grade", "--help")
    assert done.returncode == 0
    assert "attn grade class/ --to reports" in done.stdout
    heavy = (
        "import sys; sys.argv = ['attn', '--help']\ntry:\n    from cli.main import main; main()\n"
        "except SystemExit:\n    pass\n"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", heavy + "print(sorted({'numpy', 'torch', 'pytest', 'psutil'} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.endswith("[]\n")


def test_dev_build_writes_what_the_solution_gives(tmp_path: Path) -> None:
    import shutil

    for name in ("modules", "solutions", "tests/hidden"):
        shutil.copytree(ROOT / name, tmp_path / name)
    stub = tmp_path / "modules" / "01_softmax" / "softmax.py"
    stub.unlink()
    assert attn("dev", "build", cwd=tmp_path / "modules").stdout == "01_softmax: written\n"
    assert stub.read_bytes() == STUB.read_bytes()
    assert attn("dev", "build", "1", cwd=tmp_path).stdout == "01_softmax: up to date\n"
