"""Golden files: what a bundle knows about a module in place of its solution and hidden suite.

Generated from the evidence: the hash of the untouched stub, the names it asks for, the points of each target, for
each misconception which visible checks it fails, and what the reference costs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.api import Api, read_api
from grader.module import CourseError, Module

if TYPE_CHECKING:  # reading a golden file must not load NumPy and pytest
    from grader.evidence import Evidence

SCHEMA = 1


@dataclass(frozen=True)
class Golden:
    """A golden file as read."""

    stub_sha256: str
    api: Api
    targets: Mapping[str, Mapping[str, float]]
    misconceptions: Mapping[str, Mapping[str, object]]
    costs: Mapping[str, Mapping[str, Mapping[str, str]]]  # function → meter → the reference's polynomial, as data


def golden_text(module: Module, evidence: Evidence, stub: str) -> str:
    """Return the golden file that a stub and its evidence give."""
    api = read_api(stub)
    targets = {target: {"visible": 0.0, "hidden": 0.0, "costs": 0.0} for target in api.targets}
    for check in evidence.checks:
        points = targets[check.target]
        points[check.suite] = round(points[check.suite] + check.points, 6)
    for contract in (account.profile.contract for account in evidence.accounts):
        points = targets[contract.target]
        points["costs"] = round(points["costs"] + contract.points, 6)
    wrong_ways = {
        wrong.name: {
            "likely": wrong.likely,
            "fails": [one.name for one in report.checks if one.suite == "visible" and one.outcome != "passed"],
        }
        for wrong, report in evidence.misconceptions
    }
    document = {
        "schema": SCHEMA,
        "module": module.name,
        "stub_sha256": sha256(stub.encode()),
        "api": {"functions": api.functions, "classes": api.classes, "constants": api.constants},
        "targets": targets,
        "misconceptions": wrong_ways,
        "costs": {
            account.profile.contract.function: {
                law.meter: account.profile.polynomials[law.meter].as_data() for law in account.profile.contract.laws
            }
            for account in evidence.accounts
        },
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def read_golden(module: Module) -> Golden:
    """Read a module's golden file."""
    try:
        document = json.loads(module.golden.read_text(encoding="utf-8"))
        names = document["api"]
        classes = {name: tuple(methods) for name, methods in names["classes"].items()}
        api = Api(tuple(names["functions"]), classes, tuple(names["constants"]))
        return Golden(document["stub_sha256"], api, document["targets"], document["misconceptions"], document["costs"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        mend = "Run `attn dev build`, or unpack the bundle again"
        raise CourseError(module.golden, "", "is missing or broken", mend) from None


def sha256(data: bytes) -> str:
    """Return the hash by which an untouched stub is known."""
    return hashlib.sha256(data).hexdigest()
