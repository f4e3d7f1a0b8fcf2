"""Attacks: submissions with an honest and an evil function, read from `tests/data/attacks/`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.cases import FOLDER, cases
from tests.quick import in_turn, sample

PRELUDE = (FOLDER / "attack_prelude.py").read_text()
# These do the same for every user and every import of the worker: they never end, or send strange bytes.
# They take three quarters of the time, most of it waiting for a limit.
ALIKE = ("channel", "endless", "sizes")
# These take four seconds or more, twice as long as others, and are not in the quick run.
SLOW = (
    *("in the import", "with every signal handled", "with every signal blocked"),
    *("a very long text", "the request read by a thread"),
)


@dataclass(frozen=True)
class Attack:
    """An attack: its name, its family, and its code, which follows the prelude."""

    name: str
    family: str
    code: str

    def source(self, facts: dict[str, object]) -> str:
        """Return the submission. It begins with what the attacker may know."""
        known = "\n".join(f"{name} = {value!r}" for name, value in facts.items())
        return f"{known}\n{PRELUDE}\n\n{self.code}"


def read_attacks() -> list[Attack]:
    """Return all attacks, in the order of the files."""
    attacks = []
    for case in cases("attacks"):
        match = re.fullmatch(r"(.*?)(?: \[(\w+)\])?", case.name)
        assert match is not None
        attacks.append(Attack(match[1], match[2] or case.group, case.code))
    return attacks


def share_of(attacks: list[Attack], number: int, count: int) -> list[Attack]:
    """Return one of so many shares. An attack that is alike everywhere is in one of them, by turns."""
    alike = in_turn([one for one in attacks if one.family in ALIKE], lambda one: one.code)
    return [one for one in attacks if one.family not in ALIKE or alike.index(one) % count == number]


def some_of_each(attacks: list[Attack], count: int) -> list[Attack]:
    """Return so many attacks of each family, and none of the slow ones."""
    members: dict[str, list[Attack]] = {}
    for one in (one for one in attacks if one.name not in SLOW):
        members.setdefault(one.family, []).append(one)
    return [one for family in members.values() for one in sample(family, count, lambda one: one.code)]
