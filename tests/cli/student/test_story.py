"""The story of the course: `attn`, `attn status` and `attn complete` show what each module unlocks."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from grader.course.course import Course
from tests.cli.conftest import Attn
from tests.conftest import ROOT


def keep(bundle: Path, *names: str) -> None:
    """Remove all other modules of a bundle."""
    for folder in (bundle / "modules").iterdir():
        if folder.name not in names:
            shutil.rmtree(folder)


def solve(bundle: Path, name: str) -> None:
    shutil.copy(ROOT / "solutions" / name / f"{name[3:]}.py", bundle / "modules" / name)


def test_the_story_follows_the_work(attn: Attn, bundle: Path, course: Course) -> None:
    softmax, loops = (course.module(name) for name in ("01_softmax", "02_loop_attention"))
    keep(bundle, softmax.name, loops.name)
    assert softmax.milestone
    assert loops.milestone
    before = attn(cwd=bundle).stdout
    assert re.search(rf"^  next  Softmax +{softmax.milestone.unlocks}$", before, re.MULTILINE)
    assert re.search(rf"^ +Attention in loops +{loops.milestone.unlocks}$", before, re.MULTILINE)
    assert "Masks" not in before
    assert f"unlocks: {softmax.milestone.unlocks}" in attn("status", cwd=bundle).stdout

    solve(bundle, softmax.name)
    completed = attn("complete", "softmax", cwd=bundle).stdout
    assert f"You built it: {softmax.milestone.unlocks}." in completed
    assert "  [0.09003057 0.24472847 0.66524096]\nTry it: start python and paste\nimport numpy" in completed
    after = attn(cwd=bundle).stdout
    assert re.search(r"^  done  Softmax ", after, re.MULTILINE)
    assert re.search(r"^  next  Attention in loops ", after, re.MULTILINE)
    shown = attn("status", cwd=bundle).stdout
    assert f"unlocked: {softmax.milestone.unlocks}" in attn("status", "--all", cwd=bundle).stdout
    assert f"unlocks: {loops.milestone.unlocks}" in shown
    assert json.loads(attn("status", "--json", cwd=bundle).stdout)[0]["unlocks"] == softmax.milestone.unlocks


def test_a_module_without_a_milestone_has_no_part_in_the_story(attn: Attn, bundle: Path) -> None:
    keep(bundle, "01_softmax")
    file = bundle / "modules" / "01_softmax" / "module.toml"
    file.write_text(re.sub(r"\[milestone\].*?\n\n", "", file.read_text(), flags=re.DOTALL))
    solve(bundle, "01_softmax")
    assert "You built it" not in attn("complete", "softmax", cwd=bundle).stdout
    assert "done" not in attn(cwd=bundle).stdout
    assert "unlock" not in attn("status", cwd=bundle).stdout


def test_the_commands_of_the_story_work(attn: Attn, bundle: Path, course: Course) -> None:
    commands = {one.name: one.milestone.code for one in course.modules if one.milestone and one.milestone.is_command}
    keep(bundle, *commands)
    for name, command in commands.items():
        solve(bundle, name)
        done = attn(*command.split()[1:], cwd=bundle)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "cat" in done.stdout
