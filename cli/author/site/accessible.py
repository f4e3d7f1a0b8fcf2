"""Corrections of the theme's pages, so that they can be used with a keyboard and with a screen reader."""

from __future__ import annotations

import re
from pathlib import Path

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


def make_accessible(folder: Path) -> None:
    """Correct every page in a folder."""
    for path in folder.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for found, corrected in CORRECTIONS.items():
            text = text.replace(found, corrected)
        path.write_text(_FORMULA_HEADER.sub(r'<td class="head">\1</td>', text), encoding="utf-8")
