"""Modules 03 and 04 of examples/tokens: the numbers of their lessons, and proofs that find what is broken."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from docs.figures import tokens34
from docs.figures.tokens import solution
from grader.authoring.soundness import check_module
from grader.course.course import read_course
from tests.examples.test_tokens import TOKENS, copied, edit
from tests.quick import sampled

LEARNED_FROM = "that thing they think then"


def lesson(name: str) -> str:
    return read_course(TOKENS).module(name).lesson.read_text()


def table_of(text: str, columns: int) -> list[list[str]]:
    """Return the rows of a lesson's tables that have so many columns and begin with a number or a pair."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [row for row in rows if len(row) == columns and row[0][:1] in {*"0123456789", "("}]


def number(cell: str) -> float:
    return float(cell.replace("−", "-"))


def test_the_merges_of_the_lesson_are_learned_from_its_text() -> None:
    of, text = solution("03_encoding"), lesson("03_encoding")
    assert solution("02_pairs").train(LEARNED_FROM, 5) == of.MERGES
    tokens = of.vocabulary(of.MERGES)
    rows = [row for row in table_of(text, 4) if row[0].isdigit()]
    assert len(rows) == 5
    for rank, (place, pair, new, words) in enumerate(rows):
        assert (int(place), ast.literal_eval(pair), int(new)) == (rank + 1, of.MERGES[rank], 256 + rank)
        assert words.split("`")[1].encode() == tokens[256 + rank]


def test_the_ids_of_the_lesson_are_right() -> None:
    of, text = solution("03_encoding"), lesson("03_encoding")
    assert of.encode("that", of.MERGES) == [256, 97, 116]
    assert of.encode(" thing", of.MERGES) == [260, 103]
    assert "five ids: 256, 97, 116, 260, 103" in text
    wrong = table_of(text, 5)
    assert len(wrong) == 3
    for merges, word, _, _, right in wrong:
        assert of.encode(word.strip("*"), ast.literal_eval(f"[{merges}]")) == ast.literal_eval(f"[{right}]")
    counts = [len(of.encode(word, of.MERGES)) for word in ("think", " think", "Think", "naïve", "👋")]
    assert "{}, {}, {}, {} and {}.".format(*counts) in text
    for word, ids in ((" then", "259, 110"), ("then", "256, 101, 110")):
        assert str(of.encode(word, of.MERGES)) == f"[{ids}]"
        assert ids in text
    exercise = [(97, 98), (98, 99), (256, 257)]
    assert (of.encode("abbc", exercise), of.encode("abc", exercise)) == ([258], [256, 99])


def test_the_figure_of_passes_shows_the_numbers_that_are_said() -> None:
    table = [*solution("03_encoding").MERGES, *((1, one) for one in range(245))]
    found = re.search(r"climbs to (\d+) ids at 250 merges; .* stays at (\d+)", lesson("03_encoding"))
    assert found
    assert [*map(int, found.groups())] == [tokens34.passed(LEARNED_FROM, table), tokens34.ranked(LEARNED_FROM, table)]


def test_the_tables_of_the_lesson_on_vectors_are_right() -> None:
    of, text = solution("04_vectors"), lesson("04_vectors")
    tokens, positions = table_of(text, 5)[:6], table_of(text, 5)[6:]
    assert np.array_equal([[number(cell) for cell in row[1:]] for row in tokens], of.TABLE)
    shown = np.array([[number(cell) for cell in row[1:]] for row in positions])
    assert np.abs(shown - of.sinusoidal(3, 4)).max() < 6e-5
    first, _, third = of.embed(of.IDS, of.TABLE, of.sinusoidal(3, 4)).round(4).tolist()
    said = f"{tuple(first)} and {tuple(third)}".replace(".0,", ",").replace(".0)", ")").replace("-", "−")
    assert said in text
    assert of.embed([1, 1, 0], np.eye(2), 10 * np.ones((3, 2)) * [[0], [1], [2]]).tolist() == [
        [0, 1],
        [10, 11],
        [21, 20],
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "file", "old", "new", "found"),
    sampled(
        [
            (
                "03_encoding",
                "tests/hidden/test_03_encoding.py",
                'assert_equal(student.chunks("a   b  "), ["a", " ", " ", " b", " ", " "])',
                'student.chunks("a   b  ")',
                "chunks_of_many_spaces fails for no misconception",
            ),
            (
                "04_vectors",
                "solutions/04_vectors/vectors.py",
                "rows = np.zeros((len(ids), size))",
                "rows = np.ones((len(ids), size))",
                "the solution fails one_hot_of_the_lesson",
            ),
        ],
        2,
    ),
)
def test_what_is_broken_is_found(tmp_path: Path, name: str, file: str, old: str, new: str, found: str) -> None:
    course = copied(tmp_path)
    edit(course.root / file, old, new)
    problems = check_module(course, course.module(name)).problems
    assert found in "\n".join(problem.what for problem in problems)
