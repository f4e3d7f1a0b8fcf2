"""A table on disk is a dict that is always in order; a list on disk is a list."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.core.disk_table import DiskList, DiskTable, Form, form_of

# Texts that bytes could put in another order, or mix up with two texts.
TEXTS = ["", "a", "a\x00", "a\x00b", "a\x01", "ab", "b", "é", "\udcff", "\uffff", "𝄞", "\x00"]


NUMBERS: Form[int] = Form(int, int)
STRINGS: Form[str] = Form(str, str)


@dataclass(frozen=True)
class Line:
    """A record."""

    text: str
    seconds: float
    pairs: tuple[tuple[str, int], ...]


def test_a_table_is_a_dict_in_the_order_of_its_keys() -> None:
    chance = random.Random(0)
    table = DiskTable(NUMBERS)
    expected: dict[tuple[str, ...], int] = {}
    for number in range(2000):
        key = tuple(chance.choices(TEXTS, k=chance.randint(1, 3)))
        table[key] = expected[key] = number
    assert len(table) == len(expected)
    assert list(table) == [expected[key] for key in sorted(expected)]
    assert all(table.get(key) == value and key in table for key, value in expected.items())
    for first in TEXTS:
        theirs = [expected[key] for key in sorted(expected) if key[0] == first]
        assert list(table.starting_with((first,))) == theirs
        assert ((first,) in table) == bool(theirs)
    assert table.get(("nobody",)) is None
    assert ("nobody",) not in table


def test_a_table_knows_in_which_order_its_keys_came() -> None:
    table = DiskTable(NUMBERS)
    for number, key in enumerate([*TEXTS, *reversed(TEXTS)]):
        table[key, "x"] = number
    assert list(table.as_put()) == list(reversed(range(len(TEXTS), 2 * len(TEXTS))))


def test_values_may_be_put_while_others_are_read() -> None:
    table = DiskTable(NUMBERS)
    for number in range(250):
        table[str(number), "old"] = number
    for value in table:
        table[str(value), "new"] = -1
    assert len(table) == 500


def test_a_list_on_disk_is_a_list() -> None:
    texts = [f"item {number}" for number in range(1200)]
    found = DiskList(STRINGS, texts)
    assert list(found) == texts
    assert (found[0], found[-1], found[3:5], len(found)) == (texts[0], texts[-1], texts[3:5], len(texts))
    assert "item 7" in found
    assert not DiskList(STRINGS)
    with pytest.raises(IndexError):
        found[1200]


def test_a_record_is_read_as_it_was() -> None:
    lines = [Line(text, 0.1, ((text, number),)) for number, text in enumerate(TEXTS)]
    assert list(DiskList(form_of(Line), lines)) == lines


def test_a_full_disk_is_an_error_of_the_system() -> None:
    table = DiskTable(STRINGS)
    table._file.execute("pragma max_page_count = 2")
    with pytest.raises(OSError, match=r"full: 'a temporary file") as found:
        table["too much",] = "x" * 100_000
    assert found.value.errno == errno.ENOSPC


FILL = """
import os
from grader.core.disk_table import DiskTable, Form
table = DiskTable(Form(str, str))
for number in range(2000):
    table[str(number),] = "x" * 1000
print(sum(map(len, table)), os.listdir(os.environ["SQLITE_TMPDIR"]))
os._exit(0)
"""


def test_a_table_leaves_no_file_behind(tmp_path: Path) -> None:
    # Even while it is there it has no name, so nothing stays after a crash.
    environment = {**os.environ, "SQLITE_TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FILL], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["2000000", "[]\n"]
