"""Fixtures of the tests of the web course."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.course import Course
from tests.cli.web.made import MODULES, EngineProcess, make_folder, served
from tests.pages.browser import Browser, needs_browser, open_browser


@pytest.fixture(scope="session")
def web_folder(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the web course."""
    return make_folder(course, tmp_path_factory.mktemp("web") / "site")


@pytest.fixture(scope="session")
def address(web_folder: Path) -> Iterator[str]:
    """The address of the web course."""
    with served(web_folder) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    needs_browser()
    with open_browser() as running:
        yield running


@pytest.fixture
def web_course(course: Course, tmp_path: Path) -> Path:
    """A copy of the modules of the web course, as the page unpacks them."""
    for module in course.modules[:MODULES]:
        shutil.copytree(module.folder, tmp_path / "course" / "modules" / module.name)
        (tmp_path / "course" / "modules" / module.name / module.stub.name).write_text(course.stub_text(module))
    return tmp_path / "course"


@pytest.fixture
def engine(web_course: Path) -> Iterator[EngineProcess]:
    """The engine of the page, without a browser."""
    process = EngineProcess(web_course)
    yield process
    process.close()
