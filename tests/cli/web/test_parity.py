"""The page and the terminal agree on every solution, right solution and misconception of the web course.

`python -m tests.cli.web.test_parity` prints the differences.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.grading.grade import check_own_files
from grader.submission.submission import Source, Submission
from tests.cli.web.made import EngineProcess, Files, TriedFile, compared, files_of, page_data, tried_files
from tests.cli.web.web_page import BareWorker
from tests.conftest import ROOT
from tests.pages.browser import Browser
from tests.quick import sample, sampled, share

FEWEST = 150
TEXT_AND_KIND = attrgetter("text"), attrgetter("module")  # of a file, for a sample
Test = Callable[[Files, str], dict[str, Any]]  # the report of `attn test` on some files


def terminal_reports(course: Course, bundle: Course, files: list[TriedFile]) -> Iterator[dict[str, Any]]:
    """Yield the report of the terminal on each file."""
    for module in bundle.modules:
        own = [one for one in files if one.module == module.name]
        reports: list[Report] = []
        check_own_files(bundle, module, (_submission(course, one) for one in own), reports.append)
        for report in reports:
            held = [sum(getattr(one, key) for one in report.properties) for key in ("hold", "total")]
            yield report.as_json() | {"properties": held}


def _submission(course: Course, one: TriedFile) -> Submission:
    texts = {path.split("/")[-1].removesuffix(".py"): entry["text"] for path, entry in files_of(course, one).items()}
    sources = {slug: Source(f"{slug}.py", (text,), notebook=False) for slug, text in texts.items()}
    return Submission("you", one.module, f"{course.module(one.module).slug}.py", sources)


def differences(
    course: Course, bundle: Course, test: Test, files: list[TriedFile]
) -> dict[str, dict[str, tuple[Any, Any]]]:
    """Return for each file what the terminal and the page say differently."""
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    for one, report in zip(files, terminal_reports(course, bundle, files), strict=True):
        expected = compared(report)
        given = compared(test(files_of(course, one), course.module(one.module).slug))
        if expected != given:
            parts = {key: (expected[key], given[key]) for key in expected if expected[key] != given[key]}
            found[f"{one.module} {one.title}"] = parts
    return found


@pytest.mark.exhaustive
def test_one_process_gives_the_reports_of_the_jail(course: Course, engine: EngineProcess, web_course: Path) -> None:
    def test(files: Files, slug: str) -> dict[str, Any]:
        engine.files = files
        return _report(engine.attn("test", slug, "--json"))

    files = tried_files(course)
    files = sample(files, share(len(files), 5), *TEXT_AND_KIND)  # the browser runs the same program, and tries more
    assert len(files) >= FEWEST // 5
    assert differences(course, read_course(web_course), test, files) == {}


@pytest.mark.exhaustive
def test_the_browser_gives_the_reports_of_the_terminal(
    course: Course, browser: Browser, address: str, web_folder: Path, web_course: Path
) -> None:
    assert len(tried_files(course)) >= FEWEST
    files = sampled(tried_files(course), 3, *TEXT_AND_KIND)
    test = _browser_test(browser, address, web_folder)
    assert differences(course, read_course(web_course), test, files) == {}


def _browser_test(browser: Browser, address: str, folder: Path) -> Test:
    worker = BareWorker(browser.chromium.new_page(), address, page_data(folder)["python"])
    return lambda files, slug: _report(worker.attn(files, "test", slug, "--json"))


def _report(reply: dict[str, Any]) -> dict[str, Any]:
    """Return the report that a command printed, and from the progress how many stated properties hold."""
    screen = str(reply["screen"])
    found: dict[str, Any] = json.loads(screen[screen.index("{") :])
    progress = json.loads(reply["files"][".attnlab/progress.json"]["text"])["modules"][found["module"]]
    return found | {"properties": [progress["holding"], progress["stated"]]}


def main() -> None:
    """Print the differences between the terminal and the browser, for a folder of the web course and a bundle.

    Further arguments are the names of the files to try, such as `01_softmax misconception/no_scaling`.
    """
    from tests.cli.web.made import served
    from tests.pages.browser import open_browser

    folder, bundle, names = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    course = read_course(ROOT)
    files = [one for one in tried_files(course) if not names or f"{one.module} {one.title}" in names]
    with served(folder) as address, open_browser() as browser:
        found = differences(course, read_course(bundle), _browser_test(browser, address, folder), files)
    print(json.dumps({"differ": found, "tried": len(files), "count": len(found)}, indent=1))


if __name__ == "__main__":
    main()
