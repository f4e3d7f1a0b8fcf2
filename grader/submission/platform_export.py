"""The zips of a class that learning platforms offer for download, recognised by the names in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_BROWSER_COPY = r"(?: ?\(\d+\))?"  # the second download of a file is called `submissions (1).zip`
_DATE = r"\d{4}(?:-\d\d){5}"
# Canvas calls the second hand-in of a file `softmax-1.py`.
_CANVAS_AGAIN = re.compile(r"-\d+(?=\.\w+$)")


@dataclass(frozen=True)
class PlatformExport:
    """How a platform names its zip and the files in it.

    A file name begins with what the platform knows about the student. What the student chose comes last. The patterns
    read from the left and allow no separator in a student's name, so a file name cannot claim to be another student's.
    """

    platform: str
    zip_name: re.Pattern[str]
    entry: re.Pattern[str]
    student: str  # made from the groups of `entry`
    manifest: re.Pattern[str] | None = None

    def place(self, name: PurePosixPath) -> PurePosixPath | None:
        """Return where a file belongs, as <student>/<attempt>/<file>; None if the platform did not name it."""
        match = self.entry.fullmatch(str(name))
        if match is None:
            return None
        groups = match.groupdict()
        file = PurePosixPath(groups.get("file") or "no file")
        if file.is_absolute() or ".." in file.parts:  # such as `ana_1_2_..\x.py`: only a student names a file like this
            return None
        file = file.with_name(_CANVAS_AGAIN.sub("", file.name)) if self.platform == "Canvas" else file
        return PurePosixPath(self.student.format(**groups), groups.get("attempt") or "", file)

    def students(self, names: Iterable[PurePosixPath]) -> set[str]:
        """Return the students in a zip with these names."""
        return {placed.parts[0] for name in names if (placed := self.place(name))}

    def is_manifest(self, name: PurePosixPath) -> bool:
        """Whether this is the platform's own list of the submissions."""
        return self.manifest is not None and self.manifest.fullmatch(str(name)) is not None

    def wrote(self, zip_stem: str, names: Sequence[PurePosixPath]) -> bool:
        """Whether a zip is unmistakably from this platform.

        Its name and every name in it follow the platform's scheme, and it has the platform's manifest or, where there
        is none, at least two students.
        """
        manifests = sum(map(self.is_manifest, names))
        enough = manifests == 1 if self.manifest else len(self.students(names)) > 1
        named = all(self.is_manifest(name) or self.place(name) for name in names)
        return enough and named and self.zip_name.fullmatch(zip_stem) is not None


def _export(platform: str, zip_name: str, entry: str, student: str, manifest: str = "") -> PlatformExport:
    listed = re.compile(manifest) if manifest else None
    return PlatformExport(platform, re.compile(zip_name + _BROWSER_COPY), re.compile(entry), student, listed)


PLATFORM_EXPORTS = (
    # silvaana_101_5551_softmax.py, silvaana_LATE_101_5551_softmax.py, silvaana_101_text.html
    _export(
        "Canvas",
        "submissions",
        r"(?P<name>[^\W_][^_/]*)(?:_LATE)?_(?P<id>\d+)_(?:(?P<attempt>\d+)_(?P<file>[^/]+)|(?:text|link)\.html)",
        "{name} (Canvas {id})",
    ),
    # Ana Silva_123_assignsubmission_file_/softmax.py, or without the folder
    _export(
        "Moodle",
        r".+-\d+",
        r"(?P<name>[^\W_][^_/]*)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_/|/|_)(?P<file>.+)",
        "{name} (Moodle {id})",
    ),
    # Week 1_asilva_attempt_2026-10-01-12-00-00_softmax.py, and a .txt without a file name about each attempt
    _export(
        "Blackboard",
        rf"gradebook_.+_{_DATE}",
        rf"[^/]+?_(?P<name>[A-Za-z0-9][A-Za-z0-9.@-]*)_attempt_(?P<attempt>{_DATE})(?:_(?P<file>.+)|\.txt)",
        "{name}",
    ),
    # assignment_12_export/submission_34/softmax.py: only the manifest says who submission_34 is
    _export(
        "Gradescope",
        r"assignment_\d+_export|submissions",
        r"assignment_\d+_export/(?P<name>submission_\d+)/(?P<file>.+)",
        "{name}",
        r"assignment_\d+_export/submission_metadata\.yml",
    ),
)


def export_of(zip_stem: str, names: Sequence[PurePosixPath]) -> PlatformExport | None:
    """Return the platform that made a zip, if its name and all names in it leave no doubt."""
    return next((one for one in PLATFORM_EXPORTS if one.wrote(zip_stem, names)), None)


def likely_export(names: Sequence[PurePosixPath]) -> PlatformExport | None:
    """Return the platform whose naming most of these files follow; None if none of them follows any."""
    counts = {one: sum(one.place(name) is not None for name in names) for one in PLATFORM_EXPORTS}
    best = max(PLATFORM_EXPORTS, key=lambda one: counts[one])
    return best if counts[best] else None
