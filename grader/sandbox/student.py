"""The student as a test sees them: their module, every use of which is a call to the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import StudentMissingError, StudentRaisedError
from grader.course.api import Api
from grader.sandbox.protocol.call_names import PACKAGE
from grader.sandbox.protocol.device_findings import (
    DeviceCall,
    GpuCost,
    MalformedFindingsError,
    read_device_call,
    read_gpu_cost,
)
from grader.sandbox.protocol.recipe import NOTHING, Recipe
from grader.sandbox.protocol.wire import Remote
from grader.sandbox.session import MODULE, Ref, Session

__tracebackhide__ = True  # pytest shows a student their own failure, not our proxy
# What suites call of a torch module besides the student's own methods.
OF_A_TORCH_MODULE = ("train", "eval", "float", "double", "half", "bfloat16")


@dataclass(frozen=True)
class Arguments:
    """The arguments of one call; made by `arguments(...)`."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)


def arguments(*args: Any, **kwargs: Any) -> Arguments:
    """Return arguments for `callmany`, written as the call itself would be."""
    return Arguments(args, kwargs)


@dataclass(frozen=True)
class Call:
    """A call that returned: its value, and its arguments as they were afterwards."""

    value: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True)
class Vjp:
    """A call and its gradients; None stands where no gradient reached."""

    value: Any
    grads: tuple[Any, ...]
    parameters: Mapping[str, Any]


class Handle:
    """An object of the student's that stays in the worker: call it, or use its methods and attributes.

    Methods named in `methods` are called without asking first whether they exist; any other attribute is
    fetched, and is a plain value if it has a form on the wire and a Handle if not.
    """

    __slots__ = ("_generation", "_label", "_methods", "_owner", "_ref", "_session")

    def __init__(self, session: Session, ref: Ref, owner: str, label: str, methods: tuple[str, ...] = ()) -> None:
        self._session = session
        self._generation = session.generation
        self._ref = ref
        self._owner = owner
        self._label = label
        self._methods = methods

    def __repr__(self) -> str:
        return f"<the student's {self._label}>"

    def __getattr__(self, name: str) -> Any:
        # NumPy and pytest look for __array__, __len__ and the like: none of these may reach the worker.
        if name.startswith("__"):
            raise AttributeError(name)
        handle = self._below(name)
        return handle if name in self._methods else handle.get()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call_many([Arguments(args, kwargs)])[0]

    def get(self) -> Any:
        """Return the object itself if it can travel, else a handle on it."""
        return self._local(self._request({"op": "get"}))

    def call(self, *args: Any, **kwargs: Any) -> Call:
        """Call, and return the arguments as they are afterwards along with the value."""
        return self.calls([Arguments(args, kwargs)])[0]

    def calls(self, calls: Sequence[Arguments]) -> list[Call]:
        """Make many calls in one round trip, as `callmany`, and return each as `call` does."""
        results = self._results(calls, inputs=True)
        return [self._call(one, result) for one, result in zip(calls, results, strict=True)]

    def _call(self, sent: Arguments, result: dict[str, Any]) -> Call:
        args, kwargs = result.get("args"), result.get("kwargs")
        if type(args) is not list or len(args) != len(sent.args):
            raise self._malformed()
        if type(kwargs) is not dict or kwargs.keys() != sent.kwargs.keys():
            raise self._malformed()
        return Call(self._local(result["value"]), tuple(args), kwargs)

    def call_many(self, calls: Sequence[Arguments]) -> list[Any]:
        """Make many calls in one round trip and return their values; the first that raises, raises here."""
        return [self._local(result["value"]) for result in self._results(calls, inputs=False)]

    callmany = call_many  # the old name, until the next version

    def vjp(self, *args: Any, cotangent: Any, **kwargs: Any) -> Vjp:
        """Call, and pull `cotangent` back to the positional arguments and to the owner's parameters."""
        sent = [_remote(arg) for arg in args]
        request = {"op": "vjp", "args": sent, "kwargs": _sent(kwargs), "cotangent": cotangent}
        answer = self._request(request)
        if type(answer) is not dict or answer.keys() != {"value", "args", "parameters"}:
            raise self._malformed()
        grads, parameters = answer["args"], answer["parameters"]
        if type(grads) is not list or len(grads) != len(args) or type(parameters) is not dict:
            raise self._malformed()
        return Vjp(self._local(answer["value"]), tuple(grads), parameters)

    def on_device(self, *args: Any, elsewhere: Sequence[int | str] = (), gpu: bool = True, **kwargs: Any) -> DeviceCall:
        """Call with every tensor on a pretended GPU, but for those of the arguments that `elsewhere` names.

        An argument is named by its position, from 0, or its keyword. A torch module moves to the GPU before it is
        called. With `gpu=False`, the machine pretends to have no GPU, whatever it has.
        """
        return self.on_device_many([Arguments(args, kwargs)], elsewhere=elsewhere, gpu=gpu)[0]

    def on_device_many(
        self, calls: Sequence[Arguments], *, elsewhere: Sequence[int | str] = (), gpu: bool = True
    ) -> list[DeviceCall]:
        """Make many calls on the pretended GPU in one round trip; one that raises without a finding raises here."""
        named = {name for one in calls for name in (*range(len(one.args)), *one.kwargs)}
        if unknown := set(elsewhere) - named:
            raise TypeError(f"elsewhere names {unknown}: no call has such an argument")
        request = {"op": "on_device", "calls": _calls(calls), "elsewhere": list(elsewhere), "gpu": gpu}
        answers = self._request(request)
        if type(answers) is not list or len(answers) != len(calls):
            raise self._malformed()
        return [self._found(answer) for answer in answers]

    def on_gpu(self, *args: Any, elsewhere: Sequence[int | str] = (), **kwargs: Any) -> DeviceCall:
        """Call as `on_device` does, on a real GPU with PyTorch's sync debugging on: for the checks on a GPU."""
        return self.on_gpu_many([Arguments(args, kwargs)], elsewhere=elsewhere)[0]

    def on_gpu_many(self, calls: Sequence[Arguments], *, elsewhere: Sequence[int | str] = ()) -> list[DeviceCall]:
        """Make many calls on the real GPU in one round trip."""
        there = self._on_gpu()
        answers = there._request({"op": "on_gpu", "calls": _calls(calls), "elsewhere": list(elsewhere)})
        if type(answers) is not list or len(answers) != len(calls):
            raise there._malformed()
        return [there._found(answer) for answer in answers]

    def gpu_cost(self, *args: Any, repeats: int = 0, keep: bool = False) -> GpuCost:
        """Call on the real GPU, and return what that takes; with `keep`, also the value."""
        there = self._on_gpu()
        answer = there._request({"op": "gpu_cost", "args": list(args), "repeats": repeats, "keep": keep})
        try:
            return read_gpu_cost(answer, repeats)
        except MalformedFindingsError:
            raise there._malformed() from None

    def _on_gpu(self) -> Handle:
        """Return the same function where it has a GPU."""
        if self._session.gpu is None or self._ref[0] != MODULE:
            raise TypeError("only the functions of a module, in a check on the GPU, can be called there")
        return Handle(self._session.gpu, self._ref, self._owner, self._label, self._methods)

    def _found(self, answer: object) -> DeviceCall:
        if type(answer) is not dict or ("value" in answer) == ("error" in answer):
            raise self._malformed()
        raised = None
        if "error" in answer:
            error = self._session.student_error(answer["error"], self._label, self._owner)
            if not isinstance(error, StudentRaisedError):
                raise error
            raised = error
        files = {one["file"] for one in self._session.program.files.values()}
        try:
            found = read_device_call(answer, self._local(answer.get("value")), raised, files)
        except MalformedFindingsError:
            raise self._malformed() from None
        if raised is not None and not found.findings:
            raise raised
        return found

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a torch module by name."""
        parameters = self._request({"op": "parameters"})
        if type(parameters) is not dict:
            raise self._malformed()
        return parameters

    def made(self, *init: Any, state: Mapping[str, Any] = NOTHING, training: bool = False, **named: Any) -> Handle:
        """Return a new object of this class; a torch module with these parameters, in this mode.

        It costs no round trip: it is made along with the first call of it, which raises what the making raised.
        """
        number = self._session.new_number()
        self._request_later({"op": "make", "number": number, "made": Recipe(init, state, training, named).data})
        return Handle(self._session, (number, ()), self._owner, self._label, self._methods)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Give a torch module these parameters; buffers that it has besides them stay."""
        self._request_later({"op": "fill", "state": dict(state)})

    def _below(self, name: str) -> Handle:
        handle, path = self._ref
        below = Handle(self._session, (handle, (*path, name)), self._owner, f"{self._label}.{name}")
        below._generation = self._generation
        return below

    def _results(self, calls: Sequence[Arguments], *, inputs: bool) -> list[dict[str, Any]]:
        results = self._request({"op": "call", "calls": _calls(calls), "inputs": inputs})
        if type(results) is not list or not all(type(result) is dict for result in results):
            raise self._malformed()
        for result in results:
            if "error" in result:
                raise self._session.student_error(result["error"], self._label, self._owner)
        if len(results) != len(calls) or not all("value" in result for result in results):
            raise self._malformed()
        return results

    def _request(self, message: dict[str, Any]) -> Any:
        return self._session.request(self._referring(message), self._label, self._owner)

    def _request_later(self, message: dict[str, Any]) -> None:
        self._session.request_later(self._referring(message))

    def _referring(self, message: dict[str, Any]) -> dict[str, Any]:
        handle, path = self._ref
        if handle != MODULE and self._generation != self._session.generation:
            raise StudentMissingError(f"{self._label} is gone: the process that held it has ended")
        return {**message, "ref": [handle, list(path)]}

    def _local(self, value: Any) -> Any:
        """Put a Handle in place of every object that stayed behind."""
        if type(value) is Remote:
            label = value.type_name.removeprefix(f"{PACKAGE}.{self._session.program.main}.")
            return Handle(self._session, (value.handle, ()), self._owner, label, self._methods)
        if type(value) in (list, tuple):
            return type(value)(self._local(item) for item in value)
        if type(value) is dict:
            return {key: self._local(item) for key, item in value.items()}
        return value

    def _malformed(self) -> Exception:
        return self._session.malformed(self._label, self._owner)


class Student:
    """The student's module: `student.softmax(x)` runs their softmax in the worker and returns its result."""

    def __init__(self, session: Session, api: Api) -> None:
        self._session = session
        self._api = api

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        methods = (*self._api.classes.get(name, ()), *OF_A_TORCH_MODULE)
        handle = Handle(self._session, (MODULE, (name,)), name, name, methods)
        return handle if name in self._api.functions or name in self._api.classes else handle.get()

    def seed(self, seed: int) -> None:
        """Seed every source of chance in the worker."""
        self._session.request_later({"op": "seed", "seed": seed})


def _remote(arg: Any) -> Any:
    if type(arg) is not Handle:
        return arg
    handle, path = arg._ref
    if path:
        raise TypeError(f"{arg!r} is a name, not an object: fetch it with .get() before passing it on")
    return Remote(handle, arg._label)


def _calls(calls: Sequence[Arguments]) -> list[list[Any]]:
    return [[[_remote(arg) for arg in one.args], _sent(one.kwargs)] for one in calls]


def _sent(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _remote(arg) for name, arg in kwargs.items()}
