"""`attn course new` and `--course`: a course of any subject, in an empty folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
import pytest

from cli.main import COMMANDS
from grader.authoring.bundle import BundleError, make_bundle, wheel_leaks
from grader.authoring.examples import EXAMPLES
from grader.authoring.new_course import make_course
from grader.authoring.wheel import write_wheel
from grader.core.new_folder import FolderError
from grader.course.course import Course, read_course
from grader.course.course_file import read_course_file
from grader.course.engine import WHEEL, versions_for
from tests.acceptance.own_course import foreign_files, foreign_words, wheel_problems
from tests.cli.conftest import Attn
from tests.conftest import ROOT

# A misconception that is none.
RIGHT = """

# %% right
LIKELY = "a"
HINT = "b"


def word_counts(text):
    words = text.lower().split()
    return {word: words.count(word) for word in words}
"""


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A new course."""
    return make_course(tmp_path_factory.mktemp("new") / "words", 'Words "and" texts', "Count them.", "words")


@pytest.fixture
def copy(words: Course, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return Path(shutil.copytree(words.root, tmp_path / "words"))


def test_a_new_course_has_its_own_names_and_one_module(words: Course) -> None:
    about = read_course_file(words.root).about
    assert (about.title, about.sentence) == ('Words "and" texts', "Count them.")
    assert read_course_file(words.root).rules == {"name": about.title}
    assert [module.name for module in words.modules] == ["01_word_counts"]
    assert (words.root / "README.md").read_text().startswith('# Words "and" texts\n')
    assert (words.root / ".attnlab" / ".gitignore").read_text() == "*\n"
    for path in words.root.rglob("*"):
        assert path.is_dir() or not foreign_words(path.read_text()), path


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_new_course_is_sound_at_once(attn: Attn, tmp_path: Path, example: str) -> None:
    done = attn("course", "new", "new-course", "--example", example, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "  cd new-course\n  attn dev check\n  attn release --bundle " in done.stdout
    assert ": New course, with one small module to replace, 01_" in done.stdout
    checked = attn("dev", "check", cwd=tmp_path / "new-course")
    assert (checked.returncode, " sound (" in checked.stdout) == (0, True), checked.stdout


def test_an_unsound_new_course_is_found(attn: Attn, copy: Path) -> None:
    misconceptions = copy / "solutions" / "01_word_counts" / "misconceptions.py"
    misconceptions.write_text(misconceptions.read_text() + RIGHT)
    assert attn("dev", "check", cwd=copy).returncode == 1


def test_a_folder_in_use_is_refused_and_not_changed(attn: Attn, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    done = attn("course", "new", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "is not empty: it has mine.txt. Name a new folder: attn course new DIR" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert attn("course", "new", "x", "--title", "two\nlines", cwd=tmp_path).returncode == 2


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.authoring.new_course.build_module", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_course(tmp_path / "new", "A", "B.", "words")
    assert list(tmp_path.iterdir()) == []


def test_what_git_keeps_stays(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine\n")
    made = make_course(tmp_path, "A", "B.", "numbers")
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
    assert made.modules
    with pytest.raises(FolderError, match="is not empty"):
        make_course(tmp_path, "A", "B.", "numbers")


def test_a_course_without_its_example_takes_a_first_module(attn: Attn, copy: Path) -> None:
    for path in ("modules", "solutions", "tests/hidden"):
        shutil.rmtree(copy / path)
    refused = attn("dev", "check", cwd=copy)
    assert refused.returncode == 2
    assert "has no module yet. Make one: attn dev new NAME" in " ".join(refused.stderr.split())
    assert attn("dev", "new", "sorting", cwd=copy).returncode == 0
    assert [module.name for module in read_course(copy).modules] == ["01_sorting"]


@pytest.mark.parametrize("words_", [["--course", "words", "status"], ["status", "--course=words"]])
def test_the_option_names_the_course_from_any_folder(attn: Attn, copy: Path, words_: list[str]) -> None:
    assert attn(*words_, cwd=copy.parent).stdout.startswith("01_word_counts ")


def test_files_on_the_command_line_are_seen_from_the_current_folder(attn: Attn, copy: Path) -> None:
    shutil.copy(copy / "solutions" / "01_word_counts" / "word_counts.py", copy.parent)
    done = attn("grade", "word_counts.py", "--course", "words", "--json", cwd=copy.parent)
    assert [report["score"] for report in json.loads(done.stdout)] == [10.0], done.stderr


def test_outside_a_course_attn_says_how_to_begin(attn: Attn, tmp_path: Path) -> None:
    done = attn(cwd=tmp_path)
    assert done.returncode == 2
    assert "attn init DIR" in done.stderr
    assert "attn course new DIR" in done.stderr


def test_no_help_names_another_course(words: Course) -> None:
    # In a process of its own: in this one, a help may already name the first module of another course.
    code = "import json; from tests.acceptance.own_course import all_helps; print(json.dumps(all_helps()))"
    command = [sys.executable, "-c", code]
    variables = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=words.root, env=variables, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert len(found) > len(COMMANDS)
    assert {name: foreign_words(text) for name, text in found.items() if foreign_words(text)} == {}


def test_a_planted_word_is_found(tmp_path: Path) -> None:
    assert foreign_words("A word.\n  Your own Attention.\n") == ["Your own Attention."]
    (tmp_path / "page.html").write_text("<p>softmax</p>")
    assert list(foreign_files(tmp_path)) == [f"{tmp_path / 'page.html'}: <p>softmax</p>"]


def test_a_wheel_that_was_changed_is_found(words: Course, tmp_path: Path) -> None:
    wheel = write_wheel(words.root, tmp_path)
    assert list(wheel_problems(wheel)) == []
    assert wheel.read_bytes() == write_wheel(words.root, tmp_path).read_bytes()
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("attnlab/lib/cli/more.py", "")
    assert list(wheel_problems(wheel)) == ["attnlab/lib/cli/more.py is not as RECORD says"]
    assert list(wheel_leaks(words, wheel)) == [
        f"{WHEEL} contains attnlab/lib/cli/more.py, which is not a file of cli or grader"
    ]


def test_an_engine_that_is_not_the_installed_one_makes_no_wheel(
    words: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.authoring.wheel.__version__", "0.9.0")
    with pytest.raises(BundleError, match=r"but its files are of 0\.9\.0\. Install it again"):
        make_bundle(words, words.modules, tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []


def test_versions_are_those_of_the_course_or_those_installed(copy: Path) -> None:
    assert f"numpy=={numpy.__version__}\n" in versions_for(copy)
    assert "attnlab" not in versions_for(copy)
    assert "+" not in versions_for(copy)  # the name of a build, such as +cpu, is none of other systems
    (copy / "constraints.txt").write_text("numpy==2.0\n")
    assert versions_for(copy) == "numpy==2.0\n"
