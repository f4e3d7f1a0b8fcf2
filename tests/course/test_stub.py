"""Stubs and notebooks, made from a solution."""

from __future__ import annotations

import json

import nbformat
import pytest

from grader.authoring.build import build_module
from grader.course.course import Course
from grader.course.module import CourseError
from grader.course.notebook import NotebookError, make_notebook, read_cells
from grader.course.stub import StubError, make_stub

SOLUTION = (
    "# %% [markdown]\r\n# # Títle\r\n\r\n# %%\r\nimport numpy\t\r\n\r\n\r\ndef f(x):\r\n"
    '    """Doc."""\r\n    y = x\r\n    ### BEGIN SOLUTION\r\n    y = 2 * x\r\n\r\n    return y\r\n'
    "    ### END SOLUTION\r\n\r\n\r\nclass C:\r\n\tdef m(self):\r\n\t\t### BEGIN SOLUTION\r\n"
    "\t\treturn 1\r\n\t\t### END SOLUTION\r\n\r\nANSWER = None\r\n### BEGIN SOLUTION\r\nANSWER = 3\r\n### END SOLUTION"
)


def test_stub_replaces_regions_and_keeps_the_rest_byte_for_byte() -> None:
    assert make_stub(SOLUTION) == (
        "# %% [markdown]\r\n# # Títle\r\n\r\n# %%\r\nimport numpy\t\r\n\r\n\r\ndef f(x):\r\n"
        '    """Doc."""\r\n    y = x\r\n    raise NotImplementedError\r\n\r\n\r\n'
        "class C:\r\n\tdef m(self):\r\n\t\traise NotImplementedError\r\n\r\nANSWER = None\r\n"
        "# Your answer goes here.\r\n"
    )


def test_stub_can_be_imported_and_its_functions_raise() -> None:
    names: dict[str, object] = {}
    exec(make_stub(SOLUTION).replace("import numpy\t", ""), names)
    assert names["ANSWER"] is None
    with pytest.raises(NotImplementedError):
        names["f"](1)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("class C:\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION\n", 2, "inside a function"),
        ("if True:\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION\n", 2, "inside a function"),
        ("a\n### BEGIN SOLUTION\nb\n", 2, "without an ### END"),
        ("a\n### END SOLUTION\n", 2, "without a ### BEGIN"),
        (
            "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION\n",
            2,
            "inside the region that begins on line 1",
        ),
        ("### BEGIN SOLUTION\nx\n### END SOLUTION\n### END SOLUTION\n", 4, "without a ### BEGIN"),
        ("### BEGIN SOLUTION\n### END SOLUTION\n", 2, "an empty region"),
        ("x = 1  ### BEGIN SOLUTION\n### END SOLUTION\n", 1, "alone on its line"),
        ("### BEGIN SOLUTION now\n### END SOLUTION\n", 1, "alone on its line"),
    ],
)
def test_bad_markers_raise_stub_error(text: str, line: int, words: str) -> None:
    with pytest.raises(StubError, match=words) as caught:
        make_stub(text)
    assert caught.value.line == line


def test_every_stub_matches_its_solution(course: Course) -> None:
    for module in course.modules:
        assert module.stub.read_bytes().decode() == course.stub_text(module)


def test_build_restores_an_edited_stub_and_reports_it(tiny: Course) -> None:
    (module,) = tiny.modules
    assert build_module(tiny, module) == []
    module.stub.write_text("edited by hand")
    assert build_module(tiny, module) == [module.stub]
    assert build_module(tiny, module) == []


def test_unbalanced_markers_name_file_and_line(course_copy: Course) -> None:
    (module, *_) = course_copy.modules
    solution = course_copy.solution(module)
    solution.write_text(solution.read_text().replace("    ### END SOLUTION\n", "", 1))
    with pytest.raises(CourseError, match=r"softmax\.py: line \d+") as caught:
        build_module(course_copy, module)
    assert caught.value.file == solution


def test_notebook_of_every_stub_is_valid_and_complete(course: Course) -> None:
    for module in course.modules:
        text = make_notebook(module.stub.read_text(), module.slug)
        document = nbformat.reads(text, as_version=4)
        nbformat.validate(document)
        kinds = [cell.cell_type for cell in document.cells]
        assert kinds.count("code") > len(course.api(module).functions)
        assert "markdown" in kinds
        code = "\n".join(cell.source for cell in document.cells if cell.cell_type == "code")
        for name in course.api(module).names:
            assert name in code
        assert text == make_notebook(module.stub.read_text(), module.slug)


def test_script_without_cells_becomes_one_cell() -> None:
    assert read_cells(make_notebook("x = 1\ny = 2\n", "demo").encode()) == ("x = 1\ny = 2",)
    assert read_cells(make_notebook("", "demo").encode()) == ()


def test_notebook_has_the_cells_of_the_script() -> None:
    script = (
        "x = 0\n\n# %% [markdown]\n# # Title\n#\n# Text\n\n# %% with a name\ny = 1\n\nz = 2\n# %%\n\n# %%\nw = '# %%'\n"
    )
    document = json.loads(make_notebook(script, "demo"))
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in document["cells"]] == [
        ("code", "x = 0"),
        ("markdown", "# Title\n\nText"),
        ("code", "y = 1\n\nz = 2"),
        ("code", "w = '# %%'"),
    ]
    assert read_cells(make_notebook(script, "demo").encode()) == ("x = 0", "y = 1\n\nz = 2", "w = '# %%'")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"not json", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'"\xff"', "not UTF-8"),
        (b"[]", "not a notebook"),
        (b"{}", "not a notebook"),
        (b'{"nbformat": 3, "worksheets": []}', "format 3"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "no source"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}', "no source"),
        (
            json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": ""}] * 1001}).encode(),
            "1001 cells",
        ),
    ],
)
def test_bad_notebook_raises_notebook_error(data: bytes, words: str) -> None:
    with pytest.raises(NotebookError, match=words):
        read_cells(data)
