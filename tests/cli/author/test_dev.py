"""`attn dev`: the commands for authors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.authoring.misconceptions import read_misconceptions
from grader.authoring.register import register_file
from grader.course.course import Course
from tests.cli.conftest import Attn
from tests.conftest import ROOT, prove_once


@pytest.mark.exhaustive  # it proves every module
def test_the_course_is_sound_and_says_how_much_it_holds(attn: Attn, course: Course) -> None:
    prove_once(*(module.name for module in course.modules))  # another test may be at it: its proof is used
    done = attn("dev", "check")
    assert done.returncode == 0
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert list(lines) == [module.name for module in course.all_modules]
    for module in course.modules:
        wrong = len(read_misconceptions(course, module))
        said = rf"sound \(\d\d checks, {wrong} misconceptions, {module.points:g} points\)"
        assert re.fullmatch(said, lines[module.name]), lines[module.name]
    assert "attn: 13 of 13 modules have a register: " in done.stderr
    assert lines["13_triton_flash"] == (
        "not run: this module needs an NVIDIA GPU and --device cuda (optional, 40 points)"
    )


def test_an_unsound_module_exits_1_with_the_cause_and_the_fix(attn: Attn, tiny: Course) -> None:
    stub = tiny.modules[0].stub
    stub.write_text(stub.read_text() + "# by hand\n")
    done = attn("dev", "check", cwd=tiny.root)
    assert done.returncode == 1
    assert "01_tiny: NOT SOUND" in done.stdout
    assert "tiny.py is not what the solution generates" in done.stdout
    (entry,) = json.loads(attn("dev", "check", "--json", cwd=tiny.root).stdout)
    assert entry["problems"][0]["fix"] == "Run `attn dev build`"


def test_check_says_how_many_modules_have_a_register(attn: Attn, tiny: Course) -> None:
    assert "register" not in attn("dev", "check", cwd=tiny.root).stderr
    register_file(tiny, tiny.modules[0]).write_text(
        '[[lesson]]\nsays = "Why this exists, the shapes,"\nunchecked = "it is a plan"\n'
        '[[unwritten]]\nchecks = ["tiny_is_linear"]\nwhy = "later"\n'
    )
    done = attn("dev", "check", cwd=tiny.root)
    assert done.returncode == 1
    told = "1 of 1 modules have a register: 1 promises, 1 not checked, 0 not proved; 1 checks verify no sentence"
    assert f"attn: {told}" in done.stderr
    assert "does not have a sentence about tiny: x is not modified." in " ".join(done.stdout.split())
    assert "tiny_of_three can cost points, but verifies no sentence" in " ".join(done.stdout.split())
    register_file(tiny, tiny.modules[0]).write_text("[[tiny]")
    done = attn("dev", "check", cwd=tiny.root)
    assert (done.returncode, done.stderr) == (1, "")
    assert "register.toml: is not TOML" in " ".join(done.stdout.split())


def test_build_writes_what_is_missing_and_nothing_twice(attn: Attn, tiny: Course) -> None:
    module = tiny.modules[0]
    before = module.stub.read_bytes(), module.golden.read_bytes()
    module.stub.unlink()
    module.golden.unlink()
    done = attn("dev", "build", cwd=module.folder)
    assert done.stdout == "01_tiny: wrote tiny.py, golden.json\n"
    assert (module.stub.read_bytes(), module.golden.read_bytes()) == before
    assert attn("dev", "build", "1", cwd=tiny.root).stdout == "01_tiny: up to date\n"


def test_build_says_what_it_wrote_even_if_a_mistake_stops_it(attn: Attn, tiny: Course) -> None:
    module = tiny.modules[0]
    module.stub.unlink()
    wrong = tiny.solution(module).with_name("misconceptions.py")
    wrong.write_text(
        wrong.read_text() + '\n\n# %% gone\nLIKELY = "a"\nHINT = "b"\nREPLACE = {"return 7": "return 8"}\n'
    )
    done = attn("dev", "build", cwd=tiny.root)
    assert done.returncode == 1
    assert done.stdout.startswith("01_tiny: wrote tiny.py; NOT BUILT: ")
    assert "gone: no function of the solution has the line 'return 7'" in done.stdout
    proof = tiny.root / ".attnlab" / "proofs" / "01_tiny.json"
    made = proof.stat().st_mtime_ns
    done = attn("dev", "check", cwd=tiny.root)  # from the proof that the build made
    assert done.returncode == 1
    assert "no function of the solution has the line 'return 7'" in " ".join(done.stdout.split())
    assert proof.stat().st_mtime_ns == made


def test_the_check_follows_the_settings_of_ruff(attn: Attn, tiny: Course) -> None:
    checks = tiny.modules[0].checks
    checks.write_text(checks.read_text() + "\n\nUNUSED = [1,2, nothing]\n")
    assert attn("dev", "check", cwd=tiny.root).returncode == 1  # the file cannot be collected
    checks.write_text(
        checks.read_text().replace(", nothing]", " ]").replace("import numpy as np", "import json\nimport numpy as np")
    )
    assert attn("dev", "check", cwd=tiny.root).returncode == 0  # without settings, style is free
    (tiny.root / "pyproject.toml").write_text('[tool.ruff.lint]\nselect = ["F"]\n')
    done = attn("dev", "check", cwd=tiny.root)
    told = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert "modules/01_tiny/checks.py, line 3: `json` imported but unused (F401) Fix that line." in told
    assert "modules/01_tiny/checks.py is not formatted Run: ruff format modules/01_tiny/checks.py." in told


@pytest.mark.exhaustive
def test_a_new_module_is_ready_to_be_filled_in(attn: Attn, tiny: Course) -> None:
    done = attn("dev", "new", "kv_cache", "--title", "Key-value cache", cwd=tiny.root)
    assert done.returncode == 0
    assert "solutions/02_kv_cache/misconceptions.py" in done.stdout
    assert "attn dev check kv_cache" in done.stderr
    assert attn("dev", "check", "kv_cache", cwd=tiny.root).returncode == 0
    assert "02_kv_cache              not started" in attn("status", cwd=tiny.root).stdout
    assert attn("dev", "new", "kv_cache", cwd=tiny.root).returncode == 2


def test_a_module_that_is_not_sound_is_not_released(attn: Attn, tiny: Course, tmp_path: Path) -> None:
    tiny.modules[0].golden.write_text("{}")
    done = attn("release", "--bundle", "tiny", "--to", tmp_path / "out", cwd=tiny.root)
    assert done.returncode == 3
    assert "golden.json is stale" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_release_into_a_folder_in_use_is_a_usage_mistake(attn: Attn, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    done = attn("release", "--bundle", "softmax", "--to", tmp_path)
    assert done.returncode == 2
    assert "already exists" in done.stderr
    assert attn("release", "softmax", "--to", tmp_path / "new").returncode == 2
    done = attn("release", "--bundle", "softmax", "--to", ROOT / "modules" / "zz")
    assert done.returncode == 2
    assert "inside the course itself" in done.stderr


@pytest.mark.parametrize("command", ["build", "check"])
def test_an_unknown_module_is_a_usage_mistake(attn: Attn, command: str) -> None:
    assert attn("dev", command, "sotfmax").returncode == 2
