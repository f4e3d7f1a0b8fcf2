"""The platforms: which of them exported a class, known from the names of its files. A new one is a line here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.submission.archive import UnreadableError, read_file
from grader.submission.identity import Claim, Importer
from grader.submission.importers import blackboard, brightspace, canvas, gradescope, moodle, sakai
from grader.submission.importers.github_classroom import clones_of, is_container
from grader.submission.importers.nbgrader import Nbgrader
from grader.submission.source import Source

MAX_MANIFEST = 64 << 20
_BROWSER_COPY = r"(?: ?\(\d+\))?"  # the second download of a file is called `submissions (1).zip`


@dataclass(frozen=True)
class PlatformExport:
    """The archive of a class that a platform offers for download.

    A file name begins with what the platform knows about the student. What the student chose comes last. The patterns
    read from the left and allow no separator in a student's name, so a file name cannot claim to be another student's.
    Where the names of a class say more than one name does, `for_class` returns the importer.
    """

    importer: Importer
    zip_name: re.Pattern[str]
    is_manifest: Callable[[PurePosixPath], bool] | None = None
    for_class: Callable[[Sequence[PurePosixPath], Path | None], Importer] | None = None

    @property
    def platform(self) -> str:
        """The name of the platform."""
        return self.importer.platform

    def of(self, names: Sequence[PurePosixPath], folder: Path | None = None) -> Importer:
        """Return the importer for a class with these names; the folder that has the files may say more."""
        return self.for_class(names, folder) if self.for_class else self.importer

    def students(self, names: Sequence[PurePosixPath]) -> set[str]:
        """Return the students in an archive with these names."""
        importer = self.of(names)
        claims = [claim for name in names if isinstance(claim := importer.claim(name), Claim)]
        return {who.label for claim in claims for who in claim.who}

    def wrote(self, zip_stem: str, names: Sequence[PurePosixPath]) -> bool:
        """Whether an archive is unmistakably from this platform.

        Its name and every name in it follow the platform's scheme, and it has the platform's manifest or, where there
        is none, at least two students.
        """
        enough = sum(map(self.is_manifest, names)) == 1 if self.is_manifest else len(self.students(names)) > 1
        named = re.fullmatch(f"(?:{self.zip_name.pattern}){_BROWSER_COPY}", zip_stem)
        return bool(enough and named) and all(map(self.of(names).claim, names))


PLATFORM_EXPORTS = (
    PlatformExport(canvas.Canvas(), canvas.ZIP_NAME),
    PlatformExport(moodle.Moodle(), moodle.ZIP_NAME),
    PlatformExport(blackboard.Blackboard(), blackboard.ZIP_NAME, for_class=blackboard.blackboard_of),
    PlatformExport(brightspace.Brightspace(), brightspace.ZIP_NAME, for_class=brightspace.brightspace_of),
    PlatformExport(sakai.Sakai(), sakai.ZIP_NAME, for_class=sakai.sakai_of),
    PlatformExport(gradescope.Gradescope({}), gradescope.ZIP_NAME, gradescope.is_manifest),
)
_BY_NAME = tuple(one for one in PLATFORM_EXPORTS if one.is_manifest is None)


def export_of(zip_stem: str, names: Sequence[PurePosixPath]) -> PlatformExport | None:
    """Return the platform that made an archive, if its name and all names in it leave no doubt."""
    return next((one for one in PLATFORM_EXPORTS if one.wrote(zip_stem, names)), None)


def likely_export(names: Sequence[PurePosixPath]) -> PlatformExport | None:
    """Return the platform whose naming most of these files follow; None if none of them follows any."""
    wrapped = len({name.parts[0] for name in names}) == 1 and all(len(name.parts) > 1 for name in names)
    inside = [PurePosixPath(*name.parts[1:]) for name in names] if wrapped else []
    counts = [sum(one.importer.claim(name) is not None for name in (*names, *inside)) for one in PLATFORM_EXPORTS]
    return PLATFORM_EXPORTS[counts.index(max(counts))] if any(counts) else None


def importers_for(source: Source, is_module: Callable[[str], bool]) -> tuple[list[Importer], tuple[str, str] | None]:
    """Return the importers that may know the files of a class, and metadata that cannot be read, with the reason."""
    assert source.folder is not None
    files = [entry for entry in source.entries if entry.kind == "file"]
    manifest = next((entry for entry in files if gradescope.is_manifest(entry.name)), None)
    if manifest is not None:
        try:
            return [gradescope.read_metadata(read_file(manifest.place, limit=MAX_MANIFEST).data)], None
        except UnreadableError as error:
            problem = f"{error}, so the students are not known. Use --map, with the folders of the export"
            return [gradescope.Gradescope({})], (manifest.shown, problem)
    importers: list[Importer] = [Nbgrader(source.name, source.folder, is_module)]
    if clones := clones_of(source.name, source.folder, is_module):
        importers.append(clones)
    names = [entry.name for entry in files]
    importers += [one.of(names, source.folder) for one in _BY_NAME]
    return importers, None


def is_wrapper(name: str, inside: Sequence[str]) -> bool:
    """Whether a folder only wraps the files of a platform, as when an export was unpacked and zipped again.

    Other files may be among them, such as the teacher's notes, but no more than those of the platform.
    """
    if is_container(name):
        return True
    names = [path for entry in inside for path in (PurePosixPath(entry), PurePosixPath(entry, "x"), _attached(entry))]
    importers = [one.of(names) for one in _BY_NAME]
    named = [any(one.claim(path) for one in importers for path in names[at : at + 3]) for at in range(0, len(names), 3)]
    return sum(named) * 2 > len(named)


def _attached(folder: str) -> PurePosixPath:
    """Return where the file of a student of Sakai would be."""
    return PurePosixPath(folder, "Submission attachment(s)", "x")
