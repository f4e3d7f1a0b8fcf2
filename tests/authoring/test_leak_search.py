"""The search for leaks: planted ones of many kinds are found, and ordinary lines are not."""

from __future__ import annotations

import ast
import base64
import gzip
import io
import json
import sysconfig
import tarfile
import textwrap
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grader.authoring.bundle import text_leaks
from grader.authoring.encoded_texts import texts_in
from grader.authoring.leak_search import ENOUGH, LeakSearch, SearchedText, _lines, _runs, _words, searched
from grader.course.course import Course, read_course
from grader.course.module import read_text
from tests.conftest import DATA, ROOT

COUNTING = """\
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts
"""
PLACES = """\
    for at, line in enumerate(lines):
        for place, word in enumerate(line):
            entry = places.setdefault(word, {"lines": set(), "first": (at, place)})
"""
HIDDEN = """\
@worth(2, "counts agree with an independent way to count", target="count_words")
def test_counts_agree_with_the_oracle(student, rng):
    words = [str(word) for word in rng.choice(["a", "b", "c"], size=9)]
    counts = student.count_words(words)
    assert_equal(counts, oracle_counts(words))
"""


@pytest.fixture(scope="module")
def words() -> Course:
    return read_course(DATA / "courses" / "words")


def zipped(text: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/notes.txt", text)
    return out.getvalue()


def tarred(text: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo("notes.txt")
        info.size = len(text.encode())
        archive.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def notebook(*cells: str) -> bytes:
    made: list[dict[str, Any]] = [
        {"cell_type": "code", "source": cell.splitlines(True), "metadata": {}, "outputs": [], "execution_count": None}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def commented(text: str) -> str:
    return "".join(f"{line}  # step {number}\n\n" for number, line in enumerate(text.splitlines()))


def encoded(data: bytes) -> bytes:
    return b"DATA = '" + base64.b64encode(data) + b"'\n"


# Each is a file for students, by its name, and what is in it.
PLANTED: dict[str, tuple[str, bytes]] = {
    "as it is": ("notes.txt", COUNTING.encode()),
    "without indentation": ("notes.txt", textwrap.dedent(COUNTING).encode()),
    "with tabs": ("notes.txt", COUNTING.replace("    ", "\t").encode()),
    "as comments": ("checks.py", "".join(f"# {line}\n" for line in COUNTING.splitlines()).encode()),
    "with other comments": ("checks.py", commented(COUNTING).encode()),
    "in a docstring": ("checks.py", f'"""An idea:\n\n{COUNTING}"""\n'.encode()),
    "in a string of one line": ("checks.py", f"ANSWER = {COUNTING!r}\n".encode()),
    "in JSON": ("golden.json", json.dumps({"stub": COUNTING}).encode()),
    "in JSON inside JSON": ("golden.json", json.dumps({"x": json.dumps({"stub": PLACES})}).encode()),
    "in a cell of a notebook": ("words.ipynb", notebook("import math", COUNTING)),
    "split over two cells": (
        "words.ipynb",
        notebook(*COUNTING.split("    for", 1)[:1], "    for" + COUNTING.split("    for", 1)[1]),
    ),
    "in a lesson": ("modules/01_words/README.md", f"```python\n{COUNTING}```\n".encode()),
    "as a quotation": ("notes.md", "".join(f"> {line}\n" for line in PLACES.splitlines()).encode()),
    "with line numbers": ("notes.txt", "".join(f"{n}: {x}\n" for n, x in enumerate(PLACES.splitlines(), 9)).encode()),
    "with prompts": ("notes.txt", "".join(f">>> {line}\n" for line in PLACES.splitlines()).encode()),
    "with other line breaks": ("notes.txt", PLACES.replace("(word, {", "(\n    word,\n    {").encode()),
    "with other quotes and commas": ("notes.txt", PLACES.replace('"', "'").replace("place)}", "place,)}").encode()),
    "without spaces": ("notes.txt", COUNTING.replace(" = ", "=").replace(", ", ",").encode()),
    "in HTML": ("page.html", COUNTING.replace("<", "&lt;").encode()),
    "one long line alone": ("checks.py", PLACES.splitlines()[2].encode()),
    "one line with a rare word": (
        "checks.py",
        b"stripped = (part.strip(string.punctuation) for part in text.lower().split())",
    ),
    "in base64": ("figure.svg", encoded(COUNTING.encode())),
    "in base64 of several lines": ("figure.svg", base64.encodebytes(COUNTING.encode() * 2)),
    "compressed in base64": ("checks.py", encoded(gzip.compress(COUNTING.encode()))),
    "in hexadecimal digits": ("checks.py", COUNTING.encode().hex().encode()),
    "in an archive": ("data.zip", zipped(COUNTING)),
    "in an archive in an archive": ("data.tar.gz", tarred(json.dumps({"x": COUNTING}))),
    "in UTF-16": ("notes.txt", COUNTING.encode("utf-16")),
    "a hidden check": ("checks.py", HIDDEN.encode()),
    "a hidden check under another name": (
        "checks.py",
        HIDDEN.replace("test_counts_agree_with_the_oracle", "test_it").encode(),
    ),
    "the name of a hidden check": ("README.md", b"Look at test_the_counts_add_up."),
    "compiled code": ("__pycache__/words.cpython-311.pyc", b"\0\0"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_leak_is_found(words: Course, kind: str) -> None:
    name, data = PLANTED[kind]
    texts = dict(texts_in(name, data))
    assert list(text_leaks(words, texts))


def test_there_are_more_than_twenty_of_them() -> None:
    assert len(PLANTED) > 20


@pytest.mark.parametrize(
    "text",
    [
        "return counts",
        "for word in words:",
        "return merged",
        "for word in words:\n    found.append(word)\nreturn counts",
        "places = {}",
        "def count_words(words):\n    counts = {}\n",
        "if number < 1:\n    raise ValueError(number)",
        "return words - stopped",
    ],
)
def test_ordinary_lines_are_no_leak(words: Course, text: str) -> None:
    """Each is a line of the solution, or two."""
    assert list(text_leaks(words, {"checks.py": text})) == []


def test_a_lesson_may_quote_a_line(words: Course) -> None:
    line = PLACES.splitlines()[2]
    assert list(text_leaks(words, {"modules/01_words/README.md": line})) == []
    assert list(text_leaks(words, {"modules/01_words/checks.py": line}))


def test_what_students_of_this_course_receive_leaks_nothing(words: Course) -> None:
    module = words.modules[0]
    texts = {path.name: read_text(path) for path in (module.checks, module.lesson, module.probes)}
    texts["words.py"] = words.stub_text(module)
    assert list(text_leaks(words, texts)) == []


@cache
def library_lines() -> list[str]:
    """Return the ordinary lines of Python's own library, in a fixed order: statements of one line."""
    found: list[str] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
        starts = {node.lineno for node in nodes if not isinstance(node, ast.Import | ast.ImportFrom)}
        statements = [lines[number - 1].strip() for number in sorted(starts)]
        found += [line for line in statements if len(line) <= 60 and not line.startswith(('"', "'"))]
    return found


def blocked(lines: str, texts: list[SearchedText]) -> bool:
    """Whether a solution of these lines, with a stub that has none of them, is found in a text."""
    runs = _runs(_lines(lines), searched(""), 1, ENOUGH)
    return any(text.has(run) for run in runs for text in texts)


@pytest.fixture(scope="module")
def shipped() -> dict[str, str]:
    """All code that the engine ships."""
    files = [path for name in ("cli", "grader") for path in sorted((ROOT / name).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): read_text(path) for path in files}


@pytest.fixture(scope="module")
def engine(shipped: dict[str, str]) -> list[SearchedText]:
    """The same, prepared for searches."""
    return [searched(text) for text in shipped.values()]


@pytest.mark.parametrize("together", [1, 2])
def test_no_ordinary_line_blocks_a_release(shipped: dict[str, str], engine: list[SearchedText], together: int) -> None:
    """Each of them is the complete solution once; so are two in a row."""
    lines = library_lines()
    assert len(lines) > 10_000
    ours = {line.strip() for text in shipped.values() for line in text.splitlines()}
    shared = [at for at, line in enumerate(lines) if line in ours]
    assert len(shared) > 100
    others = range(0, len(lines), len(lines) // 1_000)
    different = {lines[at]: at for at in [*others, *shared] if len(lines[at]) > 11}
    chosen = list(different.values())[-1_000:]  # above all those that the engine has, too
    assert len(chosen) == 1_000
    found = [lines[at] for at in chosen if blocked("\n".join(lines[at : at + together]), engine)]
    assert found == []


def test_the_weight_that_is_enough_is_above_what_programs_share(shipped: dict[str, str]) -> None:
    """Lines of the whole library that the engine has, too: the one with most words has fewer than ENOUGH."""
    own = {line for text in shipped.values() for line in _lines(text)}
    shared = [line for line in library_lines() if line in own]
    assert len(shared) > 100
    assert 5 < max(len(set(_words(line))) for line in shared) < ENOUGH


def test_a_planted_line_among_the_thousand_would_be_found(shipped: dict[str, str], engine: list[SearchedText]) -> None:
    """The test above could pass because nothing is ever found."""
    line = next(x for x in _lines(shipped["grader/core/compare.py"]) if len(set(_words(x))) >= ENOUGH)
    assert blocked(line, engine)


def test_what_a_student_wrote_is_no_leak(words: Course) -> None:
    search = LeakSearch(words, words.modules[0])
    assert list(search.leaks(searched(COUNTING)))
    assert list(search.leaks(searched(COUNTING), own=searched(f"def count_words(words):\n{COUNTING}"))) == []
