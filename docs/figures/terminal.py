"""A screen of the journey as a picture, for the README: `python -m docs.figures.terminal`."""

from __future__ import annotations

from html import escape

from docs.figures.drawing import DARK, LIGHT, number
from tests.conftest import ROOT

SCREEN = ROOT / "tests" / "acceptance" / "journey" / "screens" / "no_scaling.txt"
PICTURE = ROOT / "docs" / "screen-test.svg"
LINE, WIDTH, MARGIN = 18, 8.43, 18  # pixels: a line, a character of 14 pixels, and around the text
GREEN, RED = ("#1a7f37", "#3fb950"), ("#cf222e", "#ff7b72")  # in light and in dark
FONT = "font: 14px ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre"


def terminal_picture(screen: str) -> str:
    """Return a screen as SVG, without the note of its exit status, in the colours of a terminal."""
    lines = [line for line in screen.rstrip().splitlines() if not line.startswith("[exit status")]
    width, height = MARGIN * 2 + WIDTH * max(map(len, lines)), MARGIN * 2 + LINE * len(lines)
    words = [
        f'<text x="{MARGIN}" y="{MARGIN + LINE * i + 13}" class="{_colour(line)}">{escape(line)}</text>'
        for i, line in enumerate(lines)
        if line
    ]
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    light, dark = (_style(setting, one) for setting, one in ((LIGHT, 0), (DARK, 1)))
    style = f"text {{ {FONT} }} {light} @media (prefers-color-scheme: dark) {{ {dark} }}"
    title = "A screen of attn test: three checks fail, and the mistake has a name"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{title}</title><style>{style}</style>'
    return "\n".join([head, '<rect width="100%" height="100%" rx="8" class="paper"/>', *words, "</svg>"]) + "\n"


def _style(setting: dict[str, str], dark: int) -> str:
    colours = {"paper": setting["pale"], "ink": setting["ink"], "good": GREEN[dark], "bad": RED[dark]}
    return " ".join(f".{name} {{ fill: {colour} }}" for name, colour in colours.items())


def _colour(line: str) -> str:
    first = line.split(maxsplit=1)[0] if line.strip() else ""
    return {"Fix": "bad"}.get(first, "ink")


if __name__ == "__main__":
    PICTURE.write_text(terminal_picture(SCREEN.read_text()), encoding="utf-8")
