"""Rehearsal: the solution makes the calls of its contracts before anything is measured.

A mistake in a contract is then one sentence for its author. In a grading it would look like a fault of the grader.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from grader.complexity.arguments import SizeError
from grader.complexity.contract import Contract
from grader.complexity.measurer import CostMeasurer, ReferenceAnswers
from grader.complexity.polynomial import Sizes
from grader.complexity.sampling import script_at
from grader.complexity.secret_sizes import at_secret_sizes
from grader.course.module import CourseError, module_error
from grader.course.seeds import seed_of

MOST_WORDS = 160


def rehearse(folder: Path, measurer: CostMeasurer) -> None:
    """Raise a CourseError for the first contract whose calls the solution cannot make."""
    if measurer.reference is None:
        return
    for contract in measurer.contracts:
        _require_names(folder, measurer.reference, contract)
        seed = seed_of(measurer.salt, measurer.module, f"complexity.{contract.function}")
        answers = ReferenceAnswers(measurer.reference, contract.path)
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
