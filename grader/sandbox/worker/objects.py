"""Objects of one submission: its module, and the values that stay in the worker."""

from __future__ import annotations

import warnings
from typing import Any

from grader.sandbox.protocol.stand_ins import GENERATOR, make_generator
from grader.sandbox.protocol.wire import Remote
from grader.sandbox.worker.call_watch import CallWatch
from grader.sandbox.worker.error_description import MissingError, describe, student_line, type_name
from grader.sandbox.worker.loader import StudentModules


class StudentObjects:
    """The student's module and the objects that the trusted side knows by a handle. Handle 0 is the module."""

    def __init__(self) -> None:
        self.modules: StudentModules | None = None
        self.kept: list[object] = []
        self.made: dict[int, object] = {}  # by handles of the trusted side, which are larger than all of ours
        self.watch = CallWatch()

    def forget(self) -> None:
        """Forget every object but the module, and which warnings were shown, as if no call had been made."""
        self.kept, self.made = [], {}
        with warnings.catch_warnings():  # leaving it makes Python forget them
            pass

    @property
    def filenames(self) -> set[str]:
        """The student's own files."""
        return self.modules.filenames if self.modules else set()

    def keep(self, value: object) -> Remote:
        """Keep an object that cannot be sent, and return its handle."""
        self.kept.append(value)
        return Remote(len(self.kept), type_name(type(value)))

    def find(self, ref: Any) -> Any:
        """Return the object that a reference names: a handle, and a path of attributes from there."""
        handle, path = ref
        target: Any = self.modules.main if handle == 0 and self.modules else self.held(handle)
        for name in path:
            try:
                target = getattr(target, name)
            except AttributeError as error:
                if student_line(error, self.filenames)[0]:  # raised by the student's own code, such as a property
                    raise
                raise MissingError(name) from error
        return target

    def held(self, handle: int) -> object:
        """Return the object of a handle."""
        return self.made[handle] if handle > len(self.kept) else self.kept[handle - 1]

    def local(self, value: Any) -> Any:
        """Replace a Remote argument by its object, or by a new random generator."""
        if type(value) is Remote and value.type_name == GENERATOR:
            return make_generator(value.handle)
        return self.held(value.handle) if type(value) is Remote else value

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Return an exception as plain text, with the line of the student's code it came from."""
        return describe(error, self.filenames)
