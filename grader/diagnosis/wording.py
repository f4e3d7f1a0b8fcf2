"""The text of a diagnosis, in at most fifteen lines of a narrow terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
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
from grader.diagnosis.outcome import ProbeOutcome, Side, Unreadable, is_same, likeness, plain_difference, same_dtype
from grader.diagnosis.probe import Probe, Reading, SimulatedMachine, axes_of
from grader.diagnosis.reproducer import code_lines, expression, literal
from grader.diagnosis.simplest import simplest

_WIDTH = 78
MAX_LINES = 15
FEW_DIGITS, MANY_DIGITS = 4, 12
SHORT_ARGUMENT = 60  # characters of an argument that is written out in a description
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
        parts += [_call_lines(probe), *_against(finding.deviation.side, probe, found, expected)]
        evidence = reading.evidence if reading else _sums(found.value, expected.value)
        parts.append(wrapped(f"  evidence: {evidence}", 2) if evidence else [])
        if found.raised is not None and finding.way is None:
            said = in_plain_words(found.raised, _given(probe, prints, expected))
            parts.append(wrapped(f"In words: {said}", 5) if said else [])
    parts.append(_cause(finding, reading) if finding.deviation or finding.way else [])
    if line is not None:
        cell = f", code cell {line.cell}" if line.cell else ""
        near = "" if line.exact else "near "
        parts.append(wrapped(f"Look at: {one_line(file, 40)}{cell}, {near}line {line.number}", 1))
    then = wrapped(_next_step(slug, finding), 2)
    left = MAX_LINES - len(then) - sum(map(len, parts))
    if finding.way and left > 0:  # a hint without room ends in "…", not in the middle of a sentence
        parts.append(wrapped(f"Think: {finding.way.hint}", min(3, left)))
    return "\n".join([*[text for part in parts for text in part][: MAX_LINES - len(then)], *then])


def _unwritten(finding: Finding) -> list[str]:
    if finding.calls:
        return wrapped(f"{finding.path} calls {finding.calls}, which is not written yet", 2)
    return [f"{finding.path} is not written yet"]


def shows_values(finding: Finding, hidden: str, *, own: bool) -> bool:
    """Whether the student may see the call and its results. A known wrong way that only hidden checks find is named."""
    return finding.deviation is not None and (own or not (hidden and finding.way is not None))


def shown_probe(finding: Finding, prints: Fingerprints, observed: Observed) -> int:
    """Return the simplest probe that shows a deviation."""
    assert finding.deviation is not None
    return simplest(finding.deviation.probes, prints, observed)


def kind_of(finding: Finding, prints: Fingerprints, observed: Observed) -> str:
    """Return what is wrong in one or two words."""
    if finding.deviation is None:
        return "answer" if finding.target == REFLECT else "not written"
    if finding.deviation.side != Side.VALUE:
        return finding.deviation.side.name.lower()
    return "value" if observed[shown_probe(finding, prints, observed)].ended == "returned" else "raises"


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
    given = [_argument(arg) for arg in probe.args] + [f"{key}={_argument(arg)}" for key, arg in probe.kwargs.items()]
    return f"{head} of {_joined(given)}" if given else head


def _call_lines(probe: Probe) -> list[str]:
    """Return the call as lines: code that runs when it is pasted, or a description."""
    return code_lines(code) if (code := expression(probe)) is not None else wrapped(call_of(probe), 4)


def _argument(value: Any) -> str:
    """Return a short argument as it is, such as a mask, and of a longer one its shape."""
    try:
        text = literal(value)
    except ValueError:
        text = ""
    if text and len(text) <= SHORT_ARGUMENT:
        return text
    if type(value) in _PLAIN:
        return short(value)
    return f"an array of shape {axes_of(value)}" if shape_of(value) is not None else f"<{type(value).__name__}>"


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
        where, one, other = _first_element(found.value, expected.value, same_dtype)
        return [*where, *_pair(describe(one), describe(other))]
    if probe.look is not None and type(expected.value) in (dict, str):
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
    """Show the parts of a free form that are not as required; only which they are, if that is too long."""
    if type(found.value) is not dict or type(expected) is not dict:
        return [wrapped(f"  yours:    {what}", 2)]
    off = [str(key) for key, value in expected.items() if likeness(found.value.get(key), value)]
    shown = ["; ".join(f"{key}: {facts.get(key)}" for key in off) for facts in (found.value, expected)]
    if max(map(len, shown)) <= 2 * MOST_SHOWN:
        return _pair(*shown)
    return [wrapped(f"  yours:    {what}; not as required: {_joined(off)}", 3)]


def _values(found: Any, expected: Any) -> list[list[str]]:
    """Show two values where they first differ: the item of a tuple, or the row of a long table."""
    # The last element is often computed first: weights go wrong before the output does.
    where, found, expected = _first_element(found, expected, is_same, back=True)
    return [*where, *_shown_pair(found, expected)]


def _first_element(
    found: Any, expected: Any, same: Callable[[Any, Any], bool], *, back: bool = False
) -> tuple[list[list[str]], Any, Any]:
    """Return the first element of a tuple of results that differs, or the last, and a line that says which it is."""
    if not _is_of_arrays(expected) or type(found) is not tuple or len(found) != len(expected):
        return [], found, expected
    off = [at for at, value in enumerate(expected) if not same(found[at], value)]
    right = [str(at + 1) for at in range(len(expected)) if at not in off]
    if not off:
        return [], found, expected
    at = off[-1] if back else off[0]
    also = f"; {'elements' if len(right) > 1 else 'element'} {_joined(right)} {_are(right)} right" if right else ""
    return [[f"  element {at + 1} of the tuple{also}:"]], found[at], expected[at]


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _shown_pair(found: Any, expected: Any) -> list[list[str]]:
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
    return [wrapped(f"  yours:    {found}", 4), wrapped(f"  expected: {expected}", 3)]


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
        return f"it returns {_shown(outcome.value if outcome.raw is None else outcome.raw)}"
    raised = outcome.raised
    if raised is None:
        return "it returns something that cannot be read"
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


def _cause(finding: Finding, reading: Reading | None) -> list[str]:
    if finding.way:
        also = wrapped(f"Also: {finding.also.likely} ({finding.also.name})", 3) if finding.also else []
        return [*wrapped(f"Likely: {finding.way.likely} ({finding.way.name})", 3), *also]
    if reading and reading.cause:
        return wrapped(f"It looks as if {reading.cause}", 2)
    if finding.right_before:
        names = _joined([path.partition(".")[2] for path in finding.right_before])
        are = "The steps before it are right" if len(finding.right_before) > 1 else "The step before it is right"
        return wrapped(f"{are} ({names})", 2)
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
