"""Code is read by several threads at once: none of them may fail."""

from __future__ import annotations

import ast
import gc
import inspect
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from grader.core.syntax import parse

TEXT = inspect.getsource(inspect)


class Garbage:
    """An object that only the garbage collector finds. Its end runs Python, so other threads may go on."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(100))


@pytest.fixture
def restless() -> Iterator[None]:
    """Collect garbage and change threads as often as possible, so that two threads meet in the parser."""
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(50)
    sys.setswitchinterval(1e-5)
    yield
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)


def parsed(_: int) -> str:
    for _ in range(10):
        Garbage()
    return type(parse(TEXT).body[0]).__name__


@pytest.mark.usefixtures("restless")
def test_threads_that_parse_at_once_do_not_fail() -> None:
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(parsed, range(40))) == {"Expr"}


def test_code_is_read_as_ast_parse_reads_it() -> None:
    assert ast.dump(parse(TEXT), include_attributes=True) == ast.dump(ast.parse(TEXT), include_attributes=True)


def test_a_warning_about_the_text_is_not_shown() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ast.unparse(parse(r"x = '\d'"))


def test_code_that_is_not_python_is_refused() -> None:
    with pytest.raises(SyntaxError, match="line 1"):
        parse("def", "cell")
