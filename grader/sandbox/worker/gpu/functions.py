"""Torch functions on the simulated GPU: those that ask for a device, name one, or read numbers out of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.utils._device
from torch.overrides import TorchFunctionMode

from grader.sandbox.worker.gpu.labels import BACK, CPU, GPU, MADE, PLAIN, Label, memory_of, tensors_in
from grader.sandbox.worker.gpu.simulated import FEW, SimulatedGpu

DeviceHandler = Callable[[SimulatedGpu, Any, Any, dict[str, Any]], Any]
OF_DATA = {"tensor": 0, "as_tensor": 0, "asarray": 0, "new_tensor": 1}  # the position of the data argument
UNREADABLE = (
    "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)


@dataclass(frozen=True)
class TransferRequest:
    """The arguments of `.to`; None if not given."""

    device: Any = None
    dtype: torch.dtype | None = None
    non_blocking: bool = False
    copy: bool = False
    memory_format: Any = None


def request_of(simulated: SimulatedGpu, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TransferRequest:
    """Read the arguments of `.to` in any of its three forms: device and dtype, dtype, another tensor."""
    options: dict[str, Any] = dict(kwargs)
    rest = list(args)
    if (other := options.pop("other", None)) is not None:
        rest.insert(0, other)
    if rest and isinstance(rest[0], torch.Tensor):
        other = rest.pop(0)
        options |= {"device": simulated.labels.of(other).device, "dtype": other.dtype}
        names = ("non_blocking", "copy")
    elif rest and isinstance(rest[0], torch.dtype):
        names = ("dtype", "non_blocking", "copy")  # type: ignore[assignment]
    else:
        names = ("device", "dtype", "non_blocking", "copy")  # type: ignore[assignment]
    return TransferRequest(**options | dict(zip(names, rest, strict=False)))


def move(simulated: SimulatedGpu, tensor: torch.Tensor, request: TransferRequest) -> torch.Tensor:
    """Return a tensor as requested; the same tensor if nothing has to change."""
    here = simulated.labels.of(tensor).device
    there = here if request.device is None else simulated.device(request.device)
    moved = tensor
    if there != here and {there.type, here.type} == {"cpu", "cuda"}:
        note(simulated, tensor, there, non_blocking=request.non_blocking)
        followed = torch.is_grad_enabled() and tensor.requires_grad
        moved = Move.apply(tensor, simulated, there) if followed else copied(simulated, tensor, there)
    plain: dict[str, Any] = {"dtype": request.dtype, "memory_format": request.memory_format}
    plain = {name: value for name, value in plain.items() if value is not None}
    if request.copy and moved is tensor:
        plain["copy"] = True
    if there.type not in ("cpu", "cuda"):
        plain["device"] = there
    return simulated.run(torch.Tensor.to, (moved,), plain) if plain else moved


def note(simulated: SimulatedGpu, tensor: torch.Tensor, there: torch.device, *, non_blocking: bool) -> None:
    """Note a copy to the GPU, or a sync for a copy to the CPU."""
    if there == GPU:
        label = simulated.labels.of(tensor)
        simulated.copied(label, axes=tensor.dim(), entries=tensor.numel(), non_blocking=non_blocking)
    else:
        simulated.sync()


class Move(torch.autograd.Function):  # type: ignore[misc] # torch gives it no types
    """A copy to another device whose gradient is copied back, as in torch."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, simulated: SimulatedGpu, there: torch.device) -> torch.Tensor:
        ctx.simulated, ctx.back = simulated, simulated.labels.of(tensor).device
        return copied(simulated, tensor, there)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return copied(ctx.simulated, gradient, ctx.back), None, None


def copied(simulated: SimulatedGpu, tensor: torch.Tensor, there: torch.device) -> torch.Tensor:
    """Return a copy, labelled as being on another device."""
    with simulated.pause():
        copy = tensor.detach().clone()
    simulated.labels.put(copy, Label(there, frozenset({BACK}) if there != GPU else frozenset(), simulated.place()))
    return copy


class SimulatedFunctions(TorchFunctionMode):  # type: ignore[misc] # torch gives it no types
    """The function mode: gives the answers of a GPU."""

    def __init__(self, simulated: SimulatedGpu) -> None:
        super().__init__()
        self.simulated = simulated

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.simulated.paused:
            return function(*args, **kwargs)
        if not PLAIN.issuperset(types):
            self.simulated.unwatched("subclass")
        # Looked up by equality: each access to `torch.Tensor.device.__get__` makes a new object.
        if (handler := HANDLERS.get(function)) is not None:
            with self.simulated.within(function, None):
                return handler(self.simulated, function, args, kwargs)
        asked = kwargs.get("device") is not None or kwargs.get("pin_memory")
        if asked or function in torch.utils._device._device_constructors():
            return made(self.simulated, function, args, kwargs)
        return self.simulated.run(function, args, kwargs)


def made(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Make a tensor on the device that was asked for. Python numbers count as a copy to that device."""
    name = str(getattr(function, "__name__", ""))
    kwargs = dict(kwargs)
    given = tensors_in((args, kwargs))
    at = OF_DATA.get(name)
    if at is not None and len(args) > at and isinstance(args[at], torch.Tensor):
        return of_tensor(simulated, function, args, kwargs, at)
    if (spec := kwargs.get("device")) is not None:
        device = simulated.device(spec)
    elif name.startswith("new_") or name.endswith("_like"):
        device = simulated.labels.of(args[0] if args else given[0]).device
    else:
        device = simulated.default()
    if device.type not in ("cpu", "cuda"):
        return simulated.run(function, args, kwargs)
    if spec is not None or function in torch.utils._device._device_constructors():
        kwargs["device"] = CPU
    pinned = bool(kwargs.pop("pin_memory", False))
    if at is not None:
        if any(map(simulated.labels.on_gpu, tensors_in(args[at:]))):
            simulated.sync(name)
        result = simulated.run(function, args, kwargs, device)
        if device == GPU:
            data = args[at] if len(args) > at else kwargs.get("data")
            of_array = (isinstance(data, np.ndarray) and data.ndim > 0) or result.numel() > FEW
            label = Label(CPU, frozenset({MADE}), simulated.place()) if of_array else Label()
            simulated.copied(label, axes=int(of_array), entries=result.numel())
    else:
        result = simulated.run(function, args, kwargs, device)
    before = set(map(memory_of, given))
    label = Label(device, frozenset({MADE}) if device == CPU else frozenset(), simulated.place(), pinned)
    for tensor in tensors_in((result,)):
        if memory_of(tensor) not in before:
            simulated.labels.put(tensor, label)
    return result


def of_tensor(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any], at: int) -> Any:
    """Make a tensor from another one, by default on the same device. Some of these functions always copy."""
    device = kwargs.pop("device", None)
    if device is None and at:
        device = simulated.labels.of(args[0]).device
    elif device is None and torch.utils._device.CURRENT_DEVICE is not None:
        device = simulated.default()
    with simulated.within(function, None):
        moved = move(simulated, args[at], TransferRequest(device))
    kwargs = {**kwargs, "device": CPU} if torch.utils._device.CURRENT_DEVICE is not None else kwargs
    result = simulated.run(function, (*args[:at], moved, *args[at + 1 :]), kwargs)
    if memory_of(result) != memory_of(moved):
        simulated.labels.put(result, simulated.labels.of(moved))
    return result


def answer_device(simulated: SimulatedGpu, function: Any, args: Any, kwargs: Any) -> torch.device:
    return simulated.labels.of(args[0]).device if args[0].device.type == "cpu" else function(*args, **kwargs)


def answer_is_cuda(simulated: SimulatedGpu, function: Any, args: Any, kwargs: Any) -> bool:
    return simulated.labels.on_gpu(args[0])


def answer_is_cpu(simulated: SimulatedGpu, function: Any, args: Any, kwargs: Any) -> bool:
    return bool(function(*args, **kwargs)) and not simulated.labels.on_gpu(args[0])


def answer_get_device(simulated: SimulatedGpu, function: Any, args: Any, kwargs: Any) -> int:
    return 0 if simulated.labels.on_gpu(args[0]) else -1


def make_device(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return a device. A number alone is the index of a GPU."""
    if len(args) == 1 and type(args[0]) is int and not kwargs:
        return simulated.device(args[0])
    return function(*args, **kwargs)


def to(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    request = request_of(simulated, args[1:], kwargs)
    return move(simulated, args[0], request)


def to_cpu(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    return move(simulated, args[0], TransferRequest(CPU, memory_format=kwargs.get("memory_format")))


def to_cuda(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    options = kwargs | dict(zip(("device", "non_blocking"), args[1:], strict=False))
    request = TransferRequest(
        GPU if options.get("device") is None else options["device"], non_blocking=options.get("non_blocking", False)
    )
    simulated.device(GPU)  # raises if there is no GPU
    return move(simulated, args[0], request)


def type_as(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    return move(simulated, args[0], request_of(simulated, args[1:], kwargs))


def to_type(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the name of a tensor's type, or convert the tensor. The old type names include a device."""
    wanted = kwargs.get("dtype", args[1] if len(args) > 1 else None)
    if wanted is None:
        name = str(function(args[0]))
        return name.replace("torch.", "torch.cuda.", 1) if simulated.labels.on_gpu(args[0]) else name
    if isinstance(wanted, torch.dtype):
        return simulated.run(function, args, kwargs)
    name = wanted if isinstance(wanted, str) else f"{wanted.__module__}.{wanted.__name__}"
    moved = move(simulated, args[0], TransferRequest(GPU if ".cuda." in name else CPU))
    return simulated.run(function, (moved, name.replace(".cuda.", ".")), {})


def numpy(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Refuse, as torch does: NumPy cannot read GPU memory."""
    if not simulated.labels.on_gpu(args[0]):
        return simulated.run(function, args, kwargs)
    simulated.sync()
    if not (kwargs.get("force") or args[1:] == (True,)):
        raise TypeError(UNREADABLE)
    with simulated.pause():
        return function(*args, **kwargs)


def read(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Note a sync that shows in no operation."""
    if simulated.labels.on_gpu(args[0]):
        simulated.sync()
    with simulated.pause():
        return function(*args, **kwargs)


def raw_memory(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Give access to memory that no mode can follow."""
    if simulated.labels.on_gpu(args[0]):
        simulated.unwatched("memory")
    with simulated.pause():
        return function(*args, **kwargs)


def only_on_cpu(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Refuse, as torch does: these call a Python function for every number."""
    if any(map(simulated.labels.on_gpu, tensors_in((args, kwargs)))):
        raise TypeError(f"{function.__name__} is only implemented on CPU tensors")
    return simulated.run(function, args, kwargs)


def split_at(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Note a sync if the places to split at are on the GPU: torch reads them."""
    if any(map(simulated.labels.on_gpu, tensors_in((args[1:], {**kwargs, "input": None})))):
        simulated.sync()
    return simulated.run(function, args, kwargs)


def deep_copy(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    with simulated.pause():
        copy = function(*args, **kwargs)
    simulated.labels.put(copy, simulated.labels.of(args[0]))
    return copy


def pin(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    tensor: torch.Tensor = args[0]
    label = simulated.labels.of(tensor)
    if not simulated.gpu:
        raise NotImplementedError("Cannot access accelerator device when none is available.")
    if label.device == GPU:
        raise RuntimeError(
            f"cannot pin '{to_type(simulated, torch.Tensor.type, (tensor,), {})}' only dense CPU tensors"
        )
    if label.pinned:
        return tensor
    copy: torch.Tensor = simulated.run(torch.Tensor.clone, (tensor,), {})
    simulated.labels.put(copy, Label(CPU, label.origins, label.place, pinned=True))
    return copy


def is_pinned(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    return simulated.labels.of(args[0]).pinned


def one_hot(simulated: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Ignore a check that torch makes only on a CPU: with `num_classes` given, a GPU does not wait."""
    classes = kwargs.get("num_classes", args[1] if len(args) > 1 else -1)
    if classes == -1 or not simulated.labels.on_gpu(args[0]):
        return simulated.run(function, args, kwargs)
    with simulated.pause():
        result = function(*args, **kwargs)
    simulated.labels.put(result, Label(GPU, place=simulated.place()))
    return result


HANDLERS: dict[Any, DeviceHandler] = {
    torch.Tensor.device.__get__: answer_device,
    torch.Tensor.is_cuda.__get__: answer_is_cuda,
    torch.Tensor.is_cpu.__get__: answer_is_cpu,
    torch.Tensor.get_device: answer_get_device,
    torch.get_device: answer_get_device,
    torch.device: make_device,
    torch.Tensor.new_tensor: made,
    torch.Tensor.to: to,
    torch.Tensor.cpu: to_cpu,
    torch.Tensor.cuda: to_cuda,
    torch.Tensor.type_as: type_as,
    torch.Tensor.type: to_type,
    torch.Tensor.numpy: numpy,
    torch.Tensor.__array__: numpy,
    torch.Tensor.tolist: read,
    torch.Tensor.__repr__: read,
    torch.Tensor.__format__: read,
    torch.Tensor.__deepcopy__: deep_copy,
    torch.Tensor.__reduce_ex__: read,
    torch.Tensor.__dlpack__: raw_memory,
    torch.Tensor.data_ptr: raw_memory,
    torch.Tensor.storage: raw_memory,
    torch.Tensor.untyped_storage: raw_memory,
    torch.Tensor.apply_: only_on_cpu,
    torch.Tensor.map_: only_on_cpu,
    torch.Tensor.map2_: only_on_cpu,
    torch.Tensor.tensor_split: split_at,
    torch.tensor_split: split_at,
    torch.Tensor.pin_memory: pin,
    torch.Tensor.is_pinned: is_pinned,
    torch.nn.functional.one_hot: one_hot,
}
