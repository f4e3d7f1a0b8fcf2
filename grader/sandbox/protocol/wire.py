"""Wire format: the only form in which values pass between the trusted process and a worker.

A frame is a prefix (magic, header length, body length), a JSON header and raw buffers. Every JSON object in the header
is a node with a tag under "$". JSON arrays are Python lists. The bytes of arrays are in the body, in the order of their
nodes, with nothing between or after them. `encoder` writes frames and `decoder` reads them. This file holds what both
must agree on.
"""

from __future__ import annotations

import functools
import re
import struct
from collections import Counter
from collections.abc import Collection, Hashable
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
MAX_SAME_HASH = 256
MAX_NDIM = 32

# Tensor dtypes that NumPy also has, under the same name.
COMMON = frozenset({"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"})
# Arrays of objects, structures or variable-width strings hold pointers, so they cannot be sent.
DTYPE = re.compile(
    r"[<>|](b1|[iu][1248]|f(2|4|8|12|16)|c(8|16|24|32)|[SUV][1-9]\d{0,6}|[mM]8(\[\d{0,6}[a-zA-Z]{1,2}\])?)"
)


class ProtocolError(Exception):
    """The bytes that arrived are not a frame."""


class UnsendableError(Exception):
    """A value that cannot be sent; the text completes "returned a value that ..."."""


@dataclass(frozen=True)
class Remote:
    """An object that stays in the worker; only its handle and the name of its type are sent."""

    handle: int
    type_name: str


def is_crowded(keys: Collection[Hashable]) -> bool:
    """Whether too many keys of a dict, or items of a set, have the same hash.

    Hashes of numbers and tuples are no secret. A sender could choose thousands that are equal, and every dict or set of
    them would be slow. Honest ones are not: only -1 and -2 have the same hash.
    """
    return len(keys) > MAX_SAME_HASH and Counter(map(hash, keys)).most_common(1)[0][1] > MAX_SAME_HASH


@functools.lru_cache(64)
def has_bytes(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype can be sent."""
    return dtype.names is None and dtype.subdtype is None and DTYPE.fullmatch(dtype.str) is not None


def is_text(points: np.ndarray) -> bool:
    """Whether every code point is a valid character."""
    surrogate = (points >= 0xD800) & (points <= 0xDFFF)
    return not bool((surrogate | (points > 0x10FFFF)).any())
