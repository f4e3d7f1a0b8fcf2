"""The kernel as second witness: the CPU time and memory of one call, told by the kernel and not by the worker.

Counts are made beside the student's code. So one call at a secret, much larger size is also watched from outside. If it
takes far more time or memory than the counts explain, a person decides. The margins are wide: on a busy machine an
honest call takes a few times as long, never hundreds of times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.complexity.contract import Contract
from grader.complexity.polynomial import Polynomial, Sizes
from grader.complexity.sampling import Expected, Sampler
from grader.core.errors import StudentError
from grader.sandbox.session import Session

FAR = 8
# What honest code takes at most for each unit that was counted, on a slow machine, in seconds. A step may be a call of
# torch. The right solutions stay below a twentieth of what this allows.
SECONDS = {"steps": 100e-6, "work": 100e-9, "mul": 20e-9}
ALWAYS_SECONDS = 0.4
# Of memory: how many times the limit, and what is always allowed. Where the kernel cannot forget an earlier peak, what
# a library takes once counts, too.
BYTES_TIMES, ALWAYS_BYTES, ALWAYS_BYTES_IF_UNFORGOTTEN = 12, 32 << 20, 96 << 20
ALWAYS_BYTES_HUGE = 16 << 20  # no library takes that much at a size that a module's author has tried
CPU_TIME = "it takes far more CPU time at a large size than its counted cost explains: an instructor must check"
MEMORY = "it takes far more memory at a large size than its counted cost explains: an instructor must check"
ENDED = "it does not get through a large size: an instructor must check"


@dataclass(frozen=True)
class Usage:
    """What a call has used, as the kernel says; `is_fresh` if earlier peaks of memory are forgotten."""

    cpu_s: float
    peak_bytes: int
    is_fresh: bool


def doubt(
    session: Session, contract: Contract, seed: int, expected: Expected | None, exact: Mapping[str, Polynomial]
) -> str:
    """Return why the counts of a function are not plausible; empty if they are, or where the kernel tells nothing."""
    if session.worker.live is None or not exact.keys() >= SECONDS.keys():
        return ""
    sizes = _sizes(contract)
    try:
        used = _used(session, contract, seed, expected, sizes)
    except StudentError:
        return ENDED
    if used is not None and used.cpu_s > _seconds(exact, sizes):
        return CPU_TIME
    return _too_much_memory(contract, sizes, used, ALWAYS_BYTES)


def doubt_at_huge(session: Session, contract: Contract, seed: int, expected: Expected | None) -> str:
    """Return whether a function takes memory at the huge size that its counts do not show; empty if not.

    Its CPU time says nothing there: honest loops that work token by token may take long.
    """
    if session.worker.live is None or contract.huge is None:
        return ""
    try:
        used = _used(session, contract, seed, expected, contract.huge)
    except StudentError:
        return ENDED
    return _too_much_memory(contract, contract.huge, used, ALWAYS_BYTES_HUGE)


def _too_much_memory(contract: Contract, sizes: Sizes, used: Usage | None, always: int) -> str:
    memory = next((limit.bound for limit in contract.limits if limit.meter == "mem"), None)
    if used is None or memory is None:
        return ""
    always = always if used.is_fresh else ALWAYS_BYTES_IF_UNFORGOTTEN
    return MEMORY if used.peak_bytes > always + BYTES_TIMES * 8 * float(memory.at(sizes)) else ""


def _seconds(exact: Mapping[str, Polynomial], sizes: Sizes) -> float:
    """Return the CPU time that the counts explain."""
    return ALWAYS_SECONDS + sum(each * float(exact[meter].at(sizes)) for meter, each in SECONDS.items())


def _sizes(contract: Contract) -> Sizes:
    """Return the largest of the secret sizes, with its largest variable eight times as large."""
    most = contract.counted(max(contract.large, key=lambda sizes: sum(sizes)))
    largest = most.index(max(most))
    step, base = contract.lattice.step[largest], contract.lattice.base[largest]
    far = base + (FAR * most[largest] - base) // step * step
    return contract.fitted([far if variable == largest else size for variable, size in enumerate(most)])


def _used(session: Session, contract: Contract, seed: int, expected: Expected | None, sizes: Sizes) -> Usage | None:
    """Make the measured call without counting it, and return what the kernel says that it used."""
    script = Sampler(session, contract, seed, expected).script_at(sizes)
    handle = session.worker.new_handle()
    prepare = {"op": "prepare", "path": [contract.target], "number": handle, "script": script.data}
    session.request(prepare, contract.function, contract.target)
    message = {"op": "call", "ref": [handle, ["run"]], "calls": [[[], {}]], "inputs": False}
    worker = session.worker.live
    is_fresh = worker is not None and worker.process.forget_peak()
    before = None if worker is None else worker.process.usage()
    answer = session.request(message, contract.function, contract.target)
    after = None if worker is None else worker.process.usage()
    if type(answer) is not list or len(answer) != 1 or type(answer[0]) is not dict or "value" not in answer[0]:
        raise StudentError(ENDED)  # it raised an exception, which costs nothing
    if before is None or after is None:
        return None
    return Usage(after[0] - before[0], after[1] - before[1], is_fresh)
