"""Which files of the course become which pages of the site."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course.course import Course
from grader.course.module import INTRODUCTION

# The pages of docs/ in each section. A page that is not here is not on the site: `strangers` finds it.
GUIDES = {
    "For students": ("prerequisites", "student", "gpt", "pages", "gpu"),
    "For instructors": ("instructor", "term", "web", "syllabus", "grading", "nbgrader", "export", "store", "cluster"),
    "To trust it": ("threat-model", "performance", "verdicts", "diagnosis"),
    "Reference": ("commands", "authoring", "authoring-reference", "register", "decisions", "testing", "history"),
}
HOME = "index"


@dataclass(frozen=True)
class SitePage:
    """A page of the site: the file that it is made from, its place on the site without a suffix, and its section."""

    source: Path
    place: str
    section: str


def site_map(course: Course) -> list[SitePage]:
    """Return every page but the home page, in reading order."""
    return [*_lessons(course), *_guides(course.root)]


def strangers(root: Path) -> set[str]:
    """Return the pages of docs/ that no section has."""
    listed = {name for names in GUIDES.values() for name in names}
    return {path.stem for path in (root / "docs").glob("*.md")} - listed - {"README"}


def _lessons(course: Course) -> Iterator[SitePage]:
    for module in course.all_modules:
        if (introduction := module.folder / INTRODUCTION).is_file():
            yield SitePage(introduction, f"lessons/{introduction.stem}", "Lessons")
        yield SitePage(module.lesson, f"lessons/{module.name}", "Lessons")


def _guides(root: Path) -> Iterator[SitePage]:
    for section, names in GUIDES.items():
        for name in names:
            yield SitePage(root / "docs" / f"{name}.md", f"guides/{name}", section)
