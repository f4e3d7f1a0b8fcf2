"""The lesson of 09_kv_cache: every number in it is computed here."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest
import torch

from grader.course.course import Course
from grader.course.loading import importable
from grader.course.module import Module, read_text
from tests.modules.lessons import TOKENS, K, Q, row, softmax, unclaimed, weights

NAME = "09_kv_cache"
SCALED = Q @ K.T / 2
CHUNK = 3  # on and mat arrive when three tokens are in the cache
TOP_LEFT, BOTTOM_RIGHT = np.tri(2, 5), np.tri(2, 5, CHUNK)


def causal() -> np.ndarray:
    """The weights of the sentence, token by token."""
    return weights(Q, K, np.tri(5))


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from K.ravel()
    yield from SCALED.ravel()
    yield from causal().ravel()
    yield from weights(Q[CHUNK:], K, TOP_LEFT).ravel()
    yield from weights(Q[CHUNK:], K, BOTTOM_RIGHT).ravel()
    yield from (0.0, 5.0, 7.0)  # floats are written so; a key and a value in the cell about reset begin with 5 and 7
    yield 1e-5  # how close decode and one forward should be, in the hints


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


def solution(course: Course) -> dict[str, object]:
    return runpy.run_path(str(course.solution(course.module(NAME))))


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("09_kv_cache"), numbers()) == []


def test_the_table_token_by_token(lesson: str) -> None:
    for i, token in enumerate(TOKENS):
        scores = ", ".join(f"{x:g}".replace("0.", ".") for x in SCALED[i, : i + 1])
        shares = row(softmax(SCALED[i, : i + 1])).replace(" | ", " ")
        assert f"| {token} | {' '.join(TOKENS[: i + 1])} | {scores} | {shares} |" in lesson


def test_the_two_triangles(lesson: str) -> None:
    for i, token in enumerate(TOKENS[CHUNK:]):
        cells = [" | ".join(f"{x:.0f}" for x in mask[i]) for mask in (TOP_LEFT, BOTTOM_RIGHT)]
        assert f"| {token} | {cells[0]} | | {token} | {cells[1]} |" in lesson
    assert torch.ones(2, 5).tril().tolist() == TOP_LEFT.tolist()
    wrong, right = (weights(Q[CHUNK:], K, mask) for mask in (TOP_LEFT, BOTTOM_RIGHT))
    assert np.allclose(right, causal()[CHUNK:])
    assert wrong[0].tolist() == [1, 0, 0, 0, 0]
    assert wrong[1, :2].tolist() == [0.5, 0.5]
    assert "*on* would give all its weight to *The*, and *mat* .5 each to *The* and *cat*" in " ".join(lesson.split())


def test_what_is_computed_again(lesson: str) -> None:
    again, once = [sum(range(1, n + 1)) for n in (5, 1000)], [5, 1000]
    squares = [sum(t * t for t in range(1, n + 1)) for n in (5, 1000)]

    def cells(*counts: int) -> str:
        return " | ".join(f"{one:,}".replace(",", " ") if one > 9999 else str(one) for one in counts)

    assert f"| everything again at each step | {cells(*again, *squares)} |" in lesson
    assert f"| only the new token | {cells(*once, *again)} |" in lesson
    assert "Fifteen tokens are projected to write five" in lesson


def test_the_counter_at_module_six(course: Course, lesson: str) -> None:
    code = re.findall(r"```python\n(.*?)```", lesson, re.DOTALL)[0]
    earlier = course.module("06_multi_head_attention")
    out = io.StringIO()
    with importable({earlier.slug: read_text(course.solution(earlier))}), contextlib.redirect_stdout(out):
        exec(compile(code, "lesson", "exec"), {})
    assert out.getvalue().strip() == "[1, 2, 3, 4, 5] 15"
    assert f"# {out.getvalue().strip()}" in code


def test_the_table_of_slots(course: Course, lesson: str) -> None:
    cache = solution(course)["KVCache"](1, 1, 4, 2)  # type: ignore[operator]
    both, sat = torch.tensor([[[[0.0, 1], [1, 0]]]]), torch.tensor([[[[1.0, 1]]]])
    cache.update(both, both)
    cache.update(sat, sat)
    assert cache.length == 3
    with pytest.raises(ValueError, match=r"\b5\b.*\b4\b"):
        cache.update(both, both)
    assert "| `update` with sat | `0 1` | `1 0` | `1 1` | | 3 |" in lesson
    assert "| `update` with two more | `0 1` | `1 0` | `1 1` | | 3, and a `ValueError` that names 5 and 4 |" in lesson


def test_the_bytes_of_models(course: Course, lesson: str) -> None:
    kv_cache_bytes = solution(course)["kv_cache_bytes"]
    rows = re.findall(
        r"\| ([\w-]+(?: 3)?(?: [78]B)?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) bytes, (\d+) (GiB|MiB) \|", lesson
    )
    assert [name for name, *_ in rows] == ["GPT-3", "LLaMA-2 7B", "Llama 3 8B", "Falcon 7B"]
    for name, *found, amount, unit in rows:
        layers, heads, width, tokens, written = map(int, found)
        assert kv_cache_bytes(1, layers, heads, tokens, width) == written, name  # type: ignore[operator]
        assert written == int(amount) * 1024 ** (3 if unit == "GiB" else 2)
    assert "The parameters of GPT-3 take 350 GB" in lesson
    assert 175_000_000_000 * 2 == 350_000_000_000


def test_the_answers_are_not_in_the_lesson(course: Course, lesson: str) -> None:
    made = solution(course)
    for name in ("REFLECT_KV_BYTES_70B_N4096_GQA8", "REFLECT_KV_BYTES_70B_N4096_MHA64"):
        assert name in lesson
        assert str(made[name]) not in lesson


def test_the_worked_hints(module: Module) -> None:
    text = module.hints.read_text()
    assert "2 * 128 = 256 numbers for one token in one head, 256 * 32 * 32 = 262144 in all heads and layers" in text
    assert (2 * 128, 256 * 32 * 32, 262144 * 4096, 1073741824 * 2) == (256, 262144, 1073741824, 2147483648)
    scores = [", ".join(f"{x:g}" for x in SCALED[i]) for i in (3, 4)]
    assert f"Scaled scores of on: [{scores[0]}]" in text
    assert f"Scaled scores of mat: [{scores[1]}]" in text


@pytest.mark.exhaustive
def test_the_cells_of_the_solution_run(printed: str) -> None:
    assert "refused: 5 tokens do not fit into a cache for 4" in printed
    assert "causal weights of on, head 0: [0.235, 0.235, 0.1425, 0.3875, 0.0]" in printed
    assert "without a cache: [1, 2, 3, 4, 5], together 15 tokens" in printed
    assert "with a cache:    [1, 1, 1, 1, 1], together 5 tokens" in printed
    assert " mat: The 0.1892  cat 0.1892  sat 0.1892  on 0.1892  mat 0.2430" in printed


def test_a_layer_with_all_heads_is_module_six(course: Course) -> None:
    earlier = runpy.run_path(str(course.solution(course.module("06_multi_head_attention"))))
    plain, shared = earlier["MultiHeadAttention"](8, 4), solution(course)["GroupedQueryAttention"](8, 4, 4)  # type: ignore[operator]
    shared.load_state_dict(plain.state_dict())
    x = torch.randn(2, 5, 8)
    for ours, theirs in zip(shared(x), plain(x, mask=torch.ones(5, 5).tril()), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)


@pytest.mark.exhaustive
def test_the_stub_runs_up_to_the_first_function_to_be_written(module: Module) -> None:
    done = subprocess.run([sys.executable, str(module.stub)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "KVCache" in done.stderr
    assert done.stderr.strip().endswith("NotImplementedError")
