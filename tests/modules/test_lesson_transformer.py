"""The lesson of 12_transformer: every number in it is computed here."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from grader.course.course import Course
from grader.course.loading import earlier_solutions, importable
from grader.course.module import Module
from tests.conftest import ROOT
from tests.modules.lessons import SCORES, Q, row, softmax, unclaimed

NAME = "12_transformer"
POINTS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
SIGMOID = 1 / (1 + np.exp(-POINTS))
CHANCES = softmax(SCORES)
BEST_FIRST = np.sort(CHANCES)[::-1]
LOSSES = -np.log(CHANCES)
SIZES = (5, 8, 4, 2, 2, 8)
LEFT_OUT = {"nothing": 1.0, "attention": 1.7, "positions": 1.3}  # the losses without it
SOLUTION = (ROOT / "solutions" / NAME / "transformer.py").read_text()
TEXT = SOLUTION.partition('TEXT = """\\\n')[2].partition('"""')[0]


def roots() -> np.ndarray:
    """The root mean squares of the queries."""
    return np.asarray(np.sqrt((Q**2).mean(axis=1)))


def normalised() -> np.ndarray:
    return np.asarray(Q / roots()[:, None])


def only(*words: int) -> np.ndarray:
    """The probabilities of some words, made to sum to 1."""
    kept = np.zeros(5)
    kept[list(words)] = CHANCES[list(words)]
    return np.asarray(kept / kept.sum())


def numbers() -> Iterable[float]:
    """Every number of the lesson, the stub and the hints, from the formula."""
    for table in (SCORES, CHANCES, LOSSES, softmax(2 * SCORES), softmax(SCORES / 2), only(1, 4), np.exp(SCORES)):
        yield from table
    yield from (np.exp(SCORES).sum(), CHANCES[1] + CHANCES[4], LOSSES[:2].mean(), LOSSES[:2].sum())
    yield from np.cumsum(BEST_FIRST)
    yield from LEFT_OUT.values()
    yield from (*(Q**2).mean(axis=1), *roots(), *normalised().ravel(), *(Q[1] / (Q[1] ** 2).mean()))
    yield from (*SIGMOID, *(POINTS * SIGMOID), 2 * 2 * SIGMOID[4])
    yield from (math.log(5), math.log(65), pairs(TEXT), single_characters(TEXT), math.log(28))
    yield from (3 + 0.5, 3 + 0.5 + 0.25, 0.5, 0.25)  # the block of the hints
    yield from (1 / math.sqrt(1 + 3), math.sqrt(1.25))
    yield from (0.4, 0.6, 0.8, 0.2, 0.01, 0.02, 1.0, 2.0, 0.0, 10000.0)  # settings, and a large logit


def single_characters(text: str) -> float:
    counts = Counter(text)
    return -sum(count * math.log(count / len(text)) for count in counts.values()) / len(text)


def pairs(text: str) -> float:
    """The loss of the best model of pairs of characters."""
    counts, firsts = Counter(pairwise(text)), Counter(text[:-1])
    return -sum(count * math.log(count / firsts[a]) for (a, _), count in counts.items()) / (len(text) - 1)


@pytest.fixture(scope="module")
def solution(course: Course) -> dict[str, object]:
    """The names of the solution, with the attention of module 06."""
    module = course.module(NAME)
    text = course.solution(module).read_text()
    names: dict[str, object] = {"__name__": "transformer"}
    with importable(earlier_solutions(course, module, text)):
        exec(compile(text, "transformer.py", "exec"), names)
    return names


@pytest.fixture
def module(course: Course) -> Module:
    return course.module(NAME)


@pytest.fixture
def lesson(module: Module) -> str:
    return module.lesson.read_text()


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("12_transformer"), numbers()) == []


def test_the_table_of_norms(lesson: str) -> None:
    for token, place in (("The", 0), ("cat", 1)):
        raw = " | ".join(f"{x}" for x in Q[place])
        mean = f"{(Q[place] ** 2).mean():g}".replace("0.", ".")
        assert f"| {token} | {raw} | {mean} | {row([roots()[place]])} |" in lesson
        assert f"| {token}, normalised | {row(normalised()[place])} | 1 | 1 |" in lesson
    assert np.allclose((normalised() ** 2).mean(axis=1), 1)


def test_the_tables_of_silu_and_of_losses(lesson: str) -> None:
    assert f"| sigmoid | {row(SIGMOID[:2])} | .5 | {row(SIGMOID[3:])} |" in lesson
    silu = (POINTS * SIGMOID).round(4)
    assert [f"{abs(x):.4f}".lstrip("0") if x else "0" for x in silu] == [".2384", ".2689", "0", ".7311", "1.7616"]
    assert "| silu | −.2384 | −.2689 | 0 | .7311 | 1.7616 |" in lesson
    assert f"| probability | {row(CHANCES)} |" in lesson
    assert f"| loss, if this word comes | {row(LOSSES)} |" in lesson
    assert np.allclose(np.log(np.exp(SCORES).sum()) - SCORES, LOSSES)


def test_the_table_of_choices(lesson: str) -> None:
    for name, chances in {
        "temperature 1": CHANCES,
        "temperature 0.5": softmax(2 * SCORES),
        "temperature 2": softmax(SCORES / 2),
        "top-k 2": only(1, 4),
        "top-p 0.4": only(1),
        "top-p 0.6": only(1, 4),
    }.items():
        assert f"| {name} | {row(chances)} |" in lesson
    assert CHANCES[1] >= 0.4
    assert CHANCES[1] < 0.6 <= CHANCES[1] + CHANCES[4]


def test_the_shift_by_one(lesson: str) -> None:
    piece = ["t", "h", "e", "", "c", "a", "t"]
    cells = [" | ".join(part) for part in (piece[:-1], piece[1:])]
    assert f"| input | {cells[0]} |".replace("|  |", "| |") in lesson
    assert f"| target | {cells[1]} |".replace("|  |", "| |") in lesson


def test_the_parameters_are_counted(lesson: str, solution: dict[str, object]) -> None:
    gpt = solution["GPT"]
    assert callable(gpt)
    assert sum(one.numel() for one in gpt(*SIZES).parameters()) == 444
    assert "`GPT(5, 8, 4, 2, 2, 8)` has" in lesson
    rows = re.findall(r"\| ([^|]+) \| ([\d ·+()]+) \| (\d+) \|", lesson.partition("`GPT(5, 8, 4, 2, 2, 8)` has")[2])
    for _, formula, result in rows:
        assert eval(formula.replace("·", "*")) == int(result)
    assert [int(result) for _, _, result in rows] == [20, 32, 80, 96, 8, 368, 4, 20]
    assert 20 + 32 + 368 + 4 + 20 == 444
    assert 80 + 96 + 8 == 184
    asked = gpt(65, 64, 128, 4, 4, 256)
    assert sum(one.numel() for one in asked.parameters()) == solution["REFLECT_PARAMETERS"] == 683392
    assert solution["REFLECT_INITIAL_LOSS_V65"] == round(math.log(65), 3)


def test_the_text_is_as_the_lesson_says(lesson: str, solution: dict[str, object]) -> None:
    assert solution["TEXT"] == TEXT
    words = " ".join(lesson.split())
    assert f"a text of {len(TEXT)} characters. It has {len(set(TEXT))} different characters" in words
    for name, loss in {
        "all characters equally likely, $\\ln 28$": math.log(28),
        "how often each character comes": single_characters(TEXT),
        "pairs: how often a character follows another": pairs(TEXT),
    }.items():
        assert f"| {name} | {loss:.3f} |" in lesson


def test_what_a_cache_would_save(lesson: str) -> None:
    seen = [min(length, 16) for length in range(1, 61)]
    assert f"sends {sum(seen)} tokens through the blocks" in " ".join(lesson.split())


@pytest.mark.exhaustive
def test_training_crosses_the_line_of_pairs(solution: dict[str, object]) -> None:
    letters = sorted(set(TEXT))
    data = torch.tensor([letters.index(one) for one in TEXT])
    torch.manual_seed(0)
    gpt, train = solution["GPT"], solution["train"]
    assert callable(gpt)
    assert callable(train)
    losses = train(gpt(len(letters), 16, 32, 1, 2, 64), data, 220, 16, 0.01, torch.Generator().manual_seed(11))
    assert abs(losses[0] - math.log(28)) < 0.5
    assert np.mean(losses[-20:]) < pairs(TEXT) - 0.3


@pytest.mark.exhaustive
@pytest.mark.parametrize(("without", "reached"), LEFT_OUT.items())
def test_what_is_left_out_costs_what_the_lesson_says(
    solution: dict[str, Any], lesson: str, without: str, reached: float
) -> None:
    letters = sorted(set(TEXT))
    data = torch.tensor([letters.index(one) for one in TEXT])
    torch.manual_seed(0)
    model = solution["GPT"](len(letters), 16, 32, 1, 2, 64)
    silent = {"nothing": None, "attention": model.blocks[0].attention.out_proj, "positions": model.position_embedding}
    if (part := silent[without]) is not None:
        for parameter in part.parameters():  # zeros that never learn: nothing is added
            parameter.data.zero_()
            parameter.requires_grad_(False)
    losses = solution["train"](model, data, 220, 16, 0.01, torch.Generator().manual_seed(11))
    assert np.mean(losses[-20:]) == pytest.approx(reached, abs=0.08)
    assert f"about {reached}" in lesson
