"""Lessons as HTML: formulas as MathML, figures as files beside the page, links to other lessons inside the page."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from grader.course.module import INTRODUCTION, Module, read_text

FIGURES = "figures"
_REMOTE = re.compile(r"https?:")


def lesson_html(module: Module, pages: Mapping[Path, str]) -> str:
    """Return a module's lesson. `pages` has the place in the page of every lesson that can be linked to."""
    return _rendered(module.lesson, module, pages)


def introduction_html(module: Module, pages: Mapping[Path, str]) -> str:
    """Return what can be read before a module's lesson; empty if there is nothing."""
    path = module.folder / INTRODUCTION
    return _rendered(path, module, pages) if path.is_file() else ""


def places(modules: Sequence[Module]) -> dict[Path, str]:
    """Return the place in the page of every lesson and introduction."""
    lessons = {module.lesson.resolve(): module.name for module in modules}
    introductions = {
        path.resolve(): path.stem for module in modules if (path := module.folder / INTRODUCTION).is_file()
    }
    return lessons | introductions


def figures(module: Module) -> dict[str, Path]:
    """Return the figures of a module by their names in the folder of figures."""
    return {f"{module.name}-{path.name}": path for path in module.beside_lesson if path.suffix == ".svg"}


def _rendered(path: Path, module: Module, pages: Mapping[Path, str]) -> str:
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin, renderer=_formula)
    tokens = markdown.parse(read_text(path))
    for number, token in enumerate(tokens):
        _adapt(token, module, pages)
        if token.type == "th_open" and not _has_words(tokens[number + 1]):
            token.tag = tokens[number + 2].tag = "td"  # a screen reader finds no name for the column in it
    rendered = str(markdown.renderer.render(tokens, markdown.options, {}))
    return rendered.replace("<pre>", '<pre tabindex="0">')  # wide code can be scrolled with the keyboard


def _formula(text: str, options: Mapping[str, Any]) -> str:
    if not options["display_mode"]:
        return str(convert(text))
    formula = convert(text, display="block")
    # It may be wider than the lesson: then it can be scrolled, also with the keyboard.
    return f'<div class="formula" tabindex="0" role="group" aria-label="Formula">{formula}</div>'


def _adapt(token: Token, module: Module, pages: Mapping[Path, str]) -> None:
    """Change what must be different in the page: levels of headings, links, figures, and what can be scrolled."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"  # the page has the first heading
    if token.type == "table_open":
        token.attrSet("tabindex", "0")
    if token.type == "inline":
        _adapt_children(token, module, pages)


def _has_words(cell: Token) -> bool:
    return any(child.content.strip() and "math" not in child.type for child in cell.children or [])


def _adapt_children(token: Token, module: Module, pages: Mapping[Path, str]) -> None:
    kept: list[Token] = []
    open_links: list[bool] = []
    for child in token.children or []:
        if child.type == "link_open":
            open_links.append(_relinked(child, module, pages))
        if child.type == "image":
            child.attrSet("src", f"{FIGURES}/{module.name}-{child.attrGet('src')}")
        if child.type not in ("link_open", "link_close") or open_links[-1]:
            kept.append(child)
        if child.type == "link_close":
            open_links.pop()
    token.children = kept


def _relinked(link: Token, module: Module, pages: Mapping[Path, str]) -> bool:
    """Let a link lead to a lesson in the page, or to a new window; False if what it leads to is not in the page."""
    target = str(link.attrGet("href"))
    if _REMOTE.match(target):
        link.attrSet("target", "_blank")
        link.attrSet("rel", "noopener noreferrer")
        return True
    place = pages.get((module.folder / html.unescape(target).partition("#")[0]).resolve())
    if place is not None:
        link.attrSet("href", f"#{place}")
    return place is not None
