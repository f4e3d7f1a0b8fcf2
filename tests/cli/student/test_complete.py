"""`attn complete` is honest: what it calls complete has right answers, and what it prints runs."""

from __future__ import annotations

import codeop
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course.course import Course
from tests.cli.conftest import Attn
from tests.conftest import ROOT

SOLUTION = (ROOT / "solutions" / "01_softmax" / "softmax.py").read_text()


def write(bundle: Path, text: str) -> None:
    (bundle / "modules" / "01_softmax" / "softmax.py").write_text(text)


def test_a_wrong_answer_is_open_and_the_right_one_is_not_told(attn: Attn, bundle: Path) -> None:
    text = SOLUTION.replace("FLOAT32 = 88", "FLOAT32 = 1000").replace("FLOAT64 = 709", 'FLOAT64 = "709 or so"')
    write(bundle, text)
    done = attn("complete", "softmax", cwd=bundle)
    assert done.returncode == 1
    words = " ".join(done.stdout.split())
    assert "01_softmax is not complete. Open:" in words
    assert "REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32: not right yet" in words
    assert "REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64: this is text. Write a number without a unit" in words
    assert not re.search(r"\b(88|709)\b", done.stdout)
    assert len(done.stdout.splitlines()) <= 24
    accepted = attn("complete", "softmax", "--anyway", cwd=bundle)
    assert accepted.returncode == 0
    assert "in your package, but not complete" in accepted.stdout


def test_an_answer_that_is_computed_counts(attn: Attn, bundle: Path) -> None:
    write(bundle, SOLUTION.replace("FLOAT32 = 88", "FLOAT32 = 8 * 11").replace("FLOAT64 = 709", "FLOAT64 = 709.0"))
    assert attn("complete", "softmax", cwd=bundle).returncode == 0


def test_each_line_of_a_demonstration_is_complete(course: Course) -> None:
    """So it runs in every prompt, pasted at once or line by line: an indented line may be indented twice there."""
    for module in course.modules:
        if module.milestone is not None and not module.milestone.is_command:
            for line in module.milestone.code.splitlines():
                assert line == line.strip()
                assert codeop.compile_command(line) is not None, f"{module.name}: {line}"


@pytest.mark.exhaustive
def test_the_demonstration_is_run_and_its_lines_run_when_pasted(attn: Attn, bundle: Path) -> None:
    write(bundle, SOLUTION)
    lines = attn("complete", "softmax", cwd=bundle).stdout.splitlines()
    assert "01_softmax is complete and in your package `mylab`." in lines
    assert "  [0.09003057 0.24472847 0.66524096]" in lines
    start = lines.index("Try it: start python and paste") + 1
    pasted = "\n".join(lines[start : lines.index("", start)])
    done = subprocess.run(
        [sys.executable, "-i", "-q"], input=f"{pasted}\n", cwd=bundle, capture_output=True, text=True, check=True
    )
    assert "[0.09003057 0.24472847 0.66524096]" in done.stdout
    assert "Error" not in done.stderr
