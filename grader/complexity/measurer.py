"""The cost measurer: measures the functions of a submission that have a contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from grader.complexity.audit import Reason, UncertifiedLine, audit
from grader.complexity.contract import Contract
from grader.complexity.contract_reader import read_contracts
from grader.complexity.cost import CodeLine, Cost, Event
from grader.complexity.profile import Profile, profile
from grader.complexity.reference_answers import ReferenceAnswers
from grader.complexity.secret_sizes import at_secret_sizes
from grader.complexity.watched_checks import WatchedCalls, calls_in_checks, named_in_checks
from grader.complexity.witness import doubt, doubt_at_huge
from grader.complexity.written_calls import first_product, first_use
from grader.course.module import ForbiddenRule, Module
from grader.course.seeds import seed_of
from grader.sandbox.protocol.call_names import PREFIX, SUM, is_attention, is_product, is_ready_made
from grader.sandbox.session import Session
from grader.sandbox.session_record import RecordedRequest

_UNSEEN = "it ended its process when the calls of the checks were watched: an instructor must check"
_EXECUTING = ("exec", "eval", "compile")


@dataclass(frozen=True)
class Forbidden:
    """A call that a module does not allow, with its line and the reason."""

    event: Event
    why: str


@dataclass(frozen=True)
class FunctionCosts:
    """The costs of one function, and its calls that are not allowed."""

    profile: Profile
    costs: tuple[Cost, ...]
    forbidden: tuple[Forbidden, ...]


@dataclass(frozen=True)
class CostMeasurer:
    """Measures the functions of one module. `reference` is None where there is no solution to compare with."""

    contracts: tuple[Contract, ...]
    forbidden: Mapping[str, ForbiddenRule]
    module: str
    salt: str
    reference: ModuleType | None
    known: dict[bytes, Any] = field(default_factory=dict)  # results of the reference, the same for every submission

    @property
    def points(self) -> float:
        """The points of all contracts together."""
        return sum(contract.points for contract in self.contracts)

    def of(self, session: Session, contract: Contract) -> FunctionCosts:
        """Measure one function. A worker that has measured before may be used: it loads everything again each time."""
        seed = seed_of(self.salt, self.module, f"complexity.{contract.function}")
        expected = None if self.reference is None else ReferenceAnswers(self.reference, contract.path, self.known)
        secret = at_secret_sizes(contract, seed)
        found = profile(session, secret, seed, expected)
        forbidden = tuple(
            Forbidden(event, rule.why)
            for event in found.events
            if (rule := self._rule(event.call)) and rule.holds_in(contract.target)
        )
        costs = _fail_forbidden(_judge_further_calls(found), forbidden)
        costs = _undecided(costs, (*audit(session.program.own_files), *self._named(session, contract)))
        if all(cost.verdict == "pass" for cost in costs):
            why = doubt_at_huge(session, secret, seed, expected)
            if not why and contract is self.contracts[-1]:
                why = doubt(session, secret, seed, expected, found.exact)
            costs = _in_doubt(costs, why)
        return FunctionCosts(found, costs if self.reference is None else tuple(map(_for_a_report, costs)), forbidden)

    def _rule(self, call: str) -> ForbiddenRule | None:
        """Return the rule about a call. Where torch is forbidden, so are its products and what is ready-made in it."""
        kind = kind_of(call)
        of_torch = call.startswith(PREFIX) and kind in ("ready_made", "products")
        return self.forbidden.get(kind) or (self.forbidden.get("torch") if of_torch else None)

    def _named(self, session: Session, contract: Contract) -> Iterator[UncertifiedLine]:
        """Yield a line with what a module forbids everywhere: ready-made attention, or a product of arrays."""
        own_file = session.program.files[session.program.main]
        products = self.forbidden.get("products")
        if products and not products.functions and (place := first_product(own_file)):
            yield UncertifiedLine(*place, Reason.FORBIDDEN)
        rule = self.forbidden.get("attention")
        if rule is None or rule.functions or contract.needs:
            return
        use = first_use({session.program.main: own_file}, lambda path: path.startswith(PREFIX) and is_attention(path))
        if use is not None:
            yield UncertifiedLine(*use, Reason.FORBIDDEN)

    def calls_in_checks(self, session: Session, recorded: Sequence[RecordedRequest]) -> WatchedCalls:
        """Return what each function and class calls in the checks; nothing for a module that forbids nothing."""
        if session.options.named or not self.forbidden:
            return named_in_checks(session)
        return calls_in_checks(session, recorded, seed_of(self.salt, self.module, "calls in checks"))

    def with_calls(
        self, found: FunctionCosts, calls: WatchedCalls, files: Mapping[str, Mapping[str, Any]]
    ) -> FunctionCosts:
        """Fail the costs of a function that makes a forbidden call in a check, though not where it was measured."""
        contract = found.profile.contract
        forbidden = tuple(
            Forbidden(Event(contract.function, call, definition(files, contract.target)), rule.why)
            for call in sorted(calls.names.get(contract.target, ()))
            if call != SUM and (rule := self._rule(call)) and rule.holds_in(contract.target)
        )
        if forbidden and not found.forbidden:
            return replace(found, costs=_fail_forbidden(found.costs, forbidden), forbidden=forbidden)
        return found if calls.complete else replace(found, costs=_in_doubt(found.costs, _UNSEEN))

    def on_gpu(
        self, cost: Cost, contract: Contract, calls: WatchedCalls, files: Mapping[str, Mapping[str, Any]]
    ) -> FunctionCosts:
        """Fail a cost that was measured on a GPU if the function makes a forbidden call in a check."""
        return self.with_calls(FunctionCosts(Profile(contract, (cost,), (), {}, {}, {}), (cost,), ()), calls, files)

    def unmeasured(self, contract: Contract) -> FunctionCosts:
        """Return failed costs for a function that was not measured, because its results are wrong or never come."""
        message = "NOT MEASURED: its checks fail"
        costs = tuple(
            Cost(contract.function, limit.meter, limit.text, "", "fail", limit.points, None, message)
            for limit in contract.limits
        )
        return FunctionCosts(Profile(contract, costs, (), {}, {}, {}), costs, ())


def cost_measurer(module: Module, salt: str, reference: ModuleType | None) -> CostMeasurer:
    """Return the cost measurer of a module, as its `module.toml` describes it."""
    contracts = read_contracts(module.folder, module.complexity)
    return CostMeasurer(contracts, module.forbidden, module.name, salt, reference)


def _undecided(costs: tuple[Cost, ...], findings: tuple[UncertifiedLine, ...]) -> tuple[Cost, ...]:
    """Leave the costs of code that the audit does not certify to the instructor, unless they fail anyway."""
    if not findings:
        return costs
    first = findings[0]
    message = f"{first.reason}: an instructor must check"
    return tuple(
        replace(cost, verdict="inconclusive", place=CodeLine(first.file, first.line), message=message)
        if cost.verdict == "pass"
        else cost
        for cost in costs
    )


def _for_a_report(cost: Cost) -> Cost:
    """Leave out how counts grow that are not a polynomial: code could write what it has seen into them."""
    if "grows like" not in cost.measured + cost.message:
        return cost
    message = f"grows faster than {cost.law}" if "grows like" in cost.message else cost.message
    return replace(cost, measured="not a polynomial", message=message)


def _in_doubt(costs: tuple[Cost, ...], why: str) -> tuple[Cost, ...]:
    """Leave the costs that pass to the instructor, if there is a reason."""
    return tuple(
        replace(cost, verdict="inconclusive", message=why) if why and cost.verdict == "pass" else cost for cost in costs
    )


def definition(files: Mapping[str, Mapping[str, Any]], name: str) -> CodeLine:
    """Return the line of a definition.

    A report must not tell which line made a call in a check: code could choose the line by the hidden input.
    """
    for source in files.values():
        for number, cell in enumerate(source["cells"], 1):
            if found := re.search(rf"^(?:def|class)\s+{re.escape(name)}\b".encode(), cell, re.MULTILINE):
                file = f"{source['file']}[{number}]" if source["notebook"] else source["file"]
                return CodeLine(file, cell.count(b"\n", 0, found.start()) + 1)
    return CodeLine("", 1)


def kind_of(call: str) -> str:
    """Return the rule of `[forbidden]` that applies to a call."""
    if call in _EXECUTING:
        return "exec"
    if call.startswith(PREFIX):
        if is_product(call):
            return "products"
        return "attention" if is_attention(call) else "ready_made" if is_ready_made(call) else "torch"
    return "products"


def _judge_further_calls(found: Profile) -> tuple[Cost, ...]:
    """Fail the steps of a function that loops in a further call, and the last cost of one that lacks a needed call."""
    costs = found.costs
    if found.looping is not None:
        message = f"it loops when called with ({', '.join(found.looping)})"
        costs = tuple(
            replace(cost, verdict="fail", place=None, message=message)
            if cost.meter == "steps" and cost.verdict != "fail"
            else cost
            for cost in costs
        )
    if found.lacking is None:
        return costs
    *others, last = costs
    message = f"it does not call PyTorch's own attention when called with ({', '.join(found.lacking)})"
    return (*others, replace(last, verdict="fail", place=None, message=message, too_little=True))


def _fail_forbidden(costs: tuple[Cost, ...], forbidden: tuple[Forbidden, ...]) -> tuple[Cost, ...]:
    """Fail every cost of a function that makes a forbidden call: that call did work that was not counted."""
    if not forbidden:
        return costs
    first = forbidden[0]
    message = f"{first.event.call} is not allowed here: {first.why}"
    return tuple(replace(cost, verdict="fail", place=first.event.place, message=message) for cost in costs)
