"""The register of a module: which checks verify each sentence that a student reads, and what breaks them.

It is `solutions/NN_slug/register.toml`. Each table is named after the function, class or method with the sentence:

```toml
[[sort]]
says = "Does not modify x."
checks = ["sort_leaves_its_arguments"]
wrong = ["sorts_in_place"]
```

`says` is one sentence or several; where they stand in the stub, line breaks do not matter. `[[reflect]]` has the
constants, `[[lesson]]` promises of the lesson. In place of checks there may be `unchecked = "why not"`, for a promise
that no check verifies, or `no_promise = "what else it is"`. In place of wrong ways, `unproved = "why"` says that no
misconception breaks the sentence yet. `[[unwritten]]` has checks without a sentence, and `why`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.authoring.sentences import one_line, sentences, stub_sentences
from grader.course.api import REFLECT
from grader.course.course import Course
from grader.course.module import CourseError, Module, read_text

FILE = "register.toml"
LESSON = "lesson"
UNWRITTEN = "unwritten"
_KINDS = ("checks", "unchecked", "no_promise")
_TEXTS = ("says", "unproved", "unchecked", "no_promise")
_EXAMPLE = 'Write says = "...", and checks = [...] with wrong = [...], or unchecked = "why", or no_promise = "why"'


@dataclass(frozen=True)
class Entry:
    """Sentences, and what verifies them: checks, with a wrong way for each; or why there is none."""

    place: str
    says: str
    checks: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unproved: str = ""  # why no misconception breaks the sentence
    unchecked: str = ""
    no_promise: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        return (one_line(self.says),) if self.place == LESSON else sentences(self.says)


@dataclass(frozen=True)
class Unwritten:
    """Checks that verify no sentence, and why they are there."""

    checks: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class RegisterCount:
    """How many sentences promise something, and how large the gaps are."""

    promises: int
    unchecked: int  # promises that no check verifies
    unproved: int  # promises that no misconception breaks
    unwritten: int  # checks without a sentence


@dataclass(frozen=True)
class Register:
    """The register of one module."""

    entries: tuple[Entry, ...]
    unwritten: tuple[Unwritten, ...] = ()

    @property
    def count(self) -> RegisterCount:
        promises = [entry for entry in self.entries if not entry.no_promise]
        return RegisterCount(
            promises=_sentences_in(promises),
            unchecked=_sentences_in(one for one in promises if one.unchecked),
            unproved=_sentences_in(one for one in promises if one.unproved),
            unwritten=sum(len(one.checks) for one in self.unwritten),
        )


def _sentences_in(entries: Iterable[Entry]) -> int:
    return sum(len(one.sentences) for one in entries)


def register_file(course: Course, module: Module) -> Path:
    """Return the path of a module's register, even if it does not exist."""
    return course.solution(module).with_name(FILE)


def written_sentences(course: Course, module: Module) -> dict[str, tuple[str, ...]]:
    """Return every sentence that a register must have: those of the stub, and the constants under Reflect."""
    stub = course.stub_text(module)
    constants = course.api(module).constants
    return stub_sentences(stub) | ({REFLECT: constants} if constants else {})


def read_register(course: Course, module: Module) -> Register | None:
    """Read the register of a module; None if it has none. A mistake is a CourseError that says how to fix it."""
    file = register_file(course, module)
    if not file.is_file():
        return None
    try:
        tables = tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise CourseError(file, "", f"is not TOML: {error}", "Fix that line") from None
    unwritten = tuple(_unwritten(file, one) for one in _tables(file, UNWRITTEN, tables.pop(UNWRITTEN, [])))
    entries = (_entry(file, place, one) for place, found in tables.items() for one in _tables(file, place, found))
    return Register(tuple(entries), unwritten)


def _tables(file: Path, place: str, found: Any) -> list[dict[str, Any]]:
    if type(found) is list and all(type(one) is dict for one in found):
        return found
    raise CourseError(file, place, "is not a list of tables", f"Write [[{place}]] above each entry")


def _entry(file: Path, place: str, table: dict[str, Any]) -> Entry:
    values = {key: _value(key, value) for key, value in table.items()}
    kinds = [kind for kind in _KINDS if values.get(kind)]
    if not values.get("says") or None in values.values() or len(kinds) != 1:
        raise CourseError(file, place, f"has an entry that cannot be read: {table}", _EXAMPLE)
    proofs = [key for key in ("wrong", "unproved") if key in values]
    if (proofs and kinds != ["checks"]) or len(proofs) > 1:
        raise CourseError(file, place, f"has {' and '.join(proofs)} in the entry of: {table['says']}", _EXAMPLE)
    return Entry(place, **values)


def _unwritten(file: Path, table: dict[str, Any]) -> Unwritten:
    values = {key: _value(key, value, ("why",)) for key, value in table.items()}
    if values.keys() != {"checks", "why"} or not all(values.values()):
        raise CourseError(file, UNWRITTEN, f"has an entry that cannot be read: {table}", "Write checks = [...] and why")
    return Unwritten(**values)


def _value(key: str, value: Any, texts: tuple[str, ...] = _TEXTS) -> Any:
    """Return a text or a tuple of names, whichever the key has; None if it is something else."""
    if key in ("checks", "wrong"):
        return tuple(value) if type(value) is list and all(type(one) is str for one in value) else None
    return value if key in texts and type(value) is str else None
