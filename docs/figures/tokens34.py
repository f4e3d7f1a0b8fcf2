"""Figures of the modules 03 and 04 of the course in examples/tokens, drawn from its own solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from docs.figures.charts import Axes, heat_map, plot
from docs.figures.drawing import Drawing
from docs.figures.tokens import cell, solution, spelled

Pairs = Sequence[tuple[int, int]]


def order() -> str:
    """The chunk " thing" before the first merge and after each one."""
    d = Drawing(620, 262, "The earliest merge goes first")
    of = solution("03_encoding")
    chunk = " thing"
    known: list[list[int]] = []  # the ids with 0, 1, 2 … merges known: those that change nothing are left out
    for count in range(len(of.MERGES) + 1):
        ids = of.encode(chunk, of.MERGES[:count])
        if ids not in known:
            known.append(ids)
    for row, ids in enumerate(known):
        y, x = 20 + 48 * row, 130.0
        d.text(110, y + 25, "bytes" if row == 0 else f"merge {ids_new(known, row) - 255}", "dim", "end", 13)
        for one in ids:
            words = spelled(one, of.MERGES)
            width = 62 * len(words)
            d.rect(x, y, width - 4, 38, "a" if one > 255 else "pale", 0.85 if one > 255 else 1, 4)
            d.text(x + width / 2 - 2, y + 17, words, size=14)
            d.text(x + width / 2 - 2, y + 32, str(one), "ink" if one > 255 else "dim", size=11)
            x += width
    return d.svg()


def ids_new(known: Sequence[Sequence[int]], row: int) -> int:
    """Return the id that a row has and the row before it has not."""
    return max(set(known[row]) - set(known[row - 1]))


def together() -> str:
    """The two bytes of é, decoded each alone and together."""
    d = Drawing(560, 190, "Join the bytes first, and then decode them")
    of = solution("03_encoding")
    ids = of.encode("é", [])
    for row, (title, parts) in enumerate((("each id alone", [[one] for one in ids]), ("together", [ids]))):
        y = 36 + 78 * row
        d.text(130, y + 26, title, "dim", "end", 13)
        x = 150.0
        for part in parts:
            for one in part:
                cell(d, x, y, str(one), "a" if row else "b")
                x += 58
            d.line([(x + 2, y + 20), (x + 38, y + 20)], arrow=True)
            d.text(x + 58, y + 28, of.decode(part, []), size=22)
            x += 96
    return d.svg()


def passes() -> str:
    """How many ids two encoders look at, with more and more merges."""
    d = Drawing(680, 280, "One pass for each merge, or one look into a dictionary")
    of = solution("03_encoding")
    text = "that thing they think then"
    tables = [[*of.MERGES, *((1, one) for one in range(more))] for more in range(0, 251, 10)]
    many = [len(table) for table in tables]
    plot(
        d,
        Axes((80, 36, 480, 220), (0, 250), (0, 3000)),
        {
            "a pass for each merge": (many, [passed(text, table) for table in tables]),
            "a dictionary of ranks": (many, [ranked(text, table) for table in tables]),
        },
        ticks_x={tick: str(tick) for tick in (0, 50, 100, 150, 200, 250)},
        ticks_y={tick: str(tick) for tick in (0, 1000, 2000, 3000)},
        label_x="merges in the table",
        label_y="ids that the encoder looks at",
        styles=("line-b thick", "line-a thick"),
    )
    return d.svg()


def passed(text: str, table: Pairs) -> int:
    """Count the ids that are looked at if the complete text is gone through for each merge."""
    of = solution("03_encoding")
    return sum(len(of.encode(text, table[: count + 1])) for count in range(len(table)))


def ranked(text: str, table: Pairs) -> int:
    """Count them if each chunk asks a dictionary: all ids again after each merge, and the table once."""
    of = solution("03_encoding")
    rows = [[of.encode(chunk, table[:count]) for count in range(len(table) + 1)] for chunk in of.chunks(text)]
    rounds = [ids for row in rows for ids in {tuple(ids) for ids in row}]
    return len(table) + sum(2 * len(ids) for ids in rounds)


def product() -> str:
    """One-hot rows times the table are the look-up."""
    d = Drawing(760, 268, "A look-up, written as a product")
    of = solution("04_vectors")
    names = [str(one) for one in range(6)]
    heat_map(d, 40, 88, of.one_hot(of.IDS, 6), [str(one) for one in of.IDS], names, cell=(30, 30), title="one-hot")
    d.text(246, 140, "×", size=22)
    heat_map(d, 296, 56, of.TABLE, names, cell=(46, 30), title="table", css="b", largest=2)
    d.text(508, 140, "=", size=22)
    heat_map(d, 540, 88, of.look_up(of.IDS, of.TABLE), cell=(46, 30), title="vectors", css="b", largest=2)
    return d.svg()


def waves() -> str:
    """The first 32 positions with vectors of width 16: above 0 in one colour, below in another."""
    d = Drawing(700, 300, "Vectors of positions: fast columns on the left, slow ones on the right")
    of = solution("04_vectors")
    table = of.sinusoidal(32, 16)
    wide, high = 30, 7
    for place, row in enumerate(table):
        for column, value in enumerate(row):
            css = "a" if value > 0 else "b"
            d.rect(90 + wide * column, 40 + high * place, wide - 1, high, css, float(0.9 * np.abs(value)))
    for column in range(0, 16, 2):
        d.text(90 + wide * (column + 1), 30, f"pair {column // 2}", "dim", size=12)
    for place in (0, 10, 20, 31):
        d.text(80, 40 + high * place + 8, str(place), "dim", "end", 12)
    d.text(30, 30, "position", "dim", size=12)
    for at, (css, words) in enumerate((("a", "above 0"), ("b", "below 0"))):
        d.rect(586, 60 + 26 * at, 16, 16, css, 0.85)
        d.text(610, 73 + 26 * at, words, "dim", "start", 12)
    return d.svg()


def total() -> str:
    """Token vectors plus position vectors."""
    d = Drawing(760, 190, "The same id at two places has two vectors")
    of = solution("04_vectors")
    first, second = of.look_up(of.IDS, of.TABLE), of.sinusoidal(3, 4)
    cells = (48, 32)
    heat_map(d, 50, 60, first, [f"id {one}" for one in of.IDS], cell=cells, title="tokens", css="b", largest=3)
    d.text(264, 114, "+", size=22)
    heat_map(d, 290, 60, second, cell=cells, title="positions 0, 1, 2", largest=3)
    d.text(506, 114, "=", size=22)
    heat_map(d, 530, 60, of.embed(of.IDS, of.TABLE, second), cell=cells, title="vectors", css="c", largest=3)
    return d.svg()


FIGURES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "03_encoding": {"order": order, "together": together, "passes": passes},
    "04_vectors": {"product": product, "waves": waves, "total": total},
}


def all_figures() -> dict[str, str]:
    """Return the text of every figure, by its path in the repository."""
    return {
        f"examples/tokens/modules/{module}/{name}.svg": draw()
        for module, figures in FIGURES.items()
        for name, draw in figures.items()
    }
