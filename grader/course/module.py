"""Modules, read from their `module.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

Backend = Literal["numpy", "torch"]
BACKENDS = ("numpy", "torch")
FORBIDDEN_KINDS = ("products", "exec", "attention", "ready_made", "torch")
FOLDER = re.compile(r"(\d\d)_([a-z][a-z0-9_]*)")
LONGEST_CPU = 120  # seconds for one call: a class must be graded in a night
COUNT = "a whole number above 0"
FALLBACK = re.compile(r"fallback\w*\.py")
FIGURE = re.compile(r"[a-z0-9-]+\.svg")
INTRODUCTION = "before-you-start.md"
LONGEST_UNLOCKS = 45  # characters: one line of `attn`, beside the title
# The keys of a `module.toml`, each with an example for the message about a mistake in it.
KEYS = {
    "title": 'title = "Warm-up"',
    "order": "order = 1",
    "minutes": "minutes = 60",
    "requires": 'requires = ["01_warm_up"]',
    "backend": 'backend = "numpy"',
    "points": "points = 20",
}
OPTIONAL = {
    "complexity": "[complexity.sort]",
    "gpu": "[gpu.sort]",
    "unchanged": "unchanged = {sort = 1}",
    "limits": "limits = {cpu_s = 30}",
    "fallback": 'fallback = {warm_up = "fallback.py"}',
    "needs": 'needs = "cuda"',
    "forbidden": 'forbidden = {products = "write the loop yourself"}',
    "milestone": 'milestone = {unlocks = "lists in order", try = "from mylab.warm_up import sort"}',
}


class CourseError(Exception):
    """A mistake in the course itself: the file, the key, and how to fix it."""

    def __init__(self, file: Path, key: str, problem: str, fix: str, *, usage: bool = False) -> None:
        where = f"{file}: {key}" if key else f"{file}"
        super().__init__(f"{where}: {problem}. {fix}")
        self.file = file
        self.key = key
        self.problem = problem
        self.fix = fix
        self.usage = usage  # the course is fine; the user asked for something it does not have

    def as_data(self) -> dict[str, Any]:
        """Return the error as plain data, for another process."""
        return {**vars(self), "file": str(self.file)}


def course_error_from(data: Mapping[str, Any]) -> CourseError:
    """Return the error that plain data describes."""
    return CourseError(Path(data["file"]), data["key"], data["problem"], data["fix"], usage=data["usage"])


def read_text(path: Path) -> str:
    """Return the text of a course file. A missing file, or one that is not UTF-8, is a CourseError."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(
            path, "", f"cannot be read ({error.strerror})", "Run `attn dev build` or restore the file"
        ) from None
    except UnicodeDecodeError:
        raise CourseError(path, "", "is not UTF-8 text", "Save it as UTF-8") from None


@dataclass(frozen=True)
class ForbiddenRule:
    """Why a call is forbidden, and in which functions. If none is named, in all."""

    why: str
    functions: tuple[str, ...] = ()

    def holds_in(self, target: str) -> bool:
        return not self.functions or target in self.functions


@dataclass(frozen=True)
class Milestone:
    """What a student has when a module is complete: a line of the course's story, and something to try."""

    unlocks: str
    code: str  # lines of Python, or one command that begins with `attn `

    @property
    def is_command(self) -> bool:
        return self.code.startswith("attn ")


@dataclass(frozen=True)
class Module:
    """One module of the course."""

    name: str
    title: str
    order: int
    minutes: int
    requires: tuple[str, ...]
    backend: Backend
    points: float
    folder: Path
    complexity: Mapping[str, Any] = field(default_factory=dict, hash=False)  # contracts; complexity.contract reads them
    forbidden: Mapping[str, ForbiddenRule] = field(default_factory=dict, hash=False)  # by kind of call
    gpu: Mapping[str, Any] = field(default_factory=dict, hash=False)  # contracts for costs measured on a GPU
    unchanged: Mapping[str, float] = field(default_factory=dict, hash=False)  # points of targets
    cpu_s: float | None = None  # the CPU time of one call, if it is not the usual one
    fallback: Mapping[str, str] = field(default_factory=dict, hash=False)  # slug of an earlier module → file
    milestone: Milestone | None = None
    needs_gpu: bool = False  # optional: beyond the course, and run only where there is a GPU

    @property
    def slug(self) -> str:
        """The name of the student's file, and of its module in `mylab`."""
        return self.name[3:]

    @property
    def stub(self) -> Path:
        """The script that the student completes."""
        return self.folder / f"{self.slug}.py"

    @property
    def notebook(self) -> Path:
        """The same stub as a notebook."""
        return self.folder / f"{self.slug}.ipynb"

    @property
    def lesson(self) -> Path:
        """The lesson."""
        return self.folder / "README.md"

    @property
    def beside_lesson(self) -> tuple[Path, ...]:
        """The files that the lesson shows or links to: its figures, and what to read before it."""
        introduction = self.folder / INTRODUCTION
        figures = sorted(path for path in self.folder.glob("*.svg") if FIGURE.fullmatch(path.name))
        return (*([introduction] if introduction.is_file() else []), *figures)

    @property
    def golden(self) -> Path:
        """The generated file that a bundle has in place of the solution."""
        return self.folder / "golden.json"

    @property
    def checks(self) -> Path:
        """The visible checks."""
        return self.folder / "checks.py"

    @property
    def probes(self) -> Path:
        """The calls that tell misconceptions apart."""
        return self.folder / "probes.py"

    @property
    def hints(self) -> Path:
        """The hints that `attn hint` shows."""
        return self.folder / "hints.toml"

    @property
    def fallbacks(self) -> dict[str, Path]:
        """The files that stand in for a student's earlier modules, by slug."""
        return {slug: self.folder / name for slug, name in self.fallback.items()}


def read_module(folder: Path) -> Module:
    """Read a module's folder. A mistake in its `module.toml` is a CourseError that says how to fix it."""
    file = folder / "module.toml"
    matched = FOLDER.fullmatch(folder.name)
    if not matched:
        raise CourseError(folder, "", "is not a module name", "Name the folder like 01_warm_up")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CourseError(file, "", f"is not TOML: {error}", "Fix that line") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(file, "", f"cannot be read: {error}", "Save it as UTF-8 text") from None
    _check_keys(folder, table)
    value = partial(_value, folder, table)
    order = value("order", COUNT, _is_count)
    if order != int(matched[1]):
        fix = f"Write order = {int(matched[1])}, or rename the folder"
        raise module_error(folder, "order", f"is {order}, but the folder is called {folder.name}", fix)
    return Module(
        name=folder.name,
        title=value("title", "text", _is_text),
        order=order,
        minutes=value("minutes", COUNT, _is_count),
        requires=tuple(value("requires", "a list of modules", _is_list_of_texts)),
        backend=_backend(folder, table),
        points=float(value("points", "a number above 0", _is_positive)),
        folder=folder,
        complexity=_table(folder, table, "complexity"),
        forbidden=_rules(folder, table),
        gpu=_table(folder, table, "gpu"),
        unchanged=_points(folder, table),
        cpu_s=_cpu_seconds(folder, table),
        fallback=_fallbacks(folder, table),
        milestone=_milestone(folder, table),
        needs_gpu=_needs_gpu(folder, table),
    )


def _check_keys(folder: Path, table: Mapping[str, Any]) -> None:
    for key in table:
        if key not in KEYS and key not in OPTIONAL:
            import difflib  # only for a mistake

            close = difflib.get_close_matches(key, [*KEYS, *OPTIONAL], 1)
            fix = f"Did you mean {close[0]}?" if close else f"The keys are {', '.join([*KEYS, *OPTIONAL])}"
            raise module_error(folder, key, "is not a key of a module", fix)
    for key, example in KEYS.items():
        if key not in table:
            raise module_error(folder, key, "is missing", f"Add a line like {example}")


def _value(folder: Path, table: Mapping[str, Any], key: str, kind: str, fits: Callable[[Any], bool]) -> Any:
    """Return the value of a key that every module has, if it fits."""
    value = table[key]
    if not fits(value):
        raise module_error(folder, key, f"must be {kind}, not {value!r}", f"Write it like {KEYS[key]}")
    return value


def _is_positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < 1e6


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_text(value: Any) -> bool:
    return type(value) is str and bool(value.strip())


def _is_list_of_texts(value: Any) -> bool:
    return type(value) is list and all(type(one) is str for one in value)


def _table(folder: Path, table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    if type(value) is not dict:
        raise module_error(folder, key, f"must be a table, not {value!r}", f"Write it like {OPTIONAL[key]}")
    return value


def _points(folder: Path, table: Mapping[str, Any]) -> dict[str, float]:
    points = _table(folder, table, "unchanged")
    for target, value in points.items():
        if not _is_positive(value):
            fix = f"Write it like {OPTIONAL['unchanged']}"
            raise module_error(folder, f"unchanged.{target}", f"must be a number above 0, not {value!r}", fix)
    return {target: float(value) for target, value in points.items()}


def _cpu_seconds(folder: Path, table: Mapping[str, Any]) -> float | None:
    limits = _table(folder, table, "limits")
    fix = f"Write it like {OPTIONAL['limits']}"
    for key in limits.keys() - {"cpu_s"}:
        raise module_error(folder, f"limits.{key}", "is not a limit of time", fix)
    if "cpu_s" not in limits:
        return None
    if (problem := cpu_problem(limits["cpu_s"])) is not None:
        raise module_error(folder, "limits.cpu_s", problem, fix)
    return float(limits["cpu_s"])


def cpu_problem(cpu_s: object) -> str | None:
    """Say what is wrong with a limit of CPU time; None if nothing is."""
    if isinstance(cpu_s, int | float) and type(cpu_s) is not bool and 0 < cpu_s <= LONGEST_CPU:
        return None
    return f"must be a number of seconds above 0 and up to {LONGEST_CPU}, not {cpu_s!r}"


def _needs_gpu(folder: Path, table: Mapping[str, Any]) -> bool:
    if "needs" not in table:
        return False
    if table["needs"] != "cuda":
        raise module_error(folder, "needs", f'must be "cuda", not {table["needs"]!r}', f"Write {OPTIONAL['needs']}")
    return True


def _fallbacks(folder: Path, table: Mapping[str, Any]) -> dict[str, str]:
    files = _table(folder, table, "fallback")
    for slug, name in files.items():
        key, fix = f"fallback.{slug}", f"Write it like {OPTIONAL['fallback']}"
        if type(name) is not str or not FALLBACK.fullmatch(name):
            raise module_error(folder, key, f"must be the name of a file fallback….py, not {name!r}", fix)
        if not (folder / name).is_file():
            raise module_error(folder, key, f"there is no file {name} beside it", "Write it, or remove this line")
    if len(set(files.values())) < len(files):
        raise module_error(folder, "fallback", "names one file twice", "Write one file for each earlier module")
    return files


def _milestone(folder: Path, table: Mapping[str, Any]) -> Milestone | None:
    entry = _table(folder, table, "milestone")
    if not entry:
        return None
    fix = f"Write it like {OPTIONAL['milestone']}"
    if entry.keys() != {"unlocks", "try"} or not all(map(_is_text, entry.values())):
        raise module_error(folder, "milestone", "must have unlocks and try, both text", fix)
    if len(entry["unlocks"]) > LONGEST_UNLOCKS:
        problem = f"has {len(entry['unlocks'])} characters"
        raise module_error(folder, "milestone.unlocks", problem, f"Use at most {LONGEST_UNLOCKS}")
    from grader.core.syntax import parse  # `attn --help` reads no module

    milestone = Milestone(entry["unlocks"], entry["try"].strip())
    try:
        parse("" if milestone.is_command else milestone.code)
    except SyntaxError as error:
        problem = f"is not Python: {error.msg} (line {error.lineno})"
        raise module_error(folder, "milestone.try", problem, "Write lines of Python, or one attn command") from None
    return milestone


def _rules(folder: Path, table: Mapping[str, Any]) -> dict[str, ForbiddenRule]:
    kinds = ", ".join(FORBIDDEN_KINDS)
    fix = f"Write it like {OPTIONAL['forbidden']}, or with why = ... and functions = [...]. Kinds: {kinds}"
    rules: dict[str, ForbiddenRule] = {}
    for kind, entry in _table(folder, table, "forbidden").items():
        rule = {"why": entry, "functions": []} if type(entry) is str else entry
        if kind not in FORBIDDEN_KINDS:
            raise module_error(folder, f"forbidden.{kind}", "is not something that can be forbidden", fix)
        if type(rule) is not dict or rule.keys() != {"why", "functions"} or type(rule["why"]) is not str:
            raise module_error(folder, f"forbidden.{kind}", "must say why, as text", fix)
        if not _is_list_of_texts(rule["functions"]):
            raise module_error(folder, f"forbidden.{kind}", "must list names of functions", fix)
        rules[kind] = ForbiddenRule(rule["why"], tuple(rule["functions"]))
    return rules


def _backend(folder: Path, table: Mapping[str, Any]) -> Backend:
    value = table["backend"]
    if value == "numpy" or value == "torch":
        return value  # type: ignore[no-any-return]
    raise module_error(
        folder, "backend", f"must be one of {', '.join(BACKENDS)}, not {value!r}", f"Write {KEYS['backend']}"
    )


def module_error(folder: Path, key: str, problem: str, fix: str) -> CourseError:
    """Return the error for one key of a `module.toml`."""
    return CourseError(folder / "module.toml", key, problem, fix)
