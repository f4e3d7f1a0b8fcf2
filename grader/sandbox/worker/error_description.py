"""Description of an exception as plain data, for the trusted side."""

from __future__ import annotations

import difflib
import keyword
import re
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Any

from grader.core.safe_text import without_addresses
from grader.sandbox.protocol.wire import UnsendableError

MAX_TEXT = 4_000
MAX_CALLS = 20
MAX_NAME = 100
_NO_MEMBER = re.compile(r"module '([\w.]{1,100})' has no attribute '(\w{1,100})'")
_LIKE = 0.75  # of two names, one of which was probably meant
OUR_FILES = str(Path(__file__).parent.parent)  # left out of a traceback: a student's error is never in them


class MissingError(Exception):
    """The student's module, or one of its objects, has no attribute of this name."""


def describe(error: BaseException, files: Collection[str]) -> dict[str, Any]:
    """Return an exception as plain text. `files` are the student's own.

    str() of the exception is the student's code, and may raise again.
    """
    if isinstance(error, MissingError):
        return {"kind": "missing", "name": str(error)}
    if isinstance(error, UnsendableError):
        return {"kind": "unsendable", "why": str(error)}
    try:
        message = without_addresses(str(error))[:MAX_TEXT]
    except BaseException:  # noqa: BLE001
        message = "(its message could not be read)"
    file, line = student_line(error, files)
    return {
        "kind": "raised",
        "types": [type_name(base) for base in type(error).__mro__],
        "message": message,
        "file": file,
        "line": line,
        "within": _within(error, files),
        "meant": _meant(error, message),
        "traceback": _traceback(error),
    }


def student_line(error: BaseException, files: Collection[str]) -> tuple[str, int]:
    """Return the innermost of the student's files and lines that an error came through; ("", 0) if none."""
    tb = error.__traceback__
    if isinstance(error, SyntaxError) and error.filename in files:
        return str(error.filename), int(error.lineno or 0)
    place = ("", 0)
    while tb is not None:
        if tb.tb_frame.f_code.co_filename in files:
            place = (tb.tb_frame.f_code.co_filename, tb.tb_lineno)
        tb = tb.tb_next
    return place


def _within(error: BaseException, files: Collection[str]) -> list[str]:
    """Return the student's functions that an error came through, the innermost last; of a recursion, the last ones."""
    codes = (frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__))
    names = [code.co_qualname.partition(".<locals>")[0][:200] for code in codes if code.co_filename in files]
    return names[-MAX_CALLS:]


def type_name(kind: type) -> str:
    """Return the name of a type, with its module unless it is a builtin."""
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"[:200]


def _meant(error: BaseException, message: str) -> str:
    """Return the name that was probably meant, where a misspelt one raised; empty if no name is like it."""
    try:
        if member := _NO_MEMBER.fullmatch(message):  # NumPy raises it by itself, without these
            name, names = member[2], set(dir(sys.modules[member[1]]))
        elif not isinstance(error, NameError | AttributeError) or str(error.name) not in message:
            return ""
        elif isinstance(error, AttributeError):
            name, names = str(error.name), set(dir(error.obj))
        else:
            frame = list(traceback.walk_tb(error.__traceback__))[-1][0]
            name, names = str(error.name), {*frame.f_locals, *frame.f_globals, *frame.f_builtins} - {*keyword.kwlist}
        public = sorted(one for one in names if not one.startswith("__"))
        found = difflib.get_close_matches(name, public, 1, _LIKE)
    except BaseException:  # noqa: BLE001
        return ""
    return found[0][:MAX_NAME] if found else ""


def _traceback(error: BaseException) -> str:
    try:
        lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-12)
    except BaseException:  # noqa: BLE001
        return "(the traceback could not be read)"
    return without_addresses("".join(line for line in lines if OUR_FILES not in line))[-MAX_TEXT:]
