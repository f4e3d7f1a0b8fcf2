"""Findings about a call on a device, read from a worker's answer. Every part is checked: the worker is not trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import StudentRaisedError
from grader.sandbox.protocol.call_names import is_torch_name
from grader.sandbox.protocol.replies import MalformedError

STEPS = {
    "mixed_devices": "Make every tensor on the device of the input, with device=q.device or torch.full_like(q, ...). "
    "Move an argument from another device once, with .to(q.device).",
    "host_sync": "Keep the numbers in tensors. The CPU queues work for the GPU and should not wait for its results.",
    "round_trip": "Stay on the GPU: it can do this operation too.",
    "made_on_cpu": "Make it on the device of the input: device=q.device.",
    "moved_more_than_once": "Move it once, before its first use, and keep the result of the move.",
    "left_on_cpu": "Return every tensor on the device of the input.",
}
# Why it is unknown what a line did on the GPU. This is not a mistake: an instructor must check.
UNWATCHED = {
    "compiled": "compiled code runs",
    "memory": "the memory of a tensor is read directly",
    "subclass": "a class of your own stands in for a tensor",
    "thread": "a thread runs",
    "watching_off": "operations run that the simulated GPU cannot see",
}
KINDS = frozenset(STEPS) | {"unwatched"}
# What the student wrote, by torch's name for it.
WRITTEN = {
    "": "an operation",
    "__array__": "a tensor passed to NumPy",
    "__bool__": "a tensor used as a condition (by `if`, `while`, `assert`, `and`, max() or bool())",
    "__contains__": "`in` on a tensor",
    "__float__": "float() of a tensor",
    "__format__": "a tensor formatted as text",
    "__getitem__": "indexing",
    "__index__": "a tensor used as an integer (in range(), a slice or a list)",
    "__int__": "int() of a tensor",
    "__repr__": "a tensor printed",
    "__setitem__": "an assignment by index",
    "mask": "a boolean mask as an index",
} | {name: f".{name}()" for name in ("cpu", "item", "numpy", "to", "tolist", "type", "type_as")}


def what_happened(kind: str, name: str, origin: int) -> str:
    """Describe a finding, given the torch function and the line that a tensor came from."""
    did = WRITTEN.get(name) or f"{name.strip('_')}()"
    where = f" in line {origin}" if origin else ""
    match kind:
        case "unwatched":
            return UNWATCHED[name]
        case "mixed_devices":
            made = f", made{where}" if origin else ""
            return f"{did} of a tensor on cuda:0 and one on the CPU{made}"
        case "host_sync":
            return f"{did}: the CPU waits for the GPU"
        case "round_trip":
            return f"a tensor that was copied to the CPU{where} is copied back to the GPU"
        case "made_on_cpu":
            return f"a tensor made on the CPU{where} is copied to the GPU"
        case "moved_more_than_once":
            return "the same tensor is copied to the GPU again"
        case _:
            return "a tensor of the result is on the CPU, but the input is on the GPU"


MAX_NOTES = 200
MAX_BYTES = 1 << 50
MAX_MS = 1e7
MAX_DEPTH = 24
DEVICES = ("cpu", "cuda:0", "meta")


@dataclass(frozen=True)
class DeviceFinding:
    """One mistake with devices, and the student's line that caused it (0 if unknown)."""

    kind: str
    what: str
    file: str
    line: int


@dataclass(frozen=True)
class DeviceCopy:
    """One copy from the CPU to the GPU."""

    non_blocking: bool
    file: str
    line: int


@dataclass(frozen=True, eq=False)
class DeviceCall:
    """A call on the simulated or real GPU: its value, the device of each tensor in it, and the findings.

    A call that raised has findings. Without any, its exception is raised instead. `unwatched` has what the simulated
    GPU could not follow.
    """

    returned: Any
    devices: tuple[str, ...]
    findings: tuple[DeviceFinding, ...]
    copies: tuple[DeviceCopy, ...]
    unwatched: tuple[DeviceFinding, ...]
    raised: StudentRaisedError | None = None
    _reads: list[None] = field(default_factory=list, repr=False)

    @property
    def value(self) -> Any:
        """The value that the call returned. A check must look at it: see `is_compared`."""
        self._reads.append(None)
        return self.returned

    @property
    def is_compared(self) -> bool:
        """Whether the check has looked at the value. Without that, a function could return zeros."""
        return bool(self._reads)


@dataclass(frozen=True, eq=False)
class GpuCost:
    """The cost of a call on a real GPU: peak memory in bytes beyond its arguments, and times in milliseconds."""

    value: Any
    peak_bytes: int
    times: tuple[float, ...]

    @property
    def ms(self) -> float:
        """The median time: a single call can be slow by chance."""
        return sorted(self.times)[len(self.times) // 2]


def read_device_call(
    answer: object, value: Any, raised: StudentRaisedError | None, lines: Mapping[str, int]
) -> DeviceCall:
    """Read a worker's answer about one call; its value or exception was read before.

    `lines` has the student's files and the number of lines of each: no finding is about any other line.
    """
    if type(answer) is not dict or answer.keys() - {"value", "error"} != {"devices", "findings", "copies"}:
        raise MalformedError
    devices = answer["devices"]
    if type(devices) is not list or any(type(device) is not str or device not in DEVICES for device in devices):
        raise MalformedError
    if len(devices) != sum(1 for _ in tensors_of(value)):
        raise MalformedError
    findings = tuple(_finding(one, lines) for one in _list(answer["findings"]))
    copies = tuple(_copy(one, lines) for one in _list(answer["copies"]))
    mistakes = tuple(one for one in findings if one.kind != "unwatched")
    unwatched = tuple(one for one in findings if one.kind == "unwatched")
    return DeviceCall(value, tuple(devices), mistakes, copies, unwatched, raised)


def read_gpu_cost(answer: object, repeats: int) -> GpuCost:
    """Read a worker's answer about the cost of a call."""
    if type(answer) is not dict or answer.keys() != {"peak", "times", "value"}:
        raise MalformedError
    peak, times = answer["peak"], answer["times"]
    if type(peak) is not int or not 0 <= peak < MAX_BYTES or type(times) is not list or len(times) != repeats:
        raise MalformedError
    if not all(type(time) is float and 0 <= time < MAX_MS for time in times):
        raise MalformedError
    return GpuCost(answer["value"], peak, tuple(times))


def tensors_of(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the tensors of a received value, in the order of the worker's list of devices."""
    if type(value) in (list, tuple, dict) and depth <= MAX_DEPTH:
        for item in value.values() if type(value) is dict else value:
            yield from tensors_of(item, depth + 1)
    elif type(value).__module__ == "torch" and type(value).__name__ == "Tensor":
        yield value


def _list(value: object) -> list[Any]:
    if type(value) is not list or len(value) > MAX_NOTES:
        raise MalformedError
    return value


def _finding(parts: object, lines: Mapping[str, int]) -> DeviceFinding:
    if type(parts) is not list or len(parts) != 5:
        raise MalformedError
    kind, name, origin, *place = parts
    if type(kind) is not str or kind not in KINDS or type(name) is not str or type(origin) is not int:
        raise MalformedError
    if kind == "unwatched" and name not in UNWATCHED:
        raise MalformedError
    what = what_happened(
        kind,
        name if kind == "unwatched" or is_torch_name(name) else "",
        origin if 0 < origin <= max(lines.values(), default=0) else 0,
    )
    return DeviceFinding(kind, what, *_place(place, lines))


def _copy(parts: object, lines: Mapping[str, int]) -> DeviceCopy:
    if type(parts) is not list or len(parts) != 3 or type(parts[0]) is not bool:
        raise MalformedError
    return DeviceCopy(parts[0], *_place(parts[1:], lines))


def _place(parts: list[Any], lines: Mapping[str, int]) -> tuple[str, int]:
    file, line = parts
    if type(file) is not str or type(line) is not int:
        raise MalformedError
    return (file, line) if 0 < line <= lines.get(file, 0) else ("", 0)
