"""Submissions for the simulated GPU: each cell of a file in tests/data/device is one for the function of that name.

`# Expected: ` lists the kinds of findings over all ways to call the function. It may also list `stray` (a result on the
wrong device) and `blocking` (a copy that makes the CPU wait where it must not). Every line with a finding ends with
`# <-- here`. Where the simulated GPU differs from a real one, `by policy` follows, and the line before says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.sandbox.protocol.device_findings import DeviceCall
from tests.cases import cases

FILE = "work.py"
HERE = "# <-- here"
HEAD = """import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""


@dataclass(frozen=True)
class DeviceCase:
    """One submission and its expected findings."""

    function: str
    name: str
    source: str
    finds: frozenset[str]
    policy: bool

    @property
    def lines(self) -> set[int]:
        """The lines with findings."""
        return {number for number, line in enumerate(self.source.splitlines(), 1) if line.endswith(HERE)}


@dataclass(frozen=True, eq=False)
class CallStyle:
    """One way to call the function: arguments not on the GPU, whether there is a GPU, the device of the result."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    elsewhere: tuple[int | str, ...] = ()
    gpu: bool = True
    device: str = "cuda"
    non_blocking: bool = False


def device_cases() -> Iterator[DeviceCase]:
    for case in cases("device"):
        finds, _, policy = case.expected.partition(", ")
        kinds = frozenset(finds.split()) - {"nothing"}
        yield DeviceCase(case.group, case.name, HEAD + case.code, kinds, policy == "by policy")


def ways(function: str) -> list[CallStyle]:
    """Return the ways to call a function, each with its own tensors."""
    numbers = torch.Generator().manual_seed(0)
    if function == "pick_device":
        return [
            CallStyle("a GPU", ("cuda",)),
            CallStyle("no GPU", ("cuda",), gpu=False, device="cpu"),
            CallStyle("the CPU wanted", ("cpu",), device="cpu"),
        ]
    if function == "move_batch":
        return [
            CallStyle("to the GPU", (_batch(), "cuda"), elsewhere=(0,), non_blocking=True),
            CallStyle("to the CPU", (_batch(), "cpu"), elsewhere=(0,), device="cpu"),
        ]
    q, k, v = (torch.randn(shape, generator=numbers) for shape in ((4, 3), (5, 3), (5, 6)))
    return [
        CallStyle("mask on the GPU", (q, k, v), {"mask": _mask()}),
        CallStyle("mask on the CPU", (q.clone(), k.clone(), v.clone()), {"mask": _mask()}, elsewhere=("mask",)),
        CallStyle("no mask", (q.clone(), k.clone(), v.clone())),
        CallStyle(
            "all on the CPU", (q.clone(), k.clone(), v.clone()), {"mask": _mask()}, (0, 1, 2, "mask"), device="cpu"
        ),
    ]


def kinds_of(way: CallStyle, found: DeviceCall) -> tuple[set[str], set[int]]:
    """Return the kinds found in one way to call, in the words of `finds`, and their lines."""
    kinds = {finding.kind for finding in found.findings}
    lines = {finding.line for finding in found.findings}
    value = found.value
    devices: Sequence[str] = [str(value)] if isinstance(value, torch.device) else found.devices
    if not kinds and any(device.partition(":")[0] != way.device for device in devices):
        kinds = {"stray"}
    if way.non_blocking and (waiting := [copy for copy in found.copies if not copy.non_blocking]):
        kinds.add("blocking")
        lines |= {copy.line for copy in waiting}
    return kinds, lines - {0}


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Any = None) -> tuple[torch.Tensor, ...]:
    """Return what every right submission for attention returns, apart from precision."""
    scores = q.double() @ k.double().T / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v.double(), weights


def _mask() -> torch.Tensor:
    return torch.ones(4, 5).tril()


def _batch() -> dict[str, Any]:
    return {
        "tokens": torch.arange(6).reshape(2, 3),
        "more": [torch.ones(2), (torch.zeros(1, dtype=torch.bool), "a text")],
        "number": 3,
        "nothing": None,
    }
