"""A class: its reports, attempts, due dates and grades."""

from __future__ import annotations

RESUME = "Run the same `attn grade` again with --resume"  # the end of many sentences


class ClassError(Exception):
    """Something about a class that cannot be used or done, and what to do about it: the sentence for the instructor."""
