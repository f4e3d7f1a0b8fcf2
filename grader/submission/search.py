"""A search for submissions: what is known before anything is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from grader.submission.module_names import ModuleNames
from grader.submission.name_map import NameMap


@dataclass(frozen=True)
class Search:
    """The options of a search.

    With `student`, everything is the work of that student. With `class_zip`, each archive among the paths is a class.
    Otherwise an archive is a class only if it is the only path, there is a folder `scratch` to unpack it into, and
    beyond doubt a platform exported it. A zip inside a folder or an archive is always one student's work. With
    `file_times`, the times of files are those of the submissions.
    """

    names: ModuleNames
    scratch: Path | None = None
    student: str | None = None
    class_zip: bool = False
    single_path: bool = False
    file_times: bool = False
    name_map: NameMap = field(default_factory=NameMap)
