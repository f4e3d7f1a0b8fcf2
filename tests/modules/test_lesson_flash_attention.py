"""The lesson of 10_flash_attention: every number in it is computed here."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest

from grader.course.course import Course
from grader.course.module import Module
from tests.modules.lessons import TOKENS, K, Q, V, row, unclaimed, weights

SCALED = Q @ K.T / 2
WEIGHTS = weights(Q, K)
LOG_SUMS = np.log(np.exp(SCALED).sum(axis=1))
TILES = [SCALED[3, :2], SCALED[3, 2:4], SCALED[3, 4:]]
SLOPES = V[:, 0] - WEIGHTS[0] @ V[:, 0]  # of the first output of The


def steps() -> list[tuple[float, float, float, np.ndarray, np.ndarray]]:
    """Row on in tiles: m, l, rescale, the weights of the tile and the sum of values after each tile."""
    found = []
    for end, tile in zip((2, 4, 5), TILES, strict=True):
        seen = SCALED[3, :end]
        before = SCALED[3, : end - len(tile)]
        m = seen.max()
        rescale = np.exp(before.max() - m) if len(before) else 0.0
        found.append((m, np.exp(seen - m).sum(), rescale, np.exp(tile - m), np.exp(seen - m) @ V[:end]))
    return found


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from K.ravel()
    yield from SCALED.ravel()
    for m, total, rescale, tile, values in steps():
        yield from (m, total, rescale, *tile, *values)
    yield from LOG_SUMS
    yield from WEIGHTS[0]
    yield from WEIGHTS[3] @ V
    yield from SLOPES
    yield WEIGHTS[0] @ V[:, 0]
    yield from WEIGHTS[0] * SLOPES / 2
    yield from (WEIGHTS[0] * SLOPES / 2) @ K
    yield 1e-5


def cells(values: Iterable[float]) -> str:
    return " | ".join(f"−{row([-value])}" if value < 0 else row([value]) for value in values)


@pytest.fixture
def module(course: Course) -> Module:
    return course.module("10_flash_attention")


@pytest.fixture
def lesson(module: Module) -> str:
    return module.lesson.read_text()


def test_every_decimal_is_computed(module: Module) -> None:
    assert unclaimed(module, numbers()) == []


def test_the_table_of_row_on_is_computed(lesson: str) -> None:
    for name, (m, total, rescale, tile, values) in zip(("The, cat", "sat, on", "mat"), steps(), strict=True):
        texts = [f"{m:g}".replace("0.", "."), row([total]), row([rescale])]
        texts += [row(tile).replace(" | ", ", "), row(values).replace(" | ", ", ")]
        assert f"| after {name} | {' | '.join(texts)} |" in lesson
    assert (WEIGHTS[3] @ V) == pytest.approx(steps()[-1][4] / steps()[-1][1])
    assert f"| L | {row(LOG_SUMS)} |" in lesson
    assert TOKENS[3] == "on"


def test_the_table_of_the_gradient_is_computed(lesson: str) -> None:
    assert f"| weight p | {row(WEIGHTS[0])} |" in lesson
    assert f"| dO · v | {' | '.join(f'{one:g}'.replace('0.', '.') for one in V[:, 0])} |" in lesson
    assert f"with dO · o = .2254 | {cells(SLOPES)} |" in lesson
    assert f"| times p, divided by 2 | {cells(WEIGHTS[0] * SLOPES / 2)} |" in lesson


def test_what_is_said_in_words(lesson: str) -> None:
    text = " ".join(lesson.split())
    assert (8192**2, 8192 * 64, 8192 // 64) == (67_108_864, 524_288, 128)
    assert "67 108 864" in text
    assert "524 288: the table is 128 times as large" in text
    tiles = sum(2 * j <= min(2 * i + 1, 4) for i in range(3) for j in range(3))
    assert tiles == 6
    assert "3 × 3, and 6 of them are computed" in text


def test_the_picture_of_the_memory_is_computed(lesson: str) -> None:
    n, d, block = 1024, 64, 128
    assert block**2 == 16_384
    each, scores = n * d // block**2, n * n // block**2
    lines = [f"Q, K, V and O   {' '.join(['#' * each] * 4)}", f"all scores      {'#' * scores}", "one tile        #"]
    assert "\n".join(lines) in lesson


def test_the_picture_of_the_tiles_is_computed(lesson: str) -> None:
    (drawn,) = re.findall(r"^       The cat   sat on    mat\n(.*?)^```", lesson, re.MULTILINE | re.DOTALL)
    rows = {line[:3].strip(): line[6:].split("|") for line in drawn.splitlines() if not line.startswith(" ")}
    assert list(rows) == TOKENS
    for i, cells in enumerate(rows.values()):
        for tile, cell in enumerate(cells):
            keys = range(2 * tile, min(2 * tile + 2, 5))
            computed = keys[0] <= min(i // 2 * 2 + 1, 4)
            assert cell.split() == (["x" if j <= i else "o" for j in keys] if computed else [])


def test_the_solution_runs_as_a_file_and_prints_the_table_of_the_lesson(course: Course, lesson: str) -> None:
    path = str(course.solution(course.module("10_flash_attention")))
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    start = lines.index("     n   all scores   one tile   causal tiles")
    assert "\n".join(lines[start : start + 5]) in lesson
    said = [re.fullmatch(r"tiles of +(\d+): the largest difference is (\S+)", line) for line in lines[start + 5 :]]
    assert [int(found[1]) for found in said if found] == [1, 7, 64, 300]
    assert all(float(found[2]) < 1e-12 for found in said if found)
