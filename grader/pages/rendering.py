"""Templates become pages: one file each, that loads nothing and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.core.safe_text import printable
from grader.course.colour import css_of

TEMPLATES = Path(__file__).parent / "templates"
LONGEST = 4_000  # characters of one text
GENERATOR = '<meta name="generator" content="AttnLab">'


def render(template: str, script: str = "", *, folder: Path = TEMPLATES, colour: str = "", **context: Any) -> str:
    """Return a page. Every text in it is escaped, and what could hide or forge text is shown as an escape.

    The template and the script are in a folder; what a template extends or includes may also be one of ours. The colour
    is that of the course.
    """
    style = _asset(TEMPLATES / "style.css") + Markup(css_of(colour))
    code = _asset(folder / script) if script else Markup("")
    text = (
        _environment(folder)
        .get_template(template)
        .render(style=style, script=code, policy=content_policy(style, code), generator=Markup(GENERATOR), **context)
    )
    return text.replace("\r", "")


def content_policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows this style and this script by their hashes, and nothing else."""
    scripts = f"script-src {_hash(script)}; " if script else ""
    return f"default-src 'none'; {scripts}style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def is_page(path: Path) -> bool:
    """Whether a file is a page of ours, which may be replaced."""
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(2_000)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Make every text safe to show, wherever a template puts it. Markup is ours."""
    return printable(value, LONGEST) if type(value) is str else value


@cache
def _asset(path: Path) -> Markup:
    return Markup(path.read_text(encoding="utf-8"))
