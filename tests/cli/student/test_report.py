"""`attn report`: the page that students make of their own file."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from cli.ui.page_file import page_file
from grader.pages.rendering import GENERATOR
from tests.cli.conftest import Attn
from tests.pages.made import read_page

WRONG = """
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=0, keepdims=True)
"""


def test_own_page_shows_visible_checks_costs_and_numbers(attn: Attn, bundle: Path) -> None:
    file = bundle / "modules" / "01_softmax" / "softmax.py"
    file.write_text(file.read_text() + WRONG)
    (bundle / "softmax-report.html").write_text(GENERATOR)  # a page of ours is replaced
    done = attn("report", "softmax", cwd=bundle)
    assert done.returncode == 1, done.stderr
    assert done.stdout == "wrote softmax-report.html\n"
    page = read_page((bundle / "softmax-report.html").read_text())
    for words in ("of 5 visible checks pass", "Your result", "Expected", "Difference", "▸", "What to do next"):
        assert words in page.text
    assert "hidden check" not in page.text.replace("the grade comes from the hidden checks too", "")


def test_a_file_that_cannot_be_loaded_still_has_a_page(attn: Attn, bundle: Path) -> None:
    (bundle / "modules" / "01_softmax" / "softmax.py").write_text("def softmax(:\n")
    assert attn("report", "1", "--to", "page.html", cwd=bundle).returncode == 1
    text = read_page((bundle / "page.html").read_text()).text
    assert "Fix the error above" in text
    assert "line 1" in text


def test_other_files_are_never_replaced(attn: Attn, bundle: Path) -> None:
    (bundle / "mine.html").write_text("<p>mine</p>")
    done = attn("report", "1", "--to", "mine.html", cwd=bundle)
    assert done.returncode == 2
    assert "is not a page of attn" in done.stderr
    assert (bundle / "mine.html").read_text() == "<p>mine</p>"
    for name in ("page.pdf", "no/page.html"):
        with pytest.raises(click.UsageError):
            page_file(bundle / name)
