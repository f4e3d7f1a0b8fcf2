"""Suites: points and properties, checks that are held back, and who caused a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.core.report import CheckResult, Report
from grader.course.course import Course
from grader.course.module import CourseError
from grader.grading.grade import grade
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.plan import JailPlan
from grader.sandbox.jail.spawner import ZygoteSpawner
from grader.submission.submission import Source, Submission
from tests.conftest import LIMITS, ROOT

HEADER = "import numpy as np\nimport pytest\nfrom grader.testing import *\n"
RIGHT = "import numpy as np\ndef softmax(x, axis=-1):\n    e = np.exp(x)\n    return e / e.sum()\n"
LAST = '@worth({rest}, "the rest")\ndef test_rest(student):\n    assert student.softmax(np.zeros(2)) is not None\n'


def with_suite(course: Course, tests: str, points: float) -> None:
    """Replace the hidden suite with tests worth `points`, and one test for the rest of the points."""
    unchanged = sum(course.modules[0].unchanged.values())
    rest = course.modules[0].points - 12 - unchanged - points  # the visible checks have 6, the costs 6
    course.hidden_suite(course.modules[0]).write_text(HEADER + tests + "\n\n" + LAST.format(rest=rest))


def run(course: Course, source: str = RIGHT, limits: Limits = LIMITS) -> Report:
    reports: list[Report] = []
    submission = Submission("ana", "01_softmax", "softmax.py", {"softmax": Source("softmax.py", (source,), False)})
    grade(course, course.modules[0], [submission], reports.append, limits, allow_unjailed=True)
    return reports[0]


def check(report: Report, name: str) -> CheckResult:
    return next(check for check in report.checks if check.name == name)


def run_one(course: Course, body: str, source: str = RIGHT) -> tuple[Report, CheckResult]:
    """Grade by one hidden check with this body, worth 2 points."""
    with_suite(course, f'@worth(2, "it holds")\ndef test_it(student, reference, rng):\n    {body}\n', 2)
    report = run(course, source)
    return report, check(report, "it")


def test_a_check_that_passes_earns_its_points(course_copy: Course) -> None:
    report, result = run_one(course_copy, "assert_rows_sum_to_one(student.softmax(rng.normal(size=3)), (3,))")
    assert (result.outcome, result.earned, result.points) == ("passed", 2.0, 2.0)
    assert (result.suite, result.target, result.property) == ("hidden", "softmax", "it holds")
    assert (result.message, result.detail) == ("", "")
    assert report.status == "graded"


@pytest.mark.parametrize(
    "body",
    [
        "assert student.softmax(np.zeros(2)) is None",
        "pytest.fail('no')",
        "student.nothing(1)",
        "student.softmax('text')",
        "raise ExceptionGroup('two', [AssertionError('a'), AssertionError('b')])",
    ],
)
def test_a_students_failure_costs_the_points(course_copy: Course, body: str) -> None:
    report, result = run_one(course_copy, body)
    assert (report.status, result.outcome, result.earned) == ("graded", "failed", 0.0)
    assert report.score is not None


@pytest.mark.parametrize(
    "body",
    [
        "raise RuntimeError('a bug in the suite')",
        "student.softmax(np.zeros(2))['a']",
        "undefined",
        "1 / 0",
        "student.softmax(object())",
        "raise ExceptionGroup('mixed', [AssertionError('a'), KeyError('b')])",
    ],
)
def test_any_other_exception_is_the_graders_fault_and_never_a_zero(course_copy: Course, body: str) -> None:
    report, result = run_one(course_copy, body)
    assert (report.status, report.score) == ("grader_fault", None)
    assert (result.outcome, result.earned) == ("grader_fault", None)
    assert "not of your code" in result.message
    assert "the check itself failed with" in result.detail
    assert check(report, "rest").outcome == "passed"  # the others are still run


def test_a_fault_in_a_fixture_is_the_graders(course_copy: Course) -> None:
    tests = "@pytest.fixture\ndef broken():\n    return 1 / 0\n\n"
    with_suite(course_copy, tests + '@worth(2, "it")\ndef test_it(student, broken):\n    student.softmax(1)\n', 2)
    assert check(run(course_copy), "it").outcome == "grader_fault"


@pytest.mark.parametrize("phase", ["return", "yield"])
def test_an_assertion_in_a_fixture_is_the_graders_fault(course_copy: Course, phase: str) -> None:
    body = "assert 1 == 2" if phase == "return" else "yield\n    assert 1 == 2"
    tests = f"@pytest.fixture\ndef broken():\n    {body}\n\n"
    with_suite(
        course_copy, tests + '@worth(2, "it")\ndef test_it(student, broken):\n    student.softmax(np.zeros(1))\n', 2
    )
    assert check(run(course_copy), "it").outcome == "grader_fault"


def test_one_student_does_not_affect_the_next(course_copy: Course) -> None:
    held = '@worth(2, "last", needs="rest")\ndef test_last(student):\n    student.softmax(np.zeros(2))\n'
    suite = course_copy.hidden_suite(course_copy.modules[0])
    suite.write_text(HEADER + LAST.format(rest=30) + "\n\n" + held)
    wrong = "import os\ndef softmax(x, axis=-1):\n    return None\n"
    killer = "import os\ndef softmax(x, axis=-1):\n    os.kill(os.getppid(), 9)\n"
    sources = {"wrong": wrong, "right": RIGHT, "killer": killer, "again": RIGHT}
    submissions = [
        Submission(name, "01_softmax", "softmax.py", {"softmax": Source("softmax.py", (text,), False)})
        for name, text in sources.items()
    ]
    reports: list[Report] = []
    grade(course_copy, course_copy.modules[0], submissions, reports.append, LIMITS)
    scores = {report.submission: report.score for report in reports}
    assert scores["wrong"] == 0.0
    assert scores["killer"] == 0.0
    assert scores["right"] == scores["again"] == 35.0


def test_a_skipped_check_is_not_run_and_earns_nothing(course_copy: Course) -> None:
    report, result = run_one(course_copy, "pytest.skip('no GPU here')")
    assert (result.outcome, result.earned, result.message) == ("not_run", 0.0, "not run: no GPU here")
    assert report.score is not None
    assert report.score < report.max_score


def test_a_check_is_held_back_while_the_one_it_needs_fails(course_copy: Course) -> None:
    tests = (
        '@worth(1, "first")\ndef test_first(student):\n    assert student.softmax(np.zeros(2)).shape == {shape}\n\n'
        '@worth(2, "second", needs="first")\ndef test_second(student):\n    student.softmax(np.zeros(2))\n\n'
        '@worth(1, "third", needs="second")\ndef test_third(student):\n    student.softmax(np.zeros(2))\n'
    )
    with_suite(course_copy, tests.format(shape="(3,)"), 4)
    report = run(course_copy)
    assert [check(report, name).outcome for name in ("first", "second", "third")] == [
        "failed",
        "held_back",
        "held_back",
    ]
    assert check(report, "second").message == "held back until first passes"
    assert check(report, "second").earned == 0.0
    with_suite(course_copy, tests.format(shape="(2,)"), 4)
    assert check(run(course_copy), "third").outcome == "passed"


def test_hidden_messages_contain_nothing_that_student_code_wrote(course_copy: Course) -> None:
    leak = "def softmax(x, axis=-1):\n    print('HIDDEN', x)\n    raise ValueError(f'HIDDEN {x}')\n"
    report, result = run_one(course_copy, "student.softmax(rng.normal(size=3))", leak)
    assert result.message == "not true for your code: it holds (your code raised an exception)"
    assert "HIDDEN" in result.detail  # the instructor sees it all
    hidden = [one for one in report.checks if one.suite == "hidden"]
    assert all("HIDDEN" not in one.message and "ValueError" not in one.message for one in hidden)
    assert any("HIDDEN" in one.message for one in report.checks if one.suite == "visible")


def test_random_numbers_repeat_for_everyone_and_hidden_ones_are_secret(course_copy: Course) -> None:
    body = "assert False, repr(list(rng.integers(0, 10**9, size=3)))"
    details = [run_one(course_copy, body)[1].detail for _ in range(2)]
    assert details[0] == details[1]
    salt = course_copy.root / ".attnlab" / "salt"
    assert salt.stat().st_mode & 0o077 == 0
    salt.write_text("another term\n")
    assert run_one(course_copy, body)[1].detail != details[0]


@pytest.mark.exhaustive
def test_a_worker_that_waits_is_tried_once_more(
    course_copy: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a jail: only there can a worker leave a mark for the next one.
    monkeypatch.setattr("grader.grading.workers.open_spawner", lambda backend: ZygoteSpawner(JailPlan(backend)))
    mark = tmp_path / "been here"
    nap = (
        "import os, time\nimport numpy as np\ndef softmax(x, axis=-1):\n"
        f"    if not os.path.exists({str(mark)!r}):\n        open({str(mark)!r}, 'w').close()\n"
        "        time.sleep(1000)\n    return np.ones(3) / 3\n"
    )
    report, result = run_one(course_copy, "assert_rows_sum_to_one(student.softmax(np.zeros(3)), (3,))", nap)
    assert result.outcome == "passed"
    assert report.endings == ()  # the wait was in the visible checks, and passed when tried again


@pytest.mark.exhaustive
def test_a_worker_that_always_waits_did_not_return(course_copy: Course) -> None:
    nap = "import time\ndef softmax(x, axis=-1):\n    time.sleep(1000)\n"
    report, result = run_one(course_copy, "student.softmax(np.zeros(3))", nap)
    assert report.endings[0].kind == "deadline"
    assert result.outcome in ("failed", "not_run")
    assert report.score == 0.0


SUITE_MISTAKES = {
    "no worth": ("def test_it(student):\n    pass\n", "has no @worth"),
    "unknown target": ('@worth(1, "p", target="softmin")\ndef test_it(student): ...\n', "unknown target 'softmin'"),
    "worth nothing": ('@worth(0, "p")\ndef test_it(student): ...\n', "has no points"),
    "shows nothing": ('@worth(1, " ")\ndef test_it(student): ...\n', "an empty property"),
    "needs a stranger": ('@worth(1, "p", needs="later")\ndef test_it(student): ...\n', "not an earlier check"),
    "a name twice": (
        '@worth(1, "p")\ndef test_softmax_rows_sum_to_one(student): ...\n',
        "the same name as another check",
    ),
    "no Python": ("def test_it(:\n", "cannot be collected"),
    "an import that fails": ("import nonsense_that_is_not_there\n", "cannot be collected"),
}


@pytest.mark.parametrize(("tests", "words"), SUITE_MISTAKES.values(), ids=SUITE_MISTAKES.keys())
def test_a_mistake_in_a_suite_is_a_course_error(course_copy: Course, tests: str, words: str) -> None:
    with_suite(course_copy, tests, 1)
    with pytest.raises(CourseError, match=words):
        run(course_copy)


def test_points_must_add_up(course_copy: Course) -> None:
    with_suite(course_copy, '@worth(3, "p")\ndef test_it(student): ...\n', 1)
    with pytest.raises(CourseError, match=r"is 46, but the checks and costs are worth 48\. Write points = 48"):
        run(course_copy)


def test_an_empty_suite_is_an_error(course_copy: Course) -> None:
    course_copy.hidden_suite(course_copy.modules[0]).write_text("")
    with pytest.raises(CourseError, match="contains no checks"):
        run(course_copy)
    course_copy.hidden_suite(course_copy.modules[0]).unlink()
    with pytest.raises(CourseError, match="needs the full course"):
        run(course_copy)


def test_a_changed_suite_is_read_again_in_the_same_process(course_copy: Course) -> None:
    outcomes = [run_one(course_copy, f"assert {answer}")[1].outcome for answer in ("1 == 1", "1 == 2", "2 == 2")]
    assert outcomes == ["passed", "failed", "passed"]


def test_what_a_suite_prints_stays_out_of_the_report(course_copy: Course, capsys: pytest.CaptureFixture[str]) -> None:
    run_one(course_copy, "print('the secret input'); assert False")
    assert "secret" not in capsys.readouterr().out


def test_the_environment_does_not_change_a_suite(course_copy: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    (course_copy.root / "conftest.py").write_text("raise RuntimeError('must not be loaded')\n")
    (course_copy.root / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    assert run(course_copy, (course_copy.solution(course_copy.modules[0])).read_text()).score == 46.0


class TestPlainPytest:
    """`python -m pytest checks.py` tests the student's file in the same folder, in any course or bundle."""

    def pytest(self, course: Course) -> subprocess.CompletedProcess[str]:
        checks = course.modules[0].checks
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(checks)]
        environment = {**os.environ, "NO_COLOR": "1"}
        return subprocess.run(command, cwd=course.root, env=environment, capture_output=True, text=True, check=False)

    def test_the_stub_fails_each_check_with_one_sentence(self, course_copy: Course) -> None:
        done = self.pytest(course_copy)
        assert done.returncode == 1
        assert "5 failed" in done.stdout
        line = course_copy.modules[0].stub.read_text().splitlines().index("    raise NotImplementedError") + 1
        assert f"softmax raised NotImplementedError (softmax.py, line {line})" in done.stdout
        assert "grader/" not in done.stdout  # no traceback of ours

    def test_the_solution_passes(self, course_copy: Course) -> None:
        module = course_copy.modules[0]
        module.stub.write_bytes(course_copy.solution(module).read_bytes())
        done = self.pytest(course_copy)
        assert done.returncode == 0, done.stdout
        assert "5 passed" in done.stdout

    def test_a_file_that_does_not_import_says_why(self, course_copy: Course) -> None:
        course_copy.modules[0].stub.write_text("def softmax(x, axis=-1):\n    return x\nimport nothing_like_it\n")
        done = self.pytest(course_copy)
        assert done.returncode == 1
        assert "No module named 'nothing_like_it'" in done.stdout


@pytest.mark.exhaustive
def test_the_projects_own_pytest_run_never_collects_hidden_suites() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "\ntests/grading/test_suite.py" in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith("tests/hidden")]
