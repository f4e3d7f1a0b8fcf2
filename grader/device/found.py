"""What was found of a call on the device: asked of a worker and taken from it without believing a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from grader.errors import StudentRaisedError
from grader.text import one_line

Kind = Literal["mixed_devices", "host_sync", "round_trip", "made_on_cpu", "moved_more_than_once", "left_on_cpu"]
MAX_NOTES = 200
MAX_LINE = 1 << 31
MAX_DEPTH = 24
DEVICES = ("cpu", "cuda:0", "meta")


@dataclass(frozen=True)
class Finding:
    """One breach of discipline, and the line of the student's that is to blame (0 if none is known)."""

    kind: Kind
    what: str
    file: str
    line: int


@dataclass(frozen=True)
class Copy:
    """One copy from the CPU to the GPU."""

    non_blocking: bool
    file: str
    line: int


@dataclass(frozen=True, eq=False)
class OnDevice:
    """A call under the pretence: its value, where each tensor in it lives, and what was found.

    A call that raised has findings: without any, the exception itself is raised.
    """

    value: Any
    devices: tuple[str, ...]
    findings: tuple[Finding, ...]
    copies: tuple[Copy, ...]
    raised: StudentRaisedError | None = None


class MalformedFoundError(Exception):
    """A worker's answer that is no account of a call on the device."""


def read_found(answer: object, value: Any, raised: StudentRaisedError | None) -> OnDevice:
    """Return a worker's account of one call; its value, or the exception, has been read already."""
    if type(answer) is not dict or answer.keys() - {"value", "error"} != {"devices", "findings", "copies"}:
        raise MalformedFoundError
    devices = _list(answer["devices"])
    if any(type(device) is not str or device not in DEVICES for device in devices):
        raise MalformedFoundError
    if len(devices) != sum(1 for _ in tensors_of(value)):
        raise MalformedFoundError
    findings = tuple(_finding(one) for one in _list(answer["findings"]))
    copies = tuple(_copy(one) for one in _list(answer["copies"]))
    return OnDevice(value, tuple(devices), findings, copies, raised)


def tensors_of(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the tensors of a value that has come over the wire, in the order in which a worker goes through it."""
    if type(value) in (list, tuple, dict) and depth <= MAX_DEPTH:
        for item in value.values() if type(value) is dict else value:
            yield from tensors_of(item, depth + 1)
    elif type(value).__module__ == "torch" and type(value).__name__ == "Tensor":
        yield value


def _list(value: object) -> list[Any]:
    if type(value) is not list or len(value) > MAX_NOTES:
        raise MalformedFoundError
    return value


def _finding(parts: object) -> Finding:
    if type(parts) is not list or len(parts) != 4:
        raise MalformedFoundError
    kind, what, *place = parts
    if type(kind) is not str or kind not in get_args(Kind) or type(what) is not str:
        raise MalformedFoundError
    return Finding(kind, one_line(what), *_place(place))  # type: ignore[arg-type] # it is one of them


def _copy(parts: object) -> Copy:
    if type(parts) is not list or len(parts) != 3 or type(parts[0]) is not bool:
        raise MalformedFoundError
    return Copy(parts[0], *_place(parts[1:]))


def _place(parts: list[Any]) -> tuple[str, int]:
    file, line = parts
    if type(file) is not str or type(line) is not int or not 0 <= line < MAX_LINE:
        raise MalformedFoundError
    return one_line(file), line
