"""Size expressions: the sizes of an argument in a contract, such as `n`, `2*d`, `n+1` or `e/2`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_OPERAND = r"(?:[0-9]+|[a-z]\w*)"
_EXPRESSION = re.compile(rf"{_OPERAND}(?:[-+*/]{_OPERAND})*")
_TOKEN = re.compile(rf"{_OPERAND}|[-+*/]")


class SizeError(ValueError):
    """An expression that has no value at some sizes."""


def require_expression(text: str, names: Collection[str]) -> None:
    """Raise a ValueError that says why this is not a size."""
    if not _EXPRESSION.fullmatch(text):
        raise ValueError(f"{text!r} is not a size: write n, 2*d, n+1 or e/2, without spaces")
    for token in _TOKEN.findall(text):
        if token[0].isalpha() and token not in names:
            raise ValueError(f"{token} is not one of its sizes ({', '.join(names)})")


def size_of(text: str, names: Mapping[str, int]) -> int:
    """Return the value of an expression. A SizeError names one that is negative or does not come out even."""
    whole, product, sign = 0, 1, 1
    operator = "*"
    for token in _TOKEN.findall(text):
        if token in "+-":
            whole, product, sign, operator = whole + sign * product, 1, 1 if token == "+" else -1, "*"
        elif token in "*/":
            operator = token
        else:
            value = int(token) if token[0].isdigit() else names[token]
            if operator == "/" and (value == 0 or product % value):
                raise SizeError(f"{text} is not a whole number at {_written(text, names)}: choose other sizes")
            product = product // value if operator == "/" else product * value
    whole += sign * product
    if whole < 0:
        raise SizeError(f"{text} is negative at {_written(text, names)}: choose other sizes")
    return whole


def _written(text: str, names: Mapping[str, int]) -> str:
    used = dict.fromkeys(token for token in _TOKEN.findall(text) if token in names)
    return ", ".join(f"{name} = {names[name]}" for name in used)
