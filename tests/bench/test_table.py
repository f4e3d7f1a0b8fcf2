"""The table of the benchmark: rows that fail it, and the format of figures."""

from __future__ import annotations

import json

import pytest

from docs.bench.row import ANY, Limit, Row, Unit, costs, figure
from docs.bench.table import as_json, as_text


@pytest.mark.parametrize(
    ("limit", "ratio", "verdict"),
    [
        (Limit(most=1.1), 1.1, "ok"),
        (Limit(most=1.1), 1.2, "NOT"),
        (Limit(least=25, goal=50), 24.0, "NOT"),
        (Limit(least=25, goal=50), 30.0, "under its goal"),
        (Limit(least=25, goal=50), 60.0, "ok"),
        (Limit(goal=100), 3.0, "under its goal"),
        (ANY, 3.0, ""),
    ],
)
def test_a_limit_fails_and_a_goal_does_not(limit: Limit, ratio: float, verdict: str) -> None:
    assert limit.verdict(ratio) == verdict


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (61.23, "s", "61.2 s"),
        (0.0123, "s", "12.3 ms"),
        (1.4e-6, "s", "1.40 µs"),
        (0.571, "/s", "0.571 /s"),
        (1234.0, "/s", "1234 /s"),
        (51.4e6, "B", "51.4 MB"),
        (4500, "B", "4.50 kB"),
        (180, "", "180"),
    ],
)
def test_a_figure_has_three_digits_and_its_unit(value: float, unit: Unit, text: str) -> None:
    assert figure(value, unit) == text


def test_the_table_and_its_json_have_the_same_rows() -> None:
    rows = [costs("a loop", "attn test", 0.6, ("import numpy", 0.2), most=4), Row("b", "x", 2, "y", 1, 2.0, "/s")]
    text = as_text(rows, {"cores": "2"})
    assert "a loop\n  attn test   600 ms  200 ms import numpy  3.00 x  at most 4  ok\n" in text
    document = json.loads(as_json(rows, {"cores": "2"}, {"peers": "no network"}))
    assert [row["ratio"] for row in document["rows"]] == [pytest.approx(3.0), 2.0]
    assert document["not_measured"] == {"peers": "no network"}
