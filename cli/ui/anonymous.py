"""The option --anonymous: nothing that a command prints names a student."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

import click

from grader.classroom import ClassError
from grader.classroom.pseudonyms import Names, Pseudonyms, pseudonyms_of
from grader.course.course import Course

if TYPE_CHECKING:
    from grader.classroom.batch import BatchResult
    from grader.classroom.store.store import ResultsStore

anonymous_option = click.option("--anonymous", is_flag=True, help="Show pseudonyms instead of names and ids.")


def _refuse(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    del parameter
    if value:
        fix = "To show grades without names, use: attn export csv ... --anonymous"
        raise click.UsageError(
            f"{context.info_name} takes grades only with names, so --anonymous is not possible. {fix}"
        )


# For exports that must name people: the sentence instead of "no such option".
no_anonymous_option = click.option(
    "--anonymous", is_flag=True, hidden=True, expose_value=False, is_eager=True, callback=_refuse
)


class AnonymousOutput:
    """Both output streams of this process, from now on without names. Messages about errors come last of all."""

    def __init__(self, names: Pseudonyms) -> None:
        self.names = names
        self._streams = [_HidingStream(self, stream) for stream in (sys.stdout, sys.stderr)]
        sys.stdout, sys.stderr = self._streams
        self.passing = False

    def learn(self, people: list[Names]) -> None:
        """Hide the names of more people."""
        self.names = self.names.with_people(people)

    @contextlib.contextmanager
    def as_it_is(self) -> Iterator[None]:
        """Print text that has been hidden already. JSON must keep its keys."""
        self.passing = True
        try:
            yield
        finally:
            self.passing = False

    def table(self, settled: BatchResult) -> BatchResult:
        """Return the result of a class for its table. It is in the order of the pseudonyms, not of the names."""
        names = self.names
        summaries = [dataclasses.replace(one, submission=names.of(one.submission)) for one in settled.summaries]
        shared = [
            dataclasses.replace(one, submissions=tuple(sorted(map(names.of, one.submissions))))
            for one in settled.shared
        ]
        return dataclasses.replace(
            settled,
            summaries=tuple(sorted(summaries, key=lambda one: (one.module, one.submission))),
            marks=tuple(sorted(map(names.mark, settled.marks), key=lambda mark: (mark.module, mark.id))),
            shared=tuple(shared),
        )


def echo_json(text: str, hidden: AnonymousOutput | None) -> None:
    """Print JSON. Its values have been hidden already, and its keys stay."""
    with hidden.as_it_is() if hidden else contextlib.nullcontext():
        click.echo(text)


def hide_in(course: Course, store: ResultsStore | None, *, anonymous: bool) -> AnonymousOutput | None:
    """Begin to hide the people of a graded class, if the option says so."""
    try:
        return AnonymousOutput(pseudonyms_of(course, store)) if anonymous else None
    except ClassError as error:
        raise click.UsageError(str(error)) from None


class _HidingStream(io.TextIOBase):
    """A text stream that writes pseudonyms in place of names."""

    def __init__(self, output: AnonymousOutput, stream: TextIO) -> None:
        self._output = output
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(text if self._output.passing else self._output.names.text(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding. Without it, click would write to the bytes below, past this stream."""
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """What happens to characters that the encoding does not have."""
        return self._stream.errors
