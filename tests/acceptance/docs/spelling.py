"""Checks the spelling of commands without running them: attn by click, make by its targets, Python by its files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec

import click

from cli.main import attn
from tests.conftest import ROOT

_ENDS = {"|", "||", "&&", ";", "&", "(", ")"}
_OURS = ("cli", "grader", "tests")
_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def simple_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command of a line, without redirections and settings of variables."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    skip = False
    for word in lexer:
        if word in _ENDS:
            if words:
                yield words
            words = []
        elif set(word) <= set("<>&"):
            skip = True
        elif skip:
            skip = False
        elif words or not re.fullmatch(r"\w+=.*", word):
            words.append(word)
    if words:
        yield words


def misspelt(text: str) -> str:
    """Return what is wrong with a command line, as far as it can be known without running it."""
    for words in simple_commands(text):
        name = words[0].rpartition("/")[2]
        if name == "attn" and (problem := wrong_attn(words[1:])):
            return problem
        if name == "make" and (unknown := [w for w in words[1:] if "=" not in w and w not in _TARGETS]):
            return f"make has no target {unknown[0]}"
        if name == "python" and words[1:2] == ["-m"] and words[2].startswith(_OURS) and find_spec(words[2]) is None:
            return f"there is no module {words[2]}"
        if name == "python" and words[1:] and words[1].endswith(".py") and not (ROOT / words[1]).is_file():
            return f"there is no {words[1]}"
    return ""


def wrong_attn(words: list[str], *, strict: bool = True) -> str:
    """Return what is wrong with the words after `attn`: an unknown command, or an unknown option.

    With `strict` the complete line must parse. Without it, as for a mention in a sentence, only names are checked.
    """
    command: click.Command = attn
    context = click.Context(attn, info_name="attn")
    rest = [word for word in words if word != "--plain"]  # the one option that stands before a command
    rest = rest[1:] if rest[:1] == ["help"] else rest  # `attn help test` is `attn test --help`
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        below = command.get_command(context, rest[0])
        if below is None:
            return f"{context.command_path} has no command {rest[0]}"
        command, context = below, click.Context(below, info_name=rest.pop(0), parent=context)
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"-h", "--help"}
    for word in rest:
        if word.startswith("-") and word.partition("=")[0] not in known:
            return f"{context.command_path} has no option {word}"
    if strict:
        try:
            command.make_parser(context).parse_args(rest)
        except click.UsageError as error:
            return f"{context.command_path}: {error.format_message()}"
    return ""
