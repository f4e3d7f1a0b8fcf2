"""The rules of each module, kept with the results of a class: marks of one module never follow rules of another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from grader.classroom import ClassError
from grader.classroom.lateness import Deadlines, read_due, read_penalty, read_times
from grader.classroom.marks import Marking
from grader.classroom.roster import Roster, normalize_name, roster_from
from grader.classroom.rules import Rules, RulesError, rules_from
from grader.classroom.store.store import ResultsStore
from grader.core.json_record import from_json, to_json
from grader.core.times import TimeError, read_length, read_time
from grader.course.course import Course

FileRule = Literal["roster", "map", "times", "extensions"]
FILES: tuple[FileRule, ...] = ("roster", "map", "times", "extensions")


@dataclass(frozen=True)
class KeptFile:
    """A CSV file that rules name, as it was when they were used: next week it may be the file of another module."""

    path: str
    text: str  # its bytes as UTF-8; those that are not UTF-8 are escaped

    @property
    def data(self) -> bytes:
        """The content of the file."""
        return self.text.encode("utf-8", "surrogateescape")


def read_kept(path: str) -> KeptFile:
    """Read a file that rules name."""
    try:
        return KeptFile(path, Path(path).read_bytes().decode("utf-8", "surrogateescape"))
    except OSError as error:
        raise RulesError(f"{path} cannot be read: {error.strerror}") from None


@dataclass(frozen=True)
class ModuleRules:
    """The rules of one module with the files that they name, and who was skipped when it was graded.

    A file that is not in `files` is read when it is needed.
    """

    rules: Rules = field(default_factory=Rules)
    files: Mapping[str, KeptFile] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)  # why people's work could not be graded, by id

    def file(self, name: FileRule) -> KeptFile | None:
        """Return a file that the rules name, if they do."""
        path: str | None = getattr(self.rules, name)
        if path is None:
            return None
        return self.files.get(name) or read_kept(path)

    def finding(self) -> ModuleRules:
        """Return the part that decides whose work a file is and which attempts are graded."""
        rules = self.rules
        kept = Rules(
            roster=rules.roster, policy=rules.policy, section=rules.section, map=rules.map, file_times=rules.file_times
        )
        return ModuleRules(kept, {name: self.files[name] for name in FILES[:2] if name in self.files})

    def roster(self) -> Roster | None:
        """Return the people of the class, if the rules name them."""
        file = self.file("roster")
        return roster_from(file.path, file.data) if file else None

    def known_roster(self) -> Roster | None:
        """Return the people of the class, if they are still known."""
        try:
            return self.roster()
        except ClassError:
            return None

    def deadlines(self, course: Course) -> Deadlines:
        """Return when work is due, when it was submitted, and what late work costs."""
        rules, times, extensions = self.rules, self.file("times"), self.file("extensions")
        try:
            return Deadlines(
                due=read_due(course, rules.due),
                extensions=read_times(course, extensions.path, extensions.data, "until")
                if extensions
                else self._extended(),
                handed_in=read_times(course, times.path, times.data, "submitted") if times else {},
                penalty=read_penalty(rules.late_penalty) if rules.late_penalty else None,
                grace=read_length(rules.grace) if rules.grace else timedelta(),
            )
        except TimeError as error:
            raise RulesError(str(error)) from None

    def _extended(self) -> dict[tuple[str, str], datetime]:
        return {(normalize_name(one.student), one.module): read_time(one.until) for one in self.rules.extended}


def marking_of(course: Course, finding: ModuleRules, modules: Mapping[str, ModuleRules]) -> Marking:
    """Return how the modules of a class are marked. They share a roster, and each has deadlines of its own."""
    used = [one.rules for one in modules.values()]
    needs_due = any(one.extensions or one.extended or one.late_penalty or one.grace for one in used)
    if needs_due and not any(one.due for one in used):
        raise RulesError("--extensions, --late-penalty and --grace need a due date: add --due")
    roster, section = finding.roster(), finding.rules.section
    sections = sorted({person.section for person in roster.people}) if roster else []
    if section and roster and section not in sections:
        where = f"{finding.rules.roster} has no one in section {section!r}"
        raise RulesError(f"{where}. Its sections are {', '.join(sections)}")
    return Marking(
        roster, section=section or "", by_module={name: one.deadlines(course) for name, one in modules.items()}
    )


@dataclass(frozen=True)
class SavedRules:
    """What the results of a class keep of its rules.

    Before rules were kept for each module, only those of the last run were kept, whichever modules it graded: `before`.
    """

    last: Rules = field(default_factory=Rules)  # of the last run
    modules: Mapping[str, ModuleRules] = field(default_factory=dict)
    before: Rules | None = None
    graded: Mapping[str, bool] = field(default_factory=dict)  # only with `before`: whether a module had a due date

    def unclear(self, module: str) -> bool:
        """Whether it is not known which rules the marks of a module were made with."""
        return module not in self.modules and self.before is not None and module in self.graded

    def of(self, module: str) -> ModuleRules:
        """Return the rules of a module. Where they are not known, those of the last run that may have been for it."""
        if self.unclear(module):
            return ModuleRules((self.before or Rules()).only(module))
        return self.modules.get(module, ModuleRules())

    def with_modules(self, last: Rules, modules: Mapping[str, ModuleRules]) -> SavedRules:
        """Return what is kept after a run by other rules."""
        return replace(self, last=last, modules={**self.modules, **modules})

    @cached_property
    def text(self) -> str:
        """The file. An older AttnLab reads the rules of the last run from it."""
        data: dict[str, Any] = to_json(self.last)
        if self.modules:
            data["modules"] = {name: to_json(one) for name, one in sorted(self.modules.items())}
        if self.before is not None:
            data["before"] = to_json(self.before)
        return json.dumps(data, indent=1) + "\n"


def read_saved_rules(store: ResultsStore) -> SavedRules:
    """Return the rules that are kept with the results of a class."""
    saved = rules_from(store, _saved)
    if saved is None or saved.before is None:
        return saved or SavedRules()
    graded = _graded(store)
    if len(graded) == 1 and not saved.modules:  # there is only one module that the rules can be for
        (only,) = graded
        return SavedRules(saved.last, {only: ModuleRules(saved.before.only(only))})
    return replace(saved, graded=graded)


def _saved(data: Any) -> SavedRules:
    last = from_json(Rules, data)
    if "modules" not in data:
        return SavedRules(last, before=last)
    modules, before = data["modules"], data.get("before")
    if type(modules) is not dict:
        raise ValueError("modules is not an object")
    return SavedRules(
        last,
        {name: from_json(ModuleRules, one) for name, one in modules.items()},
        None if before is None else from_json(Rules, before),
    )


def _graded(store: ResultsStore) -> dict[str, bool]:
    """Return the modules with marks, and whether one of these had a due date."""
    found: dict[str, bool] = {}
    for key, entry in store.journal().items():
        found[key.module] = found.get(key.module, False) or bool(entry.mark and entry.mark.due)
    return found
