"""The finder: from paths to submissions, in three steps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grader.course.course import Course
from grader.course.module import Module
from grader.submission.choose import Policy, Resolve, choose
from grader.submission.claim import claim_files
from grader.submission.found import FoundSubmissions
from grader.submission.module_names import ModuleNames
from grader.submission.name_map import NameMap
from grader.submission.open import Search, open_path


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
    claims = []
    for root, path in enumerate(paths):
        source = open_path(search, root, path)
        claims.append(claim_files(search, source))
    return choose(claims, module, policy, resolve, alone=student is not None)
