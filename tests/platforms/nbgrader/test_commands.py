"""The commands `attn course init` and `attn release --to`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course.course import Course
from grader.platforms.nbgrader import CourseDirError
from grader.platforms.nbgrader.course_dir import CONFIG, require_nbgrader
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.platforms.nbgrader.conftest import AttnHere


def attn(*arguments: object, cwd: Path = ROOT, path: str = os.defpath) -> subprocess.CompletedProcess[str]:
    """Run `attn` without an activated environment: nbgrader must find its own programs."""
    env = {**os.environ, "PATH": path}
    command = [EXECUTABLE, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.mark.exhaustive
def test_a_course_directory_is_made_completely_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "attention"
    done = attn("course", "init", folder, "--id", "attention-2026")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"attn release softmax --to {folder}" in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["gradebook.db", CONFIG, "source", "submitted"]
    config = (folder / CONFIG).read_text()
    assert "'attention-2026'" in config
    assert f"c.AttnLab.course = {str(ROOT)!r}" in config
    assert "grader" not in [line.split()[1] for line in config.splitlines() if line.startswith(("import ", "from "))]
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    again = attn("course", "init", folder)
    assert again.returncode == 2
    assert "already exists" in again.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    broken = attn("course", "init", tmp_path / "other", "--db", "nosuchdialect://x")
    assert broken.returncode == 2
    assert "the gradebook cannot be opened" in broken.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["attention"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["course", "init"], "Missing argument"),
        (["course", "init", "my course"], "cannot be the id of a course"),
        (["course", "init", "modules/x"], "is inside the course itself"),
        (["course", "init", "nowhere", "--late-penalty", "10"], "is not a late penalty"),
        (["release", "softmax", "--to", "nowhere", "--due", "soon"], "is not a date"),
        (["release", "--bundle", "softmax", "--to", "nowhere", "--due", "2026-10-01"], "not for a bundle"),
        (["release", "softmax", "--to", "nowhere"], "To make one, run: attn course init nowhere"),
        (["release", "sotfmax", "--to", "nowhere"], "Did you mean softmax?"),
    ],
)
def test_usage_mistakes_exit_2(attn_here: AttnHere, arguments: list[str], words: str) -> None:
    status, out, err = attn_here(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert not (ROOT / "nowhere").exists()


@pytest.mark.exhaustive
def test_a_gradebook_can_be_another_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'grades.db'}"
    done = attn("course", "init", tmp_path / "attention", "--db", url, "--json")
    made = json.loads(done.stdout)
    assert made == {
        "folder": str(tmp_path / "attention"),
        "config": str(tmp_path / "attention" / CONFIG),
        "course": str(ROOT),
    }
    assert f"c.CourseDirectory.db_url = {url!r}" in Path(made["config"]).read_text()
    assert (tmp_path / "grades.db").is_file()
    assert not (tmp_path / "attention" / "gradebook.db").exists()


@pytest.fixture
def tiny_clone(tiny: Course) -> Course:
    """A clone of a course with one small sound module."""
    for name in ("grader", "cli"):
        shutil.copytree(ROOT / name, tiny.root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tiny.root)
    return tiny


@pytest.mark.exhaustive
def test_only_a_sound_module_is_released(tiny_clone: Course, tmp_path: Path) -> None:
    folder = tmp_path / "attention"
    assert attn("course", "init", folder, cwd=tiny_clone.root).returncode == 0
    lesson = tiny_clone.modules[0].lesson
    text = lesson.read_text()
    lesson.write_text("")
    done = attn("release", "tiny", "--to", folder, cwd=tiny_clone.root)
    assert done.returncode == 3
    assert "there is no lesson" in done.stderr
    assert not (folder / "release").exists()
    lesson.write_text(text)
    done = attn("release", "tiny", "--to", folder, "--json", cwd=tiny_clone.root)
    assert done.returncode == 0, done.stderr
    (made,) = json.loads(done.stdout)
    assert made["module"] == "01_tiny"
    assert made["points"] == tiny_clone.modules[0].points
    assert (Path(made["folder"]) / "tiny.ipynb").is_file()


def test_without_nbgrader_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(CourseDirError, match=r"python -m pip install .*\[instructor\]"):
        require_nbgrader()


@pytest.mark.parametrize("command", [["course"], ["course", "init"], ["release"], ["gradebook", "sync"]])
def test_help_imports_nothing_heavy_and_shows_an_example(command: list[str]) -> None:
    heavy = {"numpy", "pytest", "torch", "nbgrader", "nbformat", "traitlets"}
    code = (
        f"import sys; sys.argv = ['attn', *{command!r}, '--help']\nfrom cli.main import run; run()\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"attn {' '.join(command)} " in done.stdout.replace("Usage: attn", "")
    assert done.stdout.endswith("[]\n")
