"""The wire: the only form in which values cross between the trusted process and a worker.

A frame is a prefix (magic, header length, body length), a JSON header and raw buffers. Every JSON object in
the header is a node with a tag under "$"; JSON arrays are Python lists. Arrays keep their bytes in the body,
in the order their nodes appear, with nothing between or after them.

The decoder is the trust boundary: for any bytes at all it returns a value made of plain Python, NumPy and
torch types, or raises ProtocolError. It never unpickles, never calls anything of the sender's, and checks
every length before it allocates.
"""

from __future__ import annotations

import functools
import json
import math
import re
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np

MAGIC = b"ATN1"
PREFIX = struct.Struct("!4sIQ")
MAX_HEADER = 1 << 20
MAX_BODY = 256 << 20
MAX_DEPTH = 24
MAX_NODES = 20_000
MAX_INT_BITS = 4096
MAX_NDIM = 32

# Object, structured and variable-width string arrays hold pointers, so they have no bytes to send.
_DTYPE = re.compile(
    r"[<>|](b1|[iu][1248]|f(2|4|8|12|16)|c(8|16|24|32)|[SUV][1-9]\d{0,6}|[mM]8(\[\d{0,6}[a-zA-Z]{1,2}\])?)"
)
_TORCH_NAME = re.compile(r"[a-z][a-z0-9_]{1,31}")
_DEVICE = re.compile(r"(cpu|cuda|mps|meta|xpu)(:(0|[1-9]\d?))?")
T = TypeVar("T")
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class ProtocolError(Exception):
    """The bytes that arrived are not a frame."""


class UnsendableError(Exception):
    """A value that cannot travel; the text completes "returned a value that ..."."""


@dataclass(frozen=True)
class Remote:
    """An object that stays in the worker; only its number and the name of its type travel."""

    handle: int
    type_name: str


def encode(value: object, keep: Callable[[object], Remote] | None = None, *, tensors: bool = True) -> bytes:
    """Return the frame of a value; whatever has no form on the wire goes through `keep`, if given."""
    encoder = _Encoder(keep, tensors)
    header = json.dumps(encoder.node(value, 0), separators=(",", ":"), allow_nan=False).encode()
    if len(header) > MAX_HEADER:
        raise UnsendableError(f"needs {len(header)} bytes besides its arrays; the most is {MAX_HEADER}")
    return b"".join([PREFIX.pack(MAGIC, len(header), encoder.size), header, *encoder.buffers])


def decode(frame: bytes | bytearray | memoryview, *, tensors: bool = True) -> Any:
    """Return the value of one whole frame, or raise ProtocolError."""
    view = memoryview(frame)
    header_length, body_length = lengths(view[: PREFIX.size])
    if len(view) != PREFIX.size + header_length + body_length:
        raise ProtocolError("the frame is not as long as its prefix says")
    start = PREFIX.size + header_length
    return decode_parts(view[PREFIX.size : start], view[start:], tensors=tensors)


def lengths(prefix: bytes | bytearray | memoryview) -> tuple[int, int]:
    """Return the header and body lengths a prefix announces, both within limits."""
    if len(prefix) != PREFIX.size:
        raise ProtocolError("the prefix is cut short")
    magic, header_length, body_length = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise ProtocolError("this is no AttnLab frame")
    if header_length > MAX_HEADER or body_length > MAX_BODY:
        raise ProtocolError(f"a frame of {header_length} + {body_length} bytes is over the limit")
    return header_length, body_length


def decode_parts(header: memoryview, body: memoryview, *, tensors: bool = True) -> Any:
    """Return the value of a header and a body received apart."""
    try:
        tree = json.loads(bytes(header).decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the header is not JSON: {type(error).__name__}") from None
    decoder = _Decoder(body, tensors)
    value = decoder.value(tree, 0)
    decoder.finish()
    return value


class _Encoder:
    def __init__(self, keep: Callable[[object], Remote] | None, tensors: bool) -> None:
        self.keep = keep
        self.torch = sys.modules.get("torch") if tensors else None
        self.buffers: list[bytes] = []
        self.size = 0
        self.nodes = 0

    def node(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise UnsendableError(f"has more than {MAX_NODES} parts")
        if depth > MAX_DEPTH:
            raise UnsendableError(f"is nested more than {MAX_DEPTH} levels deep, or contains itself")
        # `type(value)`, never isinstance: a value's __class__ may lie.
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            if value.bit_length() > MAX_INT_BITS:
                raise UnsendableError(f"holds an integer of {value.bit_length()} bits")
            return {"$": "int", "v": hex(value)} if value.bit_length() > 63 else value
        if kind is float:
            return value if math.isfinite(value) else {"$": "float", "v": repr(value)}
        if kind is complex:
            return {"$": "complex", "v": [self.node(part, depth + 1) for part in (value.real, value.imag)]}
        if kind is bytes:
            self.add_buffer(value, len(value))
            return {"$": "bytes", "size": len(value)}
        if kind is list:
            return [self.node(item, depth + 1) for item in value]
        if issubclass(kind, tuple):  # a namedtuple is a tuple; its items are sent, not its methods
            return {"$": "tuple", "v": [self.node(item, depth + 1) for item in tuple.__iter__(value)]}
        if issubclass(kind, dict):
            pairs = [[self.key(k), self.node(v, depth + 1)] for k, v in dict.items(value)]
            return {"$": "dict", "v": pairs}
        if kind is Remote:
            return {"$": "remote", "v": value.handle, "type": value.type_name}
        if kind is np.ndarray and _has_bytes(value.dtype):
            return self.array(value, "array")
        if issubclass(kind, np.generic) and kind.__module__ == "numpy" and _has_bytes(value.dtype):
            return self.array(np.asarray(value), "scalar")
        if self.torch is not None:
            node = self.torch_node(value, kind)
            if node is not None:
                return node
        if self.keep is None:
            raise UnsendableError(f"is a {kind.__name__}")
        remote = self.keep(value)
        return {"$": "remote", "v": remote.handle, "type": remote.type_name}

    def key(self, key: object) -> Any:
        if key is None or type(key) in (bool, int, str) or (type(key) is float and math.isfinite(key)):
            return self.node(key, 0)
        raise UnsendableError(f"is a dict with a {type(key).__name__} as a key")

    def array(self, array: np.ndarray, tag: str) -> dict[str, Any]:
        self.reserve(array.nbytes)  # the logical size: a stride-0 view can claim terabytes
        _check_shape(array.shape)
        data = array.tobytes()
        if array.dtype.kind == "U" and not _is_text(np.frombuffer(data, dtype=array.dtype.byteorder + "u4")):
            raise UnsendableError("is an array of text that no encoding can hold")
        self.buffers.append(data)
        return {"$": tag, "dtype": array.dtype.str, "shape": list(array.shape)}

    def torch_node(self, value: Any, kind: type) -> dict[str, Any] | None:
        torch = self.torch
        assert torch is not None
        if kind is torch.dtype:
            return {"$": "torch.dtype", "v": str(value).removeprefix("torch.")}
        if kind is torch.device:
            return {"$": "torch.device", "v": str(value)}
        if kind is not torch.Tensor and kind is not torch.nn.Parameter:
            return None
        if value.layout is not torch.strided or value.is_quantized or value.device.type == "meta":
            return None
        shape, grad = list(value.shape), bool(value.requires_grad)
        self.reserve(value.numel() * value.element_size())
        _check_shape(value.shape)
        plain = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
        # Every dtype, bfloat16 and float8 included, has a byte view; few have a NumPy one.
        self.buffers.append(plain.reshape(-1).view(torch.uint8).numpy().tobytes())
        name = str(value.dtype).removeprefix("torch.")
        return {"$": "tensor", "dtype": name, "shape": shape, "grad": grad}

    def add_buffer(self, data: bytes, size: int) -> None:
        self.reserve(size)
        self.buffers.append(data)

    def reserve(self, size: int) -> None:
        self.size += size
        if self.size > MAX_BODY:
            raise UnsendableError(f"takes {_readable(self.size)}; the most is {_readable(MAX_BODY)}")


class _Decoder:
    def __init__(self, body: memoryview, tensors: bool) -> None:
        self.body = body
        self.tensors = tensors
        self.offset = 0
        self.nodes = 0

    def value(self, node: Any, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise ProtocolError("the header has too many nodes or levels")
        kind = type(node)
        if node is None or kind is bool or kind is str:
            return node
        if kind is int:
            if node.bit_length() > 63:
                raise ProtocolError("a plain integer of more than 63 bits")
            return node
        if kind is float:
            if not math.isfinite(node):
                raise ProtocolError("a plain float that is not finite")
            return node
        if kind is list:
            return [self.value(item, depth + 1) for item in node]
        return self.tagged(node, depth)

    def tagged(self, node: dict[str, Any], depth: int) -> Any:
        tag = node.get("$")
        form = _FORMS.get(tag) if type(tag) is str else None
        if form is None or len(node) != len(form[0]) or not form[0] <= node.keys():
            raise ProtocolError("a node of unknown form")
        return form[1](self, node, depth)

    def big_int(self, node: dict[str, Any], depth: int) -> int:
        del depth
        text = _typed(node["v"], str)
        if len(text) > MAX_INT_BITS // 4 + 3 or not re.fullmatch(r"-?0x[0-9a-f]+", text):
            raise ProtocolError("an integer of unknown form")
        return int(text, 16)

    def special_float(self, node: dict[str, Any], depth: int) -> float:
        del depth
        text = _typed(node["v"], str)
        if text not in _NON_FINITE:
            raise ProtocolError("a float of unknown form")
        return _NON_FINITE[text]

    def complex(self, node: dict[str, Any], depth: int) -> complex:
        parts = [self.value(part, depth + 1) for part in _typed(node["v"], list)]
        if len(parts) != 2 or not all(type(part) is float for part in parts):
            raise ProtocolError("a complex number that is not two floats")
        return complex(*parts)

    def raw(self, node: dict[str, Any], depth: int) -> bytes:
        del depth
        return bytes(self.take(node["size"]))

    def tuple(self, node: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple([self.value(item, depth + 1) for item in _typed(node["v"], list)])

    def remote(self, node: dict[str, Any], depth: int) -> Remote:
        del depth
        return Remote(_natural(node["v"]), _typed(node["type"], str))

    def mapping(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for pair in _typed(node["v"], list):
            if type(pair) is not list or len(pair) != 2:
                raise ProtocolError("a dict entry that is not a pair")
            key = self.value(pair[0], depth + 1)
            if key is not None and type(key) not in (bool, int, float, str):
                raise ProtocolError("a dict key that is not a scalar")
            if key != key:
                raise ProtocolError("a dict key that is not itself")
            if key in result:
                raise ProtocolError("a dict key given twice")
            result[key] = self.value(pair[1], depth + 1)
        return result

    def scalar(self, node: dict[str, Any], depth: int) -> Any:
        if node["shape"] != []:
            raise ProtocolError("a scalar with a shape")
        return self.array(node, depth)[()]

    def array(self, node: dict[str, Any], depth: int) -> np.ndarray:
        del depth
        dtype = _numpy_dtype(_typed(node["dtype"], str))
        shape = _typed(node["shape"], list)
        data = self.take(_count(shape) * dtype.itemsize)
        array = np.frombuffer(data, dtype=dtype).reshape(shape).copy()
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise ProtocolError("a boolean that is neither 0 nor 1")
        if dtype.kind == "U" and not _is_text(np.frombuffer(data, dtype=dtype.byteorder + "u4")):
            raise ProtocolError("a string array that holds no characters")
        return array

    def tensor(self, node: dict[str, Any], depth: int) -> Any:
        del depth
        torch = self.torch()
        dtype = _torch_dtype(torch, _typed(node["dtype"], str))
        shape, grad = _typed(node["shape"], list), _typed(node["grad"], bool)
        data = self.take(_count(shape) * dtype.itemsize)
        if grad and not (dtype.is_floating_point or dtype.is_complex):
            raise ProtocolError("a tensor of integers cannot require a gradient")
        if not len(data):
            return torch.empty(shape, dtype=dtype, requires_grad=grad)
        raw = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        if dtype is torch.bool and int(raw.max()) > 1:
            raise ProtocolError("a boolean that is neither 0 nor 1")
        return raw.view(dtype).reshape(shape).requires_grad_(grad)

    def torch_dtype(self, node: dict[str, Any], depth: int) -> Any:
        del depth
        return _torch_dtype(self.torch(), _typed(node["v"], str))

    def torch_device(self, node: dict[str, Any], depth: int) -> Any:
        del depth
        return _torch_device(self.torch(), _typed(node["v"], str))

    def torch(self) -> Any:
        if not self.tensors:
            raise ProtocolError("a tensor on a channel that carries none")
        import torch

        return torch

    def take(self, size: int) -> memoryview:
        end = self.offset + _natural(size)
        if end > len(self.body):
            raise ProtocolError("the body is shorter than its arrays")
        data = self.body[self.offset : end]
        self.offset = end
        return data

    def finish(self) -> None:
        if self.offset != len(self.body):
            raise ProtocolError("the body is longer than its arrays")


# What each tag's node must hold besides the tag, no more and no less, and the method that reads it.
_FORMS: dict[str, tuple[frozenset[str], Callable[[_Decoder, dict[str, Any], int], Any]]] = {
    "int": (frozenset({"$", "v"}), _Decoder.big_int),
    "float": (frozenset({"$", "v"}), _Decoder.special_float),
    "complex": (frozenset({"$", "v"}), _Decoder.complex),
    "bytes": (frozenset({"$", "size"}), _Decoder.raw),
    "tuple": (frozenset({"$", "v"}), _Decoder.tuple),
    "dict": (frozenset({"$", "v"}), _Decoder.mapping),
    "remote": (frozenset({"$", "v", "type"}), _Decoder.remote),
    "array": (frozenset({"$", "dtype", "shape"}), _Decoder.array),
    "scalar": (frozenset({"$", "dtype", "shape"}), _Decoder.scalar),
    "tensor": (frozenset({"$", "dtype", "shape", "grad"}), _Decoder.tensor),
    "torch.dtype": (frozenset({"$", "v"}), _Decoder.torch_dtype),
    "torch.device": (frozenset({"$", "v"}), _Decoder.torch_device),
}


def _has_bytes(dtype: np.dtype[Any]) -> bool:
    return dtype.names is None and dtype.subdtype is None and _DTYPE.fullmatch(dtype.str) is not None


def _check_shape(shape: Sequence[int]) -> None:
    """Refuse to send a shape that the decoder would refuse to take."""
    if len(shape) > MAX_NDIM or math.prod(max(1, size) for size in shape) > MAX_BODY:
        raise UnsendableError(f"has the shape {tuple(shape)}")


def _count(shape: list[Any]) -> int:
    """Return how many elements a shape holds, refusing shapes whose strides would overflow."""
    if len(shape) > MAX_NDIM:
        raise ProtocolError("an array of too many dimensions")
    count = extent = 1
    for size in shape:
        count *= _natural(size)
        extent *= max(1, size)
        if extent > MAX_BODY:
            raise ProtocolError("an array too large for any body")
    return count


def _natural(number: Any) -> int:
    if type(number) is not int or not 0 <= number <= sys.maxsize:
        raise ProtocolError("a size or handle that is no natural number")
    return number


def _typed(value: Any, kind: type[T]) -> T:
    if type(value) is not kind:
        raise ProtocolError(f"a node with no {kind.__name__} where one belongs")
    return value


@functools.lru_cache(64)
def _numpy_dtype(name: str) -> np.dtype[Any]:
    if not _DTYPE.fullmatch(name):
        raise ProtocolError("a dtype that is not on the list")
    try:
        return np.dtype(name)
    except (TypeError, ValueError):
        raise ProtocolError("a dtype this machine does not have") from None


def _is_text(points: np.ndarray) -> bool:
    surrogate = (points >= 0xD800) & (points <= 0xDFFF)
    return not bool((surrogate | (points > 0x10FFFF)).any())


def _torch_device(torch: Any, name: str) -> Any:
    if not _DEVICE.fullmatch(name):
        raise ProtocolError("a device that is none")
    try:
        return torch.device(name)
    except RuntimeError:
        raise ProtocolError("a device torch does not know") from None


def _torch_dtype(torch: Any, name: str) -> Any:
    dtype = getattr(torch, name, None) if _TORCH_NAME.fullmatch(name) else None
    if type(dtype) is not torch.dtype or name.startswith(("q", "uq")):
        raise ProtocolError("a torch dtype that is not on the list")
    return dtype


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    node = dict(pairs)
    if len(node) != len(pairs):
        raise ValueError("a key given twice")
    return node


_JSON = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_unique_keys)


def _readable(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.4g} {unit}"
