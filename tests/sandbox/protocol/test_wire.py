"""The wire format: valid values round-trip, and every other frame is refused."""

from __future__ import annotations

import json
import math
import random
import struct
import sys
import warnings
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
import torch

from grader.sandbox.protocol import wire
from grader.sandbox.protocol.decoder import decode, lengths
from grader.sandbox.protocol.encoder import encode

MUTATED_FRAMES = 220_000
NUMPY_DTYPES = [
    *(np.dtype(code) for code in np.typecodes["All"] if code not in "OSUVMm"),
    *map(np.dtype, ["S5", "U3", "V7", "M8[ns]", "M8[25s]", "m8[D]", "M8", ">f4", ">i8", ">U2", ">c16"]),
]
TORCH_DTYPES = sorted(
    {dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype) and "q" not in str(dtype)},
    key=str,
)


def round_trip(value: Any) -> Any:
    return decode(encode(value))


def frame(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return wire.PREFIX.pack(wire.MAGIC, len(text), len(body)) + text + body


def random_array(dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(1)
    count = int(np.prod(shape))
    if dtype.kind == "U":
        return np.array([chr(0x3B1 + i % 20) * (i % 3) for i in range(count)], dtype=dtype).reshape(shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, size=shape).astype(dtype)
    if dtype.kind in "fc":  # random bytes do not make a valid long double: some of its bits are padding
        return np.asarray(rng.normal(size=shape) + (1j if dtype.kind == "c" else 0)).astype(dtype)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype=dtype).reshape(shape)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=lambda dtype: dtype.str)
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0, 2), (2, 1, 3)])
def test_every_numpy_dtype_round_trips_bit_for_bit(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    array = random_array(dtype, shape)
    back = round_trip(array)
    assert type(back) is np.ndarray
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert back.flags.writeable
    assert back.flags.owndata


@pytest.mark.parametrize("dtype", TORCH_DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 4)])
def test_every_torch_dtype_round_trips_bit_for_bit(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # complex32 calls itself experimental
        tensor = torch.empty(shape, dtype=dtype)
        if tensor.numel():
            top = 2 if dtype == torch.bool else 256
            tensor.reshape(-1).view(torch.uint8).random_(0, top)
        back = round_trip(tensor)
        assert type(back) is torch.Tensor
        assert (back.dtype, back.shape) == (tensor.dtype, tensor.shape)
        assert bytes_of(back) == bytes_of(tensor)


def bytes_of(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())


def test_bfloat16_and_float8_are_among_the_tested_dtypes() -> None:
    names = {str(dtype) for dtype in TORCH_DTYPES}
    assert {"torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2", "torch.float16"} <= names


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        2**63,
        -(2**4000),
        1.5,
        -0.0,
        5e-324,
        math.inf,
        -math.inf,
        complex(-0.0, math.inf),
        "",
        "π\n\x00\ud800",
        b"\x00\xff",
        [],
        (),
        {},
        [1, [2, (3, {"four": [5, (6,)]})]],
        ((1, 2.5), None, ("a", (b"b",))),
        {"a": 1, 2: (3,), None: [4], 1.5: {"x": True}, False: "f"},
        {(1, "a"): 1, b"k": 2, (): 3, ((None, 2.5), frozenset({1})): 4, 2j: 5, 2**80: 6, math.inf: 7},
        set(),
        {1},
        {(1, 2): {3}},
        [{"one"}, frozenset(), (frozenset({(1, "a")}),)],
        {2**70},
        frozenset({b"x"}),
        wire.Remote(7, "mylab.softmax.Thing"),
    ],
    ids=repr,
)
def test_plain_values_round_trip(value: Any) -> None:
    back = round_trip(value)
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)  # distinguishes -0.0 from 0.0 and True from 1


def test_nan_keeps_its_bits() -> None:
    assert math.isnan(round_trip(math.nan))
    array = np.array([0x7FF8000000000001, 0xFFF0000000000003], dtype=np.uint64).view(np.float64)
    assert round_trip(array).tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.complex64, np.longdouble])
def test_numpy_scalars_stay_scalars(dtype: type[np.generic]) -> None:
    back = round_trip(dtype(1))
    assert type(back) is dtype
    assert back == dtype(1)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.arange(20)[::-3],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.broadcast_to(np.arange(3.0), (4, 3)),
        np.arange(9.0).reshape(3, 3)[:, 1],
    ],
)
def test_non_contiguous_arrays_keep_their_values(array: np.ndarray) -> None:
    np.testing.assert_array_equal(round_trip(array), array)


def test_non_contiguous_and_conjugated_tensors_keep_their_values() -> None:
    matrix = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(round_trip(matrix.T), matrix.T)
    assert torch.equal(round_trip(matrix.expand(4, 2, 3)), matrix.expand(4, 2, 3))
    wave = torch.tensor([1 + 2j, 3 - 4j]).conj()
    assert torch.equal(round_trip(wave), wave)


def test_torch_objects_round_trip() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    back = round_trip({"w": parameter, "d": torch.bfloat16, "where": torch.device("cuda:1"), "s": torch.Size([2])})
    assert back["w"].requires_grad
    assert type(back["w"]) is torch.Tensor
    assert (back["d"], back["where"], back["s"]) == (torch.bfloat16, torch.device("cuda:1"), (2,))


def test_named_tuples_and_ordered_dicts_become_plain() -> None:
    pair = namedtuple("pair", "output weights")
    assert round_trip(pair(1, 2)) == (1, 2)
    assert round_trip(OrderedDict(b=1, a=2)) == {"b": 1, "a": 2}


def test_subclasses_of_sets_become_plain() -> None:
    kind = type("Words", (set,), {"__iter__": lambda _: iter(["a lie"])})
    assert round_trip(kind({"a", "b"})) == {"a", "b"}


def test_ordinary_keys_may_share_a_hash() -> None:
    """In CPython, -1 and -2 have the same hash, and so have tuples of them."""
    pairs = {(a, b, c): 0 for a in (-1, -2) for b in (-1, -2) for c in (-1, -2)}
    assert round_trip(pairs) == pairs


def test_arrays_in_one_body_are_not_mixed_up() -> None:
    arrays = [np.full(i + 1, i, dtype=f"<i{size}") for i, size in enumerate([1, 2, 4, 8] * 5)]
    back = round_trip({"all": arrays, "last": b"end"})
    assert back["last"] == b"end"
    for one, other in zip(arrays, back["all"], strict=True):
        np.testing.assert_array_equal(one, other)


class TestUnsendable:
    """Values that cannot be sent are kept in the worker, or refused with a reason."""

    def test_unknown_objects_go_through_keep(self) -> None:
        kept: list[object] = []

        def keep(value: object) -> wire.Remote:
            kept.append(value)
            return wire.Remote(len(kept), type(value).__name__)

        strange = [
            np.ma.masked_array([1.0], mask=[True]),
            np.array([object()]),
            np.zeros(2, dtype=[("a", "f4")]),
            np.zeros(3).view(np.recarray),
            type("Sneaky", (np.ndarray,), {})((2,)),
            type("Claims", (), {"__class__": np.ndarray})(),
            torch.zeros(2, device="meta"),
            torch.zeros(2).to_sparse(),
            object(),
            range(3),
        ]
        back = decode(encode(strange, keep))
        assert all(type(value) is wire.Remote for value in back)
        assert [id(value) for value in kept] == [id(value) for value in strange]

    def test_tensors_are_kept_on_a_channel_without_tensors(self) -> None:
        data = encode(torch.zeros(2), lambda _: wire.Remote(1, "torch.Tensor"), tensors=False)
        assert decode(data, tensors=False) == wire.Remote(1, "torch.Tensor")
        with pytest.raises(wire.ProtocolError):
            decode(encode(torch.zeros(2)), tensors=False)

    def test_a_list_that_contains_itself(self) -> None:
        endless: list[Any] = []
        endless.append(endless)
        with pytest.raises(wire.UnsendableError, match="contains itself"):
            encode(endless)

    def test_a_view_of_terabytes(self) -> None:
        view = np.lib.stride_tricks.as_strided(np.ones(1), (2**38, 12), (0, 0))
        with pytest.raises(wire.UnsendableError, match="24 TiB"):
            encode(view)
        with pytest.raises(wire.UnsendableError, match="TiB"):
            encode(torch.ones(1).expand(2**40))

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            (10**200_000, "bits"),
            (list(range(30_000)), "parts"),
            ("x" * 2_000_000, "bytes"),
            ({object(): 3}, "object as key"),
            ({(1, object()): 3}, "object as key"),
            ({range(2)}, "set with a range as item"),
            (set(range(0, 500 * sys.hash_info.modulus, sys.hash_info.modulus)), "same hash"),
            (object(), "object"),
            (np.zeros((1,) * 33), "shape"),
            (np.zeros((0, 2**29)), "shape"),
            (np.array([0xD800], dtype="<u4").view("<U1"), "cannot be encoded"),
            ({math.nan: 1}, "key"),
        ],
        ids=[
            "integer",
            "list",
            "text",
            "dict",
            "tuple",
            "set",
            "same hash",
            "object",
            "dimensions",
            "extent",
            "surrogates",
            "NaN",
        ],
    )
    def test_other_values(self, value: object, reason: str) -> None:
        with pytest.raises(wire.UnsendableError, match=reason):
            encode(value)


SAME_HASH = [{"$": "int", "v": hex(one * sys.hash_info.modulus)} for one in range(1, 500)]
HOSTILE_FRAMES = {
    "empty": b"",
    "an incomplete prefix": wire.MAGIC,
    "another magic": struct.pack("!4sIQ", b"EVIL", 0, 0),
    "a length of 2^60": struct.pack("!4sIQ", wire.MAGIC, 4, 2**60) + b"null",
    "a header of 4 GB": struct.pack("!4sIQ", wire.MAGIC, 2**32 - 1, 0),
    "bytes after the end": frame(None) + b"x",
    "an unexpected body": frame(None, b"x"),
    "not JSON": frame(b"nope"),
    "not UTF-8": frame(b'"\xff"'),
    "two values": frame(b"1 2"),
    "NaN": frame(b"NaN"),
    "-Infinity": frame(b"-Infinity"),
    "a float beyond floats": frame(b"1e999"),
    "an integer of 5000 digits": frame(b"1" * 5000),
    "an untagged integer of 70 bits": frame(str(2**70).encode()),
    "a key given twice": frame(b'{"$":"tuple","$":"tuple","v":[]}'),
    "100 000 brackets": frame(b"[" * 100_000),
    "30 levels": frame(b"[" * 30 + b"]" * 30),
    "30 000 nodes": frame([0] * 30_000),
    "an untagged object": frame({}),
    "an unknown tag": frame({"$": "pickle", "v": "gASVCgAAAAAAAACMBXByaW50lC4="}),
    "a tag too many": frame({"$": "tuple", "v": [], "w": 0}),
    "a tag that is a list": frame({"$": [], "v": []}),
    "an object array": frame({"$": "array", "dtype": "|O", "shape": [1]}, b"\0" * 8),
    "a structured dtype": frame({"$": "array", "dtype": "f4,f4", "shape": [1]}, b"\0" * 8),
    "a dtype of millions": frame({"$": "array", "dtype": "|S99999999", "shape": [1]}),
    "a dtype of nothing": frame({"$": "array", "dtype": "|V0", "shape": [4]}),
    "an unknown unit": frame({"$": "array", "dtype": "<M8[qq]", "shape": [1]}, b"\0" * 8),
    "a negative shape": frame({"$": "array", "dtype": "<f8", "shape": [-1]}, b"\0" * 8),
    "a boolean shape": frame({"$": "array", "dtype": "<f8", "shape": [True]}, b"\0" * 8),
    "a float shape": frame({"$": "array", "dtype": "<f8", "shape": [1.0]}, b"\0" * 8),
    "a shape larger than the body": frame({"$": "array", "dtype": "<f8", "shape": [2]}, b"\0" * 8),
    "a shape that overflows": frame({"$": "array", "dtype": "<f8", "shape": [2**32, 2**32]}),
    "an empty shape that overflows": frame({"$": "array", "dtype": "<f8", "shape": [0, 2**40, 2**40]}),
    "too many dimensions": frame({"$": "array", "dtype": "<f8", "shape": [1] * 65}, b"\0" * 8),
    "a boolean of 7": frame({"$": "array", "dtype": "|b1", "shape": [1]}, b"\x07"),
    "a character beyond Unicode": frame({"$": "array", "dtype": "<U1", "shape": [1]}, b"\xff\xff\xff\x7f"),
    "a scalar with a shape": frame({"$": "scalar", "dtype": "<f8", "shape": [1]}, b"\0" * 8),
    "bytes of negative size": frame({"$": "bytes", "size": -1}, b"x"),
    "a handle below zero": frame({"$": "remote", "v": -3, "type": "x"}),
    "a dict with a list as key": frame({"$": "dict", "v": [[[1], 2]]}),
    "a dict with a set as key": frame({"$": "dict", "v": [[{"$": "set", "v": []}, 2]]}),
    "a dict with a list inside a key": frame({"$": "dict", "v": [[{"$": "tuple", "v": [[1]]}, 2]]}),
    "a dict with NaN inside a key": frame({"$": "dict", "v": [[{"$": "tuple", "v": [{"$": "float", "v": "nan"}]}, 2]]}),
    "a dict with an array as key": frame({"$": "dict", "v": [[{"$": "array", "dtype": "|i1", "shape": [1]}, 2]]}, b"x"),
    "a set of lists": frame({"$": "set", "v": [[1]]}),
    "a set with an item twice": frame({"$": "set", "v": [1, True]}),
    "a set of an object": frame({"$": "set", "v": [{"$": "remote", "v": 1, "type": "x"}]}),
    "a set that is text": frame({"$": "set", "v": "abc"}),
    "a set of numbers with one hash": frame({"$": "set", "v": SAME_HASH}),
    "a dict of numbers with one hash": frame({"$": "dict", "v": [[one, 1] for one in SAME_HASH]}),
    "a frozen set of tuples with one hash": frame(
        {"$": "frozenset", "v": [{"$": "tuple", "v": [one]} for one in SAME_HASH]}
    ),
    "a dict with a key twice": frame({"$": "dict", "v": [[1, 2], [True, 3]]}),
    "a dict entry of three": frame({"$": "dict", "v": [[1, 2, 3]]}),
    "a complex of texts": frame({"$": "complex", "v": ["a", "b"]}),
    "a float with another spelling": frame({"$": "float", "v": "NaN"}),
    "an integer that is code": frame({"$": "int", "v": "__import__('os')"}),
    "a very long hexadecimal number": frame({"$": "int", "v": "0x" + "f" * 5000}),
    "a torch attribute that is not a dtype": frame({"$": "torch.dtype", "v": "load"}),
    "a quantized dtype": frame({"$": "tensor", "dtype": "qint8", "shape": [1], "grad": False}, b"x"),
    "not a device": frame({"$": "torch.device", "v": "cpu; rm"}),
    "a device of two digits too many": frame({"$": "torch.device", "v": "cuda:200"}),
    "a device with a leading zero": frame({"$": "torch.device", "v": "cuda:01"}),
    "NaN as a key": frame({"$": "dict", "v": [[{"$": "float", "v": "nan"}, 1]]}),
    "integers with a gradient": frame({"$": "tensor", "dtype": "int8", "shape": [1], "grad": True}, b"x"),
    "a torch boolean of 7": frame({"$": "tensor", "dtype": "bool", "shape": [1], "grad": False}, b"\x07"),
    "an unknown torch tag": frame({"$": "torch.load", "v": "x"}),
}


@pytest.mark.parametrize("data", HOSTILE_FRAMES.values(), ids=HOSTILE_FRAMES.keys())
def test_hostile_frames_are_refused(data: bytes) -> None:
    with pytest.raises(wire.ProtocolError):
        decode(data)


def seed_frames() -> list[bytes]:
    pair = (np.arange(6.0).reshape(2, 3), np.float32(2.5))
    return [
        encode({"id": 3, "ok": [{"value": pair}], "printed": "hello"}),
        encode({"id": 4, "error": {"kind": "raised", "types": ["ValueError"], "line": 3}}),
        encode([np.array(["a", "bc"]), np.array([True, False]), np.array([], dtype="M8[s]")]),
        encode({"t": torch.ones(2, 2, dtype=torch.bfloat16), "d": torch.float16, "n": None}),
        encode([torch.device("cuda:1"), torch.nn.Parameter(torch.ones(1)), torch.tensor(True)]),
        encode([{(1, "a"): {2, 3}}, frozenset({(4, b"c")}), {"w", "x"}]),
        encode(({1: 2.0, "k": (math.nan, -math.inf)}, 2**80, 1j, b"raw", wire.Remote(2, "x.Y"))),
    ]


def mutated(frame_: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a frame with a few random changes to its bytes, digits or lengths."""
    data = bytearray(frame_)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data)) if data else 0
        match rng.randrange(8):
            case 0:
                data[place : place + 1] = bytes([rng.randrange(256)])
            case 1:
                del data[place : place + rng.randint(1, 12)]
            case 2:
                data[place:place] = rng.choice([b"[", b"{", b'"', b"-1", b"1e999", b"null", b"\x00", b"[]", b",0"])
            case 3:
                data[place:place] = data[place : place + rng.randint(1, 30)]
            case 4:
                data += rng.choice(others)[rng.randrange(20) :]
            case 5:
                other = rng.choice(others)
                data = data[:place] + other[rng.randrange(len(other)) :]
            case 6:
                digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
                if digits:
                    data[rng.choice(digits)] = rng.choice(b"0123456789-")
            case 7:
                _fix_lengths(data, rng)
    if rng.random() < 0.7:  # most mutants should pass the prefix and reach the JSON tree
        _fix_lengths(data, rng)
    return bytes(data)


def _fix_lengths(data: bytearray, rng: random.Random) -> None:
    if len(data) < wire.PREFIX.size:
        return
    end = data.find(b"}", wire.PREFIX.size) if rng.random() < 0.3 else data.rfind(b"}") + 1
    end = max(end, wire.PREFIX.size)
    header = end - wire.PREFIX.size
    data[: wire.PREFIX.size] = wire.PREFIX.pack(wire.MAGIC, header, len(data) - end)


def test_mutated_frames_raise_only_protocol_error() -> None:
    rng = random.Random(20260810)
    seeds = seed_frames()
    refused = accepted = 0
    for _ in range(MUTATED_FRAMES):
        data = mutated(rng.choice(seeds), seeds, rng)
        try:
            decode(data)
            accepted += 1
        except wire.ProtocolError:
            refused += 1
    # If all frames were refused at the prefix, or none at all, this test would prove nothing.
    assert refused > MUTATED_FRAMES / 2
    assert accepted > MUTATED_FRAMES / 100


def test_lengths_over_the_limit_are_refused_before_reading() -> None:
    for header, body in ((wire.MAX_HEADER + 1, 0), (0, wire.MAX_BODY + 1)):
        with pytest.raises(wire.ProtocolError):
            lengths(wire.PREFIX.pack(wire.MAGIC, header, body))
