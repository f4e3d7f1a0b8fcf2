"""Writes the sources of the site: the pages of the course, with links that fit their new places."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from cli.author.site.site_map import HOME, SitePage

_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^()\s]+)\)")
_REMOTE = re.compile(r"[a-z]+:")


def stage(pages: Iterable[SitePage], home: str, folder: Path) -> None:
    """Write every page, the pictures that it shows, and the home page into a folder."""
    places = {page.source.resolve(): page.place for page in pages}
    for page in pages:
        target = folder / f"{page.place}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_moved(page, places, target), encoding="utf-8")
    (folder / f"{HOME}.md").write_text(home, encoding="utf-8")


def _moved(page: SitePage, places: dict[Path, str], target: Path) -> str:
    """Return the text of a page with its links changed, but not those inside blocks of code."""
    text = page.source.read_text(encoding="utf-8")
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [_relinked(text[end : fence.start()], page, places, target), fence[0]]
        end = fence.end()
    return "".join([*parts, _relinked(text[end:], page, places, target)])


def _relinked(text: str, page: SitePage, places: dict[Path, str], target: Path) -> str:
    return _LINK.sub(lambda link: _new_link(link, page, places, target), text)


def _new_link(link: re.Match[str], page: SitePage, places: dict[Path, str], target: Path) -> str:
    """Return a link as it is in its new place. A file that is not on the site, such as code, becomes plain text."""
    path, _, anchor = link["target"].partition("#")
    if not path or _REMOTE.match(path):
        return link[0]
    file = (page.source.parent / path).resolve()
    if link["image"]:
        return f"![{link['text']}]({_copied(file, target)})"
    if file in places:
        there = os.path.relpath(target.parents[1] / f"{places[file]}.md", target.parent)
        return f"[{link['text']}]({there}{'#' + anchor if anchor else ''})"
    return link["text"]


def _copied(picture: Path, target: Path) -> str:
    """Copy a picture beside the page that shows it, and return the link to it."""
    place = target.parent / "pictures" / f"{picture.parent.name}-{picture.name}"
    place.parent.mkdir(exist_ok=True)
    shutil.copyfile(picture, place)
    return f"pictures/{place.name}"
