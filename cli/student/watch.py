"""`attn watch`: the checks run after every save, until q is pressed."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click

from cli.student.complete import finish
from cli.student.current import course_and_module, next_up
from cli.student.hint import hint_lines, hint_text
from cli.student.own_checks import save_progress, where_to_paste
from cli.student.settling import Settling, is_whole
from cli.ui.arguments import modules_here
from cli.ui.colour import paint
from cli.ui.course_bar import course_bar, with_bar
from cli.ui.keys import Keys
from cli.ui.own_screen import ROWS, is_perfect, own_screen
from cli.ui.progress_line import Pace
from cli.ui.progress_screens import begin_lines
from grader.core.errors import StudentError, SupersededError
from grader.core.report import Report
from grader.core.safe_text import printable
from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.sandbox.jail.tiers import begin_spawner
from grader.submission.own_file import own_file
from grader.submission.submission import Submission, own_submission
from grader.workspace.progress import all_progress, next_hint, progress_of, record_hint

POLL_SECONDS = 0.01
_Stamps = tuple[tuple[int, int] | None, ...]
KEYS = "Keys: c complete, n next module, h hint, p profile, r run again, q quit"
NO_KEYS = "There is no keyboard here: Ctrl-C quits."
QUIT = ("q", "\x04")
STOPPING = (*QUIT, "n", "r")  # keys that need no result: they end a check that runs
FEW = 2  # checks that are named
STOPS = "Save to start again, q quits."


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
def watch(module_name: str | None) -> None:
    """Run the visible checks whenever you save. Each run shows what got better and what got worse.

    \b
    attn watch            the module you are in, or the next one to do
    attn watch warm_up    this one

    A file is checked when it is whole: not while your editor is still writing it. A save ends a check that still runs.

    Keys: c completes, n goes on to the next module, h gives a hint, p profiles, r runs again, q quits. When every
    visible check passes, n also completes the module.
    """
    course, first = course_and_module(module_name)
    module: Module | None = first
    with Keys() as keys:
        follows = False
        while module is not None:
            watching = _Watching(course, module, keys, follows)
            watching.run()
            module, follows = watching.then, True


@dataclass
class _Watching:
    """One module that is watched; `then` is the module to go on with."""

    course: Course
    module: Module
    keys: Keys
    follows: bool  # on another module: what was shown about that one stays on the screen
    then: Module | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    settling: Settling = field(default_factory=Settling)
    line: Pace = field(default_factory=lambda: Pace(1))
    seen: _Stamps | None = None  # the files that are checked
    pressed: str = ""  # a key that was pressed during a check
    is_perfect: bool = False  # every visible check passes, and nothing else is wrong

    def run(self) -> None:
        """Check the file now and after every change; the process that checks stays warm in between."""
        begun = begin_spawner(self.module.backend)
        try:
            from grader.grading.grade import check_own_files  # while the worker starts, as in `run_checks`

            self._begin()
            check_own_files(self.course, self.module, self._states(), self._show, begun, busy=self._busy)
        finally:
            if begun is not None:
                begun.close()

    def _begin(self) -> None:
        """Say what is watched. A new module after another begins with its lesson, not with a check of the stub."""
        progress = progress_of(self.course, self.module)
        if self.follows and progress.state == "untouched":
            self.seen = self._stamp()
            lines = [line for line in begin_lines(self.course, progress) if not line.startswith("  run ")]
            click.echo("\n".join(["", *lines, "  save   it: every save is checked here"]))
        else:
            click.echo(f"Watching {self.module.name}. Save your file to check it.")
        self._show_keys()

    def _states(self) -> Iterator[Submission]:
        """Yield the student's work now, and again after every save."""
        while True:
            now = self._stamp()
            if self.seen is not None and any(self.seen) and not any(now):
                click.echo(f"{self.module.stub.name} is missing. Waiting for it to come back ...")
                self.seen = now
            if now != self.seen and any(now) and (self.seen is None or self._is_saved(now)):
                self.seen = now
                click.echo("Checking ... (Ctrl-C stops)")
                try:
                    yield own_submission(self.course, self.module)
                except CourseError:  # the editor is not done with saving
                    self.seen = None
                self.line.clear()
            if self._is_left(self.pressed or self.keys.wait(POLL_SECONDS)):
                return

    def _is_left(self, key: str) -> bool:
        """Do what a key asks for, and return whether this module is left."""
        self.pressed = ""
        match key:
            case "n":
                return self._go_on()
            case "r":
                self.seen = None
            case "c":
                self._complete()
            case "h":
                self._hint()
            case "p":
                self._profile()
        return key in QUIT

    def _busy(self, what: str, seconds: float) -> None:
        """Say what still runs; end it for a newer file, or for a key that needs no result."""
        self.line.busy(what, seconds, STOPS if self.keys.is_open else "Save to start again.")
        self.pressed = self.pressed or self.keys.wait(0)
        now = self._stamp()
        if self.pressed in STOPPING or (now != self.seen and any(now) and self._is_saved(now)):
            raise SupersededError

    def _stamp(self) -> _Stamps:
        """Return values that change when a file of the module is saved."""
        return tuple(_stamp(path) for path in (self.module.stub, self.module.notebook))

    def _is_saved(self, stamp: _Stamps) -> bool:
        """Whether the editor is done with saving the file that counts."""
        return self.settling.is_quiet(stamp, time.monotonic(), whole=is_whole(own_file(self.module)))

    def _show(self, report: Report) -> None:
        """Print the report, and what is better and worse than before."""
        self.line.clear()
        save_progress(self.course, self.module, report)
        self.is_perfect = is_perfect(report)
        now = {check.property: check.outcome for check in report.checks}
        _clear()
        changes = self._changes(now) if report.status == "graded" else []
        rows = ROWS - len(changes) - 1  # and the line with the keys
        python, bar = where_to_paste(self.module), course_bar(self.course)
        screen = own_screen(report, python=python, bar=bar, then=self._then_words(), rows=rows)
        click.echo(paint("\n".join([screen, *changes])))
        self.before = now
        self._show_keys()

    def _then_words(self) -> str:
        """Return what to do when every visible check passes."""
        if not self.keys.is_open:
            return f"Next: attn complete {self.module.slug}"
        ahead = self._ahead()
        return f"Well done! Press n: complete it and go on to {ahead.name}." if ahead else "Well done! Press c."

    def _show_keys(self) -> None:
        """Print the keys."""
        click.echo(KEYS if self.keys.is_open else NO_KEYS)

    def _changes(self, now: Mapping[str, str]) -> list[str]:
        """Return which checks are better or worse than before; how many, if they are more than a few."""
        lines = []
        for word, better in (("Now passing", True), ("No longer passing", False)):
            changed = [text for text, outcome in now.items() if self._changed(text, outcome, better=better)]
            if len(changed) > FEW:
                lines.append(f"{word}: {len(changed)} checks")
            else:
                lines += [textwrap.shorten(f"{word}: {text}", 80, placeholder=" …") for text in changed]
        return lines

    def _changed(self, text: str, outcome: str, *, better: bool) -> bool:
        before = self.before.get(text)
        return before is not None and before != outcome and (outcome == "passed") == better

    def _hint(self) -> None:
        """Print the next hint."""
        given = next_hint(self.course, self.module)
        found = None if given is None else hint_text(self.module, given)
        if given is None or found is None:
            click.echo("There is no hint to give: nothing fails.")
            return
        record_hint(self.course, self.module, given)
        click.echo("\n".join(hint_lines(self.module, given, *found)))

    def _complete(self, next_line: str = "Next: press n") -> bool:
        """Finish the module, as `attn complete` does, and return whether it is complete."""
        click.echo("Completing: checks and costs ...")
        status = 1
        try:
            shown, status = finish(self.course, self.module, next_line=next_line)
        except (click.UsageError, StudentError, CourseError) as error:  # it is locked, or the file is gone
            shown = printable(str(error))
        _clear()
        click.echo(shown)
        if next_line or status:
            self._show_keys()
        return status == 0

    def _profile(self) -> None:
        """Print the costs of every function, and the first limit that is broken."""
        # These import NumPy: at the top of the file they would delay the start of the worker.
        from cli.ui.profile_screen import profile_screen
        from grader.workspace.own_costs import own_costs

        try:
            with Pace(1) as pace:
                found = list(own_costs(self.course, self.module, busy=partial(pace.busy, stops="Ctrl-C quits.")))
            command = f"attn profile {self.module.slug}"
            head = with_bar(self.module.name, course_bar(self.course))
            click.echo(paint(profile_screen(found, head, command)))
        except (StudentError, CourseError) as error:
            click.echo(f"The costs could not be measured: {printable(str(error))}")
        self._show_keys()

    def _go_on(self) -> bool:
        """Go on to the next module if it is there and open; complete this one first if all of it passes."""
        if self.is_perfect and not progress_of(self.course, self.module).completed and not self._complete(""):
            return False
        self.then = self._following()
        return self.then is not None

    def _following(self) -> Module | None:
        """Return the module to go on with; None if there is none, or if it is locked."""
        ahead = self._ahead()
        if ahead is None:
            click.echo("This is the last module.")
        elif missing := progress_of(self.course, ahead).missing:
            first = missing[0].partition("_")[2]
            click.echo(f"{ahead.name} is locked. First run `attn complete {first}`.")
            return None
        return ahead

    def _ahead(self) -> Module | None:
        """Return the first later module that is not complete, else the one after this."""
        later = [one for one in all_progress(self.course) if one.module.order > self.module.order]
        ahead = next_up(later) or (later[0] if later else None)
        return ahead.module if ahead else None


def _clear() -> None:
    """Begin at the top of the screen, where that is wanted."""
    if sys.stdout.isatty() and click.get_current_context().color is not False:
        click.clear()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
