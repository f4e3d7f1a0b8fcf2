"""The rehearsal: a zygote answers a few requests about a program of ours, before it forks its first worker.

Python makes code faster while it runs, by writing into it. Workers inherit that from their zygote. Otherwise each would
begin with slow code, and copy the memory pages that it writes to. Nothing else is left of the rehearsal.
"""

from __future__ import annotations

import gc
import linecache
import socket
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.sandbox.protocol.call_names import PACKAGE
from grader.sandbox.protocol.channel import Channel
from grader.sandbox.protocol.script import Recipe
from grader.sandbox.worker.loader import StudentModules, forget_compiled
from grader.sandbox.worker.worker import Worker

ROUNDS = 12  # Python begins to adapt a function after 8 calls
FILE = "rehearsal.py"
SOURCE = b"""
import math
import numpy as np

def same(x, y=None, *, axis=-1):
    return x

def fails(x):
    raise ValueError(f"{x} is not allowed")

def shares(x, axis=-1):
    x = np.asarray(x, dtype=np.float64)
    shifted = x - np.max(x, axis=axis, keepdims=True)
    weights = np.exp(shifted) / math.sqrt(4)
    total = weights.sum(axis=axis, keepdims=True) + np.sum(weights, axis=axis, keepdims=True)
    shifted = np.where(np.isfinite(shifted), shifted, 0.0).reshape(x.shape).copy()
    for row in range(len(x)):
        shifted[row] += x.mean() + x.max() - x.min() + np.swapaxes(x, 0, -1).T[row].any()
    return weights / total + np.log(total)
"""
TORCH = b"""
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3, bias=False)

    def forward(self, x):
        scores = self.linear(x) @ x.transpose(-2, -1) / x.shape[-1] ** 0.5
        return torch.softmax(scores.masked_fill(scores < 0, float("-inf")), dim=-1)

def attend(x):
    return (x @ x.mT).softmax(-1) @ x
"""


def rehearse(*, tensors: bool, gradients: bool, meters: bool) -> None:
    """Answer requests as a worker does, over a channel whose other end is here, too."""
    deepest = sys.getrecursionlimit()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        asking, answering = Channel(ours, tensors=tensors), Channel(theirs, tensors=tensors, waits=True)
        for _ in range(ROUNDS):
            worker = Worker()
            for request in _requests(tensors=tensors, gradients=gradients, meters=meters):
                asking.send({"id": 1, **request})
                received = answering.receive()
                answering.send({"id": 1, **worker.answer(received), "printed": ""}, worker.keep)
                asking.receive()
    sys.setrecursionlimit(deepest)
    _leave_nothing()
    gc.collect()
    gc.freeze()  # as after the imports


def _requests(*, tensors: bool, gradients: bool, meters: bool) -> Iterator[dict[str, Any]]:
    matrix = np.ones((3, 3))
    values: list[Any] = [matrix, np.ones(2, dtype=np.float32), np.arange(3)]
    source = SOURCE
    if tensors:
        torch, source = sys.modules["torch"], SOURCE + TORCH
        matrix = torch.ones(3, 3)
        values += [matrix, torch.ones(2, 3, dtype=torch.float64), torch.ones(2, requires_grad=True)]
    load: dict[str, Any] = {"op": "load", "main": "rehearsal", "names": ["same", "shares"]}
    load |= {"files": {"rehearsal": {"file": FILE, "cells": [source], "notebook": False}}}
    yield load
    yield _call(["same"], [[[one], {"axis": 0}] for one in values], inputs=False)
    yield _call(["same"], [[[one, (one, 1.5)], {}] for one in values], inputs=True)
    yield _call(["fails"], [[[1], {}]], inputs=False)
    yield _call(["shares"], [[[values[0]], {"axis": 0}]], inputs=False)
    yield {"op": "get", "ref": [0, ["missing"]]}
    yield {"op": "probe", "path": ["shares"], "objects": [], "calls": [[0, [values[0]], {}, None, None, [], [], None]]}
    measured = [[["shares"], [["given", values[0]]], {}, None]]
    if tensors:
        yield {"op": "make", "ref": [0, ["Layer"]], "number": 1 << 40, "made": Recipe(()).data}
        yield {**_call([], [[[matrix], {}]], inputs=False), "ref": [1 << 40, []]}
        measured.append([["attend"], [["given", matrix]], {}, None])
    if gradients:
        yield {"op": "vjp", "ref": [0, ["attend"]], "args": [matrix], "kwargs": {}, "cotangent": matrix}
    if meters:
        yield {**load, "how": "metered"}
        calls = [[{}, [], call] for call in measured]
        yield {"op": "measure", "path": ["shares"], "main": "rehearsal", "calls": calls}


def _call(path: list[str], calls: list[Any], *, inputs: bool) -> dict[str, Any]:
    return {"op": "call", "ref": [0, path], "calls": calls, "inputs": inputs}


def _leave_nothing() -> None:
    """Remove the program of the rehearsal, so that no worker can tell that there was one."""
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, StudentModules)]
    linecache.cache.pop(FILE, None)
    forget_compiled()
    if (measure := sys.modules.get("grader.sandbox.worker.meters.measure")) is not None:
        measure.MeteredModules.forget()
