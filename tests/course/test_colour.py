"""The colour of a course can be read on every page."""

from __future__ import annotations

import pytest

from grader.course.colour import DARK, LIGHT, READABLE, contrast, css_of, lightened, problem_with


@pytest.mark.parametrize("colour", ["#000000", "#0b57a4", "#7a1fa2", "#a31b12", "#1a6b34", "#000080", "#767676"])
def test_a_colour_can_be_read_on_white_and_its_lighter_one_on_dark_paper(colour: str) -> None:
    assert problem_with(colour) == ""
    assert contrast(colour, LIGHT) >= READABLE
    assert contrast(lightened(colour), DARK) >= READABLE
    assert colour in css_of(colour)
    assert lightened(colour) in css_of(colour)


def test_contrast_is_that_of_the_rules_for_accessible_pages() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#123456", "#123456") == 1


def test_a_course_without_a_colour_has_ours() -> None:
    assert css_of("") == ""
