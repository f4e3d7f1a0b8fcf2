"""The report: everything one grading found out, and the one thing every output renders."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from grader.core.errors import EndingKind

if TYPE_CHECKING:
    pass

SCHEMA = 1
Status = Literal["graded", "not_importable", "not_graded", "grader_fault"]
CheckOutcome = Literal["passed", "failed", "held_back", "not_run", "grader_fault"]
SuiteName = Literal["visible", "hidden", "gpu"]


@dataclass(frozen=True)
class CheckResult:
    """One check of one submission. `earned` is None where a fault of ours left it undecided."""

    name: str
    suite: SuiteName
    target: str
    points: float
    earned: float | None
    outcome: CheckOutcome
    property: str
    message: str
    detail: str
    asserted: bool = False  # failed by the check's own judgement, not by an exception in student code; not in the JSON


@dataclass(frozen=True)
class CostResult:
    """What one function costs by one meter, against its law. An inconclusive one keeps its points until looked at."""

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
    """What is wrong with a target, in words for the student; `misconception` is its name, if it has one."""

    target: str
    misconception: str | None
    message: str
    line: int | None
    function: str = ""  # or method, for `attn hint`; not in the JSON


@dataclass(frozen=True)
class EndingRecord:
    """A worker that ended before its time, and the check it ended in."""

    kind: EndingKind
    during: str


@dataclass(frozen=True)
class Report:
    """What became of one submission for one module. Only `timing` differs between two gradings.

    `message` is for the student and says why there are no checks to show; `score` is None unless the
    submission was graded or could not be imported, so that no fault of ours is ever a 0.
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
    printed: str = ""  # for the student's own screen; never in the JSON, where it could differ from run to run

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
        """The checks that this grading could ask: all but those that need a GPU, where there was none."""
        return tuple(check for check in self.checks if check.suite != "gpu" or check.outcome != "not_run")

    @property
    def needs_review(self) -> bool:
        """Whether somebody should look: a cost that could not be decided keeps its points only until then."""
        return any(cost.verdict == "inconclusive" for cost in self.costs)


# Windows keeps these names for devices, with any ending.
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
_PARTS = {
    "checks": CheckResult,
    "costs": CostResult,
    "forbidden": ForbiddenCall,
    "endings": EndingRecord,
    "diagnoses": Diagnosis,
}


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def report_from(data: Any) -> Report:
    """Return the report that plain data describes; ValueError if it is none of this schema."""
    try:
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']}")
        fields = {name: data[name] for name in _ORDER if name != "needs_review"}
        fields |= {name: tuple(kind(**one) for one in data[name]) for name, kind in _PARTS.items()}
        return Report(**fields)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no report: {error!r}") from None


def report_text(report: Report) -> str:
    """Return the report as the JSON text of its file."""
    return json.dumps(report.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def file_name(name: str) -> str:
    """Return a name as one safe path component, with no two names sharing one."""
    escaped = re.sub(r"[^A-Za-z0-9_@+. -]|^[. ]|[. ]$", _percent, name) or "%"
    if len(escaped) <= 200 and not _RESERVED.fullmatch(escaped):
        return escaped
    return f"{escaped[:150]}%{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8", "surrogatepass"))
