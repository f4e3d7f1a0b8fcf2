"""Reading of a worker's replies. Nothing is trusted: the type of every part is checked before its value is used.

Even `==` on a decoded value is unsafe before that: two arrays compare to an array, which has no truth value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from grader.core.errors import StudentError, StudentMissingError, StudentRaisedError, StudentReturnedError

__tracebackhide__ = True


class MalformedError(Exception):
    """A reply of unknown form."""


class Reply(NamedTuple):
    """A reply to one request."""

    ok: bool  # an answer, not an error
    content: Any
    printed: str
    changed: object  # the arguments that student code changed
    called: object  # names of library functions that student code called


def read_reply(reply: object, serial: int) -> Reply:
    """Return the parts of a reply. Only the printed text has been checked."""
    if type(reply) is not dict or len(reply) != 3 + ("changed" in reply) + ("called" in reply):
        raise MalformedError
    number, printed = reply.get("id"), reply.get("printed")
    if type(number) is not int or number != serial or type(printed) is not str:
        raise MalformedError
    ok = "ok" in reply
    if not ok and type(reply.get("error")) is not dict:
        raise MalformedError
    return Reply(ok, reply["ok" if ok else "error"], printed, reply.get("changed", []), reply.get("called", []))


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
    within = names(error.get("within"))
    return StudentRaisedError(call, types, message, file, line, traceback, within, _text(error, "meant"))


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
