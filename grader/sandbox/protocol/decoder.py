"""Decoding of frames: the trust boundary.

For any input bytes it returns a value of plain Python, NumPy and torch types, or raises ProtocolError. It never
unpickles, never calls code of the sender, and checks every length before it allocates memory.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from grader.sandbox.protocol.wire import (
    COMMON,
    DTYPE,
    MAGIC,
    MAX_BODY,
    MAX_DEPTH,
    MAX_HEADER,
    MAX_INT_BITS,
    MAX_NDIM,
    MAX_NODES,
    PREFIX,
    ProtocolError,
    Remote,
    is_crowded,
    is_text,
)

T = TypeVar("T")
_TORCH_NAME = re.compile(r"[a-z][a-z0-9_]{1,31}")
_DEVICE = re.compile(r"(cpu|cuda|mps|meta|xpu)(:(0|[1-9]\d?))?")
_COMMON_DTYPES = {name: np.dtype(name) for name in COMMON}
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_PLAIN_KEYS = frozenset({type(None), bool, int, str, bytes})


def decode(frame: bytes | bytearray | memoryview, *, tensors: bool = True) -> Any:
    """Return the value of one complete frame, or raise ProtocolError."""
    view = memoryview(frame)
    header_length, body_length = lengths(view[: PREFIX.size])
    if len(view) != PREFIX.size + header_length + body_length:
        raise ProtocolError("the length of the frame differs from its prefix")
    start = PREFIX.size + header_length
    return decode_parts(view[PREFIX.size : start], view[start:], tensors=tensors)


def lengths(prefix: bytes | bytearray | memoryview) -> tuple[int, int]:
    """Return the lengths of header and body that a prefix announces, if both are within the limits."""
    if len(prefix) != PREFIX.size:
        raise ProtocolError("the prefix is incomplete")
    magic, header_length, body_length = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise ProtocolError("this is not an AttnLab frame")
    if header_length > MAX_HEADER or body_length > MAX_BODY:
        raise ProtocolError(f"a frame of {header_length} + {body_length} bytes is over the limit")
    return header_length, body_length


def decode_parts(header: memoryview, body: memoryview, *, tensors: bool = True) -> Any:
    """Return the value of a header and a body that were received separately."""
    try:
        tree = _JSON.decode(str(header, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the header is not JSON: {type(error).__name__}") from None
    decoder = _Decoder(body, tensors)
    value = decoder.value(tree, 0)
    decoder.finish()
    return value


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
        kind = type(node)  # the most frequent types come first
        if kind is dict:
            return self.tagged(node, depth)
        if kind is str or node is None or kind is bool:
            return node
        if kind is list:
            return [self.value(item, depth + 1) for item in node]
        if kind is int:
            if node.bit_length() > 63:
                raise ProtocolError("a plain integer of more than 63 bits")
            return node
        if kind is float:
            if not math.isfinite(node):
                raise ProtocolError("a plain float that is not finite")
            return node
        raise ProtocolError("a node of unknown form")

    def tagged(self, node: dict[str, Any], depth: int) -> Any:
        tag = node.get("$")
        form = _FORMS.get(tag) if type(tag) is str else None
        if form is None or len(node) != len(form[0]) or not form[0] <= node.keys():
            raise ProtocolError("a node of unknown form")
        return form[1](self, node, depth)

    def torch(self) -> Any:
        if not self.tensors:
            raise ProtocolError("a tensor on a channel without tensors")
        return sys.modules.get("torch") or importlib.import_module("torch")

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


def _read_big_int(_reader: _Decoder, node: dict[str, Any], _depth: int) -> int:
    text = _typed(node["v"], str)
    if len(text) > MAX_INT_BITS // 4 + 3 or not re.fullmatch(r"-?0x[0-9a-f]+", text):
        raise ProtocolError("an integer of unknown form")
    return int(text, 16)


def _read_special_float(_reader: _Decoder, node: dict[str, Any], _depth: int) -> float:
    text = _typed(node["v"], str)
    if text not in _NON_FINITE:
        raise ProtocolError("a float of unknown form")
    return _NON_FINITE[text]


def _read_complex(reader: _Decoder, node: dict[str, Any], depth: int) -> complex:
    parts = [reader.value(part, depth + 1) for part in _typed(node["v"], list)]
    if len(parts) != 2 or not all(type(part) is float for part in parts):
        raise ProtocolError("a complex number that is not two floats")
    return complex(*parts)


def _read_raw(reader: _Decoder, node: dict[str, Any], _depth: int) -> bytes:
    return bytes(reader.take(node["size"]))


def _read_tuple(reader: _Decoder, node: dict[str, Any], depth: int) -> tuple[Any, ...]:
    return tuple([reader.value(item, depth + 1) for item in _typed(node["v"], list)])


def _read_remote(_reader: _Decoder, node: dict[str, Any], _depth: int) -> Remote:
    return Remote(_natural(node["v"]), _typed(node["type"], str))


def _read_mapping(reader: _Decoder, node: dict[str, Any], depth: int) -> dict[Any, Any]:
    keys: list[Any] = []
    values: list[Any] = []
    for pair in _typed(node["v"], list):
        if type(pair) is not list or len(pair) != 2:
            raise ProtocolError("a dict entry that is not a pair")
        key, item = pair
        if type(key) is str:  # nearly every key; the limits are checked where its value is read
            reader.nodes += 1
        else:
            key = reader.value(key, depth + 1)
        keys.append(key)
        values.append(reader.value(item, depth + 1))
    return dict(zip(_hashable(keys), values, strict=True))


def _read_set(reader: _Decoder, node: dict[str, Any], depth: int) -> set[Any]:
    return set(_hashable([reader.value(item, depth + 1) for item in _typed(node["v"], list)]))


def _read_frozenset(reader: _Decoder, node: dict[str, Any], depth: int) -> frozenset[Any]:
    return frozenset(_read_set(reader, node, depth))


def _hashable(keys: list[Any]) -> list[Any]:
    """Return the keys of a dict or the items of a set, if each is plain and different from the others."""
    if not (_PLAIN_KEYS.issuperset(map(type, keys)) or all(map(_is_key, keys))):
        raise ProtocolError("a key that is not plain")
    if is_crowded(keys):  # before any of them is compared with another one
        raise ProtocolError("too many keys with the same hash")
    if len(set(keys)) != len(keys):
        raise ProtocolError("a duplicate key")
    return keys


def _is_key(key: Any) -> bool:
    """Whether a value may be a key. NaN may not: it is not equal to itself."""
    if type(key) in (tuple, frozenset):
        return all(map(_is_key, key))
    if type(key) in (float, complex):
        return bool(key == key)
    return type(key) in _PLAIN_KEYS


def _read_scalar(reader: _Decoder, node: dict[str, Any], depth: int) -> Any:
    if node["shape"] != []:
        raise ProtocolError("a scalar with a shape")
    return _read_array(reader, node, depth)[()]


def _read_array(reader: _Decoder, node: dict[str, Any], _depth: int) -> np.ndarray:
    dtype = _numpy_dtype(_typed(node["dtype"], str))
    shape = _typed(node["shape"], list)
    data = reader.take(_count(shape) * dtype.itemsize)
    array = np.frombuffer(data, dtype=dtype).reshape(shape).copy()
    if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ProtocolError("a boolean that is neither 0 nor 1")
    if dtype.kind == "U" and not is_text(np.frombuffer(data, dtype=dtype.byteorder + "u4")):
        raise ProtocolError("a string array with invalid characters")
    return array


def _read_tensor(reader: _Decoder, node: dict[str, Any], _depth: int) -> Any:
    torch = reader.torch()
    dtype = _torch_dtype(_typed(node["dtype"], str))
    shape, grad = _typed(node["shape"], list), _typed(node["grad"], bool)
    data = reader.take(_count(shape) * dtype.itemsize)
    if grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ProtocolError("a tensor of integers cannot require a gradient")
    if not len(data):
        return torch.empty(shape, dtype=dtype, requires_grad=grad)
    if node["dtype"] in COMMON and node["dtype"] != "bool":  # the fast path
        array = np.frombuffer(bytearray(data), dtype=_COMMON_DTYPES[node["dtype"]]).reshape(shape)
        tensor = torch.from_numpy(array)  # in half the time of torch's own frombuffer
        return tensor.requires_grad_() if grad else tensor
    raw = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    if dtype is torch.bool and int(raw.max()) > 1:
        raise ProtocolError("a boolean that is neither 0 nor 1")
    return raw.view(dtype).reshape(shape).requires_grad_(grad)


def _read_torch_dtype(reader: _Decoder, node: dict[str, Any], _depth: int) -> Any:
    reader.torch()
    return _torch_dtype(_typed(node["v"], str))


def _read_torch_device(reader: _Decoder, node: dict[str, Any], _depth: int) -> Any:
    return _torch_device(reader.torch(), _typed(node["v"], str))


# For each tag: the exact keys that its node must have, and the function that reads it.
_FORMS: dict[str, tuple[frozenset[str], Callable[[_Decoder, dict[str, Any], int], Any]]] = {
    "int": (frozenset({"$", "v"}), _read_big_int),
    "float": (frozenset({"$", "v"}), _read_special_float),
    "complex": (frozenset({"$", "v"}), _read_complex),
    "bytes": (frozenset({"$", "size"}), _read_raw),
    "tuple": (frozenset({"$", "v"}), _read_tuple),
    "dict": (frozenset({"$", "v"}), _read_mapping),
    "set": (frozenset({"$", "v"}), _read_set),
    "frozenset": (frozenset({"$", "v"}), _read_frozenset),
    "remote": (frozenset({"$", "v", "type"}), _read_remote),
    "array": (frozenset({"$", "dtype", "shape"}), _read_array),
    "scalar": (frozenset({"$", "dtype", "shape"}), _read_scalar),
    "tensor": (frozenset({"$", "dtype", "shape", "grad"}), _read_tensor),
    "torch.dtype": (frozenset({"$", "v"}), _read_torch_dtype),
    "torch.device": (frozenset({"$", "v"}), _read_torch_device),
}


def _count(shape: list[Any]) -> int:
    """Return the number of elements of a shape. Refuse a shape whose strides would overflow."""
    if len(shape) > MAX_NDIM:
        raise ProtocolError("an array with too many dimensions")
    count = extent = 1
    for size in shape:
        count *= _natural(size)
        extent *= max(1, size)
        if extent > MAX_BODY:
            raise ProtocolError("an array too large for any body")
    return count


def _natural(number: Any) -> int:
    if type(number) is not int or not 0 <= number <= sys.maxsize:
        raise ProtocolError("a size or handle that is not a natural number")
    return number


def _typed(value: Any, kind: type[T]) -> T:
    if type(value) is not kind:
        raise ProtocolError(f"a node without the {kind.__name__} that it needs")
    return value


@functools.lru_cache(64)
def _numpy_dtype(name: str) -> np.dtype[Any]:
    if not DTYPE.fullmatch(name):
        raise ProtocolError("a dtype that is not allowed")
    try:
        return np.dtype(name)
    except (TypeError, ValueError):
        raise ProtocolError("a dtype that this machine does not have") from None


def _torch_device(torch: Any, name: str) -> Any:
    if not _DEVICE.fullmatch(name):
        raise ProtocolError("a device name that is not allowed")
    try:
        return torch.device(name)
    except RuntimeError:
        raise ProtocolError("a device that torch does not know") from None


@functools.lru_cache(64)
def _torch_dtype(name: str) -> Any:
    torch = sys.modules["torch"]
    dtype = getattr(torch, name, None) if _TORCH_NAME.fullmatch(name) else None
    if type(dtype) is not torch.dtype or name.startswith(("q", "uq")):
        raise ProtocolError("a torch dtype that is not allowed")
    return dtype


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    node = dict(pairs)
    if len(node) != len(pairs):
        raise ValueError("a duplicate key")
    return node


_JSON = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_unique_keys)
