"""Attention maps as SVG files, with every number in its cell and in the description."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

CELL, LEFT, TOP, MARGIN = 72, 96, 96, 24
LIGHT, DARK = (255, 255, 255), (8, 48, 107)
WHITE_TEXT_FROM = 0.6  # from here on, white text is easier to read than black


def svg_map(names: Sequence[str], weights: Sequence[Sequence[float]], title: str) -> str:
    """Return a heat map of square weights: rows are queries, columns are keys, white is 0, dark blue is 1."""
    width, height = LEFT + CELL * len(names) + MARGIN, TOP + CELL * len(names) + MARGIN
    half_cell = CELL // 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="title desc" font-family="sans-serif" font-size="15" text-anchor="middle">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="desc">{escape(_description(names, weights))}</desc>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{MARGIN}" y="32" font-size="17" text-anchor="start">{escape(title)}</text>',
        f'<text x="{LEFT + CELL * len(names) / 2:g}" y="58" fill="#555">keys</text>',
        f'<text x="{MARGIN}" y="{TOP - 12}" fill="#555" text-anchor="start">queries</text>',
    ]
    for number, name in enumerate(names):
        place = CELL * number + half_cell
        parts.append(f'<text x="{LEFT + place}" y="{TOP - 12}">{escape(name)}</text>')
        parts.append(f'<text x="{LEFT - 12}" y="{TOP + place + 5}" text-anchor="end">{escape(name)}</text>')
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            parts += _cell(LEFT + CELL * j, TOP + CELL * i, weight)
    return "\n".join([*parts, "</svg>", ""])


def short(weight: float) -> str:
    """Return a weight with two decimals. Numbers too large for a weight are shortened to seven characters at most."""
    return f"{weight:.2f}" if abs(weight) < 1000 else f"{weight:.0e}"


def _cell(x: int, y: int, weight: float) -> list[str]:
    share = min(max(weight, 0.0), 1.0)
    red, green, blue = (round(light + share * (dark - light)) for light, dark in zip(LIGHT, DARK, strict=True))
    ink = "white" if share >= WHITE_TEXT_FROM else "black"
    return [
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="rgb({red},{green},{blue})" stroke="#ccc"/>',
        f'<text x="{x + CELL // 2}" y="{y + CELL // 2 + 5}" fill="{ink}">{short(weight)}</text>',
    ]


def _description(names: Sequence[str], weights: Sequence[Sequence[float]]) -> str:
    rows = [
        f"{query} looks at " + ", ".join(f"{key} {short(weight)}" for key, weight in zip(names, row, strict=True))
        for query, row in zip(names, weights, strict=True)
    ]
    return f"Each query's weights for every key. {'; '.join(rows)}."
