"""Right answers to the questions under Reflect, as hashes: a bundle can judge an answer without holding it.

A hash hides nothing from a student who tries every number; it only makes that slower than thinking. `docs/decisions.md`
says why it is not a key derivation of a library: the Python of a browser has none.
"""

from __future__ import annotations

import ast
import hashlib
import math
import numbers
from collections.abc import Collection, Mapping
from typing import Any

from grader.core.syntax import parse

ROUNDS, BLOCK = 16, 1 << 20  # 16 MiB are hashed: some hundredths of a second, in a browser some tenths
DIGITS = 4  # of an answer that is no whole number
_NOISE = 1e-9  # of a computed whole number
_LARGE = 1000  # an answer that is not rounded, such as 47116.96, is as good as a rounded one


def answer_hash(module: str, name: str, value: Any) -> str:
    """Return the hash of an answer. Equal numbers have equal hashes, whatever their types."""
    return _hash(module, name, canonical(value))


def is_right(hashes: Mapping[str, str], module: str, name: str, value: Any) -> bool:
    """Whether an answer is a right one; True if the module does not say which is. A question may have several."""
    if name not in hashes:
        return True
    forms = {canonical(value)}
    if is_number(value) and math.isfinite(value) and abs(value) >= _LARGE:
        forms.add(canonical(round(value)))
    return any(_hash(module, name, form) in hashes[name].split() for form in forms)


def literal_answers(text: str, names: Collection[str]) -> dict[str, Any]:
    """Return the answers that a solution writes as plain values; nothing is run."""
    found: dict[str, Any] = {}
    for node in parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.UnaryOp):
            value = ast.literal_eval(node.value)
            found |= {one.id: value for one in node.targets if isinstance(one, ast.Name) and one.id in names}
    return found


def canonical(value: Any) -> str:
    """Return one text for all answers that mean the same: numbers of any type, and texts of any case and spacing."""
    if isinstance(value, str):
        return f"text {' '.join(value.casefold().split())}"
    if not is_number(value):
        return repr(value)
    number = float(value)
    if math.isfinite(number) and math.isclose(number, round(number), rel_tol=_NOISE):
        return str(value if isinstance(value, int) else round(number))
    return f"about {number:.{DIGITS}g}"


def is_number(value: Any) -> bool:
    """Whether an answer is a number."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _hash(module: str, name: str, form: str) -> str:
    block = f"{module} {name} ".encode()
    block = block * (BLOCK // len(block))
    digest = form.encode()
    for _ in range(ROUNDS):
        digest = hashlib.sha512(digest + block).digest()
    return digest.hex()[:32]
