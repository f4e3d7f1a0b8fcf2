"""Samples: one measured call each, asked of a worker and taken from it without believing a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.complexity.contract import METERS
from grader.core.safe_text import one_line

PLACES = 1_000_000  # a place in the student's code is file · PLACES + line
MAX_PLACES = 1_000  # lines of code that one function reaches; each may have a polynomial of its own
_NAME = re.compile(r"[\w.@ ]{1,60}")


@dataclass(frozen=True)
class Sample:
    """One measured call: counts by meter, by place in the code, and what was called that has a name of its own."""

    counts: Mapping[str, int]
    lines: Mapping[str, Mapping[int, int]]
    unknown: Mapping[str, int]
    events: Mapping[str, int]
    value: Any


class MalformedSampleError(Exception):
    """A worker's answer that is no measurement."""


def read_samples(answer: object) -> tuple[list[str], list[Sample]]:
    """Return the files and the samples of a worker's answer."""
    if type(answer) is not dict or type(answer.get("calls")) is not list or type(answer.get("files")) is not list:
        raise MalformedSampleError
    files = answer["files"]
    if not all(type(file) is str for file in files):
        raise MalformedSampleError
    return [one_line(file)[:200] for file in files], [_sample(call) for call in answer["calls"]]


def argument(spec: str, names: Mapping[str, int], rng: np.random.Generator) -> Any:
    """Make one argument as a contract describes it, such as `array n d`."""
    kind, *parts = spec.split()
    if kind == "value":
        return float(parts[0])
    sizes = [names.get(part) or int(part) for part in parts]
    match kind:
        case "array":
            return rng.normal(size=sizes)
        case "tensor" | "tensormask":
            import torch

            return torch.from_numpy(rng.normal(size=sizes)).float() if kind == "tensor" else torch.ones(*sizes) > 0
        case "none":
            return None
        case "true":
            return True
        case "mask":
            return np.ones(sizes, dtype=bool)  # what a loop leaves out would make its cost depend on chance
        case "size":
            return sizes[0]
        case _:  # lengths
            return [sizes[1] - 1] * sizes[0]


def _sample(call: object) -> Sample:
    if type(call) is not dict or call.keys() != {"value", "lines", "counts", "unknown", "events"}:
        raise MalformedSampleError
    counts, lines = _numbers(call["counts"], str), call["lines"]
    if counts.keys() != set(METERS) or type(lines) is not dict or lines.keys() != set(METERS):
        raise MalformedSampleError
    by_line = {meter: _numbers(lines[meter], int) for meter in METERS}
    unknown, events = (_named(_numbers(call[key], str)) for key in ("unknown", "events"))
    return Sample(counts, by_line, unknown, events, call["value"])


def _numbers(table: object, key: type) -> dict[Any, int]:
    """Return a table of whole numbers; places, too, are not below 0."""
    if type(table) is not dict or len(table) > MAX_PLACES:
        raise MalformedSampleError
    for name, value in table.items():
        if type(name) is not key or type(value) is not int or not 0 <= value < 1 << 62:
            raise MalformedSampleError
        if type(name) is int and name < 0:
            raise MalformedSampleError
    return table


def _named(table: dict[str, int]) -> dict[str, int]:
    """Return the names of calls; one that no function of a library has is the student's own, and stays with them."""
    return {name if _NAME.fullmatch(name) else "something of its own": at for name, at in table.items()}
