"""Watching of a call on the simulated GPU: both modes must be on whenever a line of the student's code runs.

The trusted side chooses the calls that are traced for this. Threads and reads of memory are noted in all of them.

A mode is off while it answers, and torch may call student code just then: a hook, the backward of an
`autograd.Function`. So the function mode is put back for as long as that code runs. Whatever else turns a mode off, or
reads memory that no mode can see, is noted as "unwatched". It is not a mistake, but what happened there is unknown.
"""

from __future__ import annotations

import _thread
import builtins
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.sandbox.protocol.call_names import PACKAGE
from grader.sandbox.worker.gpu.simulated import SimulatedGpu

# Saved here, before a student's code can replace them.
_c = torch._C
_all_disabled, _excluded = _c._is_torch_function_all_disabled, _c._dispatch_tls_is_dispatch_key_excluded
_functions, _function_at = _c._len_torch_function_stack, _c._get_function_stack_at
_operations, _operation_at = _c._len_torch_dispatch_stack, _c._get_dispatch_stack_at
_push, _pop = _c._push_on_torch_function_stack, _c._pop_torch_function_stack
_python_key = _c.DispatchKey.Python
_settrace, _gettrace, _frames, _threads = sys.settrace, sys.gettrace, sys._current_frames, _thread._count

# Events of Python's audit hooks, by the first part of their names, and the reason that a finding gives.
AUDITED = {"_thread.start": "thread", "ctypes.": "memory", "gc.": "memory"} | dict.fromkeys(
    ("sys.settrace", "sys.setprofile", "sys.monitoring."), "watching_off"
)

# Python code that starts something without modes.
UNSEEN = {threading.Thread.start.__code__: "thread"}


class Watching:
    """The watch over one call."""

    current: Watching | None = None

    def __init__(
        self,
        simulated: SimulatedGpu,
        functions: TorchFunctionMode,
        operations: TorchDispatchMode,
        *,
        traced: bool = True,
    ) -> None:
        self.simulated = simulated
        self.functions = functions
        self.operations = operations
        self.is_traced = traced
        self.threads = 0  # that ran before the call
        self.outer: tuple[Any, Watching | None, Any] = (None, None, None)

    def __enter__(self) -> None:
        _listen()
        self.threads = _threads()
        if len(_frames()) > 1:  # a thread that waits for work has no modes
            self.simulated.unwatched("thread")
        self.outer = _gettrace(), Watching.current, builtins.__import__
        if self.is_traced:
            _settrace(self.traced)
            builtins.__import__ = self.imported
        Watching.current = self

    def __exit__(self, *_: object) -> None:
        trace, Watching.current, plain_import = self.outer
        if self.is_traced:
            _settrace(trace)
            builtins.__import__ = plain_import

    def imported(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Import without tracing, unless it is the student's own code: torch's compiler would take too long."""
        plain_import = self.outer[2]
        if Watching.current is not self or name.partition(".")[0] == PACKAGE:
            return plain_import(name, *args, **kwargs)
        Watching.current = None
        _settrace(None)
        try:
            return plain_import(name, *args, **kwargs)
        finally:
            _settrace(self.traced)
            Watching.current = self

    def traced(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        """Follow every frame of the student's code, opcode by opcode: an operator calls no function."""
        if event != "call":
            return None
        if frame.f_code.co_filename not in self.simulated.files:
            if (reason := UNSEEN.get(frame.f_code)) is not None:
                self.simulated.unwatched(reason)
            return None
        frame.f_trace_opcodes = True
        if self.functions_on() or not self.simulated.depth:
            return self.step
        interrupted = self.simulated.interrupt()
        _push(self.functions)

        def step(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
            if event == "return":
                if _functions() and _function_at(_functions() - 1) is self.functions:
                    _pop()
                self.simulated.resume(interrupted)
            else:
                self.step(frame, event, arg)
            return step

        return step

    def step(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        """Note the line if a mode is off now, or a thread runs."""
        if event == "opcode" or event == "line":
            if not self.is_on():
                self.simulated.unwatched("watching_off", (frame.f_code.co_filename, frame.f_lineno))
            if _threads() > self.threads:
                self.simulated.unwatched("thread", (frame.f_code.co_filename, frame.f_lineno))
        return self.step

    def is_on(self) -> bool:
        """Whether both modes see what the running code does."""
        if _all_disabled() or _excluded(_python_key) or not self.functions_on():
            return False
        last = _operations() - 1
        if last >= 0 and _operation_at(last) is self.operations:
            return True
        return any(_operation_at(n) is self.operations for n in range(last))

    def functions_on(self) -> bool:
        """Whether the function mode is on: mostly it is the last one."""
        last = _functions() - 1
        if last >= 0 and _function_at(last) is self.functions:
            return True
        return any(_function_at(n) is self.functions for n in range(last))


_listening: list[bool] = []


def _listen() -> None:
    """Add the audit hook, once in a process: it cannot be removed."""
    if not _listening:
        _listening.append(True)
        sys.addaudithook(_heard)


def _heard(event: str, _: Any) -> None:
    watching = Watching.current
    if watching is None:
        return
    for start, reason in AUDITED.items():
        if event.startswith(start):
            watching.simulated.unwatched(reason)
