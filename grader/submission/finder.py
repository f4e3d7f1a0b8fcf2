"""The finder: opens sources and says which file is whose, for which module, from when, and which attempt counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course.course import Course
from grader.course.module import Module
from grader.submission import attempts
from grader.submission.attempts import Policy
from grader.submission.collector import Collector, Helper
from grader.submission.file_lines import Fate, FileLine, one_each
from grader.submission.identity import Identity, KeyKind
from grader.submission.module_names import ModuleNames
from grader.submission.name_map import NameMap
from grader.submission.paths import add_path
from grader.submission.search import Search
from grader.submission.submission import Submission, SubmissionRef, SubmittedFile

# Returns the id of a student on the roster, or None. Two identities with one id are one person.
Resolve = Callable[[Identity], str | None]
_NUMBERS: tuple[KeyKind, ...] = ("canvas", "moodle")  # a platform's own: one for each student
_FilesByModule = dict[str, list[SubmittedFile]]  # one student's files, by module


@dataclass(frozen=True)
class FoundSubmissions:
    """The submissions found at some paths, one line for each file, and a note for each archive that was read."""

    handed_in: Sequence[SubmissionRef]
    lines: Sequence[FileLine]
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def submissions(self) -> tuple[Submission, ...]:
        """All submissions, read into memory. Use it for a few, not for a class."""
        return tuple(one.read() for one in self.handed_in)

    @property
    def refused(self) -> tuple[tuple[str, str], ...]:
        """What may be a student's work, but cannot be graded: path and reason."""
        return tuple((line.path, line.reason) for line in self.lines if line.fate == "skipped")

    @property
    def not_counted(self) -> tuple[tuple[str, str], ...]:
        """Attempts and files that do not count, because another one does: path and reason."""
        return tuple((line.path, line.reason) for line in self.lines if line.fate == "not counted")


def find_submissions(
    course: Course,
    paths: Iterable[Path],
    module: Module | None = None,
    policy: Policy | None = None,
    scratch: Path | None = None,
    *,
    student: str | None = None,
    class_zip: bool = False,
    file_times: bool = False,
    name_map: NameMap | None = None,
    resolve: Resolve | None = None,
) -> FoundSubmissions:
    """Return the submissions at some paths. With `module`, only those for it, whatever the names of the files.

    Of several attempts by one student the latest counts. With the policy `best`, all are graded. Without a policy,
    files that could belong to two people are skipped. See `Search` for the other options.
    """
    paths = list(paths)
    single = len(paths) == 1 and scratch is not None
    names = ModuleNames(course, module)
    search = Search(names, scratch, student, class_zip, single, file_times, name_map or NameMap())
    collector = Collector(search)
    for root, path in enumerate(paths):
        add_path(search, collector, root, path)
    return _settled(collector, module, policy, resolve or (lambda _: None), alone=student is not None)


def _settled(
    collector: Collector, module: Module | None, policy: Policy | None, resolve: Resolve, *, alone: bool
) -> FoundSubmissions:
    """Decide which attempts count, and what became of every file."""
    students: dict[str, _FilesByModule] = {}
    for file in collector.files:
        person = resolve(file.who)
        key = f"id {person}" if person else f"name {file.student}"
        students.setdefault(key, {}).setdefault(file.module.name, []).append(file)
    found: list[SubmissionRef] = []
    lines = list(collector.lines)
    for key, work in students.items():
        certain = key.startswith("id ") or alone
        if not alone and (doubt := _two_people(work)):
            lines += [_line("skipped", file, doubt) for files in work.values() for file in files]
            continue
        for name, files in work.items():
            if module is not None and name != module.name:
                lines += [_line("not work", file, f"is for {name}, not for {module.name}") for file in files]
                continue
            choice = attempts.choose(files, policy, known=certain or _is_mapped(files), alone=alone)
            if choice.undecided:
                lines += [_line("skipped", file, ": ".join(choice.undecided)) for file in files]
                continue
            labels = attempts.labels(choice.counting)
            for one, label in zip(choice.counting, labels, strict=True):
                known = max(choice.attempts, one.earlier + 1)
                found.append(SubmissionRef(one, _other_modules(one, work), known, label))
                lines.append(_line("graded", one, "", label))
            lines += [_loser_line(*one, policy=policy, certain=certain) for one in choice.losers]
    helped = {who.label for line in lines if line.fate == "graded" for who in line.who}
    lines += [_helper_line(helper, helped, resolve) for helper in collector.helpers]
    found.sort(key=lambda one: (one.module, one.student, one.piece.handed_in or 0.0, one.attempt))
    return FoundSubmissions(found, one_each(lines), tuple(collector.notes))


def _two_people(work: _FilesByModule) -> str:
    """Say why work that seems to be one student's may be that of two: the platform has two numbers for them."""
    who = [file.who for files in work.values() for file in files if not file.mapped]
    for kind in _NUMBERS:
        numbers = sorted({number for one in who for number in one.all(kind)})
        if len(numbers) > 1:
            return f"{who[0].label} is on the roster once, but the platform has {len(numbers)} of that name. Use --map"
    return ""


def _line(fate: Fate, file: SubmittedFile, reason: str, attempt: str = "") -> FileLine:
    who = (file.who,)
    return FileLine(fate, file.origin, reason, who, file.module.name, file.handed_in, file.late, attempt)


def _loser_line(
    loser: SubmittedFile, winner: SubmittedFile, reason: str, *, policy: Policy | None, certain: bool
) -> FileLine:
    # Within one class folder it is an older draft. Across two it may be two people with the same name.
    if policy is None and not certain and loser.root != winner.root:
        return _line("skipped", loser, reason)
    if loser.fit < winner.fit and attempts.same_attempt(loser, winner):
        return _line("not work", loser, f"is beside {winner.below.name}, which has the name of the module")
    return _line("not counted", loser, reason)


def _helper_line(helper: Helper, graded: set[str], resolve: Resolve) -> FileLine:
    """Return the line of a file without a module: a helper if its student has other work, or else lost work."""
    who = helper.who
    if helper.container and not any(map(resolve, who)):
        who = (helper.container,)
    fate: Fate = "not work" if helper.harmless and any(one.label in graded for one in who) else "skipped"
    return FileLine(fate, helper.path, helper.reason, who)


def _is_mapped(files: Sequence[SubmittedFile]) -> bool:
    return all(file.mapped for file in files)


def _other_modules(file: SubmittedFile, work: _FilesByModule) -> tuple[SubmittedFile, ...]:
    """Return the student's other modules: of the same attempt, or else the latest."""
    beside = []
    for name, files in work.items():
        if name != file.module.name:
            together = [one for one in files if attempts.same_attempt(one, file)]
            beside.append(attempts.latest(attempts.counting_files(together or files)))
    return tuple(beside)
