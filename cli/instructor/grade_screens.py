"""What `attn grade` prints: what it found, then reports or a table, notes, and the exit status."""

from __future__ import annotations

import contextlib
import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby, islice

import click

from cli.ui.anonymous import AnonymousOutput
from cli.ui.report_screens import change_lines, class_table, remark_lines, report_screen
from grader.classroom.accounting import Accounting
from grader.classroom.batch import Batch, BatchResult
from grader.classroom.marks import Marking
from grader.classroom.roster import normalize_name
from grader.classroom.store.store import ResultsStore
from grader.core.safe_text import listed, one_line
from grader.core.times import show_time
from grader.submission.found import FileLine, FoundSubmissions
from grader.submission.identity import Identity

LINES = 500  # that are printed at once
HEADS = {
    "graded": "To grade:",
    "not counted": "Attempts that do not count:",
    "skipped": "Skipped:",
    "not work": "Not work:",
}
WIDTH = 80


def show_plan(accounting: Accounting, found: FoundSubmissions, marking: Marking, *, as_json: bool) -> None:
    """Print what would be graded and what would not."""
    if as_json:
        notes = [f"{path}: {note}" for path, note in found.notes]
        click.echo(json.dumps(accounting.as_json() | {"notes": notes}, indent=1))
        return
    notes = [one_line(f"{path}: {note}", 1000) for path, note in found.notes]
    lines = [*notes, *([""] if notes else []), *_file_lines(accounting, marking)]
    times = [note.removeprefix("attn: ") for note in _time_notes(found, marking)]
    click.echo("\n".join([*lines, *times, *_student_notes(accounting), *sum_lines(accounting)]))


def found_notes(
    found: FoundSubmissions, accounting: Accounting, marking: Marking, unused: Iterable[str]
) -> Iterator[str]:
    """Yield what was read as a class, what is skipped, which times are unknown, and who is not on the roster."""
    for line in unused:
        yield one_line(f"attn: {line}", 1000)
    for path, note in found.notes:
        yield one_line(f"attn: {path}: {note}", 1000)
    for path, reason in found.refused:
        yield one_line(f"attn: skipped {path}: {reason}", 1000)
    for path, reason in found.not_counted:
        yield one_line(f"attn: not counted {path}: {reason}", 1000)
    for path, how in found.guessed:
        yield one_line(f"attn: {path} {how}", 1000)
    yield from _time_notes(found, marking)
    for line in _student_notes(accounting):
        yield f"attn: {line}"


def _time_notes(found: FoundSubmissions, marking: Marking) -> Iterator[str]:
    """Yield which times belong to no student, and how many times are unknown."""
    known_names = {normalize_name(handed_in.student) for handed_in in found.handed_in}
    strangers = (
        who
        for one in marking.by_module.values()
        for who in one.unknown(lambda name: name in known_names or marking.person(name) is not None)
    )
    for who in dict.fromkeys(strangers):
        yield one_line(f"attn: an extension or a time is for {who}, but there is no such student")
    due = [one for one in found.handed_in if marking.deadlines_of(one.module).due]
    unknown = Counter(one.piece.attempt.late for one in due if marking.handed_in_at(one) is None)
    if unknown:
        marked = f", {unknown[True]} of them marked LATE by the platform" if unknown[True] else ""
        text = f"submission time unknown for {unknown.total()} of {len(due)}{marked}: no late penalty"
        yield f"attn: {text}. Use --times, or --file-times if the files' own times are right"


def _file_lines(accounting: Accounting, marking: Marking) -> list[str]:
    """Return every file and every missing person."""
    lines: list[str] = []
    for fate, head in HEADS.items():
        found = [line for line in accounting.files if line.fate == fate]
        lines += [head, *(text for line in found for text in _file(line, marking)), ""] if found else []
    missing = [line for line in accounting.people if line.fate == "missing"]
    if missing:
        lines += ["Missing:", *(f"  {one_line(_named(one.id, one.name))}  {one.module}" for one in missing), ""]
    return lines


def _student_notes(accounting: Accounting) -> list[str]:
    """Return the students who are not on the roster, or may be several people on it."""
    several = dict(accounting.doubtful)
    lines = [
        one_line(f"{student} may be {' or '.join(ids)} on the roster: not guessed. Use --map")
        for student, ids in several.items()
    ]
    others = [student for student in accounting.strangers if student not in several]
    return lines + [one_line(f"{student} is not on the roster; graded anyway") for student in others]


def sum_lines(accounting: Accounting) -> list[str]:
    """Return the sums of a run, each on one line."""
    return [one_line(line) for line in accounting.sums()]


def _file(line: FileLine, marking: Marking) -> list[str]:
    shown = f"  {one_line(line.path, 1000)}"
    if line.fate == "graded":
        who = listed(_on_roster(one, marking) for one in line.who)
        attempt = f", attempt {line.attempt}" if line.attempt else ""
        own = one_line(f"      {who}, {line.module}{attempt}, {_when(line)}", 1000)
        return [shown, own, *_indented(line.reason)]
    return [shown, *_indented(line.reason)]


def _indented(text: str) -> list[str]:
    return textwrap.wrap(one_line(text, 1000), WIDTH - 6, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _on_roster(who: Identity, marking: Marking) -> str:
    """Return a student, with the id on the roster if that is another."""
    known = marking.person(who)
    return f"{who.label} = {known.id}" if known and known.id != who.label else who.label


def _when(line: FileLine) -> str:
    if line.handed_in is not None:
        return show_time(line.handed_in)
    return "marked LATE, time unknown" if line.late else "time unknown"


def _named(identifier: str, name: str) -> str:
    return f"{identifier} ({name})" if name else identifier


def show_result(
    batch: Batch, settled: BatchResult, hidden: AnonymousOutput | None, name: str, *, as_json: bool, alone: bool
) -> None:
    """Print the reports as JSON, as a class table, or a single one in full."""
    if as_json:
        # One at a time: the reports of a class may not fit into memory.
        for number, report in enumerate(batch.reports(settled)):
            click.echo("[" if number == 0 else ",", nl=number == 0)
            with hidden.as_it_is() if hidden else contextlib.nullcontext():
                shown = hidden.names.report(report) if hidden else report
                click.echo(json.dumps(shown.as_json(), indent=1), nl=False)
        click.echo("\n]")
    else:
        table = hidden.table(settled) if hidden else settled
        lines = iter([report_screen(next(batch.reports(settled)))] if alone else class_table(table, name))
        while some := list(islice(lines, LINES)):
            click.echo("\n".join(some))
    for line in (*change_lines(settled.changes), *remark_lines(settled.remarked)):
        click.echo(line, err=as_json)


def show_notes(batch: Batch, settled: BatchResult, found: FoundSubmissions, to: ResultsStore | None) -> None:
    """Print notes on standard error."""
    if "none" in settled.counts.sandboxes:
        click.echo("attn: NOT SANDBOXED: these submissions ran without a jail", err=True)
    if found.refused:
        click.echo(f"attn: {len(found.refused)} could not be graded, see above", err=True)
    if to is None:
        return
    for (module, who), lines in groupby(settled.marks, key=lambda mark: (mark.module, mark.id)):
        if (count := sum(1 for _ in lines)) > 1:
            click.echo(one_line(f"attn: {who} has {count} lines for {module} in grades.csv"), err=True)
    for note in batch.results.writer.overrides().notes(settled.marks):
        click.echo(one_line(f"attn: {note}", 1000), err=True)
    left_out = batch.results.writer.unmarked()
    if left_out:
        names = listed(left_out[:5]) + (", …" if len(left_out) > 5 else "")
        text = "from a run that has not finished: not in grades.csv until you repeat that run with --resume"
        click.echo(f"attn: {len(left_out)} report(s) in {to.title} are {text} ({names})", err=True)
    if provisional := settled.counts.provisional:
        scores = "1 score is" if provisional == 1 else f"{provisional} scores are"
        click.echo(f"attn: {scores} provisional. To see what is undecided, run: attn review {to.name}", err=True)
    click.echo(f"one report per submission, grades.csv and the misconceptions of the class are in {to.title}", err=True)


def exit_code(settled: BatchResult, *, refused: bool) -> int:
    """Return 0 if all have full marks, 1 if not, 3 if a grade is missing."""
    if settled.counts.not_graded:
        return 3
    return 0 if settled.counts.full == settled.counts.submissions and not refused else 1
