"""The command `attn init`: what it prints, and what comes next."""

from __future__ import annotations

import json
from pathlib import Path

from grader.course.course import Course
from grader.workspace.init import MARK, workspace_files
from tests.cli.conftest import Attn


def test_the_command_says_what_comes_next(attn: Attn, course: Course, tmp_path: Path) -> None:
    done = attn("init", "work", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (
        0,
        "work: 12 modules and 1 optional, with lessons and visible checks. Next:\n\n  cd work\n  attn start softmax\n",
    )
    (tmp_path / "here").mkdir()
    made = json.loads(attn("init", "--json", cwd=tmp_path / "here").stdout)
    assert made["folder"] == str(tmp_path / "here")
    assert made["modules"][0] == "01_softmax"
    assert set(made["files"]) == set(workspace_files(course)) | {MARK}
    assert attn("init", cwd=tmp_path).returncode == 2
    lost = attn(cwd=tmp_path)
    assert "\n  attn init DIR " in lost.stderr
