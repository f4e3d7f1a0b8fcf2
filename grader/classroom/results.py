"""The results of a class in a folder: written as they come, whole after any crash, and never given for others."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Self

from grader.classroom.changes import GradeChange, change_between
from grader.classroom.journal import JournalEntry, ReportKey, append, read_journal
from grader.classroom.marks import Mark, marks_text
from grader.classroom.provenance import Provenance
from grader.core.atomic_file import write_atomically
from grader.core.report import Report, file_name, report_from, report_text
from grader.course.golden import sha256

JOURNAL = "journal.jsonl"
EARLIER = "earlier"  # what reports were before this round of grading, where they differ
ATTEMPTS = "attempts"
LOCK = ".lock"
LISTS = ("grades.csv", "grades.json")
DERIVED = (*LISTS, "misconceptions.json", "changes.json")


class ResultsError(Exception):
    """A folder of results that cannot be used, and why."""


class Results:
    """The reports of a class in a folder, and the journal of what each rests on.

    A report counts only if its journal line is whole and has the hash of the file; anything else is graded again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / JOURNAL).exists():
            for name in (*LISTS, EARLIER):  # what we would replace must be our own
                if (folder / name).exists():
                    what = f"{folder} holds {name}, but no {JOURNAL}: it is not of a grading, or has lost that"
                    raise ResultsError(f"{what}. Name another folder, or move it away")
        self._lock = _locked(folder)
        self.remarked: list[tuple[Mark, Mark]] = []  # what counts otherwise than before, though its report is the same
        # The list is the last thing a run writes: where it is missing, that run goes on here.
        self._settled = all((folder / name).is_file() for name in LISTS)
        try:
            self._entries, self.damaged = read_journal(folder / JOURNAL)
            if self._settled:
                self._entries = {key: entry.settled() for key, entry in self._entries.items()}
            text = "".join(entry.line() for entry in self._entries.values())
            write_atomically(folder / JOURNAL, text)  # without what is broken in it
            self._journal = (folder / JOURNAL).open("ab")
        except OSError as error:
            self._lock.close()
            raise ResultsError(f"results cannot be written to {folder}: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()
        self._lock.close()

    def kept(self, key: ReportKey, basis: Provenance) -> Report | None:
        """Return the report that is there, if it rests on just this and gives a verdict."""
        entry = self._entries.get(key)
        if entry is None or entry.basis != basis:
            return None  # not there, or no longer what would come out
        data = self._read(key)
        if data is None or sha256(data) != entry.report:
            return None
        report = _parsed(data)
        return report if report is not None and report.score is not None else None

    def write(self, key: ReportKey, report: Report, basis: Provenance) -> None:
        """Write a report to its place; what it replaces is kept if it says something else."""
        self._begin()
        text = report_text(report)
        old = self._read(key)
        entry = self._entries.get(key)
        was = entry.was if entry else None
        if old is not None and _verdict(old) != _verdict(text.encode()):
            earlier = self._place(key, self.folder / EARLIER)
            if not earlier.exists():  # the first of this round is what was before it
                write_atomically(earlier, old.decode("utf-8", "replace"))
                by_hand = entry is None or sha256(old) != entry.report
                was = {"basis": entry.basis.as_json() if entry else None, "by_hand": by_hand}
        write_atomically(self._place(key), text)
        self._append(JournalEntry(key, sha256(text.encode()), basis, was))

    def mark(self, key: ReportKey, mark: Mark) -> None:
        """Note what a report counts for."""
        entry = self._entries[key]
        if entry.mark is not None and entry.mark.final != mark.final and not key.attempt:
            self.remarked.append((entry.mark, mark))
        if entry.mark != mark:
            self._append(JournalEntry(key, entry.report, entry.basis, entry.was, mark))

    def count(self, key: ReportKey) -> None:
        """Have one of several attempts be the report of its student."""
        chosen = self._entries[key]
        report = _parsed(self._read(key) or b"")
        if report is None:
            raise ResultsError(f"the report of attempt {key.attempt!r} of {key.student} has gone")
        alone = ReportKey(key.module, key.student)
        self.write(alone, report, chosen.basis)
        if chosen.mark is not None:
            self.mark(alone, chosen.mark)

    def report(self, key: ReportKey) -> Report | None:
        """Return one report, if it is there and whole."""
        return _parsed(self._read(key) or b"")

    def counted(self) -> list[ReportKey]:
        """Return what reports there are of students, whichever run wrote them; not those of single attempts."""
        return sorted(key for key in self._entries if not key.attempt and self._place(key).is_file())

    def marks(self) -> list[Mark]:
        """Return the class list: all that was ever graded into this folder and is still there."""
        return [mark for key in self.counted() if (mark := self._entries[key].mark)]

    def unmarked(self) -> list[str]:
        """Return the reports in the folder that the class list leaves out, as no run that wrote them was finished."""
        marked = {self._place(key) for key, entry in self._entries.items() if entry.mark}
        modules = {entry.key.module for entry in self._entries.values()}
        there = (path for module in sorted(modules) for path in sorted((self.folder / module).glob("*.json")))
        return [f"{path.parent.name}/{path.name}" for path in there if path not in marked]

    def changes(self, keys: Iterable[ReportKey]) -> list[GradeChange]:
        """Return what this round of grading changed."""
        self._begin()
        found = []
        for key in keys:
            earlier = self._place(key, self.folder / EARLIER)
            entry = self._entries.get(key)
            if entry is None or not earlier.is_file():
                continue
            before, after = _parsed(earlier.read_bytes()), _parsed(self._read(key) or b"")
            if before is not None and after is not None:
                was, by_hand = entry.was_provenance()
                found.append(change_between(before, after, was, entry.basis, by_hand=by_hand))
        return found

    def finish(self, marks: list[Mark], keys: Iterable[ReportKey], **tables: Any) -> None:
        """Write what is derived from all of it, the class list last; not if what it is derived from has gone."""
        gone = next((self._place(key) for key in keys if not self._place(key).is_file()), None)
        if gone is None and not (self.folder / JOURNAL).is_file():
            gone = self.folder / JOURNAL
        if gone is not None:
            raise ResultsError(f"{gone} has gone while the class was being graded: run it again with --resume")
        for name, table in {**tables, "grades": [mark.as_json() for mark in marks]}.items():
            write_atomically(self.folder / f"{name}.json", json.dumps(table, indent=1, ensure_ascii=False) + "\n")
        write_atomically(self.folder / "grades.csv", marks_text(marks))

    def _begin(self) -> None:
        """Begin a round if the last one was finished: its changes are settled, its lists are put aside.

        A list of half a class must not be taken for the class. A run that never gets here leaves all as it is.
        """
        if self._settled:
            shutil.rmtree(self.folder / EARLIER, ignore_errors=True)
        for name in DERIVED if self._settled else ():
            path = self.folder / name
            if path.is_file():
                (self.folder / EARLIER).mkdir(exist_ok=True)
                path.replace(self.folder / EARLIER / name)
        self._settled = False

    def _append(self, entry: JournalEntry) -> None:
        append(self._journal, entry)
        self._entries[entry.key] = entry

    def _place(self, key: ReportKey, folder: Path | None = None) -> Path:
        """Return where a report belongs; of several attempts only the one that counts has the student's name."""
        root = folder or self.folder
        if not key.attempt:
            return root / key.module / f"{file_name(key.student)}.json"
        return root / ATTEMPTS / key.module / file_name(key.student) / f"{file_name(key.attempt)}.json"

    def _read(self, key: ReportKey) -> bytes | None:
        try:
            return self._place(key).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None


def _verdict(data: bytes) -> Any:
    """Return what a report says but for its timing."""
    try:
        return {name: value for name, value in json.loads(data).items() if name != "timing"}
    except (ValueError, AttributeError):
        return data


def _parsed(data: bytes) -> Report | None:
    try:
        return report_from(json.loads(data))
    except ValueError:
        return None


def _locked(folder: Path) -> IO[bytes]:
    """Keep others from writing to a folder; the system takes the lock back from a process that dies."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("ab")
    except OSError as error:
        raise ResultsError(f"reports cannot be written to {folder}: {error}") from None
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise ResultsError(f"another attn grade is writing to {folder}; wait for it, or name another folder") from None
    except OSError:  # a file system that knows no locks
        pass
    return file
