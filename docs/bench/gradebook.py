"""The cost of a sync: reports of a class into a new nbgrader gradebook, and then once more."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from docs.bench.row import Row, costs
from grader.classroom.store.files import FileStore
from grader.core.report import Report, report_text
from grader.course.course import Course, read_course
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission

ROOT = Path(__file__).parent.parent.parent
PART = "gradebook: a submission entered by `attn gradebook sync`"
SUBMISSIONS = 200
ALLOWED = 0.06


def gradebook() -> Iterator[Row]:
    """Yield the seconds that a submission takes when it is new, and when it is already there."""
    from grader.platforms.nbgrader.course_dir import init_course_dir
    from grader.platforms.nbgrader.release import release_modules
    from grader.platforms.nbgrader.sync import sync

    course = read_course(ROOT)
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        root, reports = Path(temporary) / "course", Path(temporary) / "reports"
        module = course.modules[0]
        init_course_dir(course, root)
        release_modules(course, [module], root)
        (reports / module.name).mkdir(parents=True)
        (reports / "grades.json").write_text(json.dumps([]))
        for number, report in enumerate(_reports(course)):
            name = f"s{number:03d}"
            (reports / module.name / f"{name}.json").write_text(report_text(replace(report, submission=name)))
            shutil.copytree(root / "release" / module.name, root / "submitted" / name / module.name)
        for what in ("new", "there already"):
            started = time.perf_counter()
            count = sum(1 for _ in sync(course, FileStore(reports), root))
            each = (time.perf_counter() - started) / count
            yield costs(PART, f"{count} of them, {what}", each, ("allowed", ALLOWED), most=1)


def _reports(course: Course) -> Iterator[Report]:
    """Yield the reports of a class: alternately the solution and the stub."""
    module = course.modules[0]
    texts = (course.solution(module).read_text(), course.stub_text(module))
    found: list[Report] = []
    submissions = [
        Submission("s", module.name, module.stub.name, {module.slug: Source(module.stub.name, (text,), False)})
        for text in texts
    ]
    grade(course, module, submissions, found.append, allow_unjailed=True)
    for number in range(SUBMISSIONS):
        yield found[number % len(found)]
