"""Polynomials in the sizes of an input, with exact fractions as coefficients.

The cost of code that works tile by tile is a polynomial in the number of tiles and the size of a tile, where the tile
divides the size. It is none in the size itself. So a size `n` with tiles of `b` is counted as `n/b`, rounded up. Then
`n·d` is `(n/b)·b·d` and `n·b` is `(n/b)·b²`, and neither of them is part of the other.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from types import MappingProxyType

Powers = tuple[int, ...]
Sizes = tuple[int, ...]
Tiles = tuple[int | None, ...]  # for each size, the place of the size of its tiles; empty if no size has tiles
_FACTOR = re.compile(r"(?P<number>\d+)|(?P<name>[a-z]\w*)(?:\^(?P<power>\d))?")
_OPERATOR = re.compile(r"([*/])")
NO_CONSTANTS: Mapping[str, int] = MappingProxyType({})
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def in_tiles(sizes: Sequence[int], tiles: Tiles) -> Sizes:
    """Return sizes with the number of tiles in place of each size that has tiles; a cut tile is one."""
    if not tiles:
        return tuple(sizes)
    return tuple(size if tile is None else -(-size // sizes[tile]) for size, tile in zip(sizes, tiles, strict=True))


def from_tiles(counted: Sequence[int], tiles: Tiles) -> Sizes:
    """Return the sizes in which every tile is complete."""
    if not tiles:
        return tuple(counted)
    return tuple(count if tile is None else count * counted[tile] for count, tile in zip(counted, tiles, strict=True))


def without_cut_tiles(sizes: Sequence[int], tiles: Tiles) -> Sizes:
    """Return sizes that end where their last complete tile ends."""
    return tuple(
        size if tile is None else size // sizes[tile] * sizes[tile] for size, tile in zip(sizes, tiles, strict=True)
    )


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials: a coefficient other than 0 for each tuple of powers, in the order of the names.

    The power of a size that has tiles is that of their number.
    """

    names: tuple[str, ...]
    terms: Mapping[Powers, Fraction]
    tiles: Tiles = ()

    def at(self, sizes: Sequence[int]) -> Fraction:
        """Return its value for these sizes."""
        return sum((self.term(powers, sizes) for powers in self.terms), start=Fraction(0))

    def term(self, powers: Powers, sizes: Sequence[int]) -> Fraction:
        """Return the value of one of its terms."""
        counted = in_tiles(sizes, self.tiles)
        value: int = prod(size**power for size, power in zip(counted, powers, strict=True))
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
    def from_data(names: tuple[str, ...], data: Mapping[str, str], tiles: Tiles = ()) -> Polynomial:
        """Return what `as_data` wrote."""
        terms = {tuple(map(int, key.split(","))): Fraction(value) for key, value in data.items()}
        return Polynomial(names, terms, tiles)

    def __str__(self) -> str:
        """Return the polynomial as the lessons write it, the largest powers first: `2·n²·d + 3·n`."""
        order = sorted(self.terms, key=lambda powers: (-sum(powers), [-power for power in powers]))
        text = " + ".join(_written(self.terms[powers], self.monomial(powers)) for powers in order)
        return text.replace("+ -", "- ") or "0"

    def monomial(self, powers: Powers) -> str:
        """Return one product of powers as text, such as `n²·d` or `n/b`; empty for the constant."""
        of_sizes = list(powers)
        for power, tile in zip(powers, self.tiles, strict=False):
            if tile is not None:
                of_sizes[tile] -= power
        above = "·".join(_power(name, power) for name, power in zip(self.names, of_sizes, strict=True) if power > 0)
        below = "".join(
            f"/{_power(name, -power)}" for name, power in zip(self.names, of_sizes, strict=True) if power < 0
        )
        return above + below


def parse_polynomial(
    text: str, names: tuple[str, ...], tiles: Tiles = (), constants: Mapping[str, int] = NO_CONSTANTS
) -> Polynomial:
    """Read a polynomial such as `2*n^2*d + n` or `n/b`. A ValueError says what cannot be read."""
    terms: dict[Powers, Fraction] = {}
    for term in text.split("+"):
        factor, powers, sign = Fraction(1), [0] * len(names), 1
        for part in _OPERATOR.split(term):
            if part in ("*", "/"):
                sign = 1 if part == "*" else -1
                continue
            matched = _FACTOR.fullmatch(part.strip())
            if matched is None:
                raise ValueError(f"{part.strip()!r} in {text!r} is neither a number nor a size")
            name, power = matched["name"], sign * int(matched["power"] or 1)
            if sign < 0 and matched["number"] and not int(matched["number"]):
                raise ValueError(f"{text!r} divides by 0")
            if name is None or name in constants:
                factor *= Fraction(constants[name] if name else int(matched["number"])) ** power
            elif name not in names:
                raise ValueError(f"{name} in {text!r} is not a size of this function ({', '.join(names)})")
            else:
                powers[names.index(name)] += power
        key = _of_tiles(powers, tiles)
        if min(key, default=0) < 0:
            raise ValueError(f'{term.strip()!r} divides by a size: only n/b can, where sizes has n = ["b", "b"]')
        terms[key] = terms.get(key, Fraction(0)) + factor
    return Polynomial(names, terms, tiles)


def _of_tiles(powers: Sequence[int], tiles: Tiles) -> Powers:
    """Return the powers of a product of sizes as powers of numbers of tiles."""
    found = list(powers)
    for power, tile in zip(powers, tiles, strict=False):
        if tile is not None:
            found[tile] += power
    return tuple(found)


def _power(name: str, power: int) -> str:
    return f"{name}{str(power).translate(_SUPERSCRIPT) if power > 1 else ''}"


@dataclass(frozen=True)
class Lattice:
    """The fewest sizes from which a polynomial of a degree can be found: base + step · index.

    `highest` limits the power of each variable, so that fewer sizes are enough. Base and step of a size with tiles are
    numbers of tiles.
    """

    names: tuple[str, ...]
    base: Sizes
    step: Sizes
    degree: int
    highest: Powers | None = None
    tiles: Tiles = ()

    def points(self) -> dict[Powers, Sizes]:
        """Return the sizes to measure, by index."""
        return {index: self.at(index) for index in self.indices()}

    def at(self, index: Sequence[int]) -> Sizes:
        """Return the sizes of an index."""
        counted = tuple(b + s * i for b, s, i in zip(self.base, self.step, index, strict=True))
        return from_tiles(counted, self.tiles)

    def indices(self) -> tuple[Powers, ...]:
        return _indices(self.highest or (self.degree,) * len(self.names), self.degree)

    def interpolate(self, count: Callable[[Powers], int]) -> Polynomial:
        """Return the only polynomial of this degree with these counts, exactly, by Newton's forward differences."""
        terms: dict[Powers, Fraction] = {}
        for index, difference in _differences(self.indices(), count).items():
            if difference:
                for powers, factor in _basis(index, self.base, self.step).items():
                    terms[powers] = terms.get(powers, Fraction(0)) + difference * factor
        return Polynomial(self.names, {powers: factor for powers, factor in terms.items() if factor}, self.tiles)


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
