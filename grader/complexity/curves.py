"""Curves and tables of a function's cost over the number of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from grader.complexity.contract import Contract
from grader.complexity.plot import Curve
from grader.complexity.polynomial import Polynomial, Sizes

WIDTH = 64  # of the vectors, while the number of tokens grows
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


def growing(contract: Contract) -> tuple[str, ...]:
    """Return the sizes that grow with the number of tokens: those whose name starts with n, or all if none does."""
    names = contract.lattice.names
    return tuple(name for name in names if name.startswith("n")) or names


def sizes_at(contract: Contract, n: int) -> Sizes:
    """Return the sizes of an input of n tokens."""
    grows = growing(contract)
    return tuple(n if name in grows else 1 if name == BATCH else WIDTH for name in contract.lattice.names)


def curve(name: str, mark: str, polynomial: Polynomial, contract: Contract) -> Curve:
    """Return the curve of a polynomial over the number of tokens."""
    return Curve(name, mark, tuple((n, float(polynomial.at(sizes_at(contract, n)))) for n in CURVE))


def doubling(polynomial: Polynomial, contract: Contract) -> float:
    """Return the factor by which the count grows from 1024 tokens to 2048."""
    less, more = (float(polynomial.at(sizes_at(contract, n))) for n in (1024, 2048))
    return more / less if less else 1.0


def table(polynomial: Polynomial, contract: Contract) -> list[Row]:
    """Return the counts for the lesson's numbers of tokens, and the size of the weights where there are any."""
    pairs = sum(name.startswith("n") for name in contract.lattice.names) > 1
    rows: list[Row] = []
    for n in TABLE:
        count = int(polynomial.at(sizes_at(contract, n)))
        ratio = count / rows[-1].count if rows and rows[-1].count else None
        rows.append(Row(n, count, ratio, n * n if pairs else None, FLOAT32 * n * n if pairs else None))
    return rows
