"""Builds the site, and searches it for what students must not have."""

from __future__ import annotations

import html
import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cli.author.site.home_page import home_page
from cli.author.site.site_map import site_map
from cli.author.site.staging import stage
from grader.authoring.leak_search import LeakSearch, searched
from grader.course.colour import lightened
from grader.course.course import Course
from grader.course.course_file import read_course_file

NEEDED = ("sphinx", "myst_parser", "furo", "latex2mathml")
CONFIGURATION = Path(__file__).with_name("sphinx")
_BLOCK = re.compile(r"</?(?:p|pre|div|li|td|th|tr|br|h\d|summary|details|code)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")

# What the theme writes, and what we write in its place. axe-core finds each of these.
CORRECTIONS = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<th class="head"><p></p></th>': '<td class="head"></td>',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="This page">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    "<pre>": '<pre tabindex="0">',
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
}
# axe-core and some screen readers find no text in a header that is only a formula.
_FORMULA_HEADER = re.compile(r'<th class="head">(<p><math[^>]*>(?:(?!</th>).)*</math></p>)</th>')


class SiteError(Exception):
    """The site could not be built; the text says why."""


def build_site(course: Course, folder: Path) -> int:
    """Write the site into a folder, and return the number of its pages. A site with a leak is not written."""
    with tempfile.TemporaryDirectory() as scratch:
        source, built = Path(scratch, "source"), Path(scratch, "built")
        pages = site_map(course)
        stage(pages, home_page(course, pages), source)
        _run_sphinx(course, source, built, Path(scratch, "remembered"))
        _make_accessible(built)
        _give_colour(built / "_static" / "site.css", read_course_file(course.root).about.colour)
        shown = [view for view in read_course_file(course.root).views if view.site_page]
        for view in shown:
            made = importlib.import_module(view.module).site_page(course, Path(scratch, view.name))
            (built / view.site_page).write_text(made, encoding="utf-8")
        if found := sorted(site_leaks(course, built)):
            raise SiteError("\n".join(["the site would show what students must not have:", *found]))
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(built, folder)
    return len(pages) + 1 + len(shown)


def site_leaks(course: Course, folder: Path) -> Iterator[str]:
    """Yield every line of a solution, and every part of a hidden suite, in any page of a folder."""
    searches = [LeakSearch(course, module) for module in course.all_modules]
    for path in sorted(folder.rglob("*.html")):
        text = searched(page_text(path.read_text(encoding="utf-8")))
        yield from (f"{path.relative_to(folder)}: {leak}" for search in searches for leak in search.leaks(text))


def page_text(page: str) -> str:
    """Return the text of a page. Colours split a line of code into many elements, so only blocks break a line."""
    return html.unescape(_TAG.sub("", _BLOCK.sub("\n", page)))


def _run_sphinx(course: Course, source: Path, target: Path, remembered: Path) -> None:
    """Run Sphinx. A warning, such as a link that leads nowhere, is an error."""
    if missing := next((name for name in NEEDED if importlib.util.find_spec(name) is None), None):
        raise SiteError(f"{missing} is not installed. Run: pip install 'attnlab[site]'")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-c", str(CONFIGURATION), "-d", str(remembered)]
    title = read_course_file(course.root).about.title
    options += ["-D", f"project={title}", "-D", f"html_title={title}"]
    words = [sys.executable, "-m", "sphinx", *options, str(source), str(target)]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SiteError(f"Sphinx could not build every page:\n{done.stderr}")


def _give_colour(style: Path, colour: str) -> None:
    """Give links the colour of the course, by the names that the theme has for it."""
    if not colour:
        return
    light, dark = (
        f"--color-brand-primary: {one}; --color-brand-content: {one};" for one in (colour, lightened(colour))
    )
    rules = [f"body {{ {light} }}", f'@media screen {{ body[data-theme="dark"] {{ {dark} }} }}']
    rules += [f'@media screen and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{ {dark} }} }}', ""]
    style.write_text(style.read_text(encoding="utf-8") + "\n".join(rules), encoding="utf-8")


def _make_accessible(folder: Path) -> None:
    """Correct every page of the theme in a folder, for a keyboard and a screen reader."""
    for path in folder.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for found, corrected in CORRECTIONS.items():
            text = text.replace(found, corrected)
        path.write_text(_FORMULA_HEADER.sub(r'<td class="head">\1</td>', text), encoding="utf-8")
