"""The reference's answers: what its functions return where a submission is measured.

Before anything is measured, the solution makes the calls of its contracts. A mistake in a contract is then one sentence
for its author. In a grading it would look like a fault of the grader.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.complexity.arguments import SizeError
from grader.complexity.contract import Contract
from grader.complexity.polynomial import Sizes
from grader.complexity.sampling import script_at
from grader.complexity.secret_sizes import at_secret_sizes
from grader.course.module import CourseError, module_error
from grader.course.seeds import seed_of
from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.script import NOTHING, Performance, Script

MOST_KNOWN = 5000  # no module has so many sizes, and a mistake must not fill the memory
MOST_WORDS = 160


@dataclass(frozen=True)
class ReferenceAnswers:
    """The reference's results for one function or method."""

    reference: ModuleType
    function: str
    known: dict[bytes, Any] = field(default_factory=dict)

    def state(self, kind: str, init: tuple[Any, ...]) -> Mapping[str, Any]:
        """Return the parameters of a torch module: the same ones each time, for the same constructor arguments."""
        if not hasattr(getattr(self.reference, kind), "named_parameters"):
            return NOTHING
        state: Mapping[str, Any] = self._remembered(["state", kind, list(init)], lambda: self._new_state(kind, init))
        return state

    def _new_state(self, kind: str, init: tuple[Any, ...]) -> Mapping[str, Any]:
        import torch

        with torch.random.fork_rng(devices=()):
            torch.default_generator.manual_seed(0)
            made = getattr(self.reference, kind)(*init)
        return {name: parameter.detach() for name, parameter in made.named_parameters()}

    def value(self, script: Script) -> Any:
        """Return the result of the measured call of a script."""
        data = script.data
        return self._remembered(["value", data], lambda: self._new_value(data))

    def _new_value(self, data: list[Any]) -> Any:
        performance = Performance(self.reference, data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as that this machine has no fast product in 16 bits
            for call in performance.before():
                call()
            return performance.run()

    def _remembered(self, question: list[Any], answer: Callable[[], Any]) -> Any:
        """Return the answer to a question, found only once for all submissions. No one may change it."""
        key = hashlib.blake2b(encode([self.function, *question]), digest_size=16).digest()
        if key in self.known:
            return self.known[key]
        found = answer()
        if len(self.known) < MOST_KNOWN:
            self.known[key] = found
        return found


def rehearse_contracts(
    folder: Path, contracts: Sequence[Contract], module: str, salt: str, reference: ModuleType | None
) -> None:
    """Raise a CourseError for the first contract whose calls the solution cannot make."""
    if reference is None:
        return
    for contract in contracts:
        _require_names(folder, reference, contract)
        seed = seed_of(salt, module, f"complexity.{contract.function}")
        answers = ReferenceAnswers(reference, contract.path)
        for specs, sizes in _calls(contract, seed):
            try:
                answers.value(script_at(contract, specs, sizes, seed, answers.state))
            except Exception as error:  # noqa: BLE001 - the solution may raise anything
                raise _problem(folder, contract, specs, sizes, error) from None


def _require_names(folder: Path, reference: ModuleType, contract: Contract) -> None:
    """Refuse a contract that names something the solution does not define."""
    owner, _, method = contract.path.partition(".")
    wanted = [(owner, method), *((one.kind, "") for one in contract.objects.values())]
    for call in contract.before:
        name, _, called = call.name.rpartition(".")
        if name:
            wanted.append((contract.objects[name].kind, called))
        else:
            wanted.append((owner, called) if method else (called, ""))
    for kind, name in wanted:
        found = getattr(reference, kind, None)
        if found is None or (name and not hasattr(found, name)):
            missing = f"{kind}.{name}" if name else kind
            fix = "Correct the name, or write it into the solution"
            raise module_error(folder, f"complexity.{contract.function}", f"the solution has no {missing}", fix)


def _calls(contract: Contract, seed: int) -> Iterator[tuple[tuple[str, ...], Sizes]]:
    secret = at_secret_sizes(contract, seed)
    sizes = [*contract.lattice.points().values(), *contract.large, *secret.large, *secret.ragged, *secret.far]
    sizes += [secret.huge] if secret.huge else []
    yield from ((contract.args, one) for one in dict.fromkeys(sizes))
    yield from ((specs, contract.lattice.at([4] * len(contract.lattice.names))) for specs in contract.also)


def _problem(folder: Path, contract: Contract, specs: tuple[str, ...], sizes: Sizes, error: Exception) -> CourseError:
    at = ", ".join(f"{name} = {size}" for name, size in zip(contract.lattice.names, sizes, strict=True))
    words = " ".join(f"{type(error).__name__}: {error}".split())[:MOST_WORDS].rstrip(".")
    problem = f"the solution raises {words}, when it is called with ({', '.join(specs)}) at {at}"
    if isinstance(error, SizeError):  # of ours, not of the solution
        problem = str(error)
    fix = 'Choose other arguments or sizes: d = [2, 2] has only even sizes, where = ["n_q <= n_k"] ties two of them'
    return module_error(folder, f"complexity.{contract.function}", problem, fix)
