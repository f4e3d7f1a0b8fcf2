"""Torch functions that call Python code back: a backward of one's own, a hook, a function for every entry.

A function mode is off while torch runs the function that it was told of. So the mode is put back for as long as a line
of the student's code runs in it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

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
