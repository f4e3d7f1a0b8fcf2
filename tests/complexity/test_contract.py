"""Contracts in `module.toml`: read completely, or refused with the key and how to fix it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.complexity.contract_reader import SINGLE, read_contracts
from grader.core.compare import Tolerance
from grader.course.course import Course
from grader.course.module import CourseError

GOOD: dict[str, Any] = {
    "args": ["array n d", "size n", "value 2.5"],
    "sizes": {"n": [2, 1], "d": [3, 2]},
    "large": [{"n": 50, "d": 5}],
    "points": 3,
    "steps": "n*d",
    "smul": {"law": "2*n*d", "exact": 2},
    "mem": "n",
}


def test_a_contract_is_read_completely() -> None:
    (contract,) = read_contracts(Path("m"), {"Head.forward": GOOD})
    assert (contract.function, contract.target, contract.points) == ("Head.forward", "Head", 3)
    assert [(limit.meter, limit.text, limit.exact, limit.points) for limit in contract.limits] == [
        ("steps", "n·d", None, 1),
        ("smul", "2·n·d", 2, 1),
        ("mem", "n", None, 1),
    ]
    assert contract.lattice.degree == 3
    assert len(contract.lattice.points()) == 10
    assert contract.large == ((50, 5),)


def test_a_function_may_have_several_contracts() -> None:
    names = ["attend", "attend (causal)", "Head.forward", "Head.forward (with a mask)"]
    contracts = read_contracts(Path("m"), dict.fromkeys(names, GOOD))
    assert [contract.function for contract in contracts] == names
    assert [contract.path for contract in contracts] == ["attend", "attend", "Head.forward", "Head.forward"]
    assert [contract.target for contract in contracts] == ["attend", "attend", "Head", "Head"]
    assert [contract.is_method for contract in contracts] == [False, False, True, True]
    assert contracts[3].reaches == ["Head", "forward"]


@pytest.mark.parametrize(
    "name",
    ["", "attend(causal)", "attend (causal", "attend ()", "attend causal", " (causal)", "attend (a) (b)", "Head.f.g"],
)
def test_a_mistake_in_the_name_of_a_contract_is_one_clear_sentence(name: str) -> None:
    with pytest.raises(CourseError) as raised:
        read_contracts(Path("m"), {name: GOOD})
    error = raised.value
    assert error.key == f"complexity.{name}"
    assert error.problem == f"{name!r} is not the name of a function or a method"
    assert error.fix.endswith('for a further contract of a function `"sort (float32)"`')


def test_large_tensors_may_differ_by_more_than_the_rounding_of_a_few_numbers() -> None:
    of_tensors = GOOD | {"args": ["tensor n d"]}
    contracts = read_contracts(Path("m"), {"f": GOOD, "g": of_tensors, "h": of_tensors | {"tolerance": 0.1}})
    assert [contract.tolerance for contract in contracts] == [None, SINGLE, Tolerance(0.1, 0.1)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"limits": "n"}, "complexity.f.limits: is not a key of a contract"),
        ({"args": ["vector n"]}, "'vector n' is not an argument"),
        ({"args": ["array k"]}, "'array k' is not an argument"),
        ({"steps": "n*k"}, "is not a size of this function"),
        ({"large": [{"n": 5}]}, "large must be a list of tables, each with n, d"),
        ({"large": []}, "large must be a list of tables"),
        ({"large": [{"n": "a", "d": 1}]}, "large must hold only integers above 0"),
        ({"huge": {"n": 5}}, "huge must be a table with n, d"),
        ({"huge": {"n": 5, "d": 0}}, "huge must hold only integers above 0"),
        ({"sizes": {"n": [2, 0], "d": [3, 2]}}, "sizes must hold only integers"),
        ({"sizes": [1]}, "cannot be read"),
        ({"args": [5]}, "5 is not an argument"),
        ({"args": ["true n"]}, "'true n' is not an argument"),
        ({"needs": "products"}, 'needs must be "attention"'),
        ({"args": ["value n"]}, "'value n' is not an argument"),
        ({"args": ["lengths n"]}, "'lengths n' is not an argument"),
        ({"args": ["array 2.5"]}, "'array 2.5' is not an argument"),
        ({"steps": 5}, "steps must be a limit"),
        ({"smul": {"law": "n", "exact": 0}}, "exact must hold only integers"),
        ({"points": 0}, "points above 0"),
        ({"points": 1}, "1 points cannot be divided evenly among steps, smul, mem"),
        ({"points": "many"}, "cannot be read"),
        ({"sizes": {"n": 2}}, "cannot be read"),
        ({"smul": {"exact": 2}}, "smul must be a limit"),
    ],
)
def test_a_mistake_in_a_contract_is_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(CourseError, match=words):
        read_contracts(Path("m"), {"f": GOOD | change})


def test_a_contract_needs_limits_and_large_sizes() -> None:
    bare = {key: value for key, value in GOOD.items() if key not in ("steps", "smul", "mem")}
    with pytest.raises(CourseError, match="it needs at least one limit"):
        read_contracts(Path("m"), {"f": bare})
    with pytest.raises(CourseError, match=r"complexity\.f: has no large"):
        read_contracts(Path("m"), {"f": {key: value for key, value in GOOD.items() if key != "large"}})


def test_every_computing_function_of_the_course_has_a_contract(course: Course) -> None:
    without = {"scale_factor", "pick_device", "move_batch"}  # they return one number, or compute nothing
    without |= {"alibi_slopes"}  # its cost jumps from one number of heads to the next: see docs/decisions.md
    without |= {"feature_map"}  # entry by entry
    without |= {"kv_cache_bytes", "repeat_kv"}  # one number; a copy, which the layer's own contract counts
    without |= {"get_batch", "sample_next", "generate", "train"}  # they draw at random, or repeat what has a contract
    for module in course.modules:
        covered = {contract.target for contract in read_contracts(module.folder, module.complexity)}
        api = course.api(module)
        assert covered == set(api.functions) - without | set(api.classes)
