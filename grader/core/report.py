"""The report: everything that one grading found. Every output is made from it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from grader.core.errors import EndingKind

SCHEMA = 1
Status = Literal["graded", "not_importable", "not_graded", "grader_fault"]
CheckOutcome = Literal["passed", "failed", "held_back", "not_run", "grader_fault"]
SuiteName = Literal["visible", "hidden", "gpu"]


@dataclass(frozen=True)
class CheckResult:
    """One check of one submission. `earned` is None if a grader fault left it undecided."""

    name: str
    suite: SuiteName
    target: str
    points: float
    earned: float | None
    outcome: CheckOutcome
    property: str
    message: str
    detail: str
    asserted: bool = False  # failed by an assertion of the check, not by an exception in student code; not in the JSON


@dataclass(frozen=True)
class CostResult:
    """The cost of one function on one meter, against its limit. An inconclusive one keeps its points until review."""

    target: str
    function: str
    meter: str
    law: str
    measured: str
    verdict: Literal["pass", "fail", "inconclusive"]
    points: float
    earned: float
    line: int | None
    message: str


@dataclass(frozen=True)
class ForbiddenCall:
    """A call that the module does not allow."""

    target: str
    call: str
    line: int
    why: str


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a target, in words for the student. `misconception` is its name, if it is a known one."""

    target: str
    misconception: str | None
    message: str
    line: int | None
    function: str = ""  # the function or method that `attn hint` explains; not in the JSON


@dataclass(frozen=True)
class EndingRecord:
    """A worker that ended early, and the check it ended in."""

    kind: EndingKind
    during: str


@dataclass(frozen=True)
class Report:
    """The result of one submission for one module. Only `timing` differs between two gradings.

    `message` tells the student why there are no checks to show. `score` is None unless the submission was graded or
    could not be imported, so that a grader fault is never a 0.
    """

    module: str
    submission: str
    file: str
    status: Status
    score: float | None
    max_score: float
    message: str
    checks: tuple[CheckResult, ...]
    costs: tuple[CostResult, ...]
    forbidden: tuple[ForbiddenCall, ...]
    endings: tuple[EndingRecord, ...]
    diagnoses: tuple[Diagnosis, ...]
    sandbox: Literal["strict", "contained", "none"]
    environment: dict[str, str | None]
    timing: dict[str, float | None]
    printed: str = ""  # for the student's own screen; not in the JSON, because it can differ between runs

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data, in the order of the published schema."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        fields |= {
            "checks": [_without(dataclasses.asdict(check), "asserted") for check in self.checks],
            "costs": [dataclasses.asdict(cost) for cost in self.costs],
            "forbidden": [dataclasses.asdict(call) for call in self.forbidden],
            "endings": [dataclasses.asdict(ending) for ending in self.endings],
            "needs_review": self.needs_review,
            "diagnoses": [_without(dataclasses.asdict(diagnosis), "function") for diagnosis in self.diagnoses],
        }
        return {"schema": SCHEMA} | {name: fields[name] for name in _ORDER}

    @property
    def asked(self) -> tuple[CheckResult, ...]:
        """The checks that this grading could run: without a GPU, all but the GPU checks."""
        return tuple(check for check in self.checks if check.suite != "gpu" or check.outcome != "not_run")

    @property
    def needs_review(self) -> bool:
        """Whether the instructor should review it: an undecided cost keeps its points only until then."""
        return any(cost.verdict == "inconclusive" for cost in self.costs)


# Windows reserves these names for devices, with any extension.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_ORDER = (
    "module",
    "submission",
    "file",
    "status",
    "score",
    "max_score",
    "message",
    "checks",
    "costs",
    "forbidden",
    "needs_review",
    "endings",
    "diagnoses",
    "sandbox",
    "environment",
    "timing",
)
_RECORDS = {
    "checks": CheckResult,
    "costs": CostResult,
    "forbidden": ForbiddenCall,
    "endings": EndingRecord,
    "diagnoses": Diagnosis,
}


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def report_from(data: Any) -> Report:
    """Return the report that plain data describes; ValueError if it does not match this schema."""
    try:
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']}")
        fields = {name: data[name] for name in _ORDER if name != "needs_review"}
        fields |= {name: tuple(kind(**one) for one in data[name]) for name, kind in _RECORDS.items()}
        return Report(**fields)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a report: {error!r}") from None


def report_text(report: Report) -> str:
    """Return the report as the JSON text of its file."""
    return json.dumps(report.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def file_name(name: str) -> str:
    """Return a name as one safe path component. Different names give different components."""
    escaped = re.sub(r"[^A-Za-z0-9_@+. -]|^[. ]|[. ]$", _percent, name) or "%"
    if len(escaped) <= 200 and not _RESERVED.fullmatch(escaped):
        return escaped
    return f"{escaped[:150]}%{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8", "surrogatepass"))
