"""The store in a folder, which needs no server: a file for each report, a journal, and tables for people."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO

from grader.classroom import ClassError
from grader.classroom.decisions import Decisions, read_decisions, write_decisions
from grader.classroom.journal import JournalEntry, ReportKey, append, read_journal
from grader.classroom.overrides import Overrides, read_overrides, write_overrides
from grader.classroom.store import ResultsError
from grader.classroom.store.store import DERIVED, EARLIER, LISTS, StoredReport, T
from grader.core.atomic_file import file_name, write_atomically, write_parts_atomically
from grader.core.disk_table import DiskTable, form_of

JOURNAL = "journal.jsonl"
ATTEMPTS = "attempts"
LOCK = ".lock"
_ELSEWHERE = "Correct that, or name another folder"


class FileStore:
    """The results of a class in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    @property
    def name(self) -> str:
        return str(self._folder)

    @property
    def title(self) -> str:
        return f"{self._folder}/"

    @property
    def is_begun(self) -> bool:
        return (self._folder / JOURNAL).is_file()

    def journal(self) -> dict[ReportKey, JournalEntry]:
        """Return the last entry of the journal for each report."""
        return {entry.key: entry for entry in read_journal(self._folder / JOURNAL) if entry is not None}

    def read(self, key: ReportKey) -> bytes:
        return report_path(self._folder, key).read_bytes()

    def earlier(self, key: ReportKey) -> bytes | None:
        path = report_path(self._folder / EARLIER, key)
        return path.read_bytes() if path.is_file() else None

    def where(self, what: ReportKey | str) -> str:
        return str(self._folder / what if isinstance(what, str) else report_path(self._folder, what))

    def stored(self, module: str) -> Iterator[StoredReport]:
        """Yield the files of a module, also those that the journal does not have."""
        for path in sorted((self._folder / module).glob("*.json")):
            data: bytes | OSError
            try:
                data = path.read_bytes()
            except OSError as error:
                data = error
            yield StoredReport(path.stem, str(path), data)

    def document(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def decisions(self) -> Decisions:
        return read_decisions(self._folder)

    def overrides(self) -> Overrides:
        return read_overrides(self._folder)

    def open(self) -> FileWriter:
        """Lock the folder against other runs."""
        return FileWriter(self._folder)


def report_path(folder: Path, key: ReportKey) -> Path:
    """Return the path of a report. Of several attempts only the one that counts has the student's name."""
    if not key.attempt:
        return folder / key.module / f"{file_name(key.student)}.json"
    return folder / ATTEMPTS / key.module / file_name(key.student) / f"{file_name(key.attempt)}.json"


class FileWriter:
    """The only writer of a results folder.

    A report counts only if its journal line is complete and has the hash of its file. Any other is graded again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / JOURNAL).exists():
            for name in (*LISTS, EARLIER):  # replace only files that a grading wrote
                if (folder / name).exists():
                    problem = (
                        f"{folder} has {name} but no {JOURNAL}: it is not a results folder, or its journal is lost"
                    )
                    raise ResultsError(f"{problem}. Name another folder, or move this one away")
        self._lock = _lock(folder)
        try:
            self._decisions = read_decisions(folder)
            self._overrides = read_overrides(folder)
        except ClassError:
            self._lock.close()
            raise
        # A run writes the class list last. If it is missing, the last run did not finish and is continued here.
        self._settled = all((folder / name).is_file() for name in LISTS)
        try:
            self._read()
            self._journal = (folder / JOURNAL).open("ab")
        except OSError as error:
            self._lock.close()
            raise ResultsError(f"cannot write results to {folder}: {error}. {_ELSEWHERE}") from None

    def _read(self) -> None:
        """Read the journal, and write it again without lines that are damaged or no longer count."""
        self.damaged = 0
        self._entries = DiskTable(form_of(JournalEntry))
        for entry in read_journal(self.folder / JOURNAL):
            if entry is None:
                self.damaged += 1
            else:
                self._entries[entry.key.texts] = entry.settled() if self._settled else entry
        write_parts_atomically(self.folder / JOURNAL, (entry.line() for entry in self._entries.as_put()))

    def close(self) -> None:
        """Release the lock."""
        self._journal.close()
        self._lock.close()

    def atomically(self, work: Callable[[], T], *, alone: bool = False) -> T:
        """Run the steps. A crash between them leaves something that the next run notices and continues."""
        del alone  # the lock keeps others out
        return work()

    def begin(self) -> None:
        """Begin a new round if the last one was finished. A run that never gets here changes nothing."""
        if self._settled:
            shutil.rmtree(self.folder / EARLIER, ignore_errors=True)
        for name in DERIVED if self._settled else ():
            path = self.folder / name
            if path.is_file():
                (self.folder / EARLIER).mkdir(exist_ok=True)
                path.replace(self.folder / EARLIER / name)
        self._settled = False

    def entry(self, key: ReportKey) -> JournalEntry | None:
        return self._entries.get(key.texts)

    def find(self, key: ReportKey) -> tuple[JournalEntry | None, bytes | None]:
        try:
            return self.entry(key), report_path(self.folder, key).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return self.entry(key), None

    def entries(self, module: str, student: str) -> list[JournalEntry]:
        return list(self._entries.starting_with((module, student)))

    def put(self, entry: JournalEntry, text: str | None = None) -> None:
        """Write the file if there is a text, then the line of the journal."""
        if text is not None:
            write_atomically(report_path(self.folder, entry.key), text)
        append(self._journal, entry)
        self._entries[entry.key.texts] = entry

    def counted(self) -> Iterator[JournalEntry]:
        """Yield the entries of students whose file is there."""
        for entry in self._entries:
            if not entry.key.attempt and report_path(self.folder, entry.key).is_file():
                yield entry

    def unmarked(self) -> list[str]:
        """Return the files without a mark in the journal."""
        modules = dict.fromkeys(entry.key.module for entry in self._entries)
        return [name for module in modules for name in self._unmarked(module)]

    def _unmarked(self, module: str) -> list[str]:
        files = {path.name for path in (self.folder / module).glob("*.json")}
        for entry in self._entries.starting_with((module,)):
            if entry.mark and not entry.key.attempt:
                files.discard(report_path(self.folder, entry.key).name)
        return [f"{module}/{name}" for name in sorted(files)]

    def missing(self, keys: Iterable[ReportKey]) -> str | None:
        """Return the first file that is gone: a report, or the journal."""
        paths = chain((report_path(self.folder, key) for key in keys), [self.folder / JOURNAL])
        return next((str(path) for path in paths if not path.is_file()), None)

    def earlier(self, key: ReportKey) -> bytes | None:
        path = report_path(self.folder / EARLIER, key)
        return path.read_bytes() if path.is_file() else None

    def keep_earlier(self, key: ReportKey, data: bytes) -> None:
        write_atomically(report_path(self.folder / EARLIER, key), data.decode("utf-8", "replace"))

    def put_document(self, name: str, parts: Iterable[str]) -> None:
        write_parts_atomically(self.folder / name, parts)

    def decisions(self, key: ReportKey | None = None) -> Decisions:
        del key
        return self._decisions

    def save_decisions(self, decisions: Decisions) -> None:
        write_decisions(self.folder, decisions)
        self._decisions = decisions

    def overrides(self) -> Overrides:
        """Return what was in `overrides.csv` when the folder was opened, or was saved since."""
        return self._overrides

    def save_overrides(self, overrides: Overrides) -> None:
        write_overrides(self.folder, overrides)
        self._overrides = overrides


def _lock(folder: Path) -> IO[bytes]:
    """Lock a folder against other runs. The system releases the lock when the process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("ab")
    except OSError as error:
        raise ResultsError(f"cannot write reports to {folder}: {error}. {_ELSEWHERE}") from None
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise ResultsError(f"another attn grade is writing to {folder}. Wait for it, or name another folder") from None
    except OSError:  # a file system without locks
        pass
    return file
