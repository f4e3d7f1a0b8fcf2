"""The colour of a course, for links and charts on its pages."""

from __future__ import annotations

import re

LIGHT, DARK = "#ffffff", "#16181b"  # the paper of our pages
READABLE = 4.5  # the contrast that text needs, by the rules for accessible pages
_HEX = re.compile(r"#[0-9a-fA-F]{6}")


def problem_with(colour: str) -> str:
    """Return why a colour cannot be used, or an empty text."""
    if not _HEX.fullmatch(colour):
        return f'must look like "#0b57a4", not {colour!r}'
    if contrast(colour, LIGHT) < READABLE:
        return (
            f"is too light to read on white: its contrast is {contrast(colour, LIGHT):.1f}, and text needs {READABLE}"
        )
    return ""


def css_of(colour: str) -> str:
    """Return the style that gives a page this colour, and a lighter one where the page is dark; empty without one."""
    if not colour:
        return ""
    light, dark = f"--link: {colour}; --on-link: #fff;", f"--link: {lightened(colour)}; --on-link: {DARK};"
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def lightened(colour: str) -> str:
    """Return the nearest lighter colour that can be read on dark paper."""
    return next(
        mixed for share in range(0, 101, 5) if contrast(mixed := _mixed(colour, share / 100), DARK) >= READABLE + 2
    )


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _mixed(colour: str, white: float) -> str:
    return "#" + "".join(f"{round(value + (255 - value) * white):02x}" for value in _channels(colour))


def _luminance(colour: str) -> float:
    shares = [value / 255 for value in _channels(colour)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
