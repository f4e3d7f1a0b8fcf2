"""The explorer on the site: what a student sees whose modules are all right."""

from __future__ import annotations

import shutil
from pathlib import Path

from grader.course.course import Course, read_course
from grader.course.module import read_text
from grader.course.sentences import SENTENCES
from grader.pages.explorer_page import explorer_page
from grader.pages.scaling_table import scaling_table
from grader.workspace.exploration import explore
from grader.workspace.explored_costs import explored_costs
from grader.workspace.own_steps import MODULES


def reference_explorer(course: Course, scratch: Path) -> str:
    """Return the explorer's page, with the numbers of the solutions. `scratch` becomes a course with them."""
    shutil.copytree(course.root / "modules", scratch / "modules")
    finished = read_course(scratch)
    for name in MODULES:
        solution = course.solution(course.module(name))
        (scratch / "modules" / name / solution.name).write_text(read_text(solution), encoding="utf-8")
    found = explore(finished, SENTENCES)
    return explorer_page(found, scaling_table(explored_costs(finished, found.attention)))
