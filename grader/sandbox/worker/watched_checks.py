"""The calls of the checks, made again while they are watched: code must not behave only where it is measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.wire import UnsendableError
from grader.sandbox.worker.loader import StudentModules
from grader.sandbox.worker.meters.measure import MeteredModules
from grader.sandbox.worker.objects import StudentObjects
from grader.sandbox.worker.operations import OPERATIONS
from grader.sandbox.worker.seeding import seed_everything


def watch(modules: StudentModules, requests: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Carry out requests of the checks; return the names of the library calls that each one made.

    The module was loaded with meters. Objects get new handles, the same that they had in the checks.
    """
    seed_everything(0)
    objects = StudentObjects()
    objects.modules = modules
    found: list[list[str]] = []
    with _watched(modules) as names:
        for request in requests:
            names.clear()
            _carry_out(objects, request)
            found.append([*names])
    return found


@contextmanager
def _watched(modules: StudentModules) -> Iterator[dict[str, Any]]:
    """Watch the calls inside a `with` block: those of torch by a mode, those of NumPy by the meters' hooks."""
    if "torch" in sys.modules:
        from grader.sandbox.worker.meters.torch_names import TorchNames

        with TorchNames() as mode:
            yield mode.names
    elif isinstance(modules, MeteredModules):
        modules.meter.reset()
        yield modules.meter.events
    else:
        yield {}


def _carry_out(objects: StudentObjects, request: dict[str, Any]) -> None:
    with suppress(BaseException):  # the check has judged it
        for earlier in request.get("before", ()):
            OPERATIONS[earlier["op"]](objects, earlier)
        reply = OPERATIONS[request["op"]](objects, request)
        with suppress(UnsendableError):
            encode({"ok": reply}, objects.keep)  # only for the handles that it gives to objects
