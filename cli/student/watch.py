"""`attn watch`: the checks run after every save, until q is pressed."""

from __future__ import annotations

import contextlib
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from cli.student.complete import complete
from cli.student.current import module_or_current, next_up
from cli.student.hint import hint_lines, hint_text
from cli.student.own_checks import save_progress, where_to_paste
from cli.student.settling import Settling, is_whole
from cli.ui.arguments import modules_here
from cli.ui.colour import paint
from cli.ui.here import course_here
from cli.ui.keys import Keys
from cli.ui.own_screen import own_screen
from grader.core.errors import StudentError
from grader.core.report import Report
from grader.core.safe_text import printable
from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.sandbox.jail.tiers import begin_spawner
from grader.submission.own_file import own_file
from grader.submission.submission import Submission, own_submission
from grader.workspace.progress import all_progress, next_hint, record_hint

POLL_SECONDS = 0.01
_Stamps = tuple[tuple[int, int] | None, ...]
KEYS = "Keys: c complete, n next module, h hint, p profile, r run again, q quit"
NO_KEYS = "There is no keyboard here: Ctrl-C quits."


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
def watch(module_name: str | None) -> None:
    """Run the visible checks whenever you save. Each run shows what got better and what got worse.

    \b
    attn watch            the module you are in, or the next one to do
    attn watch warm_up    this one

    A file is checked when it is whole: not while your editor is still writing it.

    Keys: c completes, n goes to the next module, h gives a hint, p profiles, r runs again, q quits.
    """
    course = course_here()
    module: Module | None = module_or_current(course, module_name)
    with Keys() as keys:
        while module is not None:
            watching = _Watching(course, module, keys)
            watching.run()
            module = watching.then


@dataclass
class _Watching:
    """One module that is watched; `then` is the module to go on with."""

    course: Course
    module: Module
    keys: Keys
    then: Module | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    settling: Settling = field(default_factory=Settling)

    def run(self) -> None:
        """Check the file now and after every change; the process that checks stays warm in between."""
        begun = begin_spawner(self.module.backend)
        try:
            from grader.grading.grade import check_own_files  # while the worker starts, as in `run_checks`

            click.echo(f"Watching {self.module.stub.parent.name}. Save your file to check it.")
            self._show_keys()
            check_own_files(self.course, self.module, self._states(), self._show, begun)
        finally:
            if begun is not None:
                begun.close()

    def _states(self) -> Iterator[Submission]:
        """Yield the student's work now, and again after every save."""
        seen = None
        while True:
            now = self._stamp()
            if seen is not None and any(seen) and not any(now):
                click.echo(f"{self.module.stub.name} is missing. Waiting for it to come back ...")
                seen = now
            if now != seen and any(now) and (seen is None or self._is_saved(now)):
                seen = now
                click.echo("Checking ... (Ctrl-C stops)")
                try:
                    yield own_submission(self.course, self.module)
                except CourseError:  # the editor is not done with saving
                    seen = None
            match self.keys.wait(POLL_SECONDS):
                case "q" | "\x04":
                    return
                case "n":
                    self.then = self._following()
                    if self.then is not None:
                        return
                case "r":
                    seen = None
                case "c":
                    self._complete()
                case "h":
                    self._hint()
                case "p":
                    self._profile()

    def _stamp(self) -> _Stamps:
        """Return values that change when a file of the module is saved."""
        return tuple(_stamp(path) for path in (self.module.stub, self.module.notebook))

    def _is_saved(self, stamp: _Stamps) -> bool:
        """Whether the editor is done with saving the file that counts."""
        return self.settling.is_quiet(stamp, time.monotonic(), whole=is_whole(own_file(self.module)))

    def _show(self, report: Report) -> None:
        """Print the report, and what is better and worse than before."""
        save_progress(self.course, self.module, report)
        now = {check.property: check.outcome for check in report.checks}
        if sys.stdout.isatty() and click.get_current_context().color is not False:
            click.clear()
        click.echo(paint(own_screen(report, python=where_to_paste(self.module))))
        for word, better in (("Now passing", True), ("No longer passing", False)):
            changed = [text for text, outcome in now.items() if self._changed(text, outcome, better=better)]
            for text in changed if report.status == "graded" else ():
                click.echo(textwrap.fill(f"{word}: {text}", 80, subsequent_indent="  "))
        self.before = now
        self._show_keys()

    def _show_keys(self) -> None:
        """Print the keys."""
        click.echo(KEYS if self.keys.is_open else NO_KEYS)

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

    def _complete(self) -> None:
        """Finish the module, as `attn complete` does."""
        with contextlib.suppress(SystemExit):
            click.get_current_context().invoke(complete, module_name=self.module.name, anyway=False, as_json=False)
        self._show_keys()

    def _profile(self) -> None:
        """Print the costs of every function, and the first limit that is broken."""
        # These import NumPy: at the top of the file they would delay the start of the worker.
        from cli.ui.profile_screen import profile_screen
        from grader.workspace.own_costs import own_costs

        try:
            found = list(own_costs(self.course, self.module))
            command = f"attn profile {self.module.slug}"
            click.echo(paint(profile_screen(found, self.module.name, command)))
        except (StudentError, CourseError) as error:
            click.echo(f"The costs could not be measured: {printable(str(error))}")
        self._show_keys()

    def _following(self) -> Module | None:
        """Return the first later module that is not complete, else the one after this; None if it is locked."""
        later = [one for one in all_progress(self.course) if one.module.order > self.module.order]
        ahead = next_up(later) or (later[0] if later else None)
        if ahead is None:
            click.echo("This is the last module.")
        elif ahead.missing:
            click.echo(f"{ahead.module.name} is locked. First run `attn complete {self.module.slug}`.")
            return None
        return ahead.module if ahead else None


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
