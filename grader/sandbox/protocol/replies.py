"""Reading of a worker's replies. Nothing is trusted: the type of every part is checked before its value is used.

Even `==` on a decoded value is unsafe before that: two arrays compare to an array, which has no truth value.
"""

from __future__ import annotations

from typing import Any

from grader.core.errors import StudentError, StudentMissingError, StudentRaisedError, StudentReturnedError

__tracebackhide__ = True


class MalformedError(Exception):
    """A reply of unknown form."""


def reply_parts(reply: object, serial: int) -> tuple[bool, Any, str, Any]:
    """Return whether a reply is an answer or an error, its content, the printed output, and the changed arguments."""
    if type(reply) is not dict or len(reply) != 3 + ("changed" in reply):
        raise MalformedError
    number, printed = reply.get("id"), reply.get("printed")
    if type(number) is not int or number != serial or type(printed) is not str:
        raise MalformedError
    if "ok" in reply:
        return True, reply["ok"], printed, reply.get("changed", [])
    if type(reply.get("error")) is dict:
        return False, reply["error"], printed, reply.get("changed", [])
    raise MalformedError


def error_of(error: object, call: str) -> StudentError:
    """Return a reply's error as the exception that a test sees."""
    if type(error) is not dict:
        raise MalformedError
    match _text(error, "kind"):
        case "missing":
            return StudentMissingError(f"{_text(error, 'name')} is not defined")
        case "unsendable":
            return StudentReturnedError(f"{call} returned a value that {_text(error, 'why')}")
        case "raised":
            return raised(error, call)
    raise MalformedError


def raised(error: object, call: str) -> StudentRaisedError:
    """Return the student's exception as a StudentRaisedError."""
    if type(error) is not dict:
        raise MalformedError
    types = names(error.get("types"))
    line = error.get("line")
    if not types or type(line) is not int:
        raise MalformedError
    message, file, traceback = (_text(error, key) for key in ("message", "file", "traceback"))
    return StudentRaisedError(call, types, message, file, line, traceback)


def names(value: object) -> tuple[str, ...]:
    """Return a list of strings as a tuple."""
    if type(value) is not list or not all(type(name) is str for name in value):
        raise MalformedError
    return tuple(value)


def _text(error: dict[Any, Any], key: str) -> str:
    value = error.get(key)
    if type(value) is not str:
        raise MalformedError
    return value
