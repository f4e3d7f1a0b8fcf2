"""Scripts made from a contract: what a measured call at some sizes needs, and the call itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from grader.complexity.arguments import argument, named_spec, script_argument
from grader.complexity.contract import Contract
from grader.complexity.size_expression import size_of
from grader.complexity.tiling import Sizes
from grader.sandbox.protocol.script import NOTHING, OWN, Recipe, Script, ScriptCall

StateOf = Callable[[str, tuple[Any, ...]], Mapping[str, Any]]  # the parameters of a class, for constructor arguments


def no_state(_kind: str, _init: tuple[Any, ...]) -> Mapping[str, Any]:
    """Leave objects with the parameters that their constructor gives them."""
    return NOTHING


def script_at(contract: Contract, specs: Sequence[str], sizes: Sizes, seed: int, state_of: StateOf) -> Script:
    """Return the script of a call with these arguments: the same for every student, with new numbers for each size."""
    return _ScriptMaker(contract, sizes, seed, state_of).script(specs)


class _ScriptMaker:
    def __init__(self, contract: Contract, sizes: Sizes, seed: int, state_of: StateOf) -> None:
        self.contract = contract
        self.names = contract.named(sizes)
        self.rng = np.random.default_rng([seed, *sizes])
        self.state_of = state_of

    def script(self, specs: Sequence[str]) -> Script:
        contract = self.contract
        objects = {OWN: self._object(contract.target, contract.init)} if contract.is_method else {}
        objects |= {name: self._object(one.kind, one.init) for name, one in contract.objects.items()}
        before = tuple(self._call(self._path(call.name), call.args, call.times) for call in contract.before)
        return Script(objects, before, self._call(self._own_path(), specs, contract.times))

    def _object(self, kind: str, specs: Sequence[str]) -> tuple[str, Recipe]:
        made = [(named_spec(spec)[0], argument(spec, self.names, self.rng)) for spec in specs]
        init = tuple(value for name, value in made if not name)
        named = {name: value for name, value in made if name}
        return kind, Recipe(init, self.state_of(kind, init), named=named)

    def _call(self, path: tuple[str, ...], specs: Sequence[str], times: str | None) -> ScriptCall:
        count = None if times is None else size_of(times, self.names)
        made = [(named_spec(spec)[0], script_argument(spec, self.names, self.rng, count)) for spec in specs]
        args = tuple(value for name, value in made if not name)
        return ScriptCall(path, args, {name: value for name, value in made if name}, count)

    def _own_path(self) -> tuple[str, ...]:
        method = self.contract.path.partition(".")[2]
        return (OWN, method) if method else (self.contract.path,)

    def _path(self, name: str) -> tuple[str, ...]:
        """Return what a call of `before` names: in the contract of a method, a plain name is a method, too."""
        owner, _, method = name.rpartition(".")
        if owner:
            return owner, method
        return (OWN, name) if self.contract.is_method else (name,)
