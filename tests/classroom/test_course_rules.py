"""`course.toml`: rules for every grading of a class, and what options do to them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.classroom.course_rules import EXAMPLES, read_course_rules
from grader.classroom.marks import Marking
from grader.classroom.module_rules import ModuleRules, marking_of
from grader.classroom.rules import Extension, Rules, RulesError
from grader.core.csv_table import read_csv
from grader.course.course import Course, read_course
from grader.course.module import CourseError
from tests.classroom.conftest import RIGHT, Grade
from tests.classroom.test_marking import set_time
from tests.conftest import ROOT, write

FULL = """\
name = "Attention, autumn 2026"
section = "Mon"
roster = "class.csv"
policy = "best"
late_penalty = "10%/day"
grace = "15m"
undecided = "withhold"
extensions = [{student = "ana", module = "tiny", until = 2026-10-08}, {student = "ben", until = "2026-10-09 12:00"}]

[due]
all = 2026-10-01
1 = 2026-10-02T12:00:00Z
"""
ROSTER = "id,name,section\nana,Ana Silva,Mon\nben,Ben Okoro,Tue\ncy,Cy Young,Mon\n"


def marking(course: Course) -> Marking:
    """Return how the first module is marked by the rules of a course."""
    rules = ModuleRules(read_course_rules(course))
    return marking_of(course, rules, {course.modules[0].name: rules})


@pytest.fixture
def small(tiny: Path) -> Course:
    write(tiny, {"class.csv": ROSTER})
    return read_course(tiny)


def test_no_file_is_no_rules(small: Course) -> None:
    assert read_course_rules(small) == Rules()


def test_every_key_is_read(small: Course) -> None:
    write(small.root, {"course.toml": FULL})
    assert read_course_rules(small) == Rules(
        roster=str((small.root / "class.csv").resolve()),
        policy="best",
        due=("2026-10-01", "01_tiny=2026-10-02T12:00:00+00:00"),
        late_penalty="10%/day",
        grace="15m",
        undecided="withhold",
        extended=(Extension("ana", "01_tiny", "2026-10-08"), Extension("ben", "", "2026-10-09 12:00")),
        section="Mon",
        name="Attention, autumn 2026",
    )


def test_the_example_of_the_documentation_is_valid(course_copy: Course) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "grading.md").read_text(), re.DOTALL)
    assert {line.split()[0] for line in text.splitlines() if line and line[0].isalpha()} >= EXAMPLES.keys() - {
        "due",
        "totals",
    }
    write(course_copy.root, {"course.toml": text, "class.csv": ROSTER.replace("Mon", "Monday")})
    marking(course_copy)


def test_every_example_can_be_copied(small: Course) -> None:
    text = "\n".join(EXAMPLES.values()).replace("warm_up", "tiny").replace('"Monday"', '"Mon"')
    write(small.root, {"course.toml": text})
    marking(small)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('rooster = "class.csv"', "rooster: is not a key here. Did you mean roster?"),
        ("banana = 1", "banana: is not a key here. The keys are name, section, roster"),
        ("roster = 3", "roster: must be text, not 3. Write it like roster = "),
        ('roster = "nowhere.csv"', "roster: nowhere.csv is not there. Name a CSV file, as seen from"),
        ('roster = "modules"', "roster: modules is a folder"),
        ('policy = "first"', 'policy: cannot be \'first\'. Write policy = "latest" or policy = "best"'),
        ('undecided = "maybe"', "undecided: cannot be 'maybe'"),
        ("due = 3", "due: must be a date, not 3. Write it like 2026-10-01"),
        ('due = "tomorrow"', "due: 'tomorrow' is not a date. Write it like 2026-10-01 23:59"),
        ("due = {tinny = 2026-10-01}", "due.tinny: there is no module 'tinny'. Did you mean tiny?"),
        ("due = {tiny = 2026-10-01, 1 = 2026-10-02}", "due.1: is a second due date for 01_tiny"),
        ("due = 2026-10-01\nextensions = 3", "extensions: must be a list of tables or a file"),
        ("due = 2026-10-01\nextensions = [{until = 2026-10-01}]", "extensions[1].student: must name a student"),
        ('due = 2026-10-01\nextensions = [{student = "ana"}]', "extensions[1].until: is missing"),
        (
            'due = 2026-10-01\nextensions = [{student = "ana", until = 2026-10-01, modul = "x"}]',
            "extensions[1].modul: is not a key here. Did you mean module?",
        ),
        (
            'due = 2026-10-01\nextensions = [{student = "a", until = 2026-10-08}, {student = "A", until = 2026-10-09}]',
            "extensions[2]: A has an extension for the same module above",
        ),
        ('due = 2026-10-01\nlate_penalty = "much"', "late_penalty: 'much' is not a late penalty"),
        ('due = 2026-10-01\ngrace = "long"', "grace: 'long' is not a duration. Write it like grace"),
        ('grace = "15m"', "grace: needs a due date. Add a line like due"),
        ("due = ", "is not TOML: Invalid value (at end of document). Fix that line"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_key_and_a_fix(small: Course, text: str, words: str) -> None:
    write(small.root, {"course.toml": text})
    with pytest.raises(CourseError) as caught:
        read_course_rules(small)
    assert str(caught.value).startswith(str(small.root / "course.toml"))
    assert words in str(caught.value)
    assert caught.value.usage


def test_a_folder_and_bytes_that_are_not_text_are_mistakes(small: Course) -> None:
    (small.root / "course.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(CourseError, match="is not UTF-8 text"):
        read_course_rules(small)
    (small.root / "course.toml").unlink()
    (small.root / "course.toml").mkdir()
    with pytest.raises(CourseError, match="Is a directory"):
        read_course_rules(small)


def test_a_section_that_nobody_is_in_is_refused(small: Course) -> None:
    write(small.root, {"course.toml": 'section = "Fri"\nroster = "class.csv"'})
    with pytest.raises(RulesError, match=r"has no one in section 'Fri'\. Its sections are Mon, Tue"):
        marking(small)


def grades(out: Path) -> dict[str, dict[str, str]]:
    return {row["id"]: row for _, row in read_csv((out / "grades.csv").read_bytes())}


def test_options_override_the_course_for_one_run_and_the_run_says_so(grade: Grade, tiny: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "class", {"ana/tiny.py": RIGHT, "ben/tiny.py": RIGHT})
    for name in ("ana", "ben"):
        set_time(folder / name / "tiny.py", 1)  # after 2026-10-01 12:00 UTC
    rules = 'roster = "class.csv"\nlate_penalty = "10%/day"\nsection = "Mon"\nname = "Attention"\nfile_times = true\n'
    rules += 'due = {all = 2026-10-01T12:00:00Z}\nextensions = [{student = "ana", until = 2026-10-08}]\n'
    write(tiny, {"class.csv": ROSTER, "course.toml": rules})
    out = tmp_path / "out"
    first = grade(folder, "--to", out)
    assert f"as in course.toml: --roster {tiny / 'class.csv'} --due 2026-10-01T12:00:00+00:00" in first.stderr
    assert {who: row["final"] for who, row in grades(out).items()} == {"ana": "10", "ben": "9", "cy": ""}
    assert grades(out)["cy"]["status"] == "missing"
    assert "Attention: 2 submissions: 2 with full marks" in first.stdout
    kept = json.loads((out / "rules.json").read_text())
    assert kept["extended"] == [{"student": "ana", "module": "", "until": "2026-10-08"}]

    second = grade(folder, "--to", out, "--resume", "--late-penalty", "50%/day", "--yes")
    assert "attn: --late-penalty 50%/day overrides course.toml (10%/day)" in second.stderr
    assert grades(out)["ben"]["final"] == "5"
    third = grade(folder, "--to", out, "--resume", "--yes")  # the option was for one run
    assert "the last run used --late-penalty 50%/day, now course.toml counts" in third.stderr
    assert grades(out)["ben"]["final"] == "9"

    fourth = grade(folder, "--to", out, "--resume", "--due", "tiny=2026-10-02T12:00Z", "--yes")
    assert (
        "--due tiny=2026-10-02T12:00Z overrides course.toml (2026-10-01T12:00:00+00:00): this run uses" in fourth.stderr
    )
    assert grades(out)["ben"]["final"] == "10"


def test_a_mistake_in_the_file_stops_the_run(grade: Grade, tiny: Path, tmp_path: Path) -> None:
    write(tiny, {"course.toml": 'late_penaltie = "10%/day"'})
    done = grade(write(tmp_path / "class", {"ana/tiny.py": RIGHT}), "--to", tmp_path / "out")
    assert done.returncode == 2
    assert (
        done.stderr == f"attn: {tiny / 'course.toml'}: late_penaltie: is not a key here. Did you mean late_penalty?\n"
    )
    assert not (tmp_path / "out").exists()


def test_damaged_rules_stop_every_command_that_needs_them(grade: Grade, tmp_path: Path) -> None:
    folder = write(tmp_path / "class", {"ana/tiny.py": RIGHT})
    set_time(folder / "ana" / "tiny.py", 1)
    out = tmp_path / "out"
    grade(folder, "--to", out, "--due", "2026-10-01T12:00Z", "--late-penalty", "10%/day")
    before = (out / "grades.csv").read_bytes()
    (out / "rules.json").write_text((out / "rules.json").read_text()[:40])
    for extra in ((), ("--resume",)):
        done = grade(folder, "--to", out, *extra)
        assert done.returncode == 2
        assert "the rules of the last grading, cannot be read" in " ".join(done.stderr.split())
        assert "restore it from a backup" in " ".join(done.stderr.split())
    assert (out / "grades.csv").read_bytes() == before
