"""Patches: a wrong way written as the lines of the solution that it changes.

`REPLACE = {"old line": "new line"}` in a cell of `misconceptions.py` stands for a copy of the solution's function or
class in which these lines are others. Comments and docstrings are left out of the copy.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from grader.core.syntax import parse

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class PatchError(Exception):
    """A patch that does not fit the solution: what is wrong, and how to fix it."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix


@dataclass(frozen=True)
class Place:
    """A function, a method, or the part of a class outside its methods, with its lines of code by number."""

    name: str
    top: ast.stmt  # the function or class at the top level that it belongs to
    method: _Function | None
    lines: Mapping[int, str]


def patched_code(solution: str, replace: Mapping[str, str], only: str | None) -> dict[str, str]:
    """Return the code of every function or class that a patch changes, by its name.

    `only` names the function or method that is meant, where several have the same line.
    """
    lines = _code_lines(solution)
    places = _places_in(solution)
    if only is not None and only not in {place.name for place in places}:
        known = ", ".join(place.name for place in places)
        raise PatchError(f"IN names {only}, which the solution does not define", f"Use one of {known}")
    changed: dict[int, str | None] = {}
    touched: list[Place] = []
    for old, new in replace.items():
        place, numbers = _find(old, [place for place in places if only in (None, place.name)], only)
        if new.strip() == old.strip():
            raise PatchError(f"the new line is the same as the old one: {_short(old)}", "Write what is wrong")
        if changed.keys() & set(numbers):
            raise PatchError(f"two old lines of REPLACE overlap at {_short(old)}", "Join them to one")
        changed |= dict.fromkeys(numbers)
        changed[numbers[0]] = _indented(new, lines[numbers[0]])
        touched.append(place)
    found: dict[str, str] = {}
    for top in dict.fromkeys(place.top for place in touched):
        assert isinstance(top, ast.ClassDef | _Function)
        found[top.name] = _emit(top, [place for place in touched if place.top is top], lines, changed)
    return found


def _find(old: str, places: list[Place], only: str | None) -> tuple[Place, list[int]]:
    """Return where the old line or lines are. They must be there exactly once."""
    wanted = [line for line in map(_bare, old.strip().splitlines()) if line]
    if not wanted:
        raise PatchError("an old line of REPLACE is empty", "Copy a line of the solution")
    found: list[tuple[Place, list[int]]] = []
    for place in places:
        numbers = list(place.lines)
        for start in range(len(numbers) - len(wanted) + 1):
            run = numbers[start : start + len(wanted)]
            if [place.lines[number].strip() for number in run] == wanted:
                found.append((place, run))
    names = list(dict.fromkeys(place.name for place, _ in found))
    if not found:
        where = only or "no function of the solution"
        problem = f"{where} does not have" if only else f"{where} has"
        raise PatchError(f"{problem} the line {_short(old)}", "Copy it from the solution, or update the patch")
    if len(names) > 1:
        problem = f"{' and '.join(names)} have the line {_short(old)}"
        raise PatchError(problem, f'Say which one is meant: IN = "{names[0]}"')
    if len(found) > 1:
        problem = f"{names[0]} has the line {_short(old)} {len(found)} times"
        raise PatchError(problem, r"Add a neighbouring line to the old line, with \n between them")
    return found[0]


@cache  # every patch of a module asks for the same solution
def _places_in(solution: str) -> list[Place]:
    return list(_places(parse(solution), _code_lines(solution)))


def _places(tree: ast.Module, lines: Mapping[int, str]) -> Iterator[Place]:
    for node in tree.body:
        if isinstance(node, _Function):
            yield Place(node.name, node, None, _lines_of(node, lines))
        elif isinstance(node, ast.ClassDef):
            own = _lines_of(node, lines)
            for part in node.body:
                if isinstance(part, _Function):
                    inside = _lines_of(part, lines)
                    own = {number: line for number, line in own.items() if number not in inside}
                    yield Place(f"{node.name}.{part.name}", node, part, inside)
            yield Place(node.name, node, None, own)


def _emit(top: ast.stmt, touched: list[Place], lines: Mapping[int, str], changed: Mapping[int, str | None]) -> str:
    """Return the patched function, or a class with the patched methods.

    A class that extends the solution's is enough, unless its own lines change or a method calls `super()`: then all of
    the class is copied.
    """
    parts = [_with(_lines_of(place.method or top, lines), changed) for place in touched[:1]]
    if isinstance(top, ast.ClassDef):
        methods = list(dict.fromkeys(place.method for place in touched))
        parts = [_with(_lines_of(method, lines), changed) for method in methods if method is not None]
        if None in methods or any("super()" in part for part in parts):
            parts = [_with(_lines_of(top, lines), changed)]
        else:
            parts = [f"class {top.name}({top.name}):", "\n\n".join(parts)]
    code = "\n".join(parts)
    try:
        parse(code)
    except SyntaxError as error:
        line = code.splitlines()[(error.lineno or 1) - 1].strip()
        raise PatchError(f"with REPLACE, the code is not Python: {error.msg} at {_short(line)}", "Fix it") from None
    return code


def _with(own: Mapping[int, str], changed: Mapping[int, str | None]) -> str:
    found = (changed.get(number, line) for number, line in own.items())
    return "\n".join(line for line in found if line is not None)


@cache  # a module has many patches of one solution
def _code_lines(solution: str) -> Mapping[int, str]:
    """Return the lines of code by number: no comments, no docstrings, no empty lines."""
    lines = dict(enumerate(solution.splitlines(), 1))
    inside_text: set[int] = set()  # lines that begin inside a string of several lines are kept as they are
    for token in tokenize.generate_tokens(io.StringIO(solution).readline):
        if token.type == tokenize.COMMENT:
            number, column = token.start
            lines[number] = lines[number][:column].rstrip()
        elif token.type == tokenize.STRING:
            inside_text.update(range(token.start[0] + 1, token.end[0] + 1))
    for node in ast.walk(parse(solution)):
        if isinstance(node, _Function | ast.ClassDef) and ast.get_docstring(node) is not None and len(node.body) > 1:
            for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1):
                del lines[number]
    return {number: line for number, line in lines.items() if line.strip() or number in inside_text}


def _lines_of(node: ast.stmt, lines: Mapping[int, str]) -> dict[int, str]:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return {number: lines[number] for number in range(first, (node.end_lineno or 0) + 1) if number in lines}


def _indented(new: str, old: str) -> str | None:
    """Return the new line or lines, as far in as the old one; None if there are none."""
    indent = old[: len(old) - len(old.lstrip())]
    return "\n".join(indent + line for line in new.splitlines() if line.strip()) or None


def _bare(line: str) -> str:
    """Return a line without its comment."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
            if token.type == tokenize.COMMENT:
                return line.strip()[: token.start[1]].rstrip()
    except (tokenize.TokenError, IndentationError):  # the first line of a statement that goes on
        pass
    return line.strip()


def _short(line: str) -> str:
    return repr(line.strip().splitlines()[0][:80] if line.strip() else line)
