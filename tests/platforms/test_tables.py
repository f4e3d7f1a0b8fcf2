"""CSV tables: one line for each student, or one line for each check."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.platforms.conftest import FORMULA, Graded


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def test_one_line_for_each_student(graded: Graded, tmp_path: Path) -> None:
    done = graded.export("csv", graded.reports, "--out", tmp_path / "t.csv")
    assert done.returncode == 3
    rows = {row["id"]: row for row in table(tmp_path / "t.csv")}
    assert list(rows["101"]) == ["id", "name", "section", "01_tiny", "01_tiny status", "total", "of", "note"]
    assert rows["101"]["name"] == "Åström-Ünal, Ana 李"
    assert rows["107"]["name"] == f"'{FORMULA}"
    assert (rows["102"]["01_tiny"], rows["102"]["total"], rows["102"]["of"]) == ("9", "9", "10")
    for who, status in (("104", "grader_fault"), ("105", "not_graded"), ("106", "missing")):
        assert (rows[who]["01_tiny"], rows[who]["01_tiny status"]) == ("", status)
    totals = {who: (row["total"], row["of"], row["note"]) for who, row in rows.items()}
    assert totals["104"] == totals["105"] == ("", "", "01 is not graded: not counted")
    assert totals["106"] == ("0", "10", "01 is missing")


def test_one_line_for_each_check(graded: Graded, tmp_path: Path) -> None:
    graded.export("csv", graded.reports, "--out", tmp_path / "t.csv", "--checks")
    rows = table(tmp_path / "t.csv")
    assert {row["kind"] for row in rows} == {"visible", "hidden"}
    assert sum(float(row["earned"]) for row in rows if row["id"] == "101") == 10
    assert all(row["earned"] == "" for row in rows if row["id"] == "104")
