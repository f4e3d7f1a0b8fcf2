"""The names that mistakes get as people write them: `python -m tests.diagnosis.wild 01_softmax` prints each.

A case of tests/data/wild/ is laid over the solution; with --alone over the stub, where nothing else is written yet;
with --pairs two cases of different functions are in one file. --learn takes the misconceptions as they are now, not
those of the golden file.
"""

from __future__ import annotations

import argparse
import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations

from grader.authoring.fingerprinting import ProbeRunner
from grader.course.course import Course, read_course
from grader.course.golden import read_golden
from grader.course.module import Module, read_text
from grader.diagnosis.diagnose import Diagnoser
from grader.diagnosis.findings import Finding, findings
from grader.diagnosis.fingerprints import Fingerprints
from grader.diagnosis.likely_line import names_in
from grader.diagnosis.observe import Observed
from grader.grading.grade import full_suite
from grader.sandbox.jail.limits import Limits
from grader.sandbox.session import Session
from tests.cases import Case, cases
from tests.conftest import ROOT, end_shared_workers, shared_workers
from tests.diagnosis.naming import learnt
from tests.submissions import submission_of

NO_NAME = "no name: "
MOST_PAIRS = 60
HEAD = "| module | cases | named | no name | untrue | missing |\n|---|---|---|---|---|---|\n"


@dataclass(frozen=True)
class Named:
    """The names that a file gets, and those that are true of it: of one case, or of each of two."""

    title: str
    true: tuple[frozenset[str], ...]
    found: tuple[Finding, ...]
    defined: frozenset[str]
    unwritten: frozenset[str]  # what is not written, or shows no more than that something it needs is not

    @property
    def given(self) -> frozenset[str]:
        """The names that the student reads."""
        return frozenset(way.name for one in self.found for way in (one.way, one.also) if way)

    @property
    def untrue(self) -> frozenset[str]:
        """The given names that are of no mistake in the file."""
        return self.given.difference(*self.true)

    @property
    def named(self) -> int:
        """The number of mistakes in the file that have a true name."""
        return sum(bool(self.given & true) for true in self.true)

    @property
    def should(self) -> int:
        """The number of mistakes in the file that should have a name. What needs unwritten code cannot be judged."""
        return self.named if self.unwritten & self.defined else sum(map(bool, self.true))

    def __str__(self) -> str:
        verdict = "UNTRUE" if self.untrue else "no name" if not self.should else f"{self.named} of {self.should}"
        unnamed = [
            f"{one.path} ({one.deviation.side.name.lower()} of probes {one.deviation.probes})"
            for one in self.found
            if one.deviation and not one.way
        ]
        return f"{verdict:8} {self.title}: {', '.join([*sorted(self.given), *unnamed]) or 'nothing is seen'}"


def accepted(case: Case) -> frozenset[str]:
    """Return the names that are true of a case; none if no misconception describes it."""
    return frozenset() if case.expected.startswith(NO_NAME) else frozenset(case.expected.split(" or "))


def files(course: Course, module: Module, *, alone: bool = False) -> dict[str, str]:
    """Return each case as a complete file; with `alone`, nothing else in it is written."""
    rest = read_golden(module).stub if alone else read_text(course.solution(module))
    return {case.name: case.changing(rest) for case in cases("wild", module.name)}


def paired_files(course: Course, module: Module, most: int = MOST_PAIRS) -> dict[str, str]:
    """Return files with two mistakes in different functions, the same ones every time; their title joins two names."""
    solution = read_text(course.solution(module))
    found = [(one, _defines(one)) for one in cases("wild", module.name)]
    pairs = [(one, other) for (one, has), (other, too) in combinations(found, 2) if not has & too]
    some = random.Random(module.name).sample(pairs, min(most, len(pairs)))
    return {f"{one.name} + {other.name}": other.changing(one.changing(solution)) for one, other in some}


def names_of(course: Course, module: Module, prints: Fingerprints, texts: Mapping[str, str]) -> list[Named]:
    """Return what is found in each file. Its title has the names of its cases."""
    suite, spawner = full_suite(course, module), shared_workers(module.backend).spawner
    observer = ProbeRunner(suite, lambda program: Session(spawner, program, Limits()), prints.probes)
    known = {case.name: case for case in cases("wild", module.name)}
    found = []
    for title, text in texts.items():
        submission = submission_of(course, module, text)
        observed = observer.of(submission)
        names = cache(partial(names_in, submission.sources[module.slug]))
        there = tuple(findings(prints, observed.outcomes, observed.answers, names))
        inside = [known[name] for name in title.split(" + ")]
        defined = frozenset(name.partition(".")[0] for case in inside for name in _defines(case))
        unwritten = {one.target for one in there if _is_unwritten(one, observed.outcomes)}
        unwritten |= {path.partition(".")[0] for path in prints.paths if _hardly_runs(path, prints, observed.outcomes)}
        found.append(Named(title, tuple(map(accepted, inside)), there, defined, frozenset(unwritten)))
    return found


def _hardly_runs(path: str, prints: Fingerprints, outcomes: Observed) -> bool:
    """Whether at least half of the calls of a function end in one that is not written: diagnosis does not judge it."""
    ended = [outcomes[number].ended for number in prints.of_path(path) if number in outcomes]
    return 2 * ended.count("unwritten") >= max(1, len(ended))


def _is_unwritten(one: Finding, outcomes: Observed) -> bool:
    """Whether a function is not written, or deviates only where it calls one that is not."""
    numbers = one.deviation.probes if one.deviation else ()
    return one.way is None and all(outcomes[number].ended == "unwritten" for number in numbers)


def row(name: str, found: Sequence[Named]) -> str:
    """Return a row of the table: how many mistakes have a true name, how many cannot have one, what is wrong."""
    should, named = sum(one.should for one in found), sum(one.named for one in found)
    none, untrue = sum(not one.should for one in found), sum(bool(one.untrue) for one in found)
    return f"| {name} | {len(found)} | {named} of {should} | {none} | {untrue} | {should - named} |\n"


def _defines(case: Case) -> set[str]:
    """Return the functions and classes of a case; of a class that derives from itself, the methods."""
    found: set[str] = set()
    for one in ast.parse(case.code).body:
        if isinstance(one, ast.ClassDef) and one.name in map(ast.unparse, one.bases):
            found |= {f"{one.name}.{method.name}" for method in one.body if isinstance(method, ast.FunctionDef)}
        elif isinstance(one, ast.FunctionDef | ast.ClassDef):
            found.add(one.name)
    return found


def main() -> None:
    """Print the names of each case, and a row for each module."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--alone", "--pairs", "--learn"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    course, rows = read_course(ROOT), []
    for module in course.modules:
        if module.name not in (options.modules or {case.module for case in cases("wild")}):
            continue
        prints = learnt(course, module) if options.learn else Diagnoser(module).prints
        assert prints is not None
        texts = paired_files(course, module) if options.pairs else files(course, module, alone=options.alone)
        found = names_of(course, module, prints, texts)
        print(f"{module.name}\n", *(f"  {one}\n" for one in found), sep="")
        rows.append(row(module.name, found))
    end_shared_workers()
    print(HEAD, *rows, sep="", end="")


if __name__ == "__main__":
    main()
