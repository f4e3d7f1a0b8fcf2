"""The worker: the process in which a student's code lives, serving calls until the channel closes.

Nothing in here is trusted by the other side. It imports neither solutions nor tests and decides nothing:
it loads source, makes calls and sends back what came of them.
"""

from __future__ import annotations

import io
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from grader.core.safe_text import without_addresses
from grader.sandbox.protocol import wire
from grader.sandbox.protocol.channel import Channel, ClosedError
from grader.sandbox.protocol.recipe import fill, make
from grader.sandbox.worker.loader import StudentModules
from grader.sandbox.worker.seeding import seed_everything

READY = b"\x06"  # the first byte: whatever goes wrong before it is not the student's doing
MAX_PRINTED = 16_384
MAX_TEXT = 4_000
MAX_ERRORS = 5
# Where no student looks for an error of theirs.
OURS = str(Path(__file__).parent.parent)


class BoundedOutput(io.RawIOBase):
    """Where the student's prints go: the first part is kept, the rest is dropped."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2  # the null device: faulthandler and the like want a number

    def write(self, data: Any) -> int:
        room = MAX_PRINTED - len(self.data)
        self.data += bytes(data)[: max(room, 0)]
        return len(data)

    def take(self) -> str:
        text = self.data.decode("utf-8", "replace")
        self.data.clear()
        return text


class Worker:
    """The objects of one submission, and the operations the trusted side may ask for."""

    def __init__(self) -> None:
        self.modules: StudentModules | None = None
        self.kept: list[object] = []
        self.made: dict[int, object] = {}  # by the numbers the trusted side gave them, beyond all of ours

    def keep(self, value: object) -> wire.Remote:
        """Hold an object that cannot travel; handle 0 is the student's module."""
        self.kept.append(value)
        return wire.Remote(len(self.kept), _type_name(type(value)))

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks and return the reply; an error in student code is a reply too.

        What was asked for before, and needed no reply, comes with it.
        """
        try:
            for earlier in request.get("before", ()):
                getattr(self, "do_" + earlier["op"])(earlier)
            return {"ok": getattr(self, "do_" + request["op"])(request)}
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like are the student's, too
            return {"error": self.describe(error)}

    def do_load(self, request: dict[str, Any]) -> dict[str, Any]:
        self.modules = StudentModules(request["files"])
        errors = [self.describe(error) for error in self.modules.load(request["main"])[:MAX_ERRORS]]
        return {"errors": errors, "defined": sorted(vars(self.modules.main).keys() & set(request["names"]))}

    def do_get(self, request: dict[str, Any]) -> object:
        return self.find(request["ref"])

    def do_call(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        function = self.find(request["ref"])
        results: list[dict[str, Any]] = []
        for args, kwargs in request["calls"]:
            args = [self.local(arg) for arg in args]
            kwargs = {name: self.local(arg) for name, arg in kwargs.items()}
            try:
                value = function(*args, **kwargs)
                # An instance of a class just called stays here, even if it is a tuple with methods of its own.
                result = {"value": self.keep(value) if type(value) is function else _snapshot(value)}
            except BaseException as error:  # noqa: BLE001
                results.append({"error": self.describe(error)})
                break
            if request["inputs"]:
                result |= {"args": args, "kwargs": kwargs}
            results.append(result)
        return results

    def do_probe(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Make calls whose errors are kept; a method is called on an object for each way to make one.

        The objects are made first and used again, or nobody would see what they keep, of each other or of a call. One
        that cannot be made, or has no place for its parameters, spoils no call but its own.
        """
        name, *method = request["path"]
        results: list[dict[str, Any]] = []
        owners: list[Any] = []
        unmade: dict[int, dict[str, Any]] = {}
        for number, way in enumerate(request["objects"]):
            try:
                owners.append(make(self.find([0, [name]]), way))
            except BaseException as error:  # noqa: BLE001
                owners.append(None)
                unmade[number] = {"error": self.describe(error)}
        for number, args, kwargs, cotangent, place in request["calls"]:
            if method and number in unmade:
                results.append(unmade[number])
                continue
            try:
                owner = owners[number] if method else None
                function = getattr(owner, method[0]) if method else self.find([0, [name]])
                given = {str(place): arg for place, arg in enumerate(args, 1)} | kwargs
                before = {name: _print_of(arg) for name, arg in given.items()}
                if "torch" in sys.modules:
                    seed_everything(0)  # dropout
                if place is None:
                    value = self.probed(function, owner, args, kwargs, cotangent)
                else:
                    value = self.probed_on_device(function, owner, args, kwargs, place)
                changed = {name: arg for name, arg in given.items() if _print_of(arg) != before[name]}
                results.append({"value": value, "changed": changed})
            except BaseException as error:  # noqa: BLE001
                results.append({"error": self.describe(error)})
        return results

    def probed(self, function: Any, owner: Any, args: list[Any], kwargs: dict[str, Any], cotangent: Any) -> Any:
        """Return what a probe looks at: the value, or with a cotangent the gradients, too."""
        if cotangent is None:
            return _snapshot(function(*args, **kwargs))
        from grader.sandbox.worker.autograd import vjp

        found = vjp(function, owner, args, kwargs, cotangent)
        return {"value": found["value"], "grads": found["args"], "parameters": found["parameters"]}

    def probed_on_device(self, function: Any, owner: Any, args: list[Any], kwargs: dict[str, Any], place: Any) -> Any:
        """Return what a probe on a pretended machine looks at; an error without a finding is an error as any other."""
        from grader.sandbox.worker.gpu.call import on_device

        gpu, elsewhere = place
        files = self.modules.filenames if self.modules else set()
        found = on_device(function, owner, args, kwargs, elsewhere=elsewhere, gpu=gpu, files=files)
        if (error := found.get("error")) is not None and not found["findings"]:
            raise error
        return {
            "value": _snapshot(found.get("value")),
            "devices": found["devices"],
            "findings": sorted({(finding[0], finding[1]) for finding in found["findings"]}),
            "waits": not all(copy[0] for copy in found["copies"]),
        }

    def do_vjp(self, request: dict[str, Any]) -> dict[str, Any]:
        from grader.sandbox.worker.autograd import vjp

        args = [self.local(arg) for arg in request["args"]]
        kwargs = {name: self.local(arg) for name, arg in request["kwargs"].items()}
        owner = self.find([request["ref"][0], request["ref"][1][:-1]])
        return vjp(self.find(request["ref"]), owner, args, kwargs, request["cotangent"])

    def do_on_device(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        from grader.sandbox.worker.gpu.call import on_device

        function = self.find(request["ref"])
        handle, path = request["ref"]
        owner = function if handle and not path else self.find([handle, path[:-1]])
        elsewhere, gpu, files = request["elsewhere"], request["gpu"], self.filenames
        results: list[dict[str, Any]] = []
        for args, kwargs in request["calls"]:
            args = [self.local(arg) for arg in args]
            kwargs = {name: self.local(arg) for name, arg in kwargs.items()}
            results.append(
                self.found(on_device(function, owner, args, kwargs, elsewhere=elsewhere, gpu=gpu, files=files))
            )
        return results

    def do_on_gpu(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        from grader.sandbox.worker.gpu.real import on_gpu

        function, elsewhere = self.find(request["ref"]), request["elsewhere"]
        return [
            self.found(on_gpu(function, args, kwargs, elsewhere=elsewhere, files=self.filenames))
            for args, kwargs in request["calls"]
        ]

    def do_gpu_cost(self, request: dict[str, Any]) -> dict[str, Any]:
        from grader.sandbox.worker.gpu.real import cost_on_gpu

        function = self.find(request["ref"])
        return cost_on_gpu(function, request["args"], repeats=request["repeats"], keep=request["keep"])

    def found(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return what was found of a call on a device in a form that travels."""
        if (error := answer.pop("error", None)) is not None:
            return {**answer, "error": self.describe(error)}
        return {**answer, "value": _snapshot(answer["value"])}

    @property
    def filenames(self) -> set[str]:
        """The student's own files."""
        return self.modules.filenames if self.modules else set()

    def do_parameters(self, request: dict[str, Any]) -> dict[str, Any]:
        return dict(self.find(request["ref"]).named_parameters())

    def do_make(self, request: dict[str, Any]) -> None:
        self.made[request["number"]] = make(self.find(request["ref"]), request["made"])

    def do_fill(self, request: dict[str, Any]) -> None:
        fill(self.find(request["ref"]), request["state"])

    def do_measure(self, request: dict[str, Any]) -> dict[str, Any]:
        from grader.sandbox.worker.meters.measure import measure

        if self.modules is None:
            raise MissingError(request["path"][0])
        return measure(self.modules.files, request["main"], request["path"], request["calls"])

    def do_seed(self, request: dict[str, Any]) -> None:
        seed_everything(request["seed"])

    def find(self, ref: Any) -> Any:
        """Return the object a reference names: a handle and a path of attributes from it."""
        handle, path = ref
        target: Any = self.modules.main if handle == 0 and self.modules else self.held(handle)
        for name in path:
            try:
                target = getattr(target, name)
            except AttributeError as error:
                if self.place(error)[0]:  # raised inside the student's own code, by a property say
                    raise
                raise MissingError(name) from error
        return target

    def local(self, value: Any) -> Any:
        """Replace a Remote argument by the object it stands for."""
        return self.held(value.handle) if type(value) is wire.Remote else value

    def held(self, handle: int) -> object:
        return self.made[handle] if handle > len(self.kept) else self.kept[handle - 1]

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Return an exception as plain text; every str() of it may itself raise."""
        if isinstance(error, MissingError):
            return {"kind": "missing", "name": str(error)}
        if isinstance(error, wire.UnsendableError):
            return {"kind": "unsendable", "why": str(error)}
        try:
            message = without_addresses(str(error))[:MAX_TEXT]
        except BaseException:  # noqa: BLE001
            message = "(its message could not be read)"
        file, line = self.place(error)
        return {
            "kind": "raised",
            "types": [_type_name(base) for base in type(error).__mro__],
            "message": message,
            "file": file,
            "line": line,
            "traceback": _format(error),
        }

    def place(self, error: BaseException) -> tuple[str, int]:
        """Return the student's own file and line in which an error arose."""
        files = self.filenames
        tb = error.__traceback__
        if isinstance(error, SyntaxError) and error.filename in files:
            return str(error.filename), int(error.lineno or 0)
        place = ("", 0)
        while tb is not None:
            if tb.tb_frame.f_code.co_filename in files:
                place = (tb.tb_frame.f_code.co_filename, tb.tb_lineno)
            tb = tb.tb_next
        return place


class MissingError(Exception):
    """The student's module, or an object of theirs, has no attribute of this name."""


def serve(sock: socket.socket, *, tensors: bool) -> None:
    """Say that all is ready for a submission, then answer requests on a socket until it closes."""
    channel = Channel(sock, tensors=tensors)
    sock.sendall(READY)
    printed = BoundedOutput()
    stream = io.TextIOWrapper(printed, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[type-var]
    sys.stdout = sys.stderr = stream
    seed_everything(0)
    worker = Worker()
    while True:
        try:
            request = channel.receive()
        except ClosedError:
            return
        reply = {"id": request["id"], **worker.answer(request)}
        try:
            channel.send({**reply, "printed": printed.take()}, worker.keep)
        except (wire.UnsendableError, MemoryError) as error:
            channel.send({"id": request["id"], "error": worker.describe(error), "printed": printed.take()})


def _snapshot(value: Any) -> Any:
    """Return a result as it is now: a later call of the same batch may write into the same arrays."""
    if type(value) is np.ndarray and value.nbytes <= wire.MAX_BODY:
        return value.copy()
    if _is_tensor(value) and value.numel() * value.element_size() <= wire.MAX_BODY:
        return value.detach().clone().requires_grad_(value.requires_grad)
    if type(value) is tuple and all(type(item) is np.ndarray or _is_tensor(item) for item in value):
        return tuple(map(_snapshot, value))
    return value


def _print_of(value: Any) -> Any:
    """Return something that is not the same any more once a value has changed."""
    if type(value) is np.ndarray:
        return value.dtype, value.shape, value.tobytes()
    if _is_tensor(value):
        flat = value.detach().contiguous().reshape(-1)
        return value.dtype, value.shape, flat.view(sys.modules["torch"].uint8).numpy().tobytes()
    return repr(value)


def _is_tensor(value: Any) -> bool:
    """Whether this is a plain tensor of numbers."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is torch.Tensor and value.layout is torch.strided


def _type_name(kind: type) -> str:
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"[:200]


def _format(error: BaseException) -> str:
    try:
        lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-12)
    except BaseException:  # noqa: BLE001
        return "(the traceback could not be read)"
    return without_addresses("".join(line for line in lines if OURS not in line))[-MAX_TEXT:]


def main() -> None:
    """Serve on a socket handed over by the parent: the way in for a worker started cold."""
    from grader.sandbox.worker.warm_up import warm_up

    backend, fd = sys.argv[1], sys.argv[2]
    warm_up(backend)
    sock = socket.fromshare(sys.stdin.buffer.read()) if fd == "share" else socket.socket(fileno=int(fd))  # type: ignore[attr-defined]
    serve(sock, tensors=backend == "torch")


if __name__ == "__main__":
    main()
