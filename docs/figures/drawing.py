"""A small SVG drawing: shapes and words in classes whose colours follow the reader's light or dark setting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

# Every class in both settings. A figure has a background of its own, so that it can be read on any page.
LIGHT = {"paper": "#ffffff", "ink": "#1f2328", "dim": "#59636e", "faint": "#d1d9e0"}
LIGHT |= {"a": "#4a8fdb", "b": "#e0803a", "c": "#3fa35c", "pale": "#eef1f4"}
DARK = {"paper": "#12161c", "ink": "#e9edf2", "dim": "#a3adb8", "faint": "#3a434d"}
DARK |= {"a": "#336cab", "b": "#a55325", "c": "#2b7642", "pale": "#20262e"}
HEADS = {"line": "dim", "line-a": "a", "line-b": "b", "line-c": "c"}
FONT = "font-family: system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


def number(value: float) -> str:
    """Return a coordinate in as few characters as it needs."""
    return f"{round(value, 1) + 0:g}"


class Drawing:
    """One figure. Coordinates are in pixels, from the top left."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []

    def text(self, x: float, y: float, words: str, css: str = "ink", anchor: str = "middle", size: float = 14) -> None:
        """Write words. A part between asterisks is in italics, and one between underscores is lowered."""
        marked = re.sub(r"\*(.+?)\*", r'<tspan font-style="italic">\1</tspan>', escape(words))
        marked = re.sub(r"_(\w)_", r'<tspan dy="4" font-size="75%">\1</tspan><tspan dy="-4">&#8203;</tspan>', marked)
        place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}" text-anchor="{anchor}"'
        self._parts.append(f'<text {place} class="{css}">{marked}</text>')

    def rect(
        self, x: float, y: float, width: float, height: float, css: str, opacity: float = 1, radius: float = 0
    ) -> None:
        """Fill a rectangle."""
        box = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
        extra = (f' fill-opacity="{opacity:.2f}"' if opacity < 1 else "") + (f' rx="{radius:g}"' if radius else "")
        self._parts.append(f'<rect {box} class="{css}"{extra}/>')

    def frame(self, x: float, y: float, width: float, height: float, css: str = "line", radius: float = 0) -> None:
        """Draw the outline of a rectangle."""
        self.rect(x, y, width, height, f"{css} open", radius=radius)

    def line(self, points: Iterable[Sequence[float]], css: str = "line", *, arrow: bool = False) -> None:
        """Join points, with an arrowhead at the last one if it is an arrow."""
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        colour = re.search(r"line-[abc]", css)
        head = f' marker-end="url(#{colour[0] if colour else "line"})"' if arrow else ""
        self._parts.append(f'<polyline points="{path}" class="{css} open"{head}/>')

    def dot(self, x: float, y: float, css: str, radius: float = 4) -> None:
        """Draw a filled circle."""
        self._parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" class="{css}"/>')

    def svg(self) -> str:
        """Return the file."""
        size = f"{number(self.width)} {number(self.height)}"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{number(self.width)}" '
                f'height="{number(self.height)}" role="img" aria-labelledby="title">',
                f'<title id="title">{escape(self.title)}</title>',
                f"<style>text {{ {FONT} }}",
                *_rules(LIGHT),
                f"@media (prefers-color-scheme: dark) {{\n{chr(10).join(_rules(DARK))}\n}}",
                ".open { fill: none; stroke-width: 1.6 } .thick { stroke-width: 3 } .dashed { stroke-dasharray: 5 4 }",
                "</style>",
                "<defs>",
                *(_head(name, css) for name, css in HEADS.items()),
                "</defs>",
                '<rect width="100%" height="100%" class="paper"/>',
                *self._parts,
                "</svg>",
                "",
            ]
        )


def _head(name: str, css: str) -> str:
    """Return the arrowhead for a class of lines."""
    size = 'viewBox="0 0 10 10" refX="9" refY="5" markerWidth="11" markerHeight="11"'
    size += ' markerUnits="userSpaceOnUse"'
    return f'<marker id="{name}" {size} orient="auto"><path d="M0 0 L10 5 L0 10 z" class="{css}"/></marker>'


def _rules(colours: dict[str, str]) -> list[str]:
    fills = [f".{name} {{ fill: {colour} }}" for name, colour in colours.items()]
    strokes = [f".line-{name} {{ stroke: {colours[name]} }}" for name in ("a", "b", "c", "faint")]
    return [" ".join(fills), " ".join([f".line {{ stroke: {colours['dim']} }}", *strokes])]
