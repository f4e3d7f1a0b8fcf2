"""The lesson of 07_gpu_path: every number in it is computed here."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import warnings
from collections import namedtuple
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader.course.course import Course
from grader.course.module import Module
from tests.conftest import ROOT
from tests.modules.lessons import TOKENS, K, Q, V, row, softmax, unclaimed, weights

NAME = "07_gpu_path"
CAT = Q[1] @ K.T / 2
CAUSAL = np.tri(5)
MIB = 2**20
KERNELS = (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH)
LENGTHS = (1024, 2048, 4096)


def added() -> np.ndarray:
    """The scores of cat if its causal mask is added to them."""
    return np.asarray(CAT + CAUSAL[1])


def tables(n: int) -> tuple[float, float]:
    """The MiB of the scores, and of the output, of two heads of width 64 in float32."""
    return 4 * 2 * n * n / MIB, 4 * 2 * n * 64 / MIB


class Measured(NamedTuple):
    """One row of the first table in docs/gpu.md."""

    manual_ms: float
    manual_mib: float
    half_ms: float
    half_mib: float
    fused_ms: float
    fused_mib: float
    builtin_ms: float
    builtin_mib: float


def measured() -> dict[int, Measured]:
    """The times and the memory of docs/gpu.md by n."""
    text = (ROOT / "docs/gpu.md").read_text().partition("A module that runs only on a GPU")[0]
    rows = re.findall(r"^\| (\d+) \|((?: [\d.]+ \|){8})$", text, re.M)
    return {int(n): Measured(*(float(cell) for cell in cells.split("|")[:-1])) for n, cells in rows}


def in_sixteen_bits() -> np.ndarray:
    """The causal output of cat with both products in bfloat16."""
    q, k, v = (torch.from_numpy(x).float() for x in (Q / 2, K, V))
    scores = (q.bfloat16() @ k.bfloat16().T).float().masked_fill(torch.from_numpy(CAUSAL) == 0, -torch.inf)
    return np.asarray((torch.softmax(scores, dim=-1).bfloat16() @ v.bfloat16()).float()[1].numpy())


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from CAT
    yield from K.ravel()
    yield from weights(Q, K, CAUSAL)[1]
    yield from (weights(Q, K, CAUSAL) @ V)[1]
    yield from added()
    yield from softmax(added())
    yield from in_sixteen_bits()
    for n in LENGTHS:
        yield from tables(n)
    table = measured()
    for n in (512, 8192):
        yield from (table[n].manual_mib, table[n].fused_mib)
    yield from (table[512].manual_ms, table[1024].manual_ms, table[8192].manual_ms, table[8192].fused_ms)
    yield 0.001  # the step of an optimizer
    yield 1 + torch.finfo(torch.bfloat16).eps
    yield 3.39  # e38: the largest number of bfloat16, by a test of its own
    yield 2.0  # a tensor that lives on the CPU, in a line to avoid
    yield 0.0  # a float is written so
    yield 40.0  # one of 64 features, likewise


@pytest.fixture
def module(course: Course) -> Module:
    return course.module(NAME)


@pytest.fixture
def words(module: Module) -> str:
    return " ".join(module.lesson.read_text().split())


@pytest.fixture(scope="module")
def solution(course: Course) -> dict[str, Any]:
    return runpy.run_path(str(course.solution(course.module(NAME))))


@pytest.fixture(scope="module")
def printed(course: Course) -> str:
    """What the solution prints when it is run as a file."""
    path = str(course.solution(course.module(NAME)))
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("07_gpu_path"), numbers()) == []


def test_the_tables_of_cat(module: Module) -> None:
    lesson = module.lesson.read_text()
    scores, mask = (" | ".join(f"{x:g}".replace("0.", ".") for x in cells) for cells in (CAT, CAUSAL[1]))
    first, second = lesson.split("| cat | The | cat | sat | on | mat |")[1:3]
    assert f"| scaled score | {scores} |\n| mask | {mask} |\n| weight | {row(weights(Q, K, CAUSAL)[1])} |" in first
    summed = " | ".join(f"{x:g}".replace("0.", ".") for x in added())
    assert f"| scaled score plus mask | {summed} |\n| weight | {row(softmax(added()))} |" in second
    assert TOKENS[1] == "cat"


def test_what_the_built_ins_make_of_masks() -> None:
    q, k, v = (torch.from_numpy(x).float()[None, None] for x in (Q, K, V))
    bools, floats = torch.from_numpy(CAUSAL) != 0, torch.from_numpy(CAUSAL).float()
    right = torch.from_numpy(weights(Q, K, CAUSAL) @ V).float()
    assert torch.allclose(nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bools)[0, 0], right, atol=1e-5)
    cat = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=floats)[0, 0, 1]
    assert torch.allclose(cat, torch.from_numpy(softmax(added()) @ V).float(), atol=1e-5)
    with pytest.raises(RuntimeError):
        nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=floats.long())
    layer = nn.MultiheadAttention(4, 1, bias=False)
    shares = layer(q[0, 0], k[0, 0], v[0, 0], attn_mask=~bools)[1]
    assert shares[0, 1:].abs().max() == 0  # for it, True is blocked
    assert layer(q[0, 0], k[0, 0], v[0, 0], attn_mask=floats)[1].min() > 0


def test_the_table_of_devices(module: Module, solution: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = re.findall(r'^\| (`".*?) \| (.*?) \| (.*?) \|$', module.lesson.read_text(), re.MULTILINE)
    assert len(rows) == 6
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for names, *answers in rows:
        for count, answer in zip((1, 0), answers, strict=True):
            monkeypatch.setattr(torch.cuda, "device_count", lambda count=count: count)
            for name in re.findall(r'"(.*?)"', names):
                if answer == "`ValueError`":
                    with pytest.raises(ValueError, match=re.escape(repr(name))):
                        solution["pick_device"](name)
                else:
                    assert f"`{solution['pick_device'](name)}`" == answer


def test_the_table_of_memory(module: Module, words: str) -> None:
    lesson = module.lesson.read_text()
    for n in LENGTHS:
        scores, output = tables(n)
        assert f"| {n} | {scores:g} MiB | {output:g} MiB |" in lesson
    assert "needs 0.5 MiB beyond its input" in words
    assert tables(1024)[1] == 0.5
    assert "more than 16 MiB are written" in words
    assert 2 * tables(1024)[0] == 16
    assert "has 16 MiB of scores in float32, and 8 MiB in 16 bits" in words
    assert (4 * 2048**2 / MIB, 2 * 2048**2 / MIB) == (16, 8)


def test_on_the_cpu_there_are_two_kernels_and_flash_needs_four_dimensions() -> None:
    def runs(kernel: SDPBackend, *shape: int) -> bool:
        x = torch.ones(shape)
        try:
            with warnings.catch_warnings(), sdpa_kernel([kernel]):
                warnings.simplefilter("ignore")  # they say why a kernel cannot run
                nn.functional.scaled_dot_product_attention(x, x, x)
        except RuntimeError:
            return False
        return True

    usable = {kernel for kernel in KERNELS if runs(kernel, 1, 2, 8, 16)}
    assert usable == {SDPBackend.FLASH_ATTENTION, SDPBackend.MATH}
    assert {kernel for kernel in KERNELS if runs(kernel, 2, 8, 16)} == {SDPBackend.MATH}


def test_three_queries_and_five_keys() -> None:
    mask = torch.ones(3, 5, dtype=torch.bool).tril()
    assert [row.nonzero().flatten().tolist() for row in mask] == [[0], [0, 1], [0, 1, 2]]
    q, k = torch.randn(1, 1, 3, 4), torch.randn(1, 1, 5, 4)
    ours = nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask)
    assert torch.allclose(nn.functional.scaled_dot_product_attention(q, k, k, is_causal=True), ours, atol=1e-6)


def test_what_sixteen_bits_hold(words: str, printed: str) -> None:
    assert f"about {torch.finfo(torch.bfloat16).max:.2e}".replace("e+", "e") in words
    assert torch.finfo(torch.float16).max == 65504
    for kind, last in ((torch.bfloat16, 256), (torch.float16, 2048)):
        whole = torch.arange(last + 2).to(kind).long()
        assert torch.equal(whole[: last + 1], torch.arange(last + 1))
        assert whole[last + 1] == last
    assert torch.tensor(102400.0).half().isinf()
    assert "257: bfloat16 256, float16 257\n2049: bfloat16 2048, float16 2048\n" in printed
    assert "102400: bfloat16 102400, float16 inf" in printed
    assert (64 * 40 * 40, 64 * 40 * 40 / 8, 40 / 8, 64 * 5 * 40) == (102400, 12800, 5, 12800)
    coarse, exact = (row(x).replace(" | ", " ") for x in (in_sixteen_bits(), (weights(Q, K, CAUSAL) @ V)[1]))
    assert f"*cat* gets `[{coarse}]` where float32 has `[{exact}]`" in words


def test_training_in_sixteen_bits(words: str) -> None:
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    assert float(one + 0.001) == 1
    assert f"the next number above 1 is {1 + torch.finfo(torch.bfloat16).eps:.4f}" in words
    assert torch.finfo(torch.bfloat16).tiny < 1.2e-38
    assert float(torch.tensor(3.1e-8).half()) > 0
    assert [float(torch.tensor(small).half()) for small in (1e-8, 2.9e-8)] == [0, 0]
    assert float(torch.tensor(1e-8 * 1024).half()) == pytest.approx(1e-5, rel=0.05)


def test_a_mask_of_one_axis_is_refused_by_the_built_in() -> None:
    q, k, v = (torch.from_numpy(x).float()[None, None] for x in (Q, K, V))
    with pytest.raises(IndexError):
        nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(5, dtype=torch.bool))


def test_what_was_measured_on_a_gpu(words: str) -> None:
    table = measured()
    assert list(table) == [512, 1024, 2048, 4096, 8192]
    first, last = table[512], table[8192]
    assert f"goes from {first.manual_mib:g} to {last.manual_mib:g} MiB" in words
    assert f"the fused version from {first.fused_mib:g} to {last.fused_mib:g} MiB" in words
    assert f"it took {last.fused_ms:.3f} ms on an H200, and the manual version {last.manual_ms:.3f} ms" in words
    assert f"on an H200 only from {first.manual_ms} to {table[1024].manual_ms} ms" in words


def test_the_cells_of_the_solution_run(printed: str) -> None:
    assert "causal weights of cat: [0.8176, 0.1824, 0.0, 0.0, 0.0]" in printed
    assert "torch.bfloat16 output of cat, causal: [0.8164, 0.1826, 0.0, 0.0]" in printed
    assert "n = 1024: manual 16.5 MiB, fused 0.5 MiB" in printed or torch.cuda.is_available()


def test_the_solution_keeps_the_names_of_a_namedtuple(solution: dict[str, Any]) -> None:
    Pair = namedtuple("Pair", "tokens mask")
    moved = solution["move_batch"]([Pair(torch.ones(2), None)], "meta")
    assert type(moved[0]) is Pair
    assert moved[0].tokens.device.type == "meta"


@pytest.mark.exhaustive
def test_the_stub_runs_up_to_the_first_function_to_be_written(module: Module) -> None:
    done = subprocess.run([sys.executable, str(module.stub)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pick_device" in done.stderr
    assert done.stderr.strip().endswith("NotImplementedError")
