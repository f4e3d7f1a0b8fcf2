"""The reader of contracts: the `complexity` and `gpu` tables of a `module.toml`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.complexity.arguments import CALL_NUMBER, require_argument, require_expression
from grader.complexity.contract import METERS, CallSpec, Contract, CostLimit, ObjectSpec
from grader.complexity.polynomial import Lattice, Sizes, in_tiles, parse_polynomial
from grader.core.compare import Tolerance
from grader.course.module import CourseError, module_error
from grader.sandbox.protocol.script import OWN

# The keys of a contract besides its limits, and what each says.
CONTRACT_KEYS: dict[str, str] = {
    "args": "the arguments of the measured call; `is_causal=true` is passed by name",
    "init": "the arguments of the constructor, where a method is measured",
    "also": "further calls: lists of arguments. What they call matters, not their cost, unless steps must be constant",
    "objects": "objects of the student's classes, by name: the class, then the arguments of its constructor",
    "before": "calls that come first and are not measured: name, arguments, and for many of them `n times`",
    "times": "how often the measured call is made, such as `n`; its cost is that of all calls together",
    "compare": "the index of the only part of a result that is compared, where the rest is the student's own affair",
    "sizes": 'first size and step of each size; `n = ["2*b", "b"]` is cut into tiles of b',
    "where": "sizes that must not be larger than others, such as `n_q <= n_k`",
    "constants": "numbers by name, for arguments and limits",
    "large": "large sizes that confirm what is found at small ones",
    "huge": "a size at which one call is not counted but watched by the kernel, for its memory",
    "points": "points, shared by the limits",
    "tolerance": "how far a result may be from the reference's, where right ones differ by more than rounding",
    "needs": '`"attention"`: each call must call PyTorch\'s own attention',
    "unguarded": "limits that no misconception breaks, each with the reason",
}
# Of tensors in single precision: rounding errors grow with the sizes, and large ones must not fail a right result.
SINGLE = Tolerance(1e-3, 3e-5)
_KEYS_NEEDED = "A contract needs args, sizes = {n = [first, step]}, large, points and a limit for at least one meter"
_REFERENCE = "docs/authoring-reference.md shows how to write it"
_TIMES = re.compile(r"(\S+) times")
_RULE = re.compile(r"([a-z]\w*) *<= *([a-z]\w*)")
_TILES = re.compile(r"(?:(\d+)\*)?([a-z]\w*)")
_NAME = re.compile(r"[a-z]\w*")
_KEY = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?( \(\w[^()]*\))?")


def read_contracts(folder: Path, table: Mapping[str, Any]) -> tuple[Contract, ...]:
    """Read the `complexity` tables of a module. A mistake raises an error that says how to fix it."""
    return tuple(_read(folder, name, entry) for name, entry in table.items())


def _read(folder: Path, name: str, table: Any) -> Contract:
    where = f"complexity.{name}"
    if not _KEY.fullmatch(name):
        fix = 'Write `sort`, `Cache.update`, or for a further contract of a function `"sort (float32)"`'
        raise module_error(folder, where, f"{name!r} is not the name of a function or a method", fix)
    if type(table) is not dict:
        raise module_error(folder, where, "must be a table", _REFERENCE)
    for key in table:
        if key not in CONTRACT_KEYS and key not in METERS:
            known = ", ".join(sorted([*CONTRACT_KEYS, *METERS]))
            raise module_error(folder, f"{where}.{key}", "is not a key of a contract", f"The keys are {known}")
    try:
        contract = _contract(name, table)
        _require_fitting_sizes(contract)
        return contract
    except CourseError:
        raise
    except KeyError as error:
        raise module_error(folder, where, f"has no {error.args[0]}", _KEYS_NEEDED) from None
    except (ValueError, TypeError, AttributeError) as error:
        raise module_error(folder, where, f"cannot be read: {error}", _REFERENCE) from None


def _contract(name: str, table: Mapping[str, Any]) -> Contract:
    lattice = _lattice(table["sizes"])
    names, tiles = lattice.names, lattice.tiles
    constants = _constants(table.get("constants", {}), names)
    meters = [meter for meter in METERS if meter in table]
    if not meters or not table["points"] > 0:
        raise ValueError("it needs at least one limit, and points above 0")
    share = table["points"] / len(meters)
    if abs(100 * share - round(100 * share)) > 1e-9:
        raise ValueError(f"{table['points']} points cannot be divided evenly among {', '.join(meters)}")
    limits = tuple(
        CostLimit(
            meter,
            parse_polynomial(_law(meter, table[meter])[0], names, tiles, constants),
            _law(meter, table[meter])[1],
            share,
        )
        for meter in meters
    )
    degree = 1 + max(limit.bound.degree for limit in limits)
    known = _Known((*names, *constants), _object_names(table.get("objects", {})))
    times = _times(table["times"], known.sizes) if "times" in table else None
    return Contract(
        function=name,
        init=known.init(table.get("init", [])),
        args=known.specs(table["args"], repeated=times is not None),
        also=tuple(known.specs(call, repeated=times is not None) for call in table.get("also", [])),
        lattice=replace(lattice, degree=degree),
        large=_large("large", table["large"], names),
        huge=_large("huge", [table["huge"]], names)[0] if "huge" in table else None,
        limits=limits,
        needs=_needs(table["needs"]) if "needs" in table else None,
        tolerance=_tolerance(table),
        objects=_objects(table.get("objects", {}), known),
        before=tuple(_call(call, known) for call in table.get("before", [])),
        times=times,
        where=tuple(_rule(rule, names) for rule in table.get("where", [])),
        constants=constants,
        compare=_compare(table["compare"]) if "compare" in table else None,
        unguarded=_unguarded(table.get("unguarded", {}), meters),
    )


@dataclass(frozen=True)
class _Known:
    """The names that arguments may use."""

    sizes: tuple[str, ...]
    objects: tuple[str, ...]

    def specs(self, specs: Any, *, repeated: bool = False) -> tuple[str, ...]:
        return _checked(specs, (*self.sizes, CALL_NUMBER) if repeated else self.sizes, self.objects)

    def init(self, specs: Any) -> tuple[str, ...]:
        return _checked(specs, self.sizes, None)


def _checked(specs: Any, sizes: Collection[str], objects: Collection[str] | None) -> tuple[str, ...]:
    if type(specs) is not list:
        raise ValueError(f"{specs!r} must be a list of arguments")
    for spec in specs:
        require_argument(spec, sizes, objects)
    return tuple(specs)


def _lattice(table: Any) -> Lattice:
    """Return the names, first sizes and steps; those of a size that has tiles are numbers of tiles."""
    names = tuple(table)
    tiles: list[int | None] = []
    counted: list[tuple[int, int]] = []
    for name, entry in table.items():
        first, step = entry
        if not any(type(one) is str for one in entry):
            _require_counts("sizes", entry)
            tiles.append(None)
            counted.append((first, step))
            continue
        start, growth = (_TILES.fullmatch(str(one)) for one in entry)
        tile = start[2] if start else ""
        if not start or not growth or growth[2] != tile or tile not in names or tile == name:
            raise ValueError(f'sizes.{name} must be two integers, or tiles such as ["2*b", "b"] where b is a size')
        if any(type(one) is str for one in table[tile]):
            raise ValueError(f"sizes.{name} has tiles of {tile}, which has tiles itself")
        tiles.append(names.index(tile))
        counted.append((int(start[1] or 1), int(growth[1] or 1)))
    base, steps = zip(*counted, strict=True)
    _require_counts("sizes", (*base, *steps))
    return Lattice(names, base, steps, degree=0, tiles=tuple(tiles) if any(one is not None for one in tiles) else ())


def _constants(table: Any, names: Collection[str]) -> dict[str, int]:
    for name, value in table.items():
        if not _NAME.fullmatch(name) or name in names or name == CALL_NUMBER:
            raise ValueError(f"{name} cannot be the name of a constant: it is taken, or not a lowercase name")
        _require_counts("constants", [value])
    return dict(table)


def _object_names(table: Any) -> tuple[str, ...]:
    if type(table) is not dict or not all(type(entry) is list and entry for entry in table.values()):
        raise ValueError('objects must be a table such as {cache = ["Cache", "size n"]}')
    if OWN in table:
        raise ValueError(f"{OWN} cannot be the name of an object: it is the object whose method is measured")
    return tuple(table)


def _objects(table: Mapping[str, list[str]], known: _Known) -> dict[str, ObjectSpec]:
    return {name: ObjectSpec(str(kind), known.init(init)) for name, (kind, *init) in table.items()}


def _call(entry: Any, known: _Known) -> CallSpec:
    if type(entry) is not list or not entry or type(entry[0]) is not str:
        raise ValueError('before must be a list of calls such as ["update", "array n d"]')
    name, *specs = entry
    owner, _, method = name.rpartition(".")
    if owner and owner not in known.objects:
        raise ValueError(f"before calls {name}, but objects has no {owner}")
    if not method.isidentifier() or " " in name:
        raise ValueError(f"before must begin with the name of a function or method, not {name!r}")
    times = _TIMES.fullmatch(str(specs[-1])) if specs else None
    if times is None:
        return CallSpec(name, known.specs(specs), None)
    return CallSpec(name, known.specs(specs[:-1], repeated=True), _times(times[1], known.sizes))


def _times(text: Any, names: Collection[str]) -> str:
    require_expression(str(text), names)
    return str(text)


def _rule(text: Any, names: tuple[str, ...]) -> tuple[int, int]:
    found = _RULE.fullmatch(str(text))
    if found is None or found[1] not in names or found[2] not in names or found[1] == found[2]:
        raise ValueError(f'where must hold rules such as "n_q <= n_k" between sizes ({", ".join(names)}), not {text!r}')
    return names.index(found[1]), names.index(found[2])


def _law(meter: str, entry: Any) -> tuple[str, int | None]:
    if type(entry) is str:
        return entry, None
    if type(entry) is not dict or entry.keys() != {"law", "exact"}:
        raise ValueError(f'{meter} must be a limit such as "n^2", or {{law = "n^2", exact = 1}}')
    _require_counts("exact", [entry["exact"]])
    return entry["law"], entry["exact"]


def _needs(kind: Any) -> str:
    if kind != "attention":
        raise ValueError('needs must be "attention"')
    return str(kind)


def _compare(index: Any) -> int:
    if type(index) is not int or index < 0:
        raise ValueError("compare must be the index of a part of the result: 0, 1 …")
    return index


def _unguarded(table: Any, meters: Collection[str]) -> dict[str, str]:
    for meter, reason in table.items():
        if meter not in meters:
            raise ValueError(f"unguarded names {meter}, which is not one of its limits ({', '.join(meters)})")
        if type(reason) is not str or len(reason.split()) < 3:
            raise ValueError(f"unguarded.{meter} must say why no misconception breaks this limit")
    return dict(table)


def _tolerance(table: Mapping[str, Any]) -> Tolerance | None:
    if "tolerance" not in table:
        return SINGLE if any(spec.startswith("tensor ") for spec in table["args"]) else None
    size = table["tolerance"]
    if type(size) is not float or not 0 < size < 1:
        raise ValueError("tolerance must be a number between 0 and 1, such as 0.001")
    return Tolerance(size, size)


def _large(key: str, points: Any, names: tuple[str, ...]) -> tuple[Sizes, ...]:
    if type(points) is not list or not points or not all(point.keys() == set(names) for point in points):
        kind = "a list of tables, each" if key == "large" else "a table"
        raise ValueError(f"{key} must be {kind} with {', '.join(names)}")
    large = tuple(tuple(point[size] for size in names) for point in points)
    _require_counts(key, [size for sizes in large for size in sizes])
    return large


def _require_fitting_sizes(contract: Contract) -> None:
    """Refuse sizes that break a rule of the contract itself: wrong steps, cut tiles, or `where`."""
    lattice = contract.lattice
    given = [("large", sizes) for sizes in contract.large]
    given += [("huge", contract.huge)] if contract.huge else []
    for key, sizes in given:
        counted = in_tiles(sizes, lattice.tiles)
        for at, name in enumerate(lattice.names):
            tile = lattice.tiles[at] if lattice.tiles else None
            first, step = lattice.base[at], lattice.step[at]
            if tile is not None and sizes[at] % sizes[tile]:
                raise ValueError(f"{key} has {name} = {sizes[at]}, which is not a multiple of its tile {sizes[tile]}")
            if (counted[at] - first) % step:
                wanted = f"{first} plus a multiple of {step}" + (" tiles" if tile is not None else "")
                raise ValueError(f"{key} has {name} = {sizes[at]}, but sizes says that {name} is {wanted}")
    for sizes in (*lattice.points().values(), *(sizes for _, sizes in given)):
        for rule in contract.broken_rules(sizes):
            at_sizes = ", ".join(f"{name} = {size}" for name, size in zip(lattice.names, sizes, strict=True))
            raise ValueError(f"it is measured at {at_sizes}, which breaks {rule}: choose other sizes")


def _require_counts(key: str, values: Any) -> None:
    if not all(type(value) is int and value > 0 for value in values):
        raise ValueError(f"{key} must hold only integers above 0")
