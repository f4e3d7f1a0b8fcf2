"""The fixture `shown`: the calls that students can see, made again with other numbers and other text.

Students see the probes, the visible checks and the lesson. A submission could hold the right answers for exactly these
inputs, so the hidden suite compares it with the reference on other values of the same form.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grader.core.compare import Tolerance, difference, shape_of
from grader.diagnosis.probe import Probe, Step
from grader.grading.other_values import with_other_values
from grader.sandbox.protocol.script import NOTHING, Recipe, make
from grader.sandbox.protocol.stand_ins import ScriptObject, as_argument, objects_in, replaced
from grader.sandbox.student import Arguments, Student

__tracebackhide__ = True
Fit = Callable[[Arguments], Arguments]


@dataclass(frozen=True)
class _Case:
    """A call with other numbers, and what the reference returns for it."""

    made: Recipe
    call: Arguments
    expected: Any
    before: tuple[tuple[str, Arguments], ...] = ()  # the steps of a script

    @property
    def objects(self) -> list[ScriptObject]:
        """The objects that the calls get as arguments."""
        calls = [self.call, *(step for _, step in self.before)]
        return objects_in(arg for call in calls for arg in (*call.args, *call.kwargs.values()))

    @property
    def words(self) -> str:
        named = [*self.call.args, *self.call.kwargs.values()]
        shapes = [str(shape_of(arg)) for arg in named if shape_of(arg) is not None]
        return f"other numbers of the shapes {', '.join(shapes)}" if shapes else "other values of the same form"


@dataclass
class ShownShapes:
    """Compares a student with the reference on other numbers of the shapes that students see. One for each check."""

    probes: Sequence[Probe]
    reference: Any
    rng: Callable[[], np.random.Generator]
    _known: dict[str, list[_Case]] = field(default_factory=dict)

    def __call__(
        self,
        student: Student,
        path: str,
        *also: Arguments,
        init: tuple[Any, ...] = (),
        state: Mapping[str, Any] = NOTHING,
        where: Callable[[Arguments], bool] = lambda _: True,
        fit: Fit = lambda call: call,
        tolerance: Tolerance | None = None,
    ) -> None:
        """Fail unless a function, or `Class.method`, agrees with the reference on every shape that a probe has.

        `also` are the calls in the lesson, the stub and the visible checks that no probe has, for a method on an
        object made from `init` and `state`. Ask once in a check for each path. Arguments called `mask`
        stay as they are. So do single numbers, and texts with a default: a call that has nothing else is left out.
        With `where`, only some of
        the calls are made, so that a mistake with masks, for example, costs only the points of a check of masks.
        `fit` makes the new numbers agree where one argument follows from others: right code may rely on that.
        """
        if path not in self._known:
            cases = self._cases(path, also, Recipe(init, state), fit)
            self._known[path] = [case for case in cases if where(case.call)]
        if not self._known[path]:  # such a check could not fail
            raise LookupError(f"shown makes no call of {path}: no probe of it has values to change, and none is given")
        target, _, method = path.partition(".")
        by_object: dict[Hashable, list[_Case]] = {}
        for case in self._known[path]:
            by_object.setdefault(id(case) if case.before else case.made.key, []).append(case)
        for cases in by_object.values():
            own = [{one: _own(student, one.kind, one.made) for one in case.objects} for case in cases]
            function = getattr(student, target)
            if method:
                owner = _own(student, target, cases[0].made)
                for name, step in cases[0].before:
                    given = _with_objects(step, own[0])
                    getattr(owner, name)(*given.args, **given.kwargs)
                function = getattr(owner, method)
            calls = [_with_objects(case.call, objects) for case, objects in zip(cases, own, strict=True)]
            for case, value in zip(cases, function.call_many(calls), strict=True):
                found = difference(value, case.expected, tolerance)
                assert found is None, f"{case.words}: {found}"

    def _cases(self, path: str, also: Sequence[Arguments], recipe: Recipe, fit: Fit) -> list[_Case]:
        """Return one case for each different call; those that the reference refuses are left out."""
        rng, found = self.rng(), dict[Hashable, _Case]()
        shown = [probe for probe in self.probes if probe.path == path and not probe.made.training]
        calls = [(replace(one.made, training=False), Arguments(one.args, one.kwargs), one.before) for one in shown]
        for made, call, steps in [*calls, *((recipe, one, ()) for one in also)]:
            with contextlib.suppress(ValueError, LookupError):  # such as a word that is no key of a dict
                function = self._function(path, made)
                if not callable(function) or (steps and "." not in path):
                    continue  # random parameters, a property, or a script of functions
                own = self._objects_of(call, steps)
                before = _stepped(function, steps, rng, own)
                # a call without arguments, such as `cache.mean()`, shows the other numbers of the steps before it
                other = with_other_values(function, call, rng)
                other = fit(other) if other else call if before else None
                asked = [other, *(step for _, step in before)] if other else []
                key = (made.key, *(_shape((one.args, dict(one.kwargs))) for one in asked if one is not None))
                if other is not None and key not in found:
                    given = _with_objects(other, own)
                    expected = function(*_copied(given.args), **_copied(dict(given.kwargs)))
                    found[key] = _Case(made, other, expected, before)
        return list(found.values())

    def _objects_of(self, call: Arguments, steps: Sequence[Step]) -> dict[ScriptObject, Any]:
        """Return the reference's objects for one script."""
        calls: list[Arguments | Step] = [call, *steps]
        given = [arg for one in calls for arg in (*one.args, *one.kwargs.values())]
        return {one: make(getattr(self.reference, one.kind), one.made.data) for one in objects_in(given)}

    def _function(self, path: str, made: Recipe) -> Any:
        """Return the reference's function; None for a method of an object whose parameters are random."""
        target, _, method = path.partition(".")
        function = getattr(self.reference, target)
        if not method:
            return function
        owner = make(function, made.data)
        random = not made.state and hasattr(owner, "parameters") and any(True for _ in owner.parameters())
        return None if random else getattr(owner, method)


def _own(student: Student, kind: str, made: Recipe) -> Any:
    """Return a new object of a student's class."""
    return getattr(student, kind).made(
        *made.init, state=made.state, training=made.training, parts=made.parts, **made.named
    )


def _with_objects(call: Arguments, own: Mapping[ScriptObject, Any]) -> Arguments:
    """Return a call with objects in place of what stands for them."""
    args = tuple(replaced(arg, own.__getitem__) for arg in call.args)
    return Arguments(args, {name: replaced(arg, own.__getitem__) for name, arg in call.kwargs.items()})


def _stepped(
    function: Any, steps: Sequence[Step], rng: np.random.Generator, own: Mapping[ScriptObject, Any]
) -> tuple[tuple[str, Arguments], ...]:
    """Make the steps of a script on the reference's object, with other numbers; return them for the student."""
    made: list[tuple[str, Arguments]] = []
    for step in steps:
        method = getattr(function.__self__, step.method)
        call = Arguments(step.args, step.kwargs)
        call = with_other_values(method, call, rng) or call
        given = _with_objects(call, own)
        method(*_copied(given.args), **_copied(dict(given.kwargs)))
        made.append((step.method, call))
    return tuple(made)


def _shape(value: Any) -> Hashable:
    """Return the types and shapes of a value; whole numbers and texts count as they are, such as an axis."""
    if (shape := shape_of(value)) is not None:
        return str(value.dtype), shape
    if type(value) in (list, tuple):
        return type(value), *map(_shape, value)
    if type(value) is dict:
        return type(value), *((key, _shape(item)) for key, item in value.items())
    if type(value) in (set, frozenset):
        return type(value), frozenset(value)
    return type(value), None if type(value) is float else value


def _copied(value: Any) -> Any:
    """Return an argument that the reference may change, without changing what the student gets."""
    value = as_argument(value)
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    if type(value) is set:
        return set(value)
    return value.copy() if type(value) is np.ndarray else value.clone() if shape_of(value) is not None else value
