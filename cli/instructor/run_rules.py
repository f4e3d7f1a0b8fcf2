"""The rules of one run of `attn grade` on standard error: where they come from, and what is different than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from grader.classroom import ClassError
from grader.classroom.course_rules import read_course_rules
from grader.classroom.module_rules import ModuleRules, SavedRules, read_saved_rules
from grader.classroom.rules import Rules
from grader.classroom.run_rules import Choice, RunRules
from grader.classroom.store.store import ResultsStore
from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.course.course_file import COURSE_FILE


def rules_of_run(
    course: Course, given: Rules, to: ResultsStore | None, *, resume: bool, choice: Choice | None
) -> RunRules:
    """Return the rules to grade by."""
    if to is None and resume:
        raise click.UsageError("--resume continues in a folder: name it with --to")
    if choice and not resume:
        raise click.UsageError("--rules says what --resume continues with: use it with --resume")
    of_course = read_course_rules(course)
    try:
        saved = read_saved_rules(to) if to else SavedRules()
        run = RunRules(course, given, of_course, saved, resume, choice)
        _tell_course(given, of_course, run.now)
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    return run


def tell_rules(run: RunRules, modules: Mapping[str, ModuleRules], to: ResultsStore | None) -> None:
    """Print what the modules of a run keep of their last grading, and what they do not."""
    if run.resume:
        for line in _by_module({name: list(_changes(run, name)) for name in modules}):
            click.echo(one_line(f"attn: {line}", 1000), err=True)
        kept = {name: _shown(_without(one.rules, run.now.only(name))) for name, one in modules.items()}
        for line in _by_module({name: [f"as before: {text}"] if text else [] for name, text in kept.items()}):
            click.echo(one_line(line, 1000), err=True)
        return
    for line in _by_module({name: list(_dropped(run, name, one, to)) for name, one in modules.items()}):
        click.echo(f"attn: {line} (--resume would keep them)", err=True)


def _by_module(lines: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield lines once if they are the same for all modules, or else each with its module."""
    if len({tuple(one) for one in lines.values()}) == 1:
        yield from next(iter(lines.values()))
        return
    for module, texts in lines.items():
        yield from (f"{module}: {text}" for text in texts)


def _dropped(run: RunRules, module: str, now: ModuleRules, to: ResultsStore | None) -> Iterator[str]:
    before = run.saved.of(module).rules.as_options()
    dropped = [name for name in before if name not in now.rules.as_options()]
    if dropped:
        yield f"the last run into {to} had {', '.join(dropped)}, this one does not"


def _tell_course(given: Rules, of_course: Rules, rules: Rules) -> None:
    """Print the rules that come from `course.toml`, and those that an option overrides in this run."""
    options, defaults = given.as_options(), of_course.as_options()
    replaced = {name.removeprefix("--") for name in options}
    shown = {name: text for name, text in defaults.items() if name.removeprefix("--") not in replaced}
    if shown:
        click.echo(f"as in {COURSE_FILE}: {_shown(shown)}", err=True)
    for name, text in options.items():
        known = defaults.get(name) or defaults.get(name.removeprefix("--"))
        if known and known != text:
            used = rules.as_options()[name]
            now = f": this run uses {used}" if used != text else ""
            click.echo(one_line(f"attn: {name} {text} overrides {COURSE_FILE} ({known}){now}", 1000), err=True)


def _changes(run: RunRules, module: str) -> Iterator[str]:
    """Yield the rules of `course.toml` that the last run did not use."""
    last = run.before(module).rules.as_options()
    for name, text in run.of_course.only(module).as_options().items():
        if name in last and last[name] != text and name not in run.given.only(module).as_options():
            yield f"the last run used {name} {last[name]}, now {COURSE_FILE} counts"


def _without(rules: Rules, others: Rules) -> dict[str, str]:
    known = others.as_options()
    return {name: text for name, text in rules.as_options().items() if name not in known}


def _shown(options: Mapping[str, str]) -> str:
    return " ".join(f"{name} {text}" for name, text in options.items())
