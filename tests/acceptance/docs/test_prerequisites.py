"""The prerequisites: the answers of the self-checks are what the code prints."""

from __future__ import annotations

import contextlib
import io

from cli.author.syllabus import LONG, SHORT, weeks_of, without_torch
from grader.course.course import Course
from tests.acceptance.docs.blocks import blocks_of
from tests.conftest import ROOT

PAGE = "docs/prerequisites.md"


def test_the_answers_are_what_the_code_prints() -> None:
    blocks = blocks_of(PAGE)
    assert [block.language for block in blocks] == ["python", "text"] * 3
    for question, answer in zip(blocks[::2], blocks[1::2], strict=True):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(question.text, {})
        assert printed.getvalue() == answer.text, question.place
        assert "<details><summary>Answer</summary>" in answer.above, f"{answer.place} is not folded"


def test_the_page_names_the_modules_with_pytorch(course: Course) -> None:
    *first, last = (module.name[:2] for module in course.modules if module.backend == "torch")
    assert f"Modules {', '.join(first)} and {last} use PyTorch." in (ROOT / PAGE).read_text()


def test_a_plan_has_every_module_once_and_in_order(course: Course) -> None:
    for modules, weeks in ((without_torch(course), SHORT), (course.modules, LONG)):
        plan = weeks_of(modules, weeks)
        assert len(plan) == weeks
        assert [module for week in plan for module in week] == list(modules)
        assert all(plan)


def test_a_plan_without_pytorch_is_closed(course: Course) -> None:
    names = {module.name for module in without_torch(course)}
    for module in course.modules:
        closed = module.backend == "numpy" and all(name in names for name in module.requires)
        assert (module.name in names) == closed
