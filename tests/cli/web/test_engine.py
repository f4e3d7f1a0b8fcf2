"""The engine of the page, in a process without a jail and without a browser."""

from __future__ import annotations

import base64
import json
import zipfile
from io import BytesIO
from pathlib import Path

from grader.course.course import Course
from grader.course.module import read_text
from tests.cli.conftest import Attn
from tests.cli.web.made import EngineProcess, own_path


def test_the_page_shows_the_screens_of_the_terminal(
    engine: EngineProcess, course: Course, attn: Attn, web_course: Path
) -> None:
    module = course.module("softmax")
    wrong = read_text(course.solution(module)).replace("keepdims=True", "keepdims=False")
    engine.write(module, wrong)
    (web_course / own_path(module)).write_text(wrong)
    shown = engine.attn("test", "softmax")
    expected = attn("test", "softmax", cwd=web_course)
    assert shown["status"] == expected.returncode == 1
    assert "keepdims_forgotten" in shown["screen"]
    head = expected.stdout.partition("\nTo try")[0]  # the page says in other words where to paste a call
    assert shown["screen"].startswith(head)
    assert shown["states"]["01_softmax"] == {"state": "failing", "complete": False}
    assert engine.attn("hint", "softmax")["screen"] == attn("hint", "softmax", cwd=web_course).stdout


def test_a_module_is_completed_and_its_zip_can_be_taken_over(
    engine: EngineProcess, course: Course, attn: Attn, bundle: Path
) -> None:
    module = course.module("softmax")
    solution = read_text(course.solution(module))
    engine.write(module, solution)
    done = engine.attn("complete", "softmax")
    assert "01_softmax is complete" in done["screen"], done["screen"]
    assert done["states"]["01_softmax"]["complete"]
    made = engine.ask("submit", student="ana")
    assert made["name"] == "ana.zip"
    data = base64.b64decode(made["zip"])
    manifest = json.loads(zipfile.ZipFile(BytesIO(data)).read("manifest.json"))
    assert manifest["student"] == "ana"
    assert manifest["modules"]["01_softmax"]["passed"] == 5

    mine = bundle / own_path(module)
    mine.write_text(mine.read_text() + "# my own note\n")
    (bundle / "ana.zip").write_bytes(data)
    taken = attn("update", "ana.zip", cwd=bundle)
    assert taken.returncode == 0, taken.stderr
    assert "01_softmax: softmax.py is now the one of the zip" in taken.stdout
    assert mine.read_text() == solution
    assert "# my own note" in (bundle / ".attnlab/backups/01_softmax/0001/softmax.py").read_text()
    assert "already the same" in attn("update", "ana.zip", cwd=bundle).stdout

    engine.files = {}
    back = engine.ask("update", name="ana.zip", zip=made["zip"])
    assert back["files"][own_path(module)]["text"] == solution


def test_a_file_is_run_as_a_program(engine: EngineProcess, course: Course) -> None:
    module = course.module("softmax")
    engine.write(module, "print(__name__)\nx = [1]\nx[3]\n")
    shown = engine.ask("run", module="01_softmax")["screen"]
    assert shown.startswith("__main__\nTraceback (most recent call last):\n")
    assert shown.endswith("IndexError: list index out of range\n")
    assert "same_process" not in shown
    engine.write(module, "x = [1]\nx * 2\n")
    assert engine.ask("run", module="01_softmax")["screen"] == "[1, 1]\n"


def test_a_reset_can_be_undone(engine: EngineProcess, course: Course) -> None:
    module = course.module("softmax")
    engine.write(module, "# mine\n")
    assert own_path(module) not in engine.attn("reset", "softmax", "--yes")["files"]
    assert engine.attn("reset", "softmax", "--undo")["files"][own_path(module)]["text"] == "# mine\n"
