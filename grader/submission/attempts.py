"""Which of a student's files for a module counts: one file of each attempt, and one or all of the attempts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grader.core.safe_text import plain_name
from grader.submission.archive import SCRIPT, UnreadableError
from grader.submission.submission import SubmittedFile

Policy = Literal["latest", "best"]
SEVERAL_FOLDERS = "if these are attempts, use --policy. If they are students, grade the folder that contains them"
SAME_TIME = "cannot tell which is the latest: their times are unknown. Keep only one, or use --policy best"
# Folders that students make for attempts: try2, v3, final, old, 2026-10-01, 3. A longer number may be a student's id.
_ATTEMPT = re.compile(
    r"(?:(?:try|attempt|version|v|rev|draft|submission|submit|hand[ _-]?in|upload|part|final|old|new|resub\w*|backup)"
    r"[\d._ -]*|\d{1,2}(?:[._ -]\d{1,2}){0,2}|(?:19|20)\d\d[._ -]?\d\d[._ -]?\d\d[\d._ -]*)?"
    r"[ _-]*(?:final|old|new)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Choice:
    """The files that count, the attempts there are, and for each other file the one that counts instead and why."""

    counting: tuple[SubmittedFile, ...]
    attempts: int
    losers: tuple[tuple[SubmittedFile, SubmittedFile, str], ...] = ()
    undecided: tuple[str, str] | None = None  # what cannot be decided, and what to do


def choose(files: Sequence[SubmittedFile], policy: Policy | None, *, known: bool, alone: bool) -> Choice:
    """Decide which of one student's files for one module count.

    `known` says that the student is certain: they are on the roster, or named by --student or --map. `alone` says that
    everything is one student's, so that no file can be another student's.
    """
    student, module = files[0].student, files[0].module.name
    folders = _several_folders(files)
    if policy is None and folders and not known and not all(map(_ATTEMPT.fullmatch, folders)):
        where = f"{student} has {module} in several folders ({', '.join(folders[:4])})"
        return Choice((), 0, undecided=(where, SEVERAL_FOLDERS))
    attempts = counting_files(files)
    if policy == "best":
        counting: tuple[SubmittedFile, ...] = tuple(attempts)
    else:
        last, sure = _last(attempts)
        if policy is None and not sure and not alone:
            where = f"{student} has {len(attempts)} attempts at {module} ({', '.join(map(_label, attempts[:4]))})"
            return Choice((), len(attempts), undecided=(where, SAME_TIME))
        counting = (last,)
    losers = [file for file in files if not any(file is one for one in counting)]
    return Choice(counting, len(attempts), tuple((loser, *_instead(loser, counting)) for loser in losers))


def counting_files(files: Sequence[SubmittedFile]) -> list[SubmittedFile]:
    """Return the file that counts of each attempt: the one changed last, or the script if both have the same time.

    Badly named files do not count beside well named ones. What a platform calls an attempt is one, whatever its files
    are called. The untouched stub does not count beside another file.
    """
    fit = max(file.fit for file in files)
    attempts: dict[tuple[int, str], list[SubmittedFile]] = {}
    for file in files:
        if file.fit == fit or file.order or file.handed_in is not None:
            attempts.setdefault((file.root, file.attempt), []).append(file)
    return [_counting(group) for group in attempts.values()]


def _counting(group: Sequence[SubmittedFile]) -> SubmittedFile:
    fit = max(file.fit for file in group)
    best = [file for file in group if file.fit == fit]
    worked_on = [file for file in best if not _is_untouched(file)] if len(best) > 1 else best
    return max(worked_on or best, key=lambda it: (it.modified, _is_script(it), it.order))


def _is_untouched(file: SubmittedFile) -> bool:
    """Whether a script is the stub, as the student got it."""
    if not _is_script(file):
        return False
    try:
        return file.data().split() == file.module.stub.read_bytes().split()
    except (UnreadableError, OSError):  # reading it later reports the problem
        return False


def latest(attempts: Sequence[SubmittedFile]) -> SubmittedFile:
    """Return the attempt that was handed in last."""
    return _last(attempts)[0]


def labels(counting: Sequence[SubmittedFile]) -> list[str]:
    """Return a different label for each of several attempts. A single attempt has an empty label."""
    if len(counting) == 1:
        return [""]
    found: list[str] = []
    for file in counting:
        name = _label(file)
        found.append(name if name not in found else f"{name} ({len(found) + 1})")
    return found


def same_attempt(one: SubmittedFile, other: SubmittedFile) -> bool:
    """Whether two files belong together."""
    return (one.root, one.attempt) == (other.root, other.attempt)


def _last(attempts: Sequence[SubmittedFile]) -> tuple[SubmittedFile, bool]:
    """Return the latest attempt, and whether that is certain.

    By the times of submission if all are known, then by the platform's numbers, then by the times of the files.
    """
    by_time = [file.handed_in for file in attempts]
    for keys in (by_time, [file.order or None for file in attempts], [file.arrived or None for file in attempts]):
        known = [key for key in keys if key is not None]
        if len(known) == len(attempts) and len(set(map(repr, known))) == len(known):
            return max(zip(known, attempts, strict=True), key=lambda it: it[0])[1], True
    best = max(attempts, key=lambda it: (it.handed_in or 0.0, it.arrived, it.modified, _is_script(it), it.order))
    return best, len(attempts) == 1


def _instead(loser: SubmittedFile, counting: Sequence[SubmittedFile]) -> tuple[SubmittedFile, str]:
    """Return the file that counts instead, and why."""
    winner = next((one for one in counting if same_attempt(one, loser)), None) or latest(counting)
    return winner, f"{winner.origin} counts for {loser.student} instead"


def _several_folders(files: Sequence[SubmittedFile]) -> list[str]:
    """Return the folders that have one student's module, if there are several and none is the student's own."""
    folders = {file.attempt for file in files if not file.member and not file.problem and not file.order}
    return sorted(folders) if len(folders) > 1 and "" not in folders else []


def _label(file: SubmittedFile) -> str:
    return plain_name(file.attempt) or "own folder"


def _is_script(file: SubmittedFile) -> bool:
    return file.below.suffix == SCRIPT
