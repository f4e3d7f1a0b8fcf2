"""The cells of an nbgrader assignment: their roles, their points, and which of them count."""

from __future__ import annotations

import json
import re
import sys

import pytest

from grader.course.course import Course, read_course
from grader.course.notebook import read_cells
from grader.grading.notebook_magic import ChecksFailedError, check
from grader.platforms.nbgrader.assignment import assignment_cells, open_question, source_notebook, target_points
from grader.platforms.nbgrader.visible_checks import visible_checks
from grader.sandbox.worker.loader import compile_cell
from grader.submission.assignment_cells import Cell, CellsError, given_to_students, script_roles, with_tests
from tests.conftest import ROOT

MODULES = [module.name for module in read_course(ROOT).modules]


@pytest.mark.parametrize("name", MODULES)
def test_every_target_has_one_answer_and_one_test_with_its_points(course: Course, name: str) -> None:
    module = course.module(name)
    cells = assignment_cells(course, module)
    targets = course.api(module).targets
    answers = {cell.target: number for number, cell in enumerate(cells) if cell.role == "answer"}
    tests = {cell.target: number for number, cell in enumerate(cells) if cell.role == "test"}
    assert answers.keys() == tests.keys() == set(targets)
    assert all(answers[target] < tests[target] for target in targets)
    assert {cell.target: cell.points for cell in cells if cell.role == "test"} == target_points(module)
    assert sum(cell.points for cell in cells if cell.role == "test") == module.points
    assert [cell.kind for cell in cells if cell.role == "open"] == ["markdown"]
    ids = [cell.grade_id for cell in cells if cell.grade_id]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", one) for one in ids)


@pytest.mark.parametrize("name", MODULES)
def test_test_cells_accept_the_solution_and_refuse_the_stub(
    course: Course, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = course.module(name)
    monkeypatch.syspath_prepend(module.folder)  # a fallback lies beside the notebook
    for path in module.fallbacks.values():
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
    right: dict[str, object] = {"__name__": "right"}
    exec(course.solution(module).read_text(), right)
    stub: dict[str, object] = {"__name__": "stub"}
    exec(course.stub_text(module), stub)
    known = set(right)
    for target, text in visible_checks(module, course.api(module)).items():
        assert "visible checks pass" in check(f"{name} {target}", text, right)
        with pytest.raises(ChecksFailedError, match=r"not written yet|still None"):
            check(f"{name} {target}", text, stub)
    assert set(right) == known  # the tests leave no names behind


def test_check_in_a_notebook_reports_failures_and_changes_nothing(course: Course) -> None:
    text = visible_checks(course.modules[0], course.api(course.modules[0]))["softmax"]
    names: dict[str, object] = {"__name__": "mine", "SCORES": "mine"}
    exec("import numpy as np\ndef softmax(x, axis=-1):\n    x[0] = 7\n    return x\n", names)
    with pytest.raises(ChecksFailedError) as failed:
        check("01_softmax softmax", text, names)
    shown = failed.value._render_traceback_()
    assert shown[0] == "softmax: 0 of 3 visible checks pass."
    assert "FAILED  softmax of the lesson's scores gives the lesson's weights" in shown[1]
    assert "got 7, expected 0.05462299" in shown[2]
    assert not any("Traceback" in line for line in shown)
    assert names["SCORES"] == "mine"


def test_check_arguments_are_copies_as_in_grading() -> None:
    """A check sees changes to its own inputs. Other checks do not."""
    text = """
import numpy as np
from grader.testing import assert_unmodified, worth
X = np.zeros(3)
@worth(1, "leaves its input")
def test_leaves_its_input(student):
    assert_unmodified(student.f.call(X), X)
@worth(1, "what came before does not matter", target="f")
def test_again(student):
    assert X.sum() == 0
"""
    names: dict[str, object] = {}
    exec("def f(x):\n    x += 1\n    return x\n", names)
    with pytest.raises(ChecksFailedError, match=r"1 of 3 visible checks pass\.\n  FAILED  leaves its input"):
        check("01_softmax f", text, names)


def test_returned_values_cross_the_wire_as_in_grading(course: Course) -> None:
    """An object that only pretends to be an array is not accepted."""
    text = visible_checks(course.modules[0], course.api(course.modules[0]))["softmax"]
    names: dict[str, object] = {}
    exec("class Yes:\n    def __eq__(self, other): return True\ndef softmax(x, axis=-1):\n    return Yes()\n", names)
    with pytest.raises(ChecksFailedError, match="0 of 2"):
        check("01_softmax softmax", text, names)


def test_open_question_comes_from_the_lesson(course: Course) -> None:
    assert all(open_question(module) for module in course.modules)
    assert open_question(course.modules[0]).startswith("On paper, softmax never gives a weight of exactly 0. When")
    assert open_question(course.modules[0]).endswith("would you want it to?")


def test_locked_cells_keep_their_original_text(course: Course) -> None:
    module = course.modules[0]
    document = json.loads(source_notebook(course, module))
    by_id = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in document["cells"]}
    before = read_cells(json.dumps(document).encode(), given_to_students(module))
    assert "import numpy as np" in before
    assert not [cell for cell in before if "%%check" in cell or "%load_ext" in cell]
    by_id["imports-1"]["source"] = "import evil"
    by_id["test-softmax"]["source"] = ["def softmax(x):\n", "    return 1"]
    by_id["setup"]["source"] = "cheat = 1"
    assert read_cells(json.dumps(document).encode(), given_to_students(module)) == before
    assert "import evil" in read_cells(json.dumps(document).encode())


def test_copy_of_a_locked_cell_is_the_students(course: Course) -> None:
    """As in nbgrader: of two cells with the same id, the last one is the locked cell."""
    module = course.modules[0]
    document = json.loads(source_notebook(course, module))
    number = next(n for n, cell in enumerate(document["cells"]) if "import numpy" in "".join(cell["source"]))
    document["cells"].insert(number, {**document["cells"][number], "source": "import math"})
    cells = read_cells(json.dumps(document).encode(), given_to_students(module))
    assert cells[1:3] == ("import math", "import numpy as np")


def test_test_cell_without_metadata_is_not_student_code(course: Course) -> None:
    module = course.modules[0]
    (cell,) = [one for one in assignment_cells(course, module) if one.target == "softmax" and one.role == "test"]
    assert "SCORES" in cell.source
    names: dict[str, object] = {}
    exec(compile_cell(cell.source, "softmax.ipynb[4]", 0, notebook=True), names)
    assert "SCORES" not in names


REGION = "    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n"


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (f"# %%\ndef f():\n{REGION}\n\ndef g():\n{REGION}", "defines f, g. It must define exactly one target"),
        (f"# %%\ndef _f():\n{REGION}", "defines nothing"),
        (f"# %%\ndef f():\n{REGION}\n# %%\ndef f():\n{REGION}", "two cells have a solution region for f"),
        ("# %%\ndef f():\n    return 1\n", "no cell has a solution region for f"),
    ],
)
def test_bad_solution_raises_cells_error_with_the_reason(script: str, problem: str) -> None:
    with pytest.raises(CellsError, match=problem):
        with_tests(script_roles(script), {"f": Cell("code", "", "test", "test-f", 1.0, "f")})


def test_a_test_cell_comes_after_the_examples_and_before_the_next_text() -> None:
    script = f"# %%\ndef f():\n{REGION}# %%\nf()\n# %% [markdown]\n# Next\n# %%\ndef g():\n{REGION}"
    tests = {name: Cell("code", "", "test", f"test-{name}", 1.0, name) for name in ("f", "g")}
    placed = with_tests(script_roles(script), tests)
    assert [cell.grade_id or cell.kind for cell in placed] == [
        *("answer-f", "code", "test-f", "markdown", "answer-g", "test-g")
    ]


def test_a_notebook_may_begin_with_a_byte_order_mark() -> None:
    """Some editors on Windows write one."""
    cell = {"cell_type": "code", "source": "x = 1", "metadata": {}}
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    assert read_cells(text.encode("utf-8-sig")) == read_cells(text.encode()) == ("x = 1",)
