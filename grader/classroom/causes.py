"""Causes: the same doubt about the code of many students, so that one decision is enough."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grader.classroom.decisions import Decisions
from grader.classroom.pseudonyms import Pseudonyms
from grader.classroom.review import Reviewed
from grader.core.report import ReviewItem, ReviewKind

_PLACE = re.compile(r"\b(?:in )?line \d+(?:: )?")  # where it is in one student's file
_DIGITS = 6  # of an id


@dataclass(frozen=True)
class Cause:
    """Everything in one module that is undecided, or was, for the same reason. `id` is the same in every run."""

    id: str
    module: str
    what: ReviewKind
    reason: str
    items: tuple[tuple[Reviewed, tuple[ReviewItem, ...]], ...]  # of each student

    @property
    def open(self) -> Cause:
        """The part of it that is not decided yet."""
        left = ((one, tuple(item for item in items if item.is_open)) for one, items in self.items)
        return replace(self, items=tuple((one, items) for one, items in left if items))

    def last_decided(self, decisions: Decisions) -> Cause:
        """Return the part that was decided last, by one command: that is what is taken back together."""
        made = {
            (one.student, item): record.when
            for one, items in self.items
            for item in items
            if (record := decisions.find(one.student, one.module, one.submission, item)) is not None
        }
        last = max(made.values(), default="")
        left = (
            (one, tuple(item for item in items if made.get((one.student, item)) == last)) for one, items in self.items
        )
        return replace(self, items=tuple((one, items) for one, items in left if items))

    def hidden(self, names: Pseudonyms) -> Cause:
        """Return it with pseudonyms, in their order."""
        found = []
        for one, items in self.items:
            shown = one.hidden(names)
            now = dict(zip(one.report.reviews, shown.report.reviews, strict=True))
            found.append((shown, tuple(now[item] for item in items)))
        found.sort(key=lambda pair: pair[0].student)
        return replace(self, reason=names.text(self.reason), items=tuple(found))


def causes_of(found: Iterable[Reviewed], target: str | None = None) -> list[Cause]:
    """Return the causes of all items, or of those of one target, the ones of most students first."""
    groups: dict[tuple[str, ReviewKind, str], list[tuple[Reviewed, tuple[ReviewItem, ...]]]] = {}
    for one in found:
        mine: dict[tuple[str, ReviewKind, str], list[ReviewItem]] = {}
        for item in one.items(target):
            mine.setdefault((one.module, item.what, _PLACE.sub("", item.reason)), []).append(item)
        for about, items in mine.items():
            groups.setdefault(about, []).append((one, tuple(items)))
    causes = [Cause(_id(about), *about, tuple(items)) for about, items in groups.items()]
    return sorted(causes, key=lambda cause: (-len(cause.items), cause.module, cause.reason))


def without(found: Iterable[Reviewed], causes: Sequence[Cause]) -> list[Reviewed]:
    """Return the reports without the open items of some causes; without a report that has nothing else."""
    told = {(one.student, one.module, item) for cause in causes for one, items in cause.items for item in items}
    left = []
    for one in found:
        items = tuple(item for item in one.report.reviews if (one.student, one.module, item) not in told)
        if items or not one.report.reviews:
            left.append(replace(one, report=replace(one.report, reviews=items)))
    return left


def _id(about: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(about).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
