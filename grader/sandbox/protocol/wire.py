"""The wire: the only form in which values cross between the trusted process and a worker.

A frame is a prefix (magic, header length, body length), a JSON header and raw buffers. Every JSON object in
the header is a node with a tag under "$"; JSON arrays are Python lists. Arrays keep their bytes in the body,
in the order their nodes appear, with nothing between or after them. `encoder` writes frames, `decoder` reads them;
here is what the two must agree on.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

MAGIC = b"ATN1"
PREFIX = struct.Struct("!4sIQ")
MAX_HEADER = 1 << 20
MAX_BODY = 256 << 20
MAX_DEPTH = 24
MAX_NODES = 20_000
MAX_INT_BITS = 4096
MAX_KEY_BITS = 63
MAX_NDIM = 32

# The dtypes of tensors that NumPy has, too, under the same name.
COMMON = frozenset({"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"})
# Object, structured and variable-width string arrays hold pointers, so they have no bytes to send.
DTYPE = re.compile(
    r"[<>|](b1|[iu][1248]|f(2|4|8|12|16)|c(8|16|24|32)|[SUV][1-9]\d{0,6}|[mM]8(\[\d{0,6}[a-zA-Z]{1,2}\])?)"
)


class ProtocolError(Exception):
    """The bytes that arrived are not a frame."""


class UnsendableError(Exception):
    """A value that cannot travel; the text completes "returned a value that ..."."""


@dataclass(frozen=True)
class Remote:
    """An object that stays in the worker; only its number and the name of its type travel."""

    handle: int
    type_name: str


def has_bytes(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype can travel."""
    return dtype.names is None and dtype.subdtype is None and DTYPE.fullmatch(dtype.str) is not None


def is_text(points: np.ndarray) -> bool:
    """Whether every code point is a character that an encoding can hold."""
    surrogate = (points >= 0xD800) & (points <= 0xDFFF)
    return not bool((surrogate | (points > 0x10FFFF)).any())
