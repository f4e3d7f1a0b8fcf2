"""The arguments of a measured call, made as a contract describes them, from sizes such as `n`, `2*d` or `n+1`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.core.compare import shape_of
from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.script import EACH, GIVEN, LAST, OBJECT, ScriptArgument
from grader.sandbox.protocol.wire import UnsendableError

CALL_NUMBER = "step"  # in repeated calls, the number of the call, from 0
_NUMBER = re.compile(r"-?\d+(\.\d*)?(e-?\d+)?")
_NAMED = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<spec>.*)", re.DOTALL)

WORD = 4  # letters of a word: all have the same number, so that a text of N words has a length that N decides

_TIMES = re.compile(r"(?P<value>.*)\stimes\s(?P<times>[\w*/+-]+)", re.DOTALL)  # never the end of a text in quotes

_OPERAND = r"(?:[0-9]+|[a-z]\w*)"
_EXPRESSION = re.compile(rf"{_OPERAND}(?:[-+*/]{_OPERAND})*")
_TOKEN = re.compile(rf"{_OPERAND}|[-+*/]")


class SizeError(ValueError):
    """An expression that has no value at some sizes."""


def require_expression(text: str, names: Collection[str]) -> None:
    """Raise a ValueError that says why this is not a size."""
    if not _EXPRESSION.fullmatch(text):
        raise ValueError(f"{text!r} is not a size: write n, 2*d, n+1 or e/2, without spaces")
    for token in _TOKEN.findall(text):
        if token[0].isalpha() and token not in names:
            raise ValueError(f"{token} is not one of its sizes ({', '.join(names)})")


def size_of(text: str, names: Mapping[str, int]) -> int:
    """Return the value of an expression. A SizeError names one that is negative or does not come out even."""
    whole, product, sign = 0, 1, 1
    operator = "*"
    for token in _TOKEN.findall(text):
        if token in "+-":
            whole, product, sign, operator = whole + sign * product, 1, 1 if token == "+" else -1, "*"
        elif token in "*/":
            operator = token
        else:
            value = int(token) if token[0].isdigit() else names[token]
            if operator == "/" and (value == 0 or product % value):
                raise SizeError(f"{text} is not a whole number at {_written(text, names)}: choose other sizes")
            product = product // value if operator == "/" else product * value
    whole += sign * product
    if whole < 0:
        raise SizeError(f"{text} is negative at {_written(text, names)}: choose other sizes")
    return whole


def _written(text: str, names: Mapping[str, int]) -> str:
    used = dict.fromkeys(token for token in _TOKEN.findall(text) if token in names)
    return ", ".join(f"{name} = {names[name]}" for name in used)


@dataclass(frozen=True)
class ArgumentKind:
    """One kind of argument. `form` has sizes in capital letters; `sizes` says which parts of a spec are sizes."""

    form: str
    meaning: str
    sizes: Callable[[list[str]], list[str] | None]  # None: the parts do not fit the form


def _any(parts: list[str]) -> list[str] | None:
    return parts or None


def _exactly(count: int) -> Callable[[list[str]], list[str] | None]:
    return lambda parts: parts if len(parts) == count else None


def _below(parts: list[str]) -> list[str] | None:
    return [*parts[:-2], parts[-1]] if len(parts) > 2 and parts[-2] == "below" else None


def _pairs(parts: list[str]) -> list[str] | None:
    return _below(parts) if len(parts) == 3 else None


def _perhaps_below(parts: list[str]) -> list[str] | None:
    return parts if len(parts) == 1 else _below(parts) if len(parts) == 3 else None


def _positions(parts: list[str]) -> list[str] | None:
    match parts:
        case [count] | [count, "unsorted"]:
            return [count]
        case [count, "from", first]:
            return [count, first]
    return None


def _number(parts: list[str]) -> list[str] | None:
    return [] if len(parts) == 1 and _NUMBER.fullmatch(parts[0]) else None


def _index(parts: list[str]) -> list[str] | None:
    return [] if not parts or (len(parts) == 1 and parts[0].isdecimal()) else None


def _literal(parts: list[str]) -> list[str] | None:
    value, times = _repeated(" ".join(parts))
    try:
        made = ast.literal_eval(value)
        encode(made)
    except (ValueError, SyntaxError, UnsendableError):
        return None
    return [] if not times else [times] if isinstance(made, str | bytes | list | tuple) else None


def _repeated(text: str) -> tuple[str, str]:
    """Return the value of a literal as it is written, and how many times it is repeated: `'()' times n`."""
    found = _TIMES.fullmatch(text.strip())
    return (found["value"], found["times"]) if found else (text.strip(), "")


def _name(parts: list[str]) -> list[str] | None:
    return [] if len(parts) == 1 else None


ARGUMENT_KINDS: dict[str, ArgumentKind] = {
    "array": ArgumentKind("array SIZES", "NumPy array of normally distributed numbers, float64", _any),
    "positive": ArgumentKind(
        "positive SIZES", "NumPy array of numbers from 1 to 2, such as sums of exponentials", _any
    ),
    "mask": ArgumentKind(
        "mask SIZES", "NumPy array of True; a mask that blocks entries would make costs depend on chance", _any
    ),
    "tensor": ArgumentKind("tensor SIZES", "the same as `array`, as a torch tensor in float32", _any),
    "tensormask": ArgumentKind("tensormask SIZES", "the same as `mask`, as a torch tensor", _any),
    "ids": ArgumentKind(
        "ids SIZES below V", "NumPy array of random integers from 0 to V - 1, with repeats, not sorted", _below
    ),
    "tensorids": ArgumentKind("tensorids SIZES below V", "the same as `ids`, as a torch tensor", _below),
    "positions": ArgumentKind(
        "positions N",
        "NumPy array of the integers 0 to N - 1; `positions N from M` begins at M, `positions N unsorted` is shuffled",
        _positions,
    ),
    "tensorpositions": ArgumentKind("tensorpositions N", "the same as `positions`, as a torch tensor", _positions),
    "lengths": ArgumentKind("lengths B N", "list of B integers, each N - 1", _exactly(2)),
    "text": ArgumentKind(
        "text N below V", "string of N characters, of V different ones, each as often as the others", _perhaps_below
    ),
    "words": ArgumentKind(
        "words N below V",
        f"list of N words of {WORD} letters, of V different ones, each as often as the others",
        _perhaps_below,
    ),
    "sentence": ArgumentKind(
        "sentence N below V", f"the same words in one string, with spaces: {WORD + 1}·N - 1 characters", _perhaps_below
    ),
    "list": ArgumentKind(
        "list N below V", "list of N integers from 0 to V - 1, each as often as the others, not sorted", _perhaps_below
    ),
    "pairs": ArgumentKind(
        "pairs N below V", "list of N different tuples of two integers from 0 to V - 1, not sorted", _pairs
    ),
    "tuple": ArgumentKind("tuple N below V", "the same as `list`, as a tuple", _perhaps_below),
    "dict": ArgumentKind("dict N", "dict from N words to the integers 0 to N - 1, not sorted", _exactly(1)),
    "size": ArgumentKind("size N", "the integer N", _exactly(1)),
    "value": ArgumentKind("value X", "the number X as a float, such as `value 2.5` or `value 1e-5`", _number),
    "literal": ArgumentKind(
        "literal VALUE",
        "this value, as in Python: `literal [(0, 1), (2, 3)]` or `literal 'two words'`; with `times N` behind it, a "
        "text or list is repeated: `literal '(a)' times n`",
        _literal,
    ),
    "none": ArgumentKind("none", "None", _exactly(0)),
    "true": ArgumentKind("true", "True", _exactly(0)),
    "false": ArgumentKind("false", "False", _exactly(0)),
    "flag": ArgumentKind("flag N", "False if N is 0, else True: with `flag step`, two calls differ in it", _exactly(1)),
    "object": ArgumentKind("object NAME", "an object that `objects` names, such as a cache", _name),
    "last": ArgumentKind(
        "last", "the result of the call before, or None at the first call; `last 0` is the first part of it", _index
    ),
}


def named_spec(spec: str) -> tuple[str, str]:
    """Return the keyword of an argument and the rest; `is_causal=true` is passed by name, `true` by position."""
    found = _NAMED.fullmatch(spec)
    return (found["name"], found["spec"]) if found else ("", spec)


def require_argument(spec: object, names: Collection[str], objects: Collection[str] | None) -> None:
    """Raise a ValueError that says why this is not an argument; `objects` is None in a constructor, which gets none."""
    kind, *parts = named_spec(str(spec))[1].split() or [""]
    if objects is None and kind in (OBJECT, LAST):
        raise ValueError(f"{spec!r} is not an argument of a constructor")
    if kind not in ARGUMENT_KINDS or (sizes := ARGUMENT_KINDS[kind].sizes(parts)) is None:
        forms = (
            f"write {ARGUMENT_KINDS[kind].form}"
            if kind in ARGUMENT_KINDS
            else f"write one of {', '.join(ARGUMENT_KINDS)}"
        )
        raise ValueError(f"{spec!r} is not an argument: {forms}, then sizes or numbers")
    try:
        for size in sizes:
            require_expression(size, names)
    except ValueError as error:
        raise ValueError(f"{spec!r} is not an argument: {error}") from None
    if kind == OBJECT and parts[0] not in (objects or ()):
        raise ValueError(f"{spec!r} is not an argument: objects has no {parts[0]}")


def argument(spec: str, names: Mapping[str, int], rng: np.random.Generator) -> Any:
    """Make one argument as a contract describes it, such as `array n d`. It is a value that can be sent."""
    kind, *parts = named_spec(spec)[1].split()
    if kind == "value":
        return float(parts[0])
    if kind == "literal":  # the text itself: its parts have lost the spaces between them
        value, times = _repeated(named_spec(spec)[1].strip().removeprefix(kind))
        made = ast.literal_eval(value)
        return made * size_of(times, names) if times else made
    if kind.startswith("tensor"):
        import torch

        if kind == "tensormask":
            return torch.ones(*_sizes(parts, names)) > 0
        made = torch.from_numpy(argument(f"{kind.removeprefix('tensor') or 'array'} {' '.join(parts)}", names, rng))
        return made.float() if kind == "tensor" else made
    match kind:
        case "array":
            return rng.normal(size=_sizes(parts, names))
        case "positive":
            return rng.uniform(1, 2, size=_sizes(parts, names))
        case "none":
            return None
        case "true" | "false":
            return kind == "true"
        case "flag":
            return size_of(parts[0], names) != 0
        case "mask":
            return np.ones(_sizes(parts, names), dtype=bool)
        case "ids":
            return rng.integers(0, size_of(parts[-1], names), size=_sizes(parts[:-2], names))
        case "positions":
            return _made_positions(parts, names, rng)
        case "size":
            return size_of(parts[0], names)
        case "pairs":
            return _made_pairs(parts, names, rng)
        case "text" | "words" | "sentence" | "list" | "tuple" | "dict":
            return _container(kind, parts, names, rng)
        case _:  # lengths
            count, longest = _sizes(parts, names)
            return [longest - 1] * count


def _container(kind: str, parts: list[str], names: Mapping[str, int], rng: np.random.Generator) -> Any:
    """Make a text, list, tuple or dict, with every item equally often: costs must not depend on chance."""
    count, *rest = _sizes([part for part in parts if part != "below"], names)
    numbers: list[int] = rng.permutation(np.arange(count) % (rest[0] if rest else max(1, count))).tolist()
    match kind:
        case "list":
            return numbers
        case "tuple":
            return tuple(numbers)
        case "text":
            return "".join(chr(ord("a") + one if one < 26 else 0x20000 + one) for one in numbers)
        case "dict":
            return {_word(one): one for one in numbers}
    words = [_word(one) for one in numbers]
    return words if kind == "words" else " ".join(words)


def _word(number: int) -> str:
    """Return a word for a number: another one for each number below 26^WORD."""
    spread = (number * 7919 + 12345) % 26**WORD  # neighbours look different, because 7919 and 26 share no factor
    return "".join(chr(ord("a") + spread // 26**at % 26) for at in range(WORD))


def script_argument(spec: str, names: Mapping[str, int], rng: np.random.Generator, times: int | None) -> ScriptArgument:
    """Make one argument of a call in a script. Calls that are repeated get one of their own each."""
    kind, *parts = named_spec(spec)[1].split()
    if kind == OBJECT:
        return OBJECT, parts[0]
    if kind == LAST:
        return LAST, int(parts[0]) if parts else None
    if times is None:
        return GIVEN, argument(spec, names, rng)
    values = [argument(spec, {**names, CALL_NUMBER: at}, rng) for at in range(times)]
    return EACH, _stacked(values)


def _sizes(parts: Sequence[str], names: Mapping[str, int]) -> list[int]:
    return [size_of(part, names) for part in parts]


def _made_positions(parts: list[str], names: Mapping[str, int], rng: np.random.Generator) -> np.ndarray:
    count = size_of(parts[0], names)
    first = size_of(parts[2], names) if len(parts) == 3 else 0
    made = np.arange(first, first + count)
    return rng.permutation(made) if parts[-1] == "unsorted" else made


def _made_pairs(parts: list[str], names: Mapping[str, int], rng: np.random.Generator) -> list[tuple[int, int]]:
    count, below = size_of(parts[0], names), size_of(parts[2], names)
    if count > below**2:
        raise SizeError(f"there are only {below**2} different pairs below {below}: choose other sizes")
    return [divmod(int(one), below) for one in rng.choice(below**2, size=count, replace=False)]


def _stacked(values: list[Any]) -> Any:
    """Return values of equal shape as one array, which is far smaller to send."""
    if not values or len({shape_of(value) for value in values}) > 1 or shape_of(values[0]) is None:
        return values
    if isinstance(values[0], np.ndarray):
        return np.stack(values)
    import torch

    return torch.stack(values)
