"""Tables on disk: a class may have any number of students, and needs no more memory for it."""

from __future__ import annotations

import errno
import json
import sqlite3
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, overload

from grader.core.json_record import from_json, to_json

T = TypeVar("T")
Key = tuple[str, ...]

_CACHE = 512  # kB of a table that stay in memory
_PAGE = 100  # values that are read at once
_PUT = "insert into entry values (?, ?) on conflict (key) do update set value = excluded.value"  # the row stays
_JSON = json.JSONEncoder(separators=(",", ":"))  # ASCII: a file name may have half of a pair of surrogates


@dataclass(frozen=True)
class Form(Generic[T]):
    """How a value is written as JSON data, and read again."""

    to_data: Callable[[T], Any]
    from_data: Callable[[Any], T]


def form_of(record_class: type[T]) -> Form[T]:
    """Return the form of a frozen dataclass that has nothing but JSON data."""
    return Form(to_json, partial(from_json, record_class))


class DiskTable(Generic[T]):
    """Values under keys, in the order of the keys, in a temporary file of this process."""

    def __init__(self, form: Form[T]) -> None:
        # SQLite makes the file when the cache is full, and removes it by itself. Who shares a table among threads
        # lets them take turns.
        self._file = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._file.execute("pragma journal_mode = off")
        self._file.execute(f"pragma cache_size = -{_CACHE}")
        self._file.execute("create table entry (key blob primary key, value text)")
        weakref.finalize(self, self._file.close)  # Python 3.13 warns if it stays open
        self._form = form

    def __setitem__(self, key: Key, value: T) -> None:
        """Put a value in place of the one that is there; OSError if the disk for temporary files is full."""
        row = _column(key), _JSON.encode(self._form.to_data(value))
        try:
            self._file.execute(_PUT, row)
        except sqlite3.OperationalError as error:
            raise OSError(errno.ENOSPC, str(error), "a temporary file (in TMPDIR, or else /var/tmp)") from None

    def __contains__(self, key: Key) -> bool:
        """Whether there is a value whose key begins with these texts."""
        query = "select 1 from entry where key > ? and key < ? limit 1"
        return self._file.execute(query, _between(key)).fetchone() is not None

    def get(self, key: Key) -> T | None:
        """Return the value of a key, if there is one."""
        row = self._file.execute("select value from entry where key = ?", [_column(key)]).fetchone()
        return self._read(row[0]) if row else None

    def _read(self, text: str) -> T:
        return self._form.from_data(json.loads(text))

    def __len__(self) -> int:
        (count,) = self._file.execute("select count(*) from entry").fetchone()
        return int(count)

    def __iter__(self) -> Iterator[T]:
        """Yield the values. While it lasts, others may be put."""
        return self.starting_with(())

    def starting_with(self, key: Key) -> Iterator[T]:
        """Yield the values whose keys begin with these texts."""
        yield from self._pages("key", *_between(key))

    def as_put(self) -> Iterator[T]:
        """Yield the values in the order in which their keys were first put."""
        yield from self._pages("rowid", 0, sys.maxsize)

    def _pages(self, column: str, after: object, end: object) -> Iterator[T]:
        query = f"select {column}, value from entry where {column} > ? and {column} < ? order by {column} limit {_PAGE}"
        while rows := self._file.execute(query, [after, end]).fetchall():
            after = rows[-1][0]
            for _, value in rows:
                yield self._read(value)


class DiskList(Sequence[T]):
    """A list whose items are on disk. See `DiskTable`."""

    def __init__(self, form: Form[T], items: Iterable[T] = ()) -> None:
        self._table = DiskTable(form)
        self._length = 0
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        """Add an item at the end."""
        self._table[_number(self._length)] = item
        self._length += 1

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return iter(self._table)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        found = self._table.get(_number(range(len(self))[index]))
        assert found is not None
        return found


def _column(key: Key) -> bytes:
    """Return a key as bytes in the same order. A file name may have half of a pair of surrogates."""
    texts = (text.encode("utf-8", "surrogatepass") for text in key)
    return b"".join(text.replace(b"\x00", b"\x00\xff") + b"\x00" for text in texts)


def _between(key: Key) -> tuple[bytes, bytes]:
    """Return what the columns of all keys that begin with these texts are between."""
    start = _column(key)
    return start[:-1], start + b"\xff"  # which no UTF-8 text has


def _number(position: int) -> Key:
    return (f"{position:012d}",)
