"""CSV tables: every text of one line survives writing and reading, and no spreadsheet runs one as a formula."""

from __future__ import annotations

import csv
import io

import pytest

from grader.core.csv_table import CsvError, csv_text, read_csv

NAMES = [
    "Ana Silva",
    "Silva, Ana",
    'Ana "the mask" Silva',
    "Анна Ÿ 王小明 🙂 e\u0301",
    '=HYPERLINK("http://x","y")',
    "=1+1",
    "+49 30",
    "-1",
    "@SUM(A1)",
    "'=quoted",
    "''=twice",
    "'tis",
    "＝1+1",
    "a=1",
    "a;b",
    "007",
]


def test_every_name_survives_and_none_is_a_formula() -> None:
    text = csv_text(["id", "name"], [[f"s{i}", name] for i, name in enumerate(NAMES)])
    for row in list(csv.reader(io.StringIO(text, newline="")))[1:]:
        assert len(row) == 2
        assert not row[1].lstrip().startswith(("=", "+", "-", "@", "＝"))
    assert [row["name"] for _, row in read_csv(text.encode())] == NAMES


@pytest.mark.parametrize(
    ("name", "cell"),
    [(" =1+1", "' =1+1"), ("\t=1+1", "\\t=1+1"), ("\n=1", "\\n=1"), ("\r-1", "\\u{d}-1"), ("\u200b=1", "\\u{200b}=1")],
)
def test_formula_after_blanks_is_escaped(name: str, cell: str) -> None:
    text = csv_text(["name"], [[name]])
    (row,) = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert row == [cell]


def test_numbers_stay_numbers() -> None:
    text = csv_text(["a", "b", "c", "d", "e"], [[-1.5, 46.0, None, True, 1 / 3]])
    assert text.splitlines()[1] == '-1.5,46,"","yes",0.333333'


@pytest.mark.parametrize(
    "data",
    [
        "id,name\nana,José\n".encode(),
        "\ufeffID , Name\r\nana,José\r\n\r\n".encode(),
        "id;name\nana;José\n".encode(),
        "id\tname\nana\tJosé\n".encode("utf-16"),
        "id,name,,\nana,José,,\n,,,\n".encode(),
        "id,name\nana,José,\n".encode(),
    ],
)
def test_reads_files_saved_by_spreadsheets(data: bytes) -> None:
    assert read_csv(data) == [(2, {"id": "ana", "name": "José"})]


def test_lines_before_the_table_are_skipped() -> None:
    assert [row for _, row in read_csv("\nsep=;\nid;name\nana;José\n".encode())] == [{"id": "ana", "name": "José"}]


def test_multiline_row_has_the_number_of_its_first_line() -> None:
    rows = read_csv(b'id,name\nana,"A\nS"\nben,B\n')
    assert [line for line, _ in rows] == [2, 4]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("id,name\nana,José\n".encode("latin-1"), "not UTF-8"),
        (b'id,name\nana,"open\n', "not a CSV"),
        (b"id,id\na,b\n", "two columns named 'id'"),
        (b"id\na,b\n", "line 2 has 2 fields"),
    ],
)
def test_bad_table_raises_csv_error(data: bytes, words: str) -> None:
    with pytest.raises(CsvError, match=words):
        read_csv(data)
