"""The search of a finished page for what its student must not have. How the page was made proves nothing."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator

from grader.authoring.leak_search import LeakSearch, lines_of, searched
from grader.core.report import Report
from grader.course.course import Course

_TAG = re.compile(r"<[^>]*>")  # every < and > of a text is escaped
_HEAD = re.compile(r"<head>.*?</head>", re.DOTALL)


class PageSearch:
    """Searches pages for lines of solutions, parts of hidden suites, and the instructor's text of a report."""

    def __init__(self, course: Course) -> None:
        self._searches = [LeakSearch(course, module) for module in course.modules]

    def leaks(self, page: str, report: Report, own: Collection[str]) -> Iterator[str]:
        """Yield every leak in a page. `own` has lines that the student wrote."""
        text, written = text_of(page), "\n".join(own)
        for search in self._searches:
            yield from search.leaks(searched(text), own=searched(written))
        lines, mine = lines_of(text), lines_of(written)
        private = _private_lines(report).difference(mine)  # a traceback has lines of the student's own file
        yield from (f"contains a line for instructors: {line!r}" for line in sorted(private.intersection(lines)))


def text_of(page: str) -> str:
    """Return the text of a page, with each element on lines of its own."""
    return html.unescape(_TAG.sub("\n", _HEAD.sub("", page)))


def _private_lines(report: Report) -> set[str]:
    """Return the lines that only instructors may read: hidden inputs, expected values, tracebacks."""
    private = {line for check in report.checks for line in lines_of(check.detail)}
    texts = [report.message, *(check.message for check in report.checks), *(check.property for check in report.checks)]
    texts += [cost.message for cost in report.costs] + [one.message for one in report.diagnoses]
    return private - {line for text in texts for line in lines_of(text)}
