"""The lesson of 04_masks: every number in it is computed here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest

from grader.course.course import Course
from grader.course.module import Module
from tests.modules.lessons import TOKENS, K, Q, row, softmax, unclaimed, weights

SCALED = Q @ K.T / 2
CAUSAL = weights(Q, K, np.tri(5))
NO_SELF = np.tri(5, k=-1)
BLOCKED = np.array([0, 1, 0.5])


def steps(token: int) -> dict[str, list[float]]:
    """The rows of the table in which a token's allowed scores become weights."""
    kept = SCALED[token, : token + 1]
    exps = np.exp(kept - kept.max())
    return {
        "allowed scores": [*kept],
        "minus the largest": [*(kept - kept.max())],
        "exponential": [*exps, *[0.0] * (4 - token), exps.sum()],
        "weight": [*(exps / exps.sum()), *[0.0] * (4 - token), 1.0],
    }


def wrong_ways() -> dict[str, np.ndarray]:
    """Rows of the tables of wrong and right ways to mask."""
    cat = SCALED[1]
    kept = np.array([1, 1, 0, 0, 0])
    with np.errstate(invalid="ignore"):
        return {
            "scores times mask, then softmax": softmax(cat * kept),
            "softmax, then times mask": softmax(cat) * kept,
            "blocked scores −1e9, then softmax": shifted(np.where(kept, cat, -1e9)),
            "blocked scores −inf, then softmax": shifted(np.where(kept, cat, -np.inf)),
            "−1e9 is added to each": shifted(BLOCKED - 1e9),
            "each is replaced with −1e9": shifted(np.full(3, -1e9)),
            "each is replaced with −inf": shifted(np.full(3, -np.inf)),
        }


def shifted(x: np.ndarray) -> np.ndarray:
    """Softmax with the largest score subtracted, in the usual way."""
    return softmax(x - x.max())


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from K.ravel()
    yield from SCALED.ravel()
    for token in (1, 2, 3):
        for cells in steps(token).values():
            yield from cells
    yield from CAUSAL.ravel()
    yield from weights(Q, K).ravel()
    yield weights(Q, K)[1, :2].sum()
    for name, shares in wrong_ways().items():
        if "inf" not in name:
            yield from shares
    yield from softmax(np.array([0.0, -1.0]))
    yield from softmax(SCALED[2, :2])


def cells_of(values: Iterable[float]) -> str:
    """Numbers in the format of the tables, with a typographic minus."""
    return " | ".join(row([abs(value)]) if value >= 0 else f"−{row([abs(value)])}" for value in values)


def short(values: Iterable[float]) -> str:
    """Numbers with no more decimals than they have."""
    return " | ".join(f"{value:g}".replace("0.", ".").replace("-", "−") for value in values)


def run(path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, check=False)


@pytest.fixture
def module(course: Course) -> Module:
    return course.module("04_masks")


@pytest.fixture
def lesson(module: Module) -> str:
    return module.lesson.read_text()


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("04_masks"), numbers()) == []


def test_the_tables_of_the_example_are_computed(lesson: str) -> None:
    for i, token in enumerate(TOKENS):
        assert f"| {token} | {short(SCALED[i])} |" in lesson
        assert f"| {token} | {' | '.join(str(int(j <= i)) for j in range(5))} |" in lesson
        assert f"| {token} | {row(CAUSAL[i])} |" in lesson


@pytest.mark.parametrize("token", [1, 2, 3])
def test_each_step_of_a_row_is_computed(lesson: str, token: int) -> None:
    table = lesson.partition(f"| {TOKENS[token]} | The | cat | sat | on | mat | sum |")[2].partition("\n\n")[0]
    rows = steps(token)
    assert f"| allowed scores | {short(rows['allowed scores'])} |" in table
    assert f"| minus the largest | {short(rows['minus the largest'])} |" in table
    assert f"| exponential | {cells_of(rows['exponential'])} |" in table
    assert f"| weight | {cells_of(rows['weight'])} |" in table


def test_the_wrong_ways_go_wrong_as_the_lesson_says(lesson: str) -> None:
    ways = wrong_ways()
    for name, cells in ways.items():
        total = f"{row([round(cells.sum(), 9)])} |" if "then" in name else ""
        shown = cells_of(cells) if np.isfinite(cells).all() else "NaN | NaN | NaN"
        assert f"| {name} | {shown} | {total}".rstrip() in lesson
    assert ways["−1e9 is added to each"] == pytest.approx(softmax(BLOCKED), abs=1e-6)
    assert set(BLOCKED.astype(np.float32) - np.float32(1e9)) == {-1e9}  # in float32


def test_very_low_scores_leak_as_the_lesson_says(lesson: str) -> None:
    scores = np.array([-2e9, -2e9 - 1, 0])
    for leaking in (np.where([1, 1, 0], scores, -1e9), scores + [0, 0, -1e9]):
        assert shifted(leaking).tolist() == [0, 0, 1]
    assert "added to the blocked score, or replaces it | 0 | 0 | 1 |" in lesson
    right = shifted(np.where([1, 1, 0], scores, -np.inf))
    assert f"| **right** | {cells_of(right)} |" in lesson


def test_what_is_said_in_words(lesson: str) -> None:
    lesson = " ".join(lesson.split())
    unmasked = weights(Q, K)
    assert unmasked[1, :2] / unmasked[1, :2].sum() == pytest.approx(CAUSAL[1, :2])
    assert "gave .4026 to *The* and .0898 to itself, .4924 together" in lesson
    assert "with .3775 and .6225" in lesson
    assert row(softmax(SCALED[2, :2])) == ".3775 | .6225"
    assert softmax(SCALED[2, :3]) == pytest.approx(CAUSAL[2, :3])
    assert int(np.tri(5).sum()) == 15
    assert "15 of 25" in lesson
    blocked = 2048 * 2047 // 2
    assert (round(96 * 96 * blocked / 1e9), round(96 * 96 * 2048**2 / 1e9)) == (19, 39)
    assert "19 of 39 billion" in lesson


def test_two_layers_of_a_causal_mask_allow_what_one_does(lesson: str) -> None:
    assert np.array_equal(np.tri(5) @ np.tri(5) > 0, np.tri(5) > 0)
    assert "two layers allow nothing that one does not" in " ".join(lesson.split())


def test_the_solution_runs_as_a_file_and_prints_the_map_of_the_lesson(course: Course, lesson: str) -> None:
    done = run(str(course.solution(course.module("04_masks"))))
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    start = lines.index("Causal attention:") + 1
    assert "\n".join(lines[start : start + 5]) in lesson
    assert "  The 0.1519  cat 0.2505  sat 0.2505  on 0.1519  mat 0.1951" in lines
    assert "  The 0.2327  cat 0.3837  sat 0.3837  (pad) 0.0000  (pad) 0.0000" in lines
    assert "links allowed by both masks: [15, 12]" in lines


def test_the_stub_runs_up_to_the_first_function_to_be_written(module: Module) -> None:
    done = run(str(module.stub))
    assert done.returncode == 1
    assert "create_causal_mask" in done.stderr
    assert done.stderr.strip().endswith("NotImplementedError")
