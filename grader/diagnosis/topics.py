"""Topics: link the words that describe a wrong way to the lines of code it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """A pattern for descriptions, and a pattern for the lines of code that belong to it."""

    name: str
    described: re.Pattern[str]
    written: re.Pattern[str]
    else_written: re.Pattern[str] | None = None  # used if no line matches `written`, because that line is missing


def _topic(name: str, described: str, written: str, else_written: str = "") -> Topic:
    other = re.compile(else_written) if else_written else None
    return Topic(name, re.compile(described, re.IGNORECASE), re.compile(written), other)


_TOPICS = (
    _topic(
        "refusal", r"refus|error|checked|does not say|names? (?:the|max_)", r"\braise\b|\bif\b.*(?:shape|len|[<>]|!=)"
    ),
    _topic(
        "dtype", r"float32|float64|dtype|integers|whole numbers", r"dtype|astype|float|np\.array\(|zeros|empty|ones"
    ),
    _topic(
        "axis", r"axis|sums? to (?:one|1)|over the (?:queries|keys)|normalis|whole array|slice", r"axis|sum\(|max\("
    ),
    _topic(
        "scale",
        r"scale|divide|root|d_k|d_v|n_k|multipl",
        r"sqrt|\*\* ?-?\(?0?\.5|\*\* ?\(?-?1 ?/ ?2|scale|/ ?(?:d_k|d_v|n_k|self\.d_k|\w+\.shape)",
        r"@|einsum|dot|matmul|\* ?\w",
    ),
    _topic("mask", r"mask|blocked|allowed", r"[Mm]ask|where\(|\binf\b|allowed|1e9"),
    _topic(
        "maximum",
        r"maximum|largest|smallest|overflow|underflow|exponent|subtract|NaN",
        r"\bmax|\.max|amax|\.min|clip|abs\(|exp\(",
    ),
    _topic(
        "in place", r"in place|modif|overwrit|caller|written into|is changed", r"[-+*/]=|\] *=[^=]|out=|sort\(|\.fill"
    ),
    _topic("order", r"order|wrong way round|first\b.*returned|the pair|returned in", r"\breturn\b"),
    _topic(
        "transposed", r"transpos|K\.T|axes|changed places|swap|reshaped", r"\.T\b|transpose|swapaxes|reshape|einsum"
    ),
    _topic("triangle", r"diagonal|triangle|sees|successor", r"tril|triu|tri\(|\bk ?=|[<>]=?"),
    _topic("logarithm", r"logarithm", r"log"),
    _topic("temperature", r"temperature", r"temperature"),
    _topic("values", r"values|mixed|output|averaged|weighted", r"@|\bV\b|einsum|dot|matmul|\+="),
    _topic("batch", r"batch|sentence", r"batch|\[0\]|\bfor\b|len\("),
    _topic(
        "remembered", r"remember|kept|earlier call|next call|later one|first call", r"cache|global|self\.\w+ *=|_\w+\["
    ),
    _topic("shape", r"dimension|axis is missing|axes of size|shape \(", r"reshape|None|newaxis|shape|expand_dims"),
    _topic("text", r"\btext\b|decimals|\btold\b|prints", r'f"|f\'|join|format|round|append|print'),
    _topic("length", r"lengths?\b|padding|\bplace", r"length|arange|range\("),
    _topic("loop", r"loop|one by one|one after|step", r"\bfor\b|\bwhile\b|range\("),
)
# Lines that are hardly ever the mistake: checks of arguments, conversions and preparations.
GUARD = re.compile(r"\braise\b|^\s*(?:el)?if\b.*(?:[<>]|!=|==)")
CONVERSION = re.compile(r"asarray|astype|dtype")
PREPARATION = re.compile(
    r"\bNone\b|^\s*return \w+(?:, \w+)*\s*$|broadcast_(?:to|shapes)|\.tolist\(\)$|moveaxis|np\.(?:empty|zeros|errstate)"
)


def topics_of(described: str) -> tuple[Topic, ...]:
    """Return the topics of a description."""
    return tuple(topic for topic in _TOPICS if topic.described.search(described))
