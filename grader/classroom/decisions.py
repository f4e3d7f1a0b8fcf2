"""The instructor's decisions about undecided points: a file in the results folder that grading never loses."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.core.atomic_file import write_atomically
from grader.core.json_record import from_json, to_json
from grader.core.report import Decision, ReviewItem, ReviewKind, Verdict

FILE = "decisions.json"
SCHEMA = 1


class DecisionsError(Exception):
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
        about = (student, module, item.target, item.what, item.reason, submission)
        return next((one for one in reversed(self.records) if one.about == about), None)

    def find_earlier(self, student: str, module: str, submission: str, item: ReviewItem) -> DecisionRecord | None:
        """Return the last decision about the same item in other code of the student. It does not hold any more."""
        about = (student, module, item.target, item.what, item.reason)
        others = (one for one in reversed(self.records) if one.submission != submission)
        return next((one for one in others if one.about[:-1] == about), None)

    def decide(self, student: str, module: str, submission: str, item: ReviewItem) -> tuple[Decision, str]:
        """Return the decision about an item and its comment; open if there is none."""
        found = self.find(student, module, submission, item)
        return (found.decision, found.comment) if found else ("open", "")

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
