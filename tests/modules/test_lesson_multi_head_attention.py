"""The lesson of 06_multi_head_attention: every number in it is computed here."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest
import torch

from grader.course.course import Course
from grader.course.module import Module
from tests.conftest import ROOT
from tests.modules.formulas import bank_looks
from tests.modules.lessons import TOKENS, K, Q, V, row, softmax, unclaimed, weights

HALVES = [slice(0, 2), slice(2, 4)]
NAME = "06_multi_head_attention"


def of_a_head(h: int, allowed: np.ndarray | None = None) -> np.ndarray:
    """The weights of one of two heads, with the identity for all projections."""
    return weights(Q[:, HALVES[h]], K[:, HALVES[h]], allowed)


def steps(h: int) -> dict[str, list[float]]:
    """The rows of the table in which The's scores in a head become weights."""
    raw = Q[0, HALVES[h]] @ K[:, HALVES[h]].T
    exps = np.exp(raw / np.sqrt(2))
    return {
        "raw score": [*raw],
        "scaled": [*(raw / np.sqrt(2))],
        "exponential": [*exps, exps.sum()],
        "weight": [*(exps / exps.sum()), 1.0],
    }


def merged() -> np.ndarray:
    """The output with two heads."""
    return np.concatenate([of_a_head(h) @ V[:, HALVES[h]] for h in range(2)], axis=1)


def wrongly_scaled() -> np.ndarray:
    """The's weights in head 0 if the scores are divided by the root of all features."""
    return softmax(Q[0, :2] @ K[:, :2].T / 2)


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from K.ravel()
    yield np.sqrt(2)
    for h in range(2):
        for cells in steps(h).values():
            yield from cells
        yield from of_a_head(h, np.tri(5))[1]
    yield from merged()[0]
    for shares in bank_looks().values():
        yield from shares
    yield float(bank_looks()["head 0"] @ [2, 0, 1])
    yield from (weights(Q, K) @ V)[0]
    yield from wrongly_scaled()
    yield 1 / 5  # a head that cannot tell five keys apart
    yield 0.02  # how fast the two layers learn in the cell under Use
    yield 0.0  # a float is written so


@pytest.fixture
def module(course: Course) -> Module:
    return course.module(NAME)


@pytest.fixture
def lesson(module: Module) -> str:
    return module.lesson.read_text()


@pytest.fixture(scope="module")
def printed(course: Course) -> str:
    """What the solution prints when it is run as a file."""
    path = str(course.solution(course.module(NAME)))
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("06_multi_head_attention"), numbers()) == []


def test_the_table_of_halves(lesson: str) -> None:
    for i, token in enumerate(TOKENS):
        cells = [
            " ".join(f"{x:g}".replace("0.", ".") for x in table[i, half]) for table in (Q, K, V) for half in HALVES
        ]
        assert f"| {token} | {' | '.join(cells)} |" in lesson


def test_two_heads_give_bank_what_one_head_cannot(lesson: str) -> None:
    looks = bank_looks()
    assert looks["one head"] @ [[2, 0], [0, 2], [1, 1]] == pytest.approx([1, 1])
    assert f"| one head: weight | {row(looks['one head'])} | 1, 1 |" in lesson
    for head, feature in (("head 0", [2, 0, 1]), ("head 1", [0, 2, 1])):
        assert f"| {head}: weight | {row(looks[head])} | {looks[head] @ feature:.4f} |" in lesson
        assert f"score | {' | '.join(map(str, feature))} | |" in lesson
    assert "the heads say (1.5752, 1.5752)" in lesson


def test_the_head_of_the_small_gpt_is_the_measured_one(lesson: str) -> None:
    measured = " ".join((ROOT / "docs/gpt.md").read_text().split())
    for page in (" ".join(lesson.split()), measured):
        assert "character before" in page
        assert re.search(r"more than three quarters.*21 of 25|21 of 25.*more than three quarters", page)


@pytest.mark.parametrize("h", [0, 1])
def test_each_step_of_a_head(lesson: str, h: int) -> None:
    table = lesson.partition(f"| The, head {h} |")[2].partition("\n\n")[0]
    rows = steps(h)
    raw = " | ".join(f"{x:g}".replace("0.", ".") for x in rows["raw score"])
    assert f"| raw score | {raw} | |" in table
    assert f"| scaled | {row(rows['scaled'])} | |" in table
    assert f"| exponential | {row(rows['exponential'])} |" in table
    assert f"| weight | {row(rows['weight'])} |" in table


def test_the_output_of_the_shared_example(lesson: str) -> None:
    assert merged()[0].round(4).tolist() == [0.2491, 0.3763, 0.2289, 0.3663]  # as in the curriculum
    assert f"| two heads | {row(merged()[0])} |" in lesson
    assert f"| one head, module 03 | {row((weights(Q, K) @ V)[0])} |" in lesson
    one = of_a_head(0)[0]
    assert one[0] + one[4] / 2 == pytest.approx(merged()[0, 0])


def test_what_is_said_in_words(lesson: str) -> None:
    words = " ".join(lesson.split())
    assert f"`[{row(wrongly_scaled()).replace(' | ', ' ')}]` in head 0" in words
    first, second = (row(of_a_head(h, np.tri(5))[1, :2]).replace(" | ", " and ") for h in range(2))
    assert f"*cat* sees *The* and itself, {first} in head 0, {second} in head 1" in words
    assert [head.argmax() in (1, 2, 4) for head in (of_a_head(0)[0],)] == [True]
    assert set(np.flatnonzero(of_a_head(1)[0] > 0.25)) == {1, 3}  # cat and on
    assert "2 sentences of 5 tokens with 2 heads make 100 weights, 400 bytes" in words
    assert (2 * 2 * 5 * 5, 4 * 2 * 2 * 5 * 5, 4 * (4 * 4 + 4), 4 * (16 * 16 + 16)) == (100, 400, 80, 1088)
    assert "has 80 parameters" in words
    assert "the same number of parameters, 1088" in words
    for model, features, heads, width in re.findall(r"\| (\S+(?: 70B)?) \| (\d{4,}) \| (\d+) \| (\d+) \|", lesson):
        assert int(features) == int(heads) * int(width), model


def test_a_reshape_gives_a_head_to_each_token(lesson: str) -> None:
    x = torch.tensor([[[0, 1, 2, 3], [10, 11, 12, 13]]])
    wrong, right = x.reshape(1, 2, 2, 2)[0], x.reshape(1, 2, 2, 2).transpose(1, 2)[0]
    for name, heads in (("right", right), ("`x.reshape(B, H, N, D)`", wrong)):
        cells = [" and ".join(f"`{a} {b}`" for a, b in head.tolist()) for head in heads]
        assert f"| {name} | {cells[0]} | {cells[1]} |" in lesson
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        right.transpose(0, 1).transpose(1, 2).view(2, 4)


def test_a_mask_of_sentences_meets_the_heads() -> None:
    scores, mask = torch.zeros(2, 8, 5, 5), torch.ones(2, 5, 5)
    with pytest.raises(RuntimeError):
        scores.masked_fill(mask == 0, 1)
    assert scores[:, :2].masked_fill(mask == 0, 1).shape == (2, 2, 5, 5)  # as many heads as sentences


def test_minus_infinity_that_is_added_ends_in_nan() -> None:
    scores = torch.zeros(2, 2, requires_grad=True)
    blocked = torch.tensor([[False, False], [True, True]])
    filled = torch.softmax(scores.masked_fill(blocked, -torch.inf), dim=-1).masked_fill(blocked, 0.0)
    added = torch.nan_to_num(torch.softmax(scores + torch.zeros(2, 2).masked_fill(blocked, -torch.inf), dim=-1))
    assert torch.equal(filled, added)
    for masked, finite in ((filled, True), (added, False)):
        (grad,) = torch.autograd.grad(masked[:, 0].sum(), scores)
        assert bool(grad.isfinite().all()) == finite


@pytest.mark.exhaustive
def test_the_cells_of_the_solution_run(printed: str) -> None:
    assert "output of The: [0.2491, 0.3763, 0.2289, 0.3663]" in printed
    assert (
        "causal weights of cat, head by head: [[0.8044, 0.1956, 0.0, 0.0, 0.0], [0.6698, 0.3302, 0.0, 0.0, 0.0]]"
        in printed
    )
    for h in (0, 2):  # the heads of width 1 in which cat has a query of 0
        assert f"4 heads, head {h}, cat: The ####      cat ####      sat ####      on ####      mat ####" in printed


def test_one_head_cannot_learn_what_two_can(printed: str) -> None:
    errors = [float(found) for found in re.findall(r"a squared error of (\d+\.\d+) after", printed)]
    assert errors[0] == pytest.approx(0.5, abs=0.1)
    assert errors[1] < 0.01


def test_the_layer_agrees_with_torch(course: Course) -> None:
    made = runpy.run_path(str(course.solution(course.module(NAME))))["MultiHeadAttention"](16, 2)
    theirs = torch.nn.MultiheadAttention(16, 2, batch_first=True)
    assert theirs.in_proj_weight.shape == (48, 16)
    with torch.no_grad():
        for name, weight, bias in zip(
            ("q_proj", "k_proj", "v_proj"), theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True
        ):
            getattr(made, name).weight.copy_(weight)
            getattr(made, name).bias.copy_(bias)
        made.out_proj.load_state_dict(theirs.out_proj.state_dict())
        x, mask = torch.randn(2, 5, 16), torch.ones(5, 5).tril()
        ours = made(x, mask=mask)
        expected = theirs(x, x, x, attn_mask=mask == 0, average_attn_weights=False)
        for one, other in zip(ours, expected, strict=True):
            assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.exhaustive
def test_the_stub_runs_up_to_the_first_function_to_be_written(module: Module) -> None:
    done = subprocess.run([sys.executable, str(module.stub)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "split_heads" in done.stderr
    assert done.stderr.strip().endswith("NotImplementedError")
