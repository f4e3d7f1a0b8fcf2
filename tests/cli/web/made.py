"""What the tests of the web course share: its folder, a server for it, an engine, and the files that are tried."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.web.build import WebError, make_web
from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.course.course import Course
from grader.course.module import Module, read_text
from tests.cases import cases
from tests.conftest import ROOT

RUNTIME = ROOT / "build" / "npm"  # the packages of npm, fetched once
MODULES = 4
_COLOUR = "\x1b["

Files = dict[str, dict[str, Any]]


def make_folder(course: Course, to: Path) -> Path:
    """Make the folder of the web course; skip the test if the packages of npm cannot be had. In CI, fail."""
    try:
        return make_web(course, course.modules[:MODULES], to, RUNTIME)
    except WebError as error:
        if "npm" not in str(error) and "not installed" not in str(error):
            raise
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder as `python -m http.server` does, and give its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class EngineProcess:
    """The engine in a process of its own. It keeps the student's files, as the page does."""

    def __init__(self, root: Path) -> None:
        words = [sys.executable, "-m", "tests.cli.web.engine_process", str(root)]
        self._process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.files: Files = {}

    def ask(self, op: str, **request: Any) -> dict[str, Any]:
        """Return the answer to a request; `screen` is what it prints, without colours."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"op": op, "files": self.files, **request}) + "\n")
        self._process.stdin.flush()
        reply: dict[str, Any] = json.loads(self._process.stdout.readline())
        self.files = reply["files"]
        return reply | {"screen": without_colours(reply["screen"])}

    def attn(self, *words: str) -> dict[str, Any]:
        """Run a command."""
        return self.ask("attn", words=list(words))

    def write(self, module: Module, text: str) -> None:
        """Make a text the student's file of a module."""
        self.files[own_path(module)] = {"text": text, "time": 1_700_000_000.0}

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()


def page_data(folder: Path) -> dict[str, Any]:
    """Return what the page's script knows."""
    text = (folder / "index.html").read_text(encoding="utf-8").partition('id="course"')[2]
    found: dict[str, Any] = json.loads(text.partition(">")[2].partition("</script>")[0])
    return found


def own_path(module: Module) -> str:
    """Return the path of a student's file in the page."""
    return f"modules/{module.name}/{module.slug}.py"


def without_colours(text: str) -> str:
    """Return a screen without the codes of a terminal."""
    head, *rest = text.split(_COLOUR)
    return head + "".join(part.partition("m")[2] for part in rest)


@dataclass(frozen=True)
class TriedFile:
    """A file of one module as a student may write it."""

    module: str
    title: str
    text: str


# What the NumPy of the page does otherwise: it takes an array of one number for a number, and has other last digits.
OTHER_NUMPY = (
    "01_softmax misconception/list_of_one_row",
    "02_loop_attention misconception/products_in_an_array",
    "02_loop_attention misconception/total_in_an_array",
    "03_attention misconception/weights_rounded",
)


def tried_files(course: Course) -> list[TriedFile]:
    """Return all solutions, right solutions and misconceptions of the modules in a web course."""
    found: list[TriedFile] = []
    for module in course.modules[:MODULES]:
        found.append(TriedFile(module.name, "solution", read_text(course.solution(module))))
        found += [TriedFile(module.name, f"right/{case.name}", case.code) for case in cases("right", module.name)]
        for way in read_misconceptions(course, module):
            text = as_submission(course, module, way).sources[module.slug].cells[0]
            found.append(TriedFile(module.name, f"misconception/{way.name}", text))
    return [one for one in found if f"{one.module} {one.title}" not in OTHER_NUMPY]


def files_of(course: Course, one: TriedFile) -> Files:
    """Return the files of a student who has this one, and the solutions of the modules before it."""
    module = course.module(one.module)
    texts = {
        own_path(other): read_text(course.solution(other)) for other in course.modules if other.order < module.order
    }
    return {
        path: {"text": text, "time": 1_700_000_000.0} for path, text in (texts | {own_path(module): one.text}).items()
    }


def compared(report: dict[str, Any]) -> dict[str, Any]:
    """Return what two reports on one file must agree on: outcomes, words, properties and diagnoses.

    The NumPy of the page is older, and one of its exceptions has other words.
    """
    report = json.loads(json.dumps(report).replace("only length-1 arrays", "only 0-dimensional arrays"))
    checks = [{key: one[key] for key in ("name", "outcome", "message", "earned")} for one in report["checks"]]
    kept = ("status", "message", "score", "diagnoses", "endings", "properties")
    return {"checks": checks} | {key: report[key] for key in kept}
