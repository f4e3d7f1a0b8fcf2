"""The store in a folder, which needs no server: a file for each report, a journal, and tables for people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.classroom.decisions import Decisions, read_decisions
from grader.classroom.journal import JournalEntry, ReportKey, read_journal
from grader.classroom.overrides import Overrides, read_overrides
from grader.classroom.store.file_writer import ATTEMPTS, JOURNAL, FileWriter, report_path
from grader.classroom.store.store import EARLIER, StoredReport


class FileStore:
    """The results of a class in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.folder)

    @property
    def title(self) -> str:
        """The folder, as a folder."""
        return f"{self.folder}/"

    @property
    def is_begun(self) -> bool:
        """Whether the folder has a journal."""
        return (self.folder / JOURNAL).is_file()

    def journal(self) -> dict[ReportKey, JournalEntry]:
        """Return the last entry of the journal for each report."""
        return {entry.key: entry for entry in read_journal(self.folder / JOURNAL) if entry is not None}

    def read(self, key: ReportKey) -> bytes:
        """Return the file of a report."""
        return report_path(self.folder, key).read_bytes()

    def earlier(self, key: ReportKey) -> bytes | None:
        """Return the file in `earlier/`."""
        path = report_path(self.folder / EARLIER, key)
        return path.read_bytes() if path.is_file() else None

    def where(self, what: ReportKey | str) -> str:
        """Return the path of a report or of another file."""
        return str(self.folder / what if isinstance(what, str) else report_path(self.folder, what))

    def stored(self, module: str) -> Iterator[StoredReport]:
        """Yield the files of a module, also those that the journal does not have."""
        for path in sorted((self.folder / module).glob("*.json")):
            data: bytes | OSError
            try:
                data = path.read_bytes()
            except OSError as error:
                data = error
            yield StoredReport(path.stem, str(path), data)

    def has(self, module: str) -> bool:
        """Whether the folder of a module has a file."""
        return module not in (EARLIER, ATTEMPTS) and any((self.folder / module).glob("*.json"))

    def document(self, name: str) -> bytes:
        """Return a file of the folder."""
        return (self.folder / name).read_bytes()

    def decisions(self) -> Decisions:
        """Return the decisions in `decisions.json`."""
        return read_decisions(self.folder)

    def overrides(self) -> Overrides:
        """Return what is in `overrides.csv`."""
        return read_overrides(self.folder)

    def open(self) -> FileWriter:
        """Lock the folder against other runs."""
        return FileWriter(self.folder)
