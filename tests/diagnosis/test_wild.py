"""Mistakes as people write them get a name that is true of them, alone in their file and beside another one."""

from __future__ import annotations

import pytest

from grader.course.course import Course
from grader.diagnosis.diagnose import Diagnoser
from tests.cases import cases
from tests.conftest import ROOT
from tests.diagnosis.wild import Named, accepted, files, names_of, paired_files
from tests.quick import quick_or_exhaustive, sampled

PAGE = ROOT / "docs" / "diagnosis.md"
MODULES = sorted({case.module for case in cases("wild")})
# Where the other functions are not written, a function that calls them cannot be judged.
# Two mistakes of one file: where what a function calls is wrong too, it often gets no name rather than an untrue one.
LEAST_ALONE, LEAST_OF_PAIRS = 0.9, 0.5
# A case of these modules takes a second or so, and one of 12 trains a model. A run tries some of them, in turn.
EVERY = dict.fromkeys(("09_kv_cache", "10_flash_attention", "11_efficient_attention", "12_transformer"), 6)


def some_of(name: str, texts: dict[str, str]) -> dict[str, str]:
    return {title: texts[title] for title in sampled(list(texts), EVERY.get(name, 1))}


def found_in(course: Course, name: str, texts: dict[str, str]) -> list[Named]:
    module = course.module(name)
    prints = Diagnoser(module).prints
    assert prints is not None
    return names_of(course, module, prints, texts)


def assert_true_and_often(found: list[Named], least: float, of: int) -> None:
    assert {one.title: one.untrue for one in found if one.untrue} == {}
    if len(found) == of:  # a rate is one of all files
        assert sum(one.named for one in found) >= least * sum(one.should for one in found)


@pytest.mark.parametrize("name", quick_or_exhaustive(MODULES))
def test_a_mistake_gets_a_name_that_is_true_of_it(course: Course, name: str) -> None:
    found = found_in(course, name, some_of(name, files(course, course.module(name))))
    assert {one.title: one.untrue for one in found if one.untrue} == {}
    assert [one.title for one in found if one.named < one.should] == []
    assert [one.title for one in found if not one.should and one.true[0]] == []


@pytest.mark.parametrize("name", MODULES)
def test_the_page_has_the_number_of_cases(name: str) -> None:
    known = cases("wild", name)
    named = sum(bool(accepted(case)) for case in known)
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    said = [line.split(" | ") for line in lines if f"| {name} | {len(known)} |" in line]
    assert [(row[3], row[4]) for row in said] == [(f"{named} of {named}", str(len(known) - named))]


@pytest.mark.parametrize("name", quick_or_exhaustive(MODULES))
def test_a_mistake_where_nothing_else_is_written_gets_no_untrue_name(course: Course, name: str) -> None:
    texts = files(course, course.module(name), alone=True)
    assert_true_and_often(found_in(course, name, some_of(name, texts)), LEAST_ALONE, len(texts))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MODULES)
def test_two_mistakes_in_one_file_get_no_untrue_name(course: Course, name: str) -> None:
    texts = paired_files(course, course.module(name))
    assert_true_and_often(found_in(course, name, some_of(name, texts)), LEAST_OF_PAIRS, len(texts))


def test_every_accepted_name_is_a_misconception(course: Course) -> None:
    for module in course.modules:
        prints = Diagnoser(module).prints
        known = {way.name for way in prints.ways} if prints else set()
        unknown = {case.name: accepted(case) - known for case in cases("wild", module.name)}
        assert {title: names for title, names in unknown.items() if names} == {}
