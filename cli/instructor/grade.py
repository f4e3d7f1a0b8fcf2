"""`attn grade`: submissions in, reports out."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from cli.instructor.grade_options import HELP, GradeRequest, grade_options
from cli.instructor.grade_screens import exit_code, found_notes, show_notes, show_plan, show_result, sum_lines
from cli.instructor.run_rules import rules_of_run
from cli.ui.anonymous import AnonymousOutput, hide_in
from cli.ui.executors import open_executor
from cli.ui.here import course_here
from cli.ui.progress_line import Pace
from grader.authoring.proof import changed_since_proof
from grader.classroom import ClassError
from grader.classroom.accounting import Accounting, account, settled
from grader.classroom.batch import Batch
from grader.classroom.marks import Marking
from grader.classroom.pseudonyms import people_of
from grader.classroom.results import Results
from grader.classroom.rules import Rules, rules_text
from grader.classroom.store import StoreError
from grader.classroom.store.files import FileStore
from grader.classroom.store.store import RULES, ResultsStore
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.executor import Executor
from grader.grading.process_handle import NoProcessError
from grader.grading.workers import NoGpuError, NoJailError
from grader.platforms.cluster import ClusterError, ClusterLostError
from grader.submission.finder import find_submissions
from grader.submission.found import FoundSubmissions
from grader.submission.name_map import MapError, read_map
from grader.submission.on_disk import on_disk

NO_JAIL = (
    "NOT SANDBOXED: this machine has no jail, so other people's code could read and change everything that you can. "
    "`attn doctor` says why and what to install. To grade code that you trust, add --allow-unjailed."
)


@click.command(help=HELP)
@grade_options
def grade(request: GradeRequest) -> None:
    """Find the submissions, grade them, and print what came of it."""
    request.check()
    course = course_here()
    rules = rules_of_run(course, request.given, request.to, resume=request.resume)
    hidden = hide_in(course, request.to, anonymous=request.anonymous)
    module = request.module(course)
    with _explained(), tempfile.TemporaryDirectory(prefix="attn-") as scratch:
        marking = rules.marking(course)
        found, unused = _find(request, course, module, rules, marking, Path(scratch))
        accounting = account(found, marking, [module.name] if module else [])
        if hidden:
            hidden.learn(people_of(marking.roster, _everybody(found, accounting)))
        if request.dry_run:
            show_plan(accounting, found, marking, as_json=request.as_json)
            sys.exit(int(accounting.has_skipped))
        for note in (*found_notes(found, accounting, marking, unused), *_unproved(course, found)):
            click.echo(note, err=True)
        if not found.handed_in:
            raise click.UsageError("there is nothing to grade at " + ", ".join(map(str, request.work.paths)))
        status = _grade(_ClassRun(request, course, rules, marking, found, accounting, hidden))
    sys.exit(status)


@dataclass(frozen=True)
class _ClassRun:
    """What is known when the grading of a class begins."""

    request: GradeRequest
    course: Course
    rules: Rules
    marking: Marking
    found: FoundSubmissions
    accounting: Accounting
    hidden: AnonymousOutput | None


def _find(
    request: GradeRequest, course: Course, module: Module | None, rules: Rules, marking: Marking, scratch: Path
) -> tuple[FoundSubmissions, list[str]]:
    """Return the submissions, and what --map says about folders that are not there."""
    name_lines = read_map(course, Path(rules.map)) if rules.map else None
    found = find_submissions(
        course,
        request.work.paths,
        module,
        rules.policy,
        scratch,
        student=request.work.student,
        class_zip=request.work.class_zip,
        file_times=rules.file_times,
        name_map=name_lines,
        resolve=lambda who: person.id if (person := marking.person(who)) else None,
    )
    return on_disk(found), name_lines.unused() if name_lines else []


def _unproved(course: Course, found: FoundSubmissions) -> Iterator[str]:
    """Yield a warning for each module whose checks changed after they were proved."""
    for name in sorted({handed_in.module for handed_in in found.handed_in}):
        module = course.module(name)
        if changed := changed_since_proof(course, module):
            what = f"{changed.relative_to(course.root)} changed after {name} was proved: its marks may be wrong"
            yield f"attn: {what}. To prove it again, run: attn dev check {module.slug}"


def _everybody(found: FoundSubmissions, accounting: Accounting) -> list[str]:
    """Return everyone who handed in a file, graded or not."""
    skipped = (who.label for line in accounting.files for who in line.who)
    return list(dict.fromkeys([*(handed_in.student for handed_in in found.handed_in), *skipped]))


def _grade(run: _ClassRun) -> int:
    """Grade a class, print the result, and return the exit status."""
    request, found = run.request, run.found
    with _store(request.to) as store, Results(store) as results:
        results.writer.put_document(RULES, [rules_text(run.rules)])
        with open_executor(request.where, store) as executor:
            batch = Batch(
                run.course,
                found.handed_in,
                results,
                run.marking,
                gpu_name=executor.gpu_name,
                undecided=run.rules.undecided or "count",
                skipped=run.accounting.skipped_people,
            )
            _grade_all(batch, executor, store, request)
        result = batch.settle()
        alone = request.is_of_one and len(found.handed_in) == 1
        show_result(batch, result, run.hidden, run.rules.name or "", as_json=request.as_json, alone=alone)
        show_notes(batch, result, found, request.to)
        if not alone:
            click.echo("\n".join(sum_lines(settled(run.accounting, result.marks))), err=True)
    return 3 if batch.unwritten else exit_code(result, refused=run.accounting.has_skipped)


@contextlib.contextmanager
def _store(to: ResultsStore | None) -> Iterator[ResultsStore]:
    """Give the place for the results: a temporary folder without --to."""
    if to is not None:
        yield to
        return
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        yield FileStore(Path(folder))


def _grade_all(batch: Batch, executor: Executor, store: ResultsStore, request: GradeRequest) -> None:
    """Grade what has no report yet, and show the progress."""
    to = request.to
    kept = batch.keep() if request.resume else 0
    total = len(batch.work)
    if damaged := batch.results.writer.damaged:
        lines = f"{damaged} line(s) of {store.where('journal.jsonl')} were cut short or damaged"
        click.echo(f"attn: {lines}: those submissions are graded again", err=True)
    if request.resume and to is not None:
        click.echo(f"{kept} of {total} are in {to.title} already, {total - kept} to grade", err=True)
    pace = Pace(total - kept)
    try:
        with pace, contextlib.closing(batch.grade(executor, pace.slow)) as all_graded:
            for graded in all_graded:
                if total > 1:
                    pace.step(graded.report.submission)
    except (OSError, StoreError) as error:
        lost = f"attn: {error}. {kept + pace.done} of {total} are graded and saved"
        fix = "make room, then go on" if isinstance(error, OSError) else "go on"
        click.echo(f"{lost}; {fix} with --resume" if to else lost, err=True)
        raise SystemExit(3) from None
    except KeyboardInterrupt:
        if to is not None:
            click.echo(
                f"attn: {kept + pace.done} of {total} are in {to.title}; --resume continues from there", err=True
            )
        raise
    for key, (_, problem) in batch.unwritten.items():
        click.echo(f"attn: the report and the grade of {key.student} could not be written: {problem}", err=True)


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Turn what can go wrong for the class as a whole into a sentence and an exit status."""
    try:
        yield
    except NoJailError:
        raise click.UsageError(NO_JAIL) from None
    except NoGpuError as error:
        raise click.UsageError(f"no worker can use a GPU here: {error}") from None
    except (ClassError, MapError, ClusterError) as error:
        raise click.UsageError(str(error)) from None
    except (NoProcessError, ClusterLostError) as error:
        saved = ". What is graded is saved: go on with --resume" if isinstance(error, ClusterLostError) else ""
        click.echo(f"attn: {error}{saved}", err=True)
        sys.exit(3)
