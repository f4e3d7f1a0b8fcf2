"""Every decimal of every lesson is computed by a test. One that no test computes is found."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from grader.course.course import Course
from grader.course.module import INTRODUCTION
from tests.modules.lessons import SCORES, softmax, unclaimed


def test_every_module_has_its_numbers_computed(course: Course) -> None:
    for module in course.all_modules:
        text = (Path(__file__).parent / f"test_lesson_{module.slug}.py").read_text()
        named = f'assert unclaimed(course.module("{module.name}"), numbers()) == []'
        assert named in text or "assert unclaimed(module, numbers()) == []" in text


def test_a_decimal_that_no_test_computes_is_found(course_copy: Course) -> None:
    module = course_copy.module("01_softmax")
    (module.folder / INTRODUCTION).write_text("A look-up with .4321.")
    module.lesson.write_text("Weights of .0546, 0.35 and −0.5, not 1 and not v2.0")
    module.stub.write_text("x = 1e3  # or .4037\n")
    module.hints.write_text("Try 0.77.\n")
    assert unclaimed(module, [0.05464, -0.5]) == ["0.35", ".4321", ".4037", "0.77"]


def test_the_shared_example_is_the_published_one() -> None:
    assert softmax(SCORES).round(4).tolist() == [0.0546, 0.4036, 0.1485, 0.1485, 0.2448]
    assert softmax(SCORES / 2).round(4).tolist() == [0.1095, 0.2976, 0.1805, 0.1805, 0.2318]


def test_every_lesson_ends_with_takeaways_exercises_and_references(course: Course) -> None:
    for module in course.all_modules:
        text = module.lesson.read_text()
        parts = ["\n## Reflect\n", "\n## Takeaways\n", "\n## With pencil and paper\n", "\n## Read more\n"]
        places = [text.find(part) for part in parts]
        assert -1 not in places, f"{module.name} has no {parts[places.index(-1)].strip()}"
        assert places == sorted(places), module.name
        exercises = text[places[2] : places[3]]
        assert exercises.count("<details><summary>Answer</summary>\n\n") == exercises.count("\n\n</details>") >= 2
        assert text.count("<details>") == text.count("</details>"), module.name
        assert "Predict, then run" in text, module.name
        references = text[places[3] :]
        assert all(re.search(r"(?s)\*.+\*,\s(19|20)\d\d", one) for one in references.split("\n- ")[1:]), module.name


def test_no_lesson_is_longer_than_3000_words_at_once(course: Course) -> None:
    """Folded parts are read one by one, and the frame of a table is no word."""
    for module in course.all_modules:
        text = module.lesson.read_text()
        while text != (opened := re.sub(r"(?s)<details>(?:(?!<details>).)*?</details>", "", text)):
            text = opened
        words = [word for word in text.split() if re.search(r"\w", word)]
        assert len(words) <= 3000, f"{module.name}: {len(words)} words outside of the folded parts"


def test_a_lesson_leads_to_the_next_one(course: Course) -> None:
    for module, after in pairwise(course.modules):
        assert f"(../{after.name}/README.md)" in module.lesson.read_text().partition("\n## Read more\n")[2]


def test_links_of_lessons_lead_somewhere(course: Course) -> None:
    for module in course.all_modules:
        for page in (module.lesson, *(path for path in module.beside_lesson if path.suffix == ".md")):
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                assert (page.parent / target).is_file(), f"{page}: {target}"
