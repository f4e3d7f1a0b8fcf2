"""The lesson of 03_attention: every number in it is computed here."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterable

import numpy as np
import pytest

from grader.course.course import Course
from tests.modules.lessons import TOKENS, K, Q, V, row, softmax, unclaimed, weights

# Two tokens and their projections
X = np.array([[1, 0, 2], [0, 1, 1]])
W_Q = np.array([[1, 0], [0, 1], [0.5, 0]])
W_K = np.array([[0, 1], [1, 0], [0, 0.5]])
W_V = np.array([[0.5], [1], [0.25]])
TWO = (X @ W_Q, X @ W_K, X @ W_V)
# The query of `it` against animal, street and because
IT = np.array([[3, 1]])
WORD_KEYS = np.array([[3, 1], [1, 4], [1.5, 0.5]])
WORD_VALUES = np.array([[2, 1.5], [0.5, 0.3], [-0.5, 1.2]])
# Three tokens whose queries are their keys
SAME = np.array([[3, 1, 0, 0], [1, 4, 0, 0], [2, 2, 0, 0]])
SAME_VALUES = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0]])
# What a page on the web got wrong
PAGE_KEYS, PAGE_VALUES = np.array([[1, 0], [1, 1], [0, 1]]), np.array([[1, 0], [0, 2], [1, 1]])
LENGTHS = [0, 2, 4, 10, 20]


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from K.ravel()
    yield from (Q @ K.T).ravel()
    for scaled in (Q[:2] @ K.T) / 2:  # The, in the file; cat, in the lesson
        yield from scaled
        yield from scaled - scaled.max()
        yield from np.exp(scaled - scaled.max())
        yield np.exp(scaled - scaled.max()).sum()
    yield from weights(Q, K).ravel()
    yield from (weights(Q, K) @ V).ravel()
    yield from weights(Q, K, np.tri(5)).ravel()
    yield weights(2 * Q, K)[0, 1]
    for array in (W_Q, W_K, W_V, *TWO, TWO[0] @ TWO[1].T / np.sqrt(2)):
        yield from array.ravel()
    yield from weights(TWO[0], TWO[1]).ravel()
    yield from (weights(TWO[0], TWO[1]) @ TWO[2]).ravel()
    yield from WORD_KEYS.ravel()
    yield from WORD_VALUES.ravel()
    yield from (IT @ WORD_KEYS.T / np.sqrt(2)).ravel()
    yield from weights(IT, WORD_KEYS).ravel()
    yield from (weights(IT, WORD_KEYS) @ WORD_VALUES).ravel()
    yield from weights(SAME, SAME).ravel()
    yield from (weights(SAME, SAME) @ SAME_VALUES).ravel()
    yield from orthogonal()
    yield from weights(np.eye(2), PAGE_KEYS)[0]
    yield from softmax(np.array([1.0, 1, 0]))  # the same without a scale, and with one that is too large
    yield from softmax(np.array([0.5, 0.5, 0]))
    yield 1 + np.exp(-1.5)  # the exponentials of The and cat, where cat sees no more
    for scale in (8, np.sqrt(2)):
        yield from Q[1] @ K.T / scale
    yield from (weights(np.eye(2), PAGE_KEYS) @ PAGE_VALUES)[0]
    yield from (0.382, 0.236)  # what the page printed, quoted as wrong
    yield 1.0  # `1.0 * x`, which makes floats of integers


def orthogonal() -> list[float]:
    """The weight of a query's own key among four orthogonal ones, for queries of each length."""
    return [float(weights(length * np.eye(4), np.eye(4))[0, 0]) for length in LENGTHS]


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("03_attention"), numbers()) == []


def test_the_tables_are_computed(course: Course) -> None:
    lesson = course.module("03_attention").lesson.read_text()
    for table in (weights(Q, K), weights(Q, K) @ V, weights(Q, K, np.tri(5))):
        for token, cells in zip(TOKENS, table, strict=True):
            assert f"| {token} | {row(cells)} |" in lesson
    for token, cells in zip(TOKENS, Q @ K.T, strict=True):
        assert f"| {token} | {' | '.join(f'{cell:g}' for cell in cells)} |" in lesson
    for name, cells in zip(["first", "second", "third"], weights(SAME, SAME), strict=True):
        assert f"| {name} | {row(cells)} |" in lesson
    assert f"| weight of its own key | .25 | {row(orthogonal()[1:])} |" in lesson
    assert f"| `b` | {' | '.join(map(str, LENGTHS))} |" in lesson


def test_the_steps_of_cat(course: Course) -> None:
    lesson = course.module("03_attention").lesson.read_text()
    raw = Q[1] @ K.T
    exps = np.exp((raw - raw.max()) / 2)
    steps = {"raw score": raw, "scaled: divided by 2": raw / 2, "minus the largest": (raw - raw.max()) / 2}
    for name, numbers_of_step in steps.items():
        cells = [f"{number:g}".replace("0.", ".").replace("-", "−") for number in numbers_of_step]
        assert f"| {name} | {' | '.join(cells)} | |" in lesson
    assert f"| exponential | {row(exps)} | {exps.sum():.4f} |" in lesson
    assert f"| weight | {row(exps / exps.sum())} | 1 |" in lesson
    assert "is .4026 from *The* plus half of .1153 from *mat*: .4602" in lesson
    assert exps[0] / exps.sum() + exps[4] / exps.sum() / 2 == pytest.approx(0.4602, abs=5e-5)


def test_the_cells_to_try_and_to_use_run(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(course.solution(course.module("03_attention"))), run_name="__main__")
    printed = capsys.readouterr().out
    assert "weights of The: [0.1095 0.2976 0.1805 0.1805 0.2318]" in printed
    assert " cat The ########    cat ##          sat #####       on ###         mat ##" in printed
    assert "animal ################################### 0.87" in printed


def test_the_text_of_explain_is_what_the_solution_writes(course: Course) -> None:
    module = course.module("03_attention")
    solution = runpy.run_path(str(course.solution(module)))
    text = solution["ScaledDotProductAttention"](4).explain(Q, K, V, TOKENS, 1)
    assert "".join(f"    {line}\n" for line in text.split("\n")) in module.lesson.read_text()


def test_the_two_projected_tokens(course: Course) -> None:
    lesson = course.module("03_attention").lesson.read_text()
    scores = TWO[0] @ TWO[1].T
    assert scores.tolist() == [[0, 2], [2, 1]]
    shares = weights(TWO[0], TWO[1])
    output = shares @ TWO[2]
    assert f"the weights {row(shares[0]).replace(' | ', ' and ')}, the output {row(output[0])}" in lesson
    assert f"the weights {row(shares[1]).replace(' | ', ' and ')}, the output {row(output[1])}" in lesson
    for token, *cells in zip(["cat", "sat"], X, *TWO, strict=True):
        plain = [" ".join(f"{x:g}".replace("0.", ".") for x in cell) for cell in cells]
        assert f"| {token} | {' | '.join(plain)} |" in lesson


def test_what_is_said_in_words(course: Course) -> None:
    lesson = course.module("03_attention").lesson.read_text()
    same = weights(SAME, SAME)
    assert [int(line.argmax()) for line in same] == [0, 1, 1]
    assert "the third token gives the largest weight to the second" in lesson
    assert "gives *cat* a weight of .4036 instead of .2976" in lesson
    for layers, heads, n, figure in [
        (24, 16, 197, "15 million"),
        (96, 96, 2048, "39 billion"),
        (80, 64, 4096, "86 billion"),
    ]:
        scores = layers * heads * n**2
        assert round(scores / (1e6 if "million" in figure else 1e9)) == int(figure.split()[0])
        assert f"| {layers} | {heads} | {n} | {figure} |" in lesson
    sizes = {16: "1 KiB", 32: "4 KiB", 64: "16 KiB", 128: "64 KiB", 2048: "16 MiB"}
    for n, size in sizes.items():
        number, unit = size.split()
        assert 4 * n * n == int(number) * {"KiB": 2**10, "MiB": 2**20}[unit]
    assert f"| tokens | {' | '.join(map(str, sizes))} |" in lesson
    assert f"| memory | {' | '.join(sizes.values())} |" in lesson


def test_the_matrices_make_bank_a_question_and_no_clue(course: Course) -> None:
    words, same, less = np.array([[0, 0, 0], [2, 0, 0], [1, 1, 1]]), np.eye(3)[:, :2], np.eye(3, 2)
    less[2] = -1
    lesson = course.module("03_attention").lesson.read_text()
    q, k, v = words @ same, words @ less, words @ same
    for name, *cells, weight in zip(("she", "river", "bank"), words, q, k, v, weights(q, k)[2], strict=True):
        plain = [" ".join(f"{x:g}" for x in cell) for cell in cells]
        line = next(line for line in lesson.splitlines() if line.startswith(f"| {name} | {' | '.join(plain)} |"))
        assert line.endswith(f"| {row([weight])} |")
    assert "-1 & -1" in lesson


def test_the_batch_of_two_banks(course: Course) -> None:
    module = course.module("03_attention")
    told = re.search(r"`B = np\.array\((.+?)\)`", module.lesson.read_text())
    assert told is not None
    batch = np.array(json.loads(told[1]))
    attention = runpy.run_path(str(course.solution(module)))["scaled_dot_product_attention"]
    output = attention(batch, batch, batch)[0]
    assert output.shape == (2, 3, 2)
    assert output[:, 2].round(4).tolist() == [[1.3374, 0.4458], [0.4458, 1.3374]]


def test_the_costs_of_the_steps(course: Course) -> None:
    lesson = course.module("03_attention").lesson.read_text()
    n, d_model, d = 2048, 1024, 128
    megabytes = [4 * n * 3 * d, 4 * n * n, 4 * n * n, 4 * n * d]
    millions = [n * d_model * 3 * d, n * n * d, n * n, n * n * d]
    table = lesson.partition("## What each step costs")[2].partition("\n\nThe softmax")[0].splitlines()[-4:]
    for line, memory, products in zip(table, megabytes, millions, strict=True):
        cells = [cell.strip() for cell in line.split("|")]
        assert cells[5] == f"{memory / 2**20:g} MiB"
        assert cells[3].partition(",")[0] == str(round(products / 1e6))
    assert sum(megabytes) == 36 * 2**20
    assert (
        round(100 * 5 * n * n / (sum(millions) + 4 * n * n)) == 1
    )  # scale, largest, difference, exponential, quotient


def test_many_steps_of_the_random_walk_make_all_rows_equal() -> None:
    walk = np.linalg.matrix_power(weights(Q, K), 20)
    assert walk.sum(axis=1) == pytest.approx(np.ones(5))
    assert np.ptp(walk, axis=0).max() < 1e-9


def test_every_part_can_be_read_in_two_minutes(course: Course) -> None:
    """Depth is folded: under no heading are more than 280 words to read at once."""
    lesson = course.module("03_attention").lesson.read_text()
    unfolded = re.sub(r"(?s)<details>.*?</details>", "", lesson)
    parts = {part.partition("\n")[0]: len(part.split()) for part in re.split(r"\n#{2,3} ", unfolded)}
    assert len(parts) > 15
    assert {name: words for name, words in parts.items() if words > 280} == {}
