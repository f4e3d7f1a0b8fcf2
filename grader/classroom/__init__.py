"""A class: its reports, attempts, due dates and grades."""

from __future__ import annotations


class ClassError(Exception):
    """Something about a class that cannot be used or done, and what to do about it: the sentence for the instructor."""
