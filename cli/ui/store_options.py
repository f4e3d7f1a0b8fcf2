"""The option --store, and arguments that name the results of a class: a folder, or a name in a database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from grader.classroom.store import StoreError
from grader.classroom.store.files import FileStore
from grader.classroom.store.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from grader.classroom.store.store import ResultsStore

VARIABLE = "ATTN_STORE"
_META = "attn.store"
_F = TypeVar("_F", bound="Callable[..., Any]")


class ResultsType(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """The results of a class: a folder, or with --store a name in the database. `new` results need not exist yet."""

    name = "directory"

    def __init__(self, *, new: bool = False) -> None:
        self.folder = click.Path(path_type=Path, exists=not new, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ResultsStore:
        """Return the store. A folder must exist; a database is asked only when something is read."""
        if ctx and ctx.meta.get(_META):
            return open_results(str(value))
        folder: Path = self.folder.convert(value, param, ctx)
        return FileStore(folder)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete folders."""
        return self.folder.shell_complete(ctx, param, incomplete)


RESULTS = ResultsType()
NEW_RESULTS = ResultsType(new=True)


def _remember(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    del param
    ctx.meta[_META] = value
    os.environ.pop(VARIABLE, None)  # it may hold a password, and no process that this one starts needs it
    return value


def store_option(command: _F) -> _F:
    """Add --store to a command. It is read before the arguments that depend on it."""
    return click.option(
        "--store",
        metavar="URL",
        envvar=VARIABLE,
        is_eager=True,
        expose_value=False,
        callback=_remember,
        help="The results are in this PostgreSQL database, not in a folder. Or set ATTN_STORE.",
    )(command)


def store_url() -> str | None:
    """Return the URL of --store in the command that runs."""
    found: str | None = click.get_current_context().meta.get(_META)
    return found


def require_name(to: ResultsStore | None) -> None:
    """Stop if --store is given and the results have no name in it. ATTN_STORE may be set for other commands."""
    given = click.get_current_context().get_parameter_source("store") == ParameterSource.COMMANDLINE
    if to is None and given:
        raise click.UsageError("--store needs the name of the results in the database: add --to NAME")


def open_results(name: str) -> ResultsStore:
    """Return the results with a name: in the database of --store, or in a folder."""
    url = store_url()
    try:
        return open_store(url, name, tell=_tell) if url else FileStore(Path(name))
    except StoreError as error:  # nothing was connected yet: the URL is wrong, or a package is missing
        raise click.UsageError(str(error)) from None


def _tell(text: str) -> None:
    click.echo(f"attn: {text}", err=True)
