"""Failures of student code, as exceptions that the trusted side raises in a test.

A StudentError or an AssertionError is the student's failure. Any other exception in a test is the grader's fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IMPORT = "import"  # what runs while a file is loaded: the name of that "check"
EndingKind = Literal["deadline", "memory", "crash", "syscall", "protocol", "exit"]

# The text that a student reads about each ending. The evidence is for the instructor.
ENDING_WORDS: dict[EndingKind, str] = {
    "deadline": "did not return in the time allowed",
    "memory": "asked for more memory than allowed",
    "crash": "crashed the Python process",
    "syscall": "did something that graded code may not do",
    "protocol": "interfered with the grader's channel",
    "exit": "ended the Python process",
}


@dataclass(frozen=True)
class Ending:
    """How a worker ended early: the kind for everyone, the evidence for the instructor."""

    kind: EndingKind
    evidence: str
    place: tuple[str, int] | None = None  # the file and line it was in, if that is known: differs from run to run


class SupersededError(KeyboardInterrupt):
    """The checks of this version of a file are no longer wanted. It passes wherever Ctrl-C does."""


class StudentError(Exception):
    """A failure of student code. `public` has no text that the student controls; `ending` names the limit it hit."""

    public = "your code failed"
    ending: Ending | None = None


class StudentMissingError(StudentError):
    """A name that the module requires is missing or is the wrong kind of object."""

    public = "a required name is missing or is not a function"


class StudentReturnedError(StudentError):
    """A result that cannot be read: too large, too deep, or containing itself."""

    public = "your code returned something that cannot be graded"


class StudentRaisedError(StudentError):
    """An exception in student code. `types` has the names of its classes, most specific first.

    `within` has the student's functions that it came through, the innermost last; `meant` a name like the misspelt one.
    """

    public = "your code raised an exception"

    def __init__(
        self,
        call: str,
        types: tuple[str, ...],
        message: str,
        file: str,
        line: int,
        traceback: str,
        within: tuple[str, ...] = (),
        meant: str = "",
    ) -> None:
        where = f" ({file}, line {line})" if line and f"({file}, line {line})" not in message else ""
        text = f": {message}" if message else ""
        super().__init__(f"{call} raised {types[0]}{text}{where}")
        self.types = types
        self.message = message
        self.file = file
        self.line = line
        self.traceback = traceback
        self.within = within
        self.meant = meant
        if "MemoryError" in types or "DefaultCPUAllocator: can't allocate memory" in message:
            # The process survives, but the cause is the memory limit.
            self.public = f"your code {ENDING_WORDS['memory']}"
            self.ending = Ending("memory", types[0])


class StudentEndedError(StudentError):
    """The worker ended, or the grader ended it, while student code ran."""

    ending: Ending

    def __init__(self, call: str, ending: Ending, *, waited: bool = False) -> None:
        super().__init__(f"{call} {ENDING_WORDS[ending.kind]}")
        self.public = f"your code {ENDING_WORDS[ending.kind]}"
        self.ending = ending
        # It used no CPU before the deadline. The machine may be at fault, so a second try is worthwhile.
        self.waited = waited


class StudentGoneError(StudentError):
    """A call that was not made: the function ended too many workers, or the submission took too long in total."""

    public = "earlier checks ended the process too often or took too long"
