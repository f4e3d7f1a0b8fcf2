"""The tables of docs/authoring-reference.md that the code knows: `python -m cli.author.reference_tables` renews them.

A table stands between `<!-- table: name -->` and `<!-- end of table -->`. All else is written by hand.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import grader.testing
from grader.authoring.misconceptions import FIELDS
from grader.complexity.arguments import ARGUMENT_KINDS
from grader.complexity.contract import METERS
from grader.complexity.contract_reader import CONTRACT_KEYS as CONTRACT_KEYS
from grader.core.compare import BFLOAT16, TOLERANCES
from grader.course.hints import TIERS
from grader.course.module import KEYS, OPTIONAL
from grader.diagnosis.probe import probe
from grader.sandbox.jail.limits import Limits
from grader.sandbox.student import Handle, Student
from grader.testing.worth import worth

PAGE = Path("docs", "authoring-reference.md")
_TABLE = re.compile(r"(<!-- table: (?P<name>[\w ]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)

PROBE_WORDS = {
    "path": "`sort`, `Cache.update`, or a property such as `Cache.length`",
    "args": "the positional arguments",
    "init": "the arguments of the constructor",
    "state": "the parameters of a torch module, by name",
    "training": "train mode; otherwise eval mode",
    "cotangent": "also the gradients: the outcome is value, gradients and parameters",
    "look": "a function that reduces the result to the part that counts",
    "any_dtype": "the dtype does not count",
    "said": "words for long arguments, such as “the shared example”",
    "reads": "a function that tells in words what a wrong result shows: returns `Reading(evidence, cause)`, or `None`",
    "names": "the numbers that the error message must name, if the call must be refused",
    "kwargs": "the keyword arguments, as a dict",
    "on_device": "the call runs on the simulated GPU",
    "elsewhere": "positions or names of the arguments that are not on the GPU",
    "gpu": "`False`: the simulated machine has no GPU",
    "before": "the steps of a script, made first and on the same object",
    "attribute": "an attribute of the first argument, an object, that is compared after the call",
}
WORTH_WORDS = {
    "points": "a number above 0",
    "property": "what the check shows, in words that students read",
    "target": "the function or class it belongs to; the first of the module if it is not given",
    "needs": "the name of an earlier check; unless that passes, this one is held back",
    "slow": "it starts in a new process, runs once, and is announced while it runs",
    "cpu_s": "the CPU time of one call, in seconds",
}
LIMIT_WORDS = {
    "cpu_s": "CPU time of one call. More is the student's failure",
    "wall_s": "a worker that waits this long without computing is stopped, and tried once more",
    "session_s": "wall time of all calls of a submission; slow checks with their own `cpu_s` count on their own",
    "endings": "how often a function may end its process before its other checks are not run",
}
FIELD_WORDS = {
    "LIKELY": "text, required: the likely cause",
    "HINT": "text, required: what the student can try",
    "VALUES_RIGHT": "the numbers are right, something else is wrong; one check that fails is enough",
    "COSTLY": "everything is right except the cost; it passes every check and breaks a limit",
    "RAISES": "the mistake is an exception: where it returns, its results are right",
    "REPLACE": "old lines of the solution and new ones",
    "IN": "the function or method that `REPLACE` is about, where several have the line",
}


def page(text: str) -> str:
    """Return the page with new tables."""
    return _TABLE.sub(lambda found: f"{found[1]}{_table(TABLES[found['name']]())}{found[3]}", text)


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    head, *body = rows
    lines = [head, tuple("---" for _ in head), *body]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def _assertions() -> Iterable[tuple[str, ...]]:
    yield "name", "what it does"
    for name in grader.testing.__all__:
        value = getattr(grader.testing, name)
        if callable(value) and not inspect.isclass(value):
            yield f"`{_call(name, value)}`", _first_line(value)


def _tolerances() -> Iterable[tuple[str, ...]]:
    yield "dtype", "relative", "absolute"
    names = {8: "float64", 4: "float32", 2: "float16"}
    for size, tolerance in TOLERANCES.items():
        yield names[size], f"{tolerance.relative:g}", f"{tolerance.absolute:g}"
    yield "bfloat16", f"{BFLOAT16.relative:g}", f"{BFLOAT16.absolute:g}"


def _student() -> Iterable[tuple[str, ...]]:
    yield "call", "what it does"
    for name, method in vars(Student).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            yield f"`student.{_call(name, method)}`", _first_line(method)
    for name, method in vars(Handle).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            yield f"`student.f.{_call(name, method)}`", _first_line(method)


def _probe() -> Iterable[tuple[str, ...]]:
    yield "argument", "default", "meaning"
    yield from _parameters(probe, PROBE_WORDS)


def _worth() -> Iterable[tuple[str, ...]]:
    yield "argument", "default", "meaning"
    yield from _parameters(worth, WORTH_WORDS)


def _limits() -> Iterable[tuple[str, ...]]:
    yield "limit", "usually", "meaning"
    for field in dataclasses.fields(Limits):
        yield f"`{field.name}`", f"{field.default:g}", LIMIT_WORDS[field.name]


def _fields() -> Iterable[tuple[str, ...]]:
    yield "name", "meaning"
    for name in FIELDS:
        yield f"`{name}`", FIELD_WORDS[name]


def _keys() -> Iterable[tuple[str, ...]]:
    yield "key", "required", "example"
    for keys, required in ((KEYS, "yes"), (OPTIONAL, "no")):
        for name, example in keys.items():
            yield f"`{name}`", required, f"`{example}`"


def _tiers() -> Iterable[tuple[str, ...]]:
    words = ("a question", "where to look", "the step worked out with numbers")
    yield "key", "content"
    yield from ((f"`{tier}`", text) for tier, text in zip(TIERS, words, strict=True))


def _contract_keys() -> Iterable[tuple[str, ...]]:
    yield "key", "says"
    yield from ((f"`{key}`", meaning) for key, meaning in CONTRACT_KEYS.items())


def _kinds() -> Iterable[tuple[str, ...]]:
    yield "argument", "is"
    yield from ((f"`{kind.form}`", kind.meaning) for kind in ARGUMENT_KINDS.values())


def _meters() -> Iterable[tuple[str, ...]]:
    yield "meter", "counts"
    yield from ((f"`{meter}`", meaning) for meter, meaning in METERS.items())


TABLES: dict[str, Callable[[], Iterable[tuple[str, ...]]]] = {
    "assertions": _assertions,
    "tolerances": _tolerances,
    "student": _student,
    "probe": _probe,
    "worth": _worth,
    "limits": _limits,
    "fields": _fields,
    "keys": _keys,
    "tiers": _tiers,
    "keys of a contract": _contract_keys,
    "kinds of arguments": _kinds,
    "meters": _meters,
}


def _parameters(function: Callable[..., Any], words: dict[str, str]) -> Iterable[tuple[str, ...]]:
    for name, parameter in inspect.signature(function).parameters.items():
        yield f"`{name}`", _default(parameter), words[name]


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return ""
    return "`{}`" if not isinstance(parameter.default, str | tuple | bool | None) else f"`{parameter.default!r}`"


def _call(name: str, function: Callable[..., Any]) -> str:
    """Return a call with the names of its parameters; those with a default say it."""
    parts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name != "self":
            bare = parameter.replace(annotation=inspect.Parameter.empty)
            star = bare.kind is inspect.Parameter.KEYWORD_ONLY and not any(one.startswith("*") for one in parts)
            parts += ["*"] if star else []
            parts.append(re.sub(r"<class '(?:\w+\.)*(\w+)'>|mappingproxy\(({})\)", r"\1\2", str(bare)))
    return f"{name}({', '.join(parts)})"


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
