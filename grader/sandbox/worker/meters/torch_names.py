"""The names of the torch functions that are called, without counting what they cost."""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import FrameType
from typing import Any

from torch.overrides import TorchFunctionMode

from grader.sandbox.protocol.call_names import PREFIX, is_attention, is_product, is_ready_made
from grader.sandbox.worker.meters.calling_back import CALLING_BACK, On


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
