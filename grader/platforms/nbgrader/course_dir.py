"""A new nbgrader course directory, with a configuration that makes nbgrader grade through AttnLab."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from grader.classroom.lateness import LateError, read_penalty
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.platforms.nbgrader import CourseDirError

CONFIG = "nbgrader_config.py"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
# The configuration names classes and imports nothing. If a configuration raises, nbgrader continues with its defaults,
# and by default it would run the students' code. A name that it cannot import stops it.
_TEMPLATE = '''\
"""The nbgrader configuration of a course that AttnLab grades. `attn course init` wrote it; you may edit it."""

from pathlib import Path

c = get_config()  # noqa: F821 - nbgrader provides it

c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = {name!r}
{db}
# The folder with modules, solutions and hidden suites. Solutions and hidden suites are never copied into a student's
# notebook.
c.AttnLab.course = {course!r}
# c.AttnLab.allow_unjailed = True  # grade without a jail: only for code that you trust

# `nbgrader generate_assignment`: solutions become the same stubs as everywhere in AttnLab.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "grader.platforms.nbgrader.preprocessors.StubSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# `nbgrader autograde`, and formgrader's button: no notebook is executed. AttnLab reads the submission as untrusted
# data, grades it in its jail, and writes the scores to the gradebook.
c.Autograde.exporter_class = "grader.platforms.nbgrader.exporter.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "grader.platforms.nbgrader.preprocessors.AttnLab",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# The late penalty for each started period, in the form of `attn grade --late-penalty`. Without a rule there is none.
# Set due dates with `attn release --due` or in formgrader.
{late}

# Formgrader and feedback show the text of a student, but no browser runs it.
c.HTMLExporter.filters = {{"markdown2html": "grader.platforms.nbgrader.safe_markdown.markdown"}}
'''


def require_nbgrader() -> None:
    """Raise an error that says what to install if nbgrader, an extra for instructors, is missing."""
    if importlib.util.find_spec("nbgrader") is None:
        fix = "Run: python -m pip install 'attnlab[instructor]'"
        raise CourseDirError(f"nbgrader is not installed here. {fix}")


def init_course_dir(course: Course, root: Path, name: str = "", db: str = "", late: str = "") -> Path:
    """Make a course directory with its gradebook, completely or not at all; return the path of its configuration.

    `late` is the late penalty, such as 10%/day.
    """
    require_nbgrader()
    from grader.platforms.nbgrader.gradebook import make_gradebook

    root = root.resolve()
    name = name or root.name
    if not _NAME.fullmatch(name):
        raise CourseDirError(f"{name!r} cannot be the id of a course. With --id, use letters, digits, '_', '.' and '-'")
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise CourseDirError(f"{root} already exists. Name a new folder")
    if any(root.is_relative_to(course.root / part) for part in ("modules", "solutions", "tests", "grader", "cli")):
        raise CourseDirError(f"{root} is inside the course itself. Name another folder")
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=".course-") as temporary:
        made = Path(temporary) / "course"
        for step in ("source", "submitted"):
            (made / step).mkdir(parents=True)
        make_gradebook(db or f"sqlite:///{made / 'gradebook.db'}", name)
        line = f"c.CourseDirectory.db_url = {db!r}\n" if db else ""
        text = _TEMPLATE.format(name=name, course=str(course.root.resolve()), db=line, late=_late_lines(late))
        write_atomically(made / CONFIG, text, secret=bool(urlsplit(db).password))
        if root.exists():
            root.rmdir()
        made.rename(root)
    return root / CONFIG


def _late_lines(rule: str) -> str:
    """Return the configuration lines of the late penalty, as comments if there is no rule."""
    text = rule or "10%/day"
    try:
        read_penalty(text)
    except LateError as error:
        raise CourseDirError(str(error)) from None
    lines = (
        'c.AssignLatePenalties.plugin_class = "grader.platforms.nbgrader.late_plugin.LatePenalty"',
        f"c.LatePenalty.rule = {text!r}",
    )
    return "\n".join(line if rule else f"# {line}" for line in lines)
