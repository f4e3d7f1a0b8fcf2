"""What the checks' calls call. Torch functions are named in the checks; for NumPy, some calls are made again."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from grader.complexity.known_names import known_name
from grader.core.compare import shape_of
from grader.core.errors import StudentError
from grader.sandbox.session import Session
from grader.sandbox.session_record import RecordedRequest

CALL = "the calls of the checks"
MOST_NAMES = 100


@dataclass(frozen=True)
class WatchedCalls:
    """The names of the library calls that each function or class made; `complete` if every call could be watched."""

    names: Mapping[str, set[str]]
    complete: bool = True


def named_in_checks(session: Session) -> WatchedCalls:
    """Return what the worker named in the checks: every call of a torch module was watched."""
    called = session.record.all_calls.called
    return WatchedCalls({owner: set(map(known_name, names)) for owner, names in called.items()})


def calls_in_checks(session: Session, recorded: Sequence[RecordedRequest], seed: int) -> WatchedCalls:
    """Return what each function or class called in the checks.

    Of all calls whose arguments have the same types and numbers of axes, one is made: the secret seed chooses which
    shapes. Code that ends its process here, or answers nonsense, did not do so in the checks.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    complete = True
    for _, requests in groupby(_of_every_kind(recorded, seed), lambda one: one.generation):
        of_one_worker = list(requests)
        try:
            answer = _watch(session, of_one_worker)
        except StudentError:
            complete = False
            continue
        for one, names in zip(of_one_worker, answer, strict=True):
            found[one.owner] |= set(map(known_name, names))
    return WatchedCalls(found, complete)


def _watch(session: Session, requests: Sequence[RecordedRequest]) -> list[list[str]]:
    """Make the calls of one worker again, and return the names of what each one called."""
    answer = session.request({"op": "watch", "requests": [one.message for one in requests]}, CALL, CALL)
    if type(answer) is not list or len(answer) != len(requests) or not all(map(_are_names, answer)):
        raise session.failure(CALL, CALL)
    return answer


def _are_names(names: object) -> bool:
    return type(names) is list and len(names) <= MOST_NAMES and all(type(name) is str for name in names)


def _of_every_kind(recorded: Sequence[RecordedRequest], seed: int) -> Iterator[RecordedRequest]:
    """Yield the requests that make objects, and some calls for each kind of arguments."""
    wanted = _chosen(recorded, seed)
    for one in recorded:
        message = one.message
        if message["op"] != "call":
            yield one
            continue
        calls = message["calls"]
        kinds = [(*_place(one), _kind(call)) for call in calls]
        new = [call for call, kind in zip(calls, kinds, strict=True) if kind in wanted]
        wanted.difference_update(kinds)
        if new:
            yield replace(one, message={**message, "calls": new})
        elif message.get("before"):
            yield replace(one, message={"op": "get", "ref": message["ref"], "before": message["before"]})


def _chosen(recorded: Sequence[RecordedRequest], seed: int) -> set[Any]:
    """Return the kinds of calls to make again: one of the shapes for each combination of types."""
    shapes: defaultdict[Any, dict[Any, None]] = defaultdict(dict)
    for one in recorded:
        if one.message["op"] == "call":
            for call in one.message["calls"]:
                kind = _kind(call)
                shapes[(*_place(one), _without_shapes(kind))][(*_place(one), kind)] = None
    rng = random.Random(seed)
    return {rng.choice(list(of_one)) for of_one in shapes.values()}


def _place(one: RecordedRequest) -> tuple[Any, ...]:
    return one.owner, *one.message["ref"][1][-1:]


def _without_shapes(kind: Any) -> Any:
    """Return a kind with the numbers of axes in place of shapes, and without the values of numbers."""
    if type(kind) is _ArrayKind:
        return (kind.type, len(kind.shape), kind.dtype)
    if type(kind) is tuple:
        return tuple(map(_without_shapes, kind))
    return type(kind) if type(kind) is int else kind


class _ArrayKind(NamedTuple):
    type: str
    shape: tuple[int, ...]
    dtype: str


def _kind(value: Any) -> Any:
    """Return what code can branch on without looking at the numbers: types, shapes and dtypes."""
    if (shape := shape_of(value)) is not None:
        return _ArrayKind(type(value).__name__, tuple(shape), str(value.dtype))
    if isinstance(value, list | tuple):
        return tuple(map(_kind, value))
    if isinstance(value, dict):
        return tuple((key, _kind(item)) for key, item in value.items())
    return type(value).__name__, value if isinstance(value, bool | int | str | None) else None
