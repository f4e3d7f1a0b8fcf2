"""Golden files: a bundle has one for each module, in place of the solution and the hidden suite.

A golden file is generated. It has the untouched stub, the names it requires, the points of each target, the costs of
the reference solution, and for each misconception the visible checks it fails and its results on the probes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from grader.course.api import Api, read_api
from grader.course.module import CourseError, Module

SCHEMA = 2
_HEAD, _STUB = 1 << 16, '"stub": '


@dataclass(frozen=True)
class Golden:
    """The content of a golden file."""

    stub: str
    api: Api
    targets: Mapping[str, Mapping[str, float]]
    misconceptions: Mapping[str, Mapping[str, Any]]
    costs: Mapping[str, Mapping[str, Mapping[str, str]]]  # function → meter → the reference's polynomial
    probes: Sequence[Sequence[Mapping[str, Any]]]  # for each probe its different outcomes, the reference's first
    answers: Mapping[str, str] = field(default_factory=dict)  # question under Reflect → hashes of right answers

    @property
    def stub_sha256(self) -> str:
        """The hash of the untouched stub."""
        return sha256(self.stub.encode())


def read_golden(module: Module) -> Golden:
    """Read a module's golden file."""
    try:
        return _parsed(module.golden.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SyntaxError):
        fix = "Run `attn dev build`, or unpack the bundle again"
        raise CourseError(module.golden, "", "is missing or broken", fix) from None


def read_stub(module: Module) -> str:
    """Return a module's untouched stub. It comes first in a golden file, and the rest takes long to read."""
    try:
        with module.golden.open(encoding="utf-8") as file:
            head = file.read(_HEAD)
        stub, _ = json.JSONDecoder().raw_decode(head, head.index(_STUB) + len(_STUB))
    except (OSError, ValueError):  # also for a stub that is longer
        return read_golden(module).stub
    return str(stub)


@lru_cache(maxsize=16)  # a command may ask for every module's several times
def _parsed(text: str) -> Golden:
    document = json.loads(text)
    stub = str(document["stub"])
    targets, misconceptions, costs, probes = (document[key] for key in ("targets", "misconceptions", "costs", "probes"))
    return Golden(stub, read_api(stub), targets, misconceptions, costs, probes, document.get("answers", {}))


def sha256(data: bytes) -> str:
    """Return the SHA-256 hash of some data."""
    return hashlib.sha256(data).hexdigest()
