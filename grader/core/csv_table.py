"""CSV tables that hide nothing and that no spreadsheet runs as a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from grader.core.safe_text import visible_line

# Spreadsheets run a text as a formula if it begins with one of these characters, full-width forms and leading blanks
# included. An apostrophe in front stops them. A text that already has one gets another, so that reading restores it.
_FORMULA = r"'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])"
_RISKY = re.compile(_FORMULA)
_GUARDED = re.compile("'(?=" + _FORMULA + ")")
_ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_DELIMITERS = ",;\t"
_PREAMBLE = re.compile(r"\A(?:\s*\n|sep=.\s*\n)+", re.IGNORECASE)  # blank lines, and the `sep=` line that Excel reads

Value = str | float | bool | None


class CsvError(Exception):
    """The reason why a file cannot be read as a table."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Return a table as CSV (RFC 4180). Every text is quoted, because spreadsheets guess types differently.

    A text is one line, with an escape for everything that could hide or forge text. Other texts can be read back.
    """
    return "".join(csv_lines(header, rows))


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> Iterator[str]:
    """Yield the lines of a table, as `csv_text` writes them, with only one row in memory."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    for row in chain([header], ([_cell_value(value) for value in row] for row in rows)):
        writer.writerow(row)
        yield file.getvalue()
        file.seek(0)
        file.truncate()


def read_csv(data: bytes) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file, each with its line number, by column name in lower case.

    Columns are separated by commas, semicolons or tabs. The text is UTF-8, or UTF-16 as spreadsheets save it.
    Empty rows are skipped.
    """
    rows: list[tuple[int, dict[str, str]]] = []
    reader = _reader(data)
    try:
        header = [_cell_text(name).casefold() for name in next(reader, [])]
        last_line = reader.line_num
        for cells in reader:
            line, last_line = last_line + 1, reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if any(cell.strip() for cell in cells[len(header) :]):
                raise CsvError(f"line {line} has {len(cells)} fields, but the first line has {len(header)}")
            values = [_cell_text(cell) for cell in cells[: len(header)]] + [""] * (len(header) - len(cells))
            rows.append((line, {name: value for name, value in zip(header, values, strict=True) if name}))
    except csv.Error as error:
        raise CsvError(f"is not a CSV file: {error} in line {reader.line_num}") from None
    duplicate = next((name for name in header if name and header.count(name) > 1), "")
    if duplicate:
        raise CsvError(f"has two columns named {duplicate!r}")
    return rows


def column_names(data: bytes) -> list[str]:
    """Return the names of the columns of a CSV file as they are written."""
    reader = _reader(data)
    try:
        return [_cell_text(name) for name in next(reader, [])]
    except csv.Error as error:
        raise CsvError(f"is not a CSV file: {error} in line {reader.line_num}") from None


def _reader(data: bytes) -> Any:
    try:
        text = data.decode(next((name for mark, name in _ENCODINGS.items() if data.startswith(mark)), "utf-8"))
    except UnicodeDecodeError as error:
        raise CsvError(f"is not UTF-8 text (byte {error.start}). Save it as CSV UTF-8") from None
    text = _PREAMBLE.sub("", text)
    first_line = text.splitlines()[0] if text.strip() else ""
    delimiter = max(_DELIMITERS, key=first_line.count)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _cell_value(value: Value) -> str | float:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            shown = visible_line(value)
            return f"'{shown}" if _RISKY.match(shown) else shown
    return int(value) if value == int(value) else round(value, 6)


def _cell_text(cell: str) -> str:
    return _GUARDED.sub("", cell, count=1).strip() if _GUARDED.match(cell) else cell.strip()
