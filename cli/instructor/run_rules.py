"""The rules of one run of `attn grade`: its options, then `course.toml`, then with --resume those of the last run."""

from __future__ import annotations

import dataclasses

import click

from grader.classroom import ClassError
from grader.classroom.course_rules import read_course_rules
from grader.classroom.rules import Rules, read_rules
from grader.classroom.store.store import ResultsStore
from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.course.course_file import COURSE_FILE


def rules_of_run(course: Course, given: Rules, to: ResultsStore | None, *, resume: bool) -> Rules:
    """Return the rules to grade by, and say on standard error where they come from."""
    if to is None and resume:
        raise click.UsageError("--resume continues in a folder: name it with --to")
    of_course = read_course_rules(course)
    try:
        before = read_rules(to) if to else Rules()
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    rules = _with_due(course, given, of_course).or_else(of_course)
    _tell_course(given, of_course, rules)
    if resume:
        _tell_changes(given, of_course, before)
        again = rules.or_else(before)
        _tell("as before", _without(again, rules))
        return again
    dropped = [name for name in before.as_options() if name not in rules.as_options()]
    if dropped:
        text = f"the last run into {to} had {', '.join(dropped)}, this one does not"
        click.echo(f"attn: {text} (--resume would keep them)", err=True)
    return rules


def _with_due(course: Course, given: Rules, of_course: Rules) -> Rules:
    """Return the options with the due dates of the course for modules that --due does not name."""
    named = [text.rpartition("=")[0].strip() for text in given.due]
    if not given.due or "" in named:  # a date for all modules replaces every date
        return given
    modules = {course.module(name).name for name in named}
    others = tuple(text for text in of_course.due if text.rpartition("=")[0] not in modules)
    return dataclasses.replace(given, due=(*others, *given.due))


def _tell_course(given: Rules, of_course: Rules, rules: Rules) -> None:
    """Print the rules that come from `course.toml`, and those that an option overrides in this run."""
    options, defaults = given.as_options(), of_course.as_options()
    replaced = {name.removeprefix("--") for name in options}
    _tell(
        f"as in {COURSE_FILE}",
        {name: text for name, text in defaults.items() if name.removeprefix("--") not in replaced},
    )
    for name, text in options.items():
        known = defaults.get(name) or defaults.get(name.removeprefix("--"))
        if known and known != text:
            used = rules.as_options()[name]
            now = f": this run uses {used}" if used != text else ""
            click.echo(one_line(f"attn: {name} {text} overrides {COURSE_FILE} ({known}){now}", 1000), err=True)


def _tell_changes(given: Rules, of_course: Rules, before: Rules) -> None:
    """Print the rules of `course.toml` that the last run did not use."""
    defaults, last = of_course.as_options(), before.as_options()
    for name, text in defaults.items():
        if name in last and last[name] != text and name not in given.as_options():
            click.echo(
                one_line(f"attn: the last run used {name} {last[name]}, now {COURSE_FILE} counts", 1000), err=True
            )


def _without(rules: Rules, others: Rules) -> dict[str, str]:
    known = others.as_options()
    return {name: text for name, text in rules.as_options().items() if name not in known}


def _tell(where: str, options: dict[str, str]) -> None:
    if options:
        click.echo(f"{where}: " + " ".join(f"{name} {text}" for name, text in options.items()), err=True)
