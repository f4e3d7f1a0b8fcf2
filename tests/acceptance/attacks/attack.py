"""Attacks: submissions with an honest and an evil function, read from `tests/data/attacks/`."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from tests.cases import FOLDER, cases

PRELUDE = (FOLDER / "attack_prelude.py").read_text()
# These do the same for every user and every import of the worker: they never end, or send strange bytes.
# They take three quarters of the time, most of it waiting for a limit.
ALIKE = ("channel", "endless", "sizes")


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
    """Return one of so many shares, chosen by content: an attack that is alike everywhere is in one of them only."""
    return [one for one in attacks if one.family not in ALIKE or _hash(one) % count == number]


def _hash(attack: Attack) -> int:
    return int.from_bytes(hashlib.sha256(attack.code.encode()).digest()[:8])


def some_of_each(attacks: list[Attack], count: int) -> list[Attack]:
    """Return so many attacks of each family, spread evenly over the family."""
    chosen: list[Attack] = []
    for family in dict.fromkeys(attack.family for attack in attacks):
        members = [attack for attack in attacks if attack.family == family]
        chosen += [members[place * len(members) // count] for place in range(min(count, len(members)))]
    return chosen
