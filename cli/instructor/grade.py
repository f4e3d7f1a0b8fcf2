"""`attn grade`: submissions in, reports out."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from cli.author.dev import chosen

if TYPE_CHECKING:
    from grader.classroom.batch import Batch, BatchResult
    from grader.classroom.marks import Marking
    from grader.classroom.rules import Rules
    from grader.submission.finder import FoundSubmissions

NO_JAIL = (
    "NOT SANDBOXED: this machine gives no jail, so other people's code could read and change all that you can. "
    "`attn doctor` says why and what to install. To grade code that you trust, add --allow-unjailed."
)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--module", "-m", "module_name", help="Which module the files are for: 01_softmax, softmax or 1.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), help="Keep reports and grades.csv here.")
@click.option("--resume", is_flag=True, help="Go on with --to: grade only what is not there, or no longer holds.")
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 256), help="Grading processes side by side; one a core by default."
)
@click.option("--roster", type=_FILE, help="The class as CSV: id, name, section.")
@click.option("--policy", type=click.Choice(["latest", "best"]), help="Which of several attempts counts.")
@click.option("--due", multiple=True, metavar="[MODULE=]WHEN", help="Such as 2026-10-01 or 2026-10-01T12:00+02:00.")
@click.option("--extensions", type=_FILE, help="Later due dates as CSV: id, until, and module if not for all.")
@click.option("--times", type=_FILE, help="When work was handed in, as CSV: id, submitted, and module if not for all.")
@click.option("--late-penalty", metavar="N[%]/PERIOD", help="10%/day: a tenth of the possible for each day begun.")
@click.option("--grace", metavar="TIME", help="Not late until this long after it is due, such as 15m.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="cuda: also the checks on a GPU.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of reports instead of text.")
@click.option("--allow-unjailed", is_flag=True, help="Grade even where there is no jail: only for code you trust.")
def grade(
    paths: tuple[Path, ...],
    module_name: str | None,
    to: Path | None,
    resume: bool,
    jobs: int | None,
    roster: Path | None,
    policy: Literal["latest", "best"] | None,
    due: tuple[str, ...],
    extensions: Path | None,
    times: Path | None,
    late_penalty: str | None,
    grace: str | None,
    device: Literal["cpu", "cuda"],
    as_json: bool,
    allow_unjailed: bool,
) -> None:
    """Grade submissions by the visible and the hidden checks.

    PATHS are scripts, notebooks, zips, or folders laid out as <student>/<module>/<file>.

    \b
    attn grade ana/softmax.py                   the file's name says which module it is
    attn grade ana.py --module 01_softmax       or you do
    attn grade class/ --to reports              a whole class: one report file each, and grades.csv
    attn grade class/ --to reports --resume     after Ctrl-C or a crash: nothing is graded twice
    attn grade class/ --json > reports.json     the same as one JSON array
    attn grade class/ --to reports --roster class.csv --due 2026-10-01 --late-penalty 10%/day
    attn stats reports                          what the class fails at, and whom to look at

    Reports are written as they come. To grade again after a test was corrected, run the same command again: it says
    whose grade changed, by which checks and why, and keeps what those reports were in reports/earlier. With --resume
    only those are graded again for which something changed: the submission, the checks, or AttnLab.

    A student may have several attempts: zips, or folders below their own (ana/try2/softmax.py). The latest counts, or
    with --policy best the one with the highest mark after its own penalty. When work came, its file says: the zip's
    time, the script's, or nbgrader's timestamp.txt; better say it with --times if the files were copied about.

    With --device cuda, modules for the GPU are also graded on the one of this machine, one submission at a time: those
    checks have points of their own on top. Without, they are in the reports as not run.

    Student code runs in a jail; the tier it has here is printed with the results, and `attn doctor` says more. Where
    there is none, nothing is graded without --allow-unjailed.

    Exit status: 0 all full marks, 1 some are not, 2 nothing to grade or no jail, 3 a fault of the grader.
    """
    from grader.classroom.batch import Batch
    from grader.classroom.results import Results, ResultsError
    from grader.classroom.rules import Rules, RulesError, write_rules
    from grader.course.course import find_course
    from grader.grading.pool import NoProcessError, usable_cores
    from grader.grading.workers import NoGpuError, NoJailError
    from grader.sandbox.jail.view import gpu_devices
    from grader.submission.finder import find_submissions

    if device == "cuda" and not gpu_devices():
        raise click.UsageError(
            "this machine has no NVIDIA GPU; without --device, what needs one is reported as not run"
        )
    said = Rules(_full(roster), policy, due, _full(extensions), _full(times), late_penalty, grace)
    rules = _rules(said, to, resume=resume)
    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0] if module_name else None
    try:
        marking = rules.marking(course)
        with tempfile.TemporaryDirectory(prefix="attn-") as scratch:
            found = find_submissions(course, paths, module, rules.policy, Path(scratch))
            _tell(found, marking)
            if not found.handed_in:
                raise click.UsageError("there is nothing to grade at " + ", ".join(map(str, paths)))
            with _folder(to) as folder, Results(folder) as results:
                write_rules(rules, folder)
                batch = Batch(course, found.handed_in, results, marking, gpu=device == "cuda")
                _run(batch, resume=resume, jobs=jobs or usable_cores(), to=to, allow_unjailed=allow_unjailed)
                settled = batch.settle()
                whole = len(found.handed_in) == 1 and not any(path.is_dir() for path in paths)
                _show(batch, settled, as_json=as_json, whole=whole)
                _notes(batch, settled, found, to)
    except NoJailError:
        raise click.UsageError(NO_JAIL) from None
    except NoGpuError as error:
        raise click.UsageError(f"there is no GPU that a worker could use here: {error}") from None
    except (ResultsError, RulesError) as error:
        raise click.UsageError(str(error)) from None
    except NoProcessError as error:
        click.echo(f"attn: {error}", err=True)
        sys.exit(3)
    sys.exit(3 if batch.unwritten else _exit_code(settled, refused=bool(found.refused)))


def _full(path: Path | None) -> str | None:
    return str(path.resolve()) if path else None


def _rules(said: Rules, to: Path | None, *, resume: bool) -> Rules:
    """Return the rules that hold: those said, and on resuming what was said before."""
    from grader.classroom.rules import read_rules

    if to is None:
        if resume:
            raise click.UsageError("--resume goes on with what is in a folder: say which with --to")
        return said
    before = read_rules(to)
    if resume:
        rules = said.or_else(before)
        again = {name: value for name, value in rules.as_options().items() if name not in said.as_options()}
        if again:
            click.echo("as before: " + " ".join(f"{name} {value}" for name, value in again.items()), err=True)
        return rules
    dropped = [name for name in before.as_options() if name not in said.as_options()]
    if dropped:
        text = f"the last run into {to} had {', '.join(dropped)}, this one has not"
        click.echo(f"attn: {text} (--resume would keep them)", err=True)
    return said


def _tell(found: FoundSubmissions, marking: Marking) -> None:
    """Say what is passed over, and who is not on the roster."""
    from grader.classroom.roster import normalize_name
    from grader.core.safe_text import one_line

    for path, reason in (*found.refused, *found.passed_over):
        click.echo(one_line(f"attn: passed over {path}: {reason}", 1000), err=True)
    students = {handed_in.student for handed_in in found.handed_in}
    known_names = {normalize_name(student) for student in students}
    for who in marking.deadlines.unknown(lambda name: name in known_names or marking.person(name) is not None):
        click.echo(one_line(f"attn: an extension or a time is for {who}, but there is no such student"), err=True)
    unknown = sum(handed_in.piece.handed_in is None for handed_in in found.handed_in)
    if unknown and marking.deadlines.due and not marking.deadlines.handed_in:
        text = (
            f"when {unknown} of {len(found.handed_in)} came is not known: nobody of them is late. Say it with --times"
        )
        click.echo(f"attn: {text}", err=True)
    if marking.roster is None:
        return
    for student in sorted(student for student in students if marking.person(student) is None):
        click.echo(one_line(f"attn: {student} is not on the roster; graded all the same"), err=True)


@contextlib.contextmanager
def _folder(to: Path | None) -> Iterator[Path]:
    """Give the folder for the results: a passing one if nobody wants to keep them."""
    if to is not None:
        yield to
        return
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        yield Path(folder)


def _run(batch: Batch, *, resume: bool, jobs: int, to: Path | None, allow_unjailed: bool) -> None:
    """Grade the class with its progress on the screen."""
    from cli.ui.progress_line import Pace

    kept = batch.keep() if resume else 0
    total = len(batch.work)
    if batch.results.damaged:
        lines = f"{batch.results.damaged} line(s) of {batch.results.folder / 'journal.jsonl'} were cut short or damaged"
        click.echo(f"attn: {lines}: what they were about is graded again", err=True)
    if resume:
        click.echo(f"{kept} of {total} are in {to}/ already, {total - kept} to grade", err=True)
    pace = Pace(total - kept)
    try:
        with pace, contextlib.closing(batch.grade(jobs, allow_unjailed=allow_unjailed)) as all_graded:
            for graded in all_graded:
                if total > 1:
                    pace.step(graded.report.submission)
    except OSError as error:
        lost = f"attn: {error}. {kept + pace.done} of {total} are graded and kept"
        click.echo(f"{lost}; make room, then go on with --resume" if to else lost, err=True)
        raise SystemExit(3) from None
    except KeyboardInterrupt:
        if to is not None:
            click.echo(f"attn: {kept + pace.done} of {total} are in {to}/; --resume goes on from there", err=True)
        raise
    for key, (_, problem) in batch.unwritten.items():
        click.echo(f"attn: the report of {key.student} could not be written, nor its grade: {problem}", err=True)


def _show(batch: Batch, settled: BatchResult, *, as_json: bool, whole: bool) -> None:
    """Print the reports as JSON, as a class table, or the only one as a whole screen."""
    from cli.ui.report_screens import change_lines, class_table, remark_lines, report_screen

    if as_json:
        # One after the other: a class of reports need not fit into memory.
        for number, report in enumerate(batch.reports(settled)):
            click.echo("[" if number == 0 else ",", nl=number == 0)
            click.echo(json.dumps(report.as_json(), indent=1), nl=False)
        click.echo("\n]")
    else:
        click.echo(report_screen(next(batch.reports(settled))) if whole else class_table(settled))
    for line in (*change_lines(settled.changes), *remark_lines(settled.remarked)):
        click.echo(line, err=as_json)


def _notes(batch: Batch, settled: BatchResult, found: FoundSubmissions, to: Path | None) -> None:
    """Say on the side what else there is to know."""
    from grader.core.safe_text import one_line

    if any(summary.sandbox == "none" for summary in settled.summaries):
        click.echo("attn: NOT SANDBOXED: these submissions ran without a jail", err=True)
    if found.refused:
        click.echo(f"attn: {len(found.refused)} could not be graded, see above", err=True)
    if to is None:
        return
    lines: dict[tuple[str, str], int] = {}
    for mark in settled.marks:
        lines[mark.module, mark.id] = lines.get((mark.module, mark.id), 0) + 1
    for (module, who), count in lines.items():
        if count > 1:
            click.echo(one_line(f"attn: {who} has {count} lines for {module} in grades.csv"), err=True)
    left_out = batch.results.unmarked()
    if left_out:
        names = ", ".join(left_out[:5]) + (", …" if len(left_out) > 5 else "")
        text = "from a run that did not end: not in grades.csv until that run is repeated with --resume"
        click.echo(f"attn: {len(left_out)} report(s) in {to}/ are {text} ({names})", err=True)
    click.echo(f"one report a submission, grades.csv and the class's misconceptions are in {to}/", err=True)


def _exit_code(settled: BatchResult, *, refused: bool) -> int:
    if any(summary.score is None for summary in settled.summaries):
        return 3
    return 0 if all(summary.is_full for summary in settled.summaries) and not refused else 1
