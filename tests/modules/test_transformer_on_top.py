"""12_transformer on top of module 06: a student's own attention that is wrong or missing costs no points."""

from __future__ import annotations

import pytest

from grader.core.report import EarlierModule, Report
from grader.course.course import Course
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission
from tests.conftest import needs_jail

ATTENTION = "06_multi_head_attention"
TWICE = """

class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return 2 * output, weights
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("change", "why"), [(TWICE, "fails its checks"), (None, "is missing")])
def test_a_wrong_attention_costs_nothing(course: Course, change: str | None, why: str) -> None:
    needs_jail()
    module = course.module("transformer")
    texts = {"transformer": course.solution(module).read_text()}
    if change is not None:
        texts["multi_head_attention"] = course.solution(course.module(ATTENTION)).read_text() + change
    sources = {slug: Source(f"{slug}.py", (text,), notebook=False) for slug, text in texts.items()}
    reports: list[Report] = []
    grade(course, module, [Submission("ana", module.name, "transformer.py", sources)], reports.append)
    assert [check.name for check in reports[0].checks if check.outcome != "passed"] == []
    assert reports[0].score == reports[0].max_score
    assert reports[0].builds_on == (EarlierModule(ATTENTION, "fallback", why),)
