"""Points in time and lengths of time, as people write them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_WORDS = r"m|min|mins|minutes?|h|hrs?|hours?|d|days?|w|weeks?"
_LENGTH = re.compile(rf"(\d{{1,6}}(?:\.\d{{1,6}})?)\s*({_WORDS})", re.IGNORECASE)


class TimeError(Exception):
    """A text that is no time, and how one is written."""


def read_time(text: str) -> datetime:
    """Return a point in time: ISO 8601, or as nbgrader writes it; without a zone it is this machine's.

    A date alone is the last moment of that day: `due on the 1st` includes it.
    """
    bare = text.strip()
    try:
        if ":" not in bare and "T" not in bare:
            return datetime.combine(date.fromisoformat(bare), time.max).astimezone()
        utc = re.fullmatch(r"(.*\d)\s*(?:UTC|Z)", bare)
        if utc:
            return datetime.fromisoformat(utc[1]).replace(tzinfo=UTC)
        when = datetime.fromisoformat(bare)
        return when.astimezone() if when.tzinfo is None else when
    except (ValueError, OverflowError, OSError):
        fix = "write it like 2026-10-01 23:59, with +02:00 or UTC after it where this machine is in another zone"
        raise TimeError(f"{bare!r} is no point in time: {fix}") from None


def read_length(text: str) -> timedelta:
    """Return a length of time such as `90m`, `36h`, `2d` or `1w`."""
    match = _LENGTH.fullmatch(text.strip())
    if match is None:
        raise TimeError(f"{text.strip()!r} is no length of time: write it like 15m, 36h, 2d or 1w")
    return float(match[1]) * _UNITS[match[2][0].lower()]


def show_length(length: timedelta) -> str:
    """Return a length of time in the two largest units that it has: `1 d 3 h`."""
    minutes = max(1, round(length.total_seconds() / 60))
    parts = [(minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count) if minutes < 1440 else _days(parts)


def _days(parts: list[tuple[int, str]]) -> str:
    return " ".join(f"{count} {unit}" for count, unit in parts[:2] if count)
