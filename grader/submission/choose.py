"""CHOOSE, the third step: which attempt counts, and what became of every other file?

One file of each attempt at a module counts, and one or all of the attempts. Then every file has a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from grader.core.safe_text import plain_name
from grader.course.module import Module
from grader.submission.archive import SCRIPT, UnreadableError
from grader.submission.claim import Claims, Helper
from grader.submission.found import FATES, Fate, FileLine, FoundSubmissions
from grader.submission.identity import Identity, KeyKind
from grader.submission.module_names import NBGRADER, SIMILAR
from grader.submission.submission import SubmissionRef, SubmittedFile

Policy = Literal["latest", "best"]
# Returns the id of a student on the roster, or None. Two identities with one id are one person.
Resolve = Callable[[Identity], str | None]
_NUMBERS: tuple[KeyKind, ...] = ("canvas", "moodle")  # a platform's own: one for each student
_FilesByModule = dict[str, list[SubmittedFile]]  # one student's files, by module
SEVERAL_FOLDERS = "if these are attempts, use --policy. If they are students, grade the folder that contains them"
SAME_TIME = "cannot tell which is the latest: their times are unknown. Keep only one, or use --policy best"
WHOSE = "cannot tell whose they are: {}. If all are one student's, add --student NAME, or else use --map"
_SAME_TIME_S = 2.0  # a zip stores times to two seconds
# Folders that students make for attempts: try2, v3, final, old, 2026-10-01, 3. A longer number may be a student's id.
_ATTEMPT = re.compile(
    r"(?:(?:try|attempt|version|v|rev|draft|submission|submit|hand[ _-]?in|upload|part|final|old|new|resub\w*|backup)"
    r"[\d._ -]*|\d{1,2}(?:[._ -]\d{1,2}){0,2}|(?:19|20)\d\d[._ -]?\d\d[._ -]?\d\d[\d._ -]*)?"
    r"[ _-]*(?:final|old|new)?",
    re.IGNORECASE,
)


def choose(
    claims: Sequence[Claims], module: Module | None, policy: Policy | None, resolve: Resolve | None, *, alone: bool
) -> FoundSubmissions:
    """Decide which files count, and say what became of each. `alone` says that everything is one student's."""
    resolve = resolve or (lambda _: None)
    lines = [line for one in claims for line in one.lines]
    found: list[SubmissionRef] = []
    for person in _people((file for one in claims for file in one.files), resolve, alone=alone):
        for decided in _settled(person, module, policy, alone=alone):
            if isinstance(decided, SubmissionRef):
                found.append(decided)
            else:
                lines.append(decided)
    graded = {who.label for line in lines if line.fate == "graded" for who in line.who}
    lines += [_helper_line(helper, graded, resolve) for one in claims for helper in one.helpers]
    found.sort(key=lambda one: (one.module, one.student, one.piece.attempt.handed_in or 0.0, one.attempt))
    return FoundSubmissions(found, _one_each(lines), tuple(note for one in claims for note in one.notes))


@dataclass(frozen=True)
class _Person:
    """One student's files, by module. It is certain who they are if the roster or --student says it."""

    certain: bool
    work: _FilesByModule


def _people(files: Iterable[SubmittedFile], resolve: Resolve, *, alone: bool) -> list[_Person]:
    """Return the files of each person."""
    people: dict[str, _Person] = {}
    for file in files:
        known = resolve(file.who)
        key = f"id {known}" if known else f"name {file.student}"
        person = people.setdefault(key, _Person(bool(known) or alone, {}))
        person.work.setdefault(file.module.name, []).append(file)
    return list(people.values())


def _settled(
    person: _Person, module: Module | None, policy: Policy | None, *, alone: bool
) -> Iterator[SubmissionRef | FileLine]:
    """Yield the submissions of a person that count, and a line for each of their files."""
    if not alone and (doubt := _two_people(person.work)):
        yield from (_line("skipped", file, doubt) for files in person.work.values() for file in files)
        return
    for name, files in person.work.items():
        if module is not None and name != module.name:
            yield from (_line("not work", file, f"is for {name}, not for {module.name}") for file in files)
            continue
        known = person.certain or all(file.whose == "mapped" for file in files)
        choice = _choice(files, policy, known=known, alone=alone)
        if choice.undecided:
            yield from (_line("skipped", file, choice.undecided) for file in files)
            continue
        for file, label in zip(choice.counting, _labels(choice.counting), strict=True):
            attempts = max(choice.attempts, file.attempt.earlier + 1)
            yield SubmissionRef(file, _other_modules(file, person.work), attempts, label)
            yield _line("graded", file, file.note, label)
        for loser in choice.losers:
            winner = _winner(loser, choice.counting)
            yield _loser_line(loser, winner, sure=policy is not None or person.certain)


def _two_people(work: _FilesByModule) -> str:
    """Say why work that seems to be one student's may be that of two: the platform has two numbers for them."""
    who = [file.who for files in work.values() for file in files if file.whose != "mapped"]
    for kind in _NUMBERS:
        numbers = {number for one in who for number in one.all(kind)}
        if len(numbers) > 1:
            return f"{who[0].label} is on the roster once, but the platform has {len(numbers)} of that name. Use --map"
    return ""


def _line(fate: Fate, file: SubmittedFile, reason: str, label: str = "") -> FileLine:
    attempt = file.attempt
    origin = file.location.origin
    return FileLine(fate, origin, reason, (file.who,), file.module.name, attempt.handed_in, attempt.late, label)


def _loser_line(loser: SubmittedFile, winner: SubmittedFile, *, sure: bool) -> FileLine:
    """Return the line of a file that does not count. It is skipped if it may be another person's."""
    # Within one class folder it is an older draft. Across two it may be two people with the same name.
    another = not sure and loser.attempt.root != winner.attempt.root
    together = loser.attempt.key == winner.attempt.key
    if not another and together and not _is_named(loser) and _is_named(winner):
        return _line("not work", loser, f"is beside {winner.location.below.name}, which has the name of the module")
    reason = f"{winner.location.origin} counts for {loser.student} instead"
    why = _why_in_attempt(loser, winner) if together else _why_of_attempts(loser, winner)
    return _line("skipped" if another else "not counted", loser, f"{reason}: {why}" if why else reason)


def _why_in_attempt(loser: SubmittedFile, winner: SubmittedFile) -> str:
    """Return why another file of the same attempt counts: see `_counting`."""
    if _is_untouched(loser):
        return "this is the stub as it was given out"
    if _content(loser) == _content(winner):
        return "both have the same content"
    if loser.fit < winner.fit == NBGRADER:
        return "it is the notebook that nbgrader gave out"
    if winner.modified - loser.modified > _SAME_TIME_S:
        return "it was changed later"
    if _is_script(winner) and not _is_script(loser):
        return "both have the same time, and a script counts before a notebook"
    if winner.attempt.order > loser.attempt.order:
        return "both have the same time, and the platform numbers it later"
    return "both have the same time, and it has the name of the module" if winner.fit > loser.fit else ""


def _why_of_attempts(loser: SubmittedFile, winner: SubmittedFile) -> str:
    """Return why another attempt counts: see `_last`."""
    first, last = loser.attempt, winner.attempt
    if first.handed_in is not None and last.handed_in is not None and first.handed_in < last.handed_in:
        return "it was handed in later"
    if first.order and last.order and first.order < last.order:
        return "it is the later attempt"
    return "its file is newer" if first.arrived < last.arrived else ""


def _helper_line(helper: Helper, graded: set[str], resolve: Resolve) -> FileLine:
    """Return the line of a file without a module: a helper if its student has other work, or else lost work."""
    who = helper.who
    if helper.container and not any(map(resolve, who)):
        who = (helper.container,)
    fate: Fate = "not work" if helper.harmless and any(one.label in graded for one in who) else "skipped"
    return FileLine(fate, helper.path, helper.reason, who)


def _one_each(lines: Iterable[FileLine]) -> tuple[FileLine, ...]:
    """Return one line for each file: a group's file has one for each member. Graded comes first."""
    found: dict[str, FileLine] = {}
    for line in lines:
        before = found.get(line.path)
        if before is None:
            found[line.path] = line
            continue
        first, second = sorted((before, line), key=lambda one: FATES.index(one.fate))
        more = tuple(who for who in second.who if who not in first.who) if first.fate == second.fate else ()
        found[line.path] = replace(first, who=(*first.who, *more))
    return tuple(found.values())


def _other_modules(file: SubmittedFile, work: _FilesByModule) -> tuple[SubmittedFile, ...]:
    """Return the student's other modules: of the same attempt, or else the latest."""
    beside = []
    for name, files in work.items():
        if name != file.module.name:
            together = [one for one in files if one.attempt.key == file.attempt.key]
            beside.append(_last(_attempts(together or files))[0])
    return tuple(beside)


@dataclass(frozen=True)
class _Choice:
    """Of one student's files for one module, those that count and the others; or why that cannot be decided."""

    counting: tuple[SubmittedFile, ...] = ()
    losers: tuple[SubmittedFile, ...] = ()
    attempts: int = 0
    undecided: str = ""


def _choice(files: Sequence[SubmittedFile], policy: Policy | None, *, known: bool, alone: bool) -> _Choice:
    """Decide which of one student's files for one module count. `known` says that the student is certain."""
    student, module = files[0].student, files[0].module.name
    if not known and (loose := _loose_copies(files)):
        return _Choice(undecided=WHOSE.format(", ".join(loose)))
    folders = _several_folders(files)
    if policy is None and folders and not known and not all(map(_ATTEMPT.fullmatch, folders)):
        where = f"{student} has {module} in several folders ({', '.join(folders[:4])})"
        return _Choice(undecided=f"{where}: {SEVERAL_FOLDERS}")
    attempts = _attempts(files)
    counting = attempts
    if policy != "best":
        last, sure = _last(attempts)
        if policy is None and not sure and not alone:
            where = f"{student} has {len(attempts)} attempts at {module} ({', '.join(map(_label, attempts[:4]))})"
            return _Choice(undecided=f"{where}: {SAME_TIME}")
        counting = [last]
    losers = [file for file in files if not any(file is one for one in counting)]
    return _Choice(tuple(counting), tuple(losers), len(attempts))


def _loose_copies(files: Sequence[SubmittedFile]) -> list[str]:
    """Return the names of several files that lie together in a folder that is no student's, if they differ.

    They may be the attachments of several people's e-mails: `sort.py`, `sort (1).py`.
    """
    loose = [file for file in files if file.whose == "loose" and _is_named(file) and not _is_untouched(file)]
    copies = [file for file in loose if file.fit == SIMILAR]
    differ = len({_content(file) for file in loose}) > 1
    return [file.location.below.name for file in loose] if copies and differ else []


def _attempts(files: Sequence[SubmittedFile]) -> list[SubmittedFile]:
    """Return the file that counts of each attempt.

    Badly named files do not count beside well named ones. What a platform calls an attempt is one, whatever its files
    are called.
    """
    best = max(map(_rank, files))
    attempts: dict[tuple[int, str], list[SubmittedFile]] = {}
    for file in files:
        if _rank(file) == best or file.attempt.order or file.attempt.handed_in is not None:
            attempts.setdefault(file.attempt.key, []).append(file)
    return [_counting(group) for group in attempts.values()]


def _counting(group: Sequence[SubmittedFile]) -> SubmittedFile:
    """Return the file of one attempt that counts.

    The untouched stub does not count beside another file. Of several files, the one changed last counts; of those with
    one time, a script before a notebook, then the platform's later number, then the module's own name before a copy's.
    """
    best = max(map(_rank, group))
    named = [file for file in group if _rank(file) == best]
    worked_on = [file for file in named if not _is_untouched(file)] if len(named) > 1 else named
    files = worked_on or named
    newest = max(file.modified for file in files)
    latest = [file for file in files if newest - file.modified <= _SAME_TIME_S]
    return max(latest, key=lambda it: (_is_script(it), it.attempt.order, it.fit, it.modified))


def _rank(file: SubmittedFile) -> int:
    """Return how well a file fits its module, where `sort (1).py` fits as well as `sort.py`."""
    return SIMILAR if NBGRADER > file.fit >= SIMILAR else file.fit


def _is_named(file: SubmittedFile) -> bool:
    """Whether a file has the name of its module, apart from what programs change in it."""
    return file.fit >= SIMILAR


def _content(file: SubmittedFile) -> bytes:
    try:
        return file.data()
    except (UnreadableError, OSError):  # reading it later reports the problem
        return b""


def _is_untouched(file: SubmittedFile) -> bool:
    """Whether a script is the stub, as the student got it."""
    if not _is_script(file):
        return False
    try:
        return file.data().split() == file.module.stub.read_bytes().split()
    except (UnreadableError, OSError):  # reading it later reports the problem
        return False


def _labels(counting: Sequence[SubmittedFile]) -> list[str]:
    """Return a different label for each of several attempts. A single attempt has an empty label."""
    if len(counting) == 1:
        return [""]
    found: list[str] = []
    for file in counting:
        name = _label(file)
        found.append(name if name not in found else f"{name} ({len(found) + 1})")
    return found


def _last(attempts: Sequence[SubmittedFile]) -> tuple[SubmittedFile, bool]:
    """Return the latest attempt, and whether that is certain.

    By the times of submission if all are known, then by the platform's numbers, then by the times of the files.
    """
    by_time = [file.attempt.handed_in for file in attempts]
    by_number = [file.attempt.order or None for file in attempts]
    by_disk = [file.attempt.arrived or None for file in attempts]
    for keys in (by_time, by_number, by_disk):
        known = [key for key in keys if key is not None]
        if len(known) == len(attempts) and len(set(map(repr, known))) == len(known):
            return max(zip(known, attempts, strict=True), key=lambda it: it[0])[1], True
    return max(attempts, key=_when), len(attempts) == 1


def _when(file: SubmittedFile) -> tuple[object, ...]:
    attempt = file.attempt
    return attempt.handed_in or 0.0, attempt.arrived, file.modified, _is_script(file), attempt.order


def _winner(loser: SubmittedFile, counting: Sequence[SubmittedFile]) -> SubmittedFile:
    """Return the file that counts instead."""
    return next((one for one in counting if one.attempt.key == loser.attempt.key), None) or _last(counting)[0]


def _several_folders(files: Sequence[SubmittedFile]) -> list[str]:
    """Return the folders that have one student's module, if there are several and none is the student's own."""
    folders = {
        file.attempt.name for file in files if not file.location.member and not file.problem and not file.attempt.order
    }
    return sorted(folders) if len(folders) > 1 and "" not in folders else []


def _label(file: SubmittedFile) -> str:
    return plain_name(file.attempt.name) or "own folder"


def _is_script(file: SubmittedFile) -> bool:
    return file.location.below.suffix == SCRIPT
