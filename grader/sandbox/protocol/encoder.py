"""Encoding of a value as a frame, or the reason why it cannot be sent."""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader.sandbox.protocol.wire import (
    COMMON,
    MAGIC,
    MAX_BODY,
    MAX_DEPTH,
    MAX_HEADER,
    MAX_INT_BITS,
    MAX_NDIM,
    MAX_NODES,
    PREFIX,
    Remote,
    UnsendableError,
    has_bytes,
    is_crowded,
    is_text,
)

_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def encode(value: object, keep: Callable[[object], Remote] | None = None, *, tensors: bool = True) -> bytes:
    """Return the frame of a value. An object that cannot be sent goes through `keep`, if given."""
    encoder = _Encoder(keep, tensors)
    header = _JSON.encode(encoder.node(value, 0)).encode()
    if len(header) > MAX_HEADER:
        raise UnsendableError(f"needs {len(header)} bytes besides its arrays; the limit is {MAX_HEADER}")
    return b"".join([PREFIX.pack(MAGIC, len(header), encoder.size), header, *encoder.buffers])


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
        # `type(value)`, never isinstance: a value's __class__ may lie. The most frequent types come first.
        kind = type(value)
        if kind is str or value is None or kind is bool:
            return value
        if kind is list:
            return [self.node(item, depth + 1) for item in value]
        if kind is np.ndarray and has_bytes(value.dtype):
            return self.array(value, "array")
        if self.torch is not None and kind is self.torch.Tensor:
            node = self.tensor(self.torch, value)
            if node is not None:
                return node
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
        if issubclass(kind, tuple):  # a namedtuple is sent as a plain tuple
            return {"$": "tuple", "v": [self.node(item, depth + 1) for item in tuple.__iter__(value)]}
        if issubclass(kind, dict):
            return {"$": "dict", "v": self._pairs(value, depth + 1)}
        if issubclass(kind, (set, frozenset)):
            base = frozenset if issubclass(kind, frozenset) else set
            return {"$": base.__name__, "v": self._hashed(list(base.__iter__(value)), depth + 1, "set", "item")}
        if kind is Remote:
            return {"$": "remote", "v": value.handle, "type": value.type_name}
        if issubclass(kind, np.generic) and kind.__module__ == "numpy" and has_bytes(value.dtype):
            return self.array(np.asarray(value), "scalar")
        if self.torch is not None:
            node = self.torch_node(value, kind)
            if node is not None:
                return node
        if self.keep is None:
            raise UnsendableError(f"is a {kind.__name__}")
        remote = self.keep(value)
        return {"$": "remote", "v": remote.handle, "type": remote.type_name}

    def _pairs(self, value: dict[Any, Any], depth: int) -> list[list[Any]]:
        keys = self._hashed(list(dict.__iter__(value)), depth, "dict", "key")
        return [[key, self.node(item, depth)] for key, item in zip(keys, dict.values(value), strict=True)]

    def _hashed(self, keys: list[Any], depth: int, what: str, part: str) -> list[Any]:
        """Return the nodes of what is hashed: the keys of a dict, or the items of a set."""
        if all(type(key) is str for key in keys):  # nearly always
            self.nodes += len(keys)
            nodes = keys
        else:
            nodes = [self._key(key, depth, what, part) for key in keys]
        if is_crowded(keys):
            raise UnsendableError(f"is a {what} of which too many {part}s have the same hash")
        return nodes

    def _key(self, key: Any, depth: int, what: str, part: str) -> Any:
        if type(key) is str:
            self.nodes += 1
            return key
        if issubclass(type(key), np.generic) and type(key).__module__ == "numpy":
            key = key.item()  # a number of NumPy is the same key as a plain one
        if type(key) in (float, complex) and key != key:
            raise UnsendableError(f"is a {what} with NaN as {part}")
        if key is None or type(key) in (bool, int, float, complex, bytes, str):
            return self.node(key, depth)
        if issubclass(type(key), (tuple, frozenset)):
            self.nodes += 1
            base = tuple if issubclass(type(key), tuple) else frozenset
            if depth > MAX_DEPTH:
                raise UnsendableError(f"is nested more than {MAX_DEPTH} levels deep, or contains itself")
            return {"$": base.__name__, "v": self._hashed(list(base.__iter__(key)), depth + 1, what, part)}
        raise UnsendableError(f"is a {what} with a {type(key).__name__} as {part}")

    def array(self, array: np.ndarray, tag: str) -> dict[str, Any]:
        self.reserve(array.nbytes)  # the logical size: a stride-0 view can claim terabytes
        _check_shape(array.shape)
        data = array.tobytes()
        if array.dtype.kind == "U" and not is_text(np.frombuffer(data, dtype=array.dtype.byteorder + "u4")):
            raise UnsendableError("is an array of text that cannot be encoded")
        self.buffers.append(data)
        return {"$": tag, "dtype": array.dtype.str, "shape": list(array.shape)}

    def torch_node(self, value: Any, kind: type) -> dict[str, Any] | None:
        torch = self.torch
        assert torch is not None
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            return self.tensor(torch, value)
        if kind is torch.dtype:
            return {"$": "torch.dtype", "v": str(value).removeprefix("torch.")}
        return {"$": "torch.device", "v": str(value)} if kind is torch.device else None

    def tensor(self, torch: Any, value: Any) -> dict[str, Any] | None:
        """Return the node of a tensor; None if it has no plain entries, like a sparse tensor."""
        dtype, on_cpu, grad = value.dtype, value.is_cpu, value.requires_grad
        name = _name_of(dtype)
        common = name in COMMON
        if value.layout is not torch.strided or (not on_cpu and value.is_meta) or (not common and value.is_quantized):
            return None
        shape = list(value.shape)
        self.reserve(value.numel() * dtype.itemsize)
        _check_shape(shape)
        plain = value.detach() if grad else value
        if not common or not on_cpu or plain.is_neg():
            plain = plain.detach().resolve_conj().resolve_neg().cpu().contiguous()
            # Every dtype, bfloat16 and float8 included, has a byte view; few exist in NumPy.
            plain = plain.reshape(-1).view(torch.uint8)
        self.buffers.append(plain.numpy().tobytes())
        return {"$": "tensor", "dtype": name, "shape": shape, "grad": grad}

    def add_buffer(self, data: bytes, size: int) -> None:
        self.reserve(size)
        self.buffers.append(data)

    def reserve(self, size: int) -> None:
        self.size += size
        if self.size > MAX_BODY:
            raise UnsendableError(f"takes {_readable(self.size)}; the limit is {_readable(MAX_BODY)}")


@functools.lru_cache(64)
def _name_of(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _check_shape(shape: Sequence[int]) -> None:
    """Refuse to send a shape that the decoder would refuse."""
    extent = 1
    for size in shape:
        extent *= size or 1
    if len(shape) > MAX_NDIM or extent > MAX_BODY:
        raise UnsendableError(f"has the shape {tuple(shape)}")


def _readable(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.4g} {unit}"
