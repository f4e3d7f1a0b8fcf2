"""Contracts in `module.toml`: read whole, or refused with the key and the way to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.complexity.contract import read_contracts
from grader.course.course import Course
from grader.course.module import CourseError

GOOD: dict[str, Any] = {
    "args": ["array n d", "size n", "value 2.5"],
    "sizes": {"n": [2, 1], "d": [3, 2]},
    "large": [{"n": 50, "d": 4}],
    "points": 3,
    "steps": "n*d",
    "smul": {"law": "2*n*d", "exact": 2},
    "mem": "n",
}


def test_a_contract_is_read_whole() -> None:
    (contract,) = read_contracts(Path("m"), {"Head.forward": GOOD})
    assert (contract.function, contract.target, contract.points) == ("Head.forward", "Head", 3)
    assert [(law.meter, law.text, law.exact, law.points) for law in contract.limits] == [
        ("steps", "n·d", None, 1),
        ("smul", "2·n·d", 2, 1),
        ("mem", "n", None, 1),
    ]
    assert contract.lattice.degree == 3
    assert len(contract.lattice.points()) == 10
    assert contract.large == ((50, 4),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"limits": "n"}, "complexity.f.limits: is no key of a contract"),
        ({"args": ["vector n"]}, "'vector n' is no argument"),
        ({"args": ["array k"]}, "'array k' is no argument"),
        ({"steps": "n*k"}, "k is no size"),
        ({"large": [{"n": 5}]}, "large is no list of points that have n, d each"),
        ({"large": []}, "large is no list of points"),
        ({"large": [{"n": "a", "d": 1}]}, "large holds something else than whole numbers above 0"),
        ({"sizes": {"n": [2, 0], "d": [3, 2]}}, "sizes holds something else"),
        ({"sizes": [1]}, "cannot be read"),
        ({"args": [5]}, "5 is no argument"),
        ({"args": ["true n"]}, "'true n' is no argument"),
        ({"needs": "products"}, 'needs is not "attention"'),
        ({"args": ["value n"]}, "'value n' is no argument"),
        ({"args": ["lengths n"]}, "'lengths n' is no argument"),
        ({"args": ["array 2.5"]}, "'array 2.5' is no argument"),
        ({"steps": 5}, "steps is neither a law"),
        ({"smul": {"law": "n", "exact": 0}}, "exact holds something else"),
        ({"points": 0}, "nothing to earn"),
        ({"points": 1}, "1 points do not share out evenly among steps, smul, mem"),
        ({"points": "many"}, "cannot be read"),
        ({"sizes": {"n": 2}}, "cannot be read"),
        ({"smul": {"exact": 2}}, "smul is neither a law"),
    ],
)
def test_a_mistake_is_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(CourseError, match=words):
        read_contracts(Path("m"), {"f": GOOD | change})


def test_a_contract_without_laws_is_none() -> None:
    bare = {key: value for key, value in GOOD.items() if key not in ("steps", "smul", "mem")}
    with pytest.raises(CourseError, match="there is no law"):
        read_contracts(Path("m"), {"f": bare})
    with pytest.raises(CourseError, match=r"complexity\.f: lacks large"):
        read_contracts(Path("m"), {"f": {key: value for key, value in GOOD.items() if key != "large"}})


def test_every_function_of_the_course_that_computes_has_a_contract(course: Course) -> None:
    without = {"scale_factor", "pick_device", "move_batch"}  # one number, whatever the sizes; nothing is computed
    for module in course.modules:
        covered = {contract.target for contract in read_contracts(module.folder, module.complexity)}
        api = course.api(module)
        assert covered == set(api.functions) - without | set(api.classes)
