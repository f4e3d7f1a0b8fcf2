"""The second course, examples/tokens: sound, graded and released by the same engine, which does not know it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from cli.web.build import require_possible
from docs.figures import tokens as figures
from docs.figures import tokens34
from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.authoring.soundness import check_module, check_modules
from grader.classroom.class_list import read_class
from grader.classroom.store.files import FileStore
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.loading import load_reference
from grader.course.module import Module, read_text
from grader.grading.grade import grade
from grader.submission.submission import Source
from tests.acceptance.graded_cases import lost_marks
from tests.cli.conftest import run_attn
from tests.cli.web.made import make_folder, served
from tests.cli.web.web_page import web_page
from tests.conftest import ROOT, needs_jail
from tests.pages.browser import needs_browser, open_browser
from tests.quick import sampled
from tests.submissions import with_earlier
from tests.test_engine_knows_no_course import engine_files, names_of_course, references

TOKENS = ROOT / "examples" / "tokens"
MODULES = ("01_bytes", "02_pairs", "03_encoding", "04_vectors")
RIGHT = sorted((TOKENS / "tests" / "right").glob("*/*.py"))
STUDENTS = 30
_IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]+\.svg)\)")


@pytest.fixture(scope="module")
def tokens() -> Course:
    return read_course(TOKENS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A copy with a salt of its own: what is released and graded here leaves nothing in the repository."""
    return copied(tmp_path_factory.mktemp("tokens"))


def copied(folder: Path) -> Course:
    ignored = shutil.ignore_patterns(".attnlab", "__pycache__", ".pytest_cache")
    return read_course(shutil.copytree(TOKENS, folder / "course", ignore=ignored))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def solution(course: Course, name: str) -> ModuleType:
    return load_reference(course, course.module(name))


def right_solution(course: Course, path: Path) -> tuple[Module, Source]:
    """Return a right solution in another style, and its module."""
    module = course.module(path.parent.name)
    return module, Source(f"{module.slug}.py", (path.read_text(),), notebook=False)


# What it holds ------------------------------------------------------------------------------------------


def test_the_course_has_its_modules_and_each_has_its_misconceptions(tokens: Course) -> None:
    assert tuple(module.name for module in tokens.modules) == MODULES
    for module in tokens.modules:
        assert len(read_misconceptions(tokens, module)) >= 12, module.name
        assert module.complexity, module.name
    assert {path.parent.name for path in RIGHT} == set(MODULES)
    require_possible(tokens, tokens.modules)


def test_the_figures_are_those_that_the_script_draws() -> None:
    drawn = {str(path.relative_to(ROOT)): path.read_text() for path in TOKENS.glob("modules/*/*.svg")}
    assert drawn == figures.all_figures() | tokens34.all_figures(), "run `python -m docs.figures`"


def test_every_lesson_shows_its_figures_and_says_what_is_in_them(tokens: Course) -> None:
    for module in tokens.modules:
        shown = {name: words for words, name in _IMAGE.findall(module.lesson.read_text())}
        assert shown.keys() == {path.name for path in module.folder.glob("*.svg")}, module.name
        assert len(shown) >= 2, module.name
        assert min(map(len, shown.values())) >= 40, module.name


def test_the_lesson_on_bytes_has_right_numbers(tokens: Course) -> None:
    of, lesson = solution(tokens, "01_bytes"), tokens.module("01_bytes").lesson.read_text()
    rows = re.findall(r"^\| `(.)` \| (\d+) \| ([\d, ]+) \|$", lesson, re.MULTILINE)
    assert len(rows) == 7
    for character, code_point, listed in rows:
        assert ord(character) == int(code_point)
        assert str(of.text_to_ids(character)) == f"[{listed}]"
    assert [len(of.text_to_ids(word)) for word in ("tree", "Bäume", "дерево", "木", "🌳")] == [4, 6, 12, 3, 4]
    assert "*tree* has 4 bytes, *Bäume* 6, *дерево* 12, 木 3 and 🌳 4." in lesson
    assert (len("e\u0301"), len(of.text_to_ids("e\u0301"))) == (2, 3)
    assert of.ids_to_text([110, 195, 175, 33]) == "nï!"
    assert len(of.cut_to_fit(of.text_to_ids("木木"), 5)) == 3


def test_the_lesson_on_pairs_has_right_numbers(tokens: Course) -> None:
    of, lesson = solution(tokens, "02_pairs"), tokens.module("02_pairs").lesson.read_text()
    ids = list(figures.BANANA.encode())
    rows = re.findall(r"^\| (\d) \| (\d+) \| (\d) \| (.+?) \| (.+?) \|", lesson, re.MULTILINE)
    assert len(rows) == 4
    for step, left, most, _, winner in rows:
        counts = of.count_pairs(ids)
        best = of.best_pair(counts)
        assert (len(ids), counts[best]) == (int(left), int(most))
        assert winner == (str(best) if counts[best] > 1 else "nobody")
        ids = of.merge(ids, best, 255 + int(step))
    assert f"`{of.train(figures.BANANA, 10)}`" in lesson
    assert of.train("aaaa", 5) == [(97, 97)]
    assert of.train("abcabc", 5) == [(97, 98), (256, 99)]
    ids = list(figures.SHELLS.encode())
    lengths = [len(ids)]
    for new, pair in enumerate(of.train(figures.SHELLS, 30), 256):
        ids = of.merge(ids, pair, new)
        lengths.append(len(ids))
    words = f"{lengths[0]} ids without merges, {lengths[10]} after 10, {lengths[20]} after 20, {lengths[30]} after 30"
    assert words in lesson


# What the engine knows about it -------------------------------------------------------------------------


def traces(root: Path) -> Iterator[str]:
    """Yield every line of the engine that names the course. A name of one word is a word of English or of Python."""
    names = {name for name in names_of_course(TOKENS) if "_" in name or " " in name} - {
        "one_hot"
    }  # that is torch's, too
    names.add("examples/tokens")
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)|{references(TOKENS).pattern}")
    for path in engine_files(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(line):
                yield f"{path.relative_to(root)}:{number} {line.strip()}"


def test_the_engine_names_nothing_of_the_course() -> None:
    assert list(traces(ROOT)) == []


@pytest.mark.parametrize("line", ["COUNT = 'count_pairs'", "# as in 02_pairs", "from mylab.bytes import ids_to_text"])
def test_a_planted_name_is_found(tmp_path: Path, line: str) -> None:
    path = tmp_path / "grader" / "planted.py"
    path.parent.mkdir()
    path.write_text(f"{line}\n")
    assert len(list(traces(tmp_path))) == 1


# Proofs -------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_the_course_is_sound(copy: Course) -> None:
    """Each misconception is caught and named, each check can fail, and no release would leak."""
    for result in check_modules(copy, copy.modules):
        assert [problem.what for problem in result.problems] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("file", "old", "new", "found"),
    sampled(
        [
            (
                "tests/hidden/test_01_bytes.py",
                '    assert_equal(student.character_starts(list(b"aaba")), [0, 1, 2, 3])\n',
                '    student.character_starts(list(b"aaba"))\n',
                "character_starts_of_ascii fails for no misconception",
            ),
            (
                "solutions/01_bytes/bytes.py",
                "    while 128 <= ids[end] < 192:",
                "    while 128 <= ids[end] < 160:",
                "the solution fails cut_to_fit_of_the_lesson",
            ),
        ],
        2,
    ),
)
def test_a_broken_check_and_a_wrong_solution_are_found(
    tmp_path: Path, file: str, old: str, new: str, found: str
) -> None:
    course = copied(tmp_path)
    edit(course.root / file, old, new)
    if file.startswith("solutions"):
        misconceptions = course.root / "solutions" / "01_bytes" / "misconceptions.py"
        edit(misconceptions, 'REPLACE = {"while 128 <= ids[end] < 192:', 'REPLACE = {"while 128 <= ids[end] < 160:')
    problems = check_module(course, course.module("01_bytes")).problems
    assert found in "\n".join(problem.what for problem in problems)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MODULES)
def test_right_solutions_in_any_style_have_full_marks(copy: Course, name: str) -> None:
    module = copy.module(name)
    chosen = [path for path in RIGHT if path.parent.name == name]
    submissions = [with_earlier(copy, module, right_solution(copy, path)[1], path.stem) for path in chosen]
    reports: list[Report] = []
    grade(copy, module, submissions, reports.append, allow_unjailed=True)
    assert len(reports) == len(chosen)
    assert lost_marks(tuple(reports)) == {}
    assert [report.submission for report in reports if report.needs_review] == []


# A class ------------------------------------------------------------------------------------------------


def hand_in(course: Course, module: Module, to: Path) -> dict[str, str]:
    """Make a class: right solutions in every style, and misconceptions. Return the misconception of each student."""
    chosen = [path for path in RIGHT if path.parent.name == module.name]
    files = {f"right_{path.stem}": (path.read_text(), "") for path in chosen}
    files["solution"] = read_text(course.solution(module)), ""
    for wrong in [one for one in read_misconceptions(course, module) if not one.costly]:
        source = as_submission(course, module, wrong).sources[module.slug]
        assert isinstance(source, Source)
        files[f"wrong_{wrong.name}"] = "\n".join(source.cells), wrong.name
    students = dict([*files.items()][:STUDENTS])
    for student, (text, _) in students.items():
        (to / student).mkdir(parents=True)
        (to / student / f"{module.slug}.py").write_text(text)
    return {student: name for student, (_, name) in students.items()}


@pytest.mark.exhaustive
def test_a_class_of_thirty_is_graded_and_every_mistake_is_named(copy: Course, tmp_path: Path) -> None:
    needs_jail()
    module = copy.module("01_bytes")
    mistakes = hand_in(copy, module, tmp_path / "class")
    assert len(mistakes) == STUDENTS
    done = run_attn("grade", tmp_path / "class", "--to", tmp_path / "reports", cwd=copy.root)
    assert done.returncode == 1, done.stderr
    assert "30 submissions: 7 with full marks, 23 with less" in done.stdout
    reports = {mark.submission: mark for mark in read_class(FileStore(tmp_path / "reports")).marks}
    assert {student for student, mark in reports.items() if mark.score == mark.max_score} == {
        student for student, mistake in mistakes.items() if not mistake
    }
    named = run_attn("stats", tmp_path / "reports", cwd=copy.root).stdout
    assert [mistake for mistake in mistakes.values() if mistake and mistake not in named] == []
    done = run_attn("dashboard", tmp_path / "reports", "--to", tmp_path / "class.html", cwd=copy.root)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "class.html").read_text()
    assert "From text to vectors" in page
    assert "code_points" in page


# Released -----------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_bundle_of_the_course_teaches_a_student(copy: Course, tmp_path: Path) -> None:
    to = tmp_path / "week1"
    done = run_attn("release", "--bundle", *(name[3:] for name in MODULES), "--to", to, cwd=copy.root)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in to.glob("modules/*")} == set(MODULES)
    assert "Turn text into the vectors that attention reads" in (to / "README.md").read_text()
    mine = to / "modules" / "01_bytes" / "bytes.py"
    edit(mine, "raise NotImplementedError", "return [ord(character) for character in text]")
    done = run_attn("test", "bytes", cwd=to)
    assert done.returncode == 1
    assert "(code_points)" in done.stdout
    mine.write_text(read_text(copy.solution(copy.module("01_bytes"))))
    assert "6 of 6 visible checks pass." in run_attn("test", "bytes", cwd=to).stdout


@pytest.mark.exhaustive
def test_the_course_is_solved_in_a_browser(copy: Course, tmp_path: Path) -> None:
    needs_browser()
    folder = make_folder(copy, tmp_path / "site")
    with served(folder) as address, open_browser() as browser, web_page(browser, address) as page:
        page.open()
        page.write("def text_to_ids(text):\n    return [ord(character) for character in text]\n")
        assert "(code_points)" in page.press("test")
        page.write(read_text(copy.solution(copy.module("01_bytes"))))
        assert "6 of 6 visible checks pass." in page.press("test")
        assert page.problems == []
