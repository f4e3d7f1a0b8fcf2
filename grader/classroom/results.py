"""The results folder of a class: reports and marks that survive a crash and are never mixed up."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Self

from grader.classroom.changes import GradeChange, change_between
from grader.classroom.decided_report import decided
from grader.classroom.decisions import Decisions, DecisionsError, read_decisions, write_decisions
from grader.classroom.journal import JournalEntry, ReplacedReport, ReportKey, append, read_journal
from grader.classroom.marks import Mark, marks_text
from grader.classroom.overrides import Overrides, OverridesError, read_overrides, write_overrides
from grader.classroom.provenance import Provenance
from grader.classroom.saved_marks import JOURNAL
from grader.core.atomic_file import write_atomically
from grader.core.json_record import json_text, to_json
from grader.core.report import Report, file_name, report_from, report_text
from grader.core.review import Undecided
from grader.course.golden import sha256

EARLIER = "earlier"  # the previous versions of the reports that this round of grading changed
ATTEMPTS = "attempts"
LOCK = ".lock"
LISTS = ("grades.csv", "grades.json")
DERIVED = (*LISTS, "misconceptions.json", "changes.json")

_ELSEWHERE = "Correct that, or name another folder"


class ResultsError(Exception):
    """A results folder that cannot be used, and why."""


class Results:
    """The reports of a class in a folder, and the journal with the provenance of each.

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
            self.decisions = read_decisions(folder)
            self.overrides = read_overrides(folder)
        except (DecisionsError, OverridesError) as error:
            self._lock.close()
            raise ResultsError(str(error)) from None
        self.remarked: list[tuple[Mark, Mark]] = []  # before and after: the final mark changed, the report did not
        # A run writes the class list last. If it is missing, the last run did not finish and is continued here.
        self._settled = all((folder / name).is_file() for name in LISTS)
        try:
            self._entries, self.damaged = read_journal(folder / JOURNAL)
            if self._settled:
                self._entries = {key: entry.settled() for key, entry in self._entries.items()}
            text = "".join(entry.line() for entry in self._entries.values())
            write_atomically(folder / JOURNAL, text)  # without the damaged lines
            self._journal = (folder / JOURNAL).open("ab")
        except OSError as error:
            self._lock.close()
            raise ResultsError(f"cannot write results to {folder}: {error}. {_ELSEWHERE}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()
        self._lock.close()

    def kept(self, key: ReportKey, provenance: Provenance) -> Report | None:
        """Return the existing report, if it has exactly this provenance and has a score."""
        entry = self._entries.get(key)
        if entry is None or entry.provenance != provenance:
            return None  # missing, or grading it again could give something else
        data = self._read(key)
        if data is None or sha256(data) != entry.report:
            return None
        report = _parse(data)
        return report if report is not None and report.score is not None else None

    def decided(self, key: ReportKey, report: Report, submission: str, undecided: Undecided) -> Report:
        """Return a report of some code with the decisions that hold for it."""
        return decided(report, lambda item: self.decisions.decide(key.student, key.module, submission, item), undecided)

    def save(self, decisions: Decisions) -> None:
        """Save the decisions; reports do not have them yet."""
        write_decisions(self.folder, decisions)
        self.decisions = decisions

    def save_overrides(self, overrides: Overrides) -> None:
        """Save the overrides; the class list does not have them yet."""
        write_overrides(self.folder, overrides)
        self.overrides = overrides

    def write(self, key: ReportKey, report: Report, provenance: Provenance) -> None:
        """Write a report to its place. The report it replaces is kept in `earlier/` if it is different."""
        self._begin()
        text = report_text(report)
        old = self._read(key)
        entry = self._entries.get(key)
        replaced = entry.replaced if entry else None
        if old is not None and _without_timing(old) != _without_timing(text.encode()):
            earlier = self._place(key, self.folder / EARLIER)
            if not earlier.exists():  # the first replaced in this round is the one from before the round
                write_atomically(earlier, old.decode("utf-8", "replace"))
                by_hand = entry is None or sha256(old) != entry.report
                replaced = ReplacedReport(entry.provenance if entry else None, by_hand)
        write_atomically(self._place(key), text)
        self._append(JournalEntry(key, sha256(text.encode()), provenance, replaced, None))

    def revise(self, key: ReportKey, report: Report, mark: Mark | None) -> None:
        """Replace a report and its mark after a decision. This is not grading again, so no earlier version is kept."""
        text = report_text(report)
        write_atomically(self._place(key), text)
        self._append(dataclasses.replace(self._entries[key], report=sha256(text.encode()), mark=mark))

    def intact(self, key: ReportKey) -> Report | None:
        """Return a report that is complete and has not been changed since it was written."""
        data = self._read(key) or b""
        return _parse(data) if sha256(data) == self._entries[key].report else None

    def entries(self, module: str, student: str) -> list[JournalEntry]:
        """Return what is known of a student's reports for a module: the one that counts, and those of attempts."""
        return [entry for key, entry in self._entries.items() if (key.module, key.student) == (module, student)]

    def mark(self, key: ReportKey, mark: Mark) -> None:
        """Save the mark of a report."""
        entry = self._entries[key]
        if entry.mark is not None and entry.mark.final != mark.final and not key.attempt:
            self.remarked.append((entry.mark, mark))
        if entry.mark != mark:
            self._append(dataclasses.replace(entry, mark=mark))

    def count(self, key: ReportKey) -> None:
        """Make one of several attempts the report of its student."""
        chosen = self._entries[key]
        report = self.report(key)
        if report is None:
            raise ResultsError(f"the report of attempt {key.attempt!r} of {key.student} is missing or damaged")
        counting = ReportKey(key.module, key.student)
        before = self._entries[counting].mark if counting in self._entries else None
        self.write(counting, report, chosen.provenance)
        if chosen.mark is not None:
            self.mark(counting, chosen.mark)
            if before is not None and self._only_lateness(before, chosen.mark):
                self.remarked.append((before, chosen.mark))

    def _only_lateness(self, before: Mark, after: Mark) -> bool:
        """Whether a final mark changed, although the attempt that counted before still has the same score."""
        same = self._entries.get(ReportKey(before.module, before.submission, before.attempt))
        same_score = same is not None and same.mark is not None and same.mark.score == before.score
        return before.final != after.final and same_score

    def report(self, key: ReportKey) -> Report | None:
        """Return one report, if it is there and complete."""
        return _parse(self._read(key) or b"")

    def counted(self) -> list[ReportKey]:
        """Return the reports of students, from all runs; not those of single attempts."""
        return sorted(key for key in self._entries if not key.attempt and self._place(key).is_file())

    def marks(self) -> list[Mark]:
        """Return the class list: the marks of all reports in this folder, from all runs."""
        return [mark for key in self.counted() if (mark := self._entries[key].mark)]

    def unmarked(self) -> list[str]:
        """Return the reports that the class list leaves out, because the run that wrote them did not finish."""
        marked = {self._place(key) for key, entry in self._entries.items() if entry.mark}
        modules = {entry.key.module for entry in self._entries.values()}
        paths = (path for module in sorted(modules) for path in sorted((self.folder / module).glob("*.json")))
        return [f"{path.parent.name}/{path.name}" for path in paths if path not in marked]

    def changes(self, keys: Iterable[ReportKey]) -> list[GradeChange]:
        """Return the reports that this round of grading changed."""
        self._begin()
        found = []
        for key in keys:
            earlier = self._place(key, self.folder / EARLIER)
            entry = self._entries.get(key)
            if entry is None or not earlier.is_file():
                continue
            before, after = _parse(earlier.read_bytes()), self.report(key)
            if before is not None and after is not None:
                replaced = entry.replaced or ReplacedReport(None, by_hand=False)
                change = change_between(before, after, replaced.provenance, entry.provenance, by_hand=replaced.by_hand)
                found.append(change)
        return found

    def finish(self, marks: list[Mark], keys: Iterable[ReportKey], **tables: Any) -> None:
        """Write the tables, the class list last; ResultsError if the journal or a report is missing by now."""
        missing = next((self._place(key) for key in keys if not self._place(key).is_file()), None)
        if missing is None and not (self.folder / JOURNAL).is_file():
            missing = self.folder / JOURNAL
        if missing is not None:
            raise ResultsError(f"{missing} was removed while the class was graded. Run it again with --resume")
        for name, table in tables.items():
            self._write_json(name, table)
        self.write_class_list(marks)

    def write_class_list(self, marks: Iterable[Mark]) -> None:
        """Write the class list with the overrides, as JSON and, last of all, as CSV."""
        found = self.overrides.apply(marks)
        self._write_json("grades", [to_json(mark) for mark in found])
        write_atomically(self.folder / "grades.csv", marks_text(found))

    def _write_json(self, name: str, table: Any) -> None:
        write_atomically(self.folder / f"{name}.json", json_text(table) + "\n")

    def _begin(self) -> None:
        """Begin a new round if the last one was finished: forget its changes and move its lists to `earlier/`.

        A list of half a class must not be mistaken for the class. A run that never gets here changes nothing.
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
        return report_path(folder or self.folder, key)

    def _read(self, key: ReportKey) -> bytes | None:
        try:
            return self._place(key).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None


def report_path(folder: Path, key: ReportKey) -> Path:
    """Return the path of a report. Of several attempts only the one that counts has the student's name."""
    if not key.attempt:
        return folder / key.module / f"{file_name(key.student)}.json"
    return folder / ATTEMPTS / key.module / file_name(key.student) / f"{file_name(key.attempt)}.json"


def _without_timing(data: bytes) -> Any:
    """Return the content of a report without its timing, which differs from run to run."""
    try:
        return {name: value for name, value in json.loads(data).items() if name != "timing"}
    except (ValueError, AttributeError):
        return data


def _parse(data: bytes) -> Report | None:
    try:
        return report_from(json.loads(data))
    except ValueError:
        return None


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
