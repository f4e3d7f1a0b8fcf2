"""The home page of the site."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from cli.author.site.site_map import SitePage
from grader.course.course import Course
from grader.course.course_file import read_course_file
from grader.course.module import Module

HEAD = """\
# {title}

{description}

- **Students** begin with {first} and the [guide for students](guides/student.md).
- **Instructors** begin with the [guide for instructors](guides/instructor.md) and the [syllabus](guides/syllabus.md).
{views}
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
    file = read_course_file(course.root)
    views = [
        f"- **attn {view.name}**: {view.help} "
        f'<a href="{view.site_page}">See it</a> with the code of a student whose modules are all right.\n'
        for view in file.views
        if view.site_page
    ]
    head = HEAD.format(
        title=file.about.title,
        description=textwrap.fill(file.about.description or file.about.sentence, 120),
        first=f"[{first.title}](lessons/{first.name}.md)",
        views="".join(views),
    )
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
