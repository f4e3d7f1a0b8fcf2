"""The gap that a diagnosis shows: the wrong numbers of a public call beside the expected ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.core.compare import as_float64
from grader.core.report import Rows, ValueGap
from grader.core.safe_text import printable
from grader.diagnosis.findings import Finding
from grader.diagnosis.fingerprints import Fingerprints
from grader.diagnosis.observe import Observed
from grader.diagnosis.outcome import Side, likeness
from grader.diagnosis.wording import FEW_DIGITS, MANY_DIGITS, call_of, shown_probe

MOST_ROWS, MOST_COLUMNS = 8, 12


def value_gap(finding: Finding, prints: Fingerprints, observed: Observed) -> ValueGap | None:
    """Return the numbers that a diagnosis is about; None if they are no two arrays of one shape."""
    if finding.deviation is None or finding.deviation.side != Side.VALUE:
        return None
    number = shown_probe(finding, prints, observed)
    probe, found, expected = prints.probes[number], observed[number], prints.outcome(None, number)
    if found.ended != "returned" or expected.ended != "returned":
        return None
    part, one, other = _wrong_part(found.value, expected.value)
    yours, wanted = as_float64(one), as_float64(other)
    if yours is None or wanted is None or yours.shape != wanted.shape or not yours.size:
        return None
    columns = yours.shape[-1] if yours.ndim else 1
    tables = yours.reshape(-1, columns), wanted.reshape(-1, columns)
    row, column = _first_wrong(*tables)
    rows, across = _window(row, len(tables[0]), MOST_ROWS), _window(column, columns, MOST_COLUMNS)
    where = [part, _span("row", rows, len(tables[0])), _span("column", across, columns)]
    shown = [_rows(table[rows, across], FEW_DIGITS) for table in tables]
    if shown[0] == shown[1]:  # rounding hides the difference
        shown = [_rows(table[rows, across], MANY_DIGITS) for table in tables]
    return ValueGap(printable(call_of(probe), 400), ", ".join(filter(None, where)), *shown)


def _wrong_part(found: Any, expected: Any) -> tuple[str, Any, Any]:
    """Return the first wrong part of two results: an item of a tuple, or a gradient if the value is right."""
    if type(found) is tuple and type(expected) is tuple and len(found) == len(expected):
        # The last item is often computed first: weights go wrong before the output does.
        wrong = [at for at in reversed(range(len(expected))) if likeness(found[at], expected[at])]
        return (f"item {wrong[0]} of the tuple", found[wrong[0]], expected[wrong[0]]) if wrong else ("", None, None)
    if type(found) is dict and type(expected) is dict and "grads" in expected and "grads" in found:
        if likeness(found["value"], expected["value"]):
            return "", found["value"], expected["value"]
        arguments = enumerate(zip(found["grads"], expected["grads"], strict=False), 1)
        pairs = {f"argument {number}": pair for number, pair in arguments}
        pairs |= {
            name: (found["parameters"].get(name), expected["parameters"][name]) for name in expected["parameters"]
        }
        for name, (one, other) in pairs.items():
            if likeness(one, other):
                return f"the gradient of {name}", one, other
    return "", found, expected


def _first_wrong(yours: np.ndarray, expected: np.ndarray) -> tuple[int, int]:
    """Return the row and the column of the first number that is not as expected."""
    wrong = ~np.isclose(yours, expected, rtol=1e-5, atol=1e-6, equal_nan=True)
    row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(row), int(column)


def _window(at: int, length: int, most: int) -> slice:
    """Return a part of an axis that has a position in it."""
    start = 0 if at < most else min(at, length - most)
    return slice(start, min(length, start + most))


def _span(what: str, part: slice, length: int) -> str:
    return "" if part.stop - part.start == length else f"{what}s {part.start} to {part.stop - 1} of {length}"


def _rows(table: np.ndarray, digits: int) -> Rows:
    return tuple(tuple(f"{number:.{digits}g}" for number in row) for row in table.tolist())
