"""The value of a cost polynomial, as a report writes it, at one size."""

from __future__ import annotations

import re
from fractions import Fraction

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_FACTOR = re.compile(r"\(?(?P<number>\d+(?:/\d+)?)\)?|[A-Za-z_]\w*?(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹]*)")


def value_at(polynomial: str, size: int) -> float:
    """Return the value of a polynomial such as `2·n²·d - 3·n` with the same size for all letters.

    ValueError if the text is not a polynomial.
    """
    total = Fraction(0)
    for term in polynomial.replace(" - ", " + -").split(" + "):
        sign, bare = (-1, term[1:]) if term.startswith("-") else (1, term)
        value = Fraction(sign)
        for part in bare.split("·"):
            matched = _FACTOR.fullmatch(part)
            if matched is None:
                raise ValueError(f"{part!r} in {polynomial!r} is not part of a polynomial")
            value *= Fraction(matched["number"]) if matched["number"] else size ** _power(matched["power"])
        total += value
    return float(total)


def _power(text: str) -> int:
    return int(text.translate(_SUPERSCRIPT)) if text else 1
