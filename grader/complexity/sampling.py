"""The sampler: calls a function in a worker at many sizes and collects the samples."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from grader.complexity.contract import Contract
from grader.complexity.samples import MAX_PLACES, MalformedSampleError, Sample, Samples, read_samples
from grader.complexity.script_making import no_state, script_at
from grader.complexity.tiling import Sizes
from grader.core.compare import difference
from grader.sandbox.protocol.script import Script
from grader.sandbox.session import Session

AT_ONCE = 60  # sizes in one request; the answer lists every line reached at every size, so it must stay small


class Expected(Protocol):
    """The reference's results, and the parameters that the objects of every submission are given."""

    def state(self, kind: str, init: tuple[Any, ...]) -> Mapping[str, Any]: ...

    def value(self, script: Script) -> Any: ...


class Sampler:
    """Measures one function of one submission."""

    def __init__(self, session: Session, contract: Contract, seed: int, expected: Expected | None) -> None:
        self.session = session
        self.contract = contract
        self.seed = seed
        self.expected = expected
        self.lattice = contract.quick
        self._files: list[str] = []
        self._by_size: dict[Sizes, Sample] = {}
        self._wrong = False
        self._places: set[int] = set()

    @property
    def samples(self) -> Samples:
        """What has been measured so far."""
        return Samples(self.contract, self.lattice, dict(self._by_size), tuple(self._files), self._wrong)

    def has_measured(self, sizes: Iterable[Sizes]) -> bool:
        """Whether all of these sizes have been measured."""
        return all(one in self._by_size for one in sizes)

    def measure(self, sizes: Sequence[Sizes]) -> Samples:
        """Measure at these sizes, in as few requests as possible."""
        new = [one for one in sizes if one not in self._by_size]
        for some in (new[at : at + AT_ONCE] for at in range(0, len(new), AT_ONCE)):
            scripts = [self.script_at(one) for one in some]
            for one, script, sample in zip(some, scripts, self._request(scripts), strict=True):
                self._by_size[one] = sample
                self._compare(script, sample)
        return self.samples

    def measure_small_sizes(self) -> Samples:
        """Measure at the sizes that show any power that the limits allow."""
        return self.measure(list(self.lattice.points().values()))

    def measure_more_small_sizes(self, meters: Collection[str]) -> Samples:
        """Measure at the sizes that also show higher powers than those of the limits of these meters."""
        self.lattice = self.contract.lattice_beyond(meters)
        return self.measure_small_sizes()

    def measure_further_calls(self, sizes: Sizes) -> list[Sample]:
        """Make the further calls of the contract. They matter for what they call, not for their cost."""
        scripts = [self._script(specs, sizes) for specs in self.contract.also]
        samples = self._request(scripts)
        for script, sample in zip(scripts, samples, strict=True):
            self._compare(script, sample)
        return samples

    def script_at(self, sizes: Sizes) -> Script:
        """Return the script of the measured call at these sizes."""
        return self._script(self.contract.args, sizes)

    def _compare(self, script: Script, sample: Sample) -> None:
        if self.expected is not None and not self._wrong:
            expected, found = (self._compared(value) for value in (self.expected.value(script), sample.value))
            self._wrong = difference(found, expected, self.contract.tolerance) is not None

    def _compared(self, value: Any) -> Any:
        """Return what is compared of a result: all of it, or one part of it, or that part of each in a list."""
        if self.contract.compare is None:
            return value
        if self.contract.times is not None and type(value) is list:
            return [_part(one, self.contract.compare) for one in value]
        return _part(value, self.contract.compare)

    def _request(self, scripts: list[Script]) -> list[Sample]:
        if not scripts:
            return []
        function = self.contract.function
        calls = [script.data for script in scripts]
        path = self.contract.path.split(".")
        message = {"op": "measure", "main": self.session.program.main, "path": path, "calls": calls}
        answer = self.session.request(message, function, self.contract.target)
        try:
            self._files, samples = read_samples(answer)
        except MalformedSampleError:
            raise self.session.failure(function, self.contract.target) from None
        self._places |= {at for sample in samples for lines in sample.lines.values() for at in lines}
        if len(samples) != len(calls) or len(self._places) > MAX_PLACES:
            raise self.session.failure(function, self.contract.target)
        return samples

    def _script(self, specs: tuple[str, ...], sizes: Sizes) -> Script:
        state_of = no_state if self.expected is None else self.expected.state
        return script_at(self.contract, specs, sizes, self.seed, state_of)


def _part(value: Any, index: int) -> Any:
    return value[index] if type(value) in (tuple, list) and index < len(value) else None
