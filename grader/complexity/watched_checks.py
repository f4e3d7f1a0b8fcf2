"""What the checks' calls call: some of them are made again while they are watched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from grader.complexity.known_names import known_name
from grader.core.compare import shape_of
from grader.core.errors import StudentError
from grader.sandbox.session import RecordedRequest, Session

CALL = "the calls of the checks"
MOST_NAMES = 100
_CALLING = ("call", "vjp", "on_device")


def calls_in_checks(session: Session, recorded: Sequence[RecordedRequest]) -> Mapping[str, set[str]]:
    """Return the names of the library calls that each function or class made when the checks called it.

    Calls with arguments of the same kinds and shapes are made only once. A function that ends its process here did not
    do so in the checks, and what was seen until then is lost: it is left to the instructor like any other doubt.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for _, requests in groupby(_of_every_kind(recorded), lambda one: one.generation):
        of_one_worker = list(requests)
        message = {"op": "watch", "main": session.program.main, "requests": [one.message for one in of_one_worker]}
        try:
            answer = session.request(message, CALL, CALL)
        except StudentError:
            continue
        if type(answer) is not list or len(answer) != len(of_one_worker):
            raise session.malformed(CALL, CALL)
        for one, names in zip(of_one_worker, answer, strict=True):
            if type(names) is not list or len(names) > MOST_NAMES or not all(type(name) is str for name in names):
                raise session.malformed(CALL, CALL)
            found[one.owner] |= {known_name(name) for name in names}
    return found


def _of_every_kind(recorded: Sequence[RecordedRequest]) -> Iterator[RecordedRequest]:
    """Yield the requests that make objects, and one call for each kind of arguments."""
    seen: set[Any] = set()
    for one in recorded:
        message = one.message
        if message["op"] not in _CALLING:
            yield one
            continue
        calls = message.get("calls") or [[message.get("args"), message.get("kwargs")]]
        method = tuple(message["ref"][1])[-1:]
        kinds = [(message["op"], one.owner, method, _kind(call)) for call in calls]
        new = [call for call, kind in zip(calls, kinds, strict=True) if kind not in seen]
        seen.update(kinds)
        if new:
            yield replace(one, message={**message, "calls": new}) if "calls" in message else one
        elif message.get("before"):
            yield replace(one, message={"op": "get", "ref": message["ref"], "before": message["before"]})


def _kind(value: Any) -> Any:
    """Return what code can branch on without looking at the numbers: types, shapes, dtypes and flags."""
    if (shape := shape_of(value)) is not None:
        return type(value).__name__, tuple(shape), str(value.dtype), bool(getattr(value, "requires_grad", False))
    if isinstance(value, list | tuple):
        return tuple(map(_kind, value))
    if isinstance(value, dict):
        return tuple((key, _kind(item)) for key, item in value.items())
    return type(value).__name__, value if isinstance(value, bool | int | str | None) else None
