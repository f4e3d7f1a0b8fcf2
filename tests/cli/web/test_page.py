"""The web course in Chromium: solved, stopped, reloaded, downloaded and graded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.web.build import web_leaks
from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.course.course import Course
from grader.course.module import read_text
from tests.cli.conftest import Attn
from tests.cli.web.made import MODULES, own_path
from tests.cli.web.web_page import web_page
from tests.conftest import needs_jail
from tests.pages.browser import Browser, violations

SCHEMES = ("light", "dark")
LOOP = "import numpy as np\n\n\ndef softmax(x, axis=-1):\n    while True:\n        x = x + 1\n"
# An endless loop inside one call of the library, which only the end of the worker ends.
STUCK = "import itertools\n\nfor _ in itertools.filterfalse(lambda x: True, itertools.count()):\n    pass\n"


@pytest.mark.exhaustive
def test_a_student_solves_a_module_and_finds_the_work_again(browser: Browser, address: str, course: Course) -> None:
    solution = "# my own note\n" + read_text(course.solution(course.module("softmax")))
    with web_page(browser, address) as page:
        page.open()
        page.write(solution)
        page.page.keyboard.press("ControlOrMeta+s")
        page.page.locator("#screen", has_text="visible checks pass").wait_for()
        assert "5 of 5 visible checks pass." in page.finished()
        assert page.stored()[own_path(course.module("softmax"))]["text"] == solution
        page.page.reload()
        page.page.locator(".cm-line", has_text="import numpy").wait_for()
        assert page.code.startswith("# my own note\n")
        assert page.stored()[own_path(course.module("softmax"))]["text"] == solution


@pytest.mark.exhaustive
def test_the_second_start_is_from_a_copy_and_works_as_the_first(browser: Browser, address: str, course: Course) -> None:
    module = course.module("softmax")
    with web_page(browser, address) as page:
        page.open()
        page.write(read_text(course.solution(module)))
        first = page.press("test")
        page.page.reload()
        page.wait_for_python()
        assert (
            page.page.evaluate("caches.open('attnlab-python').then(one => one.keys()).then(keys => keys.length)") == 1
        )
        assert page.press("test") == first
        assert "is complete" in page.press("complete")
        page.write("import numpy.testing\nimport statistics\nprint('imported later')\n")
        assert page.press("run") == "imported later\n"


def test_a_hidden_check_in_the_folder_is_found(course: Course, tmp_path: Path) -> None:
    secret = read_text(course.hidden_suite(course.module("softmax")))
    (tmp_path / "python").mkdir()
    (tmp_path / "page.js").write_text(secret)
    assert any("hidden suite" in leak for leak in web_leaks(course, tmp_path))


@pytest.mark.exhaustive
def test_the_folder_has_no_solution_and_no_hidden_check(course: Course, web_folder: Path) -> None:
    assert list(web_leaks(course, web_folder)) == []


@pytest.mark.exhaustive
def test_all_modules_are_solved_downloaded_and_graded(
    browser: Browser, address: str, course: Course, attn: Attn, tmp_path: Path
) -> None:
    needs_jail()
    with web_page(browser, address) as page:
        page.open()
        for module in course.modules[:MODULES]:
            page.page.click(f'[data-module="{module.name}"]')
            page.write(read_text(course.solution(module)))
            assert "stated properties hold." in page.press("test")
            assert f"{module.name} is complete" in page.press("complete")
        downloaded = page.download("ana", tmp_path)
        assert "complete" in page.page.inner_text("nav")
    graded = json.loads(attn("grade", downloaded, "--json").stdout)
    assert [one["score"] for one in graded] == [one["max_score"] for one in graded]
    assert len(graded) == MODULES
    folder = tmp_path / "ana"
    for module in course.modules[:MODULES]:
        (folder / module.name).mkdir(parents=True)
        (folder / module.name / module.stub.name).write_text(read_text(course.solution(module)))
    own = json.loads(attn("grade", tmp_path, "--json").stdout)
    untimed = [{key: value for key, value in one.items() if key != "timing"} for one in graded]
    assert untimed == [{key: value for key, value in one.items() if key != "timing"} for one in own][-MODULES:]


@pytest.mark.exhaustive
def test_misconceptions_are_named_in_the_words_of_the_terminal(
    browser: Browser, address: str, course: Course, attn: Attn, web_course: Path
) -> None:
    named = 0
    with web_page(browser, address) as page:
        page.open()
        for module in course.modules[:MODULES]:
            page.page.click(f'[data-module="{module.name}"]')
            for way in [way for way in read_misconceptions(course, module) if not way.costly][:3]:
                text = as_submission(course, module, way).sources[module.slug].cells[0]
                page.write(text)
                (web_course / own_path(module)).write_text(text)
                expected = attn("test", module.slug, cwd=web_course).stdout.partition("\nTo try")[0]
                shown = page.press("test")
                named += f"({way.name})" in shown
                for line in expected.splitlines():
                    assert line.strip().replace("`", "") in shown.replace("`", ""), (way.name, shown)
            page.write(read_text(course.solution(module)))
            (web_course / own_path(module)).write_text(read_text(course.solution(module)))
    assert named >= 12


@pytest.mark.exhaustive
def test_code_that_never_ends_is_stopped(browser: Browser, address: str) -> None:
    with web_page(browser, address) as page:
        page.open()
        page.write(LOOP)
        shown = page.press("test")
        assert "stopped after 3 s of computing, in line 6 of softmax.py, inside" in shown
        assert "This loop probably never ends." in shown
        page.write(STUCK)
        page.page.click("#run")
        page.page.click("#lesson summary >> nth=0")  # the page still answers
        assert "did not return in the time allowed" in page.finished()
        page.wait_for_python()
        page.page.click("#run")
        page.page.click("#stop")
        assert "Stopped." in page.finished()
        page.wait_for_python()
        page.write("print('again')\n")
        assert page.press("run") == "again\n"


@pytest.mark.exhaustive
def test_the_keyboard_is_enough(browser: Browser, address: str) -> None:
    with web_page(browser, address) as page:
        page.open()
        page.page.keyboard.press("Tab")
        assert page.page.evaluate("document.activeElement.className") == "skip"
        page.page.keyboard.press("Enter")
        reached = []
        for _ in range(14):
            page.page.keyboard.press("Tab")
            reached.append(page.page.evaluate("document.activeElement.id || document.activeElement.className"))
            if "cm-content" in reached[-1]:
                break
        assert {"run", "test", "hint", "complete", "reset", "download", "upload"} <= set(reached)
        assert "cm-content" in reached[-1]
        page.page.keyboard.press("Escape")
        page.page.keyboard.press("Tab")
        assert page.page.evaluate("document.activeElement.id") == "result"


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [(1300, 900), (820, 1180)])
def test_axe_finds_no_violation(browser: Browser, address: str, size: tuple[int, int]) -> None:
    viewport = {"width": size[0], "height": size[1]}
    with web_page(browser, address, viewport=viewport) as page:

        def check() -> None:
            for scheme in SCHEMES:
                page.page.emulate_media(color_scheme=scheme)
                assert violations(page.page) == [], scheme

        page.open()
        for place in ("01_softmax", "before-you-start", "02_loop_attention", "03_attention", "04_masks"):
            page.page.goto(f"{address}#{place}")
            check()
        if size[0] < 1000:
            page.page.click('[data-show="work"]')
        page.press("test")
        check()
        page.page.click("#download")
        check()
