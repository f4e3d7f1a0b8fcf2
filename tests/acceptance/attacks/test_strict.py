"""The attack suite against the strict tier: no attack may reach anything, as root or as an ordinary user.

`python -m tests.acceptance.attacks strict` prints the result of each attack.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from grader.core.report import Report
from grader.course.course import Course
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission
from tests.acceptance.attacks.attack import ALIKE, read_attacks, share_of, some_of_each
from tests.acceptance.attacks.surroundings import command
from tests.acceptance.attacks.world import World
from tests.conftest import LIMITS, ROOT, needs_tier
from tests.quick import EVERY_CASE, sampled

SOME = 3  # attacks of each family
SHARES = 3  # root, an ordinary user, and workers with torch
MINUTES = 20  # for all attacks, which take about one minute: only a hang takes longer


def attack(tier: str, surroundings: str, *options: str) -> dict[str, list[str]]:
    """Run the attacks in their own process and return what each reached."""
    words = [sys.executable, "-m", "tests.acceptance.attacks", tier, *options]
    if os.geteuid() == 0:
        words = command(surroundings, *words)
    elif surroundings != "user":
        pytest.skip("only root can try what root does")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=MINUTES * 60)
    assert done.returncode == 0, f"the runner itself failed: {done.stderr[-3000:]}"
    reached: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])["reached"]
    return reached


def attack_share(tier: str, surroundings: str, number: int, count: int, *options: str) -> dict[str, list[str]]:
    """Run a share of the attacks; with `make test-every`, or where only an ordinary user can be tried, all of them."""
    if os.environ.get(EVERY_CASE) or os.geteuid() != 0:
        reached = attack(tier, surroundings, *options)
        assert len(reached) == len(read_attacks())
        return reached
    reached = attack(tier, surroundings, *options, "--share", str(number), str(count))
    assert set(reached) == {one.name for one in share_of(read_attacks(), number, count)}
    return reached


def test_there_are_enough_attacks() -> None:
    families = Counter(attack.family for attack in read_attacks())
    assert sum(families.values()) >= 200
    assert len({attack.name for attack in read_attacks()}) == sum(families.values())
    assert families.keys() == {
        *("reading", "processes", "bombs", "endless", "channel", "sockets"),
        *("kernel", "writing", "patching", "objects", "values", "sizes"),
    }


def test_strict_holds_against_some_attacks_of_every_family() -> None:
    needs_tier("strict")
    reached = attack("strict", "root" if os.geteuid() == 0 else "user", "--each", str(SOME))
    assert {name: what for name, what in reached.items() if what} == {}
    assert set(reached) == {one.name for one in some_of_each(read_attacks(), SOME)}


@pytest.mark.parametrize("count", [1, 2, SHARES])
def test_every_attack_is_in_a_share(count: int) -> None:
    attacks = read_attacks()
    names = [one.name for number in range(count) for one in share_of(attacks, number, count)]
    assert {one.name for one in attacks} == set(names)
    alike = [one.name for one in attacks if one.family in ALIKE]
    assert [names.count(name) for name in alike] == [1] * len(alike)
    assert all(names.count(one.name) == count for one in attacks if one.family not in ALIKE)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("surroundings", "number"), [("root", 0), ("user", 1)], ids=["root", "user"])
def test_strict_holds(surroundings: str, number: int) -> None:
    needs_tier("strict")
    reached = attack_share("strict", surroundings, number, SHARES)
    assert {name: what for name, what in reached.items() if what} == {}


@pytest.mark.exhaustive
def test_strict_holds_for_torch_workers() -> None:
    needs_tier("strict")
    reached = attack_share("strict", "root" if os.geteuid() == 0 else "user", 2, SHARES, "--backend", "torch")
    assert {name: what for name, what in reached.items() if what} == {}


SPOILED = ("patching", "channel", "objects", "sizes")


@pytest.mark.exhaustive
def test_honest_function_next_to_an_evil_one_is_graded_correctly(course: Course) -> None:
    """With the complete grader: softmax attacks when it is called, and log_softmax is the solution's."""
    solution = course.solution(course.modules[0]).read_text()
    evil = "\n\ndef softmax(x, axis=-1):\n    return evil(x)\n"
    attacks = [one for one in read_attacks() if one.family in SPOILED and "in the import" not in one.name]
    attacks = sampled(attacks, 2, lambda one: one.code, lambda one: one.family)
    reports: list[Report] = []
    with World() as world:
        facts = world.facts(grader_pid=os.getpid(), zygote=os.getpid(), sibling=os.getpid())
        sources = [Source("softmax.py", (f"{solution}\n{one.source(facts)}\n{evil}",), False) for one in attacks]
        names = [f"s{number}" for number in range(len(attacks))]
        handed_in = [
            Submission(name, "01_softmax", "softmax.py", {"softmax": one})
            for name, one in zip(names, sources, strict=True)
        ]
        grade(course, course.modules[0], handed_in, reports.append, LIMITS)
        assert world.breaches("") == set()
    for one, report in zip(attacks, reports, strict=True):
        outcomes = {check.name: check.outcome for check in report.checks if check.target == "log_softmax"}
        assert set(outcomes.values()) == {"passed"}, (one.name, report.status, report.message, outcomes)
        assert report.score is not None
        assert report.score < report.max_score
