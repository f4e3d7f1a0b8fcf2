"""`course.toml`: what a course is called, which commands only it has, and what of this students receive."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.classroom.course_rules import EXAMPLES
from grader.course.course_file import RULES, About, CourseFile, View, read_course_file, student_side
from grader.course.module import CourseError
from tests.conftest import write

FULL = """\
name = "Sorting, autumn"
due = 2026-10-01
web = ["01_sort"]

[about]
title = "Sorting"
sentence = 'Sort it, and say "why".'
description = "Größer ist später."
learner = "a student who sorts"

[views.race]
module = "sorting.race"
help = "Watch two sorts race."
examples = {"attn race" = "the two sorts of the lesson", 'attn race "my words"' = "your own"}
choices = ["bubble", "quick"]
beside = ["01_sort"]
site_page = "race.html"
"""
RACE = View(
    "race",
    "sorting.race",
    "Watch two sorts race.",
    {"attn race": "the two sorts of the lesson", 'attn race "my words"': "your own"},
    ("bubble", "quick"),
    ("01_sort",),
    "race.html",
)


def test_a_course_without_a_file_has_neutral_words_and_no_view(tmp_path: Path) -> None:
    assert read_course_file(tmp_path) == CourseFile(About(), (), (), {})


def test_every_key_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"course.toml": FULL})
    found = read_course_file(tmp_path)
    assert found.about == About("Sorting", 'Sort it, and say "why".', "Größer ist später.", "a student who sorts")
    assert found.views == (RACE,)
    assert found.web == ("01_sort",)
    assert set(found.rules) == {"name", "due"}


def test_a_text_that_is_not_given_is_not_given_to_students(tmp_path: Path) -> None:
    write(tmp_path, {"course.toml": student_side(CourseFile(About("Sorting")))})
    assert read_course_file(tmp_path).about == About("Sorting")


def test_students_receive_names_and_views_and_no_rule(tmp_path: Path) -> None:
    write(tmp_path, {"course.toml": FULL})
    ours = read_course_file(tmp_path)
    write(tmp_path, {"course.toml": student_side(ours)})
    theirs = read_course_file(tmp_path)
    assert (theirs.about, theirs.views, theirs.web, theirs.rules) == (ours.about, ours.views, (), {})


def test_the_rules_are_those_that_are_read() -> None:
    assert set(RULES) == EXAMPLES.keys()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[abuot]", "abuot: is not a key here. Did you mean about?"),
        ('[about]\ncolour = "red"', """about.colour: must look like "#0b57a4", not 'red'"""),
        (
            '[about]\ncolour = "#ffd54f"',
            "about.colour: is too light to read on white: its contrast is 1.4, and text needs 4.5",
        ),
        ('[about]\ntitel = "x"', "about.titel: is not a key here. Did you mean title?"),
        ("[about]\ntitle = 3", "about.title: must be one line of text, not 3"),
        ('[about]\ntitle = "two\\nlines"', "about.title: must be one line of text"),
        ("about = 3", "about: must be a table, not 3. Write it below a line [about]"),
        ("views = []", "views: must be a table"),
        ("[views.race]", "views.race.module: is missing"),
        ('[views.race]\nmodule = "a.b"', "views.race.help: is missing"),
        ('[views.race]\nmodule = "a b"\nhelp = "x"', "views.race.module: cannot be 'a b'"),
        ('[views.Race]\nmodule = "a"\nhelp = "x"', "views.Race: is not the name of a command"),
        ('[views.race]\nmodule = "a"\nhelp = "x"\nchoices = "x"', "views.race.choices: must be a list of texts"),
        ('[views.race]\nmodul = "a"\nhelp = "x"', "views.race.modul: is not a key here. Did you mean module?"),
    ],
)
def test_a_mistake_names_the_key_and_how_to_fix_it(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, {"course.toml": text})
    with pytest.raises(CourseError) as caught:
        read_course_file(tmp_path)
    assert words in str(caught.value)
    assert caught.value.usage
