"""The course: found from any folder inside it, and its mistakes reported with a fix."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.course.api import read_api
from grader.course.course import Course, find_course, read_course
from grader.course.module import KEYS, CourseError
from tests.conftest import ROOT


@pytest.mark.parametrize("below", [".", "modules", "modules/01_softmax", "tests/hidden", "docs"])
def test_course_is_found_from_any_folder_inside(below: str) -> None:
    course = find_course(ROOT / below)
    assert course.root == ROOT
    assert not course.is_bundle


def test_bundle_is_found_and_recognized(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "modules", tmp_path / "modules")
    course = find_course(tmp_path / "modules" / "01_softmax")
    assert course.root == tmp_path.resolve()
    assert course.is_bundle


def test_folder_outside_a_course_raises_course_error(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="not inside an AttnLab course"):
        find_course(tmp_path)


@pytest.mark.parametrize("name", ["01_softmax", "softmax", "01", "1"])
def test_module_is_found_by_any_of_its_names(course: Course, name: str) -> None:
    assert course.module(name).name == "01_softmax"


def test_unknown_module_suggests_the_nearest_name(course: Course) -> None:
    with pytest.raises(CourseError, match=r"no module 'sotfmax'\. Did you mean softmax\?"):
        course.module("sotfmax")
    with pytest.raises(CourseError, match="The modules are 01_softmax"):
        course.module("zzz")


def edited(course: Course, old: str, new: str) -> CourseError:
    """Change one module.toml and return the error."""
    file = course.modules[0].folder / "module.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(CourseError) as caught:
        read_course(course.root)
    assert caught.value.file == file
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("minutes = 60\n", "", "minutes", "is missing. Add a line like minutes = 60"),
        ("minutes = 60", "minuets = 60", "minuets", "Did you mean minutes?"),
        ("minutes = 60", "minutes = 60\nxyzzy = 1", "xyzzy", "The keys are title"),
        ("minutes = 60", "minutes = 'long'", "minutes", "whole number above 0, not 'long'"),
        ("minutes = 60", "minutes = true", "minutes", "whole number above 0"),
        ("minutes = 60", "minutes = 0", "minutes", "whole number above 0"),
        ('title = "Softmax"', "title = 3", "title", "must be text"),
        ('title = "Softmax"', 'title = " "', "title", "must be text"),
        ("requires = []", "requires = [1]", "requires", "must be a list of modules"),
        ("requires = []", 'requires = ["09_later"]', "requires", "not an earlier module"),
        ("order = 1", "order = 2", "order", "folder is called 01_softmax"),
        ('backend = "numpy"', 'backend = "jax"', "backend", "one of numpy, torch"),
        ("order = 1", "order 1", "", "is not TOML"),
    ],
)
def test_mistake_in_module_toml_names_file_key_and_fix(
    course_copy: Course, old: str, new: str, key: str, words: str
) -> None:
    error = edited(course_copy, old, new)
    assert error.key == key
    assert words in str(error)


def test_two_modules_with_the_same_number_are_refused(course_copy: Course) -> None:
    folder = course_copy.modules[0].folder
    shutil.copytree(folder, folder.with_name("01_again"))
    with pytest.raises(CourseError, match="same order"):
        read_course(course_copy.root)


def test_folder_that_is_not_a_module_name_is_refused(course_copy: Course) -> None:
    folder = course_copy.modules[0].folder
    folder.rename(folder.with_name("softmax"))
    with pytest.raises(CourseError, match="Name the folder like 01_warm_up"):
        read_course(course_copy.root)


def test_example_of_every_key_is_valid(course_copy: Course) -> None:
    lines = [line.replace('["01_warm_up"]', "[]") for line in KEYS.values()]
    (course_copy.modules[0].folder / "module.toml").write_text("\n".join(lines))
    assert read_course(course_copy.root).modules[0].points == 20


def test_api_never_comes_from_the_students_file(course_copy: Course, tmp_path: Path) -> None:
    module = course_copy.modules[0]
    expected = course_copy.api(module)
    module.stub.write_text("def softmax(: broken")
    assert course_copy.api(module) == expected
    shutil.copytree(course_copy.root / "modules", tmp_path / "bundle" / "modules")
    bundle = read_course(tmp_path / "bundle")
    assert bundle.api(bundle.modules[0]) == expected
    bundle.modules[0].golden.write_text("{}")
    with pytest.raises(CourseError, match="unpack the bundle again"):
        bundle.api(bundle.modules[0])


def test_missing_or_broken_solution_is_reported(course_copy: Course) -> None:
    module = course_copy.modules[0]
    course_copy.solution(module).write_text("def f(:\n")
    with pytest.raises(CourseError, match="its stub is not Python"):
        course_copy.api(module)
    course_copy.solution(module).unlink()
    with pytest.raises(CourseError, match="cannot be read"):
        course_copy.api(module)


def test_api_has_the_public_names_of_the_stub() -> None:
    api = read_api(
        "import numpy as np\nREFLECT_A = None\nOTHER = 1\nREFLECT_A = 2\ndef f(x): ...\ndef _helper(): ...\n"
        "class C:\n    def __init__(self): ...\n    def run(self): ...\n"
    )
    assert api.functions == ("f",)
    assert api.classes == {"C": ("run",)}
    assert api.constants == ("REFLECT_A",)
    assert api.targets == ("f", "C", "reflect")
