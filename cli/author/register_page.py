"""The register as Markdown: `python -m cli.author.register_page > docs/register.md`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from cli.ui.here import course_here
from grader.authoring.register import LESSON, Entry, Register, read_register
from grader.course.api import REFLECT
from grader.course.course import Course
from grader.course.module import Module

HEAD = """\
# The register

Generated from `solutions/*/register.toml` by `make docs`. For each sentence that a student reads about a function, and
for promises of the lesson: the checks and limits that verify it, and wrong ways that break it. Each of these checks
fails for one of these wrong ways, except limits that a contract leaves unguarded, forbidden calls and checks on a GPU.
`attn dev check` proves that. It is also red if a sentence of a stub is not here, if a check is gone, or if a check that
can cost points verifies no sentence ([how to write it](authoring-reference.md#the-register)).
"""
NAMES = {LESSON: "The lesson", REFLECT: "The answers under Reflect"}


def register_page(course: Course) -> str:
    """Return the page: which modules have a register, then the tables of each."""
    found = {module: register for module in course.all_modules if (register := read_register(course, module))}
    lacking = [module.name for module in course.all_modules if module not in found]
    lines = [
        "| module | promises | not checked | checked, but not proved | checks without a sentence |",
        "|---|---|---|---|---|",
    ]
    lines += [_total(module, register) for module, register in found.items()]
    if lacking:
        lines += ["", f"These have no register yet: {', '.join(f'`{name}`' for name in lacking)}."]
    parts = [line for module, register in found.items() for line in _part(module, register)]
    return HEAD + "\n" + "\n".join([*lines, *parts]) + "\n"


def _total(module: Module, register: Register) -> str:
    count = register.count
    return f"| `{module.name}` | {count.promises} | {count.unchecked} | {count.unproved} | {count.unwritten} |"


def _part(module: Module, register: Register) -> Iterator[str]:
    yield from ("", f"## {module.name[:2]} · {module.title}")
    for place in dict.fromkeys(entry.place for entry in register.entries):
        rows = [_row(entry) for entry in register.entries if entry.place == place]
        yield from ("", f"### {_heading(place)}", "", "| sentence | verified by | broken by |", "|---|---|---|", *rows)
    if register.unwritten:
        yield from ("", "### Checks without a sentence", "", "| check | why |", "|---|---|")
        yield from (f"| {_names(one.checks)} | {_cell(one.why)} |" for one in register.unwritten)


def _heading(place: str) -> str:
    return NAMES.get(place, f"`{place}`")


def _row(entry: Entry) -> str:
    if entry.unchecked:
        verified = f"**not checked**: {_cell(entry.unchecked)}"
    elif entry.no_promise:
        verified = f"no promise: {_cell(entry.no_promise)}"
    else:
        verified = _names(entry.checks)
    broken = f"**not proved**: {_cell(entry.unproved)}" if entry.unproved else _names(entry.wrong)
    return f"| {_quoted(entry)} | {verified} | {broken} |"


def _quoted(entry: Entry) -> str:
    """Return the sentences as code, so that no sign in them means anything to Markdown."""
    text = " ".join(entry.sentences).replace("`", "'")
    return f"`{_cell(text)}`"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    click.echo(register_page(course_here()), nl=False)
