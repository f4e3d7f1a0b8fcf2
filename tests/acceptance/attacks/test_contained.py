"""The attack suite against the jail without namespaces. A file of its own, so that it can run beside the other."""

from __future__ import annotations

import os

import pytest

from grader.sandbox.jail.tiers import survey
from tests.acceptance.attacks.attack import read_attacks
from tests.acceptance.attacks.test_strict import attack
from tests.conftest import needs_tier


@pytest.mark.parametrize("surroundings", ["root in an open home", "user"])
def test_contained_holds(surroundings: str) -> None:
    needs_tier("contained")
    reached = attack("contained", surroundings)
    assert {name: what for name, what in reached.items() if what} == {}
    assert len(reached) == len(read_attacks())


def test_contained_holds_where_python_is_only_for_root() -> None:
    """Root stays root there, without its rights: a Python in a private home can be read in no other way."""
    needs_tier("contained")
    if os.geteuid() != 0 or not any(attempt.plan.may_thread is False for attempt in survey("numpy")):
        pytest.skip("only root can try what root does")
    reached = attack("contained", "root", "--without", "user")
    assert {name: what for name, what in reached.items() if what} == {}
