"""Gradescope: `assignment_12_export/submission_34/warm_up.py`, and `submission_metadata.yml` about all of them.

The metadata names the submitters of each folder (a group has several), the time, and the times of earlier attempts,
whose files are not in the export.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from grader.submission.archive import UnreadableError
from grader.submission.class_archive import MANIFEST
from grader.submission.identity import Claim, Identity, KeyKind, NotWork

PLATFORM = "Gradescope"
ZIP_NAME = re.compile(r"assignment_\d+_export|submissions")
_FOLDER = re.compile(r"(?P<base>(?:assignment_\d+_export/)?)(?P<submission>submission_\d+)/(?P<file>.+)")
_MANIFEST = re.compile(rf"(?:assignment_\d+_export/)?{re.escape(MANIFEST)}")
_KEYS: tuple[tuple[str, KeyKind], ...] = ((":sid", "id"), (":email", "email"), (":name", "name"))


@dataclass(frozen=True)
class _Submission:
    who: tuple[Identity, ...]
    handed_in: float | None
    earlier: int


@dataclass(frozen=True)
class Gradescope:
    """The files of a class that Gradescope exported."""

    submissions: Mapping[str, _Submission]
    platform: str = PLATFORM

    def claim(self, name: PurePosixPath) -> Claim | NotWork | None:
        """Return what the metadata says about the folder of a file."""
        if _MANIFEST.fullmatch(str(name)):
            return NotWork("is Gradescope's own list of the submissions")
        match = _FOLDER.fullmatch(str(name))
        if match is None or ".." in PurePosixPath(match["file"]).parts:
            return None
        known = self.submissions.get(match["submission"])
        label = match["submission"]
        who = known.who if known and known.who else (Identity(label, (("folder", label),)),)
        file = PurePosixPath(match["file"])
        if known is None:
            return Claim(who, file, listed=True)
        return Claim(who, file, handed_in=known.handed_in, earlier=known.earlier, listed=True)

    def missing(self, names: Iterable[PurePosixPath]) -> dict[str, tuple[Identity, ...]]:
        """Return the submissions in the metadata that have no file among these, with their submitters."""
        there = {match["submission"] for name in names if (match := _FOLDER.fullmatch(str(name)))}
        return {name: one.who for name, one in self.submissions.items() if name not in there}


def is_manifest(name: PurePosixPath) -> bool:
    """Whether this is the metadata of an export."""
    return _MANIFEST.fullmatch(str(name)) is not None


def read_metadata(data: bytes) -> Gradescope:
    """Return the importer for an export with this metadata; UnreadableError if it is not that of Gradescope."""
    found = _load(data)
    if not isinstance(found, dict):
        raise UnreadableError(f"{MANIFEST} is not a list of submissions")
    entries = {name: entry for name, entry in found.items() if isinstance(name, str) and isinstance(entry, dict)}
    return Gradescope({name: _submission(name, entry) for name, entry in entries.items()})


def _submission(name: str, entry: Mapping[Any, Any]) -> _Submission:
    people = entry.get(":submitters")
    submitters = [one for one in people if isinstance(one, dict)] if isinstance(people, list) else []
    who = tuple(one for submitter in submitters if (one := _identity(name, submitter)))
    history = entry.get(":history")
    return _Submission(who, _time(entry.get(":created_at")), len(history) if isinstance(history, list) else 0)


def _identity(submission: str, submitter: Mapping[Any, Any]) -> Identity | None:
    keys = tuple((kind, str(submitter[key]).strip()) for key, kind in _KEYS if submitter.get(key) not in (None, ""))
    if not keys:
        return None
    values = dict(keys)
    number = values.get("id") or values.get("email") or submission
    return Identity(f"{values.get('name') or number} (Gradescope {number})", keys)


def _time(value: Any) -> float | None:
    """Return a time of the metadata. YAML says that a time without a zone is in UTC."""
    if isinstance(value, dict):  # Ruby's time with a zone
        value = value.get("utc")
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def _load(data: bytes) -> Any:
    """Read YAML as plain data: text, numbers, times, lists and tables. Anything else in it makes no object."""
    try:
        import yaml  # only this importer needs it
    except ImportError:
        fix = "Run: python -m pip install 'attnlab[instructor]'"
        raise UnreadableError(f"{MANIFEST} cannot be read, because PyYAML is not installed. {fix}") from None

    class Plain(yaml.SafeLoader):  # type: ignore[misc] # yaml has no types
        """A safe loader that reads Ruby's own types as the data they hold."""

    def plain(loader: Any, _: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        return loader.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else node.value

    Plain.add_multi_constructor("!", plain)
    try:
        return yaml.load(data, Loader=Plain)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError) as error:
        raise UnreadableError(f"{MANIFEST} cannot be read as YAML ({type(error).__name__})") from None
