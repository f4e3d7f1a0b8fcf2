"""What a student's own source says about a failure: a loop, a missing `return`, a function with another name.

Only for the student's own screens: the source is parsed in this process, which is the student's own.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from grader.core.errors import IMPORT
from grader.core.first_thing import NO_RETURN, RENAME
from grader.core.report import CheckResult, EndingRecord, Report
from grader.core.syntax import parse
from grader.course.api import Api
from grader.sandbox.jail.limits import Limits
from grader.submission.submission import Source, Submission

_MISSING = re.compile(r"^(\w+) is not defined$")
_TRACEBACK = re.compile(r'^  File "(?P<file>[^"\n]+)", line \d+.*\n(?P<code>(?:    .*\n){1,3})', re.MULTILINE)
_LIKE = 0.7
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Loop = ast.While | ast.For | ast.AsyncFor


@dataclass(frozen=True)
class _Cell:
    """A script or a cell that Python can parse."""

    file: str
    lines: tuple[str, ...]
    tree: ast.Module


@dataclass(frozen=True)
class _Definition:
    """A function, method or class of the student's."""

    path: str
    node: _Function | ast.ClassDef

    @property
    def name(self) -> str:
        return self.node.name


def explained(report: Report, submission: Submission, api: Api, limits: Limits) -> Report:
    """Return a report on a student's own file whose messages also say what the source shows."""
    cells = [cell for source in submission.sources.values() for cell in _cells(source)]
    loops = {ending.during: _loop_words(ending, cells, limits) for ending in report.endings if ending.line}
    if report.status == "not_importable":
        message = loops.get(IMPORT) or "\n".join([report.message, *_raised_in(report)])
        return replace(report, message=message)
    defined = [one for cell in cells if cell.file.partition("[")[0] == report.file for one in _definitions(cell.tree)]
    said = {one.name: _message(one, defined, api, loops.get(one.name, "")) for one in report.checks}
    renamed = {one.target for one in report.checks if RENAME in said[one.name]}  # it is written, with another name
    checks = tuple(replace(one, message=said[one.name]) for one in report.checks)
    return replace(report, checks=checks, diagnoses=tuple(one for one in report.diagnoses if one.target not in renamed))


def _message(check: CheckResult, defined: list[_Definition], api: Api, loop: str) -> str:
    if loop:
        return loop
    if check.outcome != "failed":
        return check.message
    if missing := _MISSING.match(check.message):
        return f"{check.message}{_other_name(missing[1], defined, api)}"
    if re.search(r"\bNone(Type)?\b", check.message):
        return f"{check.message}{_without_return(check.target, defined, api)}"
    return check.message


def _loop_words(ending: EndingRecord, cells: Iterable[_Cell], limits: Limits) -> str:
    limit = limits.for_import.cpu_s if ending.during == IMPORT else limits.cpu_s
    return _stopped_words(ending.file, ending.line, (one for one in cells if one.file == ending.file), limit)


def stopped_words(file: str, line: int, text: str, seconds: float) -> str:
    """Say where a script was when its time was over."""
    return _stopped_words(file, line, _cells(Source(file, (text,), notebook=False)), seconds)


def _stopped_words(file: str, line: int, cells: Iterator[_Cell], limit: float) -> str:
    """Say where a call was when its time was over, and that it is a loop if the first of some cells has one there."""
    words = f"stopped after {limit:g} s of computing, in line {line} of {file}"
    cell = next(cells, None)
    loop = None if cell is None else _innermost_loop(cell.tree, line)
    if cell is None or loop is None:
        return f"{words}. It takes too long, or it never ends."
    return (
        f"{words}, inside this loop:\n"
        f"  line {loop.lineno}: {cell.lines[loop.lineno - 1].strip()}\n"
        "This loop probably never ends. What should make it stop, and does that ever change?"
    )


def _innermost_loop(tree: ast.Module, line: int) -> _Loop | None:
    around = [
        node for node in ast.walk(tree) if isinstance(node, _Loop) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _other_name(missing: str, defined: list[_Definition], api: Api) -> str:
    """Name the definition that was probably meant: one with a similar name that the module does not ask for."""
    wanted = {*api.names, *(method for methods in api.classes.values() for method in methods)}
    found = [(_likeness(one, missing, api), one) for one in defined if one.name not in wanted and one.name[:2] != "__"]
    score, best = max(found, key=lambda pair: pair[0], default=(0.0, None))
    if best is None or score < _LIKE:
        return ""
    kind = "class" if isinstance(best.node, ast.ClassDef) else "def"
    return f". Line {best.node.lineno} has `{kind} {best.name}`{RENAME} {missing}"


def _likeness(one: _Definition, missing: str, api: Api) -> float:
    """Return how much a definition is like a missing one: by its name, and for a function by its parameters."""
    name, wanted = one.name.lower().strip("_"), missing.lower().strip("_")
    score = max(difflib.SequenceMatcher(None, name, wanted).ratio(), 0.9 * (wanted in name or name in wanted))
    if isinstance(one.node, ast.ClassDef):
        return score if missing in api.classes else 0.0
    parameters = next((given for path, given in api.parameters.items() if path.split(".")[-1] == missing), None)
    if parameters is None:
        return 0.0
    given = [arg.arg for arg in one.node.args.args if arg.arg != "self"]
    return score if len(given) == len(parameters) else score - 0.25


def _without_return(target: str, defined: list[_Definition], api: Api) -> str:
    """Name the functions of a target that have no `return` with a value, although each of them must return one."""
    asked = {*api.functions, *(f"{name}.{method}" for name, methods in api.classes.items() for method in methods)}
    last = {one.path: one for one in defined}  # the last definition is the one that Python uses
    paths = [path for path, one in last.items() if path in asked and _returns_nothing(one.node)]
    paths = [path for path in paths if path.partition(".")[0] == target] or paths
    if not paths:
        return ""
    node = last[paths[0]].node
    return f"\n{paths[0]} (line {node.lineno}) {NO_RETURN}, so it returns None"


def _returns_nothing(node: ast.AST) -> bool:
    """Whether a function ends without a value: it has no `return` with one, no `yield`, and does not only raise."""
    if not isinstance(node, _Function):
        return False
    own = list(_own_nodes(node))
    gives = any(isinstance(one, ast.Yield | ast.YieldFrom) or (type(one) is ast.Return and one.value) for one in own)
    return not gives and not isinstance(node.body[-1], ast.Raise)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own_nodes(child)


def _raised_in(report: Report) -> list[str]:
    """Return the line of the student's that raised, with Python's marks below it."""
    detail = report.checks[0].detail if report.checks else ""
    found = [one["code"] for one in _TRACEBACK.finditer(f"{detail}\n") if one["file"].startswith(report.file)]
    lines = found[-1].splitlines() if found else []
    return [f"  {line[4:]}" for line in lines]


def _definitions(tree: ast.Module) -> Iterator[_Definition]:
    for node in tree.body:
        if isinstance(node, _Function | ast.ClassDef):
            yield _Definition(node.name, node)
        if isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, _Function))
            yield from (_Definition(f"{node.name}.{one.name}", one) for one in methods)


def _cells(source: Source) -> Iterator[_Cell]:
    for number, text in enumerate(source.cells, 1):
        try:
            tree = parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # a cell with IPython lines is not worth more effort here
        yield _Cell(f"{source.file}[{number}]" if source.notebook else source.file, tuple(text.splitlines()), tree)
