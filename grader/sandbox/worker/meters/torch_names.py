"""The names of the torch functions that are called, without counting what they cost."""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode

from grader.sandbox.protocol.call_names import PREFIX, is_attention


class TorchNames(TorchFunctionMode):  # type: ignore[misc] # torch gives it no types
    """Notes ready-made attention by name, and one other function that was called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, None] = {}
        self._is_attention: dict[str, bool] = {}

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(getattr(function, "__name__", ""))
        if name not in self._is_attention:
            self._is_attention[name] = is_attention(name)
        if name != "__get__" and (self._is_attention[name] or not self.names):
            self.names[f"{PREFIX}{name.strip('_').removesuffix('.default')}"] = None
        return function(*args, **(kwargs or {}))
