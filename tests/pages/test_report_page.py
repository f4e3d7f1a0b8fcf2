"""The page of a report: what it shows, from real reports and from reports made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.classroom.class_list import ClassList
from grader.complexity.contract_reader import read_contracts
from grader.complexity.polynomial import Polynomial
from grader.core.report import ValueGap, excerpt_of
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.diagnosis.diagnose import _span
from grader.pages.cost_plot import cost_plot, read_polynomial
from grader.pages.heat_map import heat_maps
from grader.pages.paragraphs import next_step_of, paragraphs_of
from grader.pages.report_page import ReportPage, report_page
from tests.pages.made import made_mark, made_report


def page_of(example: ClassList, student: str) -> ReportPage:
    mark, report = next(pair for pair in example.reports() if pair[0].submission == student)
    return report_page(report, mark)


def test_failed_function_shows_numbers_source_and_next_step(example: ClassList) -> None:
    page = page_of(example, "farah")
    problems = {one.name: one.problem for one in page.functions if one.problem}
    shown = [one for one in problems.values() if one.maps]
    assert shown, "no diagnosis of farah has numbers"
    for one in shown:
        yours, expected, difference = one.maps
        assert [[cell.text for cell in row] for row in yours.rows] != [[c.text for c in row] for row in expected.rows]
        assert any(cell.differs and cell.text != "0" for row in difference.rows for cell in row)
        assert one.code is not None
        assert one.code.lines[one.code.marked - one.code.first].strip()
    assert {one.misconception for one in problems.values()} > {""} or all(one.misconception for one in shown)
    assert page.steps[0].startswith("Begin with ")


def test_what_a_class_list_says_is_on_the_page() -> None:
    mark = made_mark(due="2026-01-01T00:00:00+00:00", late_s=7200.0, penalty=1.0, final=2.0, attempts=3)
    page = report_page(made_report(), mark, "Attention")
    facts = {fact.name: fact.text for fact in page.facts}
    assert facts["Late"] == "by 2 h, penalty: 1 points"
    assert facts["Due"] == "2026-01-01 00:00:00 UTC"
    assert facts["Attempts"].startswith("3;")
    assert (page.score, page.share) == ("2 of 4 points", 50)
    by_hand = report_page(made_report(), made_mark(override=4.0, final=4.0, comment="right idea"))
    assert (by_hand.score, by_hand.comment) == ("4 of 4 points", "right idea")
    assert "Points by hand" in {fact.name for fact in by_hand.facts}


def test_nothing_for_instructors_is_on_the_page() -> None:
    report = made_report()
    assert "8372" in repr(report)
    assert "8372" not in repr(report_page(report))
    assert "a hidden input" not in repr(report_page(report))


def test_report_without_a_score_is_not_a_zero() -> None:
    page = report_page(made_report(status="grader_fault", score=None), made_mark(score=None, final=None))
    assert (page.score, page.share) == ("not graded yet", None)
    assert "nothing for you to do" in page.steps[0]
    assert {one.points for one in page.functions} == {"not graded"}


def test_every_polynomial_of_the_course_can_be_read_from_its_text(course: Course) -> None:
    """The plots are drawn from the text in a report."""
    read = 0
    for module in course.modules:
        golden = read_golden(module)
        for contract in read_contracts(module.folder, module.complexity):
            for meter, terms in golden.costs.get(contract.function, {}).items():
                known = Polynomial.from_data(contract.lattice.names, terms, contract.lattice.tiles)
                found = read_polynomial(str(known), contract)
                assert found is not None
                assert found.terms == known.terms, (contract.function, meter, str(known))
                if any(limit.meter == meter for limit in contract.limits):
                    assert cost_plot(contract, meter, str(known)) is not None
                    read += 1
    assert read > 20


@pytest.mark.parametrize("text", ["not a polynomial", "", "x·q", "2·n²·"])
def test_text_that_is_no_polynomial_has_no_plot(course: Course, text: str) -> None:
    module = course.module("softmax")
    contract = read_contracts(module.folder, module.complexity)[0]
    assert cost_plot(contract, contract.limits[0].meter, text) is None


def test_negative_and_broken_terms_are_read(course: Course) -> None:
    module = course.module("softmax")
    contract = read_contracts(module.folder, module.complexity)[0]
    one, other = contract.lattice.names[:2]
    found = read_polynomial(f"(1/2)·{one}²·{other} - 3·{other} + 7", contract)
    assert found is not None
    assert str(found) == f"(1/2)·{one}²·{other} - 3·{other} + 7"


def test_heat_maps_share_a_scale_and_take_any_text() -> None:
    yours, expected, difference = heat_maps(ValueGap("f()", "", (("1", "nan", "-2"),), (("4", "0", "oops"),)))
    assert [cell.level for cell in yours.rows[0]] == [1, 0, -2]
    assert [cell.level for cell in expected.rows[0]] == [4, 0, 0]
    assert [cell.text for cell in difference.rows[0]] == ["-3", "≠", "≠"]
    assert all(cell.differs for cell in difference.rows[0])


def test_paragraphs_join_wrapped_lines_and_leave_out_what_is_shown_elsewhere() -> None:
    values = "f([1, 2],\n    [3, 4])\n  yours:    [1]\n  expected: [2]\n  (row 0)\n"
    message = f"{values}Likely: the axis is\n    wrong (a)\nNext: fix it"
    assert [one.label for one in paragraphs_of(message)] == ["", "Yours", "Expected", "", "Likely"]
    (likely,) = paragraphs_of(message, "f([1, 2], [3, 4])")
    assert likely.text == "the axis is wrong (a)"
    assert next_step_of(message) == "fix it"


def test_excerpt_marks_its_line_and_is_cut() -> None:
    found = excerpt_of("a.py", "1\n2\r\n3\r4\n\tfive" + "x" * 10_000 + "\u202e\n6", 5)
    assert found is not None
    assert (found.first, found.marked, found.lines[:2]) == (3, 5, ("3", "4"))
    assert found.lines[2].startswith("    five")
    assert len(found.lines[2]) < 200
    assert excerpt_of("a.py", "1\n2", 3) is None
    assert excerpt_of("a.py", "1\n2", None) is None


def test_a_cost_without_a_formula_is_one_phrase() -> None:
    report = made_report()
    powers = replace(report.costs[0], measured="grows like (b)^1, (n_q)^1, (b·n_q)^2", verdict="pass", message="")
    (function,) = report_page(replace(report, costs=(powers, *report.costs[1:]))).functions
    assert [cost.measured for cost in function.costs] == ["not a polynomial", "words"]


def test_a_part_of_an_axis_is_named_by_its_first_and_last_place() -> None:
    assert _span("row", slice(2, 10), 40) == "rows 2 to 9 of 40"
    assert _span("column", slice(0, 12), 12) == ""
