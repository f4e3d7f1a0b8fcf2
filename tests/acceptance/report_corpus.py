"""Reports of all code with a known verdict, to compare before and after a change that must not change any.

`python -m tests.acceptance.report_corpus collect corpus.json` writes the code: solutions, stubs, right and honest
solutions, misconceptions, other mistakes and styles, cheats, and the example class.
`python -m tests.acceptance.report_corpus grade corpus.json reports/ --jobs 2` grades it; run it once in each version.
`python -m tests.acceptance.report_corpus compare before/ after/` shows each report that differs but for its timing.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from grader.authoring.misconceptions import read_misconceptions
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.notebook import read_cells
from grader.grading.grade import full_suite, run_grading
from grader.submission.submission import Source
from tests.acceptance.test_cheats import CHEATS, LEAKS
from tests.cases import cases
from tests.conftest import ROOT
from tests.submissions import with_earlier

APPENDED = ("styles", "unknown", "implementations")  # cells that replace functions of the solution
BATCH = 12  # submissions of one module in one grading process


def collect(course: Course) -> list[dict[str, Any]]:
    """Return every submission: its module, its name and its cells."""
    return [item for module in course.modules if not module.needs_gpu for item in _of_module(course, module.name)]


def _of_module(course: Course, name: str) -> Iterator[dict[str, Any]]:
    module = course.module(name)
    solution = course.solution(module).read_text(encoding="utf-8")

    def item(kind: str, title: str, *cells: str, notebook: bool = False) -> dict[str, Any]:
        return {"module": name, "name": f"{kind} {title}", "cells": cells, "notebook": notebook}

    yield item("solution", "itself", solution)
    yield item("stub", "itself", module.stub.read_text(encoding="utf-8"))
    for misconception in read_misconceptions(course, module):
        yield item("misconception", misconception.name, f"{solution}\n\n{misconception.code}")
    for kind in APPENDED:
        for case in cases(kind, name):
            yield item(kind, case.name, case.over(solution))
    for kind in ("right", "honest"):
        for case in cases(kind, name):
            yield item(kind, case.name, *case.cells, notebook=case.notebook)
    for case in (*CHEATS, *LEAKS):
        if case.module == name:
            yield item("cheat", case.name, case.code)
    for path in sorted((ROOT / "examples" / "class").rglob(f"{module.slug}.*")):
        if path.suffix == ".ipynb":
            yield item("example", path.parent.name, *read_cells(path.read_bytes()), notebook=True)
        else:
            yield item("example", path.parent.name, path.read_text(encoding="utf-8"))


def grade_batch(course: Course, items: list[dict[str, Any]], folder: Path) -> None:
    """Grade submissions of one module; write a report for each, without its timing."""
    module = course.module(items[0]["module"])
    file = {False: f"{module.slug}.py", True: f"{module.slug}.ipynb"}
    submissions = [
        with_earlier(course, module, Source(file[one["notebook"]], tuple(one["cells"]), one["notebook"]), one["name"])
        for one in items
    ]

    def write(report: Report) -> None:
        data = report.as_json()
        data.pop("timing", None)
        target = folder / f"{module.name} {report.submission}.json".replace("/", "_")
        target.write_text(json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")

    run_grading(full_suite(course, module), submissions, write, allow_unjailed=True)


def grade_all(corpus: Path, folder: Path, jobs: int) -> int:
    """Grade in processes side by side, the modules in turns; return how many processes failed."""
    items = json.loads(corpus.read_text(encoding="utf-8"))
    items.sort(key=lambda one: hashlib.sha256(f"{one['module']} {one['name']}".encode()).hexdigest())
    modules = sorted({one["module"] for one in items}, reverse=True)  # the slow modules first
    of_module = {name: [one for one in items if one["module"] == name] for name in modules}
    batches = [batch[at : at + BATCH] for batch in of_module.values() for at in range(0, len(batch), BATCH)]
    folder.mkdir(parents=True, exist_ok=True)

    def run(batch: list[dict[str, Any]]) -> bool:
        words = [sys.executable, "-m", "tests.acceptance.report_corpus", "batch", str(folder)]
        return subprocess.run(words, input=json.dumps(batch), text=True, check=False).returncode != 0

    with ThreadPoolExecutor(jobs) as pool:
        return sum(pool.map(run, batches))


def compare(before: Path, after: Path) -> int:
    """Print each report that differs; return how many do."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.json")})
    different = 0
    for name in names:
        old, new = (_text(folder / name).splitlines(keepends=True) for folder in (before, after))
        if old != new:
            different += 1
            print(f"=== {name}")
            sys.stdout.writelines(list(difflib.unified_diff(old, new, n=0))[2:20])
    print(f"{len(names)} reports compared, {different} different")
    return different


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("collect").add_argument("corpus", type=Path)
    grade = commands.add_parser("grade")
    grade.add_argument("corpus", type=Path)
    grade.add_argument("folder", type=Path)
    grade.add_argument("--jobs", type=int, default=2)
    commands.add_parser("batch").add_argument("folder", type=Path)
    both = commands.add_parser("compare")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "collect":
        items = collect(read_course(ROOT))
        given.corpus.write_text(json.dumps(items), encoding="utf-8")
        print(f"{len(items)} submissions")
        return 0
    if given.command == "grade":
        return 1 if grade_all(given.corpus, given.folder, given.jobs) else 0
    if given.command == "batch":
        grade_batch(read_course(ROOT), json.load(sys.stdin), given.folder)
        return 0
    return 1 if compare(given.before, given.after) else 0


if __name__ == "__main__":
    raise SystemExit(main())
