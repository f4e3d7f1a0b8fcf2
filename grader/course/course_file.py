"""`course.toml` at the root of a course: what it is called, what only it shows, and the rules of a class."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from grader.course.module import CourseError

COURSE_FILE = "course.toml"
# Keys of instructors. Their values are read in grader/classroom/course_rules.py, and no student receives them.
RULES = (
    "name",
    "section",
    "roster",
    "policy",
    "late_penalty",
    "grace",
    "undecided",
    "file_times",
    "due",
    "extensions",
    "totals",
)
_VIEW_NAME = re.compile(r"[a-z][a-z0-9-]*")
_IMPORTABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class About:
    """What a course is called and teaches. Without a file, sentences that are true of any course."""

    title: str = "AttnLab"
    sentence: str = "Write programs piece by piece, and have every piece checked."
    description: str = ""  # a paragraph for the home page of the course; the sentence, unless given
    learner: str = "a student of this course"  # for AI assistants: whom they are helping
    colour: str = ""  # of links and charts on its pages, such as "#0b57a4"; ours, unless given


@dataclass(frozen=True)
class View:
    """A command that only this course has: the Python module that defines it, and its lines in `attn --help`.

    The web course has a button for it, beside these modules, if its first argument is one of some choices.
    """

    name: str
    module: str
    help: str
    examples: Mapping[str, str] = field(default_factory=dict)  # what to type, and what it does
    choices: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()  # names of modules
    site_page: str = ""  # a page on the course's site; `site_page(course, scratch)` in the Python module makes it


@dataclass(frozen=True)
class CourseFile:
    """One `course.toml`. Students do not receive `web` and `rules`, the rules of a class as they stand there."""

    about: About = About()
    views: tuple[View, ...] = ()
    web: tuple[str, ...] = ()  # the modules that may be released for a browser; if empty, all of NumPy
    rules: Mapping[str, Any] = field(default_factory=dict)


def find_root(start: Path) -> Path | None:
    """Return the nearest folder with `modules/` that contains a folder; None if it is not inside a course."""
    start = start.resolve()
    return next((one for one in (start, *start.parents) if any((one / "modules").glob("*/module.toml"))), None)


def read_course_file(root: Path) -> CourseFile:
    """Read the `course.toml` of a course; a course without one has no name, view or rule of its own.

    A mistake in the file is a CourseError with the key and how to fix it.
    """
    path = root / COURSE_FILE
    try:
        table = tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return CourseFile()
    except OSError as error:
        raise _error(path, "", f"cannot be read ({error.strerror})", "Make it a file that you can read") from None
    except UnicodeDecodeError:
        raise _error(path, "", "is not UTF-8 text", "Save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise _error(path, "", f"is not TOML: {error}", "Fix that line") from None
    check_keys(path, table, (*RULES, "web", "about", "views"))
    views = _table(path, "views", table.get("views", {}))
    return CourseFile(
        _about(path, _table(path, "about", table.get("about", {}))),
        tuple(_view(path, name, _table(path, f"views.{name}", views[name])) for name in views),
        _texts(path, "web", table.get("web", [])),
        {key: table[key] for key in RULES if key in table},
    )


def student_side(file: CourseFile) -> str:
    """Return the `course.toml` that students receive: names and views, and no rule of a class."""
    texts = {one.name: getattr(file.about, one.name) for one in fields(About)}
    lines = ["[about]", *(f"{name} = {_quoted(text)}" for name, text in texts.items() if text)]
    for view in file.views:
        lines += ["", f"[views.{view.name}]", f"module = {_quoted(view.module)}", f"help = {_quoted(view.help)}"]
        examples = ", ".join(f"{_quoted(typed)} = {_quoted(does)}" for typed, does in view.examples.items())
        lines += [f"examples = {{{examples}}}"] if examples else []
        for key, words in (("choices", view.choices), ("beside", view.beside)):
            lines += [f"{key} = [{', '.join(map(_quoted, words))}]"] if words else []
        lines += [f"site_page = {_quoted(view.site_page)}"] if view.site_page else []
    return "\n".join([*lines, ""])


def check_keys(path: Path, table: Collection[str], known: Collection[str], prefix: str = "") -> None:
    """Raise a CourseError for a key that does not exist, with the nearest one that does."""
    for key in table:
        if key not in known:
            import difflib  # only for a mistake: `attn --help` reads this file, too

            close = difflib.get_close_matches(key, known, 1)
            fix = f"Did you mean {close[0]}?" if close else f"The keys are {', '.join(known)}"
            raise _error(path, f"{prefix}{key}", "is not a key here", fix)


def _about(path: Path, table: Mapping[str, Any]) -> About:
    check_keys(path, table, [one.name for one in fields(About)], "about.")
    about = About(**{key: _text(path, f"about.{key}", value) for key, value in table.items()})
    if about.colour:
        from grader.course.colour import (
            problem_with,
        )  # `attn --help` reads this file, too

        if problem := problem_with(about.colour):
            raise _error(path, "about.colour", problem, "Choose a darker colour, in the form #rrggbb")
    return about


def _view(path: Path, name: str, table: Mapping[str, Any]) -> View:
    key = f"views.{name}"
    check_keys(path, table, [one.name for one in fields(View)[1:]], f"{key}.")
    if not _VIEW_NAME.fullmatch(name):
        raise _error(path, key, "is not the name of a command", "Write it in small letters, such as [views.explore]")
    for needed in ("module", "help"):
        if needed not in table:
            raise _error(path, f"{key}.{needed}", "is missing", "A view needs the keys module and help")
    module = _text(path, f"{key}.module", table["module"])
    if not _IMPORTABLE.fullmatch(module):
        raise _error(path, f"{key}.module", f"cannot be {module!r}", 'Write it like "package.file"')
    examples = _table(path, f"{key}.examples", table.get("examples", {}))
    return View(
        name,
        module,
        _text(path, f"{key}.help", table["help"]),
        {_text(path, key, typed): _text(path, f"{key}.examples.{typed}", does) for typed, does in examples.items()},
        _texts(path, f"{key}.choices", table.get("choices", [])),
        _texts(path, f"{key}.beside", table.get("beside", [])),
        _text(path, f"{key}.site_page", table["site_page"]) if "site_page" in table else "",
    )


def _table(path: Path, key: str, value: object) -> Mapping[str, Any]:
    if type(value) is not dict:
        raise _error(path, key, f"must be a table, not {value!r}", f"Write it below a line [{key}]")
    return value


def _texts(path: Path, key: str, value: object) -> tuple[str, ...]:
    if type(value) is not list:
        fix = f'Write it like {key.split(".")[-1]} = ["..."]'
        raise _error(path, key, f"must be a list of texts, not {value!r}", fix)
    return tuple(_text(path, key, one) for one in value)


def _text(path: Path, key: str, value: object) -> str:
    """Return one line of text."""
    if type(value) is not str or not value.strip() or not value.isprintable():
        raise _error(
            path, key, f"must be one line of text, not {value!r}", f'Write it like {key.split(".")[-1]} = "..."'
        )
    return value


def _quoted(text: str) -> str:
    import json  # only where bundles are made

    return json.dumps(text, ensure_ascii=False)  # a text of one line is written alike in JSON and in TOML


def _error(path: Path, key: str, problem: str, fix: str) -> CourseError:
    return CourseError(path, key, problem, fix, usage=True)
