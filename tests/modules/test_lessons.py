"""Every decimal of every lesson is computed by a test. One that no test computes is found."""

from __future__ import annotations

from pathlib import Path

from grader.course.course import Course
from tests.modules.lessons import SCORES, softmax, unclaimed


def test_every_module_has_its_numbers_computed(course: Course) -> None:
    for module in course.modules:
        text = (Path(__file__).parent / f"test_lesson_{module.slug}.py").read_text()
        assert f'assert unclaimed(course.module("{module.name}"), numbers()) == []' in text


def test_a_decimal_that_no_test_computes_is_found(course_copy: Course) -> None:
    module = course_copy.module("01_softmax")
    module.lesson.write_text("Weights of .0546, 0.25 and −0.5, not 1 and not v2.0")
    module.stub.write_text("x = 1e3  # or .4037\n")
    module.hints.write_text("Try 0.77.\n")
    assert unclaimed(module, [0.05464, -0.5]) == ["0.25", ".4037", "0.77"]


def test_the_shared_example_is_the_published_one() -> None:
    assert softmax(SCORES).round(4).tolist() == [0.0546, 0.4036, 0.1485, 0.1485, 0.2448]
    assert softmax(SCORES / 2).round(4).tolist() == [0.1095, 0.2976, 0.1805, 0.1805, 0.2318]
