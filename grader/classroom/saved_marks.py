"""The class list that a grading saved, with the overrides of now."""

from __future__ import annotations

import json
from pathlib import Path

from grader.classroom.marks import Mark
from grader.classroom.overrides import OverridesError, read_overrides
from grader.core.json_record import from_json

FILE = "grades.json"
JOURNAL = "journal.jsonl"


class SavedMarksError(Exception):
    """A class list that cannot be used, and what to do about it."""


def read_marks(folder: Path) -> list[Mark]:
    """Return the class list of a results folder; SavedMarksError if the grading is unfinished.

    A person may have changed `overrides.csv` since the list was written, so the overrides are read again.
    """
    try:
        marks = [from_json(Mark, one) for one in json.loads((folder / FILE).read_bytes())]
        return read_overrides(folder).apply(marks)
    except FileNotFoundError:
        if (folder / JOURNAL).is_file():
            fix = f"To finish it, run: attn grade ... --to {folder} --resume"
            raise SavedMarksError(f"{folder} has no class list, because the grading did not finish. {fix}") from None
        fix = f"To make them, run: attn grade ... --to {folder}"
        raise SavedMarksError(f"there are no grades in {folder}. {fix}") from None
    except (OSError, ValueError, TypeError, RecursionError) as error:
        fix = f"To write it again, run: attn grade ... --to {folder} --resume"
        raise SavedMarksError(f"{folder / FILE} cannot be read: {error}. {fix}") from None
    except OverridesError as error:
        raise SavedMarksError(str(error)) from None
