"""The parts of diagnosis: finding the line, comparing outcomes, and the text."""

from __future__ import annotations

import numpy as np
import pytest

from grader.course.course import Course
from grader.course.module import CourseError
from grader.diagnosis.diagnose import Diagnoser
from grader.diagnosis.fingerprints import outcome_data, outcome_of
from grader.diagnosis.likely_line import Line, likely_line, telling_words
from grader.diagnosis.outcome import Likeness, ProbeOutcome, Side, compare, likeness
from grader.diagnosis.probe import probe
from grader.diagnosis.wording import call_of
from grader.submission.submission import Source
from tests.conftest import GradeSource

FILE = '''import numpy as np

def softmax(x, axis=-1):
    """Return e ** x over its sum along axis 0.

    exps.sum(axis=0) is not code.
    """
    shifted = x - x.max(axis=-1, keepdims=True)  # axis=0
    exps = np.exp(shifted)
    return exps / exps.sum(axis=0)

class Head:
    def forward(
        self, q,
    ):
        return q @ q.T

    def other(self):
        return 0

def forward(q): return q
'''


class TestLikelyLine:
    def test_line_with_the_words_of_the_wrong_way(self) -> None:
        words = telling_words("def f(x):\n    return exps / exps.sum(axis=0)\n", "    exps = np.exp(x)\n")
        assert set(words) == {"return", "exps", "sum", "axis", "0"}
        assert likely_line(Source("a.py", (FILE,), notebook=False), "softmax", words) == Line(10, None)

    def test_method_is_found_in_its_class(self) -> None:
        source = Source("a.py", (FILE,), notebook=False)
        assert likely_line(source, "Head.forward", ["T", "@"]) == Line(16, None)
        assert likely_line(source, "Head.forward", ["nothing", "like", "it"]) == Line(13, None)
        assert likely_line(source, "forward", ["q"]) == Line(21, None)
        assert likely_line(source, "missing", ["q"]) is None

    def test_line_of_a_notebook_has_its_cell(self) -> None:
        source = Source("a.ipynb", ("import numpy", FILE), notebook=True)
        assert likely_line(source, "softmax", ["max"]) == Line(8, 2)

    def test_hostile_text_is_not_parsed(self) -> None:
        text = "def softmax(x):\n" + "(" * 100_000 + "\n" + '"""' * 3 + "\n" * 5000
        assert likely_line(Source("a.py", (text,), notebook=False), "softmax", ["x"]) == Line(1, None)

    def test_search_in_a_long_file_is_limited(self) -> None:
        body = "".join(f"    x = {number}\n" for number in range(600))
        late = Source("a.py", (f"def softmax(x):\n{body}    return x.max(axis=0)\n",), notebook=False)
        assert likely_line(late, "softmax", ["axis"]) == Line(
            1, None
        )  # without a limit, a long file would take minutes
        helpers = "".join(f"def f{number:03}(x):\n    return x\n" for number in range(100))
        calls = "".join(f"    f{number:03}(x)\n" for number in range(100))
        many = Source(
            "a.py", (f"{helpers}def zz(x):\n    return x.max(axis=0)\ndef softmax(x):\n{calls}    zz(x)\n",), False
        )
        assert likely_line(many, "softmax", ["axis"]) == Line(203, None)


class TestOutcome:
    def test_likeness_of_values(self) -> None:
        x = np.array([0.25, 0.75])
        assert likeness(x.copy(), x) == Likeness.SAME
        assert likeness(x * (1 + 1e-12), x) == Likeness.SAME
        assert likeness(x * (1 + 1e-9), x) == Likeness.NEAR
        assert likeness(x[::-1].copy(), x) == Likeness.FAR
        assert likeness(x[None], x) == Likeness.OTHER
        assert likeness(x.tolist(), x) == Likeness.OTHER
        assert likeness(x.astype(np.float32), x.astype(np.float32) * np.float32(1 + 1e-6)) == Likeness.SAME
        assert likeness(np.array([np.nan, np.inf]), np.array([np.nan, np.inf])) == Likeness.SAME
        assert likeness(np.array([np.nan, np.inf]), np.array([np.nan, -np.inf])) == Likeness.FAR
        assert likeness((1.0, x), (np.float64(1), x)) == Likeness.SAME
        assert likeness(np.array([True, False]), np.array([1, 0])) == Likeness.SAME

    def test_golden_file_keeps_every_value(self) -> None:
        values: list[object] = [None, True, 3, 0.1, np.float32(2.5), "text", (np.eye(2), [1, 2]), {"a": np.arange(3)}]
        values += [np.array([np.nan, np.inf, -np.inf]), np.zeros((2, 0, 3)), np.array(2.0), np.array([0.1], np.float32)]
        for value in values:
            kept = outcome_of(outcome_data(ProbeOutcome("returned", value, changed={"1": np.zeros(2)})))
            alike = compare(
                ProbeOutcome("returned", value, changed={"1": np.zeros(2)}), kept, refusing=False, any_dtype=False
            )
            assert alike.wrong == frozenset(), value

    def test_every_side_is_compared(self) -> None:
        good = ProbeOutcome("returned", np.ones(2))
        refusal = ProbeOutcome("refused", numbers=(3.0,))
        for other, known, side in [
            (ProbeOutcome("returned", np.zeros(2)), good, Side.VALUE),
            (ProbeOutcome("raised"), good, Side.VALUE),
            (ProbeOutcome("returned", np.ones(2), changed={"1": np.ones(2)}), good, Side.INPUTS),
            (ProbeOutcome("returned", np.ones(2, np.float32)), good, Side.DTYPE),
            (ProbeOutcome("refused"), refusal, Side.REFUSAL),
            (ProbeOutcome("raised", numbers=(3.0,)), refusal, Side.REFUSAL),
        ]:
            assert compare(other, known, refusing=known is refusal, any_dtype=False).wrong == {side}


NO_MAXIMUM = """
def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""


class TestWording:
    def test_call_can_be_tried(self) -> None:
        assert (
            call_of(probe("softmax", np.array([[0.0, 2.5]]), kwargs={"axis": 0}))
            == "softmax(np.array([[0., 2.5]]), axis=0)"
        )
        assert call_of(probe("A.f", np.zeros((9, 9)), init=(4,), said="a table")) == "A(4).f of a table"
        assert call_of(probe("f", np.eye(20))) == "f of an array of shape (20, 20)"

    def test_hidden_input_stays_hidden(self, grade_source: GradeSource, course: Course) -> None:
        solution = course.solution(course.module("01_softmax")).read_text()
        report = grade_source(solution + NO_MAXIMUM)
        (one,) = report.diagnoses
        assert one.misconception == "no_max_subtraction"
        assert one.message.startswith("A hidden check fails: ")
        assert "yours" not in one.message
        assert one.line == len(solution.splitlines()) + 3

    def test_exception_is_shown_with_its_line(self, grade_source: GradeSource, course: Course) -> None:
        solution = course.solution(course.module("01_softmax")).read_text()
        report = grade_source(f"{solution}\n\ndef softmax(x, axis=-1):\n    return x.nothing\n")
        one = report.diagnoses[0]
        assert (one.target, one.misconception) == ("softmax", None)
        assert f"yours:    it raises AttributeError, in line {len(solution.splitlines()) + 4}" in one.message

    def test_stub_names_what_is_not_written(self, grade_source: GradeSource, course: Course) -> None:
        report = grade_source(course.module("01_softmax").stub.read_text())
        functions = ["softmax", "log_softmax", "softmax_with_temperature"]
        assert [one.message.splitlines()[0] for one in report.diagnoses] == [
            f"{name} is not written yet" for name in functions
        ]

    def test_failed_diagnosis_does_not_change_the_grade(
        self, grade_source: GradeSource, course: Course, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(_: Diagnoser) -> None:
            raise CourseError(course.root, "", "is broken", "Fix it")

        monkeypatch.setattr(Diagnoser, "prints", property(broken))
        report = grade_source("def softmax(x, axis=-1):\n    return x\n")
        assert report.status == "graded"
        assert [one.message for one in report.diagnoses] == [
            "no diagnosis: a fault of the grader, not of your code (CourseError)"
        ]

    @pytest.mark.exhaustive
    def test_endless_function_is_not_called_again(self, grade_source: GradeSource) -> None:
        report = grade_source("def softmax(x, axis=-1):\n    while True:\n        pass\n")
        assert [one for one in report.diagnoses if one.target == "softmax"] == []
        assert {ending.kind for ending in report.endings} == {"deadline"}

    @pytest.mark.parametrize(
        "lie",
        ["None", "True", "'x' * 70", "(x, x)", "object()", "float('nan')", "np.zeros(0)", "{1: x}", "[[x]]", "1 / 0"],
    )
    def test_any_result_can_be_diagnosed(self, grade_source: GradeSource, lie: str) -> None:
        names = ("softmax", "log_softmax", "softmax_with_temperature")
        report = grade_source(
            "import numpy as np\n" + "".join(f"def {name}(x, *a, **k):\n    return {lie}\n" for name in names)
        )
        assert report.diagnoses
        assert {one.misconception for one in report.diagnoses} == {None}
        assert not any("fault of the grader" in one.message for one in report.diagnoses)
