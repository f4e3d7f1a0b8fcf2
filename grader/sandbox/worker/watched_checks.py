"""The calls of the checks, made again with the meters of NumPy: code must not behave only where it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.wire import UnsendableError
from grader.sandbox.worker.meters.measure import MeteredModules
from grader.sandbox.worker.objects import StudentObjects
from grader.sandbox.worker.operations import OPERATIONS
from grader.sandbox.worker.seeding import seed_everything


def watch(loaded: StudentObjects, requests: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Carry out requests of the checks; return the names of the library calls that each one made.

    Objects get new handles, the same that they had in the checks.
    """
    if not isinstance(loaded.modules, MeteredModules):
        raise TypeError("only a program with meters can be watched")
    seed_everything(0)
    meter = loaded.modules.meter
    objects = StudentObjects()
    objects.modules = loaded.modules
    found: list[list[str]] = []
    meter.reset()
    for request in requests:
        meter.events.clear()
        _carry_out(objects, request)
        found.append([*meter.events])
    return found


def _carry_out(objects: StudentObjects, request: dict[str, Any]) -> None:
    with suppress(BaseException):  # the check has judged it
        for earlier in request.get("before", ()):
            OPERATIONS[earlier["op"]](objects, earlier)
        reply = OPERATIONS[request["op"]](objects, request)
        with suppress(UnsendableError):
            encode({"ok": reply}, objects.keep)  # only for the handles that it gives to objects
