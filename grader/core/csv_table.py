"""Sheets: CSV that keeps every text as it is, and that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

# What spreadsheets run: a text that begins with one of these, also in full width, also behind blanks. Behind an
# apostrophe they leave it alone; a text that has one there already gets another, so that reading undoes it exactly.
_FORMULA = r"'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])"
_RISKY = re.compile(_FORMULA)
_GUARDED = re.compile("'(?=" + _FORMULA + ")")
_ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_DELIMITERS = ",;\t"
_PREAMBLE = re.compile(r"\A(?:\s*\n|sep=.\s*\n)+", re.IGNORECASE)  # blank lines, and what one spreadsheet adds

Value = str | float | bool | None


class CsvError(Exception):
    """A file that cannot be read as a table, and why."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Return a table as CSV (RFC 4180), every text in quotes: spreadsheets differ in what else they take for one."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(header)
    for row in rows:
        writer.writerow([_written(value) for value in row])
    return file.getvalue()


def read_csv(data: bytes) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file, each with its line, by the names in its first line, folded and stripped.

    Commas, semicolons or tabs; UTF-8, or UTF-16 as spreadsheets save it. Rows with nothing in them are left out.
    """
    try:
        text = data.decode(next((name for mark, name in _ENCODINGS.items() if data.startswith(mark)), "utf-8"))
    except UnicodeDecodeError as error:
        raise CsvError(f"is not UTF-8 text (byte {error.start}); save it as CSV UTF-8") from None
    text = _PREAMBLE.sub("", text)
    first = text.splitlines()[0] if text.strip() else ""
    delimiter = max(_DELIMITERS, key=first.count)
    rows: list[tuple[int, dict[str, str]]] = []
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = [_stripped(name).casefold() for name in next(reader, [])]
        last = reader.line_num
        for cells in reader:
            line, last = last + 1, reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if any(cell.strip() for cell in cells[len(header) :]):
                raise CsvError(f"line {line} has {len(cells)} fields, the first line {len(header)}")
            values = [_stripped(cell) for cell in cells[: len(header)]] + [""] * (len(header) - len(cells))
            rows.append((line, {name: value for name, value in zip(header, values, strict=True) if name}))
    except csv.Error as error:
        raise CsvError(f"is no CSV: {error} in line {reader.line_num}") from None
    twice = next((name for name in header if name and header.count(name) > 1), "")
    if twice:
        raise CsvError(f"has two columns named {twice!r}")
    return rows


def _written(value: Value) -> str | float:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            return f"'{value}" if _RISKY.match(value) else value
    return int(value) if value == int(value) else round(value, 6)


def _stripped(cell: str) -> str:
    return _GUARDED.sub("", cell, count=1).strip() if _GUARDED.match(cell) else cell.strip()
