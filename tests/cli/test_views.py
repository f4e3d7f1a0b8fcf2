"""Commands that only one course has: they are those of the course around the current folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.views import with_module
from tests.conftest import ROOT, write

VIEW = """
[about]
sentence = "Sort things, and see why it works."

[views.race]
module = "race_view"
help = "Watch two sorts race."
examples = {"attn race" = "the two sorts of the lesson"}
"""
CODE = """
import click

@click.command()
def race():
    "Watch two sorts race."
    click.echo("ready, steady")
"""


@pytest.fixture
def sorting(tmp_path: Path) -> Path:
    """A course of another subject, whose package is installed."""
    shutil.copytree(ROOT / "modules" / "01_softmax", tmp_path / "course" / "modules" / "01_softmax")
    return write(tmp_path, {"course/course.toml": VIEW, "installed/race_view.py": CODE})


def run(folder: Path, *words: str, cwd: str = "course") -> subprocess.CompletedProcess[str]:
    script = "import os, sys; from cli.main import main; main()"
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(folder / "installed"), str(ROOT)))}
    command = [sys.executable, "-c", script, *words]
    return subprocess.run(command, cwd=folder / cwd, capture_output=True, text=True, check=False, env=env)


def test_a_course_has_its_own_sentence_and_views(sorting: Path) -> None:
    assert "  Sort things, and see why it works.\n" in run(sorting, "--help").stdout
    shown = run(sorting, "--commands").stdout
    assert "\n  attn race                  the two sorts of the lesson\n" in shown
    assert "  race        Watch two sorts race.\n" in shown
    assert "attention" not in shown
    assert run(sorting, "race").stdout == "ready, steady\n"
    assert "Did you mean race or" in run(sorting, "raec").stderr


def test_another_folder_has_no_views(sorting: Path) -> None:
    done = run(sorting, "race", cwd="installed")
    assert (done.returncode, "there is no command 'race'" in done.stderr) == (2, True)
    assert "A course can have more: run this in its folder." in done.stderr
    assert "Write programs piece by piece, and have every piece checked." in run(sorting, "--help", cwd=".").stdout
    assert "attn test warm_up" in run(sorting, "--help", cwd=".").stdout


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("race_view", "no_such_view", "views.race.module: there is no no_such_view. Install the package that has it"),
        (
            "race_view",
            "json",
            "views.race.module: json has no click command 'race'. Define it there, or name its module",
        ),
        ("[views.race]", "[views.test]", "views.test: is a command of every course. Choose another name"),
        ("[views.race]", "[veiws.race]", "veiws: is not a key here. Did you mean views?"),
    ],
)
def test_a_view_that_cannot_be_used_is_a_mistake_in_the_file(sorting: Path, old: str, new: str, words: str) -> None:
    write(sorting, {"course/course.toml": VIEW.replace(old, new)})
    done = run(sorting, "race")
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_help_is_shown_beside_a_broken_course_file(sorting: Path) -> None:
    write(sorting, {"course/course.toml": "x = = 1"})
    done = run(sorting, "--commands")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  test        Run the visible checks on your own file.\n" in done.stdout
    assert "The commands of this course are not listed." in done.stdout
    assert run(sorting, "--json", "status").returncode == 0


def test_an_example_names_the_module_in_its_own_column() -> None:
    text = "attn start warm_up --notebook   work in 01_warm_up\nattn next                       go on"
    assert with_module(text, "01_ab").splitlines()[0] == "attn start ab --notebook        work in 01_ab"
    assert (
        with_module(text, "01_a_very_long_slug")
        .splitlines()[0]
        .startswith("attn start a_very_long_slug --notebook  work")
    )
    assert with_module(text, "01_ab").splitlines()[1] == text.splitlines()[1]
