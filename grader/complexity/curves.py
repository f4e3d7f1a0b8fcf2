"""Curves and tables of a function's cost over the sizes that grow."""

from __future__ import annotations

from dataclasses import dataclass

from grader.complexity.contract import Contract
from grader.complexity.plot import Curve
from grader.complexity.polynomial import Polynomial
from grader.complexity.tiling import Sizes

WIDTH = 64  # of every size that does not grow
BATCH = "b"  # the size of the batch, which is always one here
CURVE = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
TABLE = (16, 32, 64, 128, 256, 2048)
FLOAT32 = 4


@dataclass(frozen=True)
class Row:
    """One row of the table that the lessons ask for. `ratio` is to the row above."""

    n: int
    count: int
    ratio: float | None
    entries: int | None
    bytes: int | None


def growing(contract: Contract, measured: Polynomial | None = None, bound: Polynomial | None = None) -> tuple[str, ...]:
    """Return the sizes to vary: those of tokens, whose names start with n, or all sizes if none does.

    Where a cost grows beyond its limit with other sizes, these are varied. A plot over tokens would not show it.
    """
    names = contract.lattice.names
    tokens = tuple(name for name in names if name.startswith("n")) or names
    if measured is None or bound is None:
        return tokens
    beyond = {
        name
        for powers in measured.beyond(bound)
        for at, name in enumerate(names)
        if powers[at] > max(allowed[at] for allowed in bound.terms)
    }
    if not beyond <= set(tokens):
        return tuple(name for name in names if name in beyond)
    used = {name for powers in measured.terms for name, power in zip(names, powers, strict=True) if power}
    return tokens if used & set(tokens) or not used else tuple(name for name in names if name in used)


def sizes_at(contract: Contract, n: int, grows: tuple[str, ...]) -> Sizes:
    """Return the sizes of an input where the sizes that grow are n."""
    return tuple(n if name in grows else 1 if name == BATCH else WIDTH for name in contract.lattice.names)


def fixed_sizes(contract: Contract, grows: tuple[str, ...]) -> dict[str, int]:
    """Return the sizes that stay the same while others grow."""
    at = sizes_at(contract, 0, grows)
    return {name: size for name, size in zip(contract.lattice.names, at, strict=True) if name not in grows}


def curve(name: str, mark: str, polynomial: Polynomial, contract: Contract, grows: tuple[str, ...]) -> Curve:
    """Return the curve of a polynomial over the sizes that grow."""
    return Curve(name, mark, tuple((n, float(polynomial.at(sizes_at(contract, n, grows)))) for n in CURVE))


def doubling(polynomial: Polynomial, contract: Contract, grows: tuple[str, ...]) -> float:
    """Return the factor by which the count grows from 1024 to 2048."""
    less, more = (float(polynomial.at(sizes_at(contract, n, grows))) for n in (1024, 2048))
    return more / less if less else 1.0


def table(polynomial: Polynomial, contract: Contract, grows: tuple[str, ...]) -> list[Row]:
    """Return the counts for the lesson's numbers of tokens, and the size of the weights where there are any."""
    pairs = sum(name.startswith("n") for name in grows) > 1
    rows: list[Row] = []
    for n in TABLE:
        count = int(polynomial.at(sizes_at(contract, n, grows)))
        ratio = count / rows[-1].count if rows and rows[-1].count else None
        rows.append(Row(n, count, ratio, n * n if pairs else None, FLOAT32 * n * n if pairs else None))
    return rows
