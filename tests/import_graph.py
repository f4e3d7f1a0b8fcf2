"""The import graph of the project: `python -m tests.import_graph` prints its layers, and what breaks them.

Every import counts, also those inside functions and those for type checkers alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The packages of grader/, lowest first. A file imports only from its own package and from those before it.
LAYERS = (
    "core",
    "course",
    "submission",
    "sandbox.protocol",
    "sandbox.worker",
    "sandbox.jail",
    "sandbox",
    "testing",
    "complexity",
    "diagnosis",
    "grading",
    "classroom",
    "workspace",
    "authoring",
    "pages",
    "platforms",
)
# Each of these serves another reader, and knows nothing of the others.
APART = ({"classroom", "workspace", "authoring"},)
# The only trusted files that import the worker: one forks it, the others run in the student's own Python.
WORKER = "sandbox.worker"
MAY_IMPORT_WORKER = {
    "grader.sandbox.jail.zygote",
    "grader.sandbox.jail.same_process",
    "grader.grading.notebook_magic",
}

Graph = Mapping[str, set[str]]


@cache
def read_graph(root: Path = ROOT, tops: tuple[str, ...] = ("grader", "cli")) -> Graph:
    """Return the files that each file of these folders imports, by their dotted names."""
    files = {_name(path, root): path for top in tops for path in _files(root / top)}
    return {name: set(_imports(path, files.keys())) - {name} for name, path in files.items()}


def _files(folder: Path) -> Iterator[Path]:
    """Yield the Python files of the project below a folder: what students and authors wrote is data."""
    data = {"data", "hidden", "peers"}
    yield from (path for path in folder.rglob("*.py") if not data.intersection(path.relative_to(folder).parts))


def _name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path, known: Iterable[str]) -> Iterator[str]:
    known = set(known)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else node.module for name in names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name for name in names if name in known)


def layer_of(name: str) -> str:
    """Return the layer that a file of grader/ belongs to; empty for the package itself."""
    inside = name.removeprefix("grader").lstrip(".")
    return max((layer for layer in LAYERS if f"{inside}.".startswith(f"{layer}.")), key=len, default="")


def problems(graph: Graph) -> Iterator[str]:
    """Yield every import that runs upwards, crosses to a package apart, or reaches the worker; and every circle."""
    for name, imported in sorted(graph.items()):
        for other in sorted(imported):
            if not name.startswith("grader."):
                continue
            if not other.startswith("grader"):
                yield f"{name} imports {other}: grader/ imports nothing of cli/"
                continue
            mine, theirs = layer_of(name), layer_of(other)
            if not mine:
                yield f"{name} belongs to no layer of tests/import_graph.py"
            elif theirs and LAYERS.index(theirs) > LAYERS.index(mine):
                yield f"{name} imports {other}: {mine} is below {theirs}"
            elif any({mine, theirs} <= apart and mine != theirs for apart in APART):
                yield f"{name} imports {other}: {mine} and {theirs} are kept apart"
            elif theirs == WORKER != mine and name not in MAY_IMPORT_WORKER:
                yield f"{name} imports {other}, which runs beside student code"
    for circle in circles(graph):
        yield "circle: " + " → ".join([*circle, circle[0]])


def circles(graph: Graph) -> Iterator[list[str]]:
    """Yield the groups of files that import each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(name: str) -> Iterator[list[str]]:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                yield from visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                yield sorted(group)

    for name in sorted(graph):
        if name not in index:
            yield from visit(name)


def main() -> int:
    """Print the layers, what each imports, and the problems."""
    graph = read_graph()
    for layer in LAYERS:
        files = [name for name in graph if layer_of(name) == layer]
        below = {layer_of(other) for name in files for other in graph[name]} - {layer, ""}
        print(f"{layer:<17} {len(files):>3} files  imports {', '.join(sorted(below, key=LAYERS.index)) or 'nothing'}")
    found = list(problems(graph))
    entries = sorted(path.name for path in (ROOT / "grader").iterdir() if path.name != "__pycache__")
    print(f"\n{len(graph)} files, {len(entries)} entries in grader/, {len(found)} problems", *found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
