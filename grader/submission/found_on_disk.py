"""What was found in a class, on disk: it may be any number of files."""

from __future__ import annotations

from dataclasses import replace

from grader.core.disk_table import DiskList, form_of
from grader.submission.file_lines import FileLine
from grader.submission.finder import FoundSubmissions
from grader.submission.ref_form import ref_form


def on_disk(found: FoundSubmissions) -> FoundSubmissions:
    """Return what was found, with its lists on disk. Apart from finding: Python in a browser has no SQLite."""
    handed_in = DiskList(ref_form(), found.handed_in)
    return replace(found, handed_in=handed_in, lines=DiskList(form_of(FileLine), found.lines))
