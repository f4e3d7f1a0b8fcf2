"""The lesson of 05_torch_attention: every number in it is computed here."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
RUNS = [(loss, sharpness) for sharpness in (1, 8) for loss in ("1 - weight", "-log(weight)")]


def dropped(*kept: int) -> np.ndarray:
    """The weights of The in training, when these are left."""
    return np.array([2 * weight if j in kept else 0.0 for j, weight in enumerate(THE)])


@dataclass(frozen=True)
class Run:
    """What 201 steps of gradient descent towards the token before have found, without torch."""

    losses: np.ndarray
    shares: np.ndarray  # the weights that should be 1
    q: np.ndarray
    k: np.ndarray


def learning(loss: str = "-log(weight)", sharpness: int = 1) -> Run:
    """Train the queries and keys with the gradients in the lesson's table of two losses."""
    q, k = Q.astype(float), K.astype(float)
    target = np.eye(5)[[0, 0, 1, 2, 3]]
    losses, shares = [], []
    for step in range(201):
        now = weights(sharpness * q, k)
        right = (now * target).sum(axis=1, keepdims=True)
        losses.append((-np.log(right) if loss == "-log(weight)" else 1 - right).mean())
        shares.append(right[:, 0])
        by_scaled = (now - target) * (1 if loss == "-log(weight)" else right)
        by_raw = by_scaled * sharpness / 5 / 2
        if step < 200:
            q, k = q - by_raw @ k, k - by_raw.T @ q
    return Run(np.array(losses), np.array(shares), q, k)


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
    yield from learning().losses[::50]
    for loss, sharpness in RUNS:
        done = learning(loss, sharpness)
        yield done.losses[200]
        yield from done.shares[::50].ravel()
    yield from K.ravel()
    yield from (0.25, 0.75)  # the weights of the question under Reflect
    yield from np.linalg.norm([K[0], K[4], learning().k[0], learning().k[4]], axis=1)


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


def test_the_first_lines_of_torch_print_the_gradient_by_hand(lesson: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = lesson.partition("```python\n")[2].partition("```")[0]
    exec("import torch\n" + code, {})
    printed = [float(found) for found in re.findall(r"-?\d\.\d+", capsys.readouterr().out)]
    told = [float(found) for found in code.rpartition("#")[2].split(",")]
    assert told == pytest.approx(printed, abs=5e-5)
    assert told == pytest.approx(BY_SCORES, abs=5e-5)


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
    assert learning().shares[50].round(2).tolist().index(0.32) == 3  # on, which still looks elsewhere
    gaps = softmax(np.array([0.0, -200.0]))
    assert np.float32(gaps[1]) == 0  # a score 200 below the best


def told(line: str) -> list[float]:
    """The loss and the weights in a line that the stub prints."""
    return [float(word) for word in line.replace(":", "").split() if word[0].isdigit()][1:]


def test_only_one_of_the_four_runs_is_stuck(lesson: str) -> None:
    """Sure and wrong is stuck with the loss 1 - w, and with no other."""
    for loss, sharpness in RUNS:
        done = learning(loss, sharpness)
        stuck = done.losses[200] > 0.3
        assert stuck == (loss == "1 - weight" and sharpness == 8)
        line = lesson.partition(f"loss {loss}, scores times {sharpness}\n")[2].splitlines()[0]
        assert told(line) == pytest.approx([done.losses[200], *done.shares[200]], abs=6e-3)
    start = weights(8 * Q, K)[[0, 3]]
    assert start.max(axis=1).min() > 0.8  # The and on are sure
    assert start[[0, 1], [0, 2]].max() < 0.001  # and wrong


def test_the_gradients_of_the_two_losses_are_those_of_the_table() -> None:
    scores, right, h = np.array([0.5, -1.0, 2.0]), 1, 1e-6
    shares = softmax(scores)
    slopes: dict[str, Callable[[float], float]] = {"1 - w": lambda w: 1 - w, "-log w": lambda w: -math.log(w)}
    wanted = {"1 - w": shares[right] * (shares - np.eye(3)[right]), "-log w": shares - np.eye(3)[right]}
    for name, loss_of in slopes.items():
        for j in range(3):
            ends = [loss_of(softmax(scores + sign * h * np.eye(3)[j])[right]) for sign in (1, -1)]
            assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(wanted[name][j], abs=1e-8)


def test_keys_grow_while_they_learn_but_for_the_one_that_is_not_wanted(lesson: str) -> None:
    done = learning()
    before, after = np.linalg.norm(K, axis=1), np.linalg.norm(done.k, axis=1)
    words = " ".join(lesson.split())
    assert f"the key of *The* was {before[0]:.2f} long and is now {after[0]:.2f} long" in words
    assert f"key of *mat* has shrunk from {before[4]:.2f} to {after[4]:.2f}." in words
    assert ((after > before) == [True, True, True, True, False]).all()
    assert (np.linalg.norm(done.q, axis=1) > np.linalg.norm(Q, axis=1)).all()


@pytest.mark.exhaustive  # it learns
def test_the_solution_runs_as_a_file_and_learns_as_the_lesson_says(course: Course, lesson: str) -> None:
    done = run(course.solution(course.module(NAME)))
    assert (done.returncode, done.stderr) == (0, "")
    printed = [line for line in done.stdout.splitlines() if line.startswith(("step", "loss"))]
    first, four = printed[:5], printed[5:]
    assert len(four) == 4 * 4
    for line in (*first, *four[::4], *four[3::4]):
        assert f"  {line}\n" in lesson
    for line, at in zip(first, range(0, 201, 50), strict=True):
        assert told(line) == pytest.approx([learning().losses[at], *learning().shares[at]], abs=6e-3)


@pytest.mark.exhaustive
def test_the_stub_runs_up_to_the_first_thing_to_be_written(module: Module) -> None:
    done = run(module.stub)
    assert done.returncode == 1
    assert "ScaledDotProductAttention" in done.stderr
    assert done.stderr.strip().endswith("NotImplementedError")
