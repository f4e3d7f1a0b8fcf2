"""Samples of tests with many cases: what the quick run tries, and what `make test-all` tries of the longest tests.

A hash of its own text and of the turn chooses a case. The turn is a hash of the engine: each change of `grader/` gives
other samples, so every case has its turn, and the same tree always runs the same cases.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

ENGINE = Path(__file__).parent.parent / "grader"
# One module of NumPy and one of PyTorch, where a test grades much of a module. Only the first is quick: PyTorch takes
# seconds to start.
QUICK = ("01_softmax", "06_multi_head_attention")

EVERY_CASE = "EVERY_CASE"  # `make test-every` sets it
TURN = "TURN"  # runs the samples of another tree: the header of pytest prints the turn

T = TypeVar("T")


def turn() -> str:
    """Return what chooses the samples."""
    return os.environ.get(TURN) or hash_of(ENGINE)


@cache
def hash_of(folder: Path) -> str:
    """Return a hash of the Python files of a folder, the same on every machine."""
    digest = hashlib.sha256()
    for name in sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py")):
        code = (folder / name).read_bytes()
        digest.update(f"{name}\0{len(code)}\0".encode() + code)
    return digest.hexdigest()[:8]


def in_turn(cases: Iterable[T], text: Callable[[T], str] = str) -> list[T]:
    """Return the cases in the order of this turn."""
    now = turn()
    return sorted(cases, key=lambda case: hashlib.sha256(f"{now}\0{text(case)}".encode()).digest())


def sample(
    cases: Sequence[T], count: int, text: Callable[[T], str] = str, kind: Callable[[T], Hashable] = lambda _: ""
) -> list[T]:
    """Return so many cases, at least one of each kind, in their own order."""
    ranked = in_turn(range(len(cases)), lambda number: text(cases[number]))
    first: dict[Hashable, int] = {}
    for number in ranked:
        first.setdefault(kind(cases[number]), number)
    ranked.sort(key=lambda number: number not in first.values())
    return [cases[number] for number in sorted(ranked[: max(count, len(first))])]


def share(count: int, every: int) -> int:
    """Return how many cases a sample has that takes one of so many."""
    return -(-count // every)


def sampled(
    cases: Sequence[T], every: int, text: Callable[[T], str] = str, kind: Callable[[T], Hashable] = lambda _: ""
) -> list[T]:
    """Return one of so many cases; with `make test-every`, all of them."""
    return list(cases) if os.environ.get(EVERY_CASE) else sample(cases, share(len(cases), every), text, kind)


def quick_or_exhaustive(names: Iterable[str]) -> list[Any]:
    """Return parameters for a test of each module; only those of the quick run are not exhaustive."""
    return [pytest.param(name, marks=() if name == QUICK[0] else pytest.mark.exhaustive) for name in names]


def some_of(names: Iterable[str], every: int, slow: Collection[str] = ()) -> list[Any]:
    """Return parameters for a test of each name; only one of so many is not exhaustive, and none of the slow ones."""
    return some_cases({name: (name,) for name in names}, every, slow)


def some_cases(cases: Mapping[str, tuple[Any, ...]], every: int, slow: Collection[str] = ()) -> list[Any]:
    """Return parameters for a test of each case, by its name; see `some_of`."""
    assert set(slow) <= cases.keys()
    quick = sample([name for name in cases if name not in slow], share(len(cases), every))
    return [
        pytest.param(*values, id=name, marks=() if name in quick else pytest.mark.exhaustive)
        for name, values in cases.items()
    ]
