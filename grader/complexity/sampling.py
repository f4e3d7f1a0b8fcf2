"""The sampler: calls a function in a worker at many sizes and collects the samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from grader.complexity.arguments import argument
from grader.complexity.contract import Contract
from grader.complexity.polynomial import Sizes
from grader.complexity.samples import MAX_PLACES, MalformedSampleError, Sample, Samples, read_samples
from grader.core.compare import difference
from grader.sandbox.protocol.recipe import NOTHING, Recipe
from grader.sandbox.session import Session

AT_ONCE = 60  # sizes in one request; the answer lists every line reached at every size, so it must stay small

CallArguments = tuple[Recipe, tuple[Any, ...]]  # the object that has the method, and the arguments of the call


class Expected(Protocol):
    """The reference's results, and the parameters that the objects of every submission are given."""

    def state(self, init: tuple[Any, ...]) -> Mapping[str, Any]: ...

    def value(self, made: Recipe, args: tuple[Any, ...]) -> Any: ...


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
            arguments = [self._arguments(self.contract.args, one) for one in some]
            for one, args, sample in zip(some, arguments, self._request(arguments), strict=True):
                self._by_size[one] = sample
                self._compare(args, sample)
        return self.samples

    def measure_small_sizes(self) -> Samples:
        """Measure at the sizes that show any power that the limits allow."""
        return self.measure(list(self.lattice.points().values()))

    def measure_all_small_sizes(self) -> Samples:
        """Measure at the sizes that also show higher powers than those of the limits."""
        self.lattice = self.contract.lattice
        return self.measure_small_sizes()

    def measure_further_calls(self, sizes: Sizes) -> list[Sample]:
        """Make the further calls of the contract. They matter for what they call, not for their cost."""
        arguments = [self._arguments(specs, sizes) for specs in self.contract.also]
        samples = self._request(arguments)
        for args, sample in zip(arguments, samples, strict=True):
            self._compare(args, sample)
        return samples

    def arguments_at(self, sizes: Sizes) -> CallArguments:
        """Return the arguments of a call at these sizes, and the object whose method it is."""
        return self._arguments(self.contract.args, sizes)

    def _compare(self, args: CallArguments, sample: Sample) -> None:
        if self.expected is not None and not self._wrong:
            expected = self.expected.value(*args)
            self._wrong = difference(sample.value, expected, self.contract.tolerance) is not None

    def _request(self, arguments: list[CallArguments]) -> list[Sample]:
        if not arguments:
            return []
        function = self.contract.function
        calls = [[made.data, list(args)] for made, args in arguments]
        message = {"op": "measure", "main": self.session.program.main, "path": function.split("."), "calls": calls}
        answer = self.session.request(message, function, self.contract.target)
        try:
            self._files, samples = read_samples(answer)
        except MalformedSampleError:
            raise self.session.malformed(function, self.contract.target) from None
        self._places |= {at for sample in samples for lines in sample.lines.values() for at in lines}
        if len(samples) != len(calls) or len(self._places) > MAX_PLACES:
            raise self.session.malformed(function, self.contract.target)
        return samples

    def _arguments(self, specs: tuple[str, ...], sizes: Sizes) -> CallArguments:
        """Make arguments for the constructor and the call. Every student gets the same ones, new for each size."""
        rng = np.random.default_rng([self.seed, *sizes])
        names = dict(zip(self.contract.lattice.names, sizes, strict=True))
        init = tuple(argument(spec, names, rng) for spec in self.contract.init)
        state = self.expected.state(init) if self.expected is not None and self.contract.is_method else NOTHING
        return Recipe(init, state), tuple(argument(spec, names, rng) for spec in specs)
