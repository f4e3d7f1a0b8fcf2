"""Golden files: what a bundle knows about a module in place of its solution and hidden suite.

Generated from the evidence: the untouched stub, the names it asks for, the points of each target, what
the reference costs, and of each misconception which visible checks it fails and what it makes of the probes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.course.api import Api
from grader.course.module import CourseError, Module

SCHEMA = 2


@dataclass(frozen=True)
class Golden:
    """A golden file as read."""

    stub: str
    api: Api
    targets: Mapping[str, Mapping[str, float]]
    misconceptions: Mapping[str, Mapping[str, Any]]
    costs: Mapping[str, Mapping[str, Mapping[str, str]]]  # function → meter → the reference's polynomial, as data
    probes: Sequence[Sequence[Mapping[str, Any]]]  # for each probe its distinct outcomes, the reference's first

    @property
    def stub_sha256(self) -> str:
        """The hash by which an untouched stub is known."""
        return sha256(self.stub.encode())


def read_golden(module: Module) -> Golden:
    """Read a module's golden file."""
    try:
        document = json.loads(module.golden.read_text(encoding="utf-8"))
        names = document["api"]
        classes = {name: tuple(methods) for name, methods in names["classes"].items()}
        api = Api(tuple(names["functions"]), classes, tuple(names["constants"]))
        fields = (document[key] for key in ("targets", "misconceptions", "costs", "probes"))
        return Golden(str(document["stub"]), api, *fields)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        fix = "Run `attn dev build`, or unpack the bundle again"
        raise CourseError(module.golden, "", "is missing or broken", fix) from None


def sha256(data: bytes) -> str:
    """Return the hash by which a file is known."""
    return hashlib.sha256(data).hexdigest()
