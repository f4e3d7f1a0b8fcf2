"""The engine grades any course: nothing in `grader/`, or in `cli/` outside `cli/attention`, names this one.

The names come from the course itself: its modules, the functions and classes that students write, and its sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from grader.course.course import read_course
from grader.course.course_file import read_course_file
from tests.conftest import ROOT
from tests.import_graph import read_graph

OURS = "cli/attention"  # the one package of this course
TEXTS = (".py", ".html", ".js", ".css", ".txt", ".toml", ".sql", ".sh", ".ini")
EVERYWHERE = ("grader/", "cli/")
# Names of the course that are also public names of Python or torch, or plain words: where they may stand, and why.
# A reference to a module (`04_masks`, `masks.py`, `mylab.masks`, `attn test masks`) is allowed nowhere.
ALLOWED: dict[str, tuple[tuple[str, ...], str]] = {
    "decode": (EVERYWHERE, "bytes.decode of Python, and the decoder of the wire"),
    "train": (EVERYWHERE, "torch.nn.Module.train, and the mode of a torch module"),
    "masks": (EVERYWHERE, "a word: boolean arrays that select entries"),
    "positions": (EVERYWHERE, "a word, and a kind of argument in contracts: integers from 0"),
    "attention": (
        ("grader/sandbox/", "grader/complexity/", "grader/course/module.py", "grader/testing/", "grader/workspace/")
        + ("grader/platforms/gradescope/", "cli/instructor/stats.py"),
        "torch.nn.attention: ready-made operations of torch, which contracts forbid, require and compare to",
    ),
    **dict.fromkeys(
        ("softmax", "log_softmax", "masked_softmax", "softmax_backward", "scaled_dot_product_attention")
        + ("multi_head_attention", "Multi-head attention", "flash_attention", "efficient_attention", "cross_entropy"),
        (("grader/sandbox/", "grader/complexity/", "grader/testing/"), "operations of torch: prices, warm-up, bans"),
    ),
}


def names_of_course(root: Path = ROOT) -> set[str]:
    """Return the names of modules, of what students write in them, and the sentences of a course."""
    course = read_course(root)
    about = read_course_file(root).about
    found = {about.sentence, about.description, about.learner}
    for module in course.all_modules:
        found |= {module.name, module.slug}
        # A title of one word is an English word: it says nothing about the course.
        found |= {text for text in (module.title, module.milestone.unlocks if module.milestone else "") if " " in text}
        api = course.api(module)
        found |= {*api.functions, *api.classes}
    return found


def references(root: Path = ROOT) -> re.Pattern[str]:
    """Return the pattern of a reference to a module: no word of English looks like this."""
    slug = "|".join(sorted((module.slug for module in read_course(root).all_modules), key=len, reverse=True))
    commands = r"attn(?: [a-z-]+)+ "
    return re.compile(
        rf"\b\d\d_(?:{slug})\b|\b(?:{slug})\.(?:py|ipynb)\b|\bmylab\.(?:{slug})\b|{commands}(?:{slug})(?!\w)"
    )


def engine_files(root: Path) -> list[Path]:
    files = (path for top in EVERYWHERE for path in sorted((root / top).rglob("*")) if path.suffix in TEXTS)
    return [path for path in files if OURS not in path.as_posix() and "__pycache__" not in path.parts]


def named(root: Path, files: Iterable[Path]) -> Iterator[str]:
    """Yield every line of the engine that names the course."""
    names = "|".join(re.escape(name) for name in sorted(names_of_course(), key=len, reverse=True))
    pattern, reference = re.compile(rf"(?<!\w)(?:{names})(?!\w)"), references()
    for path in files:
        where = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for found in pattern.findall(line):
                if not where.startswith(ALLOWED.get(found, ((), ""))[0]):
                    yield f"{where}:{number} names {found}: {line.strip()}"
            for found in reference.findall(line):
                yield f"{where}:{number} refers to {found}: {line.strip()}"


def test_the_engine_names_nothing_of_the_course() -> None:
    assert list(named(ROOT, engine_files(ROOT))) == []


PLANTED = {
    "the name of a module": "# such as 06_multi_head_attention",
    "a file of a module": "# as in masks.py",
    "a command for a module": '"Run: attn test positions"',
    "an import of a student's module": "from mylab.softmax import softmax",
    "a function that students write": "KNOWN = 'sliding_window_mask'",
    "a class that students write": "class MultiHeadAttention: ...",
    "a sentence of the course": '"Build attention piece by piece, and have every piece checked."',
    "the subject of the course": '"You can import your attention from here"',
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_name_is_found(tmp_path: Path, what: str) -> None:
    path = tmp_path / "grader" / "classroom" / "planted.py"
    path.parent.mkdir(parents=True)
    path.write_text(f'"""A file."""\n\n{PLANTED[what]}\n')
    (problem, *_) = named(tmp_path, engine_files(tmp_path))
    assert problem.startswith("grader/classroom/planted.py:3 ")


def test_every_allowed_name_is_one_of_the_course() -> None:
    """A name that has gone from the course has gone from the list, too."""
    assert ALLOWED.keys() <= names_of_course()


def test_nothing_imports_the_package_of_the_course() -> None:
    """The engine reaches it by the names in `course.toml` only; of the course, the probes may use it."""
    ours = OURS.replace("/", ".")
    for name, imported in read_graph().items():
        if not name.startswith(ours):
            assert not [one for one in imported if one.startswith(ours)], name
    for path in (ROOT / "modules").rglob("*.py"):
        used = [
            line for line in path.read_text(encoding="utf-8").splitlines() if re.match(r"\s*(from|import) cli\b", line)
        ]
        assert path.name == "probes.py" or not used, path
        assert all(line.startswith(f"from {ours}.") for line in used), path


def test_only_the_trainer_of_the_course_runs_student_code_outside_the_engine() -> None:
    """It has a process of its own on the student's machine, and grades nothing."""
    users = {
        name
        for name, imported in read_graph().items()
        if name.startswith("cli.") and any(one.startswith("grader.sandbox.worker") for one in imported)
    }
    assert users == {"cli.attention.trainer.__main__"}
