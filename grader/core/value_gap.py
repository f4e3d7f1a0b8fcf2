"""The gap between two results: the numbers of the student's code beside the expected ones."""

from __future__ import annotations

from dataclasses import dataclass

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ValueGap:
    """Both results of one public call as rows of numbers, of the same shape, each with at most four digits.

    `part` says which part of the results it is, if it is not everything.
    """

    call: str
    part: str
    yours: Rows
    expected: Rows
