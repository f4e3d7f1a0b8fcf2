"""The student's module as a test sees it. Every use of it is a request to the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import StudentMissingError, StudentRaisedError
from grader.core.plain_values import FarObject
from grader.course.api import Api
from grader.sandbox.protocol.call_names import PACKAGE
from grader.sandbox.protocol.device_findings import (
    DeviceCall,
    GpuCost,
    read_device_call,
    read_gpu_cost,
)
from grader.sandbox.protocol.replies import MalformedError
from grader.sandbox.protocol.script import NOTHING, Recipe
from grader.sandbox.protocol.stand_ins import Generator
from grader.sandbox.protocol.wire import Remote
from grader.sandbox.session import Ref, Session
from grader.sandbox.session_record import MODULE

__tracebackhide__ = True  # pytest shows the student's failure, not our proxy
# Methods of a torch module that suites call, besides the student's own.
TORCH_MODULE_METHODS = ("train", "eval", "float", "double", "half", "bfloat16")


@dataclass(frozen=True)
class Arguments:
    """The arguments of one call. Make them with `arguments(...)`."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)


def arguments(*args: Any, **kwargs: Any) -> Arguments:
    """Return the arguments of one call for `call_many`, written as in the call itself."""
    return Arguments(args, kwargs)


@dataclass(frozen=True)
class Call:
    """A call that returned: its value, and its arguments after the call."""

    value: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True)
class Vjp:
    """A call and its gradients; None where no gradient reached an input."""

    value: Any
    grads: tuple[Any, ...]
    parameters: Mapping[str, Any]


class Handle(FarObject):
    """A student's object that stays in the worker. Call it, or use its methods and attributes.

    Methods named in `methods` are called without a check that they exist. Any other attribute is fetched: it is a plain
    value if it can be sent, else a Handle.
    """

    __slots__ = ("_generation", "_label", "_methods", "_owner", "_ref", "_session")

    def __init__(self, session: Session, ref: Ref, owner: str, label: str, methods: tuple[str, ...] = ()) -> None:
        self._session = session
        self._generation = session.worker.generation
        self._ref = ref
        self._owner = owner
        self._label = label
        self._methods = methods

    def __repr__(self) -> str:
        return f"<the student's {self._label}>"

    def __getattr__(self, name: str) -> Any:
        # NumPy and pytest look for __array__, __len__ and similar names: these must not reach the worker.
        if name.startswith("__"):
            raise AttributeError(name)
        handle = self._below(name)
        return handle if name in self._methods else handle.get()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call_many([Arguments(args, kwargs)])[0]

    def get(self) -> Any:
        """Return the object itself if it can be sent, else a handle to it."""
        return self._local(self._request({"op": "get"}))

    def call(self, *args: Any, **kwargs: Any) -> Call:
        """Call, and return the value together with the arguments after the call."""
        (result,) = self._results([Arguments(args, kwargs)], inputs=True)
        args_after, kwargs_after = result.get("args"), result.get("kwargs")
        if type(args_after) is not list or len(args_after) != len(args):
            raise self._malformed()
        if type(kwargs_after) is not dict or kwargs_after.keys() != kwargs.keys():
            raise self._malformed()
        return Call(self._local(result["value"]), tuple(args_after), kwargs_after)

    def call_many(self, calls: Sequence[Arguments]) -> list[Any]:
        """Make many calls in one round trip and return their values. Raise the first error."""
        return [self._local(result["value"]) for result in self._results(calls, inputs=False)]

    def call_keeping(self, part: int, *args: Any, **kwargs: Any) -> Any:
        """Call, and leave one part of the result in the worker: a state in any form. A handle stands for it."""
        (result,) = self._results([Arguments(args, kwargs)], inputs=False, kept=part)
        return self._local(result["value"])

    def vjp(self, *args: Any, cotangent: Any, **kwargs: Any) -> Vjp:
        """Call, and return the gradients of the positional arguments and the owner's parameters for a cotangent."""
        sent = [_remote(arg) for arg in args]
        request = {"op": "vjp", "args": sent, "kwargs": _sent(kwargs), "cotangent": cotangent}
        answer = self._request(request)
        if type(answer) is not dict or answer.keys() != {"value", "args", "parameters"}:
            raise self._malformed()
        grads, parameters = answer["args"], answer["parameters"]
        if type(grads) is not list or len(grads) != len(args) or type(parameters) is not dict:
            raise self._malformed()
        self._session.record.calls.returned.add(self._owner)
        return Vjp(self._local(answer["value"]), tuple(grads), parameters)

    def on_device(self, *args: Any, elsewhere: Sequence[int | str] = (), gpu: bool = True, **kwargs: Any) -> DeviceCall:
        """Call with every tensor on a simulated GPU, except in the arguments that `elsewhere` names.

        The check must compare the value, for example with `assert_disciplined`: one that passes without it is a fault.

        An argument is named by its position, from 0, or its keyword. A torch module moves to the GPU before it is
        called. With `gpu=False`, the simulated machine has no GPU.
        """
        return self.on_device_many([Arguments(args, kwargs)], elsewhere=elsewhere, gpu=gpu)[0]

    def on_device_many(
        self, calls: Sequence[Arguments], *, elsewhere: Sequence[int | str] = (), gpu: bool = True
    ) -> list[DeviceCall]:
        """Make many calls on the simulated GPU in one round trip. Raise an error that comes without a finding."""
        named = {name for one in calls for name in (*range(len(one.args)), *one.kwargs)}
        if unknown := set(elsewhere) - named:
            raise TypeError(f"elsewhere names {unknown}, but no call has such an argument")
        traced = [self._session.options.is_traced(self._owner) for _ in calls]
        request = {"op": "on_device", "calls": _calls(calls), "elsewhere": list(elsewhere), "gpu": gpu}
        answers = self._request({**request, "traced": traced})
        if type(answers) is not list or len(answers) != len(calls):
            raise self._malformed()
        return [self._device_call(answer) for answer in answers]

    def on_gpu(self, *args: Any, elsewhere: Sequence[int | str] = (), **kwargs: Any) -> DeviceCall:
        """Call as `on_device` does, on a real GPU with PyTorch's sync debugging on. For GPU checks."""
        return self.on_gpu_many([Arguments(args, kwargs)], elsewhere=elsewhere)[0]

    def on_gpu_many(self, calls: Sequence[Arguments], *, elsewhere: Sequence[int | str] = ()) -> list[DeviceCall]:
        """Make many calls on the real GPU in one round trip."""
        on_gpu = self._on_gpu()
        answers = on_gpu._request({"op": "on_gpu", "calls": _calls(calls), "elsewhere": list(elsewhere)})
        if type(answers) is not list or len(answers) != len(calls):
            raise on_gpu._malformed()
        return [on_gpu._device_call(answer) for answer in answers]

    def _on_gpu(self) -> Handle:
        """Return the same function in the session that has a GPU."""
        if self._session.gpu is None or self._ref[0] != MODULE:
            raise TypeError("only GPU checks can call on a real GPU, and only functions of the module")
        return Handle(self._session.gpu, self._ref, self._owner, self._label, self._methods)

    def _device_call(self, answer: object) -> DeviceCall:
        if type(answer) is not dict or ("value" in answer) == ("error" in answer):
            raise self._malformed()
        raised = None
        if "error" in answer:
            error = self._session.failure(self._label, self._owner, answer["error"])
            if not isinstance(error, StudentRaisedError):
                raise error
            raised = error
        try:
            call = read_device_call(answer, self._local(answer.get("value")), raised, self._session.program.lines)
        except MalformedError:
            raise self._malformed() from None
        if raised is not None and not call.findings:
            raise raised
        self._session.record.device_calls.append(call)
        self._session.record.calls.returned.add(self._owner)
        return call

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a torch module by name."""
        parameters = self._request({"op": "parameters"})
        if type(parameters) is not dict:
            raise self._malformed()
        return parameters

    def made(
        self,
        *init: Any,
        state: Mapping[str, Any] = NOTHING,
        training: bool = False,
        parts: Mapping[str, tuple[Any, ...]] = NOTHING,
        **named: Any,
    ) -> Handle:
        """Return a new object of this class; a torch module gets these parameters, this mode, and these parts.

        This costs no round trip: the object is made together with its first call, which raises any error.
        """
        number = self._session.worker.new_handle()
        recipe = Recipe(init, state, training, named, parts)
        self._request_later({"op": "make", "number": number, "made": recipe.data})
        return Handle(self._session, (number, ()), self._owner, self._label, self._methods)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Set the parameters of a torch module. Its buffers stay as they are."""
        self._request_later({"op": "fill", "state": dict(state)})

    def _below(self, name: str) -> Handle:
        handle, path = self._ref
        below = Handle(self._session, (handle, (*path, name)), self._owner, f"{self._label}.{name}")
        below._generation = self._generation
        return below

    def _results(self, calls: Sequence[Arguments], *, inputs: bool, kept: int | None = None) -> list[dict[str, Any]]:
        part = {} if kept is None else {"kept": kept}
        results = self._request({"op": "call", "calls": _calls(calls), "inputs": inputs, **part})
        if type(results) is not list or not all(type(result) is dict for result in results):
            raise self._malformed()
        for result in results:
            if "error" in result:
                raise self._session.failure(self._label, self._owner, result["error"])
        if len(results) != len(calls) or not all("value" in result for result in results):
            raise self._malformed()
        self._session.record.calls.returned.add(self._owner)
        return results

    def _request(self, message: dict[str, Any]) -> Any:
        return self._session.request(self._referring(message), self._label, self._owner)

    def _request_later(self, message: dict[str, Any]) -> None:
        self._session.request_later(self._referring(message))

    def _referring(self, message: dict[str, Any]) -> dict[str, Any]:
        handle, path = self._ref
        if handle != MODULE and self._generation != self._session.worker.generation:
            raise StudentMissingError(f"{self._label} is gone: its process has ended")
        return {**message, "ref": [handle, list(path)]}

    def _local(self, value: Any) -> Any:
        """Replace every Remote by a Handle."""
        if type(value) is Remote:
            label = value.type_name.removeprefix(f"{PACKAGE}.{self._session.program.main}.")
            return Handle(self._session, (value.handle, ()), self._owner, label, self._methods)
        if type(value) in (list, tuple):
            return type(value)(self._local(item) for item in value)
        if type(value) is dict:
            return {key: self._local(item) for key, item in value.items()}
        return value

    def _malformed(self) -> Exception:
        return self._session.failure(self._label, self._owner)


def gpu_cost(function: Handle, *args: Any, repeats: int = 0, keep: bool = False) -> GpuCost:
    """Call a function on the real GPU, and return the cost; with `keep`, also the value."""
    on_gpu = function._on_gpu()
    answer = on_gpu._request({"op": "gpu_cost", "args": list(args), "repeats": repeats, "keep": keep})
    try:
        return read_gpu_cost(answer, repeats)
    except MalformedError:
        raise on_gpu._malformed() from None


class Student:
    """The student's module: `student.sort(x)` runs their sort in the worker and returns its result."""

    def __init__(self, session: Session, api: Api) -> None:
        self._session = session
        self._api = api

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        methods = (*self._api.classes.get(name, ()), *TORCH_MODULE_METHODS)
        handle = Handle(self._session, (MODULE, (name,)), name, name, methods)
        return handle if name in self._api.functions or name in self._api.classes else handle.get()

    def seed(self, seed: int) -> None:
        """Seed every random generator in the worker."""
        self._session.request_later({"op": "seed", "seed": seed})


def _remote(arg: Any) -> Any:
    if type(arg) is Generator:
        return arg.sent
    if type(arg) is not Handle:
        return arg
    handle, path = arg._ref
    if path:
        raise TypeError(f"{arg!r} is a name, not an object: fetch it with .get() before you pass it on")
    return Remote(handle, arg._label)


def _calls(calls: Sequence[Arguments]) -> list[list[Any]]:
    return [[[_remote(arg) for arg in one.args], _sent(one.kwargs)] for one in calls]


def _sent(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _remote(arg) for name, arg in kwargs.items()}
