"""The feedback of a class: one page for each student and module, and an index."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.class_list import ClassList
from grader.classroom.course_rules import read_total_rules
from grader.classroom.marks import SKIPPED, Mark, skipped_lines
from grader.classroom.totals import totals_of
from grader.core.atomic_file import file_name
from grader.core.csv_table import csv_text
from grader.core.report import Report
from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.course.course_file import read_course_file
from grader.course.seeds import course_secret
from grader.pages.cost_plot import Plotter
from grader.pages.page_leaks import PageSearch
from grader.pages.rendering import render
from grader.pages.report_page import report_page

LINKS = ("id", "name", "module", "file")


class PageMaker:
    """Makes the page of a report. A page that would show what its student must not have is not made."""

    def __init__(self, course: Course, name: str = "") -> None:
        self.course = course
        self.name = name
        self.colour = read_course_file(course.root).about.colour
        self._search = PageSearch(course)
        self._plotters = {module.name: Plotter(module) for module in course.modules}

    def page(self, mark: Mark, report: Report) -> tuple[str, str]:
        """Return the page of a student, and why it must not be given out; one of them is empty."""
        plotter = self._plotters.get(report.module)
        page = report_page(report, mark, self.name, plotter.plots(report) if plotter else {})
        text = render("report.html", title=page.title, page=page, colour=self.colour)
        leak = next(self._search.leaks(text, report, page.own_lines), "")
        return ("", leak) if leak else (text, "")


@dataclass(frozen=True)
class PageLink:
    """One page of a class: whose it is, for what, and its file."""

    id: str
    name: str
    section: str
    module: str
    file: str
    points: str
    total: str  # of all modules


@dataclass(frozen=True)
class FeedbackPages:
    """The pages that were written, and a sentence for each that was not."""

    links: tuple[PageLink, ...]
    problems: tuple[str, ...]

    def links_table(self) -> str:
        """Return whose page each file is, as CSV."""
        return csv_text(LINKS, [[getattr(link, key) for key in LINKS] for link in self.links])


def write_feedback(course: Course, found: ClassList, to: Path, name: str = "", *, unguessable: bool) -> FeedbackPages:
    """Write the pages of a class into a folder. With `unguessable` names there is no index: it would name them all."""
    maker = PageMaker(course, name)
    links: list[PageLink] = []
    problems = list(found.problems())
    totals = totals_of(found, read_total_rules(course))
    for mark, report in found.reports():
        text, leak = maker.page(mark, report)
        who = f"{mark.id or mark.submission}, {mark.module}"
        if leak:
            problems.append(one_line(f"{who}: the page {leak}. It was left out", 500))
            continue
        file = _secret_name(course, mark) if unguessable else f"{mark.module}/{file_name(mark.submission)}.html"
        path = to / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        final = "not graded" if mark.final is None else f"{mark.final:g} of {mark.max_score:g}"
        links.append(PageLink(mark.id, mark.name, mark.section, mark.module, file, final, str(totals[mark.id])))
    for mark in _skipped(found):
        file = _skipped_page(course, maker, mark, to, unguessable=unguessable)
        links.append(PageLink(mark.id, mark.name, mark.section, mark.module, file, "skipped", str(totals[mark.id])))
    made = FeedbackPages(tuple(links), tuple(problems))
    if not unguessable:
        (to / "index.html").write_text(index_page(made, name, maker.colour), encoding="utf-8", newline="\n")
    return made


def _skipped(found: ClassList) -> Iterator[Mark]:
    """Yield the marks of students whose work could not be graded."""
    yield from (mark for mark in found.marks if mark.status == SKIPPED)


def _skipped_page(course: Course, maker: PageMaker, mark: Mark, to: Path, *, unguessable: bool) -> str:
    """Write the page of a student whose work could not be graded: it says why. Return its file."""
    own = replace(mark, submission=mark.id)
    file = _secret_name(course, own) if unguessable else f"{mark.module}/{file_name(mark.id)}.html"
    path = to / file
    path.parent.mkdir(exist_ok=True)
    title = f"{mark.module}: not graded"
    text = render(
        "skipped.html", title=title, mark=mark, course=maker.name, lines=skipped_lines(mark), colour=maker.colour
    )
    path.write_text(text, encoding="utf-8", newline="\n")
    return file


def _secret_name(course: Course, mark: Mark) -> str:
    """Return a name that only who has the course can tell: 130 bits, the same in each run."""
    key = course_secret(course, "links").encode()
    digest = hmac.digest(key, f"{mark.module}\n{mark.submission}".encode("utf-8", "surrogatepass"), "sha256")
    return f"{base64.b32encode(digest).decode().lower()[:26]}.html"


def index_page(made: FeedbackPages, name: str, colour: str = "") -> str:
    """Return the index, which is for instructors."""
    modules = list(dict.fromkeys(link.module for link in made.links))
    people = dict(_people(made))
    return render(
        "index.html",
        title=f"{name or 'The class'}: feedback",
        modules=modules,
        people=people,
        problems=made.problems,
        colour=colour,
    )


def _people(made: FeedbackPages) -> Iterator[tuple[str, dict[str, PageLink]]]:
    """Yield each student with the pages by module."""
    by_person: dict[str, dict[str, PageLink]] = {}
    for link in made.links:
        by_person.setdefault(link.id, {})[link.module] = link
    yield from sorted(by_person.items())
