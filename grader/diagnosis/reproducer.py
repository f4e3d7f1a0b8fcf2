"""The call of a probe as Python code that a student can paste: it gives what the screen shows as `yours`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Any

import numpy as np

from grader.core.compare import shape_of
from grader.core.plain_values import in_order
from grader.diagnosis.observe import observe
from grader.diagnosis.outcome import ProbeOutcome, Side, likeness
from grader.diagnosis.probe import Probe
from grader.sandbox.session import Session

WIDTH = 72  # of a line to paste; a browser needs `print` around it
_INDENT = "    "
_LONGEST = 300  # characters of a call that is written out; a longer one is described
_MANY = 8  # entries; more of the same number are written as `np.ones(...)`


def expression(probe: Probe) -> str | None:
    """Return the call as one short expression; None if its inputs are too long, or it is more than a call."""
    made = probe.made
    more = (probe.before, made.state, made.training, probe.cotangent is not None, probe.place, probe.look)
    if probe.said or probe.attribute or any(more):
        return None
    values = [*made.init, *probe.args, *probe.kwargs.values()]
    name, _, method = probe.path.partition(".")
    if method and not probe.args and not probe.kwargs:  # it may be a property, which is not called
        return None
    try:
        init, args = _literals(made.init, {}), _literals(probe.args, probe.kwargs)
    except ValueError:
        return None
    is_layer = method == "forward" and any(_is_tensor(value) for value in values)
    mode = ".eval()" if is_layer else ""  # a cache of tensors is not a torch module
    owner = f"{name}({init}){mode}.{method}" if method else name
    text = f"{owner}({args})"
    return text if len(text) <= _LONGEST else None


def paste(probe: Probe, side: Side, changed: Sequence[str] = (), *, alone: bool = True) -> str:
    """Return the lines to paste below the student's own code; empty if there are no short ones.

    `changed` are the arguments that the call changes, by number or by name. A call that does not give the same `alone`
    needs the calls before it, as the code keeps something from call to call.
    """
    code = expression(probe) if alone else None
    if code is None:
        return "\n".join(_script(probe)) if alone and side != Side.INPUTS else ""
    if side != Side.INPUTS or not changed:
        return "\n".join(code_lines(code))
    name = changed[0]
    value = probe.args[int(name) - 1] if name.isdigit() else probe.kwargs[name]
    given = literal(value)
    start = len(code) - len(_literals_from(probe, name)) - 1  # another argument before it may have the same numbers
    call = code[:start] + code[start:].replace(given, "given", 1)
    return "\n".join([*code_lines(f"given = {given}"), *code_lines(call), "given"])


def _literals_from(probe: Probe, name: str) -> str:
    """Return the arguments of a call from that one on."""
    if name.isdigit():
        return _literals(probe.args[int(name) - 1 :], probe.kwargs)
    return _literals((), dict(dropwhile(lambda one: one[0] != name, probe.kwargs.items())))


def _script(probe: Probe) -> list[str]:
    """Return the lines of a script on one object; none if it is more than calls of methods with short arguments."""
    made, (name, _, method) = probe.made, probe.path.partition(".")
    more = (made.state, made.training, probe.cotangent is not None, probe.place, probe.look, probe.attribute)
    if any(more) or not probe.before or not method or not probe.args:  # without arguments, it may be a property
        return []
    try:
        lines = [f"made = {name}({_literals(made.init, {})})"]
        lines += [f"made.{one.method}({_literals(one.args, one.kwargs)})" for one in probe.before]
        lines += [f"made.{method}({_literals(probe.args, probe.kwargs)})"]
    except ValueError:
        return []
    return [part for line in lines for part in code_lines(line)] if sum(map(len, lines)) <= _LONGEST else []


def _literals(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    return ", ".join([*map(literal, args), *(f"{key}={literal(value)}" for key, value in kwargs.items())])


def code_lines(code: str, width: int = WIDTH) -> list[str]:
    """Return an expression as lines that run when they are pasted: each ends behind a comma inside its brackets.

    A line ends between two arguments rather than inside one.
    """
    breaks = _breaks(code)
    lines: list[str] = []
    start = 0
    while len(rest := code[start:]) + len(indent := _INDENT if lines else "") > width:
        near = [place for place in breaks if start < place <= start + width - len(indent)]
        if not near:
            break
        end = max(near, key=lambda place: (-breaks[place], place))
        lines.append(indent + code[start:end].rstrip())
        start = end
    return [*lines, indent + rest]


def _breaks(code: str) -> dict[int, int]:
    """Return the places where a new line may begin, with their depth: behind a comma, but not inside a text."""
    found: dict[int, int] = {}
    quote, depth = "", 0
    for place, character in enumerate(code):
        if quote:
            quote = "" if character == quote and code[place - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == " " and code[place - 1] == ",":
            found[place + 1] = depth
    return found


def gives_the_same_alone(session: Session, probe: Probe, found: ProbeOutcome) -> bool:
    """Whether a call gives the same in a process that has made no other call."""
    again = observe(session, [probe]).get(0)
    if again is None or again.ended != found.ended:
        return again is None
    return likeness(again.value, found.value) == 0 and again.changed.keys() == found.changed.keys()


def literal(value: Any) -> str:
    """Return exact Python code for an argument; ValueError if there is none."""
    if value is None or type(value) in (bool, int, str, bytes, complex):
        return repr(value)
    if type(value) is float:
        return _number(value, "np")
    if type(value) in (list, tuple):
        inside = ", ".join(map(literal, value))
        return f"[{inside}]" if type(value) is list else f"({inside}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if type(value) in (set, frozenset):
        inside = "{" + ", ".join(map(literal, in_order(value))) + "}" if value else ""
        return f"frozenset({inside})" if type(value) is frozenset else inside or "set()"
    if type(value).__module__ == "torch" and type(value).__name__ == "dtype":
        return str(value)
    if _is_tensor(value):
        kind = str(value.dtype).removeprefix("torch.")
        if kind in ("float16", "bfloat16"):
            return _array(value.detach().float().numpy(), "torch", f", dtype=torch.{kind}")
        given = "" if kind in ("float32", "int64", "bool") else f", dtype=torch.{kind}"
        return _array(value.detach().numpy(), "torch", given)
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        given = "" if value.dtype in (np.float64, np.int64, np.bool_) else f", dtype=np.{value.dtype}"
        return _array(value, "np", given)
    if isinstance(value, np.number | np.bool_):
        return f"np.{value.dtype}({literal(value.item())})"
    raise ValueError(f"there is no short code for {type(value).__name__}")


def _array(array: np.ndarray, library: str, dtype: str) -> str:
    """Return code for an array or tensor; one number many times over is written once."""
    maker = "tensor" if library == "torch" else "array"
    same = array.size > _MANY and array.dtype.kind == "f" and bool((array == array.flat[0]).all())
    if array.size == 0 or (same and array.flat[0] in (0, 1)):
        name = "zeros" if array.size == 0 or array.flat[0] == 0 else "ones"
        kind = "" if array.dtype.kind == "f" else f", dtype={library}.{array.dtype}"
        return f"{library}.{name}({tuple(array.shape)}{dtype or kind})"
    if array.dtype == np.float32 and library == "np":
        return f"np.float32({_nested(array, library)})"
    return f"{library}.{maker}({_nested(array, library)}{dtype})"


def _nested(array: np.ndarray, library: str) -> str:
    if array.ndim == 0:
        return _number(array[()], library)
    return f"[{', '.join(_nested(row, library) for row in array)}]"


def _number(number: Any, library: str) -> str:
    """Return the shortest text that gives exactly this number."""
    if isinstance(number, bool | np.bool_):
        return str(bool(number))
    if isinstance(number, int | np.integer):
        return str(int(number))
    if not math.isfinite(number):
        return f"{'-' if number < 0 else ''}{library}.{'nan' if math.isnan(number) else 'inf'}"
    return str(number).removesuffix("0") if str(number).endswith(".0") else str(number)


def _is_tensor(value: Any) -> bool:
    return shape_of(value) is not None and type(value).__module__ == "torch"
