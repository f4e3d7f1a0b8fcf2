"""Two mistakes in one function are told apart by the probes that show only one of them."""

from __future__ import annotations

import pytest

from grader.diagnosis.fingerprints import WrongWay
from grader.diagnosis.match import Suspect, several_ways


def way(name: str) -> WrongWay:
    return WrongWay(name, "likely", "hint", (), {}, {}, {})


def suspect(name: str, shown: str, hit: str) -> Suspect:
    return Suspect(way(name), frozenset(map(int, shown)), frozenset(map(int, hit)))


A = suspect("a", "123", "12")  # probe 3 shows both mistakes: neither outcome alone
B = suspect("b", "345", "45")


@pytest.mark.parametrize(
    ("off", "known", "names"),
    [
        ("12345", [A, B], ["a", "b"]),
        ("12345", [A, B, suspect("c", "67", "")], ["a", "b"]),
        ("123456", [A, B], []),  # probe 6 is off, and neither explains it
        ("12345", [suspect("a", "123", "1"), B], []),  # probe 2 should show a alone, and does not
        ("12345", [A, B, suspect("c", "345", "45")], ["a"]),  # b or c: that is not clear
        ("12345", [suspect("b", "12345", "45"), suspect("a", "123", "2")], ["b"]),  # a has no probe of its own
        ("12345", [A], []),
    ],
)
def test_names_are_in_every_explanation(off: str, known: list[Suspect], names: list[str]) -> None:
    assert [one.name for one in several_ways(map(int, off), known, values=True)] == names


def test_one_of_them_may_be_a_relative_of_a_known_one() -> None:
    known = [suspect("a", "1234", "123"), suspect("b", "456", "5")]  # probe 6 should show b alone, and does not
    assert [one.name for one in several_ways(range(1, 7), known, values=True)] == ["a"]
    assert several_ways(range(1, 7), known, values=False) == ()


def test_refusals_do_not_mix() -> None:
    known = [suspect("never_refuses", "12", "1"), suspect("refuses_without_the_number", "2", "2")]
    assert [one.name for one in several_ways([1, 2], known, values=True)] == ["never_refuses"]
    assert several_ways([1, 2], known, values=False) == ()  # it does refuse one of them
