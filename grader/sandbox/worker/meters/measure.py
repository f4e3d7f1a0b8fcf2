"""Measurement of calls: the student's module is loaded again, rewritten to call a meter."""

from __future__ import annotations
import __future__

import ast
import functools
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import CodeType, FunctionType
from typing import Any, ClassVar

from grader.sandbox.protocol.script import Performance, snapshot
from grader.sandbox.worker.loader import StudentModules, compile_cell
from grader.sandbox.worker.meters.meter import Meter
from grader.sandbox.worker.meters.price_list import handler_of, may_call, price_of
from grader.sandbox.worker.meters.rewrite import METER, SLICE, rewrite

WATCHED = 8  # first calls in which torch is watched, which is slow; later steps are measured themselves
LRU_CACHE: Any = type(functools.lru_cache(int))
DEEPEST = 5_000  # every call of the student's goes through hooks: recursion must get as deep as without them


class MeteredModules(StudentModules):
    """A student's modules with hooks. Each file is rewritten once per worker."""

    meter = Meter(price_of, handler_of, may_call)
    compiled: ClassVar[dict[str, CodeType]] = {}

    def compile(self, cell: str, filename: str, flags: int, *, notebook: bool) -> CodeType:
        if filename not in self.compiled:
            tree = compile_cell(cell, filename, flags | ast.PyCF_ONLY_AST, notebook=notebook)
            self.meter.files.append(filename)
            if filename in self.given:
                self.meter.given.add(len(self.meter.files) - 1)
            flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if notebook else 0
            hooked = rewrite(tree, len(self.meter.files) - 1, annotations=not _are_texts(tree, flags))
            code = compile(hooked, filename, "exec", flags=flags, dont_inherit=True)
            self.meter.add_own_code(code)
            self.compiled[filename] = code
        return self.compiled[filename]

    @classmethod
    def forget(cls) -> None:
        """Forget everything that was loaded and measured in this process."""
        cls.meter = Meter(price_of, handler_of, may_call)
        cls.compiled.clear()

    @functools.cached_property
    def caches(self) -> list[Any]:
        """What `functools.lru_cache` made of the student's functions and methods."""
        values = [one for module in self.loaded() for one in vars(module).values()]
        values += [one for owner in values if issubclass(type(owner), type) for one in vars(owner).values()]
        return [one for one in values if type(one) is LRU_CACHE and self._is_own(getattr(one, "__wrapped__", None))]

    def _is_own(self, function: Any) -> bool:
        return type(function) is FunctionType and function.__code__.co_filename in self.filenames

    def injected(self) -> dict[str, Any]:
        return {METER: self.meter, SLICE: slice}


def _are_texts(tree: ast.Module, flags: int) -> bool:
    """Whether annotations are not evaluated in this file."""
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__")
    named = any(alias.name == "annotations" for node in imports for alias in node.names)
    return named or bool(flags & __future__.annotations.compiler_flag)


def measure(loaded: StudentModules, main: str, scripts: Sequence[Any]) -> dict[str, Any]:
    """Run scripts, and return the counts of the measured call of each.

    A module that was loaded without meters is loaded again with them. A line of the student's code is one number: the
    index of its file times a million, plus the line number.
    """
    modules = loaded if isinstance(loaded, MeteredModules) else _load(loaded.files, main)
    sys.setrecursionlimit(max(DEEPEST, sys.getrecursionlimit()))
    results = [_measure_one(modules, data) for data in scripts]
    return {"files": modules.meter.files, "calls": results}


def _measure_one(modules: MeteredModules, data: Sequence[Any]) -> dict[str, Any]:
    meter = modules.meter
    for kept in modules.caches:  # a call must cost the same, whatever was called before it
        LRU_CACHE.cache_clear(kept)  # a student may give the function an attribute of this name
    meter.reset()
    performance = Performance(modules.main, data)
    earlier = _events_before(meter, performance)
    calls = performance.measured()
    meter.reset(tuple(one for call in calls for one in call.inputs), keep=performance.has_state)
    values = []
    for call in calls:
        with watching_torch(meter, call.inputs):
            value = call()
        values.append(snapshot(value) if performance.loops else value)  # a later call may write into the same arrays
    # Copies: the next constructor may call hooks before the meter is reset.
    return {
        "value": values if performance.loops else values[0],
        "lines": {name: dict(one) for name, one in meter.lines().items()},
        "counts": meter.counts(),
        "unknown": meter.hidden | meter.unknown,
        "events": {**earlier, **meter.events},
    }


def _events_before(meter: Meter, performance: Performance) -> dict[str, int]:
    """Make the calls that come first. Return what those of the measured function or class call by name."""
    events: dict[str, int] = {}
    for number, call in enumerate(performance.before()):
        meter.events = {}
        with watching_torch(meter, call.inputs) if call.is_own and number < WATCHED else nullcontext():
            call()
        if call.is_own:
            events = {**meter.events, **events}
    return events


def _load(files: Mapping[str, Any], main: str) -> MeteredModules:
    modules = MeteredModules(files)
    errors = modules.load(main)
    if errors and not files[main]["notebook"]:
        raise errors[0]
    return modules


def watching_torch(meter: Meter, args: tuple[Any, ...]) -> AbstractContextManager[None]:
    """Count torch operations too, in a worker that has torch."""
    if "torch" not in sys.modules:
        return nullcontext()
    from grader.sandbox.worker.meters.torch_meter import watching

    return watching(meter, args)
