"""How references to submissions are kept on disk: as JSON data, where a module is only its name."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from grader.core.disk_table import Form
from grader.core.json_record import from_json, to_json
from grader.course.module import Module
from grader.submission.identity import Identity
from grader.submission.submission import SubmissionRef, SubmittedFile


def ref_form() -> Form[SubmissionRef]:
    """Return the form of the references in one table, which have their modules in common."""
    modules: dict[str, Module] = {}

    def to_data(ref: SubmissionRef) -> list[Any]:
        files = (ref.piece, *ref.beside)
        modules.update((one.module.name, one.module) for one in files)
        return [list(map(_file_data, files)), ref.attempts, ref.attempt]

    def from_data(data: list[Any]) -> SubmissionRef:
        files, attempts, attempt = data
        piece, *beside = (_file_from(one, modules) for one in files)
        return SubmissionRef(piece, tuple(beside), attempts, attempt)

    return Form(to_data, from_data)


def _file_data(file: SubmittedFile) -> dict[str, Any]:
    own = {"who": to_json(file.who), "module": file.module.name, "below": str(file.below), "place": str(file.place)}
    return vars(file) | own


def _file_from(data: dict[str, Any], modules: dict[str, Module]) -> SubmittedFile:
    own = {
        "who": from_json(Identity, data["who"]),
        "module": modules[data["module"]],
        "below": PurePosixPath(data["below"]),
        "place": Path(data["place"]),
        "order": tuple(data["order"]),
    }
    return SubmittedFile(**data | own)
