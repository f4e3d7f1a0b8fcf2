"""Every number in the lesson of 13_triton_flash that needs no GPU is computed here."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from grader.course.course import Course
from tests.conftest import ROOT
from tests.modules.lessons import V, unclaimed

LESSON = (ROOT / "modules" / "13_triton_flash" / "README.md").read_text()
WORDS = " ".join(LESSON.split())
SCORES = np.array([0.5, 0.5, 0, 1, 0.5])


def softmax_with(scores: np.ndarray) -> np.ndarray:
    """The weights of one row of scores."""
    return np.asarray(np.exp(scores) / np.exp(scores).sum())


def with_three_zeros() -> np.ndarray:
    """The weights of row on in a tile of eight whose last three places are zeros."""
    return softmax_with(np.append(SCORES, [0.0] * 3))


def measured() -> dict[int, list[float]]:
    """The times of docs/gpu.md by n: float32, causal, bfloat16 and causal bfloat16, each beside the built-in."""
    text = (ROOT / "docs/gpu.md").read_text().partition("A module that runs only on a GPU")[2]
    rows = re.findall(r"^\| (\d+) \|((?: [\d.]+ \|){8})$", text, re.M)
    return {int(n): [float(cell) for cell in cells.split("|")[:-1]] for n, cells in rows}


def numbers() -> Iterable[float]:
    """Every decimal of the lesson, from the formula or from the measurement."""
    yield from SCORES
    yield from softmax_with(SCORES)
    for total in (np.exp(SCORES - 1).sum(), np.exp(SCORES - 1).sum() + np.exp(-1)):
        yield total
        yield from np.exp(SCORES - 1) @ V / total
    yield from softmax_with(np.append(SCORES, 0.0))
    yield from np.exp(SCORES - 1)
    yield from (*with_three_zeros(), with_three_zeros()[:5].sum(), 0.0)
    yield 2 * np.exp(-0.5) + np.exp(-1) + 1  # the sum after two tiles
    times = measured()
    for cells in times.values():
        yield from cells
    for at, n in ((0, 8192), (4, 8192), (4, 512)):
        yield times[2 * n][at] / times[n][at]


def test_table_of_scores() -> None:
    assert f"{4096 * 4096 * 4:_}".replace("_", " ") in LESSON


def test_places_of_the_last_program() -> None:
    assert math.ceil(1000 / 256) == 4
    assert (3 * 256, 4 * 256 - 1) == (768, 1023)
    assert "768 to 1023" in LESSON
    assert "1000 to 1023" in LESSON


def test_row_on_with_a_key_of_zeros() -> None:
    weights = np.exp(SCORES - 1)
    extra = np.exp(0.0 - 1)
    assert f"{extra:.4f}"[1:] in LESSON
    for total in (weights.sum(), weights.sum() + extra):
        output = " ".join(f"{value:.4f}"[1:] for value in weights @ V / total)
        assert f"| {total:.4f} | {output} |" in LESSON


class Language:
    """What the kernels of the lesson use of triton.language, over one tensor: an address is a place in it."""

    constexpr, int64 = int, torch.int64

    def __init__(self, memory: torch.Tensor) -> None:
        self.memory, self.program = memory, 0
        self.arange, self.exp = torch.arange, torch.exp
        self.max, self.sum = torch.amax, torch.sum

    def program_id(self, _axis: int) -> torch.Tensor:
        return torch.tensor(self.program)

    def load(self, places: torch.Tensor, mask: torch.Tensor, other: float) -> torch.Tensor:
        return torch.where(mask, self.memory[torch.where(mask, places, 0)], other)

    def store(self, places: torch.Tensor, values: torch.Tensor, mask: torch.Tensor) -> None:
        self.memory[places[mask]] = values[mask]


def launched(name: str, x: np.ndarray, programs: int, *, block: int, change: tuple[str, str] = ("", "")) -> np.ndarray:
    """The output of a kernel of the lesson for x. What lies behind the output must stay as it was."""
    (code,) = re.findall(rf"```python\n@triton\.jit\n(def {name}.*?)\n\n\n", LESSON, re.DOTALL)
    memory = torch.from_numpy(np.concatenate([x.ravel(), np.full(x.size + 50, 7.0)]))
    language = Language(memory)
    names: dict[str, Any] = {"tl": language}
    exec(compile(code.replace(*change), "lesson", "exec"), names)
    for language.program in range(programs):
        names[name](0, x.size, x.shape[-1], BLOCK=block)
    assert (memory[2 * x.size :] == 7).all(), "a kernel wrote behind its output"
    return np.asarray(memory[x.size : 2 * x.size].reshape(x.shape))


def test_the_kernels_of_the_lesson_compute_what_it_says() -> None:
    n = np.arange(1000.0)
    assert launched("add_one", n, math.ceil(1000 / 256), block=256).tolist() == (n + 1).tolist()
    rows = np.array([SCORES, -5 * SCORES, SCORES[::-1]])
    found = launched("softmax_rows", rows, 3, block=8)
    assert np.allclose(found, [softmax_with(row) for row in rows])
    shown = [f"{value:.4f}"[1:] for value in found[0]]
    assert f"with .5, .5, 0, 1 and .5, becomes {', '.join(shown[:4])} and {shown[4]}" in WORDS


def test_a_row_without_minus_infinity() -> None:
    (found,) = launched("softmax_rows", SCORES[None], 1, block=8, change=('float("-inf")', "0.0"))
    assert np.allclose(found, with_three_zeros()[:5])
    shown = [f"{value:.4f}"[1:] for value in found]
    assert f"shrink to {', '.join(shown[:4])} and {shown[4]}. They sum to {found.sum():.4f}".replace("0.", ".") in WORDS
    assert 2**16 < 100_000 <= 2**17 == 131072


def test_programs_of_the_example(course: Course) -> None:
    assert math.ceil(5 / 2) * 2 == 6
    assert "so there are 6 programs" in LESSON
    solution = course.solution(course.module("13_triton_flash")).read_text()
    assert f"TILES_OF_64 = {math.ceil(1000 / 64) * 2 * 4}\n" in solution
    assert f"WIDTH_64_FLOAT32 = {2 * 4 * 1000 * 64 * 4:_}\n" in solution


def test_precision() -> None:
    assert float(torch.tensor(256.0, dtype=torch.bfloat16) + torch.tensor(1.0, dtype=torch.bfloat16)) == 256
    assert 2**-11 == 1 / 2048  # half a unit of the tenth bit
    assert 4 * 64 * 4 == 1024  # bytes of the output for each token
    assert "1024·n" in LESSON


def test_every_decimal_is_computed(course: Course) -> None:
    module = course.module("13_triton_flash")
    assert unclaimed(module, numbers()) == []


def test_the_table_of_times_is_the_measured_one() -> None:
    """The lesson quotes docs/gpu.md, and never rounds in favour of the kernel."""
    times = measured()
    assert list(times) == [512, 1024, 2048, 4096, 8192, 16384]
    for n in (1024, 4096, 16384):
        own, built_in = times[n][4:6]
        assert f"| {n} | {own:.3f} | {built_in:.3f} |" in LESSON
        assert 2 < own / built_in < 3
    doubled = {name: times[16384][at] / times[8192][at] for name, at in (("float32", 0), ("bfloat16", 4))}
    assert "float32 took {float32:.1f} times as long, and bfloat16 {bfloat16:.1f} times".format(**doubled) in WORDS
    assert f"From 512 to 1024, bfloat16 took only {times[1024][4] / times[512][4]:.1f} times as long" in WORDS
    assert f"took {times[16384][2]} ms for n = 16384 with `is_causal`, and {times[16384][0]} ms without" in WORDS
    assert f"gained nothing: {times[4096][2]:.3f} and {times[4096][0]:.3f} ms" in WORDS
    assert times[4096][2] >= times[4096][0]


def test_what_tiles_read() -> None:
    assert "tiles of 16 make 256 programs for each head, and tiles of 128 make 32" in WORDS
    assert (4096 // 16, 4096 // 128, 256 // 32) == (256, 32, 8)
