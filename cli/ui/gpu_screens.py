"""Plain text views of the time and memory that functions take on a GPU."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from grader.complexity.curves import Curve, text_plot

if TYPE_CHECKING:
    from grader.workspace.own_gpu import GpuMeasurement

WIDTH = 80
MARKS = "*o+x#"
LONGEST = 16  # characters of a name in the head of a table


def gpu_lines(points: Sequence[GpuMeasurement], machine: str) -> list[str]:
    """Return a table of time and memory by size, and a plot of each."""
    functions = list(dict.fromkeys(point.function for point in points))
    by_place = {(point.function, point.n): point for point in points}
    lines = [machine, "", f"  {'':>6}" + "".join(f"{_short(name):>18}" for name in functions)]
    lines.append(f"  {'n':>6}" + f"{'ms':>9}{'MiB':>9}" * len(functions))
    sizes = dict.fromkeys(point.n for point in points)
    lines += [f"  {n:>6}" + "".join(_cell(by_place[name, n]) for name in functions) for n in sizes]
    for problem in dict.fromkeys(f"{_short(one.function)}: {one.problem}" for one in points if one.problem):
        lines += textwrap.wrap(problem, WIDTH, initial_indent="  ", subsequent_indent="      ")
    for up, value in (("bytes", _bytes), ("microseconds", _microseconds)):
        drawn = curves(points, value)
        lines += ["", *(f"  {line}" for line in text_plot(drawn, "n", up))] if drawn else []
    return lines


def curves(points: Sequence[GpuMeasurement], value: Callable[[GpuMeasurement], float | None]) -> list[Curve]:
    """Return one curve per function with more than one point."""
    found = []
    for number, name in enumerate(dict.fromkeys(point.function for point in points)):
        places = [(one.n, value(one)) for one in points if one.function == name]
        line = tuple((n, float(y)) for n, y in places if y is not None)
        found += [Curve(_short(name), MARKS[number % len(MARKS)], line)] if len(line) > 1 else []
    return found


def _bytes(point: GpuMeasurement) -> float | None:
    return point.peak_bytes


def _microseconds(point: GpuMeasurement) -> float | None:
    return None if point.ms is None else 1000 * point.ms


def _cell(point: GpuMeasurement) -> str:
    if point.ms is None or point.peak_bytes is None:
        return f"{'-':>9}{'-':>9}"
    return f"{point.ms:>9.3f}{point.peak_bytes / 2**20:>9.1f}"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
