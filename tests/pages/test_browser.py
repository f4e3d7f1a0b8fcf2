"""The pages in a real browser: accessible, harmless, readable without a script, and usable with the keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.classroom.class_list import ClassList
from grader.classroom.class_results import ClassResults, StudentResult
from grader.course.course import Course
from grader.pages.dashboard_page import MisconceptionText, dashboard
from grader.pages.feedback_pages import write_feedback
from tests.cli.conftest import Attn
from tests.pages.browser import Browser, needs_browser, open_browser, violations
from tests.pages.made import made_mark
from tests.pages.test_hostile import HOSTILE, dashboard_text, report_text
from tests.waiting import wait_until

PAGES = ("dashboard.html",)
MORE = ("farah.html", "index.html", "ben.html", "hana.html", "hostile.html", "hostile_dashboard.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    needs_browser()
    with open_browser() as running:
        yield running


@pytest.fixture(scope="module")
def pages(
    attn: Attn, course: Course, example: ClassList, reports: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The pages of the example class, and one of hostile text, in one folder."""
    folder = tmp_path_factory.mktemp("pages")
    write_feedback(course, example, folder, "Attention", unguessable=False)
    for path in (folder / "01_softmax").iterdir():
        path.rename(folder / path.name)
    done = attn("dashboard", reports, "--to", folder / "dashboard.html")
    assert done.returncode == 0, done.stderr
    (folder / "hostile.html").write_text(report_text("".join(HOSTILE.values())))
    (folder / "hostile_dashboard.html").write_text(dashboard_text(HOSTILE["closing"]))
    return folder


@pytest.mark.parametrize("name", [*PAGES, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in MORE)])
def test_axe_finds_no_violation(browser: Browser, pages: Path, name: str) -> None:
    with browser.page(pages / name, color_scheme="light") as page:
        assert violations(page) == []


@pytest.mark.parametrize("name", ["farah.html", pytest.param("dashboard.html", marks=pytest.mark.exhaustive)])
def test_dark_colours_have_enough_contrast(browser: Browser, pages: Path, name: str) -> None:
    with browser.page(pages / name, color_scheme="dark") as page:
        assert violations(page, "color-contrast") == []


def test_axe_would_find_one(browser: Browser, pages: Path, tmp_path: Path) -> None:
    text = without_policy((pages / "index.html").read_text())
    text = text.replace('<html lang="en">', "<html>").replace("--quiet: #565b62", "--quiet: #ccc")
    (tmp_path / "bad.html").write_text(text)
    with browser.page(tmp_path / "bad.html", color_scheme="light") as page:
        assert {one.partition(":")[0] for one in violations(page)} == {"html-has-lang", "color-contrast"}


def without_policy(text: str) -> str:
    return re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)


def test_hostile_text_does_not_run(browser: Browser, pages: Path) -> None:
    for name in ("hostile.html", "hostile_dashboard.html"):
        with browser.page(pages / name) as page:  # a dialog fails it
            assert "<script>alert(1)</script>" in page.inner_text("body")


@pytest.mark.parametrize("guarded", [True, False])
def test_a_script_inside_a_page_is_stopped_by_its_policy(
    browser: Browser, pages: Path, tmp_path: Path, guarded: bool
) -> None:
    """If escaping failed, the policy would still stop the script. Without the policy it runs."""
    bad = "<script>window.ran = 1</script><svg onload='window.ran = 2'></svg><p style='color: red'>"
    text = (pages / "dashboard.html").read_text().replace("</main>", f"{bad}</main>")
    if not guarded:
        text = without_policy(text)
    (tmp_path / "page.html").write_text(text)
    with browser.page(tmp_path / "page.html") as page:
        page.wait_for_load_state()
        assert (page.evaluate("window.ran") is None) is guarded
        assert not page.locator(".controls").get_attribute("hidden"), "our own script runs"


def test_dashboard_is_complete_without_a_script(browser: Browser, pages: Path) -> None:
    with browser.page(pages / "dashboard.html", java_script_enabled=False) as page:
        page.emulate_media(media="print")  # a screen leaves out what is far below
        text = page.inner_text("main")
        for words in ("farah", "ignores_axis", "softmax is right along every axis", "At a glance"):
            assert words in text
        page.emulate_media(media="screen")
        assert not page.locator(".controls").is_visible()
        assert page.locator("th button").count() == 0


def test_columns_are_sorted_with_the_keyboard(browser: Browser, pages: Path) -> None:
    with browser.page(pages / "dashboard.html") as page:
        table = "[aria-labelledby=overview] table"
        header = page.locator(f"{table} th", has_text="share of points")
        header.locator("button").focus()
        for key, order, first in (("Enter", "descending", "98 %"), ("Space", "ascending", "–")):
            page.keyboard.press(key)
            assert header.get_attribute("aria-sort") == order
            assert page.locator(f"{table} tbody tr").first.locator("td").nth(2).inner_text() == first
        matrix = page.locator("table.matrix")
        matrix.scroll_into_view_if_needed()
        matrix.locator("th button", has_text="ignores_axis").first.click()
        assert "farah" in matrix.locator("tbody tr").first.inner_text()


def test_lengths_and_dates_are_sorted_by_their_size(browser: Browser, tmp_path: Path) -> None:
    late = {"s01": 36_000.0, "s02": 97_200.0, "s03": 2_700.0, "s04": 3_600.0}
    days = dict(zip(late, (1, 2, 3, 3), strict=True))  # so the order by attempts is another one
    marks = [made_mark(who, late_s=late[who], handed_in=f"2026-10-0{days[who]}T12") for who in late]
    found = ClassResults(tuple(map(StudentResult, marks)), {"01_softmax": {}}, (), ())
    (tmp_path / "late.html").write_text(dashboard(found, lambda *_: MisconceptionText(""), "Late"))
    with browser.page(tmp_path / "late.html") as page:
        page.locator("[aria-labelledby=late] th button", has_text="late by").click()
        cells = page.locator("[aria-labelledby=late] tbody td:nth-child(5)").all_text_contents()
        assert cells == ["45 min", "1 h", "10 h", "1 d 3 h"]
        for head in ("attempts", "day"):
            page.locator("[aria-labelledby=days] th button", has_text=head).click()
        shown = page.locator("[aria-labelledby=days] tbody th").all_text_contents()
        assert shown == ["2026-10-01", "2026-10-02", "2026-10-03"]


def test_filters_hide_rows_and_exchange_numbers(browser: Browser, pages: Path) -> None:
    with browser.page(pages / "dashboard.html") as page:
        students = page.locator("[aria-labelledby=overview] tbody tr:visible")
        handed_in = page.locator("table[data-stat=glance] tbody td").first
        assert (students.count(), handed_in.inner_text()) == (10, "9")
        page.locator("#section").focus()
        page.keyboard.press("ArrowDown")
        wait_until("five are shown", lambda: page.locator("#shown").inner_text().startswith("5 "))
        assert page.locator("#section").evaluate("one => one.selectedOptions[0].textContent") == "Mon"
        assert (students.count(), handed_in.inner_text()) == (5, "4")
        bars = page.locator("table[data-stat=bins] td.v").all_inner_texts()
        assert sum(map(int, bars)) == 4
        page.locator("#student").fill("BEN")
        assert students.all_inner_texts()[0].startswith("ben")
        assert page.locator("#shown").inner_text() == "1 of 10 students"
        page.locator("#section").select_option(index=0)
        page.locator("#student").fill("")
        assert (students.count(), handed_in.inner_text()) == (10, "9")


def test_dark_and_print_have_their_own_colours(browser: Browser, pages: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    with browser.page(pages / "dashboard.html", color_scheme="dark") as page:
        assert page.evaluate(colour) == "rgb(22, 24, 27)"
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(colour) == "rgb(255, 255, 255)"
        assert not page.locator(".controls").is_visible()
        assert page.pdf().startswith(b"%PDF")


def test_page_fits_a_phone(browser: Browser, pages: Path) -> None:
    """Only tables and code scroll sideways, never the page (WCAG 1.4.10)."""
    for name in ("farah.html", "dashboard.html"):
        with browser.page(pages / name) as page:
            page.set_viewport_size({"width": 320, "height": 640})
            assert page.evaluate("document.documentElement.scrollWidth") <= 320
