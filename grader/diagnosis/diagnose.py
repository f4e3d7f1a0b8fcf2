"""The diagnoser: finds the one thing worth telling about each target that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.core.report import CheckResult, Diagnosis, Excerpt, StatedProperties, excerpt_of
from grader.core.safe_text import printable
from grader.course.api import REFLECT
from grader.course.golden import read_golden
from grader.course.module import Module
from grader.diagnosis.findings import Finding, findings, stated_properties
from grader.diagnosis.fingerprints import Fingerprints, read_fingerprints
from grader.diagnosis.gap import value_gap
from grader.diagnosis.likely_line import Line, likely_line
from grader.diagnosis.observe import Observed, observe, observe_constants
from grader.diagnosis.probe import read_probes
from grader.diagnosis.reproducer import gives_the_same_alone, paste
from grader.diagnosis.wording import cost_diagnosis_text, diagnosis_text, shown_probe, shows_values
from grader.sandbox.session import Session
from grader.submission.submission import Source

if TYPE_CHECKING:  # a student's own checks must not wait for the meters
    from grader.complexity.measurer import FunctionCosts


@dataclass(frozen=True)
class Explained:
    """What is wrong with a submission; for a student's own file, also how much of what is stated holds."""

    diagnoses: tuple[Diagnosis, ...]
    properties: tuple[StatedProperties, ...] = ()


@dataclass
class Diagnoser:
    """Diagnoses the submissions of one module. It reads what it needs when the first of them fails."""

    module: Module
    _prints: list[Fingerprints | None] = field(default_factory=list)

    def diagnose(
        self, session: Session, source: Source, checks: Sequence[CheckResult], ended: frozenset[str]
    ) -> Explained:
        """Return at most one diagnosis for each target that fails. `ended` holds the targets that end their process.

        Students have the probes, but not the hidden checks. So on their own file every difference is told, even if all
        checks pass; and where only hidden checks fail, a known wrong way is named without its inputs and values.
        """
        prints = self.prints()
        if prints is None:
            return Explained((), ())
        failing = {check.target for check in checks if check.outcome == "failed"}
        observed = observe(session, prints.probes, ended)
        answers = observe_constants(session, prints.api.constants) if not failing or REFLECT in failing else {}
        found = findings(prints, observed, answers)
        own = all(check.suite == "visible" for check in checks)
        # A target that fails without its own finding may fail because of another target.
        inherited = bool(failing - {one.target for one in found})
        diagnoses = tuple(
            self._diagnosis(one, prints, observed, source, checks, session if own else None)
            for one in found
            if own or one.target in failing or (one.way and inherited)
        )
        return Explained(diagnoses, stated_properties(prints, observed) if own else ())

    def too_expensive(
        self, function_costs: Sequence[FunctionCosts], known: Sequence[Diagnosis]
    ) -> tuple[Diagnosis, ...]:
        """Return a diagnosis for a function whose costs grow like those of a known wrong way."""
        from grader.diagnosis.cost_growth import growth, name_growth, offence

        prints = self.prints()
        found: list[Diagnosis] = []
        too_expensive = [one for one in function_costs if prints and growth(one)]
        for measured in too_expensive[:1]:  # the others may be too expensive only because they call it
            contract, grown = measured.profile.contract, growth(measured)
            way = name_growth(prints.ways, contract.function, grown) if prints else None
            if way is None or any(contract.target == one.target for one in known):
                continue  # at most one diagnosis for each target
            text, place = offence(measured, grown)
            line = place.line if place else None
            message = cost_diagnosis_text(way, contract.function, text, line, self.module.slug)
            found.append(Diagnosis(contract.target, way.name, message, line, contract.function))
        return tuple(found)

    def prints(self) -> Fingerprints | None:
        """Return the module's fingerprints; None if it has no probes yet."""
        if not self._prints:
            golden = read_golden(self.module)
            probes = read_probes(self.module, golden.api) if golden.probes else ()
            self._prints.append(read_fingerprints(golden, probes) if probes else None)
        return self._prints[0]

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
        gap = value_gap(finding, prints, observed) if shows_values(finding, hidden, own=own) else None
        code = _excerpt(source, line)
        return Diagnosis(finding.target, name, printable(text), number, finding.path, paste, code, gap)

    @staticmethod
    def _paste(finding: Finding, prints: Fingerprints, observed: Observed, session: Session) -> str:
        """Return code that makes the call that a diagnosis shows, for a student's own screen."""
        if finding.deviation is None:
            return ""
        number = shown_probe(finding, prints, observed)
        probe = prints.probes[number]
        alone = gives_the_same_alone(session, probe, observed[number])
        return paste(probe, number, finding.deviation.side, alone=alone)

    @staticmethod
    def _line(finding: Finding, prints: Fingerprints, observed: Observed, source: Source) -> Line | None:
        """Return the line to look at: where the call that is shown raised, or the line most like the wrong way."""
        if finding.target == REFLECT:
            return None
        if finding.way is None and finding.deviation is not None:
            place = observed[shown_probe(finding, prints, observed)].place
            return place or likely_line(source, finding.path, ())
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
