"""An exception out of a probe: what it says, where it came from, and its cause, which known wrong ways are matched by.

Two exceptions have the same cause if they have the same type and the same text, but for names and numbers, and came out
of the same function of the module. A typo never looks like a known mistake that raises something else. That there is
no GPU here is one cause, in all words that torch's builds and machines have for it: a golden file holds on all of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.core.errors import StudentRaisedError
from grader.core.safe_text import one_line
from grader.diagnosis.likely_line import LINE_END, Line
from grader.sandbox.session import Program

MOST_TEXT = 240  # characters of a message that are shown
_QUOTED = re.compile(r"'[^']{0,200}'|\"[^\"]{0,200}\"")
_NUMBER = re.compile(r"-?\d[\d.]{0,30}(?:e[-+]?\d{1,4})?")
_SEQUENCE = re.compile(r"#(?:[\s,x]{1,3}#)*,?")  # the numbers of a shape
_LISTED = re.compile(r": there are .*")  # the parameters of a layer
# Type and words depend on the build of torch, on the driver, and on what a jail hides.
_NO_GPU = re.compile(
    "not compiled with CUDA|No CUDA GPUs|no NVIDIA driver|The NVIDIA driver on your system|CUDA driver initialization"
    "|CUDA unknown error|error from cudaGetDeviceCount|re-initialize CUDA in forked|libcudart functions unavailable"
    "|no CUDA-capable device|CUDA error: (?:initialization|invalid device ordinal|system not)|requires CUDA support"
    "|CUDA generator without ATen_cuda|accelerator device when none|CUDA-capable device\\(s\\)"
)
# NumPy changed these words; the web course has an older one.
_NOT_ONE_NUMBER = re.compile("only (?:length-1|size-1) arrays can be converted")
_OWN = re.compile(r"\s{0,80}(?:if\b.{0,200}:\s*)?(?:raise|assert)\b")


@dataclass(frozen=True)
class Raised:
    """An exception of a student's. `function` is the innermost function of the module that it came out of."""

    types: tuple[str, ...]
    message: str
    function: str = ""
    place: Line | None = None
    file: str = ""  # of the student's, where it was raised
    meant: str = ""  # the name that was probably meant, where a misspelt one raised
    is_own: bool = False  # whether the line is a `raise` or an `assert`

    @property
    def type(self) -> str:
        """The name of its class."""
        return one_line(self.types[0], 60)

    @cached_property
    def cause(self) -> str:
        """What is the same for the same mistake, in a golden file."""
        where = self.function or one_line(self.file, 60) or "no function"
        if self.type == "RecursionError":
            text = ""  # it says where Python noticed
        elif self.is_own:
            text = "in their own words"
        elif _NO_GPU.search(self.message):
            return f"no GPU in {where}"
        else:
            text = _usual(_NOT_ONE_NUMBER.sub("only 0-dimensional arrays can be converted", self.message))
        return f"{self.type} in {where}: {text}"


def raised_of(error: StudentRaisedError, program: Program) -> Raised:
    """Return what is known about an exception out of a submission."""
    graded, asked = program.files[program.main], frozenset(program.names)
    place = _place(error.file, error.line, str(graded["file"]))
    known = [name for name in error.within if _is_asked(name, asked)] if place else []
    function = known[-1] if known else ""
    message = one_line(error.message, MOST_TEXT)
    is_own = bool(place and _OWN.match(_line(graded["cells"], place)))
    return Raised(error.types, message, function, place, error.file, one_line(error.meant, 60), is_own)


def _line(cells: Sequence[bytes], place: Line) -> str:
    """Return the text of a line."""
    cell = (place.cell or 1) - 1
    text = cells[cell].decode("utf-8", "replace") if cell < len(cells) else ""
    lines = LINE_END.split(text, maxsplit=place.number)
    return lines[place.number - 1] if place.number <= len(lines) else ""


def _place(raised_in: str, line: int, file: str) -> Line | None:
    """Return the line, if it is in the graded file or in one of its cells."""
    cell = re.fullmatch(rf"{re.escape(file)}(?:\[(\d{{1,6}})\])?", raised_in)
    return Line(line, int(cell[1]) if cell[1] else None, exact=True) if cell and line else None


def _is_asked(name: str, asked: Collection[str]) -> bool:
    """Whether this is a function that the module asks for, and not a helper of the student's."""
    owner, _, method = name.partition(".")
    return owner in asked and (not method.startswith("_") or method == "__init__")


def _usual(message: str) -> str:
    """Return a message without its names and numbers, which depend on the student's style and on the sizes."""
    return _SEQUENCE.sub("#", _NUMBER.sub("#", _QUOTED.sub("'…'", _LISTED.sub("", message))))[:120].strip()
