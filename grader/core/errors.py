"""What can go wrong in student code, as exceptions the trusted side raises in a test.

A StudentError is the student's failure. Whatever else a test raises, but for an AssertionError, is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EndingKind = Literal["deadline", "memory", "crash", "syscall", "protocol", "exit"]

# What a student reads about each ending; the evidence is for the instructor.
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
    """How a worker ended before its time: the kind for everyone, the evidence for the instructor."""

    kind: EndingKind
    evidence: str


class StudentError(Exception):
    """A failure inside student code. `public` is free of student-controlled text; `ending` names a limit it met."""

    public = "your code failed"
    ending: Ending | None = None


class StudentMissingError(StudentError):
    """A name the module asks for is not there, or is not what it should be."""

    public = "a name it needs is missing, or is not a function"


class StudentReturnedError(StudentError):
    """A result that cannot be looked at: too large, too deep, containing itself."""

    public = "your code returned something that cannot be graded"


class StudentRaisedError(StudentError):
    """Student code raised; the types are the names of the exception's classes, most specific first."""

    public = "your code raised an exception"

    def __init__(self, call: str, types: tuple[str, ...], message: str, file: str, line: int, traceback: str) -> None:
        where = f" ({file}, line {line})" if line and f"({file}, line {line})" not in message else ""
        text = f": {message}" if message else ""
        super().__init__(f"{call} raised {types[0]}{text}{where}")
        self.types = types
        self.message = message
        self.file = file
        self.line = line
        self.traceback = traceback
        if "MemoryError" in types or "DefaultCPUAllocator: can't allocate memory" in message:
            # The process lives on, but it is the limit on memory that it ran into.
            self.public = f"your code {ENDING_WORDS['memory']}"
            self.ending = Ending("memory", types[0])


class StudentEndedError(StudentError):
    """The worker ended, or was ended, while student code ran."""

    ending: Ending

    def __init__(self, call: str, ending: Ending, *, waited: bool = False) -> None:
        super().__init__(f"{call} {ENDING_WORDS[ending.kind]}")
        self.public = f"your code {ENDING_WORDS[ending.kind]}"
        self.ending = ending
        # It used no CPU while the clock ran out: perhaps the machine's fault, so worth a second try.
        self.waited = waited


class StudentGoneError(StudentError):
    """Not called: this function has ended its worker as often as it may, or the submission took too long in all."""

    public = "earlier checks used up what it may cost: it ended its process, or took too long"
