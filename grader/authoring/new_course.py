"""A new course: the files of any course, and a small sound module to replace."""

from __future__ import annotations

import json
from pathlib import Path

from grader.authoring.build import build_module, new_module
from grader.authoring.examples import NUMBERS, WORDS, fill_template
from grader.core.atomic_file import write_atomically
from grader.core.new_folder import new_folder, require_room
from grader.course.course import Course, read_course

# Each file, and its template. `.attnlab` ignores itself, because a folder may have a .gitignore of its own already.
_FILES = {
    "course.toml": "course.toml",
    "README.md": "README.md",
    ".gitignore": "gitignore",
    "pytest.ini": "pytest.ini",
    "tests/test_course.py": "test_course.py",
}
# The slug and the title of the module that each example makes.
_MODULES = {NUMBERS: ("double", "Twice as much"), WORDS: ("word_counts", "Count words")}


def make_course(to: Path, title: str, sentence: str, example: str) -> Course:
    """Make a course in a new or empty folder, completely or not at all; FolderError if the folder is in use."""
    require_room(to, "attn course new")
    slug, module_title = _MODULES[example]
    with new_folder(to, last="modules") as made:  # without modules, it is no course
        words = {
            "title": title,
            "plain": title.replace('"', "'"),
            "quoted": json.dumps(title, ensure_ascii=False),  # a text of one line is written alike in JSON and in TOML
            "sentence": json.dumps(sentence, ensure_ascii=False),
            "example": slug,
            "name": f"01_{slug}",
        }
        for name, template in _FILES.items():
            write_atomically(made / name, fill_template(f"course/{template}", words))
        write_atomically(made / ".attnlab" / ".gitignore", "*\n")
        new_module(Course(made, ()), slug, module_title, example)
        course = read_course(made)
        build_module(course, course.modules[0])
    return read_course(to)
