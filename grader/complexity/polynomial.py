"""Polynomials in the sizes of an input, with exact fractions as coefficients."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod

Powers = tuple[int, ...]
Sizes = tuple[int, ...]
_FACTOR = re.compile(r"(?P<number>\d+)|(?P<name>[a-z]\w*)(?:\^(?P<power>\d))?")
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials: a coefficient other than 0 for each tuple of powers, in the order of the names."""

    names: tuple[str, ...]
    terms: Mapping[Powers, Fraction]

    def at(self, sizes: Sequence[int]) -> Fraction:
        """Return its value for these sizes."""
        return sum((self.term(powers, sizes) for powers in self.terms), start=Fraction(0))

    def term(self, powers: Powers, sizes: Sequence[int]) -> Fraction:
        """Return the value of one of its terms."""
        value: int = prod(size**power for size, power in zip(sizes, powers, strict=True))
        return self.terms[powers] * value

    @property
    def degree(self) -> int:
        """The largest sum of powers."""
        return max((sum(powers) for powers in self.terms), default=0)

    def beyond(self, bound: Polynomial) -> dict[Powers, Fraction]:
        """Return the positive terms that no term of an upper bound dominates: those that it does not allow."""
        return {
            powers: factor
            for powers, factor in self.terms.items()
            if factor > 0 and not any(_divides(powers, allowed) for allowed in bound.terms)
        }

    def leading(self) -> dict[Powers, Fraction]:
        """Return the terms that no other term dominates."""
        return {
            powers: factor
            for powers, factor in self.terms.items()
            if not any(powers != other and _divides(powers, other) for other in self.terms)
        }

    def as_data(self) -> dict[str, str]:
        """Return the powers and coefficients as text, for a file."""
        return {",".join(map(str, powers)): str(factor) for powers, factor in sorted(self.terms.items())}

    @staticmethod
    def from_data(names: tuple[str, ...], data: Mapping[str, str]) -> Polynomial:
        """Return what `as_data` wrote."""
        return Polynomial(names, {tuple(map(int, key.split(","))): Fraction(value) for key, value in data.items()})

    def __str__(self) -> str:
        """Return the polynomial as the lessons write it, the largest powers first: `2·n²·d + 3·n`."""
        order = sorted(self.terms, key=lambda powers: (-sum(powers), [-power for power in powers]))
        text = " + ".join(_written(self.terms[powers], self.monomial(powers)) for powers in order)
        return text.replace("+ -", "- ") or "0"

    def monomial(self, powers: Powers) -> str:
        """Return one product of powers as text, such as `n²·d`; empty for the constant."""
        parts = zip(self.names, powers, strict=True)
        return "·".join(
            f"{name}{str(power).translate(_SUPERSCRIPT) if power > 1 else ''}" for name, power in parts if power
        )


def parse(text: str, names: tuple[str, ...]) -> Polynomial:
    """Read a polynomial such as `2*n^2*d + n`. A ValueError says what cannot be read."""
    terms: dict[Powers, Fraction] = {}
    for term in text.split("+"):
        factor, powers = Fraction(1), [0] * len(names)
        for part in term.split("*"):
            matched = _FACTOR.fullmatch(part.strip())
            if matched is None:
                raise ValueError(f"{part.strip()!r} in {text!r} is neither a number nor a size")
            if matched["number"]:
                factor *= int(matched["number"])
            elif matched["name"] not in names:
                raise ValueError(f"{matched['name']} in {text!r} is not a size of this function ({', '.join(names)})")
            else:
                powers[names.index(matched["name"])] += int(matched["power"] or 1)
        key = tuple(powers)
        terms[key] = terms.get(key, Fraction(0)) + factor
    return Polynomial(names, terms)


@dataclass(frozen=True)
class Lattice:
    """The fewest sizes from which a polynomial of a degree can be found: base + step · index.

    `highest` limits the power of each variable, so that fewer sizes are enough.
    """

    names: tuple[str, ...]
    base: Sizes
    step: Sizes
    degree: int
    highest: Powers | None = None

    def points(self) -> dict[Powers, Sizes]:
        """Return the sizes to measure, by index."""
        return {
            index: tuple(b + s * i for b, s, i in zip(self.base, self.step, index, strict=True))
            for index in self.indices()
        }

    def indices(self) -> tuple[Powers, ...]:
        return _indices(self.highest or (self.degree,) * len(self.names), self.degree)

    def interpolate(self, count: Callable[[Powers], int]) -> Polynomial:
        """Return the only polynomial of this degree with these counts, exactly, by Newton's forward differences."""
        terms: dict[Powers, Fraction] = {}
        for index, difference in _differences(self.indices(), count).items():
            if difference:
                for powers, factor in _basis(index, self.base, self.step).items():
                    terms[powers] = terms.get(powers, Fraction(0)) + difference * factor
        return Polynomial(self.names, {powers: factor for powers, factor in terms.items() if factor})


def _divides(powers: Powers, other: Powers) -> bool:
    return all(a <= b for a, b in zip(powers, other, strict=True))


def _written(factor: Fraction, monomial: str) -> str:
    sign, size = "-" if factor < 0 else "", abs(factor)
    number = str(size) if size.denominator == 1 else f"({size})"
    if not monomial:
        return sign + number
    return sign + (monomial if size == 1 else f"{number}·{monomial}")


@cache
def _indices(highest: Powers, degree: int) -> tuple[Powers, ...]:
    every = itertools.product(*(range(power + 1) for power in highest))
    return tuple(sorted((index for index in every if sum(index) <= degree), key=sum))


def _differences(indices: tuple[Powers, ...], count: Callable[[Powers], int]) -> dict[Powers, int]:
    """Return the forward difference of every index, taken along one variable after another."""
    values = {index: count(index) for index in indices}
    for axis in range(len(indices[0])):
        for round_ in range(max(index[axis] for index in indices)):
            # from the top down, so that each value is replaced after its neighbour above was used
            for index in reversed(indices):
                if index[axis] > round_:
                    values[index] -= values[(*index[:axis], index[axis] - 1, *index[axis + 1 :])]
    return values


@cache
def _basis(index: Powers, base: Sizes, step: Sizes) -> dict[Powers, Fraction]:
    """Return the product of the binomials C((x - base) / step, i), one for each variable, as monomials."""
    rows = [_binomial(i, b, s) for i, b, s in zip(index, base, step, strict=True)]
    return {
        powers: prod((row[p] for row, p in zip(rows, powers, strict=True)), start=Fraction(1))
        for powers in itertools.product(*(range(len(row)) for row in rows))
        if all(row[p] for row, p in zip(rows, powers, strict=True))
    }


def _binomial(i: int, base: int, step: int) -> list[Fraction]:
    """Return C((x - base) / step, i) as coefficients of 1, x, x² …"""
    row = [Fraction(1)]
    for k in range(i):
        # multiply by ((x - base) / step - k) / (k + 1)
        constant, slope = Fraction(-base - k * step, step * (k + 1)), Fraction(1, step * (k + 1))
        row = [a * constant + b * slope for a, b in zip([*row, Fraction(0)], [Fraction(0), *row], strict=True)]
    return row
