"""A complete term with one assignment, using real commands.

The steps are release, six students, collect, grade, sync, feedback and export. Run it in a clone with the extra
`instructor`: `python examples/term.py [FOLDER]`. It prints every command and its result. It exits with 1 if nbgrader
and AttnLab give different scores, if a sync removes a manual score, or if feedback contains a line of a hidden test or
of the solution.
"""

from __future__ import annotations

import copy
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
MODULE, SLUG = "01_softmax", "softmax"
DUE = "2026-10-01 23:59 UTC"
RULE = "10%/day"
# The file names in the learning platform's download, for `nbgrader zip_collect`.
NAMES = r".*/(?P<student_id>\w+)_attempt_(?P<timestamp>[0-9\-]+)_(?P<file_id>\w+)"

RIGHT = {
    "softmax": """\
def softmax(x, axis=-1):
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values -= np.amax(values, axis, keepdims=True)
    np.exp(values, out=values)
    values /= np.add.reduce(values, axis, keepdims=True)
    return values
""",
    "log_softmax": """\
def log_softmax(x, axis=-1):
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values -= np.amax(values, axis, keepdims=True)
    return values - np.log(np.add.reduce(np.exp(values), axis, keepdims=True))
""",
    "softmax_with_temperature": """\
def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError(f"no such temperature: {temperature}")
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values /= temperature
    return softmax(values, axis)
""",
    "reflect": "REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 88, 709\n",
}
NO_MAXIMUM = """\
def softmax(x, axis=-1):
    powers = np.exp(np.asarray(x))
    return powers / powers.sum(axis=axis, keepdims=True)
"""
MALICIOUS = f"""\
import os, pathlib
for place in ({str(ROOT / "tests" / "hidden")!r}, {str(ROOT / "solutions")!r}, os.getcwd()):
    for path in pathlib.Path(place).rglob("*"):
        try:
            print(path, path.read_text()[:80])
        except OSError:
            pass
class Yes(np.ndarray):
    def __eq__(self, other):
        return True
def softmax(x, axis=-1):
    return np.zeros(np.shape(x)).view(Yes)
"""
OPEN = "A softmax without the maximum overflows for scores above 709; with it, differences of 750 vanish quietly."


class Term:
    """The course directory of one term, and the commands run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.course = folder / "attention"
        self.reports = folder / "reports"
        self.wrong: list[str] = []

    def run(self, *command: str, shown: int = 0, ok: tuple[int, ...] = (0,)) -> str:
        """Run a command as an instructor would. Print it and its last `shown` lines, and return its output."""
        inside = command[0] == "nbgrader"
        print(f"\n$ {' '.join(self.named(part) for part in command)}", flush=True)
        done = subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=self.course if inside else ROOT,
            env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in ok:
            print(done.stdout + done.stderr)
            raise SystemExit(f"{command[0]} ended with {done.returncode}")
        for line in done.stdout.splitlines()[-shown:] if shown else ():
            print(self.named(line))
        return done.stdout

    def named(self, text: str) -> str:
        """Replace the path of this term's folder by `term`."""
        return text.replace(str(self.folder), "term")

    def require(self, good: bool, what: str) -> None:
        """Print whether a condition holds, and remember it if it does not."""
        print(f"{'ok ' if good else 'NOT'} {what}")
        self.wrong += [] if good else [what]


class Notebook:
    """A released notebook that a student fills in."""

    def __init__(self, path: Path) -> None:
        self.data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))

    def with_cells(self, cells: dict[str, str]) -> str:
        """Return the file with new text in some cells, given by their nbgrader ids."""
        data = copy.deepcopy(self.data)
        for cell in data["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            if name in cells:
                cell["source"] = cells[name]
        return json.dumps(data)


def answers(**other: str) -> dict[str, str]:
    """Return the cells of a student who is right, with some of them replaced."""
    return {f"answer-{target}": text for target, text in (RIGHT | other).items()} | {"open-answer": OPEN}


def hand_in(term: Term, released: Notebook) -> None:
    """Write the notebooks of six students to the folder where the platform's download goes."""
    edited = answers(softmax=NO_MAXIMUM) | {"test-softmax": "assert True  # nothing to see here"}
    work = {
        "ana_attempt_2026-09-30-10-00-00": answers(),  # right
        "ben_attempt_2026-09-30-11-00-00": answers(softmax=NO_MAXIMUM),  # wrong
        "cleo_attempt_2026-10-03-09-00-00": answers(),  # right, two days late
        "dora_attempt_2026-09-30-12-00-00": {},  # empty: the unchanged stubs
        "eli_attempt_2026-09-30-13-00-00": edited,  # wrong, with a locked cell edited
        "mal_attempt_2026-09-30-14-00-00": answers(softmax=MALICIOUS),  # malicious
    }
    folder = term.course / "downloaded" / MODULE / "archive"
    folder.mkdir(parents=True)
    for name, cells in work.items():
        (folder / f"{name}_{SLUG}.ipynb").write_text(released.with_cells(cells), encoding="utf-8")
    config = term.course / "nbgrader_config.py"
    with config.open("a", encoding="utf-8") as file:
        file.write(f"\nc.FileNameCollectorPlugin.named_regexp = {NAMES!r}\n")
    print(f"\n{len(work)} students hand in: {', '.join(name.partition('_')[0] for name in work)}")


def automatic_scores(term: Term) -> dict[str, float]:
    """Return the automatic score of each student in nbgrader's gradebook, without manual scores."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{term.course / 'gradebook.db'}") as gradebook:
        return {
            submission.student.id: round(
                sum(grade.auto_score or 0.0 for book in submission.notebooks for grade in book.grades), 6
            )
            for submission in gradebook.assignment_submissions(MODULE)
        }


def grade_by_hand(term: Term, student: str, points: float) -> None:
    """Give points for an open answer, as an instructor does in formgrader."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{term.course / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("open-answer", SLUG, MODULE, student)
        grade.manual_score = points
        gradebook.find_comment("open-answer", SLUG, MODULE, student).manual_comment = "Well seen."
        gradebook.db.commit()
    print(f"\n(in formgrader: {points:g} points for {student}'s open answer)")


def manual_score(term: Term, student: str) -> float | None:
    """Return the manual score of the open answer."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{term.course / 'gradebook.db'}") as gradebook:
        score: float | None = gradebook.find_grade("open-answer", SLUG, MODULE, student).manual_score
        return score


def secrets(term: Term) -> set[str]:
    """Return the lines of the hidden suite and the solution that are not in the released notebook."""
    given = json.loads((term.course / "release" / MODULE / f"{SLUG}.ipynb").read_text(encoding="utf-8"))
    public = "\n".join("".join(cell["source"]) for cell in given["cells"])
    files = (ROOT / "tests" / "hidden" / f"test_{MODULE}.py", ROOT / "solutions" / MODULE / f"{SLUG}.py")
    lines = {line.strip() for path in files for line in path.read_text(encoding="utf-8").splitlines()}
    return {line for line in lines if len(line) >= 12 and line not in public}


def leaks(term: Term) -> list[str]:
    """Return the secret lines found in the students' feedback."""
    import html

    found = []
    for path in (term.course / "feedback").rglob("*.html"):
        text = html.unescape(path.read_text(encoding="utf-8"))
        found += [f"{path.parent.parent.name}: {line}" for line in secrets(term) if line in text]
    return found


def play(term: Term) -> None:
    """Play the term from release to export."""
    term.run("attn", "course", "init", str(term.course), "--late-penalty", RULE, shown=1)
    term.run("attn", "release", SLUG, "--to", str(term.course), "--due", DUE, shown=3)
    hand_in(term, Notebook(term.course / "release" / MODULE / f"{SLUG}.ipynb"))
    term.run("nbgrader", "zip_collect", MODULE)
    term.run("nbgrader", "autograde", MODULE)
    by_nbgrader = automatic_scores(term)
    grade_by_hand(term, "ana", 2.0)
    submitted = str(term.course / "submitted")
    term.run(
        *("attn", "grade", submitted, "--to", str(term.reports), "--due", DUE, "--late-penalty", RULE),
        shown=40,
        ok=(0, 1),
    )
    marks = {mark["id"]: mark for mark in json.loads((term.reports / "grades.json").read_text(encoding="utf-8"))}
    by_attn = {name: mark["score"] for name, mark in marks.items()}
    term.require(by_nbgrader == by_attn, f"nbgrader autograde and attn grade agree on all {len(by_attn)} scores")
    term.run("attn", "gradebook", "sync", str(term.reports), "--course", str(term.course), shown=1)
    term.require(automatic_scores(term) == by_attn, "the gradebook still has these scores after the sync")
    term.require(manual_score(term, "ana") == 2.0, "the manual score is still there")
    term.run("nbgrader", "generate_feedback", MODULE)
    pages = len(list((term.course / "feedback").rglob("*.html")))
    term.require(pages == len(by_attn), f"feedback for {pages} of {len(by_attn)} students")
    found = leaks(term)
    term.require(not found, f"none of {len(secrets(term))} secret lines is in the feedback {found[:2] or ''}".strip())
    term.run("nbgrader", "export")
    with (term.course / "grades.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            values = [
                row[name] for name in ("student_id", "raw_score", "late_submission_penalty", "score", "max_score")
            ]
            print("{:<6} raw {:>5}  penalty {:>5}  score {:>5} of {}".format(*values))
            mark = marks[row["student_id"]]
            manual = 2.0 if row["student_id"] == "ana" else 0.0
            good = abs(float(row["score"]) - mark["final"] - manual) < 1e-6
            term.wrong += [] if good else [f"the exported score of {row['student_id']}"]
    term.require(
        not any("exported" in one for one in term.wrong), "the exported scores are the final marks of attn grade"
    )


def main() -> int:
    """Play a term in the given folder, or in a temporary one."""
    kept = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    folder = kept or Path(tempfile.mkdtemp(prefix="term-"))
    folder.mkdir(parents=True, exist_ok=True)
    term = Term(folder)
    try:
        play(term)
    finally:
        if kept is None:
            shutil.rmtree(folder)
    print("\nall checks passed" if not term.wrong else f"\nFAILED: {'; '.join(term.wrong)}")
    return 1 if term.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
