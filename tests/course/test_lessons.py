"""Every decimal number in a lesson is claimed here by something that computes it; an unclaimed one fails."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pytest

from grader.course import Course

SCORES = np.array([0, 2, 1, 1, 1.5])


def softmax(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(x) / np.exp(x).sum())


def softmax_numbers() -> Iterable[float]:
    """Every number of 01's lesson, from the formula."""
    yield from SCORES
    yield from np.exp(SCORES)
    yield np.exp(SCORES).sum()
    yield from softmax(SCORES)
    shifted = SCORES - SCORES.max()
    yield from shifted
    yield from np.exp(shifted)
    yield np.exp(shifted).sum()
    yield np.log(np.exp(shifted).sum())
    yield from np.log(softmax(SCORES))
    for temperature in (0.5, 1, 2, 100):
        yield temperature
        yield from softmax(SCORES / temperature)
    yield -0.5  # an example of a score


Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
TOKENS = ["The", "cat", "sat", "on", "mat"]


def weights(q: np.ndarray, k: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
    """Attention weights from the formula, the allowed keys of each query."""
    exps = np.exp(q @ k.T / np.sqrt(k.shape[1])) * (1 if allowed is None else allowed)
    return np.asarray(exps / exps.sum(axis=1, keepdims=True))


def loop_attention_numbers() -> Iterable[float]:
    """Every number of 02's lesson, from the formula."""
    yield from K.ravel()
    yield from (Q @ K.T).ravel()
    scaled = Q[0] @ K.T / 2
    yield from scaled
    yield from scaled - scaled.max()
    yield from np.exp(scaled - scaled.max())
    yield np.exp(scaled - scaled.max()).sum()
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


CLAIMS = {"01_softmax": softmax_numbers, "02_loop_attention": loop_attention_numbers}


@pytest.mark.parametrize("name", CLAIMS)
def test_every_decimal_of_a_lesson_is_computed(course: Course, name: str) -> None:
    texts = [course.module(name).lesson.read_text(), course.module(name).stub.read_text()]
    written = [number for text in texts for number in re.findall(r"(?<![\w.])[−-]?\d*\.\d+", text)]
    assert written
    claimed = [abs(float(number)) for number in CLAIMS[name]()]
    for number in written:
        decimals = len(number.partition(".")[2])
        value = abs(float(number.replace("−", "-")))
        assert any(round(claim, decimals) == value for claim in claimed), f"{number} is claimed by nothing"


def test_every_module_has_its_numbers_claimed(course: Course) -> None:
    assert set(CLAIMS) == {module.name for module in course.modules}


def test_the_shared_example_is_the_published_one() -> None:
    assert softmax(SCORES).round(4).tolist() == [0.0546, 0.4036, 0.1485, 0.1485, 0.2448]
    assert softmax(SCORES / 2).round(4).tolist() == [0.1095, 0.2976, 0.1805, 0.1805, 0.2318]


def test_the_rows_of_a_lesson_stand_where_they_were_computed(course: Course) -> None:
    lesson = course.module("01_softmax").lesson.read_text()
    for temperature in (0.5, 1, 2, 100):
        weights = " | ".join(f"{weight:.4f}"[1:] for weight in softmax(SCORES / temperature))
        assert f"| {temperature} | {weights} |" in lesson
    assert "| weight | .0546 | .4036 | .1485 | .1485 | .2448 | 1 |" in lesson


def test_the_tables_of_the_loop_lesson_stand_where_they_were_computed(course: Course) -> None:
    lesson = course.module("02_loop_attention").lesson.read_text()
    causal = weights(Q, K, np.tri(5))
    for table in (weights(Q, K), weights(Q, K) @ V, causal):
        for token, row in zip(TOKENS, table, strict=True):
            cells = " | ".join(f"{cell:.4f}".lstrip("0") if cell % 1 else f"{cell:.0f}" for cell in row)
            assert f"| {token} | {cells} |" in lesson
    for token, row in zip(TOKENS, Q @ K.T, strict=True):
        assert f"| {token} | {' | '.join(f'{cell:g}' for cell in row)} |" in lesson


def test_what_the_loop_lesson_says_in_words(course: Course) -> None:
    lesson = course.module("02_loop_attention").lesson.read_text()
    same = weights(Q, Q)
    assert same[0, 0] == pytest.approx(same[0, 2])
    assert [int(row.argmax()) for row in same[1:]] == [1, 2, 3, 4]
    assert round(96 * 96 * 2048**2 / 1e9) == 39
    assert "39 billion" in lesson
    assert "with\n  .4036 instead of .2976, and at itself with .0546" in lesson
