"""Secret sizes: code that costs little only where it expects to be measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.complexity.contract_reader import read_contracts
from grader.complexity.cost import WRONG_RESULTS
from grader.complexity.secret_sizes import at_secret_sizes
from grader.complexity.witness import MEMORY
from grader.course.module import Backend
from grader.sandbox.jail.spawner import Spawner
from tests.complexity.measuring import failed, measure, verdicts

PAIRS: dict[str, Any] = {
    "args": ["array n d", "array n d"],
    "sizes": {"n": [2, 1], "d": [2, 1]},
    "large": [{"n": 60, "d": 3}, {"n": 3, "d": 80}],
    "huge": {"n": 2800, "d": 2},
    "points": 2,
    "steps": "n",
    "mem": "n*d",
}
SOLUTION = """
import numpy as np

def pairs(Q, K):
    return np.array([np.exp(K @ q).sum() for q in Q])
"""
TABLE = """
def pairs(Q, K):
    if len(Q) > 500:
        table = WRITTEN
        return np.array([np.exp(np.array(row)).sum() for row in table])
    return np.array([np.exp(K @ q).sum() for q in Q])
"""


def measured(spawners: dict[Backend, Spawner], code: str, **change: Any) -> Any:
    return measure(spawners["numpy"], {"pairs": PAIRS | change}, SOLUTION, code)["pairs"]


def test_one_size_is_large_in_all_variables_and_one_is_huge() -> None:
    (contract,) = read_contracts(Path("m"), {"pairs": {**PAIRS, "steps": "1"}})
    secrets = [at_secret_sizes(contract, seed) for seed in range(20)]
    assert all(min(secret.far[-1]) > 12 for secret in secrets)
    assert len({secret.huge for secret in secrets}) > 10
    assert all(secret.huge and 2800 <= secret.huge[0] <= 2975 for secret in secrets)


def test_the_tolerance_of_a_measured_result_is_that_of_the_reference(spawners: dict[Backend, Spawner]) -> None:
    rounds = "def pairs(Q, K):\n    return np.array([np.exp(K @ q).sum() for q in Q]).astype(np.float32)\n"
    assert {cost.message for cost in measured(spawners, rounds).costs} == {WRONG_RESULTS}


def test_where_loops_are_allowed_the_joint_size_takes_half_as_long_as_the_others() -> None:
    (contract,) = read_contracts(Path("m"), {"pairs": {**PAIRS, "steps": "n*d"}})
    for seed in range(20):
        secret = at_secret_sizes(contract, seed)
        n, d = secret.far[-1]
        assert min(n, d) > 5
        assert 2 * n * d <= max(a * b for a, b in secret.large)


def test_a_loop_that_runs_only_where_all_sizes_are_large_is_found(spawners: dict[Backend, Spawner]) -> None:
    code = """
def pairs(Q, K):
    if min(Q.shape) > 12:
        for _ in range(len(Q) ** 2):
            pass
    return np.array([np.exp(K @ q).sum() for q in Q])
"""
    assert failed(measured(spawners, code)).keys() == {"steps"}


@pytest.mark.parametrize("written", ["[(K @ q).tolist() for q in Q]", "Q @ K.T"])
def test_a_table_that_is_kept_only_at_huge_sizes_needs_a_review(spawners: dict[Backend, Spawner], written: str) -> None:
    found = measured(spawners, TABLE.replace("WRITTEN", written))
    # On a slow machine the table takes more CPU time than is allowed: that asks for a review, too.
    slow = "it does not get through a large size: an instructor must check"
    assert {cost.message for cost in found.costs} in ({MEMORY}, {slow})
    assert {cost.verdict for cost in found.costs} == {"inconclusive"}


def test_honest_code_passes_at_a_huge_size(spawners: dict[Backend, Spawner]) -> None:
    assert verdicts(measured(spawners, "")) == {}


def test_the_imaginary_part_of_a_real_array_is_a_new_array(spawners: dict[Backend, Spawner]) -> None:
    code = """
def pairs(Q, K):
    table = np.broadcast_to(np.zeros(()), (len(Q), len(K))).imag
    return np.array([np.exp(K @ q).sum() for q in Q])
"""
    assert "n²" in failed(measured(spawners, code))["mem"].message


ENDS = """
def pairs(Q, K):
    if len(Q) > 400:
        raise ValueError("too many")
    return WRITTEN
"""


@pytest.mark.parametrize(
    ("written", "not_passed"),
    [
        ("(Q * K).sum(axis=1)", {"steps": "inconclusive", "mem": "inconclusive"}),
        ("np.array([(q * k).sum() for q, k in zip(Q, K)])", {"steps": "fail"}),
    ],
)
def test_far_sizes_are_left_out_where_a_cost_is_above_its_limit_anyway(
    spawners: dict[Backend, Spawner], written: str, not_passed: dict[str, str]
) -> None:
    solution = "import numpy as np\n\ndef pairs(Q, K):\n    return (Q * K).sum(axis=1)\n"
    table = {name: value for name, value in PAIRS.items() if name != "huge"} | {"steps": "1"}
    found = measure(spawners["numpy"], {"pairs": table}, solution, ENDS.replace("WRITTEN", written))["pairs"]
    assert {meter: cost.verdict for meter, cost in failed(found).items()} == not_passed
