"""The instructor's decisions about undecided points: kept in a file, and put into reports.

Grading never loses the file. With decisions, a report has the same grading, other verdicts and another score.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from grader.classroom import ClassError
from grader.core.atomic_file import write_atomically
from grader.core.json_record import from_json, to_json
from grader.core.report import CheckResult, CostResult, Decision, Report, ReviewItem, ReviewKind, Undecided, Verdict

FILE = "decisions.json"
SCHEMA = 1
Decide = Callable[[ReviewItem], tuple[Decision, str]]  # the decision about an item, and the comment


class DecisionsError(ClassError):
    """A file of decisions that cannot be read, and what to do about it."""


@dataclass(frozen=True)
class DecisionRecord:
    """One decision. It holds for the same item of the same code: `submission` is the hash of all that was graded."""

    student: str
    module: str
    target: str
    what: ReviewKind
    reason: str
    submission: str
    decision: Verdict
    comment: str
    when: str

    @property
    def about(self) -> tuple[str, ...]:
        """What it decides: the student, the module and the item, in this version of the code."""
        return (*self._item, self.submission)

    @property
    def _item(self) -> tuple[str, ...]:
        return (self.student, self.module, self.target, self.what, self.reason)


@dataclass(frozen=True)
class Decisions:
    """All decisions of a results folder, also those about code that has changed since."""

    records: tuple[DecisionRecord, ...] = ()

    def find(self, student: str, module: str, submission: str, item: ReviewItem) -> DecisionRecord | None:
        """Return the decision that holds for an item of this code."""
        made = self._by_item.get((student, module, item.target, item.what, item.reason), {})
        return made.get(submission)

    def find_earlier(self, student: str, module: str, submission: str, item: ReviewItem) -> DecisionRecord | None:
        """Return the last decision about the same item in other code of the student. It does not hold any more."""
        made = self._by_item.get((student, module, item.target, item.what, item.reason), {})
        return next((record for code, record in reversed(made.items()) if code != submission), None)

    def decide(self, student: str, module: str, submission: str, item: ReviewItem) -> tuple[Decision, str]:
        """Return the decision about an item and its comment; open if there is none."""
        found = self.find(student, module, submission, item)
        return (found.decision, found.comment) if found else ("open", "")

    def about_code(self, student: str, module: str, submission: str) -> Decide:
        """Return the decisions about one version of a student's code."""
        return lambda item: self.decide(student, module, submission, item)

    @cached_property
    def _by_item(self) -> dict[tuple[str, ...], dict[str, DecisionRecord]]:
        """The last decision about each version of the code, by item, the newest version last."""
        found: dict[tuple[str, ...], dict[str, DecisionRecord]] = {}
        for one in self.records:
            made = found.setdefault(one.about[:-1], {})
            made.pop(one.submission, None)
            made[one.submission] = one
        return found

    def with_records(self, records: Iterable[DecisionRecord]) -> Decisions:
        """Return the decisions with further ones. Each replaces an earlier one about the same item and code."""
        new = {one.about: one for one in records}
        return Decisions((*(one for one in self.records if one.about not in new), *new.values()))

    def without(self, records: Iterable[DecisionRecord]) -> Decisions:
        """Return the decisions without some of them."""
        gone = {one.about for one in records}
        return Decisions(tuple(one for one in self.records if one.about not in gone))


def read_decisions(folder: Path) -> Decisions:
    """Return the decisions in a results folder. A file that cannot be read is an error: decisions are work."""
    path = folder / FILE
    try:
        data = json.loads(path.read_bytes())
        if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("decisions"), list):
            raise ValueError(f"it is not a file of decisions of schema {SCHEMA}")
        return Decisions(tuple(from_json(DecisionRecord, one) for one in data["decisions"]))
    except FileNotFoundError:
        return Decisions()
    except (OSError, ValueError, RecursionError) as error:
        fix = "Correct the file or restore it from a backup. To begin without decisions, move it away"
        raise DecisionsError(f"{path} cannot be read, so nothing was changed: {error}. {fix}") from None


def write_decisions(folder: Path, decisions: Decisions) -> None:
    """Write the decisions in one step, for people to read."""
    data = {"schema": SCHEMA, "decisions": [to_json(one) for one in decisions.records]}
    write_atomically(folder / FILE, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def decided(report: Report, decide: Decide, undecided: Undecided) -> Report:
    """Return a report with decisions, and with or without the points that are still undecided.

    It may have been through this before: the decisions in it are taken out first. So the result depends only on the
    grading, the decisions and `undecided`.
    """
    if not report.reviews or report.score is None:
        return report
    reviews = tuple(_with(item, *decide(item)) for item in report.reviews)
    before, after = _by_part(report.reviews), _by_part(reviews)
    checks = tuple(_check(one, before.get(one.name, ()), after.get(one.name, ()), undecided) for one in report.checks)
    costs = tuple(_cost(one, before.get(one.name, ()), after.get(one.name, ()), undecided) for one in report.costs)
    score = round(sum(check.earned or 0.0 for check in checks) + sum(cost.earned for cost in costs), 6)
    return replace(report, score=score, checks=checks, costs=costs, reviews=reviews)


def _with(item: ReviewItem, decision: Decision, comment: str) -> ReviewItem:
    return replace(item, decision=decision, comment=comment)


def _by_part(items: Sequence[ReviewItem]) -> dict[str, list[ReviewItem]]:
    """Return the items that each check or cost depends on."""
    found: dict[str, list[ReviewItem]] = {}
    for item in items:
        for part in item.parts:
            found.setdefault(part, []).append(item)
    return found


def _decision(items: Sequence[ReviewItem]) -> Decision:
    """Return the decision about a part: one rejected item is enough, but every item must be accepted."""
    decisions = {item.decision for item in items}
    return "rejected" if "rejected" in decisions else "open" if "open" in decisions else "accepted"


def _cost(
    cost: CostResult, before: Sequence[ReviewItem], after: Sequence[ReviewItem], undecided: Undecided
) -> CostResult:
    """Decide a cost that the meters left undecided. One that failed by itself stays as it is."""
    old, new = _note(before), _note(after)
    was_decided = bool(old) and cost.message.endswith(old)
    if not after or not (cost.verdict == "inconclusive" or was_decided):
        return cost
    message = cost.message.removesuffix(old) + new
    match _decision(after):
        case "accepted":
            return replace(cost, verdict="pass", earned=cost.points, message=message)
        case "rejected":
            return replace(cost, verdict="fail", earned=0.0, message=message)
    earned = cost.points if undecided == "count" else 0.0
    return replace(cost, verdict="inconclusive", earned=earned, message=message)


def _check(
    check: CheckResult, before: Sequence[ReviewItem], after: Sequence[ReviewItem], undecided: Undecided
) -> CheckResult:
    """Decide a check that passed, which has no message of its own. One that failed by itself stays as it is."""
    old, new = _note(before).strip(), _note(after).strip()
    was_decided = bool(old) and check.message == old
    if not after or not (check.outcome == "passed" or was_decided):
        return check
    said = replace(check, message=new, detail=new)
    match _decision(after):
        case "accepted":
            return replace(said, outcome="passed", earned=check.points)
        case "rejected":
            return replace(said, outcome="failed", earned=0.0)
    return replace(said, outcome="passed", earned=check.points if undecided == "count" else 0.0)


def _note(items: Sequence[ReviewItem]) -> str:
    """Return what the message of a part says about the decisions; the student may read it."""
    notes = (
        f" [{item.decision} by the instructor{f': {item.comment}' if item.comment else ''}]"
        for item in items
        if not item.is_open
    )
    return "".join(dict.fromkeys(notes))
