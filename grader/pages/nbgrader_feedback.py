"""Our pages inside the feedback that nbgrader made.

nbgrader hands out one HTML file for each notebook, and no other file. So a page goes into that file, in a frame that
runs no script.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from grader.classroom.class_list import ClassList
from grader.core.atomic_file import write_atomically
from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.pages.feedback_pages import PageMaker

FEEDBACK = "feedback"  # nbgrader's folder, below its course directory
_BODY = re.compile(r"<body[^>]*>", re.IGNORECASE)
_BEGIN, _END = "<!-- AttnLab report -->", "<!-- end of AttnLab report -->"
_OURS = re.compile(f"{_BEGIN}.*?{_END}\n?", re.DOTALL)
_FRAME = (
    '{begin}<iframe title="Your report" sandbox srcdoc="{page}" '
    'style="width: 100%; height: 75vh; border: 0; border-bottom: 3px solid #888"></iframe>{end}\n'
)


def add_to_nbgrader(course: Course, found: ClassList, root: Path, name: str = "") -> tuple[int, list[str]]:
    """Put the pages of a class into nbgrader's feedback; return how many, and a sentence for each that has no place."""
    maker = PageMaker(course, name)
    added, problems = 0, list(found.problems())
    for mark, report in found.reports():
        folder = root / FEEDBACK / mark.submission / mark.module
        files = sorted(folder.glob("*.html"))
        page, leak = maker.page(mark, report)
        if leak:
            problems.append(f"{mark.id}, {mark.module}: the page {leak}. It was left out")
        elif not files:
            fix = f"Run `nbgrader generate_feedback {mark.module}` first"
            problems.append(f"{mark.id} has no feedback of nbgrader for {mark.module}. {fix}")
        for file in files if page else ():
            write_atomically(file, with_page(file.read_text(encoding="utf-8"), page))
            added += 1
    return added, [one_line(problem, 500) for problem in problems]


def with_page(feedback: str, page: str) -> str:
    """Return nbgrader's feedback with our page at its top, in place of an earlier one."""
    bare = _OURS.sub("", feedback)
    frame = _FRAME.format(begin=_BEGIN, end=_END, page=html.escape(page))
    body = _BODY.search(bare)
    at = body.end() if body else 0
    return f"{bare[:at]}{frame}{bare[at:]}"
