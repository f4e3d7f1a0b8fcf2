"""The golden file of a module, written from the evidence."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.authoring.evidence import ModuleEvidence
from grader.authoring.near_answers import accepted_answers
from grader.course.answers import answer_hash
from grader.course.api import read_api
from grader.course.golden import SCHEMA
from grader.course.module import Module

_ROUNDING = 1e-4  # between two machines, in float32 and through several layers
_HALF_PAIR = re.compile("[\ud800-\udfff]")  # such a character has no UTF-8: it stays an escape


def golden_data(module: Module, evidence: ModuleEvidence, stub: str, suite: Path) -> dict[str, Any]:
    """Return the content of the golden file. The hidden suite says which answers are accepted."""
    api = read_api(stub)
    targets = {target: {"visible": 0.0, "hidden": 0.0, "costs": 0.0} for target in api.targets}
    for check in evidence.checks:
        points = targets[check.target]
        points[check.suite] = round(points[check.suite] + check.points, 6)
    for contract in (one.profile.contract for one in evidence.function_costs):
        points = targets[contract.target]
        points["costs"] = round(points["costs"] + contract.points, 6)
    wrong_ways = {
        wrong.name: {
            **evidence.fingerprints.ways[wrong.name],
            "fails": [one.name for one in report.checks if one.suite == "visible" and one.outcome != "passed"],
        }
        for wrong, report in evidence.misconceptions
    }
    return {
        "schema": SCHEMA,
        "module": module.name,
        "stub": stub,
        "targets": targets,
        "costs": {
            one.profile.contract.function: {
                limit.meter: one.profile.simple[limit.meter].as_data()
                for limit in one.profile.contract.limits
                if limit.meter in one.profile.simple  # a solution that fails has none: the rules say so
            }
            for one in evidence.function_costs
        },
        "answers": answer_hashes(module, evidence.fingerprints.answers, suite),
        "misconceptions": wrong_ways,
        "probes": evidence.fingerprints.table,
    }


def answer_hashes(module: Module, answers: Mapping[str, Any], suite: Path) -> dict[str, str]:
    """Return the hashes of the answers under Reflect that a hidden suite accepts, the right one first."""
    accepted = accepted_answers(suite, answers)
    return {
        name: " ".join(answer_hash(module.name, name, value) for value in accepted[name]) for name in sorted(answers)
    }


def golden_text(data: Mapping[str, Any]) -> str:
    """Return the text of a golden file, with one entry per line, so that a change is a short diff."""
    return "{\n" + ",\n".join(f" {json.dumps(key)}: {_written(value, 1)}" for key, value in data.items()) + "\n}\n"


def _written(value: Any, depth: int) -> str:
    indent = " " * (depth + 1)
    if depth < 3 and isinstance(value, dict) and value:
        entries = [f"{indent}{json.dumps(key)}: {_written(item, depth + 2)}" for key, item in value.items()]
        return "{\n" + ",\n".join(entries) + f"\n{indent[1:]}}}"
    if depth < 3 and isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"{indent}{_written(item, depth + 1)}" for item in value) + f"\n{indent[1:]}]"
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _HALF_PAIR.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def is_fresh(module: Module, data: Mapping[str, Any]) -> bool:
    """Whether the golden file has this content. The last digits may differ between machines."""
    try:
        return _alike(json.loads(module.golden.read_text(encoding="utf-8")), json.loads(golden_text(data)))
    except (OSError, ValueError):
        return False


def _alike(one: Any, other: Any) -> bool:
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(_alike, one, other))
    if type(one) in (int, float) and type(other) in (int, float):
        return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return bool(one == other)
