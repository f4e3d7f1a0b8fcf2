"""`attn grade`: submissions in, reports out."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click

from cli.instructor.consent import NOT_AGREED, consent, require_consent
from cli.instructor.grade_options import HELP, GradeRequest, grade_options
from cli.instructor.grade_screens import exit_code, found_notes, show_notes, show_plan, show_result, sum_lines
from cli.instructor.run_rules import rules_of_run, tell_rules
from cli.ui.anonymous import AnonymousOutput, hide_in
from cli.ui.executors import open_executor
from cli.ui.here import course_here
from cli.ui.progress_line import Pace
from grader.classroom import ClassError
from grader.classroom.accounting import Accounting, account, settled
from grader.classroom.batch import Batch, BatchRules, changed_by_rules
from grader.classroom.marks import Marking
from grader.classroom.module_rules import ModuleRules, SavedRules, marking_of, read_saved_rules
from grader.classroom.pseudonyms import people_of
from grader.classroom.results import Results
from grader.classroom.run_rules import RunRules, UnclearRulesError
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
    run_rules = rules_of_run(
        course, request.given, request.to, resume=request.existing.resume, choice=request.existing.choice
    )
    hidden = hide_in(course, request.to, anonymous=request.anonymous)
    module = request.module(course)
    with _explained(), tempfile.TemporaryDirectory(prefix="attn-") as scratch:
        found, unused, finding = _find(request, module, run_rules, Path(scratch))
        rules = {name: run_rules.of(name) for name in sorted({one.module for one in found.handed_in})}
        marking = marking_of(course, finding, rules)
        tell_rules(run_rules, rules, request.to)
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
        status = _grade(_ClassRun(request, run_rules, rules, marking, found, accounting, hidden))
    sys.exit(status)


@dataclass(frozen=True)
class _ClassRun:
    """What is known when the grading of a class begins."""

    request: GradeRequest
    run_rules: RunRules
    rules: Mapping[str, ModuleRules]
    marking: Marking
    found: FoundSubmissions
    accounting: Accounting
    hidden: AnonymousOutput | None

    def saved(self) -> SavedRules:
        """Return what to keep of the rules, with those of modules that other runs graded."""
        skipped = self._skipped()
        mine = {
            name: replace(one, skipped={who: why for (module, who), why in sorted(skipped.items()) if module == name})
            for name, one in self.rules.items()
        }
        now = self.run_rules.now
        last = now.or_else(self.run_rules.saved.last) if self.request.existing.resume else now
        before = read_saved_rules(self.request.to) if self.request.to else SavedRules()
        return before.with_modules(last, mine)

    def _skipped(self) -> dict[tuple[str, str], str]:
        """Return why work could not be graded, by module and person.

        What an earlier run found holds for people of whom this run has no file.
        """
        here = {(line.module, line.id) for line in self.accounting.people if line.fate != "missing"}
        saved = self.run_rules.saved.modules
        before = {(name, who): why for name, one in saved.items() for who, why in one.skipped.items()}
        return {key: why for key, why in before.items() if key not in here} | self.accounting.skipped_people

    def batch(self, results: Results, gpu_name: str | None) -> Batch:
        """Return the batch of this run."""
        saved = self.run_rules.saved.modules
        others = {name: one for name, one in saved.items() if name not in self.rules}
        return Batch(
            self.run_rules.course,
            self.found.handed_in,
            results,
            self.marking,
            gpu_name=gpu_name,
            rules=BatchRules(
                {name: one.rules.undecided or "count" for name, one in self.rules.items()},
                self._skipped(),
                {name: Marking(one.known_roster(), section=one.rules.section or "") for name, one in others.items()},
                frozenset(name for name in self.rules if self._has_new_policy(name)),
            ),
        )

    def _has_new_policy(self, module: str) -> bool:
        saved = self.run_rules.saved.modules.get(module)
        return saved is not None and saved.rules.policy != self.rules[module].rules.policy


def _find(
    request: GradeRequest, module: Module | None, run: RunRules, scratch: Path
) -> tuple[FoundSubmissions, list[str], ModuleRules]:
    """Return the submissions, what --map says about folders that are not there, and the rules that found them.

    Which modules there are says which rules were kept, and those rules say how to find the submissions. So it may take
    a second look.
    """
    used = run.finding([module.name] if module else [])
    found, unused = _look(request, run.course, module, used, scratch / "first")
    modules = sorted({one.module for one in found.handed_in} or run.saved.modules)
    kept = run.finding(modules) if modules else used
    if kept != used:
        used = kept
        found, unused = _look(request, run.course, module, used, scratch / "second")
        if run.finding(sorted({one.module for one in found.handed_in} | set(modules))) != used:
            raise UnclearRulesError("the rules that are kept find other modules. Name one with --module")
    return on_disk(found), unused, used


def _look(
    request: GradeRequest, course: Course, module: Module | None, used: ModuleRules, scratch: Path
) -> tuple[FoundSubmissions, list[str]]:
    roster, map_file = used.roster(), used.file("map")
    scratch.mkdir()
    name_lines = read_map(course, Path(map_file.path), map_file.data) if map_file else None
    found = find_submissions(
        course,
        request.work.paths,
        module,
        used.rules.policy,
        scratch,
        student=request.work.student,
        class_zip=request.work.class_zip,
        file_times=used.rules.file_times,
        name_map=name_lines,
        resolve=lambda who: person.id if roster and (person := roster.find(who)) else None,
    )
    return found, name_lines.unused() if name_lines else []


def _unproved(course: Course, found: FoundSubmissions) -> Iterator[str]:
    """Yield a warning for each module whose checks changed after they were proved."""
    from grader.authoring.proof import changed_since_proof  # it loads NumPy, which --help does not need

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
        with open_executor(request.where, store) as executor:
            batch = run.batch(results, executor.gpu_name)
            require_consent(list(changed_by_rules(batch)), yes=request.existing.yes)
            results.writer.atomically(lambda: results.writer.put_document(RULES, [run.saved().text]), alone=True)
            _grade_all(batch, executor, store, request)
        agreed = batch.release(lambda changes: consent(changes, yes=request.existing.yes))
        result = batch.settle()
        alone = request.is_of_one and len(found.handed_in) == 1
        show_result(batch, result, run.hidden, run.run_rules.now.name or "", as_json=request.as_json, alone=alone)
        show_notes(batch, result, found, request.to)
        if not alone:
            click.echo("\n".join(sum_lines(settled(run.accounting, result.marks))), err=True)
    if not agreed:
        raise click.UsageError(NOT_AGREED)
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
    kept = batch.keep() if request.existing.resume else 0
    total = len(batch.work)
    if damaged := batch.results.writer.damaged:
        lines = f"{damaged} line(s) of {store.where('journal.jsonl')} were cut short or damaged"
        click.echo(f"attn: {lines}: those submissions are graded again", err=True)
    if request.existing.resume and to is not None:
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
