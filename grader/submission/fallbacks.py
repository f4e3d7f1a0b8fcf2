"""Fallbacks: the course's files that stand in for a student's earlier modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.core.report import EarlierModule
from grader.course.course import Course
from grader.course.module import FOLDER, Module, read_text
from grader.submission.own_file import is_untouched
from grader.submission.submission import Source, Submission, own_submission

MISSING = "is missing"


def with_fallbacks(course: Course, module: Module, submission: Submission, why: Mapping[str, str]) -> Submission:
    """Return a submission in which fallbacks stand in for some earlier modules; `why` says the reason by slug.

    All others that are missing get theirs, too. The submission says which module is whose.
    """
    sources = dict(submission.sources)
    reasons = {slug: why.get(slug, "" if slug in sources else MISSING) for slug in module.fallback}
    for slug, path in module.fallbacks.items():
        if reasons[slug]:
            # No file of a student may be taken for the course's own.
            name = f"{path.name} of {module.name}"
            while any(name == one.file for one in submission.sources.values()):
                name += "_"
            sources[slug] = Source(name, (read_text(path),), notebook=False, given=True)
    used = tuple(
        EarlierModule(_name(course, module, slug), "fallback" if reason else "own", reason)
        for slug, reason in reasons.items()
    )
    return replace(submission, sources=sources, builds_on=used)


def own_with_fallbacks(course: Course, module: Module) -> Submission:
    """Return a student's own work on a module, with fallbacks for earlier modules that are missing or not begun."""
    stubs = [one.slug for one in course.modules if one.slug in module.fallback and is_untouched(one)]
    return with_fallbacks(course, module, own_submission(course, module), dict.fromkeys(stubs, "is not written yet"))


def _name(course: Course, module: Module, slug: str) -> str:
    """Return the name of an earlier module, which a bundle need not have."""
    known = [*(one.name for one in course.modules), *module.requires]
    return next((name for name in known if (found := FOLDER.fullmatch(name)) and found[2] == slug), f"00_{slug}")
