"""The progress of long work on standard error: how much is done, how fast, and the time left."""

from __future__ import annotations

import sys
import time
from datetime import timedelta

import click

from grader.core.errors import IMPORT
from grader.core.safe_text import one_line
from grader.core.times import show_length

SOON = 0.6  # seconds of one call, after which a person wants to know that something happens


class Pace:
    """A line that is rewritten in a terminal; in a log, a new line for each step."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._started = time.monotonic()
        self._in_place = sys.stderr.isatty()
        self._shown = False

    def __enter__(self) -> Pace:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def step(self, name: str) -> None:
        """Show that one more is done."""
        self.done += 1
        text = f"graded {self.done} of {self.total}: {one_line(name)[:30]}{self._rate()}"
        self._show(text)

    def slow(self, name: str, check: str) -> None:
        """Show that a check that takes long begins."""
        self._show(f"{one_line(name)[:30]}: {one_line(check)} ...")

    def busy(self, what: str, seconds: float, stops: str = "Ctrl-C stops it.") -> None:
        """Show that one call of student code still runs. A log needs no such line: what ends the call is in it."""
        if self._in_place and seconds >= SOON:
            running = "loading your file" if what == IMPORT else f"running {one_line(what)[:40]}"
            self._show(f"still {running} ... {max(seconds, 1):.0f} s. {stops}")

    def tell(self, text: str) -> None:
        """Show in place what takes long before the first check; a log needs no such line."""
        if self._in_place:
            self._show(text)

    def clear(self) -> None:
        """Remove the line that is shown in place."""
        if self._shown:
            click.echo("\r\033[K", err=True, nl=False)
            self._shown = False

    def _show(self, text: str) -> None:
        if self._in_place:
            self._shown = True
            click.echo(f"\r\033[K{text[:79]}", err=True, nl=False)
        else:
            click.echo(text, err=True)

    def _rate(self) -> str:
        seconds = time.monotonic() - self._started
        left = self.total - self.done
        if seconds <= 0 or not left:
            return ""
        rate = self.done / seconds
        remaining = left / rate
        shown = f"{remaining:.0f} s" if remaining < 90 else show_length(timedelta(seconds=remaining))
        return f" ({rate:.1f} a second, {shown} left)"


class ProofLine:
    """What is being proved: a line that is rewritten in a terminal; in a log, a line for each module."""

    def __init__(self) -> None:
        self._in_place = sys.stderr.isatty()
        self._latest: dict[str, str] = {}

    def __enter__(self) -> ProofLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._in_place and self._latest:
            click.echo("\r\033[K", err=True, nl=False)

    def tell(self, module: str, text: str) -> None:
        """Show what is tried in a module."""
        if self._in_place:
            self._latest[module] = text
            shown = ", ".join(f"{name[:2]}: {latest}" for name, latest in list(self._latest.items())[-2:])
            click.echo(f"\r\033[Kproving {shown}"[:84], err=True, nl=False)
        elif module not in self._latest:
            self._latest[module] = text
            click.echo(f"proving {module} ...", err=True)
