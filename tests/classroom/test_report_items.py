"""Undecided checks and costs are marked for review on other platforms, with text for the student."""

from __future__ import annotations

from dataclasses import replace

from grader.classroom.decisions import decided
from grader.classroom.report_items import Item, items_of
from grader.core.report import Undecided
from grader.platforms.nbgrader.scores import scores_of
from tests.classroom.test_decided_report import CODE, REPORT, of


def undecided_items(undecided: Undecided) -> dict[str, Item]:
    return {item.name: item for item in items_of(decided(REPORT, of(), undecided)) if item.needs_review}


def test_undecided_checks_and_costs_are_marked() -> None:
    found = undecided_items("count")
    assert found.keys() == {"on_device", "f_work", "f_mem"}
    assert all("you keep the points until" in item.text for item in found.values())


def test_withheld_points_are_announced() -> None:
    found = undecided_items("withhold")
    assert {item.earned for item in found.values()} == {0.0}
    assert all("you get the points once" in item.text for item in found.values())


def test_nothing_is_marked_after_a_decision() -> None:
    report = decided(REPORT, of("accepted", "rejected"), "count")
    assert not any(item.needs_review for item in items_of(report))
    (score,) = scores_of(report)
    assert (score.earned, score.review) == (report.score, False)


def test_a_gradebook_asks_for_review_of_a_check_too() -> None:
    doubt = replace(CODE, parts=("on_device",), points=4.0)
    (score,) = scores_of(decided(replace(REPORT, costs=(), reviews=(doubt,)), of(), "count"))
    assert (score.earned, score.review) == (8.0, True)
