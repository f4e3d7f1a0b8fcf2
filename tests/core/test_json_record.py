"""Records as JSON data: what is written is read again, and data that does not fit is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from grader.core.json_record import from_json, json_key, json_list_parts, json_text, to_json
from grader.submission.submission import Source, Submission


@dataclass(frozen=True)
class Part:
    """A nested record."""

    name: str
    points: float
    line: int | None = None


@dataclass(frozen=True)
class Whole:
    """A record with a field of every type that records may have."""

    flag: bool
    count: int
    outcome: Literal["passed", "failed"]
    parts: tuple[Part, ...]
    best: Part | None
    versions: Mapping[str, str | None]
    pair: tuple[str, int]
    score: float | None = field(metadata=json_key("points"))
    seen: str = field(default="", metadata=json_key(None))


DATA: dict[str, Any] = {
    "flag": True,
    "count": 3,
    "outcome": "passed",
    "parts": [{"name": "a", "points": 1, "line": None}, {"name": "b", "points": 0.5, "line": 7}],
    "best": None,
    "versions": {"python": "3.12", "torch": None},
    "pair": ["a", 1],
    "points": 1.5,
}


def test_written_data_is_read_again_as_it_was() -> None:
    text = json.dumps(DATA)
    assert json.dumps(to_json(from_json(Whole, json.loads(text)))) == text  # 1 stays 1, and the order of keys stays


def test_nested_records_are_read_as_their_classes() -> None:
    record = from_json(Whole, DATA | {"best": {"name": "c", "points": 2.0}})
    assert record.parts[1] == Part("b", 0.5, 7)
    assert record.best == Part("c", 2.0)  # a missing field has its default
    assert record.score == 1.5


def test_a_field_without_a_key_is_neither_written_nor_read() -> None:
    assert from_json(Whole, DATA | {"seen": "by the student"}).seen == ""
    assert "seen" not in to_json(from_json(Whole, DATA))


def test_unknown_keys_are_ignored() -> None:
    assert from_json(Whole, DATA | {"new": 1}) == from_json(Whole, DATA)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"flag": 1}, "Whole.flag: 1 is not bool"),
        ({"count": True}, "Whole.count: True is not int"),
        ({"count": 1.0}, "Whole.count: 1.0 is not int"),
        ({"outcome": "lost"}, "Whole.outcome: 'lost' is not one of 'passed', 'failed'"),
        ({"outcome": []}, "is not one of"),
        ({"parts": {}}, "is not a list"),
        ({"parts": [None]}, "Whole.parts: Part: None is not an object"),
        ({"parts": [{"name": "a"}]}, "Whole.parts: Part: points is missing"),
        ({"parts": [{"name": "a", "points": "1"}]}, "Whole.parts: Part.points: '1' is not float"),
        ({"best": "a"}, "Whole.best: Part: 'a' is not an object"),
        ({"versions": []}, "is not an object"),
        ({"versions": {"python": 3}}, "Whole.versions: 3 is not str or NoneType"),
        ({"pair": ["a", "1"]}, "Whole.pair: '1' is not int"),
        ({"pair": ["a"]}, r"Whole.pair: \['a'\] is not a list of 2"),
        ({"points": "1"}, "Whole.points: '1' is not float or NoneType"),
    ],
)
def test_data_of_another_type_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_json(Whole, DATA | change)


@pytest.mark.parametrize("key", DATA)
def test_a_missing_field_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=f"Whole: {key} is missing"):
        from_json(Whole, {name: value for name, value in DATA.items() if name != key})


@pytest.mark.parametrize("data", [None, [], "text", 1])
def test_data_that_is_not_an_object_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="is not an object"):
        from_json(Whole, data)


def test_a_submission_arrives_in_a_grading_process_as_it_was_sent() -> None:
    sources = {"softmax": Source("softmax.ipynb", ("x = 1", "# \udcff"), notebook=True)}
    submission = Submission("ana", "01_softmax", "softmax.ipynb", sources, problem="", lost="the disk failed")
    assert from_json(Submission, json.loads(json.dumps(to_json(submission)))) == submission


def test_a_list_of_records_is_the_text_of_their_data() -> None:
    @dataclass(frozen=True)
    class Line:
        name: str
        values: tuple[int, ...]

    for lines in ([], [Line("a", ())], [Line('b\n"\u202e', (1, 2)), Line("é", (3,))]):
        assert "".join(json_list_parts(lines)) == json_text([to_json(line) for line in lines])
