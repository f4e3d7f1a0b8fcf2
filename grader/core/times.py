"""Times and durations, as people write them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_UNIT_NAMES = r"m|min|mins|minutes?|h|hrs?|hours?|d|days?|w|weeks?"
# To Python, the offset behind a date alone would be a time of that day.
_DAY_IN_ZONE = re.compile(r"(\d{4}-\d\d-\d\d)\s*(UTC|Z|[+-]\d\d:?\d\d)")
_DURATION = re.compile(rf"(\d{{1,6}}(?:\.\d{{1,6}})?)\s*({_UNIT_NAMES})", re.IGNORECASE)


class TimeError(Exception):
    """A text that is not a time, and how to write one."""


def read_time(text: str) -> datetime:
    """Read a time in ISO 8601 or in nbgrader's format. Without a time zone it is local time.

    A date alone means the end of that day: `due on the 1st` includes the 1st.
    """
    stripped = text.strip()
    day = _DAY_IN_ZONE.fullmatch(stripped)
    whole = f"{day[1]}T{time.max}{day[2]}" if day else stripped
    try:
        if ":" not in whole and "T" not in whole:
            return datetime.combine(date.fromisoformat(whole), time.max).astimezone()
        utc = re.fullmatch(r"(.*\d)\s*(?:UTC|Z)", whole)
        if utc:
            return datetime.fromisoformat(utc[1]).replace(tzinfo=UTC)
        when = datetime.fromisoformat(whole)
        return when.astimezone() if when.tzinfo is None else when
    except (ValueError, OverflowError, OSError):
        fix = "Write it like 2026-10-01 23:59, and add +02:00 or UTC if it is not in this machine's time zone"
        raise TimeError(f"{stripped!r} is not a date. {fix}") from None


def show_time(moment: float) -> str:
    """Return a time in seconds since 1970 as ISO 8601, in UTC."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def read_length(text: str) -> timedelta:
    """Read a duration such as `90m`, `36h`, `2d` or `1w`."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise TimeError(f"{text.strip()!r} is not a duration. Write it like 15m, 36h, 2d or 1w")
    return float(match[1]) * _UNITS[match[2][0].lower()]


def show_length(length: timedelta) -> str:
    """Return a duration in its two largest units: `1 d 3 h`."""
    minutes = max(1, round(length.total_seconds() / 60))
    parts = [(minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count) if minutes < 1440 else _days(parts)


def _days(parts: list[tuple[int, str]]) -> str:
    return " ".join(f"{count} {unit}" for count, unit in parts[:2] if count)
