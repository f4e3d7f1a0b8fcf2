"""The shape of the project: who may import whom, and what start-up may load."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.import_graph import problems, read_graph

# Each package, and the packages of this project it may import.
ALLOWED = {
    "cli": {"cli", "grader"},
    "grader": {"grader"},
    "modules": {"grader", "cli"},  # of cli only the package of their course: see test_engine_knows_no_course.py
    "solutions": set(),
    "tests/hidden": {"grader"},
}
OURS = {"cli", "grader", "modules", "solutions", "tests"}


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add((node.module or "").partition(".")[0])
    return names


ENTRIES = 14  # of grader/: its thirteen packages and __init__.py


def test_every_import_keeps_the_layers() -> None:
    assert list(problems(read_graph())) == []
    assert len([path for path in (ROOT / "grader").iterdir() if path.name != "__pycache__"]) <= ENTRIES


@pytest.mark.parametrize(
    ("importer", "imported", "words"),
    [
        ("grader.core.report", "grader.grading.grade", "core is below grading"),
        ("grader.sandbox.protocol.wire", "grader.sandbox.session", "sandbox.protocol is below sandbox"),
        ("grader.classroom.batch", "grader.workspace.progress", "classroom is below workspace"),
        ("grader.authoring.build", "grader.classroom.roster", "authoring and classroom are kept apart"),
        ("grader.pages.report_page", "grader.platforms.moodle", "pages is below platforms"),
        ("grader.grading.judge", "grader.sandbox.worker.worker", "runs beside student code"),
        ("grader.core.report", "cli.main", "grader/ imports nothing of cli/"),
        ("grader.course.module", "grader.course.course", "circle: "),
    ],
)
def test_a_forbidden_import_is_found(importer: str, imported: str, words: str) -> None:
    graph = dict(read_graph())
    graph[importer] = graph[importer] | {imported}
    assert any(words in problem for problem in problems(graph))


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_go_in_one_direction(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        assert imports(path) & OURS <= ALLOWED[package], path


def test_the_grader_neither_prints_nor_knows_click() -> None:
    for path in (ROOT / "grader").rglob("*.py"):
        tree = ast.parse(path.read_text())
        calls = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert "print" not in calls, path
        assert "click" not in imports(path), path


def test_nothing_of_ours_unpickles() -> None:
    for package in ("cli", "grader"):
        for path in (ROOT / package).rglob("*.py"):
            assert not imports(path) & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}, path


def test_every_file_says_what_it_is_and_stays_small() -> None:
    for package in ("cli", "grader"):
        for path in (ROOT / package).rglob("*.py"):
            first = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
            assert first, f"{path} has no docstring"
            assert len(path.read_text().splitlines()) <= 400, path


LONGEST_FUNCTION = 60  # lines
MOST_ATTRIBUTES = 12  # public ones of a class: fields, properties and methods, without those it inherits
# What may be longer or wider, each with its reason.
EXCEPTIONS = {
    "cli/attention/explorer_page.py: ExplorerPage": "one field for each part of a page",
    "cli/attention/gpt/training_run.py: TrainingRun": "one field for each setting of a run",
    "grader/classroom/marks.py: Mark": "one field for each column of the class list",
    "grader/classroom/rules.py: Rules": "one field for each rule that an option or course.toml can give",
    "grader/classroom/store/files.py: FileWriter": "the operations of StoreWriter, in a folder",
    "grader/classroom/store/postgres_writer.py: PostgresWriter": "the operations of StoreWriter, in a database",
    "grader/classroom/store/store.py: StoreWriter": "an interface: one operation for each thing that is kept",
    "grader/complexity/audit.py: Reason": "an enumeration: what stops code from being certified",
    "grader/complexity/audit.py: _Auditor": "one method for each kind of syntax, as ast wants it",
    "grader/complexity/contract.py: Contract": "one field for each key of a contract in module.toml",
    "grader/core/report.py: Report": "one field for each key of the published schema",
    "grader/core/summary.py: Summary": "a row of a table: one field for each fact that a class needs of a report",
    "grader/course/module.py: Module": "one field for each key of module.toml, one path for each file of a module",
    "grader/diagnosis/match.py: Matcher": "one question for each thing that a finding depends on",
    "grader/diagnosis/probe.py: Probe": "one field for each argument that an author gives to `probe`",
    "grader/pages/cost_plot.py: CostPlot": "one field for each part of a picture",
    "grader/pages/dashboard_page.py: DashboardPage": "one field for each part of a page",
    "grader/pages/report_page.py: ReportPage": "one field for each part of a page",
    "grader/platforms/cluster/settings.py: WorkerPlan": "one field for each option of `attn cluster`",
    "grader/sandbox/worker/gpu/simulated.py: SimulatedGpu": "a state that three modes of torch share",
    "grader/sandbox/worker/meters/counts.py: Counts": "one method for each thing that is counted",
    "grader/sandbox/worker/meters/meter.py: Meter": "one hook for each kind of expression that rewritten code passes",
    "grader/sandbox/worker/meters/rewrite.py: _Rewriter": "one method for each kind of syntax, as ast wants it",
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def public_attributes(node: ast.ClassDef) -> set[str]:
    """Return the names that a class defines for others: in its body, and on `self` in its methods."""
    names = {item.name for item in node.body if isinstance(item, _Function)}
    for item in node.body:
        targets = item.targets if isinstance(item, ast.Assign) else []
        targets = [item.target] if isinstance(item, ast.AnnAssign) else targets
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            names |= {inner.attr} if isinstance(inner.value, ast.Name) and inner.value.id == "self" else set()
    return {name for name in names if not name.startswith("_")}


def too_large(path: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield every function and class of a file that is too large, and its size in words."""
    for node in ast.walk(tree):
        if isinstance(node, _Function) and (lines := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION:
            yield f"{path}: {node.name}", f"{lines} lines"
        if isinstance(node, ast.ClassDef) and len(names := public_attributes(node)) > MOST_ATTRIBUTES:
            yield f"{path}: {node.name}", f"{len(names)} public attributes: {', '.join(sorted(names))}"


def test_functions_and_classes_stay_small() -> None:
    files = [path for package in ("cli", "grader") for path in (ROOT / package).rglob("*.py")]
    found = dict(
        one for path in files for one in too_large(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text()))
    )
    over = [f"{name} has {size}" for name, size in sorted(found.items()) if name not in EXCEPTIONS]
    assert not over, "\n".join(["too large:", *over])
    stale = sorted(EXCEPTIONS.keys() - found.keys())
    assert not stale, "\n".join(["small enough by now, so no exception:", *stale])


def test_what_is_too_large_is_found() -> None:
    long = "def long():\n" + "    pass\n" * LONGEST_FUNCTION
    fields = "".join(f"    f{number}: int\n" for number in range(10))
    wide = f"class Wide:\n{fields}    def go(self):\n        self.a = self._b = 1\n        self.c: int = 1\n"
    assert [name for name, _ in too_large("x.py", ast.parse(long + wide))] == ["x.py: long", "x.py: Wide"]
    assert (
        list(too_large("x.py", ast.parse(long.replace("    pass\n", "", 1) + wide.replace("self.c", "self._c")))) == []
    )
