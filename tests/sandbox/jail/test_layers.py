"""What each layer of the jail is for: an attack that gets through without it, and not with it.

Several layers keep out the same attack. Then the others are left out, too, until the layer stands alone.
"""

from __future__ import annotations

import pytest

from grader.sandbox.jail.plan import STRICT
from tests.acceptance.attacks import control
from tests.acceptance.attacks.attack import Attack, read_attacks
from tests.acceptance.attacks.test_strict import attack
from tests.acceptance.attacks.world import World
from tests.conftest import needs_tier

# The layer, the tier and surroundings it is tried in, the layers left out beside it, and what then gets through.
CASES = {
    "view": ("strict", "root in an open home", ["landlock"], "hidden suite by path"),
    "user": ("contained", "root in an open home", ["landlock"], "a file for root alone"),
    "namespaces": ("strict", "root", ["landlock", "seccomp"], "kill whoever shares this view"),
    "capabilities": ("strict", "root", ["seccomp"], "chroot"),
    "limits": ("contained", "user", [], "threads"),
    "landlock": ("contained", "user", [], "hidden suite by path"),
    "undumpable": ("contained", "user", ["landlock", "seccomp"], "seize the sibling"),
    "seccomp": ("strict", "root", [], "a user namespace"),
}


def test_every_layer_is_tried() -> None:
    assert CASES.keys() == set(STRICT)


@pytest.mark.parametrize("layer", CASES)
def test_a_layer_keeps_out_what_nothing_else_does(layer: str) -> None:
    tier, surroundings, others, name = CASES[layer]
    needs_tier("strict")
    left_out = [word for other in others for word in ("--without", other)]
    assert attack(tier, surroundings, *left_out, "--only", name)[name] == []
    assert attack(tier, surroundings, *left_out, "--without", layer, "--only", name)[name] != []


HONEST = Attack("honest", "honest", "def evil(x):\n    return None\n")


def test_without_a_jail_the_attacks_work() -> None:
    reached: dict[str, list[bool]] = {}
    with World() as world:
        for one in read_attacks():
            found = control.run(one, world)
            if one.family not in ("endless", "bombs", "sizes"):
                found.discard("held the grader")  # nothing there is about time: it would be this machine's doing
            reached.setdefault(one.family, []).append(bool(found))
        assert control.run(HONEST, world) <= {"held the grader"}
    assert all(any(family) for family in reached.values()), reached
    everything = [one for family in reached.values() for one in family]
    assert sum(everything) * 2 >= len(everything), reached
