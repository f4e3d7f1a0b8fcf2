"""The lesson of 05_torch_attention: every number in it is computed here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from grader.course.course import Course
from grader.course.module import Module
from tests.modules.lessons import K, Q, V, row, softmax, unclaimed, weights

NAME = "05_torch_attention"
THE = weights(Q, K)[0]
PUSH = V[:, 1]
TOTAL = float(PUSH @ THE)
BY_SCORES = THE * (PUSH - TOTAL)
BY_RAW = BY_SCORES / 2
BY_QUERY = BY_RAW @ K
GAPS = np.array([0.0, 2, 4, 8, 16])
SURE = 1 / (1 + np.exp(-GAPS))


def dropped(*kept: int) -> np.ndarray:
    """The weights of The in training, when these are left."""
    return np.array([2 * weight if j in kept else 0.0 for j, weight in enumerate(THE)])


def learning() -> tuple[np.ndarray, np.ndarray]:
    """The losses and weights of 201 steps of gradient descent towards the token before, without torch."""
    q, k = Q.astype(float), K.astype(float)
    target = np.eye(5)[[0, 0, 1, 2, 3]]
    losses, shares = [], []
    for _ in range(201):
        now = weights(q, k)
        losses.append(-np.log((now * target).sum(axis=1)).mean())
        shares.append((now * target).sum(axis=1))
        by_raw = (now - target) / 5 / 2
        q, k = q - by_raw @ k, k - by_raw.T @ q
    return np.array(losses), np.array(shares)


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from (Q[0] @ K.T / 2).ravel()
    yield from THE
    yield from PUSH
    yield from PUSH * THE
    yield TOTAL
    yield from PUSH - TOTAL
    yield from BY_SCORES
    yield from BY_RAW
    yield from BY_QUERY
    for rows in (dropped(0, 1, 3), dropped(4), dropped(1, 3)):
        yield from rows
        yield rows.sum()
    yield from SURE
    yield from SURE * (1 - SURE)
    losses, shares = learning()
    yield from losses[::50]
    yield from shares[::50].ravel()
    yield from K.ravel()
    yield from (0.25, 0.75)  # the weights of the question under Reflect
    yield from ()


def cells(values: Iterable[float]) -> str:
    """Numbers in the format of the tables, with a typographic minus."""
    return " | ".join(row([abs(value)]) if value >= 0 else f"−{row([abs(value)])}" for value in values)


def four(values: Iterable[float]) -> str:
    """Numbers with four decimals and without a leading zero."""
    return " | ".join(f"{value:.4f}".removeprefix("0") for value in values)


def vector(values: Iterable[float]) -> str:
    """Numbers in brackets, as in the text."""
    return f"[{cells(values).replace(' | ', ' ')}]"


def run(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def module(course: Course) -> Module:
    return course.module(NAME)


@pytest.fixture
def lesson(module: Module) -> str:
    return module.lesson.read_text()


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("05_torch_attention"), numbers()) == []


def test_the_numbers_of_the_way_back_are_computed(lesson: str) -> None:
    assert f"| weight | {cells(THE)} | 1 |" in lesson
    assert f"| less {row([TOTAL])} | {cells(PUSH - TOTAL)} | |" in lesson
    assert f"gradient of the scaled scores | {cells(BY_SCORES)} | 0 |" in lesson
    assert f"gradient of the raw scores | {cells(BY_RAW)} | 0 |" in lesson
    assert f"`{vector(BY_QUERY)}`" in lesson
    assert f"`{vector(BY_RAW[1] * Q[0])}`" in lesson
    assert "= .4135. This is the output itself." in " ".join(lesson.split())
    assert BY_SCORES.sum() == pytest.approx(0, abs=1e-12)


def test_the_slopes_are_those_of_the_formula() -> None:
    """The example by hand, compared with differences of the complete attention."""
    h = 1e-6
    for entry in range(4):
        ends = []
        for sign in (1, -1):
            moved = Q.astype(float)
            moved[0, entry] += sign * h
            ends.append(float((weights(moved, K) @ V)[0, 1]))
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(BY_QUERY[entry], abs=1e-8)


def test_the_tables_of_dropout_and_of_slopes_are_computed(lesson: str) -> None:
    for name, kept in {"dropped: sat and mat": (0, 1, 3), "dropped: all but mat": (4,)}.items():
        shares = dropped(*kept)
        assert f"| {name} | {cells(shares)} | {cells([shares.sum()])} |" in lesson
    assert f"| weight of the first | {four(SURE)} |" in lesson
    assert f"$w_1 (1 - w_1)$ | {four(SURE * (1 - SURE))} |" in lesson


def test_what_is_said_in_words(lesson: str) -> None:
    words = " ".join(lesson.split())
    assert np.finfo(np.float16).min == -65504
    assert "lowest number is −65504" in words
    assert round(2048**2 / 1e6) == 4
    assert "For 2048 keys that is 4 million numbers" in words
    assert np.sqrt(256) == GAPS[-1]
    pair = np.array([0.25, 0.75]) * (np.array([0, 4]) - 3)
    assert pair.tolist() == [-0.75, 0.75]
    assert "`−.75 .75`" in words
    assert learning()[1][50].round(2).tolist().index(0.32) == 3  # on, which still looks elsewhere
    gaps = softmax(np.array([0.0, -200.0]))
    assert np.float32(gaps[1]) == 0  # a score 200 below the best


@pytest.mark.exhaustive  # it learns
def test_the_solution_runs_as_a_file_and_learns_as_the_lesson_says(course: Course, lesson: str) -> None:
    done = run(course.solution(course.module(NAME)))
    assert (done.returncode, done.stderr) == (0, "")
    learnt = [line for line in done.stdout.splitlines() if line.startswith("step")]
    assert len(learnt) == 5
    for line in learnt:
        assert f"  {line}\n" in lesson
    losses, shares = learning()
    for line, at in zip(learnt, range(0, 201, 50), strict=True):
        told = [float(word) for word in line.replace(":", "").split() if word[0].isdigit()][1:]
        assert told == pytest.approx([losses[at], *shares[at]], abs=6e-3)


@pytest.mark.exhaustive
def test_the_stub_runs_up_to_the_first_thing_to_be_written(module: Module) -> None:
    done = run(module.stub)
    assert done.returncode == 1
    assert "ScaledDotProductAttention" in done.stderr
    assert done.stderr.strip().endswith("NotImplementedError")
