"""The dashboard: its numbers, what it answers, and the command."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from grader.classroom import ClassError
from grader.classroom.class_results import (
    AttemptResult,
    CheckInfo,
    ClassResults,
    StudentResult,
    read_class_results,
)
from grader.classroom.class_statistics import (
    attempt_days,
    check_statistics,
    misconception_pairs,
    stuck_students,
    suspect_checks,
)
from grader.classroom.copies import CopyGroup
from grader.classroom.marks import Mark
from grader.classroom.pseudonyms import Pseudonyms
from grader.classroom.store.files import FileStore
from grader.core.report import ReviewItem, report_text
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.lesson import lesson_parts
from grader.pages.dashboard_page import DashboardPage, MisconceptionText, dashboard, dashboard_page
from grader.pages.rendering import is_page
from tests.cli.conftest import Attn
from tests.pages.made import STUDENTS, made_mark, made_report, read_page

NAMES = ("easy", "good", "odd", "broken")
CHECKS = {name: CheckInfo(name, "hidden", "f", f"the property {name}", 1.0) for name in NAMES}


def made_result(number: int, **changes: object) -> StudentResult:
    """Return the result of a student; those with higher numbers are stronger."""
    failed = {"broken"} | ({"good"} if number < 6 else set()) | ({"odd"} if number >= 6 else set())
    mark = made_mark(f"s{number:02}", section="Mon" if number % 2 else "Tue", score=float(number), final=float(number))
    mark = Mark(**(asdict(mark) | {"max_score": 12.0} | changes))
    return StudentResult(mark, frozenset(failed), ("a", "b") if number < 4 else (), "", 0.0)


def made_class(**changes: object) -> ClassResults:
    results = tuple(made_result(number) for number in range(12))
    found = {"results": results, "checks": {"01_softmax": CHECKS}, "attempts": (), "before": ()}
    return ClassResults(**(found | changes))  # type: ignore[arg-type]


def page_of(found: ClassResults) -> DashboardPage:
    return dashboard_page(found, about, "The class")


def about(_: str, name: str, function: str) -> MisconceptionText:
    return MisconceptionText(f"what {name} is", f"try {name}", f"1. {function}" if function else "")


def test_broken_and_odd_checks_are_named() -> None:
    found = {one.check.name: one for one in check_statistics(CHECKS.values(), made_class().results)}
    assert found["easy"].remark == "nobody fails it"
    assert found["broken"].remark == "everybody fails it: is the check right?"
    assert found["odd"].remark == "strong work fails it as often as weak work: is it clear?"
    assert found["good"].remark == ""
    assert found["good"].difficulty == 0.5
    assert (found["good"].discrimination or 0) > 0.7
    assert (found["odd"].discrimination or 0) < -0.7
    assert found["easy"].discrimination is None
    most = check_statistics([CHECKS["good"]], made_class().results[:11])
    assert [one.remark for one in most] == ["more than half fail it: teach it again, or make it clearer"]
    few = check_statistics(CHECKS.values(), made_class().results[:5])
    assert {one.remark for one in few} == {""}


def test_checks_to_look_at_come_with_the_strongest_work_that_fails_them() -> None:
    found = [
        (one.statistics.check.name, [who.mark.id for who in one.strongest]) for one in suspect_checks(made_class())
    ]
    assert found == [("broken", ["s11", "s10", "s09"]), ("odd", ["s11", "s10", "s09"])]
    rows = page_of(made_class()).suspects
    assert rows[0].cells == (
        *("01_softmax", "the property broken", "hidden", "f", "everybody fails it: is the check right?"),
        *("s11, s10, s09", "12 of 12"),
    )


def test_discrimination_leaves_out_the_points_of_the_check_itself() -> None:
    """A check with all the points would tell its own points apart, and nothing else."""
    check = CheckInfo("only", "hidden", "f", "p", 10.0)
    results = [
        StudentResult(made_mark(f"s{n}", score=10.0 * (n % 2)), frozenset() if n % 2 else frozenset({"only"}))
        for n in range(12)
    ]
    (found,) = check_statistics([check], results)
    assert found.discrimination is None


def test_work_that_could_not_be_checked_counts_for_no_check() -> None:
    unchecked = StudentResult(made_mark("x", status="not_importable", score=0.0, final=0.0))
    (one,) = check_statistics([CHECKS["easy"]], [unchecked])
    assert (one.failed, one.of, one.difficulty) == (0, 0, None)


def test_pairs_need_two_students() -> None:
    (pair,) = misconception_pairs(made_class().results)
    assert (pair.first, pair.second, pair.both, pair.of_first) == (("01_softmax", "a"), ("01_softmax", "b"), 4, 4)
    assert misconception_pairs(made_class().results[:1]) == ()


def test_stuck_means_three_attempts_and_the_last_one() -> None:
    def attempts(student: str, *names: tuple[str, ...]) -> list[AttemptResult]:
        return [AttemptResult(student, "01_softmax", f"2026-01-0{at}", 1.0, one) for at, one in enumerate(names, 1)]

    found = stuck_students(
        [
            *attempts("s01", ("a",), ("a", "b"), ("a",)),
            *attempts("s02", ("a",), ("a",), ("a",), ()),  # no longer
            *attempts("s03", ("a",), ("a",)),
        ]
    )
    assert [(one.student, one.misconception, one.attempts, one.of) for one in found] == [("s01", "a", 3, 3)]
    days = attempt_days(made_class(attempts=tuple(attempts("s01", (), ()))))
    assert [(one.day, one.attempts) for one in days] == [("2026-01-01", 1), ("2026-01-02", 1)]
    page = page_of(made_class(attempts=tuple(attempts("s01", ("a",), ("a",), ("a",)))))
    assert [row.cells for row in page.stuck] == [("s01", "", "Mon", "01_softmax", "a", "3 of 3")]


def test_numbers_of_sections_add_up_and_keep_the_order_of_rows() -> None:
    page = page_of(made_class())
    everyone, mon, tue = page.numbers.values()
    assert [a + b for a, b in zip(mon.bins[0], tue.bins[0], strict=True)] == everyone.bins[0]
    assert sum(everyone.bins[0]) == 12
    for section in (everyone, mon, tue):
        assert len(section.checks[0]) == len(page.modules[0].checks)
        assert len(section.misconceptions[0]) == len(page.modules[0].misconceptions)
    assert [row.cells[0] for row in page.modules[0].checks][:1] == ["the property broken"]
    assert [everyone.checks[0][row.place][0] for row in page.modules[0].checks] == [
        row.cells[3] for row in page.modules[0].checks
    ]
    assert everyone.misconceptions[0][0] == ["4", "33 %"]
    assert len(page.modules[0].matrix) == 4


def test_progress_compares_the_students_of_both_gradings() -> None:
    before = tuple(made_result(number, final=1.0).mark for number in range(4))
    page = page_of(made_class(before=before))
    assert [row.cells for row in page.progress] == [("01_softmax", "4", "1", "1.5", "2", "1", "8")]
    assert len(page.changed) == 3
    assert page_of(made_class()).progress == ()


def test_reasons_are_those_of_the_new_mark() -> None:
    def why(old: dict[str, object], new: dict[str, object]) -> str:
        result = replace(made_result(1, **new), changed="the checks changed")
        (row,) = page_of(made_class(results=(result,), before=(made_result(1, **old).mark,))).changed
        return row.cells[4]

    assert why({"final": 3.0}, {}) == "the checks changed"
    assert why({"final": 3.0}, {"penalty": 2.0}) == "late penalty; the checks changed"
    assert why({}, {"override": 9.0, "final": 9.0}) == "points by hand"
    assert why({"override": 9.0, "final": 9.0}, {}) == "no more points by hand"


def test_what_to_teach_again_names_the_part_of_the_lesson() -> None:
    page = page_of(made_class(functions={"01_softmax": {"a": "softmax"}}))
    assert [row.cells for row in page.teach] == [
        ("01_softmax", "1. softmax", "a", "what a is", "4", "33 %"),
        ("01_softmax", "", "b", "what b is", "4", "33 %"),
    ]
    assert page.modules[0].misconceptions[0].cells == ("a", "what a is", "1. softmax", "try a", "4", "33 %")
    assert page.numbers["Mon"].teach == [["2", "33 %"], ["2", "33 %"]]
    assert page_of(made_class(results=made_class().results[3:])).teach == ()  # one student alone


def test_missing_late_and_hand_marked_work_is_listed() -> None:
    results = (
        made_result(1, status="missing", score=None, final=None),
        made_result(2, status="skipped", score=None, final=None),
        made_result(3, late_s=3_600.0, penalty=1.0, final=2.0),
        made_result(4, marked_late=True, time_known=False),
        made_result(5, marked_late=True, due="2026-10-01"),  # its time is known: it is not late
        made_result(6, override=9.0, final=9.0, comment="well done"),
    )
    page = page_of(made_class(results=results))
    assert [row.cells[::4] for row in page.absent] == [("s01", "missing"), ("s02", "skipped")]
    assert [(row.cells[0], *row.cells[4:]) for row in page.late] == [
        ("s03", "1 h", "1", "2"),
        ("s04", "unknown: marked late by the platform", "0", "4"),
    ]
    assert page.numbers[""].glance[0][8] == "2"
    assert [(row.cells[0], *row.cells[4:]) for row in page.by_hand] == [("s06", "well done", "6", "9")]


def test_students_and_sections_show_who_is_behind() -> None:
    page = page_of(made_class())
    assert [row.cells[6] for row in page.overview] == ["1"] * 6 + ["0"] * 6
    assert page.overview_head == ("01_softmax (of 12)",)
    assert [row.cells for row in page.by_section] == [("all", "12", "46 %"), ("Mon", "6", "50 %"), ("Tue", "6", "42 %")]


def test_reports_say_what_is_undecided_and_why_they_changed(tmp_path: Path) -> None:
    items = [ReviewItem("softmax", "cost", "softmax.py", line, "svd has no price", 0.0) for line in (3, 3, 5, 6, 7)]
    report = made_report(
        submission="ana", reviews=(*items, ReviewItem("", "code", "a.py", None, "ana", 0.0, "accepted"))
    )
    (tmp_path / "01_softmax").mkdir()
    (tmp_path / "01_softmax" / "ana.json").write_text(report_text(report))
    (tmp_path / "grades.json").write_text(json.dumps([asdict(made_mark())]))
    parts = [{"name": f"c{n}", "before": "failed", "after": "passed", "points": 1.0} for n in range(5)]
    change = {"module": "01_softmax", "submission": "ana", "before": 1.0, "after": 6.0}
    change |= {"why": ["the checks changed"], "parts": parts}
    (tmp_path / "changes.json").write_text(json.dumps([change]))
    found = read_class_results(FileStore(tmp_path))
    (one,) = found.results
    lines = "; ".join(f"softmax, line {line}: svd has no price" for line in (3, 5, 6))
    assert one.to_look_at == f"needs review; {lines}; and 1 more"
    assert one.changed.startswith("the checks changed; c0: failed → passed; c1: ")
    assert one.changed.endswith("; and 2 more")
    assert found.functions == {"01_softmax": {"words": "softmax"}}
    assert read_class_results(FileStore(tmp_path), before=FileStore(tmp_path)).results[0].changed == ""
    for damaged in ("[{}]", '{"a": 1}', "[1]", "no JSON", "3"):  # a list for people, which nothing else depends on
        (tmp_path / "changes.json").write_text(damaged)
        assert read_class_results(FileStore(tmp_path)).results[0].changed == ""


def test_lessons_have_a_part_for_each_function(course: Course) -> None:
    """The class of module 03 has a part for each method instead."""
    without = {
        (module.name, target)
        for module in course.modules
        for target in set(read_golden(module).targets) - set(lesson_parts(module))
    }
    assert without == {("03_attention", "ScaledDotProductAttention")}
    assert lesson_parts(course.modules[0])["log_softmax"] == "2. log_softmax"


def test_our_own_page_is_known_as_ours(tmp_path: Path) -> None:
    """So that `attn` may replace it, and no other file."""
    (tmp_path / "ours.html").write_text(dashboard(made_class(), about, "The class"))
    (tmp_path / "other.html").write_text("<!doctype html>\n<title>The class</title>\n")
    assert is_page(tmp_path / "ours.html")
    assert not is_page(tmp_path / "other.html")


def test_page_can_be_read_without_its_script() -> None:
    page = read_page(dashboard(made_class(), about, "The class"))
    for words in ("everybody fails it", "what a is", "s11", "strong work fails it", "the property good"):
        assert words in page.text


def test_dashboard_of_the_example_class(attn: Attn, reports: Path, tmp_path: Path) -> None:
    done = attn("dashboard", reports, "--to", tmp_path / "d.html")
    assert done.returncode == 0, done.stderr
    page = read_page((tmp_path / "d.html").read_text())
    for words in (*STUDENTS, "Farah Sample", "Mon", "ignores_axis", "missing", "not importable", "Late work"):
        assert words in page.text
    data = json.loads(page.scripts[0])
    assert len(data) == 3
    hidden = attn("dashboard", reports, "--to", tmp_path / "h.html", "--anonymous")
    assert hidden.returncode == 0, hidden.stderr
    text = (tmp_path / "h.html").read_text()
    assert "student-" in text
    assert not [name for name in (*STUDENTS, "Sample", "zoe") if f">{name}" in text or f"{name} Sample" in text]
    assert "Sample" not in text


def test_folder_without_grades_is_refused(attn: Attn, tmp_path: Path) -> None:
    with pytest.raises(ClassError, match="there are no grades"):
        read_class_results(FileStore(tmp_path))
    assert attn("dashboard", tmp_path, "--to", tmp_path / "d.html").returncode == 2


def test_the_share_of_a_misconception_is_of_the_work_that_was_checked() -> None:
    absent = tuple(
        StudentResult(made_mark(f"x{number}", status="missing", score=None, final=None)) for number in range(4)
    )
    page = page_of(made_class(results=(*made_class().results, *absent)))
    assert page.numbers[""].misconceptions[0][0] == ["4", "33 %"]


def test_files_that_are_alike_are_listed_with_who_and_without_names_if_anonymous() -> None:
    group = CopyGroup("01_softmax", "code", 0.92, ("s01", "s03"))
    page = page_of(made_class(copies=(group,)))
    (row,) = page.alike
    assert row.cells == ("s01, s03", "01_softmax", group.text, "2")
    assert (group.text[:15], page.sections[row.section]) == ("at least 92 % o", "Mon")
    mixed = page_of(made_class(copies=(replace(group, submissions=("s01", "s02")),)))
    assert mixed.alike[0].section == -1, "it stays in the list of every section"
    hidden = dashboard(made_class(copies=(group,)).hidden(Pseudonyms("secret")), about, "The class")
    assert ("s01" in hidden, Pseudonyms("secret").of("s01") in hidden) == (False, True)
    assert "Files that are alike" in hidden
    assert "Files that are alike" not in dashboard(made_class(), about, "The class")
