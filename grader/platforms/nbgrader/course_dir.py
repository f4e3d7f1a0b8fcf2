"""nbgrader's course directory: made once, with a configuration by which nbgrader grades through AttnLab."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from grader.classroom.lateness import LateError, read_penalty
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.platforms.nbgrader.errors import CourseDirError

CONFIG = "nbgrader_config.py"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
# Names of classes, and nothing imported: nbgrader goes on with its defaults when a configuration raises, and by its
# defaults it would run what students wrote. A name that cannot be imported stops it.
_TEMPLATE = '''\
"""nbgrader's configuration of a course that AttnLab grades. `attn course init` wrote it; it is yours to edit."""

from pathlib import Path

c = get_config()  # noqa: F821 - nbgrader provides it

c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = {name!r}
{db}
# Where modules, solutions and hidden suites are. None of it is ever copied into a student's notebook.
c.AttnLab.course = {course!r}
# c.AttnLab.allow_unjailed = True  # grade even where there is no jail: only code that you trust

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

# `nbgrader autograde`, and formgrader's button: no notebook is executed. What was handed in is read with distrust,
# graded by AttnLab in its jail, and scored straight into the gradebook.
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

# What it costs to be late: nothing, or so much for each period begun, as `attn grade --late-penalty` has it. When an
# assignment is due says `attn release --due`, or formgrader.
{late}

# Formgrader and feedback: what a student wrote is shown, and no browser runs it.
c.HTMLExporter.filters = {{"markdown2html": "grader.platforms.nbgrader.safe_markdown.markdown"}}
'''


def require_nbgrader() -> None:
    """Say what to install where nbgrader is missing: it is an extra, for instructors."""
    if importlib.util.find_spec("nbgrader") is None:
        fix = "In your clone, run: python -m pip install -c constraints.txt -e '.[instructor]'"
        raise CourseDirError(f"nbgrader is not installed here. {fix}")


def init_course_dir(course: Course, root: Path, name: str = "", db: str = "", late: str = "") -> Path:
    """Make a course directory for a course, with its gradebook, whole or not at all; return its configuration.

    `late` is the penalty for being late, such as 10%/day.
    """
    require_nbgrader()
    from grader.platforms.nbgrader.gradebook import make_gradebook

    root = root.resolve()
    name = name or root.name
    if not _NAME.fullmatch(name):
        raise CourseDirError(f"{name!r} cannot be a course's name; use letters, digits, '_', '.' and '-', or say --id")
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise CourseDirError(f"{root} is there already; name a new folder")
    if any(root.is_relative_to(course.root / kept) for kept in ("modules", "solutions", "tests", "grader", "cli")):
        raise CourseDirError(f"{root} is inside the course itself; name a folder elsewhere")
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
    """Return the lines of the configuration about lateness; with no rule they wait there to be used."""
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
