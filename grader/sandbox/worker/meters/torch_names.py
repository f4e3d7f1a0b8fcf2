"""The names of the torch functions that are called, without counting what they cost."""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from grader.sandbox.protocol.call_names import PREFIX, is_attention, is_product, is_ready_made

CALLING_BACK = frozenset({"backward", "grad", "apply_", "map_", "map2_"})
# Saved here, before a student's code can replace them.
_settrace, _gettrace = sys.settrace, sys.gettrace
_push, _pop = torch._C._push_on_torch_function_stack, torch._C._pop_torch_function_stack
_length, _at = torch._C._len_torch_function_stack, torch._C._get_function_stack_at


class On:
    """Keeps a function mode on in the student's files, while torch calls them back."""

    def __init__(self, mode: TorchFunctionMode, files: Collection[str]) -> None:
        self.mode = mode
        self.files = files

    def __enter__(self) -> None:
        self.outer = _gettrace()
        _settrace(self.called)

    def __exit__(self, *_: object) -> None:
        _settrace(self.outer)

    def called(self, frame: FrameType, event: str, _: Any) -> Any:
        """Turn the mode on where a function of the student's begins."""
        if event != "call" or frame.f_code.co_filename not in self.files or self._is_on():
            return None
        _push(self.mode)
        frame.f_trace_lines = False
        return self.left

    def left(self, _: FrameType, event: str, __: Any) -> Any:
        """Turn it off where that function returns, or raises."""
        if event == "return" and _length() and _at(_length() - 1) is self.mode:
            _pop()
        return self.left

    def _is_on(self) -> bool:
        return any(_at(number) is self.mode for number in range(_length()))


class TorchNames(TorchFunctionMode):  # type: ignore[misc] # torch gives it no types
    """Notes ready-made attention, losses, norms and products by name, and one other function that was called.

    What a fallback calls is not noted: the course wrote it, and what a module forbids its students is allowed there.
    """

    def __init__(self, files: Collection[str] = (), given: Collection[str] = ()) -> None:
        super().__init__()
        self._files, self._given = files, given
        self.names: dict[str, None] = {}
        self._is_ready: dict[str, bool] = {}

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(getattr(function, "__name__", ""))
        if name not in self._is_ready:
            self._is_ready[name] = is_attention(name) or is_ready_made(name) or is_product(name)
        noted = self._is_ready[name] or not self.names
        if name != "__get__" and noted and not (self._given and self._is_given()):
            self.names[f"{PREFIX}{name.strip('_').removesuffix('.default')}"] = None
        if name not in CALLING_BACK:
            return function(*args, **(kwargs or {}))
        with On(self, self._files):
            return function(*args, **(kwargs or {}))

    def _is_given(self) -> bool:
        """Whether the call comes from a file that the course gave: the innermost of the student's files decides."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename in self._files:
                return frame.f_code.co_filename in self._given
            frame = frame.f_back
        return False
