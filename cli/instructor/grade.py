"""`attn grade`: submissions in, reports out."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal, NoReturn

import click

from cli.instructor.grade_result import exit_code, show_notes, show_result
from cli.instructor.run_rules import rules_of_run
from cli.ui.accounting_screens import dry_run_lines, student_notes, sum_lines
from cli.ui.anonymous import anonymous_option, hide_in
from cli.ui.arguments import module_named
from cli.ui.executors import Where, open_executor, where_options
from cli.ui.progress_line import Pace
from cli.ui.store_options import NEW_RESULTS, require_name, store_option
from grader.classroom.accounting import Accounting, account, settled
from grader.classroom.batch import Batch
from grader.classroom.marks import Marking
from grader.classroom.pseudonyms import people_of
from grader.classroom.results import Results
from grader.classroom.roster import normalize_name
from grader.classroom.rules import Rules, RulesError
from grader.classroom.store.errors import ResultsError, StoreError
from grader.classroom.store.files import FileStore
from grader.classroom.store.store import ResultsStore
from grader.core.review import Undecided
from grader.core.safe_text import one_line
from grader.course.course import find_course
from grader.course.module import Module
from grader.grading.executor import Executor
from grader.grading.failure import NoProcessError
from grader.grading.pool import usable_cores
from grader.grading.workers import NoGpuError, NoJailError
from grader.platforms.cluster.errors import ClusterError, ClusterLostError
from grader.sandbox.jail.view import gpu_devices
from grader.submission.class_archive import is_tar
from grader.submission.finder import FoundSubmissions, find_submissions
from grader.submission.found_on_disk import on_disk
from grader.submission.identity import Identity
from grader.submission.name_map import MapError, read_map

NO_JAIL = (
    "NOT SANDBOXED: this machine has no jail, so other people's code could read and change everything that you can. "
    "`attn doctor` says why and what to install. To grade code that you trust, add --allow-unjailed."
)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--module", "-m", "module_name", help="Which module the files are for: 01_warm_up, warm_up or 1.")
@click.option("--student", metavar="NAME", help="Everything at PATHS is the work of this student.")
@click.option("--class-zip", is_flag=True, help="Each zip in PATHS is a class, not one student's work.")
@click.option("--map", "name_map", type=_FILE, help="Whose work a folder is, as CSV: folder, student, module if known.")
@click.option("--dry-run", is_flag=True, help="Only print who handed in what and when, and what is skipped and why.")
@click.option("--to", type=NEW_RESULTS, help="Keep reports and grades.csv in this folder.")
@store_option
@click.option("--resume", is_flag=True, help="Continue in --to: grade only what is missing or out of date.")
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 256), help="Grading processes side by side; by default one per core."
)
@click.option("--roster", type=_FILE, help="The class as CSV: id, name, section.")
@click.option("--policy", type=click.Choice(["latest", "best"]), help="Which of several attempts counts.")
@click.option("--due", multiple=True, metavar="[MODULE=]WHEN", help="Such as 2026-10-01 or 2026-10-01T12:00+02:00.")
@click.option("--extensions", type=_FILE, help="Later due dates as CSV: id, until, and module if not for all.")
@click.option("--times", type=_FILE, help="When work was handed in, as CSV: id, submitted, and module if not for all.")
@click.option("--file-times", is_flag=True, help="Use the files' own times as the times of submission.")
@click.option(
    "--late-penalty", metavar="N[%]/PERIOD", help="10%/day: a tenth of the possible points for each day begun."
)
@click.option("--grace", metavar="TIME", help="Not late until this much time after the due date, such as 15m.")
@click.option(
    "--undecided",
    type=click.Choice(["count", "withhold"]),
    help="Whether points that are not decided yet count until you decide; by default they do. See attn review.",
)
@click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="cuda: also run the checks that need a GPU."
)
@where_options
@anonymous_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of reports instead of text.")
@click.option("--allow-unjailed", is_flag=True, help="Grade even without a jail: only for code you trust.")
def grade(
    paths: tuple[Path, ...],
    module_name: str | None,
    student: str | None,
    class_zip: bool,
    name_map: Path | None,
    dry_run: bool,
    to: ResultsStore | None,
    resume: bool,
    jobs: int | None,
    roster: Path | None,
    policy: Literal["latest", "best"] | None,
    due: tuple[str, ...],
    extensions: Path | None,
    times: Path | None,
    file_times: bool,
    late_penalty: str | None,
    grace: str | None,
    undecided: Undecided | None,
    device: Literal["cpu", "cuda"],
    where: Where,
    anonymous: bool,
    as_json: bool,
    allow_unjailed: bool,
) -> None:
    """Grade submissions with the visible and the hidden checks.

    PATHS are scripts, notebooks, zips, folders laid out as <student>/<module>/<file>, or what a platform exported:
    Canvas, Moodle, Blackboard, Gradescope, GitHub Classroom or nbgrader, as a folder or as its zip.

    \b
    attn grade ana/warm_up.py                  the file name names the module
    attn grade ana.py --module 01_warm_up      or you name it
    attn grade hw.zip --student ana            or whose work it is
    attn grade class.zip --class-zip           a folder or zip in it per student
    attn grade class/ --dry-run                who handed in what, and when?
    attn grade class/ --to reports             a report for each, and grades.csv
    attn grade class/ --to reports --resume    go on after Ctrl-C or a crash
    attn grade class/ --json > reports.json    the same as one JSON array
    attn grade class/ --to reports --due 2026-10-01 --late-penalty 10%/day
    attn stats reports                         what does the class fail at?
    attn review reports                        what could not be decided?
    attn grade class/ --to week1 --store postgresql://grader@db/classroom

    A zip is one student's work, whatever is in it. It is a class only if you say so with --class-zip, or if it is
    beyond doubt the export of a platform: Canvas, Moodle, Blackboard or Gradescope. If a zip could be both, it is
    refused. A zip inside a folder or a class zip is always one student's work. A tar can only be a class.

    Students are found on the roster by id, account, email address, GitHub name or, if it is unique, name. Where that
    fails, --map says whose work a folder is. The last lines count every file and every person on the roster.

    Each report is written as soon as it is ready. To grade again after you corrected a test, run the same command
    again: it lists the grades that changed, through which checks and why, and keeps the old reports in reports/earlier.
    With --resume, a submission is graded again only if something changed: the submission, the checks, or AttnLab.

    A student may have several attempts: zips, or folders inside their own (ana/try2/warm_up.py). The latest counts, or
    with --policy best the one with the highest mark after its own penalty. If it is not clear which is the latest, or
    whose they are, they are skipped.

    The submission time is the one in --times, or that of the platform: Gradescope's list, the last commit, nbgrader's
    timestamp.txt. Otherwise it is unknown: there is no penalty, and it is said. A file's own time is often that of a
    download, so it counts only with --file-times.

    With --device cuda, modules for the GPU are also graded on the GPU of this machine, one submission at a time. Those
    checks have extra points of their own. Without it, the reports list them as not run.

    With --store or ATTN_STORE, the results are in a PostgreSQL database, and --to is their name there. Several machines
    can then grade one class at once. See docs/store.md.

    With --anonymous, nothing that is printed names a student. The reports in --to have the names.

    Student code runs in a jail. Its tier is printed with the results, and `attn doctor` says more. Without a jail,
    nothing is graded unless you add --allow-unjailed.

    Exit status: 0 all full marks, 1 some are not or work was skipped, 2 nothing to grade or no jail, 3 a fault of the
    grader. With --dry-run: 0, or 1 if work would be skipped.
    """
    cuda = device == "cuda"
    where.check(to, cuda=cuda)
    if cuda and not where.on_gpu and not gpu_devices():
        raise click.UsageError(
            "this machine has no NVIDIA GPU; without --device, checks that need one are reported as not run"
        )
    require_name(to)
    _check_owner(paths, student, class_zip=class_zip)
    given = Rules(
        roster=_full(roster),
        policy=policy,
        due=due,
        extensions=_full(extensions),
        times=_full(times),
        late_penalty=late_penalty,
        grace=grace,
        undecided=undecided,
        map=_full(name_map),
        file_times=file_times,
    )
    course = find_course(Path.cwd())
    rules = rules_of_run(course, given, to, resume=resume)
    hidden = hide_in(course, to, anonymous=anonymous)
    module = module_named(course, module_name) if module_name else None
    if module is not None and module.needs_gpu:
        _require_gpu_options(module, cuda=cuda or bool(where.on_gpu), allow_unjailed=allow_unjailed)
    try:
        marking = rules.marking(course)
        with tempfile.TemporaryDirectory(prefix="attn-") as scratch:
            name_lines = read_map(course, Path(rules.map)) if rules.map else None
            found = on_disk(
                find_submissions(
                    course,
                    paths,
                    module,
                    rules.policy,
                    Path(scratch),
                    student=student,
                    class_zip=class_zip,
                    file_times=rules.file_times,
                    name_map=name_lines,
                    resolve=lambda who: person.id if (person := marking.person(who)) else None,
                )
            )
            accounting = account(found, marking, [module.name] if module else [])
            if hidden:
                hidden.learn(people_of(marking.roster, _everybody(found, accounting)))
            if dry_run:
                _show_plan(accounting, found, marking, as_json=as_json)
            _tell(found, accounting, marking, name_lines.unused() if name_lines else [])
            if not found.handed_in:
                raise click.UsageError("there is nothing to grade at " + ", ".join(map(str, paths)))
            with _store(to) as store, Results(store) as results:
                results.save_rules(rules)
                count = rules.undecided or "count"
                cores = jobs or usable_cores()
                with open_executor(where, store, jobs=cores, cuda=cuda, allow_unjailed=allow_unjailed) as executor:
                    name = executor.gpu_name
                    batch = Batch(course, found.handed_in, results, marking, gpu_name=name, undecided=count)
                    batch.skipped = accounting.skipped_people
                    _run(batch, executor, resume=resume, to=to)
                result = batch.settle()
                alone = len(found.handed_in) == 1 and not any(path.is_dir() for path in paths)
                show_result(batch, result, hidden, rules.name or "", as_json=as_json, alone=alone)
                show_notes(batch, result, found, to)
                if not alone:
                    click.echo("\n".join(sum_lines(settled(accounting, result.marks))), err=True)
    except NoJailError:
        raise click.UsageError(NO_JAIL) from None
    except NoGpuError as error:
        raise click.UsageError(f"no worker can use a GPU here: {error}") from None
    except (ResultsError, RulesError, MapError, ClusterError) as error:
        raise click.UsageError(str(error)) from None
    except (NoProcessError, ClusterLostError) as error:
        saved = ". What is graded is saved: go on with --resume" if isinstance(error, ClusterLostError) else ""
        click.echo(f"attn: {error}{saved}", err=True)
        sys.exit(3)
    sys.exit(3 if batch.unwritten else exit_code(result, refused=accounting.has_skipped))


def _check_owner(paths: tuple[Path, ...], student: str | None, *, class_zip: bool) -> None:
    """Stop if it is not clear whose work this is."""
    if student is not None and not student.strip():
        raise click.UsageError("--student needs a name")
    if class_zip and student is not None:
        raise click.UsageError("--class-zip is for many students, --student for one: use only one of them")
    if class_zip and not any(path.suffix.lower() == ".zip" or is_tar(path) for path in paths):
        raise click.UsageError("--class-zip needs a zip or a tar among the PATHS")


def _require_gpu_options(module: Module, *, cuda: bool, allow_unjailed: bool) -> None:
    """Stop unless the options allow what a module for the GPU needs."""
    if not cuda:
        raise click.UsageError(f"{module.name}: not run: it needs a GPU. Add --device cuda on a machine that has one")
    if not allow_unjailed:
        why = "Triton starts compilers, so code for this module cannot be jailed"
        raise click.UsageError(f"{module.name}: {why}. To grade code that you trust, add --allow-unjailed")


def _full(path: Path | None) -> str | None:
    return str(path.resolve()) if path else None


def _everybody(found: FoundSubmissions, accounting: Accounting) -> Iterable[str]:
    """Return everyone who handed in a file, graded or not."""
    skipped = (who.label for line in accounting.files for who in line.who)
    return dict.fromkeys([*(handed_in.student for handed_in in found.handed_in), *skipped])


def _show_plan(accounting: Accounting, found: FoundSubmissions, marking: Marking, *, as_json: bool) -> NoReturn:
    """Print what would be graded and what would not, and end."""

    def person(who: Identity) -> str:
        known = marking.person(who)
        return f"{who.label} = {known.id}" if known and known.id != who.label else who.label

    if as_json:
        click.echo(
            json.dumps(accounting.as_json() | {"notes": [f"{path}: {note}" for path, note in found.notes]}, indent=1)
        )
    else:
        notes = [one_line(f"{path}: {note}", 1000) for path, note in found.notes]
        lines = [*notes, *([""] if notes else []), *dry_run_lines(accounting, person)]
        click.echo("\n".join([*lines, *student_notes(accounting), *sum_lines(accounting)]))
    sys.exit(1 if accounting.has_skipped else 0)


def _tell(found: FoundSubmissions, accounting: Accounting, marking: Marking, unused: list[str]) -> None:
    """Print what was read as a class, what is skipped, and who is not on the roster."""
    for line in unused:
        click.echo(one_line(f"attn: {line}", 1000), err=True)
    for path, note in found.notes:
        click.echo(one_line(f"attn: {path}: {note}", 1000), err=True)
    for path, reason in chain(found.refused, found.not_counted):
        click.echo(one_line(f"attn: skipped {path}: {reason}", 1000), err=True)
    _tell_of_times(found, marking)
    for line in student_notes(accounting):
        click.echo(f"attn: {line}", err=True)


def _tell_of_times(found: FoundSubmissions, marking: Marking) -> None:
    """Print which times belong to no student, and how many times are unknown."""
    deadlines = marking.deadlines
    if deadlines.extensions or deadlines.handed_in:
        known_names = {normalize_name(handed_in.student) for handed_in in found.handed_in}
        for who in deadlines.unknown(lambda name: name in known_names or marking.person(name) is not None):
            click.echo(one_line(f"attn: an extension or a time is for {who}, but there is no such student"), err=True)
    if not deadlines.due:
        return
    unknown = Counter(one.piece.late for one in found.handed_in if marking.handed_in_at(one) is None)
    if unknown:
        marked = f", {unknown[True]} of them marked LATE by the platform" if unknown[True] else ""
        text = f"submission time unknown for {unknown.total()} of {len(found.handed_in)}{marked}: no late penalty"
        click.echo(f"attn: {text}. Use --times, or --file-times if the files' own times are right", err=True)


@contextlib.contextmanager
def _store(to: ResultsStore | None) -> Iterator[ResultsStore]:
    """Give the place for the results: a temporary folder without --to."""
    if to is not None:
        yield to
        return
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        yield FileStore(Path(folder))


def _run(batch: Batch, executor: Executor, *, resume: bool, to: ResultsStore | None) -> None:
    """Grade the class and show the progress."""
    kept = batch.keep() if resume else 0
    total = len(batch.work)
    if batch.results.damaged:
        lines = (
            f"{batch.results.damaged} line(s) of {batch.results.store.where('journal.jsonl')} were cut short or damaged"
        )
        click.echo(f"attn: {lines}: those submissions are graded again", err=True)
    if resume and to is not None:
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
