"""The command reference as Markdown: `python -m cli.author.command_reference > docs/commands.md`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from cli.main import attn

HEAD = """\
# The commands

Generated from the help texts by `make docs`: change the commands, not this page. `--help` works on every command. The
exit status is 0 if all is well, 1 if something you asked about is not, 2 for a mistake in the command line, 3 for a
fault of the grader or the machine, and 130 after Ctrl-C. Each command says what these mean for it.
"""
_VERBATIM = "\b"  # click's mark for a paragraph that is not rewrapped
_NAME = re.compile(r"[^a-z0-9 -]")


def reference() -> str:
    """Return the page: a list of all commands, then the help and the options of each."""
    found = list(commands(attn, click.Context(attn, info_name="attn")))
    index = [f"- [`{path}`](#{_NAME.sub('', path).replace(' ', '-')}): {_short(one)}" for path, one, _ in found[1:]]
    parts = [HEAD, *index, ""]
    for path, one, context in found:
        parts += [f"## {path}", "", f"`{_usage(one, context)}`", "", *_help(one), *_options(one, context)]
    return "\n".join(parts).rstrip() + "\n"


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield a command and all below it, each with its path and its context."""
    yield context.command_path, command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (below := command.get_command(context, name)) is not None:
                yield from commands(below, click.Context(below, info_name=name, parent=context))


def _usage(command: click.Command, context: click.Context) -> str:
    return " ".join([context.command_path, *command.collect_usage_pieces(context)])


def _short(command: click.Command) -> str:
    return " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())


def _help(command: click.Command) -> Iterator[str]:
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith(_VERBATIM):
            yield from ("```text", paragraph.removeprefix(_VERBATIM).strip("\n"), "```", "")
        else:
            yield from (re.sub(r"<(\w+)>", r"&lt;\1&gt;", paragraph), "")


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    records = [one.get_help_record(context) for one in command.params if isinstance(one, click.Option)]
    if rows := [[part.replace("|", r"\|") for part in record] for record in records if record]:
        yield from ("| option | |", "|---|---|")
        yield from (f"| `{names}` | {text} |" for names, text in rows)
        yield ""


if __name__ == "__main__":
    click.echo(reference(), nl=False)
