"""The home page of the site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cli.author.site.site_map import SitePage
from grader.course.course import Course
from grader.course.module import Module

HEAD = """\
# AttnLab

A course on attention in which you write every part yourself: softmax, attention, masks, many heads, positions, a cache,
flash attention, and in the end a small model that writes. A command, `attn`, checks your work and says which mistake
you made.

- **Students** begin with {first} and the [guide for students](guides/student.md).
- **Instructors** begin with the [guide for instructors](guides/instructor.md) and the [syllabus](guides/syllabus.md).
- **The explorer** follows a sentence through attention, number by number. <a href="explorer.html">Open it</a>: this
  is what a student sees whose modules are all right.

| | module | minutes |
|---|---|---|
"""


def home_page(course: Course, pages: Iterable[SitePage]) -> str:
    """Return the home page: what the course is, its modules, and the contents of the site."""
    first = course.modules[0]
    rows = [
        f"| {module.name[:2]} | [{module.title}](lessons/{module.name}.md){_extra(module)} | {module.minutes} |"
        for module in course.all_modules
    ]
    head = HEAD.format(first=f"[{first.title}](lessons/{first.name}.md)")
    return head + "\n".join([*rows, "", *_contents(pages)]) + "\n"


def _extra(module: Module) -> str:
    return ", optional, with an NVIDIA GPU" if module.needs_gpu else ""


def _contents(pages: Iterable[SitePage]) -> Iterator[str]:
    """Yield a hidden table of contents for each section: the side bar of every page shows it."""
    sections: dict[str, list[str]] = {}
    for page in pages:
        sections.setdefault(page.section, []).append(page.place)
    for section, places in sections.items():
        yield from ("```{toctree}", ":hidden:", f":caption: {section}", "", *places, "```", "")
