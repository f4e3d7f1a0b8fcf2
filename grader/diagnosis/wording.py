"""The text of a diagnosis, in at most fifteen lines of a narrow terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from grader.core.compare import as_float64, describe, shape_of
from grader.core.plain_values import short
from grader.core.safe_text import one_line
from grader.course.api import REFLECT
from grader.diagnosis.exception_words import Given, in_plain_words
from grader.diagnosis.findings import Finding
from grader.diagnosis.fingerprints import Fingerprints
from grader.diagnosis.likely_line import Line
from grader.diagnosis.observe import Observed
from grader.diagnosis.outcome import ProbeOutcome, Side, Unreadable, likeness, plain_difference
from grader.diagnosis.probe import Probe, Reading, SimulatedMachine, axes_of
from grader.diagnosis.reproducer import expression, literal

_WIDTH = 78
MAX_LINES = 15
FEW_DIGITS, MANY_DIGITS = 4, 12
MOST_SHOWN = 140  # characters of a text or a container that is shown: two lines
_PLAIN = (str, bytes, list, tuple, dict, set, frozenset)
_NO_BREAK = "\N{NO-BREAK SPACE}"
GRADIENTS = "its result, and the gradients of all inputs"


def diagnosis_text(
    finding: Finding,
    prints: Fingerprints,
    observed: Observed,
    line: Line | None,
    file: str,
    slug: str,
    hidden: str,
    *,
    own: bool,
) -> str:
    """Return what a student reads. `hidden` says what fails if no visible check does, without any hidden input.

    On their own file students may see every probe: they have them.
    """
    parts: list[list[str]] = []
    reading = None
    if finding.is_unwritten:
        parts.append(_unwritten(finding))
    elif hidden:
        parts.append(wrapped(hidden, 2))
    if finding.deviation is not None and shows_values(finding, hidden, own=own):
        number = shown_probe(finding, prints, observed)
        probe, found, expected = prints.probes[number], observed[number], prints.outcome(None, number)
        reading = probe.reads(found.value) if probe.reads else None
        parts += [wrapped(call_of(probe), 4), *_against(finding.deviation.side, probe, found, expected)]
        evidence = reading.evidence if reading else _sums(found.value, expected.value)
        parts.append(wrapped(f"  evidence: {evidence}", 2) if evidence else [])
        if found.raised is not None and finding.way is None:
            said = in_plain_words(found.raised, _given(probe, prints, expected))
            parts.append(wrapped(f"In words: {said}", 5) if said else [])
    parts.append(_cause(finding, prints, reading) if finding.deviation or finding.way else [])
    if line is not None:
        cell = f", code cell {line.cell}" if line.cell else ""
        near = "" if line.exact else "near "
        parts.append(wrapped(f"Look at: {one_line(file, 40)}{cell}, {near}line {line.number}", 1))
    if finding.way:
        parts.append(wrapped(f"Think: {finding.way.hint}", 3))
    parts.append(wrapped(_next_step(slug, finding), 2))
    return "\n".join([text for part in parts for text in part][:MAX_LINES])


def _unwritten(finding: Finding) -> list[str]:
    if finding.calls:
        return wrapped(f"{finding.path} calls {finding.calls}, which is not written yet", 2)
    return [f"{finding.path} is not written yet"]


def shows_values(finding: Finding, hidden: str, *, own: bool) -> bool:
    """Whether the student may see the call and its results. A known wrong way that only hidden checks find is named."""
    return finding.deviation is not None and (own or not (hidden and finding.way is not None))


def shown_probe(finding: Finding, prints: Fingerprints, observed: Observed) -> int:
    """Return the smallest probe that shows a deviation; preferably one where the difference is easy to see.

    Code that raises must run before its values can be right, so a call that raises comes first if nothing has a name.
    """
    assert finding.deviation is not None

    def order(number: int) -> tuple[bool, bool, bool, int, int]:
        probe, expected = prints.probes[number], prints.outcome(None, number)
        near = observed[number].ended == "returned" and likeness(observed[number].value, expected.value) == 1
        odd = any(len(axes_of(arg)) > 2 or (type(arg) is np.ndarray and arg.dtype == np.float32) for arg in probe.args)
        raised = observed[number].raised
        runs = finding.way is None and (raised is None or raised.place is None)
        return runs, near, odd, probe.size, number

    return min(finding.deviation.probes, key=order)


def call_of(probe: Probe) -> str:
    """Return a probe as a call that the student can paste; a description if it is too long for that."""
    if (code := expression(probe)) is not None:
        return code
    name, _, method = probe.path.partition(".")
    head = f"{name}({', '.join(map(_code, probe.made.init))}).{method}" if method else name
    if probe.before:
        steps = ", ".join(f"`{one.method}`" for one in probe.before)
        head = f"On one object, after {steps}: {head}" if method else f"After {steps}: {head}"
    head = f"In train mode, {head}" if probe.made.training else head
    head = f"The gradients of {head}" if probe.cotangent is not None else head
    if probe.place is not None:
        head = f"{_machine(probe.place)}, {head}"
    if probe.said:
        return f"{head} of {probe.said}"
    shapes = ", ".join(str(axes_of(arg)) for arg in probe.args if shape_of(arg))
    given = [f"arrays of {shapes}"] if shapes else []
    given += [short(arg) for arg in probe.args if type(arg) in _PLAIN and len(arg)]
    return f"{head} of {_joined(given)}" if given else head


def _code(value: Any) -> str:
    """Return code for an argument, or its type if there is none."""
    try:
        return literal(value)
    except ValueError:
        return f"<{type(value).__name__}>"


def _machine(place: SimulatedMachine) -> str:
    """Return the machine that a call runs on, and the arguments that are not on its GPU."""
    if not place.gpu:
        return "Without a GPU"
    left = [f"argument {name + 1}" if isinstance(name, int) else name for name in place.elsewhere]
    return f"On a GPU, with {_joined(left)} on the CPU" if left else "On a GPU"


def _numbers(array: np.ndarray, digits: int = FEW_DIGITS) -> str:
    """Return an array as one short line."""
    text = np.array2string(
        array, separator=", ", max_line_width=10_000, threshold=60, formatter={"float_kind": f"{{:.{digits}g}}".format}
    )
    return " ".join(text.split()).replace("[ ", "[")


def _against(side: Side, probe: Probe, found: ProbeOutcome, expected: ProbeOutcome) -> list[list[str]]:
    """Return the lines `yours` and `expected`."""
    if side == Side.REFUSAL:
        return _pair(_ending(found), f"a ValueError{_naming(probe.names)}")
    if found.ended != "returned":
        return _pair(_ending(found), GRADIENTS if probe.cotangent is not None else _shown(expected.value))
    if side == Side.INPUTS:
        names = [f"argument {name}" if name.isdigit() else name for name in found.changed]
        return _pair(f"{names[0]} is {_shown(next(iter(found.changed.values())))} after the call", "it is unchanged")
    if side == Side.DTYPE:
        return _pair(describe(found.value), describe(expected.value))
    if probe.look is not None and type(expected.value) in (dict, str):
        if probe.place and type(found.value) is dict and type(expected.value) is dict:
            off = [key for key, value in expected.value.items() if likeness(found.value.get(key), value)]
            shown = ["; ".join(f"{key}: {one.value.get(key)}" for key in off) for one in (found, expected)]
            return _pair(*shown)
        return _facts(found, expected.value, GRADIENTS if probe.cotangent is not None else describe(found.raw))
    if probe.cotangent is not None:
        return _gradients(found.value, expected.value)
    return _values(found.value, expected.value)


def _gradients(found: Any, expected: Any) -> list[list[str]]:
    """Show the first wrong gradient, or where the graph is cut. If the value is wrong already, show the value."""
    if type(found) is not dict or type(expected) is not dict or likeness(found["value"], expected["value"]):
        return _values(found["value"], expected["value"]) if type(found) is dict and type(expected) is dict else []
    arguments = enumerate(zip(found["grads"], expected["grads"], strict=False), 1)
    pairs = {f"argument {number}": pair for number, pair in arguments}
    pairs |= {name: (found["parameters"].get(name), expected["parameters"][name]) for name in expected["parameters"]}
    for name, (gradient, wanted) in pairs.items():
        if gradient is None and wanted is not None:
            return [[f"  no gradient reaches {name}: the graph is cut before it"]]
        if likeness(gradient, wanted):
            return [[f"  gradient of {name}:"], *_values(gradient, wanted)]
    return []


def _facts(found: ProbeOutcome, expected: Any, what: str) -> list[list[str]]:
    """Show which parts of a free form are not as required."""
    if type(found.value) is not dict or type(expected) is not dict:
        return [wrapped(f"  yours:    {what}", 2)]
    off = [str(key) for key, value in expected.items() if likeness(found.value.get(key), value)]
    return [wrapped(f"  yours:    {what}; not as required: {_joined(off)}", 3)]


def _values(found: Any, expected: Any) -> list[list[str]]:
    """Show two values where they first differ: the item of a tuple, or the row of a long table."""
    if _is_of_arrays(expected) and type(found) is tuple and len(found) == len(expected):
        # The last item is often computed first: weights go wrong before the output does.
        items = [item for item in reversed(range(len(expected))) if likeness(found[item], expected[item])]
        right = [item for item in range(len(expected)) if item not in items]
        if items:
            lines = _values(found[items[0]], expected[items[0]])
            note = f"  (item {items[0]} of the tuple" + (f"; item {right[0]} is right)" if right else ")")
            return [*lines, [note]]
    if isinstance(found, Unreadable):
        return _pair(f"an object {found!r}", _shown(expected))
    if shape_of(found) != shape_of(expected) or as_float64(found) is None or as_float64(expected) is None:
        return [*_pair(_shown(found), _shown(expected)), wrapped(f"  {plain_difference(found, expected)}", 3)]
    one, other = np.asarray(as_float64(found)), np.asarray(as_float64(expected))
    if one.ndim >= 2 and one.size > 16:
        rows = one.reshape(-1, one.shape[-1]), other.reshape(-1, one.shape[-1])
        off = next((i for i, pair in enumerate(zip(*rows, strict=True)) if likeness(*pair)), 0)
        return [*_number_pair(rows[0][off], rows[1][off]), [f"  (row {off})"]]
    return _number_pair(one, other)


def _number_pair(found: np.ndarray, expected: np.ndarray) -> list[list[str]]:
    """Show two arrays with four digits, or with as many as tell them apart."""
    few = _numbers(found), _numbers(expected)
    return _pair(*few) if few[0] != few[1] else _pair(_numbers(found, MANY_DIGITS), _numbers(expected, MANY_DIGITS))


def _pair(found: str, expected: str) -> list[list[str]]:
    return [wrapped(f"  yours:    {found}", 4), wrapped(f"  expected: {expected}", 2)]


def _shown(value: Any) -> str:
    if _is_of_arrays(value) and len(value) <= 4 and not any(type(item) is tuple for item in value):
        return f"a tuple: {_joined([_shown(item) for item in value])}"
    if type(value) in _PLAIN:
        return short(value, MOST_SHOWN)
    array = as_float64(value)
    return _numbers(array) if array is not None and array.size <= 16 else describe(value)


def _is_of_arrays(value: Any) -> bool:
    """Whether a value is a tuple with arrays: several results of one function."""
    return type(value) is tuple and any(shape_of(item) is not None or _is_of_arrays(item) for item in value)


def _given(probe: Probe, prints: Fingerprints, expected: ProbeOutcome) -> Given:
    """Return the arguments of a call by their names in the stub."""
    named = prints.api.parameters.get(probe.path, ())
    values = {**dict(zip(named, probe.args, strict=False)), **probe.kwargs}
    values |= {name: None for name in prints.api.none_by_default.get(probe.path, ()) if name not in values}
    are_none = tuple(name for name in named if name in values and values[name] is None)
    return Given(probe.path, values, are_none, expected.ended != "returned")


def _ending(outcome: ProbeOutcome) -> str:
    if outcome.ended == "returned":
        return f"it returns {_shown(outcome.value)}"
    raised = outcome.raised
    if raised is None:
        return f"it raises an exception{_naming(outcome.numbers)}"
    where = f", in line {raised.place.number}" if raised.place else ""
    said = f": {raised.message}" if raised.message and not outcome.numbers else ""
    return f"it raises {raised.type}{_naming(outcome.numbers)}{where}{said}"


def _naming(named: Sequence[float | str]) -> str:
    names = [repr(one) if isinstance(one, str) else f"{one:g}" for one in named]
    return f" whose message names {' and '.join(names)}" if names else ""


def _sums(found: Any, expected: Any) -> str:
    """Return the sums of rows and columns, if the expected rows sum to 1."""
    one, other = as_float64(found), as_float64(expected)
    if one is None or other is None or one.shape != other.shape or one.ndim != 2 or not np.isfinite(one).all():
        return ""
    if not np.allclose(other.sum(axis=-1), 1) or np.allclose(one.sum(axis=-1), 1):
        return ""
    rows, columns = one.sum(axis=-1), one.sum(axis=0)
    return f"your rows sum to {_numbers(rows)}, your columns to {_numbers(columns)}; each row should sum to 1"


def _cause(finding: Finding, prints: Fingerprints, reading: Reading | None) -> list[str]:
    if finding.way:
        also = wrapped(f"Also: {finding.also.likely} ({finding.also.name})", 3) if finding.also else []
        return [*wrapped(f"Likely: {finding.way.likely} ({finding.way.name})", 3), *also]
    if reading and reading.cause:
        return wrapped(f"It looks as if {reading.cause}", 2)
    before = [
        path for path in prints.paths[: prints.paths.index(finding.path)] if path.startswith(f"{finding.target}.")
    ]
    if before:
        names = _joined([path.partition(".")[2] for path in before])
        return wrapped(
            f"The steps before it are right ({names}). {finding.path} is the first that differs from the reference", 3
        )
    return []


def _joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _next_step(slug: str, finding: Finding) -> str:
    if finding.is_unwritten and finding.calls:
        return f"Next: write {finding.calls} first, then run {command(f'attn test {slug}')}"
    if finding.is_unwritten:
        return f"Next: read its part of the lesson (README.md), write it, then run {command(f'attn test {slug}')}"
    if finding.target == REFLECT:
        return "Next: read the question under Reflect again, and work out a small case by hand"
    return f"Next: fix it, then run {command(f'attn test {slug}')}. More help: {command(f'attn hint {slug}')}"


def command(text: str) -> str:
    """Return a command that stays on one line when its text is wrapped, so that it can be copied."""
    return f"`{text.replace(' ', _NO_BREAK)}`"


def wrapped(text: str, most: int) -> list[str]:
    """Return the lines of a text, at most so many."""
    lines = textwrap.wrap(
        text, _WIDTH, subsequent_indent="    ", max_lines=most, placeholder=" …", break_on_hyphens=False
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]
