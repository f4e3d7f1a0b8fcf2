"""The search for leaks: parts of a solution, or of a hidden suite, in a text for students.

Every program has a line `return counts`, so one ordinary line proves nothing. A *run* is some lines of a solution that
follow each other. Each different word of a run weighs 1, and a word that is in no other code weighs RARE. A number
weighs nothing: lessons have tables of numbers, too. Each line after the first weighs 1. A run leaks if it weighs ENOUGH
and a text has the same words and signs in the same order. Layout, comments, quotes and commas do not count, so a copy
is found in a notebook, in a string, as a comment, or with other line breaks.

ENOUGH is measured: of the 220 000 lines of Python's own library, those that are also in our engine weigh up to 7, and
so do two and three lines in a row; no four are in both. `tests/authoring/test_leak_search.py` measures it again.
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Literal

import grader
from grader.authoring.encoded_texts import encoded_in
from grader.course.course import Course
from grader.course.module import Module, read_text
from grader.course.stub import BEGIN, END

ENOUGH = 8
RARE = 3
MOST_LINES = 6  # of a run: a longer one would only be lines like `else:`
# Visible checks and hidden ones are written by the same author: they may share a decorator and a call.
HIDDEN_LINES, HIDDEN_ENOUGH = 3, 12
LONG_NAME = 20  # characters of the name of a hidden check that no other program has
_SHORTEST_LINE = 12
_IMPORT = re.compile(r"^[ \t]*(?:from [\w.]+ import (?:\([^)]*\)|.*)|import .*)$", re.MULTILINE)
_ESCAPES = {"\\n": "\n", "\\r": " ", "\\t": " ", "&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)))
_LINE_HEAD = re.compile(r"^[ \t]*(?:\d+[:|.)][ \t]|\d+\t|[-+#>|$*.]+[ \t]|[#>|]+)*", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"\w+|[^\w\s\"'`,\\]")
_TEST_NAME = re.compile(rf"\bdef (test_\w{{{LONG_NAME - 5},}})\(")
_LONG_NUMBER = re.compile(r"(?<![\w.])(?:\d*\.\d{7,}|\d{8,})(?![\w.])")


@dataclass(frozen=True)
class SearchedText:
    """A text as the search sees it, and what is encoded in it. Nearly every run has a word that no text has."""

    texts: tuple[str, ...]
    words: frozenset[str]  # without numbers

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The long ones."""
        return frozenset(_LONG_NUMBER.findall(self.texts[0]))

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """The words and signs, with comments and without."""
        return tuple(dict.fromkeys(stream for text in self.texts for stream in _streams(text)))

    def has(self, run: Run) -> bool:
        """Whether a run stands in the text."""
        return run.words <= self.words and any(run.stream in stream for stream in self.streams)


@dataclass(frozen=True)
class Run:
    """Some lines in a row."""

    stream: str
    words: frozenset[str]  # without numbers
    shown: str


class LeakSearch:
    """Searches texts for what students must not have of one module.

    What is in the *generated* stub is public; the stub on disk may have been edited.
    """

    def __init__(self, course: Course, module: Module) -> None:
        self.module = module.name
        public = searched(course.stub_text(module))
        lines = _lines(_solution_regions(read_text(course.solution(module))))
        self._solution = {least: _runs(lines, public, least, ENOUGH) for least in (1, 2)}
        hidden = course.hidden_suite(module)
        suite = read_text(hidden) if hidden.is_file() else ""
        self._suite = _runs(_lines(suite), public, HIDDEN_LINES, HIDDEN_ENOUGH)
        shown = read_text(module.checks) if module.checks.is_file() else ""
        self._names = {one for one in _TEST_NAME.findall(suite) if one not in shown}
        self._numbers = set(_LONG_NUMBER.findall(suite)).difference(_LONG_NUMBER.findall(shown))

    def leaks(self, text: SearchedText, least: Literal[1, 2] = 1, own: SearchedText | None = None) -> Iterator[str]:
        """Yield what a text contains: at least so many lines of the solution in a row, or a part of the hidden suite.

        `own` is what the student wrote, who may have written a line of the solution.
        """
        for run in self._solution[least]:
            if text.has(run) and not (own and own.has(run)):
                yield f"contains a line of the solution of {self.module}: {run.shown!r}"
        shown = dict.fromkeys(run.shown for run in self._suite if text.has(run))
        yield from (f"contains a part of the hidden suite of {self.module}: {line!r}" for line in shown)

    def names(self, text: SearchedText) -> Iterator[str]:
        """Yield the names of hidden checks in a text, and the long numbers of the suite if there is more than one."""
        found = self._names & text.words
        numbers = {one for one in self._numbers if one in text.texts[0] and one in text.numbers}
        if len(numbers) > 1:  # one alone may be a square root that a lesson has, too
            found |= numbers
        yield from (f"contains {one} of the hidden suite of {self.module}" for one in sorted(found))


@lru_cache(maxsize=4096)  # each module is searched for in the same texts
def searched(text: str) -> SearchedText:
    """Prepare a text for searches."""
    texts = tuple(map(_unescaped, (text, *encoded_in(text))))
    return SearchedText(texts, frozenset[str]().union(*map(_WORD.findall, texts)))


def _streams(text: str) -> Iterator[str]:
    yield _stream(_LINE_HEAD.sub("", text))
    if "#" in text:
        yield _stream(_COMMENT.sub("", text))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES[match[0]], text)


def _stream(text: str) -> str:
    return f" {' '.join(_TOKEN.findall(text))} "


def _lines(text: str) -> list[str]:
    """Return the lines of code in a text, without imports, comments and lines that are a single word."""
    code = _COMMENT.sub("", _unescaped(_IMPORT.sub("", text)))
    return [line.strip() for line in code.splitlines() if len(_words(line)) > 1]


def _words(line: str) -> list[str]:
    return [token for token in _TOKEN.findall(line) if token[0].isalnum() or token[0] == "_"]


def _runs(lines: list[str], public: SearchedText, least: int, enough: int) -> list[Run]:
    """Return, for each line, the shortest run from there that weighs enough and is not public."""
    found: list[Run] = []
    for start in range(len(lines)):
        for end in range(start + least, min(start + max(least, MOST_LINES), len(lines)) + 1):
            words = frozenset(word for line in lines[start:end] for word in _words(line) if not word[0].isdigit())
            if _weight(words, public.words) + end - start - 1 >= enough:
                run = Run(_stream("\n".join(lines[start:end])), words, lines[start])
                found += [] if public.has(run) else [run]
                break
    return found


def _weight(words: Iterable[str], public: frozenset[str]) -> int:
    return sum(RARE if len(word) > 3 and word not in public and word not in ordinary_words() else 1 for word in words)


@cache
def ordinary_words() -> frozenset[str]:
    """Return the words of other code: Python's and NumPy's own names, and every word in our engine."""
    import numpy as np  # here, because `attn release --help` imports this file

    engine = (path.read_text(encoding="utf-8") for path in Path(grader.__file__).parent.rglob("*.py"))
    names = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *dir(np), *sys.stdlib_module_names}
    for kind in (str, bytes, int, float, list, dict, set, np.ndarray):
        names |= set(dir(kind))
    return frozenset(names.union(*(_TOKEN.findall(text) for text in engine)))


def _solution_regions(text: str) -> str:
    """Return the lines of a module's solution regions."""
    inside = False
    regions: list[str] = []
    for line in text.splitlines():
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
        elif inside:
            regions.append(line)
    return "\n".join(regions)


def lines_of(text: str) -> list[str]:
    """Return the longer lines of a text, but no imports, without comment signs and extra spaces."""
    bare = (" ".join(line.strip().lstrip("#>| ").split()) for line in _IMPORT.sub("", text).splitlines())
    return [line for line in bare if len(line) >= _SHORTEST_LINE]
