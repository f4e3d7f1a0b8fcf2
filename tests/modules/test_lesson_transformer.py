"""The lesson of 12_transformer: every number in it is computed here."""

from __future__ import annotations

import math
import re
import runpy
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from docs.figures.trained import STEPS, maps, shares_back, trained
from grader.course.course import Course
from grader.course.loading import earlier_solutions, importable
from grader.course.module import Module
from tests.conftest import ROOT
from tests.modules.lessons import SCORES, Q, row, softmax, unclaimed
from tests.quick import sampled

NAME = "12_transformer"
POINTS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
SIGMOID = 1 / (1 + np.exp(-POINTS))
CHANCES = softmax(SCORES)
BEST_FIRST = np.sort(CHANCES)[::-1]
LOSSES = -np.log(CHANCES)
SIZES = (5, 8, 4, 2, 2, 8)
LEFT_OUT = {  # the loss without a part, by the number of blocks
    ("nothing", 1): 1.0,
    ("attention", 1): 1.7,
    ("positions", 1): 1.3,
    ("positions", 4): 1.0,
    ("nothing", 4): 0.9,
    ("network", 1): 1.2,
    ("network", 4): 1.1,
    ("residuals", 1): 1.2,
    ("residuals", 4): 2.8,
    ("norms", 1): 1.0,
}
POSITIONS = {  # the loss with other positions, by the number of blocks
    ("table", 1): 1.03,
    ("table", 4): 0.93,
    ("rope", 1): 0.92,
    ("rope", 4): 0.72,
    ("alibi", 1): 1.24,
}
REPAIRS = {"nothing": 1.46, "positions": 2.53, "base": 1.13, "training": 0.75}  # on such pieces, in lesson 08
LONGER = {"rope": 1.46, "alibi": 1.44}  # the loss of one block in pieces of 64 characters
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
    yield from (*LEFT_OUT.values(), *POSITIONS.values(), *LONGER.values())
    yield 3.2  # the worst of three runs without norms: chance decides
    yield 10000.0 ** (-2 / 64)
    yield 100 * 2 * 2048 / (12 * 12288 + 2 * 2048)
    yield from (*(Q**2).mean(axis=1), *roots(), *normalised().ravel(), *(Q[1] / (Q[1] ** 2).mean()))
    yield from (*SIGMOID, *(POINTS * SIGMOID), 2 * 2 * SIGMOID[4])
    yield from (math.log(5), math.log(65), pairs(TEXT), single_characters(TEXT), math.log(28))
    yield from (3 + 0.5, 3 + 0.5 + 0.25, 0.5, 0.25)  # the block of the hints
    yield from (1 / math.sqrt(1 + 3), math.sqrt(1.25))
    yield from (0.4, 0.6, 0.8, 0.2, 0.01, 0.02, 1.0, 2.0, 0.0, 10000.0)  # settings, and a large logit


def attend(
    attention: Any, how: str, turned: Callable[..., torch.Tensor], x: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Call the attention of module 06 with RoPE or ALiBi."""
    batch, n, width = x.shape
    heads, places = attention.num_heads, torch.arange(n)
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    q, k, v = (one(x).reshape(batch, n, heads, -1).transpose(1, 2) for one in projections)
    if how == "rope":
        q, k = turned(q, places), turned(k, places)
    scores = q @ k.transpose(-1, -2) / math.sqrt(width // heads)
    if how == "alibi":
        slopes = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
        scores = scores - slopes[:, None, None] * (places[:, None] - places).abs()
    weights = scores.masked_fill(mask == 0, -torch.inf).softmax(dim=-1)
    return attention.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, width)), weights


def without_residuals(block: Any, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Pass on only what the halves of a block compute."""
    x = block.attention(block.norm1(x), mask=mask)[0]
    return torch.as_tensor(block.feed_forward(block.norm2(x)))


def with_places(model: Any, how: str, turned: Callable[..., torch.Tensor], longest: int = 16) -> Any:
    """The model with RoPE or ALiBi in every block, in place of its table."""
    model.context_length, model.position_embedding = longest, silence(nn.Embedding(longest, 32))
    for block in model.blocks:
        block.attention.forward = partial(attend, block.attention, how, turned)
    return model


def loss_in_pieces(solution: dict[str, Any], model: Any, long: int) -> float:
    """The loss on pieces of the text, one from every seventh character on."""
    data = coded(TEXT)
    pieces = torch.stack([data[start : start + long + 1] for start in range(0, len(data) - long - 1, 7)])
    with torch.no_grad():
        return float(solution["cross_entropy"](model(pieces[:, :-1]), pieces[:, 1:]))


def new_model(solution: dict[str, Any], blocks: int = 1, seed: int = 0) -> Any:
    """The small model of the lesson."""
    torch.manual_seed(seed)
    return solution["GPT"](len(set(TEXT)), 16, 32, blocks, 2, 64)


def silence(part: nn.Module) -> nn.Module:
    """Set a part to zeros that never learn: it adds nothing."""
    for parameter in part.parameters():
        parameter.data.zero_()
        parameter.requires_grad_(False)
    return part


def model_without(solution: dict[str, Any], part: str, blocks: int, seed: int = 0) -> Any:
    """The small model, with one part left out."""
    model = new_model(solution, blocks, seed)
    if part == "positions":
        silence(model.position_embedding)
    for block in model.blocks:
        if part == "attention":
            silence(block.attention.out_proj)
        elif part == "network":
            silence(block.feed_forward)
        elif part == "norms":
            block.norm1, block.norm2 = nn.Identity(), nn.Identity()
        elif part == "residuals":
            block.forward = partial(without_residuals, block)
    return model


def losses_of(solution: dict[str, Any], model: Any, seed: int = 0) -> list[float]:
    """Train for 220 steps."""
    losses = solution["train"](model, coded(TEXT), 220, 16, 0.01, torch.Generator().manual_seed(11 + seed))
    return [float(loss) for loss in losses]


def reached(losses: list[float]) -> float:
    """The loss at the end: the mean of the last twenty."""
    return float(np.mean(losses[-20:]))


def coded(text: str) -> torch.Tensor:
    letters = sorted(set(text))
    return torch.tensor([letters.index(one) for one in text])


def turn_of(lesson: str) -> Callable[..., torch.Tensor]:
    """The function `turned` as the lesson prints it."""
    (code,) = re.findall(r"```python\n(def turned.*?)```", lesson, re.DOTALL)
    names: dict[str, Any] = {"torch": torch}
    exec(compile(code, "lesson", "exec"), names)
    turned: Callable[..., torch.Tensor] = names["turned"]
    return turned


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


def test_the_table_of_what_is_left_out_has_the_measured_losses(lesson: str) -> None:
    for name, what in {
        "nothing": "nothing",
        "network for each token": "network",
        "residuals": "residuals",
    }.items():
        one, four = (f"{LEFT_OUT[what, blocks]}".replace("0.", ".") for blocks in (1, 4))
        assert f"| {name} | {one} | {four} |" in lesson
    assert f"| norms in the blocks | {LEFT_OUT['norms', 1]} | 1.2 to 3.2, by chance |" in lesson
    for what in ("nothing", "attention", "positions"):
        assert f"about {LEFT_OUT[what, 1]}" in lesson


def test_the_sample_is_the_one_that_was_written(lesson: str) -> None:
    assert (sample := "Once there were coat outed the stone. There go the sea") in lesson
    written = (ROOT / "docs/gpt.md").read_text()
    assert f"\n{sample}, and" in written
    assert "1000 steps on\nthe course's tales" in written


def test_the_share_of_the_scores_in_gpt_3(lesson: str) -> None:
    n, heads, width, blocks = 2048, 96, 12288, 96
    words = " ".join(lesson.split())
    assert f"that is {12 * width**2 * blocks / 1e9:.0f} billion, of 175 in all" in words
    assert f"only {100 * 2 * n / (12 * width + 2 * n):.1f} % of the multiplications" in words
    assert f"at $n = 6E$, which is {6 * width} tokens" in words
    assert f"{2 * heads * n**2 / 1e6:.0f} million numbers for scores and weights in a layer" in words
    assert f"and {4 * n * width / 1e6:.0f} million for the projections" in words


def test_the_turn_of_the_lesson_is_that_of_module_08(course: Course, lesson: str) -> None:
    apply_rope = runpy.run_path(str(course.solution(course.module("08_positions"))))["apply_rope"]
    x = torch.randn(2, 3, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert np.allclose(turn_of(lesson)(x, torch.arange(5)), apply_rope(x.numpy(), np.arange(5)), atol=1e-6)


def test_the_maps_of_the_trained_model_are_as_the_lesson_says(lesson: str) -> None:
    words = " ".join(lesson.split())
    first, second = maps()
    assert f"the character before, with {100 * shares_back(first, 1):.0f} % of its weight" in words
    assert f"gives {100 * shares_back(second, 2):.0f} % to the one two back" in words
    assert f"and {100 * shares_back(second, 3):.0f} % to the one three back" in words
    assert f"trained for {STEPS} steps" in words


@pytest.mark.exhaustive
def test_the_maps_of_the_trained_model_are_found_again() -> None:
    """Rounding differs between machines, and training makes it larger."""
    first, second = trained()
    assert shares_back(first, 1) == pytest.approx(shares_back(maps()[0], 1), abs=0.15)
    assert shares_back(second, 2) == pytest.approx(shares_back(maps()[1], 2), abs=0.15)


@pytest.mark.exhaustive
def test_training_crosses_the_line_of_pairs(solution: dict[str, Any]) -> None:
    losses = losses_of(solution, new_model(solution))
    assert abs(losses[0] - math.log(28)) < 0.5
    assert reached(losses) < pairs(TEXT) - 0.3


@pytest.mark.exhaustive
@pytest.mark.parametrize(("without", "blocks", "loss"), sampled([(*part, loss) for part, loss in LEFT_OUT.items()], 3))
def test_what_is_left_out_costs_what_the_lesson_says(
    solution: dict[str, Any], without: str, blocks: int, loss: float
) -> None:
    model = model_without(solution, without, blocks)
    assert reached(losses_of(solution, model)) == pytest.approx(loss, abs=0.08)
    if blocks == 4:
        found: list[torch.Tensor] = []
        model.norm.register_forward_hook(lambda _layer, args, _result: found.append(args[0]))
        with torch.no_grad():
            model(coded(TEXT)[None, :16])
        vectors = nn.functional.normalize(found[0][0], dim=-1)
        alike = float((vectors @ vectors.T).mean())
        assert alike > 0.98 if without == "residuals" else alike < 0.5


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", sampled(range(3), 3))
def test_four_blocks_miss_their_norms(solution: dict[str, Any], seed: int) -> None:
    losses = losses_of(solution, model_without(solution, "norms", 4, seed), seed)
    assert reached(losses) > LEFT_OUT["nothing", 4] + 0.15


@pytest.mark.exhaustive
@pytest.mark.parametrize(("how", "blocks", "loss"), sampled([(*part, loss) for part, loss in POSITIONS.items()], 2))
def test_other_positions_reach_what_the_lesson_says(
    solution: dict[str, Any], lesson: str, how: str, blocks: int, loss: float
) -> None:
    turned = turn_of(lesson)
    model = new_model(solution, blocks)
    if how != "table":
        model = with_places(model, how, turned)
    assert reached(losses_of(solution, model)) == pytest.approx(loss, abs=0.08)
    if blocks == 1 and how in LONGER:
        longer = loss_in_pieces(solution, with_places(model, how, turned, 64), 64)
        assert longer == pytest.approx(LONGER[how], abs=0.15)


@pytest.mark.exhaustive
def test_the_repairs_of_rope_do_what_lesson_08_says(solution: dict[str, Any], lesson: str) -> None:
    turned = turn_of(lesson)
    model = with_places(new_model(solution), "rope", turned)
    losses_of(solution, model)
    assert loss_in_pieces(solution, model, 16) == pytest.approx(POSITIONS["rope", 1], abs=0.08)
    for name, turn in {
        "nothing": turned,
        "positions": lambda x, places: turned(x, places / 4),
        "base": lambda x, places: turned(x, places, 100_000.0),
    }.items():
        found = loss_in_pieces(solution, with_places(model, "rope", turn, 64), 64)
        assert found == pytest.approx(REPAIRS[name], abs=0.15), name
    with_places(model, "rope", turned, 64)
    solution["train"](model, coded(TEXT), 20, 16, 0.01, torch.Generator().manual_seed(5))
    assert loss_in_pieces(solution, model, 64) == pytest.approx(REPAIRS["training"], abs=0.1)
