"""Totals: missing, excused, dropped, weights and extra credit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.classroom.class_list import ClassList
from grader.classroom.course_rules import read_total_rules
from grader.classroom.marks import Mark
from grader.classroom.pseudonyms import Names, Pseudonyms
from grader.classroom.store.files import FileStore
from grader.classroom.totals import TotalRules, totals_of, unknown_names
from grader.core.csv_table import read_csv
from grader.course.course import read_course
from grader.course.module import CourseError
from grader.platforms.csv_tables import students_table
from tests.conftest import write
from tests.pages.made import made_mark

SOFTMAX, MASKS, FLASH = "01_softmax", "04_masks", "10_flash"


def scored(module: str, final: float | None, most: float, student: str = "ana", **changes: object) -> Mark:
    return made_mark(student, module, score=final, final=final, max_score=most, **changes)


def absent(module: str, most: float, status: str = "missing", student: str = "ana") -> Mark:
    return scored(module, None, most, student, submission="", status=status)


def of(*marks: Mark, **rules: Any) -> str:
    """Return the total of ana as a student reads it."""
    found = ClassList(FileStore(Path("nowhere")), (*marks, absent(SOFTMAX, 46, student="zoe")))
    return str(totals_of(found, TotalRules(**rules))["ana"])


@pytest.mark.parametrize(
    ("first", "rules", "total"),
    [
        (scored(SOFTMAX, 40, 46), {}, "109 of 115"),
        (absent(SOFTMAX, 46), {}, "69 of 115; 01 is missing"),
        (absent(SOFTMAX, 46), {"missing": "left out"}, "69 of 69; 01 is missing"),
        (absent(SOFTMAX, 46), {"excused": (("Ana", SOFTMAX),)}, "69 of 69; 01 is excused"),
        (scored(SOFTMAX, 40, 46), {"excused": (("ana", SOFTMAX),)}, "69 of 69; 01 is excused"),
        (scored(SOFTMAX, 40, 46), {"excused": (("ana", ""),)}, "no total yet; 01 and 04 are excused"),
        (scored(SOFTMAX, 40, 46), {"excused": (("ben", ""),)}, "109 of 115"),
        (absent(SOFTMAX, 46), {"drop": 1}, "69 of 69; 01 is dropped"),
        (absent(SOFTMAX, 46), {"drop": 9}, "69 of 69; 01 is dropped"),
        (scored(SOFTMAX, 46, 46), {"drop": 1}, "46 of 46; 04 is dropped"),
        (scored(SOFTMAX, 23, 46), {"weights": {SOFTMAX: 20.0}}, "79 of 89"),
        (absent(SOFTMAX, 46), {"weights": {SOFTMAX: 20.0}}, "69 of 89; 01 is missing"),
        (scored(SOFTMAX, 23, 46), {"weights": {SOFTMAX: 0.0}}, "69 of 69"),
        (scored(SOFTMAX, 40, 46), {"extra": (SOFTMAX,)}, "109 of 69"),
        (absent(SOFTMAX, 46), {"extra": (SOFTMAX,)}, "69 of 69; 01 is missing"),
        (scored(SOFTMAX, 40, 46), {"extra": (SOFTMAX,), "drop": 1}, "109 of 69"),
        (scored(SOFTMAX, None, 46, status="not_graded"), {}, "69 of 69; 01 is not graded: not counted"),
        (absent(SOFTMAX, 46, "skipped"), {}, "69 of 69; 01 is skipped: not counted"),
    ],
)
def test_rules_say_what_marks_add_up_to(first: Mark, rules: dict[str, object], total: str) -> None:
    assert of(first, scored(MASKS, 68 if rules == {"drop": 1} and first.score else 69, 69), **rules) == total


def test_a_module_without_a_line_is_missing() -> None:
    assert of(scored(MASKS, 69, 69)) == "69 of 115; 01 is missing"


def test_of_two_lowest_the_heavier_is_dropped() -> None:
    marks = absent(SOFTMAX, 46), absent(MASKS, 69), scored(FLASH, 80, 90)
    assert of(*marks, drop=1) == "80 of 136; 01 is missing; 04 is dropped"


def test_a_student_with_two_lines_for_a_module_gets_neither() -> None:
    marks = scored(SOFTMAX, 40, 46), scored(SOFTMAX, 46, 46, submission="Ana Silva"), scored(MASKS, 69, 69)
    assert of(*marks) == "69 of 69; 01 is there several times: not counted"


def test_points_by_hand_count_and_unfinished_totals_are_open() -> None:
    by_hand = scored(SOFTMAX, 50, 46, status="missing", override=50.0)
    assert of(by_hand, scored(MASKS, 60, 69)) == "110 of 115"
    open_one = ClassList(FileStore(Path()), (scored(SOFTMAX, None, 46, status="grader_fault"),))
    assert totals_of(open_one, TotalRules())["ana"].is_open
    assert not totals_of(ClassList(FileStore(Path()), (absent(SOFTMAX, 46),)), TotalRules())["ana"].is_open


def test_a_hidden_student_is_excused_too() -> None:
    names = Pseudonyms("secret", (Names("ana", ("1001", "Ana Silva")),))
    found = ClassList(FileStore(Path()), (scored(SOFTMAX, 3, 46), scored(MASKS, 69, 69))).hidden(names)
    (total,) = totals_of(found, TotalRules(excused=(("1001", SOFTMAX),))).values()
    assert str(total) == "69 of 69; 01 is excused"


def test_the_table_of_a_class_has_the_total_and_its_reason() -> None:
    found = ClassList(FileStore(Path()), (absent(SOFTMAX, 46), scored(MASKS, 69, 69)))
    ((_, row),) = read_csv(students_table(found, TotalRules()).encode())
    assert (row["total"], row["of"], row["note"]) == ("69", "115", "01 is missing")


def test_an_excused_student_who_is_not_there_is_named() -> None:
    rules = TotalRules(excused=(("ana", ""), ("Bea", SOFTMAX)))
    assert unknown_names([scored(SOFTMAX, 3, 46)], rules) == ["Bea"]


def test_totals_are_read_from_course_toml(tiny: Path) -> None:
    text = '[totals]\nmissing = "left out"\ndrop = 2\nexcused = [{student = "ana", module = 1}, {student = "ben"}]\n'
    write(tiny, {"course.toml": text + 'weights = {tiny = 20}\nextra = ["01_tiny"]\n'})
    assert read_total_rules(read_course(tiny)) == TotalRules(
        "left out", 2, (("ana", "01_tiny"), ("ben", "")), {"01_tiny": 20.0}, ("01_tiny",)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("totals = 1", "totals: must be a table, not 1"),
        ("totals = {mising = 1}", "totals.mising: is not a key here. Did you mean missing?"),
        ('totals = {missing = "0"}', 'totals.missing: cannot be \'0\'. Write "zero" or "left out"'),
        ("totals = {drop = true}", "totals.drop: must be a number of results"),
        ("totals = {drop = -1}", "totals.drop: must be a number of results"),
        ('totals = {excused = ["ana"]}', "totals.excused: must be a list of tables"),
        ("totals = {excused = [{module = 1}]}", "totals.excused[1].student: must name a student"),
        ('totals = {excused = [{student = "a", until = 1}]}', "totals.excused[1].until: is not a key here"),
        ("totals = {weights = {tinny = 1}}", "totals.weights.tinny: there is no module 'tinny'. Did you mean tiny?"),
        ("totals = {weights = {tiny = nan}}", "totals.weights.tiny: must be a number of points"),
        ("totals = {weights = {tiny = 1, 1 = 2}}", "totals.weights.1: is a second weight for 01_tiny"),
        ('totals = {extra = "tiny"}', "totals.extra: must be a list"),
    ],
)
def test_a_mistake_in_totals_is_one_sentence(tiny: Path, text: str, words: str) -> None:
    write(tiny, {"course.toml": text})
    with pytest.raises(CourseError) as caught:
        read_total_rules(read_course(tiny))
    assert words in str(caught.value)
