"""Plain text views of the costs of a function."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from grader.complexity.curves import CountRow, Curve, curve, doubling, fixed_sizes, growing, table, text_plot
from grader.complexity.meter_words import in_words
from grader.core.report import cost_word, without_word
from grader.core.safe_text import visible

if TYPE_CHECKING:
    from grader.complexity.contract import CostLimit
    from grader.complexity.cost import Cost
    from grader.workspace.own_costs import OwnCost

WIDTH, ROWS = 80, 24
SMALL = 5  # lines of a small plot
LEGEND = 34  # characters of a limit that fit into the legend beside two other curves
HOW_TO_READ = """\
`may grow like n·m` is about growth: constant factors are free.
`must be n·m` is about the number itself: only smaller terms are free."""
_SHORT = {"smul": "multiplications", "mul": "multiplications", "steps": "rounds", "mem": "bytes", "work": "entries"}
_ORDER = ("smul", "mul", "flops", "work", "steps", "mem")


def cost_lines(own: OwnCost) -> list[str]:
    """Return the costs of one function: polynomials, the line to look at, a plot and a table."""
    lines = [own.contract.function, *_wrapped(own.sizes, "  "), ""]
    if not any(cost.measured for cost in own.measured.costs) and own.measured.costs:
        return [*lines, *_wrapped(f"NOT MEASURED: {without_word(own.measured.costs[0].message)}", "  ")]
    for cost in own.measured.costs:
        first, *rest = _meter_lines(own, cost)
        lines += _wrapped(f"{in_words(cost.meter)}: {first}", "  ")
        for text in rest:
            lines += _wrapped(text, " " * 4)
    lines += _wrapped(f"Likely: {own.likely}", "  ") if own.likely else []
    for one in own.measured.forbidden:
        place = one.event.place
        lines += _wrapped(
            f"{one.event.call}, in line {place.line}: {own.line(place.file, place.line)}", "  NOT ALLOWED  "
        )
        lines += _wrapped(one.why, " " * 15)
    for meter, grows, drawn in list(curves(own))[:1]:
        lines += ["", *(f"  {line}" for line in text_plot(drawn, ", ".join(grows), in_words(meter)))]
        fixed = [f"{name} = {size}" for name, size in fixed_sizes(own.contract, grows).items()]
        lines += [f"     with {', '.join(fixed)}"] if fixed else []
        lines += ["", *_table_lines(own, meter, grows)]
    return lines


def short_lines(own: OwnCost, command: str) -> list[str]:
    """Return the costs of one function in 24 rows: each with its verdict, the first broken limit, and a small plot."""
    lines = [own.contract.function, *_wrapped(own.sizes, "  ")[:2], ""]
    costs = sorted(own.measured.costs, key=lambda cost: cost.verdict == "pass")
    lines += [_cut(f"{verdict_of(one):<12} {in_words(one.meter)}: {one.measured or '?'}") for one in costs]
    for one in costs[:1]:
        if one.verdict != "pass":
            lines += broken_lines(own, one)[:4]
    for meter, grows, drawn in list(curves(own))[:1]:
        lines += ["", *(f"  {line}" for line in text_plot(drawn, ", ".join(grows), in_words(meter), SMALL))]
        lines += [f"  if {_doubling_words(own, meter, grows)}"] if len(lines) < ROWS - 2 else []
    return [*lines, "", f"Everything: {command} --all"]


def broken_lines(own: OwnCost, cost: Cost) -> list[str]:
    """Return what is wrong with one cost, and where."""
    if not cost.measured:
        return _wrapped(without_word(cost.message), "  ")
    limit = next(one for one in own.contract.limits if one.meter == cost.meter)
    lines = _wrapped(f"{verdict_of(cost)}: {limit_words(limit)}", "  ")
    lines += _wrapped(cost.message, "  ") if cost.message else []
    if cost.place and cost.place.line:
        lines += _wrapped(f"look at line {cost.place.line}: {own.line(cost.place.file, cost.place.line)}", "  ")
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def curves(own: OwnCost) -> Iterator[tuple[str, tuple[str, ...], list[Curve]]]:
    """Yield each meter that has a polynomial, failing ones first, with the sizes that grow and the curves."""
    fails = {cost.meter for cost in own.measured.costs if cost.verdict == "fail"}
    for limit in sorted(own.contract.limits, key=lambda one: (one.meter not in fails, _ORDER.index(one.meter))):
        measured = own.measured.profile.exact.get(limit.meter)
        if measured is None:
            continue
        grows = growing(own.contract, measured, limit.bound)
        drawn = [curve("yours", "*", measured, own.contract, grows)]
        if limit.meter in own.reference:
            drawn.append(curve("the reference", "o", own.reference[limit.meter], own.contract, grows))
        named = f"the limit, {limit.text}" if len(limit.text) <= LEGEND else "the limit"
        drawn.append(curve(named, ".", limit.bound, own.contract, grows))
        yield limit.meter, grows, drawn


def verdict_of(cost: Cost) -> str:
    """Return the word for the verdict on one cost."""
    return cost_word(cost.verdict, cost.measured, cost.message, too_little=cost.too_little)


def _meter_lines(own: OwnCost, cost: Cost) -> Iterator[str]:
    limit = next(one for one in own.contract.limits if one.meter == cost.meter)
    word = verdict_of(cost)
    if not cost.measured:
        yield f"{word}: {without_word(cost.message)}"
        yield limit_words(limit)
        return
    yield cost.measured
    yield f"{word}: {limit_words(limit)}"
    if cost.meter in own.reference:
        yield f"the reference: {own.reference[cost.meter]}"
    measured = own.measured.profile.exact.get(cost.meter)
    if measured is not None:
        grows = growing(own.contract, measured, limit.bound)
        yield f"if {_doubling_words(own, cost.meter, grows)}"
    if cost.message:
        yield cost.message
    if cost.place and cost.place.line:
        yield f"look at line {cost.place.line}: {own.line(cost.place.file, cost.place.line)}"


def _doubling_words(own: OwnCost, meter: str, grows: tuple[str, ...]) -> str:
    times = doubling(own.measured.profile.exact[meter], own.contract, grows)
    return f"{' and '.join(grows)} double{'' if len(grows) > 1 else 's'}: {times:.3g} times as much"


def limit_words(limit: CostLimit) -> str:
    """Return a limit as a phrase: how the count may grow, or what it must be."""
    if limit.exact is None:
        if limit.bound.degree == 0:
            return "it must not grow with the input"
        return f"it may grow like {limit.text}"
    upper = "" if limit.exact == 1 else f", at most {limit.exact} times as much"
    return f"it must be {limit.text}{upper}"


def _table_lines(own: OwnCost, meter: str, grows: tuple[str, ...]) -> list[str]:
    rows = table(own.measured.profile.exact[meter], own.contract, grows)
    head = f"  {'n' if len(grows) > 1 else grows[0]:>5}  {_SHORT.get(meter, 'count'):>16}  {'ratio':>6}"
    head += f"  {'weights':>9}  {'in float32':>10}" if rows[0].entries else ""
    return [head, *map(_row, rows)]


def _row(row: CountRow) -> str:
    ratio = f"{row.ratio:.3g}" if row.ratio else ""
    line = f"  {row.n:>5}  {row.count:>16}  {ratio:>6}"
    return line + (f"  {row.entries:>9}  {_readable(row.bytes or 0):>10}" if row.entries else "")


def _readable(size: float) -> str:
    units = ["GiB", "MiB", "KiB", "bytes"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop()
    return f"{size:.4g} {units[-1]}"


def _wrapped(text: str, first: str) -> list[str]:
    """Return a text as lines for a narrow terminal; the first begins with `first`."""
    return textwrap.wrap(visible(text), WIDTH, initial_indent=first, subsequent_indent=" " * (len(first) + 2))
