"""The diagnoser: finds the one thing worth telling about each target that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.core.compare import as_float64
from grader.core.report import CheckResult, Diagnosis, Excerpt, Rows, StatedProperties, ValueGap, excerpt_of
from grader.core.safe_text import printable
from grader.course.api import REFLECT
from grader.course.golden import read_golden
from grader.course.module import Module
from grader.diagnosis.findings import Finding, findings, stated_properties
from grader.diagnosis.fingerprints import Fingerprints, read_fingerprints
from grader.diagnosis.likely_line import Line, likely_line, names_in
from grader.diagnosis.observe import Observed, observe, observe_constants
from grader.diagnosis.outcome import Side, likeness
from grader.diagnosis.probe import read_probes
from grader.diagnosis.reproducer import gives_the_same_alone, paste
from grader.diagnosis.wording import (
    FEW_DIGITS,
    MANY_DIGITS,
    call_of,
    diagnosis_text,
    kind_of,
    shown_probe,
    shows_values,
)
from grader.sandbox.session import Session
from grader.submission.submission import Source

if TYPE_CHECKING:  # a student's own checks must not wait for the meters
    from grader.complexity.measurer import FunctionCosts

MOST_ROWS, MOST_COLUMNS = 8, 12  # of a gap that is shown


@dataclass(frozen=True)
class Explained:
    """What is wrong with a submission; for a student's own file, also how much of what is stated holds."""

    diagnoses: tuple[Diagnosis, ...]
    properties: tuple[StatedProperties, ...] = ()
    answers: tuple[tuple[str, Any], ...] = ()  # under Reflect, of a student's own file that passes its checks


@dataclass(frozen=True)
class Diagnoser:
    """Diagnoses the submissions of one module. It reads what it needs when the first of them fails."""

    module: Module

    def diagnose(
        self, session: Session, source: Source, checks: Sequence[CheckResult], ended: frozenset[str]
    ) -> Explained:
        """Return at most one diagnosis for each target that fails. `ended` holds the targets that end their process.

        Students have the probes, but not the hidden checks. So on their own file every difference is told, even if all
        checks pass; and where only hidden checks fail, a known wrong way is named without its inputs and values.
        """
        prints = self.prints
        if prints is None:
            return Explained((), ())
        failing = {check.target for check in checks if check.outcome == "failed"}
        observed = observe(session, prints.probes, ended)
        answers = observe_constants(session, prints.api.constants) if not failing or REFLECT in failing else {}
        found = findings(prints, observed, answers, cache(partial(names_in, source)))
        own = all(check.suite == "visible" for check in checks)
        # A target that fails without its own finding may fail because of another target.
        inherited = bool(failing - {one.target for one in found})
        diagnoses = tuple(
            self._diagnosis(one, prints, observed, source, checks, session if own else None)
            for one in sorted(found, key=lambda one: one.weight)  # what to tell first comes first
            if own or one.target in failing or (one.way and inherited)
        )
        if not own:
            return Explained(diagnoses)
        return Explained(diagnoses, stated_properties(prints, observed), tuple(answers.items()))

    def too_expensive(
        self, function_costs: Sequence[FunctionCosts], known: Sequence[Diagnosis]
    ) -> tuple[Diagnosis, ...]:
        """Return a diagnosis for a function whose costs grow like those of a known wrong way."""
        from grader.diagnosis.cost_growth import expensive_way

        prints = self.prints
        found = expensive_way(function_costs, prints.ways, self.module.slug) if prints else None
        return (found,) if found and all(found.target != one.target for one in known) else ()

    @cached_property
    def prints(self) -> Fingerprints | None:
        """The module's fingerprints; None if it has no probes yet."""
        golden = read_golden(self.module)
        probes = read_probes(self.module, golden.api) if golden.probes else ()
        return read_fingerprints(golden, probes) if probes else None

    def _diagnosis(
        self,
        finding: Finding,
        prints: Fingerprints,
        observed: Observed,
        source: Source,
        checks: Sequence[CheckResult],
        session: Session | None,
    ) -> Diagnosis:
        line = self._line(finding, prints, observed, source)
        hidden, own = _hidden_failure(finding, checks), session is not None
        text = diagnosis_text(finding, prints, observed, line, source.file, self.module.slug, hidden, own=own)
        name = finding.way.name if finding.way else None
        number = line.number if line else None
        paste = self._paste(finding, prints, observed, session) if session is not None else ""
        gap = _value_gap(finding, prints, observed) if shows_values(finding, hidden, own=own) else None
        code = _excerpt(source, line)
        kind = kind_of(finding, prints, observed)
        return Diagnosis(finding.target, name, printable(text), number, finding.path, paste, code, gap, kind)

    @staticmethod
    def _paste(finding: Finding, prints: Fingerprints, observed: Observed, session: Session) -> str:
        """Return code that makes the call that a diagnosis shows, for a student's own screen."""
        if finding.deviation is None:
            return ""
        number = shown_probe(finding, prints, observed)
        probe = prints.probes[number]
        alone = gives_the_same_alone(session, probe, observed[number])
        return paste(probe, finding.deviation.side, tuple(observed[number].changed), alone=alone)

    @staticmethod
    def _line(finding: Finding, prints: Fingerprints, observed: Observed, source: Source) -> Line | None:
        """Return the line to look at: where the call that is shown raised, or the line most like the wrong way."""
        if finding.target == REFLECT or finding.calls:
            return None
        if finding.way is None and finding.deviation is not None:
            raised = observed[shown_probe(finding, prints, observed)].raised
            return (raised.place if raised else None) or likely_line(source, finding.path, ())
        if finding.way is None:
            found = likely_line(source, finding.path, ["NotImplementedError"])
            return replace(found, exact=True) if found else None
        return likely_line(source, finding.path, finding.way.look, finding.way.likely)


def _excerpt(source: Source, line: Line | None) -> Excerpt | None:
    """Return the lines around the line to look at, in its cell or script."""
    if line is None:
        return None
    file = f"{source.file}[{line.cell}]" if line.cell else source.file
    cell = (line.cell or 1) - 1
    return excerpt_of(file, source.cells[cell], line.number) if cell < len(source.cells) else None


def _hidden_failure(finding: Finding, checks: Sequence[CheckResult]) -> str:
    """Return what fails if no visible check does, without the input of the hidden check."""
    failed = [check for check in checks if check.target == finding.target and check.outcome == "failed"]
    if any(check.suite == "visible" for check in failed):
        return ""
    return f"A hidden check fails: {failed[0].property}" if failed else "The visible checks do not cover this"


def _value_gap(finding: Finding, prints: Fingerprints, observed: Observed) -> ValueGap | None:
    """Return the numbers that a diagnosis is about; None if they are no two arrays of one shape."""
    if finding.deviation is None or finding.deviation.side != Side.VALUE:
        return None
    number = shown_probe(finding, prints, observed)
    probe, found, expected = prints.probes[number], observed[number], prints.outcome(None, number)
    if found.ended != "returned" or expected.ended != "returned":
        return None
    part, one, other = _wrong_part(found.value, expected.value)
    yours, wanted = as_float64(one), as_float64(other)
    if yours is None or wanted is None or yours.shape != wanted.shape or not yours.size:
        return None
    columns = yours.shape[-1] if yours.ndim else 1
    tables = yours.reshape(-1, columns), wanted.reshape(-1, columns)
    row, column = _first_wrong(*tables)
    rows, across = _window(row, len(tables[0]), MOST_ROWS), _window(column, columns, MOST_COLUMNS)
    where = [part, _span("row", rows, len(tables[0])), _span("column", across, columns)]
    shown = [_rows(table[rows, across], FEW_DIGITS) for table in tables]
    if shown[0] == shown[1]:  # rounding hides the difference
        shown = [_rows(table[rows, across], MANY_DIGITS) for table in tables]
    return ValueGap(printable(call_of(probe), 400), ", ".join(filter(None, where)), *shown)


def _wrong_part(found: Any, expected: Any) -> tuple[str, Any, Any]:
    """Return the first wrong part of two results: an item of a tuple, or a gradient if the value is right."""
    if type(found) is tuple and type(expected) is tuple and len(found) == len(expected):
        # The last item is often computed first: weights go wrong before the output does.
        wrong = [at for at in reversed(range(len(expected))) if likeness(found[at], expected[at])]
        return (f"item {wrong[0]} of the tuple", found[wrong[0]], expected[wrong[0]]) if wrong else ("", None, None)
    if type(found) is dict and type(expected) is dict and "grads" in expected and "grads" in found:
        if likeness(found["value"], expected["value"]):
            return "", found["value"], expected["value"]
        arguments = enumerate(zip(found["grads"], expected["grads"], strict=False), 1)
        pairs = {f"argument {number}": pair for number, pair in arguments}
        pairs |= {
            name: (found["parameters"].get(name), expected["parameters"][name]) for name in expected["parameters"]
        }
        for name, (one, other) in pairs.items():
            if likeness(one, other):
                return f"the gradient of {name}", one, other
    return "", found, expected


def _first_wrong(yours: np.ndarray, expected: np.ndarray) -> tuple[int, int]:
    """Return the row and the column of the first number that is not as expected."""
    wrong = ~np.isclose(yours, expected, rtol=1e-5, atol=1e-6, equal_nan=True)
    row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(row), int(column)


def _window(at: int, length: int, most: int) -> slice:
    """Return a part of an axis that has a position in it."""
    start = 0 if at < most else min(at, length - most)
    return slice(start, min(length, start + most))


def _span(what: str, part: slice, length: int) -> str:
    return "" if part.stop - part.start == length else f"{what}s {part.start} to {part.stop - 1} of {length}"


def _rows(table: np.ndarray, digits: int) -> Rows:
    return tuple(tuple(f"{number:.{digits}g}" for number in row) for row in table.tolist())
