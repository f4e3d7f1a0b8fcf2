"""Two mistakes in one function are told apart by the probes that show only one of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.course.api import Api
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.diagnosis.findings import findings
from grader.diagnosis.fingerprints import Fingerprints, WrongWay, golden_form, read_fingerprints
from grader.diagnosis.match import Matcher, Suspect, two_ways
from grader.diagnosis.outcome import ProbeOutcome, Side
from grader.diagnosis.probe import read_probes


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
    assert [one.name for one in two_ways(map(int, off), known, values=True)] == names


def test_one_of_them_may_be_a_relative_of_a_known_one() -> None:
    known = [suspect("a", "1234", "123"), suspect("b", "456", "5")]  # probe 6 should show b alone, and does not
    assert [one.name for one in two_ways(range(1, 7), known, values=True)] == ["a"]
    assert two_ways(range(1, 7), known, values=False) == ()


def test_refusals_do_not_mix() -> None:
    known = [suspect("never_refuses", "12", "1"), suspect("refuses_without_the_number", "2", "2")]
    assert [one.name for one in two_ways([1, 2], known, values=True)] == ["never_refuses"]
    assert two_ways([1, 2], known, values=False) == ()  # it does refuse one of them


def test_code_that_raises_in_half_of_its_probes_gets_no_name(course: Course) -> None:
    """It may have any mistake. In one probe less, those that return still show which."""
    module = course.module("softmax")
    golden = read_golden(module)
    prints = read_fingerprints(golden, read_probes(module, golden.api))
    assert prints is not None
    (axis_zero,) = (one for one in prints.ways if one.name == "axis_zero")
    probes = prints.of_path("softmax")
    assert len(probes) % 2 == 0
    shown = [number for number, sides in prints.wrong_sides(axis_zero, "softmax").items() if Side.VALUE in sides]
    returned = [number for number in probes if prints.outcome(None, number).ended == "returned"]
    others_first = sorted(returned, key=lambda number: number in shown)
    names = []
    for raised in (len(probes) // 2 - 1, len(probes) // 2):
        observed = {number: prints.outcome(axis_zero, number) for number in range(len(prints.probes))}
        matcher = Matcher(prints, observed | dict.fromkeys(others_first[:raised], ProbeOutcome("raised")))
        deviation = matcher.deviation("softmax")
        assert deviation is not None
        names.append([one.name for one in matcher.names("softmax", deviation)])
    assert names == [["axis_zero"], []]


def test_an_answer_that_two_misconceptions_give_names_neither() -> None:
    def asked(*ways: WrongWay) -> list[str]:
        prints = Fingerprints(Api((), {}, ()), (), (), ways)
        return [one.way.name for one in findings(prints, {}, {"LARGEST": 3}) if one.way]

    a, b = (replace(way(name), answers={"LARGEST": golden_form(3)}) for name in "ab")
    assert asked(a) == ["a"]
    assert asked(a, replace(b, answers={"LARGEST": golden_form(4)})) == ["a"]
    assert asked(a, b) == []
