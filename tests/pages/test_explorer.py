"""The explorer in a real browser: its controls, the keyboard, both colours, no script, and no request."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Attn
from tests.conftest import ROOT
from tests.pages.browser import Browser, needs_browser, open_browser, violations
from tests.waiting import wait_until

pytestmark = pytest.mark.exhaustive

MODULES = ("03_attention", "04_masks", "08_positions")
NO_SCALING = "\n\nScaledDotProductAttention.scale_scores = lambda self, scores: scores\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    needs_browser()
    with open_browser() as running:
        yield running


@pytest.fixture(scope="module")
def explorer(attn: Attn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a student who does not scale, and has masks and positions."""
    needs_browser()
    folder = tmp_path_factory.mktemp("explorer")
    shutil.copy(ROOT / "course.toml", folder)
    for name in MODULES:
        shutil.copytree(ROOT / "modules" / name, folder / "modules" / name)
        file = f"{name}/{name[3:]}.py"
        code = (ROOT / "solutions" / file).read_text()
        (folder / "modules" / file).write_text(code + (NO_SCALING if name == MODULES[0] else ""))
    done = attn("explore", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "explorer.html"


def cells(page: Any, stage: str, table: int = 0) -> list[list[str]]:
    """Return the numbers of a table that can be seen."""
    rows = page.locator(f"[data-stage={stage}] table").nth(table).locator("tbody tr")
    return [rows.nth(at).locator("td").all_inner_texts() for at in range(rows.count())]


def captions(page: Any, stage: str) -> list[str]:
    return list(page.locator(f"[data-stage={stage}] caption").all_inner_texts())


def test_axe_finds_no_violation(browser: Browser, explorer: Path) -> None:
    with browser.page(explorer, color_scheme="light") as page:
        assert violations(page) == []
        page.check("#heads")
        page.check("#causal")
        assert violations(page) == []
    with browser.page(explorer, color_scheme="dark") as page:
        assert violations(page, "color-contrast") == []


def test_the_script_shows_what_the_page_shows_without_it(browser: Browser, explorer: Path) -> None:
    seen = []
    for script in (True, False):
        with browser.page(explorer, java_script_enabled=script) as page:
            assert page.locator("#controls").is_visible() == script
            seen.append(
                [(captions(page, stage), cells(page, stage)) for stage in ("raw", "scaled", "weights", "output")]
            )
            assert page.locator("#size-table tbody tr").count() == 12
    assert seen[0] == seen[1]
    assert seen[0][2][0] == ["Yours", "Expected", "What no scaling would give"]


def test_sliders_and_toggles_change_the_tables(browser: Browser, explorer: Path) -> None:
    with browser.page(explorer) as page:
        first = cells(page, "weights", 1)
        assert first[1] == ["0.4026", "0.0898", "0.2442", "0.1481", "0.1153"]  # cat, as in the lesson
        page.locator("#scale").focus()
        page.keyboard.press("ArrowLeft")
        assert page.locator("output[for=scale]").inner_text() == "none"
        assert page.locator("#scale").get_attribute("aria-valuetext") == "none"
        assert captions(page, "scaled") == ["Yours"]  # without a scale, this student is right
        assert cells(page, "weights") == cells(page, "weights", 1) != first
        page.locator("#temperature").press("ArrowRight")
        assert cells(page, "weights", 1) == first  # a temperature of 2 is the same as dividing by √4
        page.locator("button[type=reset]").click()
        # Not `wait_for_function`: if it has to look twice, it needs eval, which the page forbids.
        wait_until("the scale is reset", lambda: page.locator("output[for=scale]").inner_text() == "√d_k")
        assert cells(page, "weights", 1) == first
        page.locator("#causal").press("Space")
        assert cells(page, "masked")[0] == ["0.0000", *["blocked"] * 4]
        assert cells(page, "weights")[0] == ["1.0000", *["0.0000"] * 4]
        page.locator("#window").press("End")
        assert [row[at] for at, row in enumerate(cells(page, "weights"))] == ["1.0000"] * 5
        page.locator("#window").press("Home")
        page.locator("#causal").press("Space")
        page.locator("#heads").press("Space")
        assert captions(page, "raw") == ["Head 1: Yours", "Head 2: Yours"]
        page.locator("#heads").press("Space")
        page.select_option("#positions", label="RoPE")
        assert cells(page, "weights", 1) != first
        page.select_option("#sentence", label="A river bank floods")
        assert page.locator("#token option").all_inner_texts() == ["A", "river", "bank", "floods"]
        assert len(cells(page, "weights")) == 4


def test_a_token_is_followed_by_mouse_and_keyboard(browser: Browser, explorer: Path) -> None:
    with browser.page(explorer) as page:
        told = page.locator("#read")
        assert told.inner_text().startswith("The looks at The ")
        page.locator("[data-stage=weights] tbody button").nth(1).hover()
        assert told.inner_text().startswith("cat looks at The 0.6116, cat 0.0304")
        assert page.locator("tr.now th").all_inner_texts()[:2] == ["cat", "cat"]
        page.locator("[data-stage=raw] tbody button").nth(2).focus()
        assert told.inner_text().startswith("sat looks at")
        page.keyboard.press("Tab")
        assert told.inner_text().startswith("on looks at")
        page.select_option("#token", label="mat")
        assert told.inner_text().startswith("mat looks at")
        assert page.locator("[data-stage=raw] [aria-pressed=true]").all_inner_texts() == ["mat"]


@pytest.mark.exhaustive
def test_two_heads_are_those_of_the_own_layer(browser: Browser, attn: Attn, tmp_path: Path) -> None:
    name = "06_multi_head_attention"
    shutil.copy(ROOT / "course.toml", tmp_path)
    shutil.copytree(ROOT / "modules" / name, tmp_path / "modules" / name)
    file = f"{name}/{name[3:]}.py"
    (tmp_path / "modules" / file).write_text((ROOT / "solutions" / file).read_text())
    done = attn("explore", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with browser.page(tmp_path / "explorer.html") as page:
        made_by = page.locator(".stage:has([data-stage=weights]) .by")
        assert captions(page, "weights") == ["The course's"]
        page.check("#heads")
        assert captions(page, "weights") == ["Head 1: Yours", "Head 1: Expected", "Head 2: Yours", "Head 2: Expected"]
        assert made_by.inner_text() == f"{name}: MultiHeadAttention(4, 2)(Q, K, V)"
        assert cells(page, "weights")[1][0] == "0.3664"  # cat looks at The, as in the lesson
        assert page.locator("td.off").count() == 0
        page.check("#causal")
        assert made_by.inner_text() == f"{name}: MultiHeadAttention(4, 2)(Q, K, V, mask)"
        assert cells(page, "weights")[0] == ["1.0000", *["0.0000"] * 4]


def test_sizes(browser: Browser, explorer: Path) -> None:
    with browser.page(explorer) as page:
        page.locator("#size").press("End")
        assert "n = 8192; entries of the weights: 67,108,864; bytes in float32: 256 MiB;" in page.inner_text(
            "#size-read"
        )
        assert page.locator("#size-table tr.now th").inner_text() == "8192"
        assert "multiplications: 2·b·n²·d" in page.inner_text("#scaling ~ ul")


def test_page_fits_a_phone(browser: Browser, explorer: Path) -> None:
    with browser.page(explorer) as page:
        page.set_viewport_size({"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
