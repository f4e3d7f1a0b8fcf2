"""Polynomials: read from text, found from counts, and compared."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from grader.complexity.growth import degree_of
from grader.complexity.polynomial import Lattice, Polynomial, parse_polynomial

NAMES = ("n", "d")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1", "1"),
        ("n", "n"),
        ("2*n^2*d + n*d + 3", "2·n²·d + n·d + 3"),
        ("n*n*d", "n²·d"),
        ("n + n", "2·n"),
        ("d^3", "d³"),
    ],
)
def test_a_polynomial_is_read_and_written(text: str, written: str) -> None:
    assert str(parse_polynomial(text, NAMES)) == written


@pytest.mark.parametrize(
    ("text", "words"), [("n*k", "is not a size"), ("n-1", "neither a number nor a size"), ("", "''")]
)
def test_text_that_is_not_a_polynomial_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_polynomial(text, NAMES)


@pytest.mark.parametrize(
    "text",
    ["7", "n", "2*n^2*d + 5*n^2 + 2*n", "n^3 + 5*n^2*d + n*d", "d^3 + n^3 + 1", "4*n^2*d^2 + n^4"],
)
@pytest.mark.parametrize(("base", "step"), [((2, 2), (1, 1)), ((8, 4), (4, 3))])
def test_the_polynomial_behind_counts_is_found_exactly(text: str, base: tuple[int, int], step: tuple[int, int]) -> None:
    lattice = Lattice(NAMES, base, step, degree=4)
    points = lattice.points()
    wanted = parse_polynomial(text, NAMES)
    found = lattice.interpolate(lambda index: int(wanted.at(points[index])))
    assert found == wanted
    assert found.at((123, 77)) == wanted.at((123, 77))


def test_fractions_and_negative_terms_are_found_and_written() -> None:
    lattice = Lattice(("n",), (2,), (1,), degree=3)
    points = lattice.points()
    found = lattice.interpolate(lambda index: points[index][0] * (points[index][0] - 1) // 2)
    assert str(found) == "(1/2)·n² - (1/2)·n"
    assert found.terms == {(2,): Fraction(1, 2), (1,): Fraction(-1, 2)}
    assert Polynomial.from_data(("n",), found.as_data()) == found


def test_an_upper_bound_allows_smaller_and_negative_terms() -> None:
    bound = parse_polynomial("n^2*d", NAMES)
    assert parse_polynomial("5*n^2*d + 3*n*d + n^2 + 9", NAMES).beyond(bound) == {}
    assert parse_polynomial("n^2*d + n^3 + d^2", NAMES).beyond(bound) == {(3, 0): 1, (0, 2): 1}
    assert Polynomial(NAMES, {(2, 1): Fraction(1), (3, 0): Fraction(-1)}).beyond(bound) == {}


def test_growth_is_measured_at_the_larger_sizes() -> None:
    def degree(count: Callable[[int], int]) -> float:
        return degree_of([count(k) for k in range(1, 13)])

    assert degree(lambda k: 5 + 0 * k) == 0
    assert degree(lambda k: 3 * k + 1) == 1
    assert degree(lambda k: k**3 - k) == 3
    assert degree(lambda k: k if k < 6 else k * k) == 2  # works differently at small sizes
    assert degree(lambda k: max(50, 7 * k)) == 1  # a peak of memory
    assert 1.2 < degree(lambda k: int(k**1.5)) < 1.8  # not a polynomial
