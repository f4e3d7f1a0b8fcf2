"""The examples that a new module or course is made from: folders of templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

NUMBERS, WORDS = EXAMPLES = ("numbers", "words")
_TEMPLATES = Path(__file__).with_name("templates")
_WORD = re.compile(r"\{(name|slug|number|order|title|plain|quoted|sentence|example)\}")


def fill_template(name: str, words: Mapping[str, str]) -> str:
    """Return a template with words in place of {name} and the like; other braces stay."""
    text = (_TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")
    return _WORD.sub(lambda match: words[match[1]], text)
