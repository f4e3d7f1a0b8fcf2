"""Costs in tiles: exact where tiles divide the size, bounded where the last one is cut."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.complexity.contract import Contract
from grader.complexity.contract_reader import read_contracts
from grader.complexity.growth import rays_of
from grader.complexity.polynomial import Lattice, from_tiles, in_tiles, parse_polynomial
from grader.complexity.secret_sizes import at_secret_sizes
from grader.course.module import Backend
from grader.sandbox.jail.spawner import Spawner
from tests.complexity.measuring import failed, line_of, measure, verdicts
from tests.conftest import DATA

NAMES, TILES = ("n", "b", "d"), (1, None, None)
COURSE = DATA / "courses" / "tiles"
SOLUTION = (COURSE / "solutions" / "01_tiles" / "tiles.py").read_text()
TABLE: dict[str, Any] = tomllib.loads((COURSE / "modules" / "01_tiles" / "module.toml").read_text())["complexity"]
HEAD = "def tiled_sum(Q, K, block):\n"


def contract(**change: Any) -> Contract:
    (found,) = read_contracts(Path("m"), {"tiled_sum": TABLE["tiled_sum"] | change})
    return found


def measured(spawners: dict[Backend, Spawner], code: str, function: str = "tiled_sum") -> Any:
    return measure(spawners["numpy"], {function: TABLE[function]}, SOLUTION, code)[function]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("n/b", "n/b"),
        ("n^2/b^2", "n²/b²"),
        ("b^2 + b*d + n*d", "n·d + b² + b·d"),
        ("n^2*d/2 + n*b*d/2", "(1/2)·n²·d + (1/2)·n·b·d"),
        ("n*b/b", "n"),
    ],
)
def test_a_limit_in_tiles_is_read_and_written(text: str, written: str) -> None:
    assert sorted(str(parse_polynomial(text, NAMES, TILES)).split(" + ")) == sorted(written.split(" + "))


@pytest.mark.parametrize("text", ["n/d", "n/b^2", "1/b", "b/n"])
def test_only_a_size_by_its_tile_can_be_divided(text: str) -> None:
    with pytest.raises(ValueError, match="divides by a size"):
        parse_polynomial(text, NAMES, TILES)


def test_tiles_are_counted_with_those_that_are_cut() -> None:
    assert in_tiles((96, 8, 3), TILES) == (12, 8, 3)
    assert in_tiles((97, 8, 3), TILES) == (13, 8, 3)
    assert in_tiles((5, 8, 3), TILES) == (1, 8, 3)
    assert from_tiles((12, 8, 3), TILES) == (96, 8, 3)
    assert parse_polynomial("n/b", NAMES, TILES).at((97, 8, 3)) == 13


def test_neither_of_two_products_with_a_size_is_part_of_the_other() -> None:
    bound = parse_polynomial("b^2 + b*d + n*d", NAMES, TILES)
    assert parse_polynomial("5*n*d + n + 7*b^2 + b", NAMES, TILES).beyond(bound) == {}
    assert str(parse_polynomial("n*b", NAMES, TILES)) in str(parse_polynomial("n*b + n*d", NAMES, TILES))
    assert parse_polynomial("n*b + n*d", NAMES, TILES).beyond(bound) == {(1, 2, 0): Fraction(1)}


def test_the_tiles_below_a_diagonal_are_found_exactly() -> None:
    lattice = Lattice(NAMES, (2, 2, 2), (1, 1, 1), 6, tiles=TILES)
    points = lattice.points()

    def count(index: tuple[int, ...]) -> int:
        n, b, d = points[index]
        return sum(b * b * d for i in range(0, n, b) for _ in range(0, i + 1, b))

    assert lattice.interpolate(count) == parse_polynomial("n^2*d/2 + n*b*d/2", NAMES, TILES)


def test_secret_sizes_are_multiples_of_the_tile_except_the_ragged_ones() -> None:
    for seed in range(20):
        secret = at_secret_sizes(contract(), seed)
        assert all(n % b == 0 for n, b, _ in (*secret.large, *secret.far, *secret.farthest))
        assert all(n % b for n, b, _ in secret.ragged)
        assert any(n < b for n, b, _ in secret.ragged)
    assert all(n % b == 0 for ray in rays_of(contract()) for n, b, _ in ray.sizes())


ALL_KEYS = f"""
{HEAD}    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        scores = Q[i : i + block] @ K.T  # <-- here
        sums[i : i + block] = np.sum(scores**2, axis=1)
    return sums
"""
PADS = f"""
{HEAD}    n, d = Q.shape
    padded = -(-n // block) * block
    P, R = np.zeros((padded, d)), np.zeros((padded, d))
    P[:n], R[:n] = Q, K
    sums = np.zeros(padded)
    for i in range(0, padded, block):
        for j in range(0, padded, block):
            sums[i : i + block] += ((P[i : i + block] @ R[j : j + block].T) ** 2).sum(axis=1)
    return sums[:n]
"""
REST_APART = f"""
{HEAD}    whole = len(Q) // block * block
    starts = [*range(0, whole, block), *([whole] if whole < len(Q) else [])]
    sums = np.zeros(len(Q))
    for i in starts:
        total = 0.0
        for j in starts:
            scores = np.einsum("nd,md->nm", Q[i : i + block], K[j : j + block])
            total = total + np.einsum("nm,nm->n", scores, scores)
        sums[i : i + block] = total
    return sums
"""
TABLE_IF_RAGGED = f"""
tiled = tiled_sum

{HEAD}    if len(Q) % block:
        return np.sum((Q @ K.T) ** 2, axis=1)
    return tiled(Q, K, block)
"""
TWICE_IF_RAGGED = f"""
tiled = tiled_sum

{HEAD}    if len(Q) % block:
        return (tiled(Q, K, block) + tiled(Q, K, block)) / 2
    return tiled(Q, K, block)
"""


@pytest.mark.parametrize("code", ["", PADS, REST_APART])
def test_right_ways_to_cut_the_last_tile_keep_every_limit(spawners: dict[Backend, Spawner], code: str) -> None:
    assert verdicts(measured(spawners, code)) == {}


def test_all_keys_at_once_are_more_memory_than_a_tile(spawners: dict[Backend, Spawner]) -> None:
    found = failed(measured(spawners, ALL_KEYS))
    assert set(found) == {"mem"}
    assert "n·b is more than" in found["mem"].message
    place = found["mem"].place
    assert place is not None
    assert line_of("# <-- here", SOLUTION, ALL_KEYS) <= place.line <= line_of("# <-- here", SOLUTION, ALL_KEYS) + 1


@pytest.mark.parametrize(("code", "meter"), [(TABLE_IF_RAGGED, "mem"), (TWICE_IF_RAGGED, "mul")])
def test_code_that_gives_up_tiles_where_the_last_is_cut_fails(
    spawners: dict[Backend, Spawner], code: str, meter: str
) -> None:
    found = failed(measured(spawners, code))
    assert found[meter].verdict == "fail"
    assert "where the last tile is cut" in found[meter].message


def test_too_few_tiles_are_found_exactly(spawners: dict[Backend, Spawner]) -> None:
    """Half of a table, where all of it is asked for, has the right results only if it is symmetric."""
    table = {
        "tiled_sum": TABLE["tiled_sum"]
        | {"args": ["array n d", "array n d", "size b"], "mul": {"law": "2*n^2*d", "exact": 1}}
    }
    found = failed(measure(spawners["numpy"], table, SOLUTION)["tiled_sum"])
    assert found["mul"].too_little


TWO_BLOCKS = """
import numpy as np

def pairs(Q, K, block_q, block_k):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        for j in range(0, len(K), block_k):
            sums[i : i + block_q] += np.sum(Q[i : i + block_q] @ K[j : j + block_k].T, axis=1)
    return sums
"""


def test_tiles_of_two_sizes_are_counted_together(spawners: dict[Backend, Spawner]) -> None:
    table = {
        "args": ["array n d", "array n d", "size b", "size 2*b"],
        "sizes": {"n": ["2*b", "2*b"], "b": [2, 1], "d": [2, 1]},
        "large": [{"n": 96, "b": 8, "d": 3}, {"n": 16, "b": 4, "d": 40}],
        "points": 3,
        "steps": {"law": "n^2/b^2/2", "exact": 1},
        "mul": {"law": "n^2*d", "exact": 1},
        "mem": "n*d + b^2 + b*d",
    }
    assert verdicts(measure(spawners["numpy"], {"pairs": table}, TWO_BLOCKS)["pairs"]) == {}


BOTH = """
import numpy as np

def pairs(Q, K, block, causal=False):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        for j in range(0, i + 1 if causal else len(K), block):
            scores = Q[i : i + block] @ K[j : j + block].T
            sums[i : i + block] += np.sum(np.tril(scores, i - j) if causal else scores, axis=1)
    return sums
"""
NOT_SKIPPED = """
def pairs(Q, K, block, causal=False):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        for j in range(0, len(K), block):
            scores = Q[i : i + block] @ K[j : j + block].T  # <-- here
            sums[i : i + block] += np.sum(np.tril(scores, i - j) if causal else scores, axis=1)
    return sums
"""
PAIRS: dict[str, Any] = {
    "args": ["array n d", "array n d", "size b"],
    "sizes": {"n": ["2*b", "b"], "b": [2, 1], "d": [2, 1]},
    "large": [{"n": 96, "b": 8, "d": 3}, {"n": 12, "b": 4, "d": 40}],
    "points": 1,
    "mul": {"law": "n^2*d", "exact": 1},
}
CAUSAL_PAIRS = PAIRS | {
    "args": ["array n d", "array n d", "size b", "true"],
    "mul": {"law": "n^2*d/2 + n*b*d/2", "exact": 1},
}


def test_each_contract_of_a_function_is_measured_with_its_own_arguments(spawners: dict[Backend, Spawner]) -> None:
    table = {"pairs": PAIRS, "pairs (causal)": CAUSAL_PAIRS}
    right = measure(spawners["numpy"], table, BOTH)
    assert {name: verdicts(found) for name, found in right.items()} == {"pairs": {}, "pairs (causal)": {}}
    wrong = measure(spawners["numpy"], table, BOTH, NOT_SKIPPED)
    assert verdicts(wrong["pairs"]) == {}
    cost = failed(wrong["pairs (causal)"])["mul"]
    assert (cost.function, cost.target) == ("pairs (causal)", "pairs")
    assert cost.place is not None
    assert cost.place.line == line_of("# <-- here", BOTH, NOT_SKIPPED)
