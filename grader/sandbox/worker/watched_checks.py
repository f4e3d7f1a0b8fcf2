"""The calls of the checks, made again with meters: code must not behave only where it is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.wire import UnsendableError
from grader.sandbox.worker.meters.measure import MeteredModules, watching_torch
from grader.sandbox.worker.objects import StudentObjects
from grader.sandbox.worker.operations import OPERATIONS
from grader.sandbox.worker.seeding import seed_everything


def watch(files: Mapping[str, Any], main: str, requests: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Load the module with meters and carry out the requests; return the names of the calls that each one made.

    Everything is as it was when the checks made them: the same order, the same random numbers, the same handles.
    """
    seed_everything(0)
    objects = StudentObjects()
    objects.modules = modules = MeteredModules(files)
    modules.load(main)
    made: list[list[str]] = []
    for request in requests:
        modules.meter.reset()
        with watching_torch(modules.meter, ()):
            _carry_out(objects, request)
        made.append([*modules.meter.events])
    return made


def _carry_out(objects: StudentObjects, request: dict[str, Any]) -> None:
    with suppress(BaseException):  # the check has judged it
        for earlier in request.get("before", ()):
            OPERATIONS[earlier["op"]](objects, earlier)
        reply = OPERATIONS[request["op"]](objects, request)
        with suppress(UnsendableError):
            encode({"ok": reply}, objects.keep)  # only for the handles that it gives to objects
