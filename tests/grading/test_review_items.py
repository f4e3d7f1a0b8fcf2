"""Review items: the file, the line and the text of what an instructor must look at."""

from __future__ import annotations

import pytest

from grader.complexity.cost import CodeLine, Cost
from grader.grading.review_items import review_items
from grader.submission.submission import Source, Submission

CELLS = ("import numpy as np", "def f(x):\r\n    np.linalg.svd(x)  # \x1b[31m\n    return x")
SUBMISSION = Submission(
    "ana",
    "02_two",
    "two.ipynb",
    {"two": Source("two.ipynb", CELLS, notebook=True), "one": Source("one.py", ("x = 1\n",), notebook=False)},
)


def cost(place: CodeLine | None, verdict: str = "inconclusive") -> Cost:
    return Cost("Two.f", "work", "n", "n", verdict, 1.5, place, "an instructor must \x07check")  # type: ignore[arg-type]


def test_an_item_says_whose_points_depend_on_it() -> None:
    (item,) = review_items(SUBMISSION, (), [cost(None), cost(None, "pass"), cost(None, "fail")])
    assert (item.target, item.what, item.points, item.parts) == ("Two", "cost", 1.5, ("Two.f work",))
    assert (item.decision, item.reason) == ("open", "an instructor must \\u{7}check")


@pytest.mark.parametrize(
    ("place", "file", "line", "code"),
    [
        (CodeLine("two.ipynb[2]", 2), "two.ipynb[2]", 2, "np.linalg.svd(x)  # \\u{1b}[31m"),
        (CodeLine("one.py", 1), "one.py", 1, "x = 1"),
        (CodeLine("one.py", 99), "one.py", 99, ""),
        (CodeLine("one.py", 0), "one.py", 0, ""),
        (CodeLine("/etc/\x1bpasswd", 1), "two.ipynb", None, ""),  # the worker names the file: never believe it
        (None, "two.ipynb", None, ""),
    ],
)
def test_an_item_shows_the_line(place: CodeLine | None, file: str, line: int | None, code: str) -> None:
    (item,) = review_items(SUBMISSION, (), [cost(place)])
    assert (item.file, item.line, item.code) == (file, line, code)
