"""What can be wrong with a store."""

from __future__ import annotations


class StoreError(Exception):
    """A store that does not answer or cannot be used, and what to do about it. It never holds a password."""


class ResultsError(Exception):
    """Results that cannot be written, and why."""
