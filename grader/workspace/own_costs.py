"""The costs of a student's own functions, measured now, beside those of the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.complexity.arguments import named_spec
from grader.complexity.contract import Contract
from grader.complexity.measurer import FunctionCosts, cost_measurer
from grader.complexity.polynomial import Polynomial
from grader.core.errors import StudentError
from grader.course.api import Api
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.module import CourseError, Module
from grader.course.seeds import PUBLIC_SALT
from grader.diagnosis.cost_growth import growth, name_growth
from grader.diagnosis.fingerprints import ways_of
from grader.grading.load_student import load, program_of, require_backend
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.tiers import open_spawner
from grader.sandbox.session import Busy, Session, SessionOptions
from grader.submission.fallbacks import own_with_fallbacks

_LINE_END = re.compile(r"\r\n?|\n")  # as Python counts lines: a form feed ends none


@dataclass(frozen=True)
class OwnCost:
    """The costs of one function, its source, and the reference's polynomials by meter."""

    contract: Contract
    measured: FunctionCosts
    source: Mapping[str, str]  # by file
    reference: Mapping[str, Polynomial]
    likely: str = ""  # the misconception whose costs grow like these
    sizes: str = ""  # what the sizes in its limits are, by the names of its parameters

    def line(self, file: str, number: int) -> str:
        """Return a line of the student's own file."""
        lines = _LINE_END.split(self.source.get(file, ""))
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def own_costs(
    course: Course, module: Module, function: str | None = None, busy: Busy = lambda *_: None
) -> Iterator[OwnCost]:
    """Measure the functions of a student's own file, one by one. `busy` is called while they run."""
    require_backend(module)
    measurer = cost_measurer(module, PUBLIC_SALT, None)
    wanted = [one for one in measurer.contracts if function in (None, one.function, one.path, one.target)]
    if not wanted:
        known = ", ".join(contract.function for contract in measurer.contracts) or "none yet"
        file = module.folder / "module.toml"
        problem = f"there is no contract for {function!r}" if function else "there are no contracts"
        raise CourseError(file, "complexity", problem, f"There are contracts for: {known}", usage=True)
    submission = own_with_fallbacks(course, module)
    if submission.problem:
        raise StudentError(submission.problem)
    sources = {
        (f"{one.file}[{number}]" if one.notebook else one.file): cell
        for one in submission.sources.values()
        for number, cell in enumerate(one.cells, 1)
    }
    golden = read_golden(module)
    api = course.api(module)
    with open_spawner(module.backend) as spawner:
        limits, options = Limits().with_cpu(module.cpu_s), SessionOptions(busy=busy)
        session = Session(spawner, program_of(submission, module, api), limits, options)
        try:
            load(session, module)
            for contract in wanted:
                names = contract.lattice.names
                reference = {
                    meter: Polynomial.from_data(names, terms, contract.lattice.tiles)
                    for meter, terms in golden.costs.get(contract.function, {}).items()
                }
                costs = measurer.of(session, contract)
                misconception = name_growth(ways_of(golden.misconceptions), contract.function, growth(costs))
                likely = f"{misconception.likely} ({misconception.name})" if misconception else ""
                yield OwnCost(contract, costs, sources, reference, likely, _sizes(contract, api))
        finally:
            session.close()


def _sizes(contract: Contract, api: Api) -> str:
    """Return the arguments in the sizes of the limits, such as `Q is n_q × d_k`, and the calls that come first."""
    parameters = api.parameters.get(contract.path, ())
    places = iter([name.lstrip("*") for name in parameters] + [parameters[-1].lstrip("*") if parameters else ""] * 9)
    words = []
    for keyword, spec in map(named_spec, contract.args):
        name = keyword or next(places, "")
        kind, *parts = spec.replace("*", "·").split()
        match kind.removeprefix("tensor") or "array":
            case "array" | "positive" | "mask":
                words.append(f"{name} is {' × '.join(parts)}")
            case "ids":
                words.append(f"{name} is {' × '.join(parts[:-2])}, with entries below {parts[-1]}")
            case "positions":
                words.append(f"{name} has {parts[0]} entries")
            case "size" if not parts[0].isdigit():
                words.append(f"{name} is {parts[0]}")
            case "lengths":
                words.append(f"{name} has {parts[0]} entries below {parts[1]}")
    words += [f"after {call.times} calls of {call.name}" for call in contract.before if call.times]
    words += [f"{contract.times} calls together"] if contract.times else []
    return ", ".join(words)
