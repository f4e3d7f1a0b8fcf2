"""The calls of the checks, made again while they are watched: code must not behave only where it is measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.wire import UnsendableError
from grader.sandbox.worker.loader import StudentModules
from grader.sandbox.worker.objects import StudentObjects
from grader.sandbox.worker.operations import OPERATIONS
from grader.sandbox.worker.seeding import seed_everything


def watch(files: Mapping[str, Any], main: str, requests: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Load the module again and carry out the requests; return the names of the library calls that each one made.

    Everything is as it was when the checks made them: the same order, the same random numbers, the same handles.
    """
    seed_everything(0)
    objects = StudentObjects()
    found: list[list[str]] = []
    with _watched(files, objects) as names:
        assert objects.modules is not None
        objects.modules.load(main)
        for request in requests:
            names.clear()
            _carry_out(objects, request)
            found.append([*names])
    return found


@contextmanager
def _watched(files: Mapping[str, Any], objects: StudentObjects) -> Iterator[dict[str, Any]]:
    """Watch the calls inside a `with` block: those of torch by a mode, those of NumPy by the meters' hooks."""
    if "torch" not in sys.modules:
        from grader.sandbox.worker.meters.measure import MeteredModules

        objects.modules = metered = MeteredModules(files)
        metered.meter.reset()
        yield metered.meter.events
        return
    from grader.sandbox.worker.meters.torch_names import TorchNames

    objects.modules = StudentModules(files)
    with TorchNames() as mode:
        yield mode.names


def _carry_out(objects: StudentObjects, request: dict[str, Any]) -> None:
    with suppress(BaseException):  # the check has judged it
        for earlier in request.get("before", ()):
            OPERATIONS[earlier["op"]](objects, earlier)
        reply = OPERATIONS[request["op"]](objects, request)
        with suppress(UnsendableError):
            encode({"ok": reply}, objects.keep)  # only for the handles that it gives to objects
