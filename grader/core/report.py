"""The report: everything that one grading found. Every output is made from it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from grader.core.errors import EndingKind
from grader.core.json_record import OMITTED_IF_NONE, from_json, json_key, json_text, to_json
from grader.core.machine import Tier
from grader.core.safe_text import plain_name, visible_line

SCHEMA = 1
Status = Literal["graded", "not_importable", "not_graded", "grader_fault"]
CheckOutcome = Literal["passed", "failed", "held_back", "not_run", "grader_fault"]
SuiteName = Literal["visible", "hidden", "gpu"]
ReviewKind = Literal["cost", "code", "check"]
Verdict = Literal["accepted", "rejected"]
Decision = Literal["open", "accepted", "rejected"]
Undecided = Literal["count", "withhold"]  # whether undecided points count until a person has decided
Rows = tuple[tuple[str, ...], ...]
AROUND, WIDEST = 2, 160  # lines around the one of an excerpt, and characters of a line
_LINE_END = re.compile(r"\r\n|\r|\n")  # as Python counts lines


@dataclass(frozen=True)
class Excerpt:
    """Some lines of a file, by the number of the first, and the number of the line to look at."""

    file: str
    first: int
    marked: int
    lines: tuple[str, ...]


def excerpt_of(file: str, text: str, number: int | None) -> Excerpt | None:
    """Return the lines around a line of a text; None if it has no such line."""
    lines = _LINE_END.split(text)
    if number is None or not 0 < number <= len(lines):
        return None
    first = max(1, number - AROUND)
    return Excerpt(plain_name(file), first, number, tuple(map(_shown, lines[first - 1 : number + AROUND])))


def _shown(line: str) -> str:
    line = line[: WIDEST + 1].expandtabs(4).rstrip()
    return visible_line(line[:WIDEST]) + ("…" if len(line) > WIDEST else "")


@dataclass(frozen=True)
class ValueGap:
    """Both results of one public call as rows of numbers, of the same shape, each with at most four digits.

    `part` says which part of the results it is, if it is not everything.
    """

    call: str
    part: str
    yours: Rows
    expected: Rows


@dataclass(frozen=True)
class ReviewItem:
    """One thing that a person must decide. `target` is a function or class, or empty for the complete submission.

    `parts` names the checks and costs whose points depend on it, and `points` is their sum. A cost is named like
    `sort work`. `code` is the text of the line.
    """

    target: str
    what: ReviewKind
    file: str
    line: int | None
    reason: str
    points: float
    decision: Decision = "open"
    comment: str = ""
    parts: tuple[str, ...] = ()
    code: str = ""

    def __post_init__(self) -> None:
        if self.points and not self.parts:  # a decision about it could neither give nor take its points
            raise ValueError(f"a review item of {self.points:g} points must name the checks or costs that have them")

    @property
    def is_open(self) -> bool:
        """Whether it is not decided yet."""
        return self.decision == "open"


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
    kind: str = field(default="", metadata=json_key(None))  # value, raises, refusal, inputs, dtype, not written


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
    sandbox: Tier
    environment: dict[str, str | None]
    timing: dict[str, float | None]
    reviews: tuple[ReviewItem, ...] = ()  # in the JSON after `forbidden`
    builds_on: tuple[EarlierModule, ...] = ()  # in the JSON only of modules with fallbacks
    properties: tuple[StatedProperties, ...] = field(default=(), metadata=json_key(None))  # of a student's own file
    answers: tuple[tuple[str, Any], ...] = field(default=(), metadata=json_key(None))  # under Reflect, of an own file
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
        """The diagnosis to act on first: diagnosis puts it first."""
        return next(iter(self.diagnoses), None)

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


def report_from(data: Any) -> Report:
    """Return the report that plain data describes; ValueError if it does not fit the schema."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ValueError(f"not a report of schema {SCHEMA}")
    return from_json(Report, data)


def report_text(report: Report) -> str:
    """Return the report as the JSON text of its file."""
    return json_text(report.as_json(), allow_nan=False) + "\n"


TOO_LITTLE = "too little: "  # begins the message of a cost that fails because work is missing


def cost_word(verdict: str, measured: str, message: str, *, too_little: bool = False) -> str:
    """Return the word for the verdict on one cost. Code that raised was not measured, whatever it did before."""
    if verdict == "fail":
        unmeasured = not measured or message.startswith(("NOT MEASURED", "the results are wrong"))
        return (
            "NOT MEASURED"
            if unmeasured
            else "TOO LITTLE"
            if too_little or message.startswith(TOO_LITTLE)
            else "TOO MUCH"
        )
    return {"pass": "OK", "inconclusive": "not decided"}[verdict]


def without_word(message: str) -> str:
    """Return the message of a cost without a leading word for its verdict, which the reader already sees."""
    return re.sub(
        r"^(too little|not measured( at large sizes)?|it could not be measured): ", "", message, flags=re.IGNORECASE
    )
