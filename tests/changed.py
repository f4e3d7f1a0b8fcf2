"""What a change needs while you work: `python -m tests.changed` runs the quick tests nearest to the files that changed.

A file of tests is near to what it mirrors and to what it imports, directly or through other files. Data of a module and
of a family of submissions has its own tests. The nearest tests that fit into half a minute are run, and what is left
out is said: `make test` is for before a commit.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.import_graph import ROOT, read_graph

SECONDS = 60  # of one core, for the tests of one run
FEW = 1  # of one core, for a file of tests that is not in this table
SLOW = {
    "tests/sandbox/jail/test_jail.py": 44,
    "tests/authoring/test_soundness.py": 30,
    "tests/cli/attention/test_explain.py": 26,
    "tests/grading/test_suite.py": 26,
    "tests/cli/student/test_submit.py": 24,
    "tests/sandbox/test_session.py": 23,
    "tests/grading/test_grade.py": 19,
    "tests/cli/instructor/test_grade.py": 19,
    "tests/classroom/test_marking.py": 18,
    "tests/acceptance/journey/test_interrupts.py": 17,
    "tests/cli/ui/test_terminal.py": 17,
    "tests/classroom/test_results.py": 15,
    "tests/classroom/test_accounting.py": 12,
    "tests/sandbox/test_liars.py": 10,
    "tests/cli/student/test_hint.py": 10,
    "tests/diagnosis/test_parts.py": 10,
    "tests/cli/student/test_status.py": 9,
    "tests/cli/instructor/test_review.py": 9,
    "tests/authoring/test_tiny_courses.py": 8,
    "tests/cli/author/test_dev.py": 8,
    "tests/sandbox/worker/test_rehearsal.py": 8,
}
TESTS = "test_"
# The tests of data: by folder, files or single tests. `{name}` is the module, `{slug}` what it is called.
OF_MODULE = (
    "tests/modules/test_lesson_{slug}.py",
    "tests/modules/test_claims.py",
    "tests/modules/test_lessons.py",
    "tests/modules/test_shown_shapes.py::test_a_table_of_the_shown_answers_fails[{name}]",
    "tests/diagnosis/test_naming.py::test_right_solutions_have_no_findings[{name}]",
)
MODULE = re.compile(r"(?:modules/|solutions/|tests/hidden/test_)(?P<name>\d\d_(?P<slug>\w+?))(?:/|\.py$)")
OF_DATA = {
    "tests/data": ("tests/test_case_tables.py",),
    "tests/data/attacks": ("tests/acceptance/attacks/test_strict.py",),
    "tests/data/cheat_bases": ("tests/acceptance/test_cheats.py",),
    "tests/data/cheats": ("tests/acceptance/test_cheats.py",),
    "tests/data/courses": ("tests/authoring/test_tiny_courses.py",),
    "tests/data/device": ("tests/sandbox/worker/gpu/test_cases.py",),
    "tests/data/gpu_cheats": ("tests/acceptance/test_gpu_cheats.py",),
    "tests/data/honest": ("tests/acceptance/test_honest.py",),
    "tests/data/implementations": ("tests/complexity/test_implementations.py",),
    "tests/data/drafts": ("tests/cli/test_drafts.py",),
    "tests/data/raising": ("tests/diagnosis/test_raising.py",),
    "tests/data/right": ("tests/acceptance/test_right_solutions.py", "tests/diagnosis/test_naming.py"),
    "tests/data/styles": ("tests/diagnosis/test_styles.py",),
    "tests/data/unknown": ("tests/diagnosis/test_styles.py",),
    "tests/data/wild": ("tests/diagnosis/test_wild.py",),
    "tests/data/attack_prelude.py": ("tests/acceptance/attacks/test_strict.py",),
    "examples": ("tests/cli/instructor/test_grade.py",),
    "docs": ("tests/acceptance/docs/test_blocks.py", "tests/acceptance/docs/test_generated.py"),
}


@dataclass(frozen=True)
class Choice:
    """The tests to run, the nearest first, and those that are left out."""

    run: tuple[str, ...]
    left: tuple[str, ...]


def changed_files(since: str = "HEAD", root: Path = ROOT) -> list[str]:
    """Return the files that differ from a commit, and those that git does not know yet."""
    asked = (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    found = [subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True) for words in asked]
    return sorted({line for done in found for line in done.stdout.splitlines()})


def chosen(changed: Iterable[str], root: Path = ROOT) -> Choice:
    """Return the tests that can notice what changed, as far as they fit into the time."""
    far = distances(changed, root)
    ordered = sorted(far, key=lambda test: (far[test], seconds(test), test))
    run: list[str] = []
    for test in ordered:
        if not run or sum(map(seconds, run)) + seconds(test) <= SECONDS:
            run.append(test)
    return Choice(tuple(run), tuple(test for test in ordered if test not in run))


def seconds(test: str) -> float:
    """Return about how long the quick tests of a file take."""
    return SLOW.get(test, FEW)


def distances(changed: Iterable[str], root: Path = ROOT) -> dict[str, int]:
    """Return how far each file of tests, or each single test, is from what changed."""
    graph = read_graph(root, ("grader", "cli", "tests"))
    far: dict[str, int] = {}
    begin: dict[str, int] = {}
    for file in changed:
        tests = data_tests(file)
        far |= {test: 0 for test in tests if (root / test.partition("::")[0]).is_file()}
        if file.endswith(".py"):
            begin[_dotted(file)] = 0
        elif not tests:
            begin |= {name: 1 for name in _mentioning(Path(file).name, graph, root) if name not in begin}
    for name, distance in _reached(begin, graph).items():
        path = f"{name.replace('.', '/')}.py"
        if _is_test(path) and (root / path).is_file():
            far[path] = min(distance, far.get(path, distance))
    for file in changed:  # what mirrors the code knows it best, however it calls it; then the rest of its folder
        for path, distance in _mirrors(file, root):
            far[path] = min(distance, far.get(path, distance))
    return far


def data_tests(file: str) -> list[str]:
    """Return the tests of the data that a file belongs to."""
    found = [test for folder, tests in OF_DATA.items() if f"{file}/".startswith(f"{folder}/") for test in tests]
    if match := MODULE.match(file):
        found += [test.format(**match.groupdict()) for test in OF_MODULE]
    return found


def _mirrors(file: str, root: Path) -> Iterator[tuple[str, int]]:
    """Yield the tests that are laid out like a file of code, and their distance."""
    path = Path(file)
    if path.parts[0] not in ("grader", "cli"):
        return
    folder = Path("tests", *path.parts[path.parts[0] == "grader" : -1])
    while not (root / folder).is_dir():  # the folder of templates has none of its own
        folder = folder.parent
    if folder != Path("tests"):
        for test in sorted((root / folder).glob(f"{TESTS}*.py")):
            yield (folder / test.name).as_posix(), 0 if test.name == f"{TESTS}{path.name}" else 2


def _is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith(TESTS) and not path.startswith("tests/hidden/")


def _dotted(file: str) -> str:
    return ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")


def _mentioning(name: str, graph: Mapping[str, set[str]], root: Path) -> Iterator[str]:
    """Yield the Python files that name a file that is not Python, such as a template."""
    for module in graph:
        path = root / f"{module.replace('.', '/')}.py"
        if path.is_file() and name in path.read_text(encoding="utf-8"):
            yield module


def _reached(begin: Mapping[str, int], graph: Mapping[str, set[str]]) -> dict[str, int]:
    """Return every file that imports one of these, directly or through others, and through how many."""
    users: dict[str, set[str]] = {}
    for name, imported in graph.items():
        for other in imported:
            users.setdefault(other, set()).add(name)
    found, waiting = dict(begin), sorted(begin, key=lambda name: begin[name])
    for name in waiting:
        for user in sorted(users.get(name, ())):
            if user not in found:
                found[user] = found[name] + 1
                waiting.append(user)
    return found


def main() -> int:
    """Run the tests that can notice what changed, or only print them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--since", default="HEAD", help="a commit to compare with")
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    changed = changed_files(options.since)
    choice = chosen(changed)
    print(f"{len(changed)} files changed: {len(choice.run)} files of tests can notice it soonest", end="")
    print(f", {len(choice.left)} more are left to `make test`" if choice.left else "")
    if options.print or not choice.run:
        print(*choice.run, sep="\n")
        return 0
    single = [test for test in choice.run if "::" in test]
    files = [test for test in choice.run if "::" not in test]
    words = [sys.executable, "-m", "pytest", "-q", "-n", os.environ.get("JOBS", "3")]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    runs = [[*words, "--dist", "loadfile", "-m", "not exhaustive", *files]] if files else []
    runs += [[*words, *single]] if single else []
    return max((subprocess.run(run, cwd=ROOT, env=env, check=False).returncode for run in runs), default=0)


if __name__ == "__main__":
    sys.exit(main())
