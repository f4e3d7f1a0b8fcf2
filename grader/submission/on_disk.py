"""What was found, on disk: it may be any number of files. Apart from finding: Python in a browser has no SQLite."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, overload

from grader.core.disk_table import DiskList, Form, form_of
from grader.core.json_record import from_json, to_json
from grader.course.module import Module
from grader.submission.found import FileLine, FoundSubmissions
from grader.submission.identity import Identity
from grader.submission.submission import Attempt, FilePlace, SubmissionRef, SubmittedFile

_Modules = dict[str, Module]
_PARTS = ("location", "attempt")
_RECORDS = (FilePlace, Attempt, SubmittedFile)  # their facts have different names
_DEFAULTS = {field.name: field.default for record in _RECORDS for field in dataclasses.fields(record)}


def on_disk(found: FoundSubmissions) -> FoundSubmissions:
    """Return what was found, with its lists on disk."""
    handed_in = DiskList(ref_form(), found.handed_in)
    return dataclasses.replace(found, handed_in=handed_in, lines=DiskList(form_of(FileLine), found.lines))


def ref_form() -> Form[SubmissionRef]:
    """Return the form of references as JSON data. A table has the modules once, not in each of them."""
    modules: _Modules = {}

    def to_data(ref: SubmissionRef) -> list[Any]:
        files = [ref.piece] if type(ref.beside) is _Beside else [ref.piece, *ref.beside]
        modules.update(ref.beside.modules if type(ref.beside) is _Beside else {})
        modules.update((one.module.name, one.module) for one in files)
        return [_file_data(ref.piece), _text(ref.beside), ref.attempts, ref.attempt]

    def from_data(data: list[Any]) -> SubmissionRef:
        piece, text, attempts, attempt = data
        return SubmissionRef(_file_from(piece, modules), _Beside(text, modules), attempts, attempt)

    return Form(to_data, from_data)


class _Beside(Sequence[SubmittedFile]):
    """A student's other modules, as a text until they are needed: most passes over a class do not look at them."""

    def __init__(self, text: str, modules: _Modules) -> None:
        self.text = text
        self.modules = modules

    def __len__(self) -> int:
        return len(json.loads(self.text))

    def __iter__(self) -> Iterator[SubmittedFile]:
        return iter(self[:])

    @overload
    def __getitem__(self, index: int) -> SubmittedFile: ...
    @overload
    def __getitem__(self, index: slice) -> list[SubmittedFile]: ...
    def __getitem__(self, index: int | slice) -> SubmittedFile | list[SubmittedFile]:
        return [_file_from(one, self.modules) for one in json.loads(self.text)][index]


def _text(files: Iterable[SubmittedFile]) -> str:
    return files.text if type(files) is _Beside else json.dumps(list(map(_file_data, files)))


def _file_data(file: SubmittedFile) -> dict[str, Any]:
    """Return all facts about a file that differ from the default, without its records."""
    facts = vars(file) | vars(file.location) | vars(file.attempt)
    facts |= {"who": to_json(file.who), "module": file.module.name}
    facts |= {"place": str(file.location.place), "below": str(file.location.below)}
    return {name: value for name, value in facts.items() if name not in _PARTS and value != _DEFAULTS[name]}


def _file_from(data: dict[str, Any], modules: _Modules) -> SubmittedFile:
    place = {"place": Path(data["place"]), "below": PurePosixPath(data["below"])}
    own = {
        "who": from_json(Identity, data["who"]),
        "module": modules[data["module"]],
        "location": FilePlace(**_facts(FilePlace, data) | place),
        "attempt": from_json(Attempt, data),
    }
    return SubmittedFile(**_facts(SubmittedFile, data) | own)


def _facts(record: type[FilePlace | SubmittedFile], data: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that are fields of a record."""
    return {field.name: data[field.name] for field in dataclasses.fields(record) if field.name in data}
