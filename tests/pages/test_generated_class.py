"""A dashboard of 1 000 students and 12 modules: small, complete, and usable in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.course import Course
from grader.pages.dashboard_page import MisconceptionText, dashboard
from tests.pages.browser import needs_browser, open_browser, violations
from tests.pages.generated import MODULES, SECTIONS, STUDENTS, generated_class
from tests.pages.made import read_page

pytestmark = pytest.mark.exhaustive
MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def path(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("generated") / "dashboard.html"
    made.write_text(dashboard(generated_class(course), _about, "1 000"))
    return made


def _about(_: str, name: str, function: str) -> MisconceptionText:
    hint = (
        "Try it with an array of two rows and three columns. Which of the two sums should be 1, and which of them is?"
    )
    return MisconceptionText(f"{name}: a sentence of usual length about it", hint, f"3. {function}")


def test_page_is_at_most_three_megabytes(path: Path) -> None:
    assert path.stat().st_size <= MOST_BYTES
    text = read_page(path.read_text()).text
    assert all(f"s{number:04}" in text for number in range(STUDENTS))
    for words in ("nobody fails it", "everybody fails it: is the check right?", "4 of 4"):
        assert words in text


def test_page_is_usable_in_a_browser(path: Path) -> None:
    needs_browser()
    with open_browser() as browser, browser.page(path) as page:
        rows = page.locator("[aria-labelledby=overview] tbody tr:visible")
        assert rows.count() == STUDENTS
        page.locator("#section").select_option(index=1)
        assert rows.count() == STUDENTS // SECTIONS
        page.locator("#module").select_option(index=3)
        assert page.locator("article:visible").count() == 1
        page.locator("#module").select_option(index=0)
        assert page.locator("article:visible").count() == MODULES
        page.locator("#section").select_option(index=0)
        page.locator("[aria-labelledby=overview] th button", has_text="misconceptions").click()
        counts = [int(text) for text in rows.locator("td:nth-child(6)").all_inner_texts()]
        assert counts == sorted(counts, reverse=True)
        # All rows of a table are alike, and axe would take a quarter of an hour for all of them.
        page.evaluate(
            "document.querySelectorAll('tbody').forEach(one => [...one.rows].slice(10).forEach(row => row.remove()))"
        )
        assert violations(page) == []
