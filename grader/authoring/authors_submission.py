"""Submissions that the author wrote, such as the solution. They build on the solutions of earlier modules."""

from __future__ import annotations

from grader.course.course import Course
from grader.course.earlier import earlier_solutions
from grader.course.module import Module
from grader.submission.submission import Source, Submission


def authors_submission(course: Course, module: Module, name: str, text: str) -> Submission:
    """Return a submission of this text, with the solutions of the earlier modules that it imports."""
    texts = {**earlier_solutions(course, module, text), module.slug: text}
    sources = {slug: Source(f"{slug}.py", (one,), notebook=False) for slug, one in texts.items()}
    return Submission(name, module.name, f"{module.slug}.py", sources)
