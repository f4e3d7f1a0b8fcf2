"""Releases into a course directory by nbgrader's own generate_assignment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from grader.authoring.bundle import bundle_leaks
from grader.course.course import Course, read_course
from grader.course.engine import WHEEL
from grader.course.notebook import read_cells, script_cells
from grader.platforms.nbgrader import CourseDirError
from grader.platforms.nbgrader.course_dir import CONFIG, init_course_dir
from grader.platforms.nbgrader.release import ReleaseError, release_modules
from tests.platforms.nbgrader.conftest import Nbgrader, autograde, gradebook, reconfigure, scores
from tests.platforms.nbgrader.students import MODULE, NO_MAXIMUM, RIGHT, Notebook, grade_id_of, hand_in


def executed(notebook: Notebook, folder: Path) -> dict[str, str]:
    """Run a notebook in a real kernel, and return the output of its test cells, by id."""
    book = nbformat.reads(notebook.text, as_version=4)
    NotebookClient(book, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    shown = {}
    for cell in book.cells:
        if cell.cell_type == "code" and grade_id_of(cell).startswith("test-"):
            texts = [one.get("data", {}).get("text/plain") or "\n".join(one.traceback) for one in cell.outputs]
            shown[grade_id_of(cell)] = "\n".join(texts)
    return shown


def test_the_release_has_stubs_and_no_solutions(released: Path, course: Course) -> None:
    folder = released / "release" / MODULE
    beside = {path.name for path in course.module(MODULE).beside_lesson}
    assert {"before-you-start.md", "steps.svg"} < beside
    assert {path.name for path in folder.iterdir()} == {"softmax.ipynb", "README.md", WHEEL, *beside}
    assert list(bundle_leaks(course, folder)) == []
    book = nbformat.read(folder / "softmax.ipynb", as_version=4)
    nbformat.validate(book)
    stub = [source for kind, source in script_cells(course.stub_text(course.module(MODULE))) if kind == "code"]
    tests = ("%%check", "# Run this cell first")
    cells = read_cells((folder / "softmax.ipynb").read_bytes())
    assert [cell for cell in cells if not cell.startswith(tests)] == stub
    locked = {grade_id_of(cell) for cell in book.cells if cell.metadata.get("editable") is False}
    assert locked == {"setup", "imports-1", "open-question", *(f"test-{target}" for target in RIGHT)}


def test_the_gradebook_has_the_points(released: Path, course: Course) -> None:
    with gradebook(released) as book:
        assignment = book.find_assignment(MODULE)
        assert assignment.max_code_score == course.module(MODULE).points
        assert assignment.max_written_score == 5


def test_the_released_notebook_runs(notebook: Notebook, tmp_path: Path) -> None:
    shown = executed(notebook, tmp_path)
    assert shown.pop("test-reflect").startswith("reflect: 0 of 1 visible checks pass.")
    for name, text in shown.items():
        assert text.startswith(f"{name.removeprefix('test-')}: not written yet."), text


def test_the_test_cells_pass_right_and_fail_wrong_answers(notebook: Notebook, tmp_path: Path) -> None:
    wrong = NO_MAXIMUM.replace("axis=axis", "axis=0")
    shown = executed(notebook.answer(RIGHT | {"log_softmax": "def log_softmax(x, axis=-1):\n    return x"}), tmp_path)
    assert shown["test-softmax"].startswith("softmax: 2 of 2 visible checks pass.")
    assert "FAILED  log_softmax of the lesson's scores" in shown["test-log_softmax"]
    shown = executed(notebook.answer(RIGHT | {"softmax": wrong}), tmp_path)
    assert "FAILED  the weights of each row are 0 or above and sum to 1" in shown["test-softmax"]


@pytest.mark.exhaustive
def test_generate_assignment_makes_the_same_release(course_dir: Path, nbgrader: Nbgrader) -> None:
    """Formgrader's button does the same: the folder is self-contained."""
    release = course_dir / "release" / MODULE
    before = {path.name: path.read_bytes() for path in release.iterdir()}
    done = nbgrader(course_dir, "generate_assignment", MODULE, "--force")
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_bytes() for path in release.iterdir()} == before


@pytest.mark.exhaustive
def test_a_second_release_keeps_an_edited_source(course_dir: Path, course: Course) -> None:
    source = course_dir / "source" / MODULE / "softmax.ipynb"
    made = source.read_bytes()
    source.write_text("my notes")
    release_modules(course, course.modules[:1], course_dir)
    assert source.read_bytes() == made
    assert (course_dir / "replaced" / f"{MODULE}-1" / "softmax.ipynb").read_text() == "my notes"
    assert not list(course_dir.glob(".release-*"))


@pytest.mark.exhaustive
def test_a_submitted_assignment_is_released_again_only_with_force(
    course_dir: Path, course: Course, notebook: Notebook
) -> None:
    hand_in(course_dir, "ana", notebook.answer(RIGHT).text)
    with pytest.raises(CourseDirError, match="already been submitted by ana"):
        release_modules(course, course.modules[:1], course_dir)
    assert autograde(course_dir, "ana")["success"]
    release_modules(course, course.modules[:1], course_dir, force=True)
    assert scores(course_dir) == {"ana": 46.0}
    assert (course_dir / "submitted" / "ana" / MODULE / "softmax.ipynb").is_file()
    assert autograde(course_dir, "ana")["success"]


def test_changed_cells_of_graded_work_are_refused_and_nothing_is_lost(
    course_dir: Path, course: Course, notebook: Notebook
) -> None:
    hand_in(course_dir, "ana", notebook.answer(RIGHT).text)
    assert autograde(course_dir, "ana")["success"]
    with gradebook(course_dir) as book:  # as if a function had a different name at that time
        book.find_source_cell("test-softmax", "softmax", MODULE).name = "test-soft"
        book.db.commit()
    before = {path: path.read_bytes() for path in course_dir.rglob("*") if path.is_file()}
    with pytest.raises(CourseDirError, match="already been graded with different cells: test-soft, test-softmax"):
        release_modules(course, course.modules[:1], course_dir, force=True)
    assert {path: path.read_bytes() for path in course_dir.rglob("*") if path.is_file()} == before


@pytest.fixture
def clone(course: Course, tmp_path: Path) -> Course:
    """A clone of the course that a test may break."""
    root = tmp_path / "clone"
    for name in ("modules", "solutions", "tests/hidden", "grader", "cli"):
        shutil.copytree(course.root / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(course.root / name, root)
    return read_course(root)


@pytest.mark.exhaustive
def test_a_release_with_a_leak_is_not_made(clone: Course, tmp_path: Path) -> None:
    module = clone.modules[0]
    region = clone.solution(module).read_text().split("### BEGIN SOLUTION\n")[1].split("    ### END")[0]
    module.lesson.write_text(f"{module.lesson.read_text()}\n```\n{region}```\n")
    root = tmp_path / "attention"
    init_course_dir(clone, root)
    with pytest.raises(ReleaseError, match="contains a line of the solution"):
        release_modules(clone, [module], root)
    assert not (root / "release").exists()
    assert list((root / "source").iterdir()) == []


def test_a_course_directory_of_another_course_is_refused(course_dir: Path, course: Course, tmp_path: Path) -> None:
    with pytest.raises(CourseDirError, match="is not an nbgrader course directory"):
        release_modules(course, course.modules[:1], tmp_path)
    reconfigure(course_dir, str(course.root), "/somewhere/else")
    with pytest.raises(CourseDirError, match="belongs to the course in /somewhere/else"):
        release_modules(course, course.modules[:1], course_dir)
    (course_dir / CONFIG).write_text("c = get_config()\n")
    with pytest.raises(CourseDirError, match="does not mention AttnLab"):
        release_modules(course, course.modules[:1], course_dir)


def test_leaks_are_found_in_the_text_of_cells(course: Course, released: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(released / "release" / MODULE, tmp_path / "release")
    path = folder / "softmax.ipynb"
    document = json.loads(path.read_text())
    hidden = course.hidden_suite(course.module(MODULE)).read_text().splitlines(keepends=True)
    document["cells"][3]["source"] = hidden[50:70]
    path.write_text(json.dumps(document))
    assert "contains a part of the hidden suite" in next(bundle_leaks(course, folder))
