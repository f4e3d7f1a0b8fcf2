"""A module on top of another: a student's own earlier module is used, and costs nothing if it is at fault."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from grader.authoring.bundle import leaks
from grader.core.report import EarlierModule, Report, report_from
from grader.course.course import Course, read_course
from grader.course.student_files import released_files
from grader.grading.grade import check_own_file, grade
from grader.grading.load_student import open_student
from grader.grading.stand_in import StandIn
from grader.submission.fallbacks import own_with_fallbacks
from grader.submission.submission import Source, Submission
from tests.authoring.small_courses import built, problems
from tests.conftest import ROOT

RIGHT = "def double(x):\n    return x + x\n"
SQUARES = "def double(x):\n    return x * x\n"
TOP = "from mylab.double import double\n\n\ndef quadruple(x):\n    return double(double(x))\n"
# n^2 steps: it breaks its own limit, and would break that of the module on top.
SLOW = (
    "def double(x):\n    for one in x.ravel():\n        for other in x.ravel():\n            pass\n    return x + x\n"
)
OTHER_INPUT = "import numpy as np\n\n\ndef double(x):\n    return 2 * x if np.ndim(x) < 3 else x\n"


@pytest.fixture(scope="module")
def on_top(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return built("on_top", tmp_path_factory.mktemp("courses"))


def graded(course: Course, **files: str) -> Report:
    """Grade 02_quadruple of a student who handed in these files."""
    sources = {slug: Source(f"{slug}.py", (text,), notebook=False) for slug, text in files.items()}
    reports: list[Report] = []
    submission = Submission("ana", "02_quadruple", "quadruple.py", sources)
    grade(course, course.module("quadruple"), [submission], reports.append, allow_unjailed=True)
    return reports[0]


def test_both_modules_are_sound(on_top: Course) -> None:
    assert problems(on_top, "double") == problems(on_top, "quadruple") == ""


@pytest.mark.parametrize(
    ("own", "used", "why"),
    [
        (RIGHT, "own", ""),
        (None, "fallback", "is missing"),
        (SQUARES, "fallback", "fails its checks"),
        ("def double(x):\n    raise NotImplementedError\n", "fallback", "fails its checks"),
        ("def double(x:\n", "fallback", "cannot be imported"),
        ("import os\nos._exit(0)\n", "fallback", "cannot be imported"),
        (SLOW, "fallback", "breaks a limit on its costs"),
    ],
)
def test_a_right_module_gets_full_marks_on_any_earlier_one(
    on_top: Course, own: str | None, used: str, why: str
) -> None:
    report = graded(on_top, quadruple=TOP, **({"double": own} if own else {}))
    assert (report.score, report.needs_review) == (report.max_score, False)
    assert [(one.module, one.used, one.why) for one in report.builds_on] == [("01_double", used, why)]


def test_an_earlier_module_whose_fault_does_not_show_is_used(on_top: Course) -> None:
    report = graded(on_top, quadruple=TOP, double=OTHER_INPUT)
    assert (report.score, report.builds_on) == (report.max_score, (EarlierModule("01_double", "own"),))


@pytest.mark.parametrize("double", [None, RIGHT, SQUARES])
def test_a_wrong_module_wins_nothing_by_its_earlier_one(on_top: Course, double: str | None) -> None:
    wrong = TOP.replace("double(double(x))", "double(x)")
    report = graded(on_top, quadruple=wrong, **({"double": double} if double else {}))
    assert (report.score or 0) <= 5  # linear, leaves its arguments, cheap
    assert [one.misconception for one in report.diagnoses] == ["once"]


def test_a_machine_that_fails_in_the_second_grading_costs_no_points(on_top: Course) -> None:
    """The first report has a score, but perhaps only because of the earlier module: there is no grade yet."""
    low = replace(graded(on_top, quadruple=TOP), score=1.0)
    lost = replace(low, score=None, status="not_graded")
    wrong = graded(on_top, quadruple=TOP.replace("double(double(x))", "x"))
    submission = Submission("ana", "02_quadruple", "quadruple.py", {"double": Source("double.py", (SQUARES,), False)})
    reports = iter([low, lost])
    stand_in = StandIn(on_top, on_top.module("quadruple"), lambda *_: wrong)
    assert stand_in.graded(submission, lambda _: next(reports)) is lost


def test_an_earlier_module_that_does_all_the_work_is_the_students_own(on_top: Course) -> None:
    """Helpers beside `double` are not in the fallback: the own module counts, as it gives the better result."""
    double = f"{SQUARES}\n\ndef twice(x):\n    return 4 * x\n"
    report = graded(on_top, quadruple="from mylab.double import twice as quadruple\n", double=double)
    assert (report.score, report.builds_on[0].used) == (report.max_score, "own")


def test_no_file_of_a_student_passes_for_the_fallback(on_top: Course) -> None:
    sources = {"quadruple": Source("fallback.py of 02_quadruple", (TOP,), notebook=False)}
    reports: list[Report] = []
    submission = Submission("ana", "02_quadruple", "fallback.py of 02_quadruple", sources)
    grade(on_top, on_top.module("quadruple"), [submission], reports.append, allow_unjailed=True)
    assert reports[0].score == reports[0].max_score


def test_the_report_says_so_and_fits_the_schema(on_top: Course) -> None:
    data = graded(on_top, quadruple=TOP).as_json()
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    jsonschema.validate(data, schema)
    assert data["builds_on"] == [{"module": "01_double", "used": "fallback", "why": "is missing"}]
    (built_on,) = report_from(data).builds_on
    assert built_on.text("your") == "Built on the fallback for 01_double: your own is missing."
    del data["builds_on"]  # a report from before there were fallbacks
    assert report_from(data).builds_on == ()


def test_a_bundle_has_the_fallback_and_uses_it(on_top: Course, tmp_path: Path) -> None:
    for module in on_top.modules:
        (tmp_path / "modules" / module.name).mkdir(parents=True)
        for path in released_files(module):
            shutil.copy(path, tmp_path / "modules" / module.name)
        assert list(leaks(on_top, module)) == []
    bundle = read_course(tmp_path)
    assert bundle.is_bundle
    module = bundle.module("quadruple")
    module.stub.write_text(TOP)
    report = check_own_file(bundle, module)  # with the untouched stub of 01_double
    assert (report.score, report.builds_on[0].why) == (report.max_score, "fails its checks")
    with open_student(bundle, module, own_with_fallbacks(bundle, module)) as student:
        assert student.quadruple(3) == 12
    bundle.module("double").stub.write_text(RIGHT)
    assert check_own_file(bundle, module).builds_on[0].used == "own"
    shutil.rmtree(bundle.module("double").folder)
    report = check_own_file(read_course(tmp_path), module)
    assert (report.score, report.builds_on[0].module) == (report.max_score, "01_double")
