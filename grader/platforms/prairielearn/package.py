"""A PrairieLearn question with an external grader: its files, and a trial of them on the solution."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from grader.core.json_record import to_json
from grader.course.course import Course
from grader.course.course_file import read_course_file
from grader.course.module import Module
from grader.course.seeds import secret_salt
from grader.platforms.container.files import content, grading_files, package_lists
from grader.platforms.prairielearn.autograder import SETTINGS, Settings

RUN = "tests/run.sh"
IMAGE = "image"
LONGEST_MINUTES = 10  # PrairieLearn's limit for a grading job


class QuestionError(Exception):
    """A question that does not give full marks to the solution, and its output."""


def question_files(course: Course, settings: Settings, image: str) -> dict[str, bytes]:
    """Return the files of a question by their path in its folder; the same course gives the same bytes."""
    module = course.module(settings.module)
    tests = grading_files(course, module) | {SETTINGS: _json(to_json(settings))}
    files = {f"tests/{name}": data for name, data in tests.items()}
    files |= {f"{IMAGE}/{name}": data for name, data in package_lists(course, module).items()}
    return files | {
        RUN: _beside("run.sh"),
        f"{IMAGE}/Dockerfile": _beside("Dockerfile.txt"),
        "info.json": _json(_info(course, module, settings, image)),
        "question.html": _page(module).encode(),
        f"clientFilesQuestion/{module.stub.name}": content(module.stub),
    }


def write_question(files: Mapping[str, bytes], to: Path) -> None:
    """Write the files of a question so that only their owner can read them: the solution is among them."""
    to.chmod(0o700)
    for name, data in files.items():
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if name == RUN else 0o644)


def try_question(files: Mapping[str, bytes], course: Course, module: Module) -> float:
    """Run a question here on the solution, as PrairieLearn would; return the points, or raise if they are not all."""
    with tempfile.TemporaryDirectory(prefix="attn-") as temporary:
        job = Path(temporary)
        make_job(files, {module.stub.name: content(course.solution(module))}, job)
        process = run_job_folder(job)
        results = json.loads((job / "results" / "results.json").read_text(encoding="utf-8"))
        if results.get("score") != 1:
            last = process.stderr.strip().rpartition("\n")[2]  # the sentence below a traceback
            said = [f"{results.get('score', 'no score')}:", *results.get("format_errors", ()), last]
            raise QuestionError(f"the question gives the solution of {module.name} {' '.join(said).strip()}")
        return module.points


def make_job(files: Mapping[str, bytes], handed_in: Mapping[str, bytes], job: Path) -> None:
    """Fill a job folder as PrairieLearn fills /grade: the tests of the question, and what the student handed in."""
    for name in ("data", "serverFilesCourse", "student", "tests"):
        (job / name).mkdir()
    tests = {name: data for name, data in files.items() if name.startswith("tests/")}
    for name, data in (tests | {f"student/{name}": data for name, data in handed_in.items()}).items():
        (job / name).parent.mkdir(parents=True, exist_ok=True)
        (job / name).write_bytes(data)
    (job / "data" / "data.json").write_text("{}")
    (job / RUN).chmod(0o755)


def run_job_folder(job: Path) -> subprocess.CompletedProcess[str]:
    """Run a job folder with this Python instead of the one in the image."""
    environment = {**os.environ, "ATTNLAB_JOB": str(job), "ATTNLAB_PYTHON": sys.executable}
    return subprocess.run([str(job / RUN)], env=environment, capture_output=True, text=True, check=False)


def _info(course: Course, module: Module, settings: Settings, image: str) -> dict[str, Any]:
    """Return what PrairieLearn reads of a question. Its uuid stays the same when the question is made again."""
    return {
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"attnlab:{secret_salt(course)}:{module.name}")),
        "title": module.title,
        "topic": read_course_file(course.root).about.title,
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": {
            "image": image,
            "entrypoint": f"/grade/{RUN}",
            "timeout": round(settings.minutes * 60),
        },
    }


def _page(module: Module) -> str:
    """Return the page of the question: the file to start with, the upload, and the results."""
    file = escape(module.stub.name)
    return f"""\
<pl-question-panel>
  <p>{escape(module.title)}: fill in the functions of <code>{file}</code>, and upload it as a script or a notebook.</p>
  <p><pl-file-download file-name="{file}"></pl-file-download></p>
</pl-question-panel>
<pl-question-panel>
  <pl-file-upload file-patterns="{escape(module.slug)}.[ip]*" optional-file-patterns="*.py,*.ipynb"></pl-file-upload>
</pl-question-panel>
<pl-submission-panel>
  <pl-external-grader-results></pl-external-grader-results>
  <pl-file-preview></pl-file-preview>
</pl-submission-panel>
"""


def _beside(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()
