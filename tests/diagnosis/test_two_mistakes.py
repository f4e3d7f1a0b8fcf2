"""Two mistakes in one function are told apart by the probes that show only one of them."""

from __future__ import annotations

import pytest

from grader.diagnosis.fingerprints import WrongWay
from grader.diagnosis.two_mistakes import Evidence, explain


def way(name: str) -> WrongWay:
    return WrongWay(name, "likely", "hint", (), {}, {}, {})


def evidence(name: str, shown: str, hit: str) -> Evidence:
    return Evidence(way(name), frozenset(map(int, shown)), frozenset(map(int, hit)))


A = evidence("a", "123", "12")  # probe 3 shows both mistakes: neither outcome alone
B = evidence("b", "345", "45")


@pytest.mark.parametrize(
    ("off", "known", "names"),
    [
        ("12345", [A, B], ["a", "b"]),
        ("12345", [A, B, evidence("c", "67", "")], ["a", "b"]),
        ("123456", [A, B], []),  # probe 6 is off, and neither explains it
        ("12345", [evidence("a", "123", "1"), B], []),  # probe 2 should show a alone, and does not
        ("12345", [A, B, evidence("c", "345", "45")], ["a"]),  # b or c: that is not clear
        ("12345", [evidence("b", "12345", "45"), evidence("a", "123", "2")], ["b"]),  # a has no probe of its own
        ("12345", [A], []),
    ],
)
def test_names_are_in_every_explanation(off: str, known: list[Evidence], names: list[str]) -> None:
    assert [one.name for one in explain(map(int, off), known, values=True)] == names


def test_one_of_them_may_be_a_relative_of_a_known_one() -> None:
    known = [evidence("a", "1234", "123"), evidence("b", "456", "5")]  # probe 6 should show b alone, and does not
    assert [one.name for one in explain(range(1, 7), known, values=True)] == ["a"]
    assert explain(range(1, 7), known, values=False) == ()


def test_refusals_do_not_mix() -> None:
    known = [evidence("never_refuses", "12", "1"), evidence("refuses_without_the_number", "2", "2")]
    assert [one.name for one in explain([1, 2], known, values=True)] == ["never_refuses"]
    assert explain([1, 2], known, values=False) == ()  # it does refuse one of them
