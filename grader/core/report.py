"""The report: everything that one grading found. Every output is made from it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from grader.core.errors import EndingKind
from grader.core.excerpt import Excerpt
from grader.core.json_record import OMITTED_IF_NONE, from_json, json_key, json_text, to_json
from grader.core.review import ReviewItem
from grader.core.value_gap import ValueGap

SCHEMA = 1
Status = Literal["graded", "not_importable", "not_graded", "grader_fault"]
CheckOutcome = Literal["passed", "failed", "held_back", "not_run", "grader_fault"]
SuiteName = Literal["visible", "hidden", "gpu"]


@dataclass(frozen=True)
class CheckResult:
    """One check of one submission. `earned` is None after a grader fault.

    `undecided` says why an instructor must check a result that passed. It keeps its points until then.
    """

    name: str
    suite: SuiteName
    target: str
    points: float
    earned: float | None
    outcome: CheckOutcome
    property: str
    message: str
    detail: str
    # Failed by the check's own judgement, not by an exception in student code.
    asserted: bool = field(default=False, metadata=json_key(None))
    undecided: str = ""


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
    code: Excerpt | None = field(default=None, metadata=OMITTED_IF_NONE)  # the line, if the cost is not OK

    @property
    def name(self) -> str:
        """Its name among the checks and costs of a report."""
        return cost_name(self.function, self.meter)


def cost_name(function: str, meter: str) -> str:
    """Return the name of a cost, such as `sort work`."""
    return f"{function} {meter}"


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
    function: str = field(default="", metadata=json_key(None))  # or method, for `attn hint`
    paste: str = field(default="", metadata=json_key(None))  # code that makes the call it shows, for the own screen
    code: Excerpt | None = field(default=None, metadata=OMITTED_IF_NONE)  # the line in the student's file
    # The numbers that the message is about, as far as the student may see them.
    gap: ValueGap | None = field(default=None, metadata=OMITTED_IF_NONE)


@dataclass(frozen=True)
class StatedProperties:
    """How many of the small calls to one function have the result that its description asks for."""

    function: str
    hold: int
    total: int


@dataclass(frozen=True)
class EarlierModule:
    """An earlier module that a submission could build on: the student's own, or the fallback that stood in for it."""

    module: str
    used: Literal["own", "fallback"]
    why: str = ""  # a fallback was used

    def text(self, whose: str) -> str:
        """Return the sentence about it for a reader who calls the student's work "your" or "the student's"."""
        if self.used == "own":
            return f"Built on {whose} own {self.module}."
        return f"Built on the fallback for {self.module}: {whose} own {self.why}."


@dataclass(frozen=True)
class EndingRecord:
    """A worker that ended early, and the check it ended in."""

    kind: EndingKind
    during: str
    # For the student's own screen. Never in the JSON, where it could differ from run to run.
    file: str = field(default="", metadata=json_key(None))
    line: int = field(default=0, metadata=json_key(None))


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
    reviews: tuple[ReviewItem, ...] = ()  # in the JSON after `forbidden`
    builds_on: tuple[EarlierModule, ...] = ()  # in the JSON only of modules with fallbacks
    properties: tuple[StatedProperties, ...] = field(default=(), metadata=json_key(None))  # of a student's own file
    # For the student's own screen. Never in the JSON, where it could differ from run to run.
    printed: str = field(default="", metadata=json_key(None))

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data, in the order of the published schema."""
        data: dict[str, Any] = {"schema": SCHEMA}
        fields = to_json(self)
        reviews = fields.pop("reviews")
        if not self.builds_on:
            del fields["builds_on"]
        for key, value in fields.items():
            if key == "endings":  # the schema has both between `forbidden` and `endings`
                data |= {"reviews": reviews, "needs_review": self.needs_review}
            data[key] = value
        return data

    @property
    def first_diagnosis(self) -> Diagnosis | None:
        """The diagnosis to act on first: that of a function with a failed check, if there is one."""
        failing = {check.target for check in self.checks if check.outcome == "failed"}
        return min(self.diagnoses, key=lambda one: one.target not in failing, default=None)

    @property
    def asked(self) -> tuple[CheckResult, ...]:
        """The checks that this grading could run: without a GPU, all but the GPU checks."""
        return tuple(check for check in self.checks if check.suite != "gpu" or check.outcome != "not_run")

    @property
    def needs_review(self) -> bool:
        """Whether the instructor must still decide something."""
        if self.reviews:
            return any(item.is_open for item in self.reviews)
        costs = any(cost.verdict == "inconclusive" for cost in self.costs)  # a report from before there were reviews
        return costs or any(check.undecided for check in self.checks)

    @property
    def undecided_points(self) -> float:
        """The points that depend on something that the instructor must still decide."""
        if self.score is None:
            return 0.0
        if not self.reviews:  # also a report from before there were reviews
            return round(sum(cost.points for cost in self.costs if cost.verdict == "inconclusive"), 6)
        return round(sum(item.points for item in self.reviews if item.is_open), 6)


# Windows reserves these names for devices, with any extension.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def report_from(data: Any) -> Report:
    """Return the report that plain data describes; ValueError if it does not fit the schema."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ValueError(f"not a report of schema {SCHEMA}")
    return from_json(Report, data)


def report_text(report: Report) -> str:
    """Return the report as the JSON text of its file."""
    return json_text(report.as_json(), allow_nan=False) + "\n"


def file_name(name: str) -> str:
    """Return a name as one safe path component. Different names give different components."""
    escaped = re.sub(r"[^A-Za-z0-9_@+. -]|^[. ]|[. ]$", _percent, name) or "%"
    if len(escaped) <= 200 and not _RESERVED.fullmatch(escaped):
        return escaped
    return f"{escaped[:150]}%{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8", "surrogatepass"))
