"""The cases of tests/data/: submissions whose verdict is known. tests/case_tables.py writes a table of each family.

A family is a folder. Its groups are files of cells, or folders of complete files, named after what they are for: mostly
a module. A cell begins with `# %% name`, and is laid over other code. The cells of a file share the code before them.
Where the cases of a family differ, a comment begins each: what the case shows, and then `# Expected: ` and the verdict.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from grader.course.module import Module
from grader.course.notebook import read_cells, split_cells
from grader.submission.submission import Source

FOLDER = Path(__file__).parent / "data"
EXPECTED = "# Expected: "
_CELL = re.compile(r"^# %% (?P<name>.+)$", re.MULTILINE)
_OF_A_MODULE = re.compile(r"\d\d_\w+")


@dataclass(frozen=True)
class Family:
    """What the cases of a folder have in common. `expected` is the verdict of a case that names none."""

    about: str
    expected: str = ""


FAMILIES = {
    "attacks": Family(
        "Functions that try to leave the jail, after `../attack_prelude.py`. The word in brackets is the family of an "
        "attack that is not of its file's",
        "reaches nothing",
    ),
    "cheats": Family(
        "Complete submissions that compute the right numbers, and break a limit, a forbidden call or a device rule. "
        "A cell changes `../cheat_bases/`, or the solution where that has no file"
    ),
    "device": Family("Functions on the simulated GPU. Expected are the kinds of findings"),
    "drafts": Family(
        "First drafts as new students write them: some functions done, some wrong, some not begun, over the stub. "
        "Expected are the function that `attn test` shows first, and what is wrong with it"
    ),
    "gpu_cheats": Family("Cheats on the simulated GPU, laid over the solution. Expected is what the checks say"),
    "honest": Family("Right submissions as students write them", "full marks without review, under another salt"),
    "implementations": Family(
        "Right and wrong costs, laid over the solution. Expected are the meters of each function that fail, or "
        "`forbidden`, or `inconclusive`"
    ),
    "raising": Family(
        "Right code with one slip that raises, laid over the solution. Expected is what the diagnosis says",
        "no name",
    ),
    "right": Family("Right solutions in very different styles", "full marks without review"),
    "styles": Family(
        "Known mistakes as other students write them, laid over the solution. The first word is the misconception",
        "gets the name of its first word",
    ),
    "unknown": Family(
        "Mistakes that no misconception describes, laid over the solution. `_and_` joins two that have a name",
        "loses marks, and gets no other name",
    ),
    "wild": Family(
        "Mistakes as people write them, laid over the solution or over the stub. Expected are the misconceptions whose "
        "name is true of it, or `no name: ` and why"
    ),
}


@dataclass(frozen=True)
class Case:
    """A complete submission, or code to be laid over other code; what it shows, and its verdict."""

    group: str
    name: str
    shows: str
    expected: str
    cells: tuple[str, ...]
    whole: bool = True
    notebook: bool = False

    @property
    def module(self) -> str:
        return self.group.rpartition("/")[2]

    @property
    def code(self) -> str:
        return "\n\n".join(self.cells)

    def over(self, text: str) -> str:
        """Return a text, and this code after it."""
        return f"{text}\n\n{self.code}"

    def changing(self, text: str) -> str:
        """Return a text without what this code defines and without trials, and this code after it.

        A class that derives from itself stays: it changes some of the methods.
        """
        names = {name for statement in ast.parse(self.code).body for name in _defined(statement) - _derived(statement)}
        lines = text.splitlines()
        for statement in reversed(ast.parse(text).body):
            if _is_trial(statement) or names & _defined(statement):
                decorators = [one.lineno for one in getattr(statement, "decorator_list", ())]
                del lines[min([statement.lineno, *decorators]) - 1 : statement.end_lineno]
        return self.over("\n".join(lines))

    def source(self, module: Module) -> Source:
        """Return a complete submission as the file that a student hands in."""
        return Source(f"{module.slug}.{'ipynb' if self.notebook else 'py'}", self.cells, self.notebook)


def cases(family: str, group: str = "") -> list[Case]:
    """Return the cases of a family, or of one of its groups, in the order of their names."""
    folder = FOLDER / family
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".ipynb"))
    found = [case for path in paths for case in _read(path, folder, FAMILIES[family].expected)]
    return [case for case in found if group in ("", case.group)]


def about_group(path: Path) -> str:
    """Return what a file of cells says of all of them."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _read(path: Path, folder: Path, expected: str) -> Iterator[Case]:
    place = path.relative_to(folder)
    if not _OF_A_MODULE.fullmatch(path.parent.name):
        yield from _read_cells(path.read_text(encoding="utf-8"), place.with_suffix("").as_posix(), expected)
        return
    notebook = path.suffix == ".ipynb"
    cells = read_cells(path.read_bytes()) if notebook else (path.read_text(encoding="utf-8"),)
    said = _said(path.stem, cells[0] if cells else "", expected)
    yield Case(place.parent.as_posix(), path.stem, *said, cells, notebook=notebook)


def _read_cells(text: str, group: str, expected: str) -> Iterator[Case]:
    head, found = split_cells(_CELL, text)
    shared = "\n".join(ast.unparse(one) for one in ast.parse(head).body if not isinstance(one, ast.Expr))
    for mark, cell in found:
        code = f"{shared}\n\n{cell}" if shared else cell
        yield Case(group, mark["name"], *_said(mark["name"], cell, expected), (code,), whole=False)


def _said(name: str, text: str, default: str) -> tuple[str, str]:
    """Return what a case shows and its verdict: from its first comment, if that has a verdict, or else by default."""
    comment = list(takewhile(lambda line: line.startswith("#"), text.lstrip("\n").splitlines()))
    words = name.replace("_", " ")
    if not comment or not comment[-1].startswith(EXPECTED):
        return words, default
    shows = " ".join(line.removeprefix("# ") for line in comment[:-1])
    return shows or words, comment[-1].removeprefix(EXPECTED)


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return {
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
    return set()


def _derived(statement: ast.stmt) -> set[str]:
    """Return the name of a class that derives from the class of its own name."""
    bases = {ast.unparse(base) for base in statement.bases} if isinstance(statement, ast.ClassDef) else set()
    return bases & _defined(statement)


def _is_trial(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"
