"""Figures: drawn from computed numbers, up to date, described in words, and for light and dark."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.figures.all_figures import all_figures
from docs.figures.charts import short
from docs.figures.drawing import DARK, LIGHT, Drawing
from docs.figures.terminal import PICTURE, SCREEN, terminal_picture
from grader.course.course import Course
from tests.conftest import ROOT

SHAPES = {"svg", "title", "style", "defs", "marker", "path", "rect", "circle", "polyline", "text", "tspan"}
_IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def figures() -> dict[str, str]:
    return all_figures()


def images(page: Path) -> dict[str, str]:
    """The pictures of a page: file name and words."""
    return {name: words for words, name in _IMAGE.findall(page.read_text())}


def test_no_figure_is_stale(figures: dict[str, str]) -> None:
    drawn = {str(path.relative_to(ROOT)): path.read_text() for path in ROOT.glob("modules/*/*.svg")}
    stale = sorted(path for path in drawn.keys() | figures.keys() if drawn.get(path) != figures.get(path))
    assert not stale, f"run `python -m docs.figures`: {stale}"


def test_the_picture_of_a_screen_is_that_of_the_journey() -> None:
    assert PICTURE.read_text() == terminal_picture(SCREEN.read_text()), "run `python -m docs.figures.terminal`"


def test_every_lesson_shows_its_figures(course: Course) -> None:
    for module in course.all_modules:
        pages = [module.lesson, *(path for path in module.beside_lesson if path.suffix == ".md")]
        shown = {name for page in pages for name in images(page)}
        assert shown == {path.name for path in module.beside_lesson if path.suffix == ".svg"}, module.name
        assert len(images(module.lesson)) >= 2, module.name


def test_every_picture_is_described(course: Course) -> None:
    for module in course.all_modules:
        for page in (module.lesson, *module.beside_lesson):
            for name, words in images(page).items() if page.suffix == ".md" else ():
                assert len(words) >= 40, f"{page}: say in words what {name} shows"


def test_figures_are_plain_drawings_for_light_and_dark(figures: dict[str, str]) -> None:
    for path, svg in figures.items():
        root = ElementTree.fromstring(svg)
        names = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert names <= SHAPES, path
        assert svg.count("http") == 1, f"{path} asks for something else"  # the name of the format
        assert "@media (prefers-color-scheme: dark)" in svg
        assert len(svg) < 40_000


def test_words_stay_inside_the_picture(figures: dict[str, str]) -> None:
    for path, svg in figures.items():
        root = ElementTree.fromstring(svg)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for element in root.iter("{http://www.w3.org/2000/svg}text"):
            words = "".join(element.itertext())
            long = 0.55 * float(element.attrib["font-size"]) * len(words)
            x, y = float(element.attrib["x"]), float(element.attrib["y"])
            left = {"start": x, "middle": x - long / 2, "end": x - long}[element.attrib["text-anchor"]]
            assert left > -6, f"{path}: {words}"
            assert left + long < width + 6, f"{path}: {words}"
            assert 8 < y < height, f"{path}: {words}"


def test_a_drawing_escapes_words_and_marks() -> None:
    d = Drawing(10, 10, "a < b")
    d.text(1, 2, "*x* & W_q_")
    assert '<title id="title">a &lt; b</title>' in d.svg()
    assert ">q</tspan>" in d.svg()
    assert '<tspan font-style="italic">x</tspan> &amp; W' in d.svg()


@pytest.mark.parametrize(
    ("value", "words"), [(0.40364, ".4036"), (-0.5, "−.5"), (2.0, "2"), (-0.0, "0"), (1.5, "1.5"), (0.0625, ".0625")]
)
def test_numbers_are_written_as_in_the_lessons(value: float, words: str) -> None:
    assert short(value) == words


def luminance(colour: str) -> float:
    """The relative luminance of a colour such as #4a8fdb, by the rules for accessible web pages."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colours", [LIGHT, DARK])
@pytest.mark.parametrize(
    ("words", "ground"), [("ink", "paper"), ("ink", "a"), ("ink", "b"), ("ink", "c"), ("dim", "paper"), ("dim", "pale")]
)
def test_words_can_be_read(colours: dict[str, str], words: str, ground: str) -> None:
    dark, light = sorted(luminance(colours[name]) for name in (words, ground))
    assert (light + 0.05) / (dark + 0.05) >= 4.5
