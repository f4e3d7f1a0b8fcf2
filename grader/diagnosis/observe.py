"""Runs the probes of a submission in a fresh worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from grader.core.compare import shape_of
from grader.core.errors import StudentError, StudentMissingError, StudentRaisedError, StudentReturnedError
from grader.diagnosis.outcome import MOST_ENTRIES, Ended, ProbeOutcome, Unreadable, numbers_in
from grader.diagnosis.probe import Probe
from grader.diagnosis.raised import Raised, raised_of
from grader.sandbox.protocol.script import ProbeCall
from grader.sandbox.protocol.stand_ins import EarlierResult, Generator, ScriptObject, objects_in, sent_in_place
from grader.sandbox.protocol.wire import Remote
from grader.sandbox.session import Program, Session
from grader.sandbox.session_record import MODULE

Observed = Mapping[int, ProbeOutcome]  # by probe; a probe whose process ended is missing


def observe(session: Session, probes: Sequence[Probe], skip: frozenset[str] = frozenset()) -> dict[int, ProbeOutcome]:
    """Run the probes in a worker that has run nothing else. `skip` names targets that end their process."""
    if session.worker.owners:
        session.worker.renew()
    found: dict[int, ProbeOutcome] = {}
    for path in dict.fromkeys(probe.path for probe in probes):
        if path.partition(".")[0] in skip:
            continue
        numbers = [number for number, probe in enumerate(probes) if probe.path == path]
        try:
            results = _all_or_each(session, path, [probes[number] for number in numbers])
        except StudentError:
            continue
        for number, result in zip(numbers, results, strict=True):
            found[number] = _outcome(probes[number], result, session.program)
    return found


def observe_constants(session: Session, names: Sequence[str]) -> dict[str, Any]:
    """Return the answers of a submission under Reflect, without those that it does not give."""
    found: dict[str, Any] = {}
    for name in names:
        try:
            found[name] = _readable(session.request({"op": "get", "ref": [MODULE, [name]]}, name, name))
        except StudentError:
            continue
    return found


def _all_or_each(session: Session, path: str, probes: Sequence[Probe]) -> list[dict[str, Any] | StudentError]:
    """Run all probes in one request; one by one if a result cannot be sent, so that the others are not lost."""
    try:
        return _run(session, path, probes)
    except StudentReturnedError:
        results: list[dict[str, Any] | StudentError] = []
        for probe in probes:
            try:
                results += _run(session, path, [probe])
            except StudentReturnedError as error:
                results.append(error)
        return results


def _run(session: Session, path: str, probes: Sequence[Probe]) -> list[dict[str, Any] | StudentError]:
    owner = path.partition(".")[0]
    ways = {probe.object_key: probe.made for probe in probes} if "." in path else {}
    numbers = {key: number for number, key in enumerate(ways)}
    calls = [list(_sent_call(probe, numbers.get(probe.object_key, 0))) for probe in probes]
    objects = [made.data for made in ways.values()]
    message = {"op": "probe", "path": path.split("."), "objects": objects, "calls": calls}
    results = session.request(message, path, owner)
    if type(results) is not list or len(results) != len(probes) or not all(type(one) is dict for one in results):
        raise session.failure(path, owner)
    return [_result(session, path, probe, result) for probe, result in zip(probes, results, strict=True)]


def _sent_call(probe: Probe, number: int) -> ProbeCall:
    objects = objects_in(probe.given)
    return ProbeCall(
        number,
        *_sent_all(probe.args, probe.kwargs, objects),
        probe.cotangent,
        probe.place.data if probe.place else None,
        [[one.method, *_sent_all(one.args, one.kwargs, objects)] for one in probe.before],
        [one.data for one in objects],
        probe.attribute,
    )


def _sent_all(
    args: Sequence[Any], kwargs: Mapping[str, Any], objects: list[ScriptObject]
) -> tuple[list[Any], dict[str, Any]]:
    return [_sent(arg, objects) for arg in args], {key: _sent(arg, objects) for key, arg in kwargs.items()}


def _sent(arg: Any, objects: list[ScriptObject]) -> Any:
    return arg.sent if isinstance(arg, Generator | EarlierResult) else sent_in_place(arg, objects)


def _result(session: Session, path: str, probe: Probe, result: dict[Any, Any]) -> dict[str, Any] | StudentError:
    if "error" in result:
        error = session.failure(path, probe.target, result["error"])
        if "step" in result and isinstance(error, StudentRaisedError):
            return _StepError(error)
        if isinstance(error, StudentMissingError | StudentRaisedError):
            return error
        return StudentError(str(error))
    changed = result.get("changed")
    names = {*map(str, range(1, len(probe.args) + 1)), *probe.kwargs}
    if "value" not in result or type(changed) is not dict or not all(type(key) is str for key in changed):
        raise session.failure(path, probe.target)
    if not names.issuperset(changed):
        raise session.failure(path, probe.target)
    return result


class _StepError(StudentError):
    """What a step before the call of a script raised."""

    def __init__(self, raised: StudentRaisedError) -> None:
        super().__init__(str(raised))
        self.raised = raised


def _outcome(probe: Probe, result: dict[str, Any] | StudentError, program: Program) -> ProbeOutcome:
    if isinstance(result, _StepError):  # a refusal there is not the refusal that the probe may ask for
        ended: Ended = "unwritten" if _ended(result.raised) == "unwritten" else "raised"
        raised = raised_of(result.raised, program)
        return ProbeOutcome(ended, cause=_cause(ended, raised), raised=raised, in_step=True)
    if isinstance(result, StudentRaisedError):
        named = numbers_in(result.message)
        numbers = tuple(one for one in probe.names if one in (result.message if isinstance(one, str) else named))
        ended, raised = _ended(result), raised_of(result, program)
        return ProbeOutcome(ended, numbers=numbers, cause=_cause(ended, raised), raised=raised)
    if isinstance(result, StudentError):
        return ProbeOutcome("missing" if isinstance(result, StudentMissingError) else "raised")
    return ProbeOutcome(
        "returned", _seen(probe, result["value"]), changed=result["changed"], raw=_readable(result["value"])
    )


def _cause(ended: Ended, raised: Raised) -> str:
    return "" if ended == "unwritten" else raised.cause


def _ended(error: StudentRaisedError) -> Ended:
    if "NotImplementedError" in error.types:
        return "unwritten"
    if "OverflowError" in error.types or error.message == "math domain error":
        return "overflowed"
    return "refused" if "ValueError" in error.types else "raised"


def _seen(probe: Probe, value: Any) -> Any:
    value = _readable(value)
    if probe.look is None:
        return value
    if _is_huge(value):  # no right result is this large, and `look` would be slow
        return Unreadable()
    try:
        return probe.look(value)
    except Exception:  # noqa: BLE001 - a result may be anything, and an author's `look` need not handle that
        return Unreadable()


def _is_huge(value: Any) -> bool:
    if type(value) in (tuple, list):
        return len(value) > MOST_ENTRIES or any(map(_is_huge, value))
    if (shape := shape_of(value)) is not None:
        return prod(shape) > MOST_ENTRIES
    if type(value) is dict:
        return len(value) > MOST_ENTRIES or any(map(_is_huge, value.values()))
    return type(value) in (str, bytes, set, frozenset) and len(value) > MOST_ENTRIES


def _readable(value: Any) -> Any:
    """Return a value without what stayed in the worker."""
    if type(value) is Remote:
        return Unreadable(value.type_name)
    if type(value) in (tuple, list):
        return type(value)(map(_readable, value))
    return {key: _readable(item) for key, item in value.items()} if type(value) is dict else value
