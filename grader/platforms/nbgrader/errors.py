"""Errors about nbgrader course directories."""

from __future__ import annotations


class CourseDirError(Exception):
    """A course directory that cannot be made or used, and what to do."""
