"""How references to submissions are kept on disk: as JSON data, where a module is only its name."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, overload

from grader.core.disk_table import Form
from grader.core.json_record import from_json, to_json
from grader.course.module import Module
from grader.submission.identity import Identity
from grader.submission.submission import SubmissionRef, SubmittedFile

_Modules = dict[str, Module]
_DEFAULTS = {field.name: field.default for field in dataclasses.fields(SubmittedFile)}


def ref_form() -> Form[SubmissionRef]:
    """Return the form of the references in one table, which have their modules in common."""
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
    """Return all that differs from the default."""
    own = {"who": to_json(file.who), "module": file.module.name, "below": str(file.below), "place": str(file.place)}
    return {name: value for name, value in (vars(file) | own).items() if value != _DEFAULTS[name]}


def _file_from(data: dict[str, Any], modules: _Modules) -> SubmittedFile:
    own = {
        "who": from_json(Identity, data["who"]),
        "module": modules[data["module"]],
        "below": PurePosixPath(data["below"]),
        "place": Path(data["place"]),
        "order": tuple(data.get("order", ())),
    }
    return SubmittedFile(**data | own)
