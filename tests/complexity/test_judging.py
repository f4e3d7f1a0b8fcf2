"""The table of verdicts: each row is reached, and gives its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from grader.complexity.contract import METERS
from grader.complexity.contract_reader import read_contracts
from grader.complexity.judging import VERDICTS, Case, applying_row, judge_limit
from grader.complexity.polynomial import Sizes
from grader.complexity.sampling import CostSample, CostSamples

Count = Callable[[int], int]
CONTRACTS: Mapping[str, Mapping[str, Any]] = {
    "count": {"args": ["array n"], "sizes": {"n": [4, 4]}, "large": [{"n": 64}]},
    "tiled": {"args": ["size n", "size b"], "sizes": {"n": ["2*b", "b"], "b": [2, 1]}, "large": [{"n": 40, "b": 4}]},
    "Cache.read": {
        "args": [],
        "before": [["update", "array 4", "n times"]],
        "sizes": {"n": [1, 1]},
        "large": [{"n": 100}],
    },
}
OTHER_LINE = 9


def none(_n: int) -> int:
    return 0


@dataclass(frozen=True)
class Work:
    """Counts of a made-up function by its first size, and of one of its lines."""

    count: Count
    limit: Any = "n"
    line: Count = none
    meter: str = "work"
    other_products: Count = none
    unknown: bool = False
    contract: str = "count"
    far: tuple[Sizes, ...] = ()
    ragged: tuple[Sizes, ...] = ()

    def sample(self, sizes: Sizes) -> CostSample:
        n = sizes[0]
        lines: dict[str, dict[int, int]] = {meter: {} for meter in METERS}
        lines[self.meter] = {1: self.line(n)}
        lines["mul"] = {1: self.line(n), OTHER_LINE: self.other_products(n)}
        counts = dict.fromkeys(METERS, 0) | {self.meter: self.count(n)}
        return CostSample(counts, lines, {"numpy.fft.fft": 3} if self.unknown else {}, {}, None)

    def case(self) -> Case:
        table = {**CONTRACTS[self.contract], self.meter: self.limit, "points": 1}
        (contract,) = read_contracts(Path("m"), {self.contract: table})
        contract = replace(contract, far=self.far, ragged=self.ragged)
        lattice = contract.lattice_beyond([self.meter])
        sizes = [*lattice.points().values(), *contract.large, *contract.each_step, *self.far, *self.ragged]
        samples = CostSamples(contract, lattice, {one: self.sample(one) for one in sizes}, ("work.py",), wrong=False)

        def measure(more: Sequence[Sizes]) -> CostSamples:
            return replace(samples, by_size={**samples.by_size, **{one: self.sample(one) for one in more}})

        return Case(samples, contract.limits[0], samples.polynomial(self.meter), measure)


EXACT = {"law": "n", "exact": 1}
CASES: dict[str, Work] = {
    "beyond": Work(lambda n: n * n),
    "small coefficient": Work(lambda n: n, {"law": "2*n", "exact": 1}),
    "large coefficient": Work(lambda n: 3 * n, EXACT),
    "line beyond": Work(lambda n: n * n + n % 3, line=lambda n: n * n),
    "fewer": Work(lambda n: n // 2 + n % 3, EXACT),
    "grows": Work(lambda n: n * n + n % 3),
    "jumps": Work(lambda n: n if n < 32 else 5 * n),
    "some steps": Work(lambda n: n if n & (n - 1) == 0 else 1, "1", contract="Cache.read"),
    "more": Work(lambda n: 2 * n + n % 3, EXACT),
    "irregular": Work(lambda n: n if n % 8 else 0),
    "may grow": Work(lambda n: int(n**1.5)),
    "array products": Work(lambda n: n, line=lambda n: n, meter="smul", other_products=lambda n: n),
    "large constant": Work(lambda n: 200 * n),
    "far: more": Work(lambda n: n if n < 100 else 10 * n, far=((1000,),)),
    "far: fewer": Work(lambda n: n if n < 100 else n // 2, EXACT, far=((1000,),)),
    "cut tile: more": Work(lambda n: n + 3000 * (n == 39), contract="tiled", ragged=((39, 4),)),
    "cut tile: fewer": Work(lambda n: n // (1 + (n == 39)), EXACT, contract="tiled", ragged=((39, 4),)),
    "unknown call": Work(lambda n: n, unknown=True),
    "kept": Work(lambda n: n),
}


def test_every_row_has_a_case() -> None:
    assert list(CASES) == [row.name for row in VERDICTS]


@pytest.mark.parametrize("name", CASES)
def test_a_row_is_reached(name: str) -> None:
    case = CASES[name].case()
    row, _ = applying_row(case)
    assert row.name == name
    cost = judge_limit(case.samples, case.limit, case.polynomial, case.measure)
    assert (cost.verdict, cost.too_little) == (row.verdict, row.too_little)
    assert "{" not in cost.message
    assert bool(cost.message) == (cost.verdict != "pass")


@pytest.mark.parametrize("name", [row.name for row in VERDICTS if row.too_little])
def test_work_that_is_missing_may_be_in_an_unknown_call(name: str) -> None:
    case = replace(CASES[name], unknown=True).case()
    assert applying_row(case)[0].name == "unknown call"
    cost = judge_limit(case.samples, case.limit, case.polynomial, case.measure)
    assert cost.verdict == "inconclusive"
    assert not cost.too_little
    assert "numpy.fft.fft" in cost.message


@pytest.mark.parametrize("name", ["beyond", "grows", "far: more"])
def test_an_unknown_call_excuses_no_growth(name: str) -> None:
    assert applying_row(replace(CASES[name], unknown=True).case())[0].name == name


def test_a_cut_tile_may_cost_what_a_complete_one_does() -> None:
    """That is more than the polynomial says, and here more than is always allowed on top of it."""
    work = Work(
        lambda n: 1000 * n + 7000 * (n == 39), {"law": "1000*n", "exact": 1}, contract="tiled", ragged=((39, 4),)
    )
    assert applying_row(work.case())[0].name == "kept"


def test_a_line_is_named_by_its_own_count() -> None:
    cost = judge_limit(*_parts(replace(CASES["beyond"], line=lambda n: n * n).case()))
    assert cost.place is not None
    assert (cost.place.file, cost.place.line) == ("work.py", 1)


def _parts(case: Case) -> tuple[Any, ...]:
    return case.samples, case.limit, case.polynomial, case.measure
