"""The lesson of 11_efficient_attention: every number in it is computed here."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest

from grader.course.course import Course
from grader.course.module import Module
from tests.modules.lessons import TOKENS, K, Q, V, row, unclaimed, weights

NAME = "11_efficient_attention"
BAND = np.tri(5) - np.tri(5, k=-2)
POINTS = np.array([-2, -1, 0, 1, 2])
# The task of recall: 12 keys on a circle.
ANGLES = 2 * np.pi * np.arange(12) / 12
KEYS = 20 * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def features(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


PRODUCTS = features(Q) @ features(K).T
STATE = features(K).T @ V


def shares(products: np.ndarray) -> np.ndarray:
    return np.asarray(products / products.sum(axis=1, keepdims=True))


WINDOW = weights(Q, K, BAND) @ V
LINEAR = shares(PRODUCTS) @ V
CAUSAL = shares(PRODUCTS * np.tri(5)) @ V


def numbers() -> Iterable[float]:
    """Every number of the lesson, the stub and the hints, from the formula."""
    yield from K.ravel()
    yield from (Q @ K.T / 2).ravel()
    yield from np.exp([-1, 0])
    yield 1 + np.exp(-1)
    for table in (WINDOW, LINEAR, CAUSAL, weights(Q, K), weights(Q, K, np.tri(5)), shares(PRODUCTS), STATE, PRODUCTS):
        yield from table.ravel()
    yield from features(POINTS)
    yield from features(K).ravel()
    yield from features(K).sum(axis=0)
    yield from PRODUCTS.sum(axis=1)
    yield from (PRODUCTS[0] @ V)
    yield from (recalled(KEYS)[1, 1], 1.0)
    yield from (1e-6, 0.0003)


def recalled(keys: np.ndarray) -> np.ndarray:
    """The weights of linear attention in the task of recall."""
    return shares(features(keys) @ features(keys).T)


def cells(values: Iterable[float]) -> str:
    """Numbers in the format of the tables: four decimals, except for 0 and 1."""
    rounded = [round(value, 9) for value in values]
    return " | ".join(f"{value:.4f}".lstrip("0") if 0 < value < 1 else f"{value:g}" for value in rounded)


def run(path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, check=False)


@pytest.fixture
def module(course: Course) -> Module:
    return course.module(NAME)


@pytest.fixture
def lesson(module: Module) -> str:
    return module.lesson.read_text()


def table(lesson: str, head: str) -> str:
    assert head in lesson
    return lesson.partition(head)[2].partition("\n\n")[0]


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("11_efficient_attention"), numbers()) == []


@pytest.mark.parametrize(
    ("head", "outputs"),
    [("| window of 2 |", WINDOW), ("| linear attention | output |", LINEAR), ("| causal | output |", CAUSAL)],
)
def test_the_tables_of_outputs_are_computed(lesson: str, head: str, outputs: np.ndarray) -> None:
    for token, output in zip(TOKENS, outputs, strict=True):
        assert f"| {token} | {cells(output)} |" in table(lesson, head)


def test_the_window_is_the_mask_of_the_lesson(lesson: str) -> None:
    for i, token in enumerate(TOKENS):
        assert f"| {token} | {' | '.join(f'{x:.0f}' for x in BAND[i])} |" in table(lesson, "| may see |")
    assert int(BAND.sum()) == 9
    assert "Nine scores were needed, not 25" in lesson


def test_row_on_is_computed_step_by_step(lesson: str) -> None:
    kept = (Q @ K.T / 2)[3, 2:4]
    exps = np.exp(kept - kept.max())
    steps = table(lesson, "| on | sat | on | sum |")
    assert "| scores in the window | 0 | 1 |" in steps
    assert kept.tolist() == [0, 1]
    assert f"| exponential | {row([*exps, exps.sum()])} |" in steps
    assert f"| weight | {row([*(exps / exps.sum()), 1])} |" in steps


def test_features_and_state_are_computed(lesson: str) -> None:
    assert f"| $\\varphi(x)$ | {row(features(POINTS))} |" in lesson
    keys = table(lesson, "| $\\varphi(k)$ |")
    for token, one in zip(TOKENS, features(K), strict=True):
        assert f"| {token} | {' | '.join(f'{x:g}' for x in one)} |" in keys
    assert f"| sum | {' | '.join(f'{x:g}' for x in features(K).sum(axis=0))} |" in keys
    for number, one in enumerate(STATE):
        assert f"| feature {number} | {' | '.join(f'{x:g}' for x in one)} |" in table(lesson, "| state |")


def test_what_is_said_in_words(lesson: str) -> None:
    lesson = " ".join(lesson.split())
    assert (PRODUCTS[0] @ V).tolist() == [12.75, 14.75, 13.75, 13.75]
    assert PRODUCTS[0].sum() == 45.5
    assert f"{weights(Q, K)[1, 0]:.4f} {weights(Q, K)[1, 1]:.4f}" == "0.4026 0.0898"
    assert f"{shares(PRODUCTS)[1, 0]:.4f} {shares(PRODUCTS)[1, 1]:.4f}" == "0.2330 0.1748"
    assert "*cat* gave .4026 of its weight to *The* and .0898 to itself. Here it gives .2330 and .1748" in lesson
    assert PRODUCTS[2, :3].tolist() == [10, 11, 11]
    assert "are 10, 11 and 11, and their sum is 32" in lesson
    assert round(131_072**2 / 1e9) == 17
    assert "131 072 tokens, there are 17 billion" in lesson


def test_the_worked_hints_are_computed(module: Module) -> None:
    hints = module.hints.read_text()
    assert "are 8, 10, 9, 9 and 9.5" in hints
    assert PRODUCTS[0].tolist() == [8, 10, 9, 9, 9.5]
    two = features(K)[:2].T @ V[:2]
    query = features(Q)[1]
    assert (query @ two).tolist() == [12, 9, 0, 0]
    assert query @ features(K)[:2].sum(axis=0) == 21
    assert "Times the matrix: [12, 9, 0, 0]. Times the sum: 21." in hints


def test_no_short_list_of_features_has_the_exponential_as_its_product() -> None:
    """A product of f features has rank f, for any number of tokens. The exponential has full rank."""
    tokens = np.linspace(-2, 2, 8)
    wanted = np.exp(np.outer(tokens, tokens))
    assert np.linalg.matrix_rank(wanted) == 8
    series = [tokens**i / math.sqrt(math.factorial(i)) for i in range(25)]
    assert np.linalg.matrix_rank(np.array(series[:5]).T @ np.array(series[:5])) == 5
    assert np.allclose(np.array(series).T @ np.array(series), wanted)


def test_random_features_have_the_exponential_as_their_mean() -> None:
    w = np.random.default_rng(0).normal(size=(200_000, 4))
    q, k = 0.5 * Q.astype(float), 0.5 * K.astype(float)

    def phi(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(x @ w.T - (x**2).sum(axis=1, keepdims=True) / 2))

    assert np.allclose(phi(q) @ phi(k).T / len(w), np.exp(q @ k.T), rtol=0.05)


def test_the_error_of_random_features_is_the_formula_of_the_lesson() -> None:
    rng = np.random.default_rng(0)
    q, k = np.array([0.6, 0]), np.array([0.2, 0.6])  # q + k has the length 1
    w = rng.normal(size=(4000, 256, 2))
    means = np.exp(w @ q - q @ q / 2 + w @ k - k @ k / 2).mean(axis=1)
    assert np.std(means) / np.exp(q @ k) == pytest.approx(np.sqrt((np.exp(1) - 1) / 256), rel=0.05)


def test_what_is_kept_for_the_next_token(lesson: str) -> None:
    n, w, d = 131_072, 4096, 64
    full, window = (f"{number:,}".replace(",", " ") for number in (2 * n * d, 2 * w * d))
    assert f"| kept, in numbers | {full} | {full} | {window} | {d * d + d} |" in lesson


def test_recall_ends_as_the_lesson_says(lesson: str) -> None:
    lesson = " ".join(lesson.split())
    full = weights(KEYS, KEYS)
    found = recalled(KEYS)
    assert (full.argmax(axis=1) == np.arange(12)).all()
    assert f"{full[1, 1]:.4f}" == "1.0000"
    assert int((found.argmax(axis=1) == np.arange(12)).sum()) == 4
    weight = f"the right value has a weight of {row([found[1, 1]])}, and for no key more than a quarter"
    assert f"Linear attention finds 4 of 12. For the second key, {weight}" in " ".join(lesson.split())
    assert found.diagonal().max() < 0.25
    assert np.linalg.matrix_rank(features(KEYS)) == 2
    longer = recalled(20 * np.eye(12))  # what the lesson asks for
    assert (longer.argmax(axis=1) == np.arange(12)).all()
    assert longer[1, 1] < 0.5


def test_the_solution_runs_as_a_file_and_prints_what_the_lesson_says(course: Course) -> None:
    done = run(str(course.solution(course.module(NAME))))
    assert (done.returncode, done.stderr) == (0, "")
    reached = [line for line in done.stdout.splitlines() if line.startswith("after")]
    assert [line.partition("reached by ")[2][0] for line in reached] == ["3", "5", "7", "9"]
    assert "  full attention finds 12 of 12 values; the weight of the right one is 1.0000" in done.stdout
    assert "linear attention finds 4 of 12 values; the weight of the right one is 0.1908" in done.stdout


def test_the_stub_runs_up_to_the_first_function_to_be_written(module: Module) -> None:
    done = run(str(module.stub))
    assert done.returncode == 1
    assert "sliding_window_mask" in done.stderr
    assert done.stderr.strip().endswith("NotImplementedError")
