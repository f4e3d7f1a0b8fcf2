"""`attn explore`: the page has the numbers of `attn explain`, says whose they are, and works with little code."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Attn
from tests.conftest import ROOT
from tests.pages.made import read_page

ARRAYS = "03_attention"
NO_SCALING = "\n\nScaledDotProductAttention.scale_scores = lambda self, scores: scores\n"
HOSTILE = "</script><img src=x onerror=alert(1)>"
BROKEN = f"""

def broken(self, scores, mask=None):
    raise ValueError({HOSTILE!r})


ScaledDotProductAttention.compute_weights = broken
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A bundle with the modules that the explorer uses first, all untouched."""
    for name in ("01_softmax", "02_loop_attention", ARRAYS):
        shutil.copytree(ROOT / "modules" / name, tmp_path / "modules" / name)
    shutil.copy(ROOT / "course.toml", tmp_path)
    return tmp_path


def solve(course: Path, module: str, more: str = "") -> None:
    file = f"{module}/{module[3:]}.py"
    (course / "modules" / file).write_text((ROOT / "solutions" / file).read_text() + more)


def tables(text: str, stage: str) -> dict[str, list[list[str]]]:
    """Return the tables of a stage that the page shows without a script, by their captions."""
    (part,) = re.findall(rf'data-stage="{stage}">(.*?)</section>', text, re.DOTALL)
    found = {}
    for table in re.findall(r"<table.*?</table>", part, re.DOTALL):
        (caption,) = re.findall("<caption>(.*?)</caption>", table)
        rows = re.findall(r'<tr><th scope="row">(.*?)</tr>', table)
        found[caption] = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    return found


@pytest.mark.exhaustive
def test_the_numbers_are_those_of_explain(attn: Attn, course: Path) -> None:
    solve(course, ARRAYS, NO_SCALING)
    done = attn("explore", cwd=course)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "wrote explorer.html\n"
    text = (course / "explorer.html").read_text()
    told = json.loads(attn("explain", "cat", "--json", cwd=course).stdout)
    for stage in ("raw", "scaled", "weights", "output"):
        assert tables(text, stage)["Yours"][1] == [f"{one:.4f}" for one in told[stage]]
    # Three maps: the student's weights, the expected ones of the lesson, and those of the misconception.
    weights = tables(text, "weights")
    assert list(weights) == ["Yours", "Expected", "What no scaling would give"]
    assert weights["Expected"][0] == ["0.1095", "0.2976", "0.1805", "0.1805", "0.2318"]
    assert weights["Yours"] == weights["What no scaling would give"] != weights["Expected"]
    assert "misconception <strong>no_scaling</strong>" in text
    assert list(tables(text, "raw")) == ["Yours"]
    assert list(tables(text, "scaled")) == ["Yours", "Expected"]


def test_the_page_is_one_harmless_file(attn: Attn, course: Path) -> None:
    solve(course, "01_softmax")
    done = attn("explore", "the <b>cat</b> sat", "--to", "mine.html", cwd=course)
    assert done.returncode == 0, done.stderr
    assert "The course stands in for: " in done.stderr
    text = (course / "mine.html").read_text()
    page = read_page(text)
    assert "default-src 'none'" in page.policy
    assert not {"link", "img", "iframe", "b"} & page.tags
    assert all(value.startswith("#") for value in page.values)
    assert not {name for _, name in page.attributes if name.startswith("on") or name == "style"}
    assert list(tables(text, "raw")) == ["The course&#39;s"]
    assert list(tables(text, "weights")) == ["Yours", "Expected"]
    assert "There is no attention of yours to count yet." in page.text
    assert attn("explore", "--to", "modules/01_softmax/README.md", cwd=course).returncode == 2


def test_code_that_fails_is_named_and_the_course_stands_in(attn: Attn, course: Path) -> None:
    solve(course, ARRAYS, BROKEN)
    done = attn("explore", cwd=course)
    assert done.returncode == 0, done.stderr
    text = (course / "explorer.html").read_text()
    page = read_page(text)
    assert f"compute_weights raised ValueError: {HOSTILE}" in page.text
    assert "img" not in page.tags
    assert "<td>the course&#39;s</td><td>yours cannot be used</td>" in text
    assert list(tables(text, "weights")) == ["The course&#39;s"]
    assert list(tables(text, "output")) == ["Yours"]


def test_nothing_done_is_one_sentence(attn: Attn, course: Path) -> None:
    done = attn("explore", cwd=course)
    assert done.returncode == 1
    assert done.stderr == (
        "There is nothing of yours to explore yet: begin with the softmax of module 01. Run: attn start softmax\n"
    )
    assert not (course / "explorer.html").exists()


def test_a_sentence_has_two_to_eight_words(attn: Attn, course: Path) -> None:
    done = attn("explore", "a b c d e f g h i", cwd=course)
    assert done.returncode == 2
    assert "a sentence has 2 to 8 words" in done.stderr
