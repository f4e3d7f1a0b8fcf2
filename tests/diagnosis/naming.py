"""What the tests of diagnosis share: the names that a text laid over a solution is given.

`python -m tests.diagnosis.naming 01_softmax` shows what a module's probes do not tell apart yet.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.fingerprinting import ProbeRunner, learn_fingerprints
from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.course.course import Course, read_course
from grader.course.module import Module, read_text
from grader.diagnosis.findings import diagnosed_names, findings
from grader.diagnosis.fingerprints import Fingerprints
from grader.grading.grade import full_suite
from grader.sandbox.jail.limits import Limits
from grader.sandbox.session import Session
from tests.cases import cases
from tests.conftest import end_shared_workers, shared_workers
from tests.submissions import submission_of


def learnt(course: Course, module: Module) -> Fingerprints:
    """Learn a module's fingerprints again, whatever its golden file says; costly ways need a complete proof."""
    suite = full_suite(course, module)
    ways = [way for way in read_misconceptions(course, module) if not way.costly]
    solution = submission_of(course, module, read_text(course.solution(module)))
    wrong = {way: as_submission(course, module, way) for way in ways}
    spawner = shared_workers(module.backend).spawner
    return learn_fingerprints(suite, lambda program: Session(spawner, program, Limits()), solution, wrong, {}).prints


def described(course: Course, module: Module, prints: Fingerprints, texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield for each text what is found: `function: name`, the name missing if there is none."""
    suite, spawner = full_suite(course, module), shared_workers(module.backend).spawner
    observer = ProbeRunner(suite, lambda program: Session(spawner, program, Limits()), prints.probes)
    for title, text in texts.items():
        observed = observer.of(submission_of(course, module, text))
        found = findings(prints, observed.outcomes, observed.answers)
        shown = [
            f"{one.path}: {one.way.name if one.way else ''}"
            + (f" ({one.deviation.side.name.lower()} of probes {one.deviation.probes})" if one.deviation else "")
            for one in found
        ]
        yield title, "; ".join(shown)


def main() -> None:
    """Print what does not come out as it should."""
    course = read_course(Path.cwd())
    module = course.module(sys.argv[1])
    prints = learnt(course, module)
    solution = read_text(course.solution(module))
    bad = 0
    for way in prints.ways:
        if (names := diagnosed_names(prints, way)) != [way.name]:
            bad += 1
            same = [one.name for one in prints.ways if one is not way and one.behaves == way.behaves][:4]
            where = sorted({prints.probes[number].path for number in way.behaves})
            print(f"NOT ITSELF {way.name}: {names}; seen in {where or 'no probe'}; like {same}")
    rights = {case.name: case.code for case in cases("right", module.name)}
    for title, found in described(course, module, prints, rights):
        if found:
            bad += 1
            print(f"RIGHT, BUT DEVIATES {title}: {found}")
    styles = {case.name: case.over(solution) for case in cases("styles", module.name)}
    for title, found in described(course, module, prints, styles):
        if f": {title.split()[0]} " not in f"{found} ":
            bad += 1
            print(f"STYLE NOT NAMED {title}: {found}")
    unknown = {case.name: case.over(solution) for case in cases("unknown", module.name)}
    for title, found in described(course, module, prints, unknown):
        parts = [f": {one} (" for one in ("", *title.split("_and_"))]
        if not found or any(not any(part in one for part in parts) for one in found.split("; ")):
            bad += 1
            print(f"UNKNOWN, BUT {title}: {found or 'no probe sees it'}")
    end_shared_workers()
    print(
        f"{len(prints.ways)} wrong ways, {len(prints.probes)} probes, {len(rights)} right, {len(styles)} styles", end=""
    )
    print(f", {len(unknown)} unknown: {bad} bad")


if __name__ == "__main__":
    main()
