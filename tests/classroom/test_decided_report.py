"""Reports with decisions: verdicts and scores follow, and taking a decision back restores the report."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from grader.classroom.decisions import Decide, decided
from grader.core.report import CheckResult, CostResult, Decision, Report, ReviewItem, Undecided

UNKNOWN = "its cost is unknown"


def cost(meter: str, verdict: str = "inconclusive", message: str = UNKNOWN) -> CostResult:
    earned = 0.0 if verdict == "fail" else 2.0
    return CostResult("f", "f", meter, "n", "n", verdict, 2.0, earned, 3, message)  # type: ignore[arg-type]


def check(name: str, outcome: str = "passed", message: str = "") -> CheckResult:
    earned = 4.0 if outcome == "passed" else 0.0
    return CheckResult(name, "hidden", "f", 4.0, earned, outcome, "it holds", message, message)  # type: ignore[arg-type]


WORK = ReviewItem("f", "cost", "f.py", 3, UNKNOWN, 2.0, parts=("f work",))
CODE = ReviewItem("", "code", "f.py", 9, "exec is not certified", 6.0, parts=("f mem", "on_device"))
REPORT = Report(
    module="01_tiny",
    submission="ana",
    file="f.py",
    status="graded",
    score=14.0,
    max_score=20.0,
    message="",
    checks=(check("values"), check("on_device"), check("wrong", "failed", "not equal")),
    costs=(cost("work"), cost("mem"), cost("steps", "pass", ""), cost("flops", "fail", "too much")),
    forbidden=(),
    endings=(),
    diagnoses=(),
    sandbox="strict",
    environment={},
    timing={},
    reviews=(WORK, CODE),
)


def of(work: Decision = "open", code: Decision = "open", comment: str = "") -> Decide:
    """Decide the two items."""
    return lambda item: (work if item.what == "cost" else code, comment if item.what == "cost" else "")


def scores(report: Report) -> dict[str, float | None]:
    checks = {check.name: check.earned for check in report.checks}
    return checks | {cost.name: cost.earned for cost in report.costs}


def test_the_report_starts_with_the_sum_of_its_points() -> None:
    assert sum(filter(None, scores(REPORT).values())) == REPORT.score
    assert decided(REPORT, of(), "count") == REPORT


def test_an_accepted_cost_passes_and_says_so() -> None:
    found = decided(REPORT, of("accepted", comment="only on two numbers"), "count")
    assert (found.costs[0].verdict, found.costs[0].earned, found.score) == ("pass", 2.0, 14.0)
    assert found.costs[0].message == f"{UNKNOWN} [accepted by the instructor: only on two numbers]"
    assert (found.needs_review, found.undecided_points) == (True, 6.0)
    assert found.costs[1:] == REPORT.costs[1:]


def test_a_rejected_cost_fails_and_takes_its_points() -> None:
    found = decided(REPORT, of("rejected", comment="far too much"), "count")
    assert (found.costs[0].verdict, found.costs[0].earned, found.score) == ("fail", 0.0, 12.0)
    assert "[rejected by the instructor: far too much]" in found.costs[0].message


def test_rejected_code_takes_the_points_of_all_that_depends_on_it() -> None:
    found = decided(REPORT, of(code="rejected"), "count")
    assert found.score == 8.0
    assert (found.checks[1].outcome, found.checks[1].message) == ("failed", "[rejected by the instructor]")
    assert found.costs[1].verdict == "fail"
    assert scores(found) == scores(REPORT) | {"on_device": 0.0, "f mem": 0.0}


def test_withheld_points_are_missing_until_they_are_accepted() -> None:
    assert decided(REPORT, of(), "withhold").score == 6.0
    assert decided(REPORT, of("accepted"), "withhold").score == 8.0
    everything = decided(REPORT, of("accepted", "accepted"), "withhold")
    assert (everything.score, everything.needs_review, everything.undecided_points) == (14.0, False, 0.0)


@pytest.mark.parametrize("work", get_args(Decision))
@pytest.mark.parametrize("code", get_args(Decision))
@pytest.mark.parametrize("undecided", get_args(Undecided))
def test_the_result_does_not_depend_on_earlier_decisions(work: Decision, code: Decision, undecided: Undecided) -> None:
    found = decided(REPORT, of(work, code, "one"), undecided)
    assert decided(found, of(work, code, "one"), undecided) == found
    for before in get_args(Decision):
        again = decided(decided(REPORT, of(before, before, "two"), "withhold"), of(work, code, "one"), undecided)
        assert again == found
    assert decided(found, of(), "count") == REPORT


def test_a_part_of_two_items_needs_both() -> None:
    both = replace(REPORT, reviews=(WORK, replace(CODE, parts=("f work",), points=0.0)))
    assert decided(both, of("accepted"), "count").costs[0].verdict == "inconclusive"
    assert decided(both, of("accepted", "rejected"), "count").costs[0].verdict == "fail"
    assert decided(both, of("accepted", "accepted"), "count").costs[0].verdict == "pass"
    assert decided(decided(both, of("accepted", "rejected"), "count"), of(), "count") == both


@pytest.mark.parametrize("before", get_args(Decision))
def test_what_failed_by_itself_is_never_given_points(before: Decision) -> None:
    broken = replace(REPORT, reviews=(replace(CODE, parts=("wrong", "f flops")),))
    found = decided(decided(broken, of(code=before), "count"), of(code="accepted"), "count")
    assert found.checks == REPORT.checks
    assert found.costs == REPORT.costs


def test_points_without_the_parts_that_have_them_are_refused() -> None:
    assert replace(CODE, points=0.0, parts=()).parts == ()
    with pytest.raises(ValueError, match="must name the checks or costs"):
        replace(CODE, parts=())


def test_a_report_without_a_score_gets_none() -> None:
    fault = replace(REPORT, score=None, status="grader_fault")
    assert decided(fault, of("accepted", "accepted"), "count") == fault
