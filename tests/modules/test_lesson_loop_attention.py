"""The lesson of 02_loop_attention: every number in it is computed here."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from grader.course.course import Course
from tests.modules.lessons import TOKENS, K, Q, V, row, softmax, unclaimed, weights

WORDS = {"she": (0, 0), "river": (2, 0), "money": (0, 2), "bank": (1, 1)}  # water and money


def sentence(other: str) -> np.ndarray:
    """The three words that bank looks at."""
    return np.array([WORDS["she"], WORDS[other], WORDS["bank"]], dtype=float)


def mixed(other: str) -> np.ndarray:
    """What bank becomes beside another word. Each word is its own query, key and value."""
    words = sentence(other)
    return np.asarray((weights(words[2:], words) @ words)[0])


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from K.ravel()
    yield from (Q @ K.T).ravel()
    for scaled in (Q[:2] @ K.T) / 2:  # The, in the lesson; cat, in the hints
        yield from scaled
        yield from scaled - scaled.max()
        yield from np.exp(scaled - scaled.max())
        yield np.exp(scaled - scaled.max()).sum()
    yield 1 + np.exp(-1.5)  # the exponentials of The and cat, where cat sees no more
    yield np.sqrt(2)
    yield from weights(Q, K).ravel()
    yield from (weights(Q, K) @ V).ravel()
    yield from weights(Q, K, np.tri(5)).ravel()
    yield from softmax(np.array([0.0, 8.0]))
    yield from softmax(np.array([0.0, 1.0]))
    yield weights(2 * Q, K)[0, 1]
    yield weights(2 * Q, K)[0, 0]
    yield weights(Q, Q)[0, 0]
    yield weights(10 * np.eye(4), np.eye(4))[0, 0]
    yield from weights(np.array([[1, 0]]), np.array([[1, 0], [1, 1], [0, 1]]))[0]
    yield from (0.382, 0.236)  # what the page printed, quoted as wrong
    yield 1.0  # the default variance
    yield from weights(sentence("river")[2:], sentence("river"))[0]
    yield from mixed("river")


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("02_loop_attention"), numbers()) == []


def test_the_tables_are_computed(course: Course) -> None:
    lesson = course.module("02_loop_attention").lesson.read_text()
    for table in (weights(Q, K), weights(Q, K) @ V, weights(Q, K, np.tri(5))):
        for token, cells in zip(TOKENS, table, strict=True):
            assert f"| {token} | {row(cells)} |" in lesson
    for token, cells in zip(TOKENS, Q @ K.T, strict=True):
        assert f"| {token} | {' | '.join(f'{cell:g}' for cell in cells)} |" in lesson


def test_bank_moves_towards_its_neighbour(course: Course) -> None:
    lesson = course.module("02_loop_attention").lesson.read_text()
    words = sentence("river")
    scores = words @ words[2]
    assert f"| score with *bank* | {row(scores)} | |" in lesson
    assert f"| scaled: divided by $\\sqrt 2$ | {row(scores / np.sqrt(2))} | |" in lesson
    assert f"| weight | {row(weights(words[2:], words)[0])} | 1 |" in lesson
    water, money = mixed("river")
    said = f"= ({row([water])}, {row([money])}): mostly water. With *money*, (0, 2), in place of *river*, it is "
    assert f"{said}({row([money])}, {row([water])})." in " ".join(lesson.split())
    assert mixed("money").tolist() == pytest.approx([money, water])


def test_what_is_said_in_words(course: Course) -> None:
    lesson = course.module("02_loop_attention").lesson.read_text()
    same = weights(Q, Q)
    assert same[0, 0] == pytest.approx(same[0, 2])
    assert [int(line.argmax()) for line in same[1:]] == [1, 2, 3, 4]
    assert round(96 * 96 * 2048**2 / 1e9) == 39
    assert "39 billion" in lesson
    days = 96 * 96 * 2048**2 * 2 * 128 / 1e7 / (24 * 60 * 60)
    assert "more than eleven days" in lesson
    assert 11 < days < 12
    assert "a weight of .4036 instead of .2976, and itself .0546" in " ".join(lesson.split())
