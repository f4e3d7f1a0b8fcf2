"""Functions of torch's under the pretence: those that ask for a device, name one, or take numbers out of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.utils._device
from torch.overrides import TorchFunctionMode

from grader.sandbox.worker.gpu.labels import CPU, GPU, MADE, Label, memory_of, tensors_in
from grader.sandbox.worker.gpu.simulated import SimulatedGpu
from grader.sandbox.worker.gpu.transfers import TransferRequest, move, wish_of

DeviceHandler = Callable[[SimulatedGpu, Any, Any, dict[str, Any]], Any]
OF_DATA = {"tensor": 0, "as_tensor": 0, "asarray": 0, "new_tensor": 1}  # which argument of them is numbers, or a tensor
UNREADABLE = (
    "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)


class SimulatedFunctions(TorchFunctionMode):  # type: ignore[misc] # torch gives it no types
    """Answers for the GPU that is not there."""

    def __init__(self, pretence: SimulatedGpu) -> None:
        super().__init__()
        self.pretence = pretence

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.pretence.paused:
            return function(*args, **kwargs)
        # By equality: each look at `torch.Tensor.device.__get__` makes a new object.
        if (handler := HANDLERS.get(function)) is not None:
            with self.pretence.within(function, None):
                return handler(self.pretence, function, args, kwargs)
        asked = kwargs.get("device") is not None or kwargs.get("pin_memory")
        if asked or function in torch.utils._device._device_constructors():
            return made(self.pretence, function, args, kwargs)
        return self.pretence.run(function, args, kwargs)


def made(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Make a tensor where it was asked for; of numbers that are copied there, if it is made of Python's."""
    name = str(getattr(function, "__name__", ""))
    kwargs = dict(kwargs)
    given = tensors_in((args, kwargs))
    at = OF_DATA.get(name)
    if at is not None and len(args) > at and isinstance(args[at], torch.Tensor):
        return of_tensor(pretence, function, args, kwargs, at)
    if (spec := kwargs.get("device")) is not None:
        device = pretence.device(spec)
    elif name.startswith("new_") or name.endswith("_like"):
        device = pretence.labels.of(args[0] if args else given[0]).device
    else:
        device = pretence.default()
    if device.type not in ("cpu", "cuda"):
        return pretence.run(function, args, kwargs)
    if spec is not None or function in torch.utils._device._device_constructors():
        kwargs["device"] = CPU
    pinned = bool(kwargs.pop("pin_memory", False))
    if at is not None:
        if any(map(pretence.labels.on_gpu, tensors_in(args[at:]))):
            pretence.sync(name)
        result = pretence.run(function, args, kwargs, device)
        if device == GPU:
            pretence.copied(Label(), axes=0)
    else:
        result = pretence.run(function, args, kwargs, device)
    before = set(map(memory_of, given))
    label = Label(device, frozenset({MADE}) if device == CPU else frozenset(), pretence.place(), pinned)
    for tensor in tensors_in((result,)):
        if memory_of(tensor) not in before:
            pretence.labels.put(tensor, label)
    return result


def of_tensor(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any], at: int) -> Any:
    """Make a tensor of another one, where that one is if nothing else is said; some of these copy it, all the same."""
    device = kwargs.pop("device", None)
    if device is None and at:
        device = pretence.labels.of(args[0]).device
    elif device is None and torch.utils._device.CURRENT_DEVICE is not None:
        device = pretence.default()
    with pretence.within(function, None):
        moved = move(pretence, args[at], TransferRequest(device))
    kwargs = {**kwargs, "device": CPU} if torch.utils._device.CURRENT_DEVICE is not None else kwargs
    result = pretence.run(function, (*args[:at], moved, *args[at + 1 :]), kwargs)
    if memory_of(result) != memory_of(moved):
        pretence.labels.put(result, pretence.labels.of(moved))
    return result


def answer_device(pretence: SimulatedGpu, function: Any, args: Any, kwargs: Any) -> torch.device:
    return pretence.labels.of(args[0]).device if args[0].device.type == "cpu" else function(*args, **kwargs)


def answer_is_cuda(pretence: SimulatedGpu, function: Any, args: Any, kwargs: Any) -> bool:
    return pretence.labels.on_gpu(args[0])


def answer_is_cpu(pretence: SimulatedGpu, function: Any, args: Any, kwargs: Any) -> bool:
    return bool(function(*args, **kwargs)) and not pretence.labels.on_gpu(args[0])


def answer_get_device(pretence: SimulatedGpu, function: Any, args: Any, kwargs: Any) -> int:
    return 0 if pretence.labels.on_gpu(args[0]) else -1


def make_device(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return a device; a number alone is one of the GPU's."""
    if len(args) == 1 and type(args[0]) is int and not kwargs:
        return pretence.device(args[0])
    return function(*args, **kwargs)


def to(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    wish = wish_of(pretence, args[1:], kwargs)
    return move(pretence, args[0], wish)


def to_cpu(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    return move(pretence, args[0], TransferRequest(CPU, memory_format=kwargs.get("memory_format")))


def to_cuda(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    words = kwargs | dict(zip(("device", "non_blocking"), args[1:], strict=False))
    wish = TransferRequest(
        GPU if words.get("device") is None else words["device"], non_blocking=words.get("non_blocking", False)
    )
    pretence.device(GPU)  # where there is none, this says so
    return move(pretence, args[0], wish)


def type_as(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    return move(pretence, args[0], wish_of(pretence, args[1:], kwargs))


def to_type(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the name of a tensor's type, or the tensor as one of another: the old types name a device, too."""
    wanted = kwargs.get("dtype", args[1] if len(args) > 1 else None)
    if wanted is None:
        name = str(function(args[0]))
        return name.replace("torch.", "torch.cuda.", 1) if pretence.labels.on_gpu(args[0]) else name
    if isinstance(wanted, torch.dtype):
        return pretence.run(function, args, kwargs)
    name = wanted if isinstance(wanted, str) else f"{wanted.__module__}.{wanted.__name__}"
    moved = move(pretence, args[0], TransferRequest(GPU if ".cuda." in name else CPU))
    return pretence.run(function, (moved, name.replace(".cuda.", ".")), {})


def numpy(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Refuse what torch refuses: NumPy cannot read the memory of a GPU."""
    if not pretence.labels.on_gpu(args[0]):
        return pretence.run(function, args, kwargs)
    pretence.sync()
    raise TypeError(UNREADABLE)


def read(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Note a sync that no operation tells of."""
    if pretence.labels.on_gpu(args[0]):
        pretence.sync()
    with pretence.pause():
        return function(*args, **kwargs)


def deep_copy(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    with pretence.pause():
        copy = function(*args, **kwargs)
    pretence.labels.put(copy, pretence.labels.of(args[0]))
    return copy


def pin(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    tensor: torch.Tensor = args[0]
    label = pretence.labels.of(tensor)
    if not pretence.gpu:
        raise NotImplementedError("Cannot access accelerator device when none is available.")
    if label.device == GPU:
        raise RuntimeError(f"cannot pin '{to_type(pretence, torch.Tensor.type, (tensor,), {})}' only dense CPU tensors")
    if label.pinned:
        return tensor
    copy: torch.Tensor = pretence.run(torch.Tensor.clone, (tensor,), {})
    pretence.labels.put(copy, Label(CPU, label.origins, label.place, pinned=True))
    return copy


def is_pinned(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    return pretence.labels.of(args[0]).pinned


def one_hot(pretence: SimulatedGpu, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Look away from what torch looks up on a CPU only: with the number of classes given, a GPU does not wait."""
    classes = kwargs.get("num_classes", args[1] if len(args) > 1 else -1)
    if classes == -1 or not pretence.labels.on_gpu(args[0]):
        return pretence.run(function, args, kwargs)
    with pretence.pause():
        result = function(*args, **kwargs)
    pretence.labels.put(result, Label(GPU, place=pretence.place()))
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
    torch.Tensor.pin_memory: pin,
    torch.Tensor.is_pinned: is_pinned,
    torch.nn.functional.one_hot: one_hot,
}
