"""Where the results of a class are kept: a folder, or a PostgreSQL database that several graders share."""

from __future__ import annotations

from grader.classroom import ClassError


class StoreError(Exception):
    """A store that does not answer or cannot be used, and what to do about it. It never holds a password."""


class ResultsError(ClassError):
    """Results that cannot be written, and why."""
