"""Which platform exported a class, known from the names of its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from grader.submission.archive import UnreadableError, read_file
from grader.submission.importers import blackboard, canvas, gradescope, moodle
from grader.submission.importers.claim import Claim, Importer
from grader.submission.importers.github_classroom import clones_of, is_container
from grader.submission.importers.nbgrader import Nbgrader
from grader.submission.source import OpenedSource

MAX_MANIFEST = 64 << 20
_BROWSER_COPY = r"(?: ?\(\d+\))?"  # the second download of a file is called `submissions (1).zip`
BY_NAME: tuple[Importer, ...] = (canvas.Canvas(), moodle.Moodle(), blackboard.Blackboard())


@dataclass(frozen=True)
class PlatformExport:
    """The archive of a class that a platform offers for download.

    A file name begins with what the platform knows about the student. What the student chose comes last. The patterns
    read from the left and allow no separator in a student's name, so a file name cannot claim to be another student's.
    """

    importer: Importer
    zip_name: re.Pattern[str]
    is_manifest: Callable[[PurePosixPath], bool] | None = None

    @property
    def platform(self) -> str:
        """The name of the platform."""
        return self.importer.platform

    def students(self, names: Sequence[PurePosixPath]) -> set[str]:
        """Return the students in an archive with these names."""
        claims = [claim for name in names if isinstance(claim := self.importer.claim(name), Claim)]
        return {who.label for claim in claims for who in claim.who}

    def wrote(self, zip_stem: str, names: Sequence[PurePosixPath]) -> bool:
        """Whether an archive is unmistakably from this platform.

        Its name and every name in it follow the platform's scheme, and it has the platform's manifest or, where there
        is none, at least two students.
        """
        enough = sum(map(self.is_manifest, names)) == 1 if self.is_manifest else len(self.students(names)) > 1
        named = re.fullmatch(f"(?:{self.zip_name.pattern}){_BROWSER_COPY}", zip_stem)
        return bool(enough and named) and all(self.importer.claim(name) for name in names)


PLATFORM_EXPORTS = (
    PlatformExport(BY_NAME[0], canvas.ZIP_NAME),
    PlatformExport(BY_NAME[1], moodle.ZIP_NAME),
    PlatformExport(BY_NAME[2], blackboard.ZIP_NAME),
    PlatformExport(gradescope.Gradescope({}), gradescope.ZIP_NAME, gradescope.is_manifest),
)


def export_of(zip_stem: str, names: Sequence[PurePosixPath]) -> PlatformExport | None:
    """Return the platform that made an archive, if its name and all names in it leave no doubt."""
    return next((one for one in PLATFORM_EXPORTS if one.wrote(zip_stem, names)), None)


def likely_export(names: Sequence[PurePosixPath]) -> PlatformExport | None:
    """Return the platform whose naming most of these files follow; None if none of them follows any."""
    counts = [sum(one.importer.claim(name) is not None for name in names) for one in PLATFORM_EXPORTS]
    return PLATFORM_EXPORTS[counts.index(max(counts))] if any(counts) else None


def importers_for(
    source: OpenedSource, is_module: Callable[[str], bool]
) -> tuple[tuple[Importer, ...], tuple[str, str] | None]:
    """Return the importers that may know the files of a class, and metadata that cannot be read, with the reason."""
    manifest = next((file for file in source.files if gradescope.is_manifest(file.name)), None)
    if manifest is not None:
        try:
            return (gradescope.read_metadata(read_file(manifest.place, limit=MAX_MANIFEST).data),), None
        except UnreadableError as error:
            problem = f"{error}, so the students are not known. Use --map, with the folders of the export"
            return (gradescope.Gradescope({}),), (manifest.shown, problem)
    clones = clones_of(source.name, source.folder, is_module)
    by_name = (*BY_NAME[:-1], blackboard.blackboard_of(file.name for file in source.files))
    return (Nbgrader(source.name, source.folder, is_module), *((clones,) if clones else ()), *by_name), None


def is_wrapper(name: str, inside: Sequence[str]) -> bool:
    """Whether a folder only wraps the files of a platform, as when an export was unpacked and zipped again."""
    named = [
        any(one.claim(PurePosixPath(entry, "x")) or one.claim(PurePosixPath(entry)) for one in BY_NAME)
        for entry in inside
    ]
    return (bool(named) and all(named)) or is_container(name)
