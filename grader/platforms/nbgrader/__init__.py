"""nbgrader: assignments, autograding and the gradebook."""

from __future__ import annotations


class CourseDirError(Exception):
    """A course directory that cannot be made or used, and what to do."""
