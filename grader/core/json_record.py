"""Frozen dataclasses as JSON data: `to_json` writes a record, `from_json` reads and checks one."""

from __future__ import annotations

import dataclasses
import json
import re
import reprlib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from textwrap import indent
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from grader.core.safe_text import visible

Record = TypeVar("Record")
_Reader = Callable[[Any], Any]

# The types that a JSON parser gives for each simple type. It gives an int for a float written without a point.
_SIMPLE: dict[Any, frozenset[type]] = {
    str: frozenset({str}),
    bool: frozenset({bool}),
    int: frozenset({int}),
    float: frozenset({float, int}),
    types.NoneType: frozenset({types.NoneType}),
}
_COPIED = frozenset().union(*_SIMPLE.values())
_KEY = "json"
_OMITTED = "omitted"
OMITTED_IF_NONE = {_OMITTED: True}  # the metadata of a field that is in the JSON only if it is not None
_NOT_ASCII = re.compile("[^ -~]")


def json_text(data: Any, *, allow_nan: bool = True) -> str:
    """Return data as JSON text that is safe to print: JSON's own escapes for characters that could hide or forge text.

    A reader of the JSON gets exactly the same data.
    """
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=allow_nan)
    return "\n".join(map(_escaped, text.split("\n")))  # JSON has line ends only between its strings


def json_list_parts(records: Iterable[Any]) -> Iterator[str]:
    """Yield the JSON text of a list of records, as `json_text` would write it, one record at a time."""
    before = "[\n"
    for record in records:
        yield before + indent(json_text(to_json(record)), " ")
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


def _escaped(line: str) -> str:
    return line if visible(line) == line else _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], line)


def json_key(key: str | None) -> dict[str, str | None]:
    """Return the metadata of a field that has another key in the JSON, or with None is not in the JSON."""
    return {_KEY: key}


def to_json(record: Any) -> dict[str, Any]:
    """Return a record as JSON data, with its keys in the order of its fields."""
    cls: Any = type(record)
    data = {}
    for name, key, omitted in _keys(cls):
        value = getattr(record, name)
        if value is None and omitted:
            continue
        data[key] = value if type(value) in _COPIED else _plain(value)
    return data


def from_json(record_class: type[Record], data: Any) -> Record:
    """Return the record that JSON data describes; ValueError if a field is missing or has another type.

    A missing field gets its default if it has one. Keys that the record does not have are ignored.
    """
    cls: Any = record_class
    if type(data) is not dict:
        raise ValueError(f"{cls.__name__}: {reprlib.repr(data)} is not an object")
    values = {}
    for name, key, simple, read, required in _readers(cls):
        if key in data:
            value = data[key]
            try:
                values[name] = value if type(value) in simple else read(value)
            except ValueError as error:
                raise ValueError(f"{cls.__name__}.{key}: {error}") from None
        elif required:
            raise ValueError(f"{cls.__name__}: {key} is missing")
    return record_class(**values)


def _plain(value: Any) -> Any:
    if type(value) in _COPIED:
        return value
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return to_json(value)


@cache
def _keys(cls: type) -> tuple[tuple[str, str, bool], ...]:
    """Return the fields of a class that are in its JSON: name, key, and whether it is left out if it is None."""
    fields = [(field, field.metadata.get(_KEY, field.name)) for field in dataclasses.fields(cls)]
    return tuple((field.name, key, field.metadata.get(_OMITTED, False)) for field, key in fields if key is not None)


class _Field(NamedTuple):
    """How a field of a record is read."""

    name: str
    key: str  # in the JSON
    simple: frozenset[type]  # values of these types are taken as they are
    read: _Reader  # for all others
    required: bool


@cache
def _readers(cls: type) -> tuple[_Field, ...]:
    """Return how each field of a class is read."""
    hints = get_type_hints(cls)
    required = {
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    return tuple(_Field(name, key, *_reader(hints[name]), name in required) for name, key, _ in _keys(cls))


@cache
def _reader(hint: Any) -> tuple[frozenset[type], _Reader]:
    """Return how a value of a type is read: the types to take as they are, and a reader for all others."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _SIMPLE[hint], _refuse(hint.__name__)
    if origin is Literal:
        return frozenset(), _literal(arguments)
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is tuple and arguments[1:] == (...,):
        return frozenset(), _tuple(arguments[0])
    if origin is tuple:
        return frozenset(), _fixed_tuple(arguments)
    if origin in (dict, Mapping) and arguments[0] is str:
        return frozenset(), _mapping(arguments[1])
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return frozenset(), lambda value: from_json(hint, value)
    raise TypeError(f"a record cannot have a field of type {hint}")


def _refuse(wanted: str) -> _Reader:
    def read(value: Any) -> Any:
        raise ValueError(f"{reprlib.repr(value)} is not {wanted}")

    return read


def _literal(allowed: tuple[Any, ...]) -> _Reader:
    refuse = _refuse(f"one of {', '.join(map(repr, allowed))}")

    def read(value: Any) -> Any:
        return value if type(value) is str and value in allowed else refuse(value)

    return read


def _union(alternatives: tuple[Any, ...]) -> tuple[frozenset[type], _Reader]:
    """Take the simple alternatives as they are; at most one alternative may need reading."""
    readers = [_reader(one) for one in alternatives]
    reading = [read for one, (_, read) in zip(alternatives, readers, strict=True) if one not in _SIMPLE]
    if len(reading) > 1:
        raise TypeError(f"a record cannot choose between {alternatives}")
    names = " or ".join(getattr(one, "__name__", str(one)) for one in alternatives)
    return frozenset().union(*(simple for simple, _ in readers)), reading[0] if reading else _refuse(names)


def _tuple(hint: Any) -> _Reader:
    simple, read = _reader(hint)

    def read_all(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise ValueError(f"{reprlib.repr(value)} is not a list")
        return tuple([one if type(one) in simple else read(one) for one in value])

    return read_all


def _fixed_tuple(hints: tuple[Any, ...]) -> _Reader:
    readers = [_reader(hint) for hint in hints]

    def read_each(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or len(value) != len(readers):
            raise ValueError(f"{reprlib.repr(value)} is not a list of {len(readers)}")
        both = zip(value, readers, strict=True)
        return tuple([one if type(one) in simple else read(one) for one, (simple, read) in both])

    return read_each


def _mapping(hint: Any) -> _Reader:
    simple, read = _reader(hint)

    def read_all(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise ValueError(f"{reprlib.repr(value)} is not an object")
        return {key: one if type(one) in simple else read(one) for key, one in value.items()}

    return read_all
