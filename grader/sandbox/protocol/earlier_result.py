"""Results of earlier steps as arguments of a later one: a state in any form never has to leave the worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.sandbox.protocol.wire import Remote

KIND = "a result of an earlier step"  # in place of the type of an object in the worker
_PARTS = 100


@dataclass(frozen=True)
class EarlierResult:
    """Stands for a part of what an earlier step of the same script returned."""

    step: int
    part: int

    def __repr__(self) -> str:
        return f"result_of({self.step}, part={self.part})"

    @property
    def sent(self) -> Remote:
        """The form that is sent to a worker."""
        return Remote(self.step * _PARTS + self.part, KIND)


def result_of(step: int, *, part: int) -> EarlierResult:
    """Return an argument that is a part of what step number `step`, from 0, returned."""
    if not 0 <= part < _PARTS or step < 0:
        raise TypeError(f"there is no part {part} of step {step}")
    return EarlierResult(step, part)


def is_earlier_result(value: Any) -> bool:
    """Whether an argument, as it was made or as it was sent, stands for an earlier result."""
    return type(value) is EarlierResult or (type(value) is Remote and value.type_name == KIND)


def taken_from(results: Sequence[Any], value: Any) -> Any:
    """Return the part of the results that an argument stands for."""
    step, part = divmod(value.handle, _PARTS) if type(value) is Remote else (value.step, value.part)
    return results[step][part]
