"""What PrairieLearn and Classroom 50 accept as a result, as rules of ours. Each yields what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MEBIBYTE = 1024 * 1024


def prairielearn_problems(text: str) -> Iterator[str]:
    """Yield what PrairieLearn would not record as it is meant: size, score, points of every test."""
    if len(text.encode()) > MEBIBYTE:
        yield "larger than a mebibyte"
    data = json.loads(text)
    score = data.get("score")
    if data.get("gradable", True):
        if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 1:
            yield f"score {score!r} is no number from 0 to 1"
    elif score or not data.get("format_errors"):
        yield "not gradable, with a score or without a reason"
    for test in data.get("tests", []):
        if not all(isinstance(test.get(name), (int, float)) for name in ("points", "max_points")):
            yield f"{test.get('name')!r} has no points, so those of all tests are hidden"
        if not isinstance(test.get("name"), str) or not isinstance(test.get("message", ""), str):
            yield f"{test!r} has a text that is none"


# The keys of a result of Classroom 50, and what their values are; any other key is refused.
_TEXTS = ("classroom", "assignment", "owner", "commit", "release", "review")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_OTHERS = ("schema", "assignment_type", "submission", "datetime", "score", "max-score", "tests")


def classroom50_problems(data: dict[str, Any]) -> Iterator[str]:
    """Yield what Classroom 50 would refuse: texts, links, whole numbers, and sums that do not agree."""
    if data.get("schema") != "classroom50/result/v1":
        yield "another schema"
    yield from (f"{key} is missing" for key in (*_TEXTS, *_OTHERS) if key not in data)
    yield from (f"{key} is not known" for key in data if key not in (*_TEXTS, *_OTHERS, "graded_at", "submitted_by"))
    yield from (f"{key} is empty" for key in _TEXTS if not isinstance(data.get(key), str) or not data[key])
    if data.get("assignment_type") not in ("individual", "group"):
        yield "no type"
    if not str(data.get("submission")).startswith("submit/") or not _TIME.fullmatch(str(data.get("datetime"))):
        yield "no submission, or no time"
    for part in (data, *data.get("tests", [])):
        score, most = part.get("score"), part.get("max-score")
        if type(score) is not int or type(most) is not int or not 0 <= score <= most:
            yield f"{score!r} of {most!r} are no whole numbers"
    for test in data.get("tests", []):
        if not test.get("test-name") or type(test.get("passed")) is not bool:
            yield f"{test!r} has no name or no outcome"
    for key in ("score", "max-score"):
        if data.get("tests") and data.get(key) != sum(test[key] for test in data["tests"]):
            yield f"{key} is not the sum of the tests"
