"""Mistakes in a contract: each is one clear sentence, when it is read or when the solution rehearses it."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from grader.complexity.contract_reader import read_contracts
from grader.complexity.reference_answers import rehearse_contracts
from grader.course.module import CourseError

SOLUTION = """
import numpy as np

class Cache:
    def __init__(self, most, width):
        if width % 2:
            raise ValueError(f"the width must be even, not {width}")
        self.rows = np.zeros((most, width))
        self.length = 0

    def update(self, rows):
        end = self.length + len(rows)
        if end > len(self.rows):
            raise ValueError(f"{end} rows do not fit: at most {len(self.rows)}")
        self.rows[self.length : end] = rows
        self.length = end
        return self.rows[:end]

def attend(q, k):
    if len(q) > len(k):
        raise ValueError(f"{len(q)} queries for {len(k)} keys")
    return q @ k.T

def look_up(table, ids):
    return table[ids]

def halves(x, cache=None):
    return x[..., : x.shape[-1] // 2] if cache is None else cache.update(x)
"""
SIZES = {"n": [2, 1], "d": [2, 2]}
GOOD: dict[str, dict[str, Any]] = {
    "Cache.update": {
        "init": ["size n+1", "size d"],
        "before": [["update", "array 1 d", "n times"]],
        "args": ["array 1 d"],
        "sizes": SIZES,
        "large": [{"n": 30, "d": 8}],
    },
    "attend": {
        "args": ["array n_q d", "array n_k d"],
        "sizes": {"n_q": [2, 1], "n_k": [7, 1], "d": [2, 1]},
        "where": ["n_q <= n_k"],
        "large": [{"n_q": 20, "n_k": 25, "d": 3}],
    },
    "look_up": {
        "args": ["array v 2*d", "ids n below v"],
        "sizes": {"n": [2, 1], "v": [3, 1], "d": [2, 1]},
        "large": [{"n": 20, "v": 9, "d": 3}],
    },
    "halves": {
        "objects": {"cache": ["Cache", "size n", "size 2*half"]},
        "constants": {"half": 3},
        "args": ["array n 2*half", "cache=object cache"],
        "sizes": {"n": [2, 1]},
        "large": [{"n": 20}],
        "work": "n*half",
    },
}
TILED: dict[str, Any] = {"args": ["array n d", "size b"], "sizes": {"n": ["2*b", "b"], "b": [2, 1], "d": [2, 1]}}
TILED |= {"large": [{"n": 32, "b": 8, "d": 3}], "steps": "n/b"}


def problem_of(function: str, change: dict[str, Any]) -> str:
    """Return the sentence about a contract with a change, without its place and advice; empty if there is none."""
    table = {"points": 1, "steps": "1"} | GOOD.get(function, TILED) | change
    reference = ModuleType("reference")
    exec(SOLUTION, vars(reference))
    mistake: CourseError | None = None
    try:
        contracts = read_contracts(Path("m"), {function: table})
        rehearse_contracts(Path("m"), contracts, "00_test", "a salt", reference)
    except CourseError as error:
        mistake = error
    if mistake is None:
        return ""
    assert str(mistake.file) == "m/module.toml"
    assert mistake.key.startswith(f"complexity.{function}")
    assert mistake.fix
    assert "\n" not in mistake.problem
    return mistake.problem.removeprefix("cannot be read: ")


@pytest.mark.parametrize("function", GOOD)
def test_a_contract_without_a_mistake_is_rehearsed(function: str) -> None:
    assert problem_of(function, {}) == ""
    assert problem_of(f"{function} (again)", GOOD[function] | {"steps": "1"}) == ""


@pytest.mark.parametrize(
    ("function", "change", "sentence"),
    [
        # sequences
        ("Cache.update", {"before": "update"}, 'before must be a list of calls such as ["update", "array n d"]'),
        ("Cache.update", {"before": ["update"]}, 'before must be a list of calls such as ["update", "array n d"]'),
        ("Cache.update", {"before": [["update x"]]}, "before must begin with the name of a function or method"),
        (
            "Cache.update",
            {"before": [["cache.update", "array 1 d"]]},
            "before calls cache.update, but objects has no cache",
        ),
        ("Cache.update", {"before": [["append", "array 1 d"]]}, "the solution has no Cache.append"),
        ("Cache.update", {"before": [["update", "array 1 d", "k times"]]}, "k is not one of its sizes (n, d)"),
        (
            "Cache.update",
            {"before": [["update", "n times", "array 1 d"]]},
            "'n times' is not an argument: write one of",
        ),
        (
            "Cache.update",
            {"init": ["size n", "size d"]},
            "the solution raises ValueError: 3 rows do not fit: at most 2, when it is called with (array 1 d)",
        ),
        ("Cache.update", {"times": "k"}, "k is not one of its sizes (n, d)"),
        (
            "Cache.update",
            {"args": ["array step d"]},
            "'array step d' is not an argument: step is not one of its sizes (n, d)",
        ),
        ("Cache.update", {"compare": "state"}, "compare must be the index of a part of the result: 0, 1 …"),
        ("Cache.update", {"init": ["size n", "last"]}, "'last' is not an argument of a constructor"),
        # objects
        ("halves", {"objects": {}}, "'cache=object cache' is not an argument: objects has no cache"),
        ("halves", {"objects": {"self": ["Cache"]}}, "self cannot be the name of an object"),
        ("halves", {"objects": {"cache": "Cache"}}, 'objects must be a table such as {cache = ["Cache", "size n"]}'),
        (
            "halves",
            {"objects": {"cache": ["Store", "size n", "size d"]}, "args": ["array n 6"]},
            "'size d' is not an argument: d is not one of its sizes (n, half)",
        ),
        ("halves", {"objects": {"cache": ["Store", "size n"]}}, "the solution has no Store"),
        # arguments
        (
            "look_up",
            {"args": ["array v d", "ids n v"]},
            "'ids n v' is not an argument: write ids SIZES below V, then sizes or numbers",
        ),
        ("look_up", {"args": ["array v d", "ids n below 2*v"]}, "the solution raises IndexError: index"),
        (
            "look_up",
            {"args": ["array v d", "positions n to v"]},
            "'positions n to v' is not an argument: write positions N, then sizes or numbers",
        ),
        (
            "look_up",
            {"args": ["array v 2d"]},
            "'array v 2d' is not an argument: '2d' is not a size: write n, 2*d, n+1 or e/2",
        ),
        (
            "look_up",
            {"args": ["array v d/2", "ids n below v"]},
            "d/2 is not a whole number at d = 3: choose other sizes",
        ),
        ("look_up", {"args": "array v d"}, "'array v d' must be a list of arguments"),
        # sizes
        (
            "Cache.update",
            {"sizes": {"n": [2, 1], "d": [2, 1]}},
            "the solution raises ValueError: the width must be even, not 3, when it is called",
        ),
        (
            "Cache.update",
            {"large": [{"n": 30, "d": 9}]},
            "large has d = 9, but sizes says that d is 2 plus a multiple of 2",
        ),
        ("attend", {"where": []}, "the solution raises ValueError:"),
        ("attend", {"where": ["n_q < n_k"]}, 'where must hold rules such as "n_q <= n_k" between sizes (n_q, n_k, d)'),
        (
            "attend",
            {"sizes": {"n_q": [2, 1], "n_k": [2, 1], "d": [2, 1]}},
            "it is measured at n_q = 3, n_k = 2, d = 2, which breaks n_q <= n_k: choose other sizes",
        ),
        (
            "attend",
            {"large": [{"n_q": 30, "n_k": 25, "d": 3}]},
            "it is measured at n_q = 30, n_k = 25, d = 3, which breaks n_q <= n_k: choose other sizes",
        ),
        ("halves", {"constants": {"n": 3}}, "n cannot be the name of a constant: it is taken, or not a lowercase name"),
        ("halves", {"constants": {"half": 0.5}}, "constants must hold only integers above 0"),
        # tiles
        ("tiled", {"large": [{"n": 33, "b": 8, "d": 3}]}, "large has n = 33, which is not a multiple of its tile 8"),
        ("tiled", {"huge": {"n": 33, "b": 8, "d": 3}}, "huge has n = 33, which is not a multiple of its tile 8"),
        (
            "tiled",
            {"sizes": {"n": ["b", "2*c"], "b": [2, 1], "d": [2, 1]}},
            'sizes.n must be two integers, or tiles such as ["2*b", "b"] where b is a size',
        ),
        (
            "tiled",
            {"sizes": {"n": ["b", "b"], "b": ["d", "d"], "d": [2, 1]}},
            "sizes.n has tiles of b, which has tiles itself",
        ),
        ("tiled", {"steps": "n/d"}, '\'n/d\' divides by a size: only n/b can, where sizes has n = ["b", "b"]'),
        ("Cache.update", {"steps": "n/d"}, '\'n/d\' divides by a size: only n/b can, where sizes has n = ["b", "b"]'),
        ("tiled", {"steps": "n/0"}, "'n/0' divides by 0"),
        # limits
        (
            "attend",
            {"unguarded": {"mem": "nothing breaks it here"}},
            "unguarded names mem, which is not one of its limits (steps)",
        ),
        ("attend", {"unguarded": {"steps": "why"}}, "unguarded.steps must say why no misconception breaks this limit"),
        ("tiled", {}, "the solution has no tiled"),
        ("Cache.append", GOOD["Cache.update"] | {"steps": "1"}, "the solution has no Cache.append"),
        ("Cache.append (full)", GOOD["Cache.update"] | {"steps": "1"}, "the solution has no Cache.append"),
        ("tiled(causal)", {}, "'tiled(causal)' is not the name of a function or a method"),
        ("attend (short)", GOOD["attend"] | {"steps": "1", "where": []}, "the solution raises ValueError:"),
    ],
)
def test_a_mistake_in_a_contract_is_one_clear_sentence(function: str, change: dict[str, Any], sentence: str) -> None:
    assert problem_of(function, change).startswith(sentence)
