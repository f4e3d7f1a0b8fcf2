"""The line of a student's file that is most likely wrong.

The grader reads student files as text and never parses them: hostile code can crash a parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.submission.submission import Source

NumberedLine = tuple[int, str]
_WORD = re.compile(r"[A-Za-z_]\w{0,60}|\d{1,20}(?:\.\d{1,20})?(?:e-?\d{1,3})?|[@%]|\*\*|[-+*/]=")
# A file may be very long. These limits keep the guess fast.
_LONGEST = 2_000
_MOST_LINES = 20_000
_MOST_OF_A_BLOCK = 500
_MOST_CALLED = 20
LINE_END = re.compile(r"\r\n|\r|\n")  # as Python counts lines
_DEFINITION = re.compile(r"\s{0,80}(?:async\s+)?def\s+(\w{1,60})")
_NAMED = re.compile(r"\s{0,80}(?:async\s+)?(?:def|class)\s+(\w{1,60})")
_QUOTES = ('"""', "'''")


@dataclass(frozen=True)
class Line:
    """A line, and the cell it is in if the file is a notebook."""

    number: int
    cell: int | None
    exact: bool = False  # whether it is known, not guessed


def telling_words(wrong: str, right: str) -> list[str]:
    """Return the words of the lines that are in a wrong way but not in the solution."""
    usual = {line.strip() for line in right.splitlines()}
    lines = [
        line for line in wrong.splitlines() if line.strip() not in usual and not line.startswith(("def ", "class "))
    ]
    return sorted({word for line in lines for word in _words(line)})


def likely_line(source: Source, path: str, words: Sequence[str], described: str = "") -> Line | None:
    """Return the line of a function, or of one that it calls, that best fits the words; else its first line."""
    for cell, text in reversed(list(enumerate(source.cells, 1))):
        lines = list(enumerate(LINE_END.split(text, maxsplit=_MOST_LINES), 1))[:_MOST_LINES]
        if block := _block(lines, path):
            name = path.rpartition(".")[2]
            best = _best(name, block[0], block + _called(lines, block), words, _topics_of(described))
            return Line(best, cell if source.notebook else None)
    return None


def names_in(source: Source, path: str) -> frozenset[str]:
    """Return the words in the code of a function, and in that of the functions and classes here that it names."""
    texts = [line for text in source.cells for line in LINE_END.split(text, maxsplit=_MOST_LINES)]
    lines = list(enumerate(texts[:_MOST_LINES], 1))
    defined = {match[1] for _, line in lines if (match := _NAMED.match(line))}
    found: set[str] = set()
    block = _block(lines, path)
    waiting: list[str] = []
    for _ in range(_MOST_CALLED):
        words = {word for _, line in block[1:] for word in _words(line)} - found
        found |= words
        waiting += sorted(words & defined)
        if not waiting:
            break
        block = _body(lines, rf"(?:def|class)\s+{waiting.pop()}\b")
    return frozenset(found)


def _best(
    own: str, first: NumberedLine, block: list[NumberedLine], words: Sequence[str], topics: Sequence[Topic]
) -> int:
    """Return the number of the line that matches most, where rare matches count more, and topics more than words."""
    names = {topic.name for topic in topics}
    lines = [(number, line) for number, line in block if not _DEFINITION.match(line) and line.strip()]
    scores = dict.fromkeys((number for number, _ in lines), 0.0)
    for topic in topics:
        found = [number for number, line in lines if topic.written.search(_code(line))]
        if not found and topic.else_written is not None:
            found = [number for number, line in lines if topic.else_written.search(_code(line))]
        for number in found:
            scores[number] += 2 / len(found)
    for word in words:
        found = [number for number, line in lines if word in _words(line)]
        for number in found:
            scores[number] += 0.5 / len(found)
    for number, line in lines:
        again = re.search(rf"\b{re.escape(own)}\(", line)  # a recursive call, for a batch
        guards = "refusal" not in names and _GUARD.search(line)
        if again or guards or ("dtype" not in names and _CONVERSION.search(line)) or _PREPARATION.search(line):
            scores[number] /= 10
    best = max(scores, key=lambda number: scores[number], default=first[0])
    return best if scores.get(best) else first[0]


def _called(lines: list[NumberedLine], block: list[NumberedLine]) -> list[NumberedLine]:
    """Return the blocks of the functions in this file that a block calls: the mistake may be there."""
    named = {word for _, line in block[1:] for word in _words(line)}
    defined = {match[1] for _, line in lines if (match := _DEFINITION.match(line))}
    inside = {number for number, _ in block}
    names = sorted(named & defined)[:_MOST_CALLED]
    found = [one for name in names for one in _without_docstrings(_body(lines, rf"def\s+{name}\b"))]
    return [one for one in found if one[0] not in inside][:_MOST_OF_A_BLOCK]


def _block(lines: list[NumberedLine], path: str) -> list[NumberedLine]:
    """Return the numbered lines of a function or method, without docstrings; an empty list if it is missing."""
    owner, _, method = path.rpartition(".")
    found = _body(lines, rf"class\s+{re.escape(owner)}\b") if owner else lines
    return _without_docstrings(_body(found, rf"def\s+{re.escape(method)}\b"))[:_MOST_OF_A_BLOCK]


def _body(lines: list[NumberedLine], opening: str) -> list[NumberedLine]:
    """Return the block with this opening: the outermost, and of those the last, which is the one Python uses."""
    start = re.compile(rf"(\s{{0,80}})(?:async\s+)?{opening}")
    found = [(len(m[1]), position) for position, (_, line) in enumerate(lines) if (m := start.match(line))]
    if not found:
        return []
    depth, position = min(found, key=lambda one: (one[0], -one[1]))
    end = position + 1
    while end < len(lines) and (_is_bare(lines[end][1]) or _indent(lines[end][1]) > depth):
        end += 1
    return lines[position:end]


def _is_bare(line: str) -> bool:
    """Whether a line does not show where a block ends: it is empty, a comment, or closes a list of arguments."""
    return not line.strip() or line.lstrip().startswith((")", "#"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_docstrings(block: list[NumberedLine]) -> list[NumberedLine]:
    kept: list[NumberedLine] = []
    closing = ""
    for number, line in block:
        if closing:
            closing = "" if closing in line else closing
            continue
        opening = next((quotes for quotes in _QUOTES if line.lstrip().startswith(quotes)), "")
        if opening:
            closing = opening if line.count(opening) == 1 else ""
            continue
        kept.append((number, line))
    return kept


def _words(line: str) -> set[str]:
    return set(_WORD.findall(_code(line)))


def _code(line: str) -> str:
    return line[:_LONGEST].partition("#")[0]


@dataclass(frozen=True)
class Topic:
    """Words that describe a wrong way, and the lines of code it is about."""

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
_GUARD = re.compile(r"\braise\b|^\s*(?:el)?if\b.*(?:[<>]|!=|==)")
_CONVERSION = re.compile(r"asarray|astype|dtype")
_PREPARATION = re.compile(
    r"\bNone\b|^\s*return \w+(?:, \w+)*\s*$|broadcast_(?:to|shapes)|\.tolist\(\)$|moveaxis|np\.(?:empty|zeros|errstate)"
)


def _topics_of(described: str) -> tuple[Topic, ...]:
    """Return the topics of a description."""
    return tuple(topic for topic in _TOPICS if topic.described.search(described))
