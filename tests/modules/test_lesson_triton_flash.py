"""Every number in the lesson of 13_triton_flash that needs no GPU is computed here."""

from __future__ import annotations

import math

import numpy as np
import torch

from grader.course.course import Course
from tests.conftest import ROOT

LESSON = (ROOT / "modules" / "13_triton_flash" / "README.md").read_text()
SCORES = np.array([0.5, 0.5, 0, 1, 0.5])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])


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
