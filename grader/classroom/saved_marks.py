"""The class list that a grading saved, with the overrides of now."""

from __future__ import annotations

import json

from grader.classroom.marks import Mark
from grader.classroom.overrides import Overrides, OverridesError
from grader.classroom.store.store import EARLIER, GRADES, ResultsStore
from grader.core.json_record import from_json


class SavedMarksError(Exception):
    """A class list that cannot be used, and what to do about it."""


def read_marks(store: ResultsStore) -> list[Mark]:
    """Return the class list of a store; SavedMarksError if the grading is unfinished.

    A person may have changed the overrides since the list was written, so they are read again.
    """
    try:
        return store.overrides().apply(_list(store, GRADES))
    except FileNotFoundError:
        if store.is_begun:
            fix = f"To finish it, run: attn grade ... --to {store.name} --resume"
            raise SavedMarksError(f"{store} has no class list, because the grading did not finish. {fix}") from None
        fix = f"To make them, run: attn grade ... --to {store.name}"
        raise SavedMarksError(f"there are no grades in {store}. {fix}") from None
    except OverridesError as error:
        raise SavedMarksError(str(error)) from None


def read_earlier_marks(store: ResultsStore) -> list[Mark]:
    """Return the automatic marks of the class list that the last grading replaced; empty if it was the first."""
    try:
        return Overrides().apply(_list(store, f"{EARLIER}/{GRADES}"))
    except (FileNotFoundError, SavedMarksError):
        return []


def _list(store: ResultsStore, name: str) -> list[Mark]:
    try:
        return [from_json(Mark, one) for one in json.loads(store.document(name))]
    except FileNotFoundError:
        raise
    except (OSError, ValueError, TypeError, RecursionError) as error:
        fix = f"To write it again, run: attn grade ... --to {store.name} --resume"
        raise SavedMarksError(f"{store.where(name)} cannot be read: {error}. {fix}") from None
