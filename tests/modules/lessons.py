"""The search for decimals of a lesson that no test computes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from grader.course.module import Module
from tests.modules.claims import CLAIMS
from tests.modules.formulas import SCORES, TOKENS, K, Q, V, softmax, weights

__all__ = ["SCORES", "TOKENS", "K", "Q", "V", "is_rounded", "row", "softmax", "unclaimed", "weights"]

DECIMAL = re.compile(r"(?<![\w.])[−-]?\d*\.\d+")


def unclaimed(module: Module, computed: Iterable[float]) -> list[str]:
    """Return the decimals in a module's lesson, stub and hints that are not a rounded computed number."""
    claims = [abs(float(number)) for number in computed]
    claims += [abs(float(number)) for numbers in CLAIMS.get(module.name, {}).values() for number in numbers]
    pages = [module.lesson, *(path for path in module.beside_lesson if path.suffix == ".md")]
    written = [number for path in (*pages, module.stub, module.hints) for number in DECIMAL.findall(path.read_text())]
    assert written, f"{module.name} has no decimals at all"
    return [number for number in written if not any(is_rounded(number, claim) for claim in claims)]


def row(cells: Iterable[float]) -> str:
    """Return numbers in the format of the lessons' tables: four decimals, no leading zero, plain integers."""
    return " | ".join(f"{cell:.4f}".lstrip("0") if cell % 1 else f"{cell:.0f}" for cell in cells)


def is_rounded(number: str, claim: float) -> bool:
    """Whether a written number is a computed one, rounded. Signs are not compared."""
    decimals = len(number.partition(".")[2])
    return round(claim, decimals) == abs(float(number.replace("−", "-")))
