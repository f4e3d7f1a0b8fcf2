"""Students of an nbgrader course: their notebooks, and how these get into `submitted/`."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MODULE = "01_softmax"

# Written in another style than the solution: the two have no line in common.
RIGHT = {
    "softmax": """
def softmax(x, axis=-1):
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values -= np.amax(values, axis, keepdims=True)
    np.exp(values, out=values)
    values /= np.add.reduce(values, axis, keepdims=True)
    return values
""",
    "log_softmax": """
def log_softmax(x, axis=-1):
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values -= np.amax(values, axis, keepdims=True)
    return values - np.log(np.add.reduce(np.exp(values), axis, keepdims=True))
""",
    "softmax_with_temperature": """
def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError("no such temperature: %s" % temperature)
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values /= temperature
    return softmax(values, axis)
""",
    "reflect": "REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 88, 709",
}
NO_MAXIMUM = """
def softmax(x, axis=-1):
    powers = np.exp(np.asarray(x))
    return powers / powers.sum(axis=axis, keepdims=True)
"""
# Reads all files it can, claims to be right, and leaves a file if it ever runs outside the jail.
MALICIOUS = """
import pathlib, sys
for place in ("{course}/tests/hidden/test_01_softmax.py", "{course}/solutions/01_softmax/softmax.py"):
    try:
        loot = pathlib.Path(place).read_text()
        pathlib.Path("{mark}").write_text(loot)
    except OSError:
        loot = ""
try:
    pathlib.Path("{mark}").write_text("was here")
except OSError:
    pass
class Yes(np.ndarray):
    def __eq__(self, other): return True
def softmax(x, axis=-1):
    sys.modules["grader.core.compare"] = None
    return np.zeros(np.shape(x)).view(Yes)
"""


class Notebook:
    """A released notebook that a student fills in."""

    def __init__(self, release: Path) -> None:
        self.data: dict[str, Any] = json.loads(release.read_text())

    def cell(self, grade_id: str) -> dict[str, Any]:
        """Return the cell with an nbgrader id."""
        return next(cell for cell in self.data["cells"] if grade_id_of(cell) == grade_id)

    def write(self, grade_id: str, text: str) -> Notebook:
        """Return a copy with new text in a cell."""
        changed = copy.deepcopy(self)
        changed.cell(grade_id)["source"] = text
        return changed

    def answer(self, answers: Mapping[str, str], words: str = "When the scores are 750 apart.") -> Notebook:
        """Return a copy with the answers filled in."""
        filled = self.write("open-answer", words)
        for target, text in answers.items():
            filled = filled.write(f"answer-{target}", text)
        return filled

    def add(self, kind: str, text: str, **metadata: Any) -> Notebook:
        """Return a copy with one more cell at the end."""
        changed = copy.deepcopy(self)
        changed.data["cells"].append({"cell_type": kind, "metadata": metadata, "source": text})
        return changed

    def without(self, grade_id: str) -> Notebook:
        """Return a copy without one cell."""
        changed = copy.deepcopy(self)
        changed.data["cells"].remove(changed.cell(grade_id))
        return changed

    @property
    def text(self) -> str:
        """The file."""
        return json.dumps(self.data)


def grade_id_of(cell: Mapping[str, Any]) -> str:
    """Return the nbgrader id of a cell."""
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def hand_in(root: Path, student: str, text: str, when: str = "2026-08-09 12:00:00 UTC", module: str = MODULE) -> Path:
    """Write a file to the folder where nbgrader collects, with its submission time; return its path."""
    folder = root / "submitted" / student / module
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "timestamp.txt").write_text(f"{when}\n")
    place = folder / f"{module[3:]}.ipynb"
    place.write_text(text)
    return place
