"""Generated pages: they are up to date and complete."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.author import reference_tables
from cli.author.command_reference import reference
from cli.author.register_page import register_page
from cli.author.syllabus import syllabus
from grader.authoring.register import register_file
from grader.course.course import Course
from grader.course.lesson import objectives
from tests.conftest import ROOT

STALE = "is stale: run `make docs`"


def test_the_command_reference_is_fresh() -> None:
    assert (ROOT / "docs" / "commands.md").read_text() == reference(), STALE


def test_the_reference_has_every_command_and_option() -> None:
    page = reference()
    for heading in ("## attn grade", "## attn dev new", "## attn export github result", "## attn test"):
        assert f"\n{heading}\n" in page
    assert "| `--resume` |" in page
    assert r"| `--policy [latest\|best]` |" in page
    assert "\b" not in page


def test_the_tables_of_the_authoring_reference_are_fresh() -> None:
    text = (ROOT / reference_tables.PAGE).read_text()
    assert reference_tables.page(text) == text, STALE
    for name in reference_tables.TABLES:
        assert text.count(f"<!-- table: {name} -->") == 1, name
    assert "python -m cli.author.reference_tables\n" in (ROOT / "Makefile").read_text()
    stale = text.replace("| `assert_dtype(", "| `assert_type(")
    assert stale != text == reference_tables.page(stale)


def test_the_syllabus_is_fresh(course: Course) -> None:
    assert (ROOT / "docs" / "syllabus.md").read_text() == syllabus(course), STALE


def test_the_register_is_fresh(course: Course) -> None:
    assert (ROOT / "docs" / "register.md").read_text() == register_page(course), STALE


def test_the_register_shows_every_gap(tiny: Course) -> None:
    file = register_file(tiny, tiny.modules[0])
    assert "These have no register yet: `01_tiny`." in register_page(tiny)
    file.write_text(
        '[[tiny]]\nsays = "Returns a|b of `x`. And y."\nchecks = ["a", "b"]\nwrong = ["c"]\n'
        '[[tiny]]\nsays = "Fast."\nunchecked = "too fast"\n[[lesson]]\nsays = "Hm."\nno_promise = "a sound"\n'
        '[[tiny]]\nsays = "Safe."\nchecks = ["a"]\nunproved = "too rare"\n'
        '[[unwritten]]\nchecks = ["d"]\nwhy = "later"\n'
    )
    page = register_page(tiny)
    assert "no register yet" not in page
    assert "| `01_tiny` | 4 | 1 | 1 | 1 |" in page
    assert "| `Returns a\\|b of 'x'. And y.` | `a`, `b` | `c` |" in page
    assert "| `Fast.` | **not checked**: too fast |  |" in page
    assert "| `Safe.` | `a` | **not proved**: too rare |" in page
    assert "### The lesson" in page
    assert "| `Hm.` | no promise: a sound |  |" in page
    assert "| `d` | later |" in page


def test_every_lesson_says_what_it_is_for(course: Course) -> None:
    for module in course.modules:
        assert len(objectives(module)) >= 3, module.name
        assert all(0 < len(entry) < 150 and "\n" not in entry for entry in objectives(module))


@pytest.mark.parametrize(
    ("lesson", "found"),
    [
        ("# X\n\n**After this you can**\n\n- do a;\n- do b,\n  and c.\n\n## Y\n- not this\n", ("do a", "do b, and c")),
        ("# X\n\n- a list of something else\n", ()),
    ],
)
def test_objectives_are_those_of_the_lesson(tiny: Course, lesson: str, found: tuple[str, ...]) -> None:
    (module,) = tiny.modules
    module.lesson.write_text(lesson)
    assert objectives(module) == found
    page = syllabus(tiny)
    assert all(f"\n- {entry}\n" in page for entry in found or ("(the lesson does not say yet)",))


def test_a_new_module_is_in_the_syllabus_of_its_course(tiny: Course) -> None:
    page = syllabus(tiny)
    assert "| Tiny | 60 | 10 | – | NumPy |" in page
    assert "They write `tiny`." in page


@pytest.mark.parametrize(
    ("module", "page"),
    [
        ("cli.author.command_reference", "commands.md"),
        ("cli.author.syllabus", "syllabus.md"),
        ("cli.author.register_page", "register.md"),
    ],
)
def test_make_docs_prints_the_page(module: str, page: str, tmp_path: Path) -> None:
    with (tmp_path / page).open("w") as file:
        subprocess.run([sys.executable, "-m", module], cwd=ROOT, stdout=file, check=True)
    assert (tmp_path / page).read_text() == (ROOT / "docs" / page).read_text()
    assert f"-m {module} > docs/{page}" in (ROOT / "Makefile").read_text()
