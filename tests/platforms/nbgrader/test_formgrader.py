"""A live formgrader over HTTP: its button grades in the jail, and its pages show the result."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from bs4 import BeautifulSoup

from tests.platforms.nbgrader.students import MODULE, NO_MAXIMUM, RIGHT, Notebook, hand_in
from tests.waiting import LIMIT, wait_until

TOKEN = "formgrader"


class Formgrader:
    """A client that talks to formgrader as a browser does."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"token {TOKEN}"

    def page(self, path: str) -> str:
        """Return one of its pages."""
        answer = self.session.get(f"{self.url}/formgrader/{path}")
        answer.raise_for_status()
        return str(answer.text)

    def data(self, path: str) -> Any:
        """Return data that its pages request."""
        answer = self.session.get(f"{self.url}/formgrader/api/{path}")
        answer.raise_for_status()
        return answer.json()

    def autograde(self, student: str) -> Any:
        """Press the autograde button."""
        headers = {"X-XSRFToken": self.session.cookies["_xsrf"]}
        answer = self.session.post(
            f"{self.url}/formgrader/api/submission/{MODULE}/{student}/autograde", headers=headers
        )
        answer.raise_for_status()
        return answer.json()

    def close(self) -> None:
        """Close the connection."""
        self.session.close()


@pytest.fixture
def formgrader(course_dir: Path, tmp_path: Path) -> Iterator[Formgrader]:
    """Jupyter with formgrader, started in the course directory as an instructor starts it."""
    command = [sys.executable, "-m", "jupyter", "server", "--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1"]
    command += ["--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}"]
    command += ["--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"]
    env = {**os.environ, "HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter")}
    log = tmp_path / "jupyter.log"
    with log.open("w") as file:  # a pipe that is not read would fill up
        server = subprocess.Popen(command, cwd=course_dir, env=env, stderr=file)
    found = wait_until("its address", lambda: re.search(r"http://127\.0\.0\.1:\d+", log.read_text()), by=server)
    assert found is not None
    browser = Formgrader(found[0])
    yield browser
    browser.close()
    server.terminate()
    server.wait(LIMIT)


@pytest.mark.exhaustive  # a live server
def test_the_autograde_button_grades_in_the_jail_and_the_pages_show_it(
    formgrader: Formgrader, course_dir: Path, notebook: Notebook, tmp_path: Path
) -> None:
    script = "<script>document.title = 'mine'</script> <img src=x onerror=alert(1)> [x](javascript:alert(2))"
    hostile = notebook.answer(RIGHT | {"softmax": NO_MAXIMUM}, words=script)
    hostile = hostile.add("code", f"open({str(tmp_path / 'mark')!r}, 'w')").add("raw", script).add("markdown", script)
    hand_in(course_dir, "ana", notebook.answer(RIGHT).text)
    hand_in(course_dir, "eve", hostile.text)
    assert formgrader.page("manage_assignments")
    for student in ("ana", "eve"):
        result = formgrader.autograde(student)
        assert result["success"], result
    shown = {one["student"]: one for one in formgrader.data(f"submissions/{MODULE}")}
    assert [shown["ana"][name] for name in ("autograded", "code_score", "max_code_score")] == [True, 46.0, 46.0]
    assert shown["ana"]["needs_manual_grade"]  # the open question
    assert shown["eve"]["code_score"] < 46
    assert not (tmp_path / "mark").exists()
    notebooks = {one["student"]: one["id"] for one in formgrader.data(f"submitted_notebooks/{MODULE}/softmax")}
    page = BeautifulSoup(formgrader.page(f"submissions/{notebooks['eve']}/"), "html.parser")
    assert "document.title" in page.get_text()
    assert not [one for one in page.find_all("script") if "document.title" in one.get_text()]
    assert page.find_all(onerror=True) == []
    assert page.find_all(href=re.compile("^javascript:")) == []
    comments = {one["name"]: one for one in formgrader.data(f"comments?submission_id={notebooks['eve']}")}
    assert "no_max_subtraction" in comments["answer-softmax"]["auto_comment"]
    grades = {one["name"]: one["auto_score"] for one in formgrader.data(f"grades?submission_id={notebooks['eve']}")}
    assert grades["open-answer"] is None
    assert grades["test-log_softmax"] == 8.5
