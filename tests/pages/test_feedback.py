"""The feedback of a class: pages, index, links, and the search for leaks."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.class_list import ClassList
from grader.core.report import CheckResult, Report
from grader.course.course import Course
from grader.pages.feedback_pages import PageMaker, write_feedback
from grader.pages.nbgrader_feedback import with_page
from grader.pages.page_leaks import PageSearch, text_of
from tests.cli.conftest import Attn
from tests.pages.made import STUDENTS, made_mark, made_report, read_page


@pytest.fixture(scope="module")
def search(course: Course) -> PageSearch:
    return PageSearch(course)


def solution_line(course: Course) -> str:
    """Return a line that is in the solution of 01_softmax, but not in its stub."""
    module = course.module("softmax")
    lines = course.solution(module).read_text().splitlines()
    inside = lines[next(at for at, line in enumerate(lines) if "BEGIN" in line) + 1 :]
    stub = course.stub_text(module)
    return next(line.strip() for line in inside if len(line.strip()) > 20 and line.strip() not in stub)


def test_every_student_gets_a_page_and_no_page_leaks(
    course: Course, example: ClassList, search: PageSearch, tmp_path: Path
) -> None:
    made = write_feedback(course, example, tmp_path, "Attention", unguessable=False)
    assert made.problems == ()
    assert {link.id for link in made.links} == set(STUDENTS)
    for mark, report in example.reports():
        text = (tmp_path / mark.module / f"{mark.submission}.html").read_text()
        assert list(search.leaks(text, report, own_lines(report))) == []
        assert mark.name in read_page(text).text
        details = [check.detail for check in report.checks if check.suite != "visible" and check.outcome == "failed"]
        shown = text_of(text)
        for line in (line for detail in details for line in detail.splitlines() if "got " in line):
            assert line not in shown
    index = read_page((tmp_path / "index.html").read_text())
    assert all(f"01_softmax/{who}.html" in index.values for who in STUDENTS)


def own_lines(report: Report) -> set[str]:
    found = [one.code for one in report.diagnoses if one.code] + [one.code for one in report.costs if one.code]
    return {line for code in found for line in code.lines}


def test_a_page_with_a_line_of_the_solution_is_left_out(course: Course) -> None:
    line = solution_line(course)
    maker = PageMaker(course)
    report = made_report("words")
    assert maker.page(made_mark(), report)[1] == ""
    text, leak = maker.page(made_mark(), replace(report, message=f"look:\n{line}"))
    assert text == ""
    assert "a line of the solution of 01_softmax" in leak
    assert maker.page(made_mark(comment=line), report)[1], "a comment is searched too"


def test_a_line_that_the_student_wrote_is_no_leak(course: Course) -> None:
    """Much of a wrong submission is right."""
    line = f"    {solution_line(course)}"
    report = made_report(line, message="", forbidden=(), reviews=(), file="a.py", submission="a")
    code = report.diagnoses[0].code
    report = replace(report, checks=(), costs=(), diagnoses=(replace(report.diagnoses[0], message="m", gap=None),))
    assert code is not None
    traceback = CheckResult("t", "hidden", "softmax", 1.0, 0.0, "failed", "right", "not true", f"Traceback:\n{line}")
    text, leak = PageMaker(course).page(made_mark(), replace(report, checks=(traceback,)))
    assert leak == ""
    assert solution_line(course) in read_page(text).text


def test_text_for_instructors_and_hidden_suites_are_found(course: Course, search: PageSearch) -> None:
    report = made_report("words")
    assert list(search.leaks("<p>input was 8372</p>", report, ()))
    hidden = course.hidden_suite(course.module("softmax")).read_text().splitlines()
    body = [line for line in hidden if len(line.strip()) >= 12 and not line.startswith(("import", "from", '"', "#"))]
    page = "".join(f"<p>{line.replace('<', '&lt;').replace('>', '&gt;')}</p>" for line in body[3:9])
    assert any("hidden suite" in leak for leak in search.leaks(page, report, ()))


def test_links_cannot_be_guessed_and_are_the_same_in_each_run(
    attn: Attn, course: Course, example: ClassList, reports: Path, tmp_path: Path
) -> None:
    links = tmp_path / "links.csv"
    done = attn("feedback", reports, "--to", tmp_path / "pages", "--links", links)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(links.read_text().splitlines()))
    assert {row["id"] for row in rows} == set(STUDENTS)
    assert {row["file"] for row in rows} == {path.name for path in (tmp_path / "pages").iterdir()}
    assert all(re.fullmatch(r"[a-z2-7]{26}\.html", row["file"]) for row in rows)
    assert links.stat().st_mode & 0o077 == 0
    again = write_feedback(course, example, tmp_path, unguessable=True)
    assert again.links_table().splitlines() == links.read_text().splitlines()
    refused = attn("feedback", reports, "--to", tmp_path / "new", "--links", tmp_path / "new" / "links.csv")
    assert refused.returncode == 2
    assert "where everybody can read it" in refused.stderr


def test_feedback_is_refused_where_something_is(attn: Attn, reports: Path, tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("mine")
    done = attn("feedback", reports, "--to", tmp_path)
    assert done.returncode == 2
    assert "already exists" in done.stderr


@pytest.mark.exhaustive
def test_pages_go_into_the_feedback_of_nbgrader(attn: Attn, reports: Path, tmp_path: Path) -> None:
    file = tmp_path / "feedback" / "farah" / "01_softmax" / "softmax.html"
    file.parent.mkdir(parents=True)
    made = "<html><body class='x'><p>made by nbgrader</p></body></html>"
    file.write_text(made)
    done = attn("feedback", reports, "--nbgrader", tmp_path)
    assert done.returncode == 3, "the other students have no feedback of nbgrader"
    assert "Run `nbgrader generate_feedback 01_softmax` first" in done.stderr
    text = file.read_text()
    assert text.startswith("<html><body class='x'><!-- AttnLab report --><iframe title=\"Your report\" sandbox srcdoc=")
    assert text.endswith("<p>made by nbgrader</p></body></html>")
    assert read_page(text).tags == {"html", "body", "p", "iframe"}
    assert with_page(text, "<p>other</p>") == with_page(made, "<p>other</p>")
    for wrong in (["--nbgrader", tmp_path, "--to", tmp_path / "new"], [], ["--nbgrader", reports]):
        assert attn("feedback", reports, *wrong).returncode == 2


def test_pages_have_the_colour_of_the_course(tiny: Course) -> None:
    (tiny.root / "course.toml").write_text('[about]\ntitle = "Squares"\ncolour = "#7a1fa2"\n')
    text, leak = PageMaker(tiny).page(made_mark(module="01_tiny"), made_report(module="01_tiny"))
    assert leak == ""
    assert "--link: #7a1fa2" in text
    policy = re.search(r"style-src &#39;(sha256-[^&]+)&#39;", text)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert policy is not None
    assert style is not None
    digest = hashlib.sha256(style[1].encode()).digest()
    assert policy[1] == f"sha256-{base64.b64encode(digest).decode()}", "or no browser would use it"
