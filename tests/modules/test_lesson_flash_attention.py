"""The lesson of 10_flash_attention: every number in it is computed here."""

from __future__ import annotations

import re
import runpy
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
D_OUT = np.eye(2, 4)  # the first number of The's output and the second of cat's
SHARED = (D_OUT * (WEIGHTS @ V)[:2]).sum(axis=1, keepdims=True)
PAIRS = WEIGHTS[:2] * (D_OUT @ V.T - SHARED) / 2  # the gradients of the scores of The and cat


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
    yield from (D_OUT @ V.T - SHARED)[:, :2].ravel()
    yield from PAIRS[:, :2].ravel()
    for product in first_tile():
        yield from product.ravel()
    yield from SHARED.ravel()
    yield from gathered().ravel()
    yield 1e-5


def first_tile() -> list[np.ndarray]:
    """What the tile of the queries The and cat and the keys The and cat adds to dQ, dK and dV."""
    ds = PAIRS[:, :2]
    return [ds @ K[:2], ds.T @ Q[:2], WEIGHTS[:2, :2].T @ D_OUT]


def gathered() -> np.ndarray:
    """The row of dQ for The after each tile of keys."""
    return np.array([PAIRS[0, :end] @ K[:end] for end in (2, 4, 5)])


def moved_plainly(n: int = 8192, d: int = 64) -> dict[str, int]:
    """The numbers that plain attention moves between the large memory and the chip."""
    written = {"scores out": n * n, "scores in": n * n, "weights out": n * n, "weights in": n * n}
    return {"Q, K": 2 * n * d, **written, "V": n * d, "O": n * d}


def moved_in_tiles(n: int = 8192, d: int = 64, block: int = 128) -> dict[str, int]:
    """The same for tiles of queries that stay on the chip: each reads all keys and values once."""
    return {"Q": n * d, "K, V": n // block * 2 * n * d, "O, L": n * d + n}


def short(values: Iterable[float]) -> str:
    return " | ".join(f"{value:g}" for value in values)


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


def test_the_tile_of_the_backward_pass_is_computed(course: Course, lesson: str) -> None:
    differences = (D_OUT @ V.T - SHARED)[:, :2]
    assert f"| 1. score s | {short(SCALED[:2, :2].ravel())} |" in lesson
    assert f"with L = {LOG_SUMS[0]:.4f} and {LOG_SUMS[1]:.4f} | {row(WEIGHTS[:2, :2].ravel())} |" in lesson
    assert f"| 2. dO · v | {row((D_OUT @ V.T)[:, :2].ravel())} |" in lesson
    assert f"| minus dO · o | {cells(differences.ravel())} |" in lesson
    assert f"| times p, divided by 2: ds | {cells(PAIRS[:, :2].ravel())} |" in lesson
    for name, product in zip(("dQ", "dK", "dV"), first_tile(), strict=True):
        both = " | ".join(cells(one).replace(" | ", ", ") for one in product)
        assert re.search(rf"^\| \d\. to `{name}` \| [^|]+ \| {re.escape(both)} \|$", lesson, re.M)
    for name, one in zip(("the keys The, cat", "sat, on", "mat"), gathered(), strict=True):
        assert f"| after {name} | {cells(one)} |" in lesson
    backward = runpy.run_path(str(course.solution(course.module("10_flash_attention"))))["flash_attention_backward"]
    d_out = np.vstack([D_OUT, np.zeros((3, 4))])
    d_q, d_k, d_v = backward(Q * 1.0, K * 1.0, V * 1.0, WEIGHTS @ V, d_out, LOG_SUMS, 2, 2)
    assert d_q[0] == pytest.approx(gathered()[-1])
    assert d_q[1] == pytest.approx(PAIRS[1] @ K)
    assert (d_k == pytest.approx(PAIRS.T @ Q[:2]), d_v == pytest.approx(WEIGHTS[:2].T @ D_OUT)) == (True, True)
    assert PAIRS.sum(axis=1) == pytest.approx(0)


def test_what_moves_between_the_memories(lesson: str) -> None:
    text = " ".join(lesson.split())
    (plain,), (tiled,) = ([sum(moved.values())] for moved in (moved_plainly(), moved_in_tiles()))
    assert (round(plain / 1e6), round(tiled / 1e6), 8192 // 128) == (271, 68, 64)
    assert "moves a table four times, 271 million numbers for 8192 tokens" in text
    assert "Tiles of 128 queries read the keys and values 64 times and never move a score, 68 million numbers" in text


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
