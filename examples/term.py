"""A complete term, using real commands.

The steps are release, hand in, collect, grade, sync, feedback, dashboard and export. Run it in a clone with the extra
`instructor`: `python examples/term.py [FOLDER]` plays one assignment with six students. With `--all`, two of them hand
in every other module of the course, too, but for one that needs a GPU. It prints every command and its result. It exits
with 1 if nbgrader and AttnLab give different scores, if a sync removes a manual score, or if feedback contains a line
of a hidden test or of the solution that the student did not write.
"""

from __future__ import annotations

import copy
import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
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

    def __init__(self, folder: Path, others: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.others = others  # modules after the first one
        self.modules = (MODULE, *others)
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

    def answers(self) -> dict[str, str]:
        """Return the text of the cells that a student fills in, by their nbgrader ids."""
        cells = {
            cell["metadata"].get("nbgrader", {}).get("grade_id", ""): cell["source"] for cell in self.data["cells"]
        }
        return {name: "".join(text) for name, text in cells.items() if name.startswith("answer-")}

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


def released(term: Term, module: str) -> Notebook:
    """Return the notebook that students receive."""
    return Notebook(term.course / "release" / module / f"{module[3:]}.ipynb")


def first_work() -> dict[str, dict[str, str]]:
    """Return the cells that six students fill in for the first module."""
    edited = answers(softmax=NO_MAXIMUM) | {"test-softmax": "assert True  # nothing to see here"}
    return {
        "ana_attempt_2026-09-30-10-00-00": answers(),  # right
        "ben_attempt_2026-09-30-11-00-00": answers(softmax=NO_MAXIMUM),  # wrong
        "cleo_attempt_2026-10-03-09-00-00": answers(),  # right, two days late
        "dora_attempt_2026-09-30-12-00-00": {},  # empty: the unchanged stubs
        "eli_attempt_2026-09-30-13-00-00": edited,  # wrong, with a locked cell edited
        "mal_attempt_2026-09-30-14-00-00": answers(softmax=MALICIOUS),  # malicious
    }


def other_work(term: Term, module: str) -> dict[str, dict[str, str]]:
    """Return the cells of two students for another module: ana is right, ben leaves out the first function."""
    right = Notebook(term.course / "source" / module / f"{module[3:]}.ipynb").answers()
    first = next(iter(right))
    return {
        "ana_attempt_2026-09-30-10-00-00": right,
        "ben_attempt_2026-09-30-11-00-00": {name: text for name, text in right.items() if name != first},
    }


def hand_in(term: Term) -> None:
    """Write the students' notebooks to the folders where the platform's downloads go."""
    for module in term.modules:
        work = first_work() if module == MODULE else other_work(term, module)
        folder = term.course / "downloaded" / module / "archive"
        folder.mkdir(parents=True)
        for name, cells in work.items():
            text = released(term, module).with_cells(cells)
            (folder / f"{name}_{module[3:]}.ipynb").write_text(text, encoding="utf-8")
        print(f"\n{len(work)} students hand in {module}: {', '.join(name.partition('_')[0] for name in work)}")
    config = term.course / "nbgrader_config.py"
    with config.open("a", encoding="utf-8") as file:
        file.write(f"\nc.FileNameCollectorPlugin.named_regexp = {NAMES!r}\n")


def automatic_scores(term: Term) -> dict[tuple[str, str], float]:
    """Return the automatic scores in nbgrader's gradebook by student and module, without manual scores."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{term.course / 'gradebook.db'}") as gradebook:
        return {
            (submission.student.id, module): round(
                sum(grade.auto_score or 0.0 for book in submission.notebooks for grade in book.grades), 6
            )
            for module in term.modules
            for submission in gradebook.assignment_submissions(module)
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


def secrets(term: Term, module: str) -> set[str]:
    """Return the lines of the hidden suite and the solution that no released notebook and no title has."""
    public = "\n".join("".join(cell["source"]) for cell in released(term, module).data["cells"])
    files = (ROOT / "tests" / "hidden" / f"test_{module}.py", ROOT / "solutions" / module / f"{module[3:]}.py")
    texts = [path.read_text(encoding="utf-8") for path in files]
    public += "\n".join(re.findall(r'@worth\([\d.]+, "(.*?)"', texts[0]))  # reports say what a check is about
    lines = {line.strip() for text in texts for line in text.splitlines()}
    return {line for line in lines if len(line) >= 12 and line not in public}


def leaks(term: Term, pages: dict[tuple[str, str], Path]) -> list[str]:
    """Return the secret lines on the pages, by student and module, that are not in the student's own notebook."""
    found = []
    for (student, module), path in pages.items():
        text = html.unescape(path.read_text(encoding="utf-8"))
        text += html.unescape(text)  # a page inside nbgrader's feedback is escaped twice
        (handed_in,) = (term.course / "submitted" / student / module).glob("*.ipynb")
        own = "\n".join("".join(cell["source"]) for cell in Notebook(handed_in).data["cells"])
        found += [f"{student}: {line}" for line in secrets(term, module) if line in text and line not in own]
    return found


def feedback(term: Term, expected: int) -> None:
    """Make feedback with nbgrader and with AttnLab, and search both for secrets."""
    for module in term.modules:
        term.run("nbgrader", "generate_feedback", module)
    term.run("attn", "feedback", str(term.reports), "--nbgrader", str(term.course), shown=1)
    term.run("attn", "feedback", str(term.reports), "--to", str(term.folder / "pages"), shown=1)
    inside = {(path.parents[1].name, path.parent.name): path for path in (term.course / "feedback").rglob("*.html")}
    pages = (term.folder / "pages").glob("*/*.html")
    alone = {(path.stem, path.parent.name): path for path in pages}
    both = inside.keys() & alone.keys()
    term.require(len(both) == expected, f"feedback for {len(both)} of {expected} submissions, both ways")
    found = leaks(term, inside) + leaks(term, alone)
    count = sum(len(secrets(term, module)) for module in term.modules)
    term.require(not found, f"none of {count} secret lines is in the feedback {found[:2] or ''}".strip())


def dashboard(term: Term, students: set[str]) -> None:
    """Make the page about the class."""
    path = term.folder / "dashboard.html"
    term.run("attn", "dashboard", str(term.reports), "--to", str(path))
    text = path.read_text(encoding="utf-8")
    found = [name for name in students if f">{name}<" in text]
    term.require(len(found) == len(students), f"the dashboard names {len(found)} of {len(students)} students")


def export(term: Term, marks: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Export the gradebook and compare it with the marks."""
    term.run("nbgrader", "export")
    with (term.course / "grades.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            whose = (row["student_id"], row["assignment"])
            if whose not in marks:  # nbgrader lists every student for every assignment
                continue
            values = [
                row[name] for name in ("student_id", "raw_score", "late_submission_penalty", "score", "max_score")
            ]
            module = f"  {whose[1]}" if term.others else ""
            print("{:<6} raw {:>5}  penalty {:>5}  score {:>5} of {}{}".format(*values, module))
            manual = 2.0 if whose == ("ana", MODULE) else 0.0
            good = abs(float(row["score"]) - marks[whose]["final"] - manual) < 1e-6
            term.wrong += [] if good else [f"the exported score of {' in '.join(whose)}"]
    term.require(
        not any("exported" in one for one in term.wrong), "the exported scores are the final marks of attn grade"
    )


def play(term: Term) -> None:
    """Play the term from release to export."""
    slugs = [module[3:] for module in term.modules]
    term.run("attn", "course", "init", str(term.course), "--late-penalty", RULE, shown=1)
    term.run("attn", "release", *slugs, "--to", str(term.course), "--due", DUE, shown=len(slugs))
    hand_in(term)
    for module in term.modules:
        term.run("nbgrader", "zip_collect", module)
        term.run("nbgrader", "autograde", module)
    by_nbgrader = automatic_scores(term)
    grade_by_hand(term, "ana", 2.0)
    submitted = str(term.course / "submitted")
    term.run(
        *("attn", "grade", submitted, "--to", str(term.reports), "--due", DUE, "--late-penalty", RULE),
        shown=80,
        ok=(0, 1),
    )
    saved = json.loads((term.reports / "grades.json").read_text(encoding="utf-8"))
    marks = {(mark["id"], mark["module"]): mark for mark in saved if mark["status"] != "missing"}
    by_attn = {whose: mark["score"] for whose, mark in marks.items()}
    term.require(by_nbgrader == by_attn, f"nbgrader autograde and attn grade agree on all {len(by_attn)} scores")
    term.run("attn", "gradebook", "sync", str(term.reports), "--nbgrader", str(term.course), shown=1)
    term.require(automatic_scores(term) == by_attn, "the gradebook still has these scores after the sync")
    term.require(manual_score(term, "ana") == 2.0, "the manual score is still there")
    right = [mark for (name, module), mark in marks.items() if name == "ana" and module in term.others]
    if right:
        term.require(all(mark["score"] == mark["max_score"] for mark in right), "right work has full marks")
    feedback(term, len(by_attn))
    dashboard(term, {name for name, _ in marks})
    export(term, marks)


def needs_gpu(module: Path) -> bool:
    """Whether a module runs only on a GPU: nbgrader cannot grade it."""
    return tomllib.loads(module.read_text(encoding="utf-8")).get("needs") == "cuda"


def main() -> int:
    """Play a term in the given folder, or in a temporary one."""
    given = [argument for argument in sys.argv[1:] if argument != "--all"]
    names = sorted(path.parent.name for path in (ROOT / "modules").glob("*/module.toml") if not needs_gpu(path))
    others = tuple(name for name in names if name != MODULE) if "--all" in sys.argv else ()
    kept = Path(given[0]).resolve() if given else None
    folder = kept or Path(tempfile.mkdtemp(prefix="term-"))
    folder.mkdir(parents=True, exist_ok=True)
    term = Term(folder, others)
    try:
        play(term)
    finally:
        if kept is None:
            shutil.rmtree(folder)
    print("\nall checks passed" if not term.wrong else f"\nFAILED: {'; '.join(term.wrong)}")
    return 1 if term.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
