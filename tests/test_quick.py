"""Samples: the same tree runs the same cases, and every case has its turn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.attacks.attack import SLOW, read_attacks, share_of, some_of_each
from tests.acceptance.attacks.test_strict import SHARES, SOME
from tests.complexity import test_implementations
from tests.conftest import ROOT, write
from tests.quick import ENGINE, EVERY_CASE, TURN, hash_of, sample, sampled, share, some_cases
from tests.sandbox import test_liars

TURNS = [str(number) for number in range(60)]


def by_turn(patch: pytest.MonkeyPatch, cases: list[str], count: int) -> list[list[str]]:
    """Return the sample of each turn."""
    found = []
    for turn in TURNS:
        patch.setenv(TURN, turn)
        found.append(sample(cases, count))
    return found


def test_the_same_tree_has_the_same_sample_in_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TURN)
    told = "from tests.quick import sample, turn; print(turn(), *sample(range(99), 9))"
    for seed in ("1", "2"):
        words = [sys.executable, "-c", told]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [hash_of(ENGINE), *map(str, sample(range(99), 9))]


def test_the_turn_changes_with_the_code_of_the_engine_and_with_nothing_else(tmp_path: Path) -> None:
    code = {"core/a.py": "a = 1\n", "core/b.py": "b = 2\n"}
    first, other, renamed = (
        hash_of(write(tmp_path / name, files))
        for name, files in {
            "first": code,
            "other": {**code, "core/b.py": "b = 3\n"},
            "renamed": {"core/a.py": "a = 1\n", "core/c.py": "b = 2\n"},
        }.items()
    )
    again = hash_of(write(tmp_path / "again", {**code, "core/__pycache__/a.pyc": "x", "notes.txt": "y"}))
    assert first == again
    assert len({first, other, renamed}) == 3


def test_over_sixty_turns_every_case_has_been_run(monkeypatch: pytest.MonkeyPatch) -> None:
    lies = list(test_liars.BODIES)
    found = by_turn(monkeypatch, lies, share(len(lies), test_liars.EVERY))
    assert {len(one) for one in found} == {share(len(lies), test_liars.EVERY)}
    assert {case for one in found for case in one} == set(lies)
    assert len(set(map(tuple, found))) == len(TURNS)


def test_over_sixty_turns_every_attack_has_been_run_as_every_user(monkeypatch: pytest.MonkeyPatch) -> None:
    attacks = read_attacks()
    some: set[str] = set()
    users: list[set[str]] = [set() for _ in range(SHARES)]
    for turn in TURNS:
        monkeypatch.setenv(TURN, turn)
        some |= {one.name for one in some_of_each(attacks, SOME)}
        for number, names in enumerate(users):
            names |= {one.name for one in share_of(attacks, number, SHARES)}
    assert some == {one.name for one in attacks if one.name not in SLOW}
    assert users == [some.union(SLOW)] * SHARES


def test_a_sample_keeps_its_order_and_one_of_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [f"{'ab'[number == 70]} {number}" for number in range(100)]
    for turn in TURNS:
        monkeypatch.setenv(TURN, turn)
        found = sample(cases, 5, kind=lambda case: case[0])
        assert len(found) == 5
        assert found == sorted(found, key=cases.index)
        assert "b 70" in found
    assert {one.module for one in test_implementations.QUICK} == {one.module for one in test_implementations.SHORT}


def test_what_is_slow_is_never_quick_and_every_case_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {str(number): (number,) for number in range(10)}
    slow = ["3", "4", "5"]
    quick = set()
    for turn in TURNS:
        monkeypatch.setenv(TURN, turn)
        found = some_cases(cases, every=4, slow=slow)
        assert [one.id for one in found] == list(cases)
        now = {one.id for one in found if not one.marks}
        assert len(now) == share(len(cases), 4)
        quick |= now
    assert quick == cases.keys() - set(slow)


def test_make_test_every_runs_every_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EVERY_CASE, raising=False)
    assert len(sampled(range(10), 3)) == 4
    monkeypatch.setenv(EVERY_CASE, "1")
    assert sampled(range(10), 3) == list(range(10))


def test_pytest_says_the_turn(monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> None:
    monkeypatch.setenv(TURN, "a1b2c3d4")
    lines = pytestconfig.hook.pytest_report_header(config=pytestconfig, start_path=ROOT)
    assert any("TURN=a1b2c3d4 runs them again" in line for line in lines)
