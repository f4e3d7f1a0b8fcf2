"""The attack suite against the contained tier. It has its own file so that both suites can run in parallel."""

from __future__ import annotations

import os

import pytest

from grader.sandbox.jail.tiers import survey
from tests.acceptance.attacks.test_strict import SOME, attack, attack_share
from tests.conftest import needs_tier

SHARES = 2  # root and an ordinary user: the third surroundings are not everywhere


def test_contained_holds_against_some_attacks_of_every_family() -> None:
    needs_tier("contained")
    reached = attack("contained", "user", "--each", str(SOME))
    assert {name: what for name, what in reached.items() if what} == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("surroundings", "number"), [("root in an open home", 0), ("user", 1)], ids=["root", "user"])
def test_contained_holds(surroundings: str, number: int) -> None:
    needs_tier("contained")
    reached = attack_share("contained", surroundings, number, SHARES)
    assert {name: what for name, what in reached.items() if what} == {}


@pytest.mark.exhaustive
def test_contained_holds_if_only_root_can_read_python() -> None:
    """The worker stays root, without root's rights: only root can read a Python in a private home."""
    needs_tier("contained")
    if os.geteuid() != 0 or not any(attempt.plan.may_thread is False for attempt in survey("numpy")):
        pytest.skip("only root can try what root does")
    reached = attack_share("contained", "root", 0, SHARES, "--without", "user")
    assert {name: what for name, what in reached.items() if what} == {}
