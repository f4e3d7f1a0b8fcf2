"""Files that are alike: each disguise of a file is listed, and no right work of different authors."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from grader.classroom import batch, copies
from grader.classroom.batch import Batch
from grader.classroom.copies import CopyGroup, find_copies, read_copies
from grader.classroom.own_code import prints_of
from grader.classroom.results import Results
from grader.classroom.store.files import FileStore
from grader.course.course import Course
from grader.course.module import Module
from grader.submission.finder import find_submissions
from grader.submission.name_map import read_map
from tests.cases import Case, cases
from tests.classroom.conftest import Grade
from tests.classroom.disguises import DISGUISES, as_notebook, other_comments
from tests.cli.conftest import run_attn
from tests.conftest import ROOT, write

FAMILIES = ("right", "honest")
MODULES = sorted(path.name for path in (ROOT / "tests" / "data" / "right").iterdir() if path.is_dir())
# The same file in two places of tests/data: all but four to twenty lines are the same.
SAME_FILE = {
    "02_loop_attention": {
        ("honest-closures_and_counters", "honest-decorator_with_signature"),
        ("honest-dict_for_each_row", "honest-memo_and_globals"),
        ("right-comprehensions_and_lists", "right-softmax_of_module_01"),
    },
    "09_kv_cache": {
        ("honest-beginner_notebook", "honest-stub_filled_in"),
        ("honest-comments_in_german", "honest-no_grad_everywhere_in_the_cache"),
        ("honest-softmax_written_out", "honest-typed_dataclass"),
    },
    "10_flash_attention": {("honest-beginner_notebook", "honest-softmax_written_out_in_the_tiles")},
}
TINY = "def tiny(x):\n    return x + x\n"


def right(module: Module) -> dict[str, Case]:
    """Return right work for a module by many authors."""
    return {f"{family}-{case.name}": case for family in FAMILIES for case in cases(family, module.name)}


def handed_in(module: Module, found: Mapping[str, Case]) -> dict[str, str]:
    """Return the files of a class."""
    return {f"{who}/{module.slug}.py": "\n\n".join(case.cells) for who, case in found.items()}


def alike(
    course: Course, module: Module, folder: Path, files: dict[str, str], before: Iterable[CopyGroup] = ()
) -> list[CopyGroup]:
    """Return what is listed for a class."""
    write(folder / "class", files)
    found = find_submissions(course, [folder / "class"], module, "latest", folder / "scratch")
    return find_copies(course, found.handed_in, before)


@pytest.mark.parametrize("name", MODULES)
def test_no_right_work_of_different_authors_is_listed(course: Course, tmp_path: Path, name: str) -> None:
    module = course.module(name)
    found = alike(course, module, tmp_path, handed_in(module, right(module)))
    assert {one.submissions for one in found} == SAME_FILE.get(name, set())


@pytest.mark.parametrize("disguise", DISGUISES)
def test_each_disguise_is_listed(course: Course, tmp_path: Path, disguise: str) -> None:
    module = course.module("03_attention")
    found = right(module)
    case = found["honest-physicist_bra_ket"]
    ending = "ipynb" if disguise == "a notebook" else "py"
    files = handed_in(module, found) | {f"thief/{module.slug}.{ending}": DISGUISES[disguise](case.code)}
    (group,) = alike(course, module, tmp_path, files)
    assert group.submissions == ("honest-physicist_bra_ket", "thief")


@pytest.mark.exhaustive
def test_nearly_every_disguise_of_every_module_is_listed(course: Course, tmp_path: Path) -> None:
    chance, listed, missed = random.Random(49), 0, []
    for module in (course.module(name) for name in MODULES):
        found = right(module)
        scripts = sorted(who for who, case in found.items() if not case.notebook)
        for who in chance.sample(scripts, min(2, len(scripts))):
            for disguise, disguised in DISGUISES.items():
                ending = "ipynb" if disguise == "a notebook" else "py"
                files = handed_in(module, found) | {f"thief/{module.slug}.{ending}": disguised(found[who].code)}
                folder = tmp_path / f"{module.name}-{who}-{len(disguise)}"
                groups = alike(course, module, folder, files)
                if any({who, "thief"} <= set(one.submissions) for one in groups):
                    listed += 1
                else:
                    missed.append((module.name, who, disguise))
    assert listed >= 0.9 * (listed + len(missed)), missed


# Functions of two to four lines as most people write them: the lines of each body.
KEPT = "axis=axis, keepdims=True"
FORMS = (
    (
        (f"x = x - np.max(x, {KEPT})", "e = np.exp(x)", f"return e / np.sum(e, {KEPT})"),
        (f"e = np.exp(x - x.max({KEPT}))", f"return e / e.sum({KEPT})"),
        (f"m = x.max({KEPT})", "exps = np.exp(x - m)", f"return exps / exps.sum({KEPT})"),
        (f"shifted = x - np.amax(x, {KEPT})", "e = np.exp(shifted)", f"return e / e.sum({KEPT})"),
        ("return np.exp(log_softmax(x, axis=axis))",),
    ),
    (
        (f"x = x - np.max(x, {KEPT})", f"return x - np.log(np.sum(np.exp(x), {KEPT}))"),
        (f"m = x.max({KEPT})", f"total = np.exp(x - m).sum({KEPT})", "return x - m - np.log(total)"),
        (f"shifted = x - x.max({KEPT})", f"return shifted - np.log(np.exp(shifted).sum({KEPT}))"),
        (f"return x - np.logaddexp.reduce(x, {KEPT})",),
    ),
    (
        (
            "if temperature <= 0:",
            "    raise ValueError(f'temperature {temperature}')",
            "return softmax(x / temperature)",
        ),
        (
            "if not temperature > 0:",
            "    raise ValueError(str(temperature))",
            "return softmax(x / temperature, axis=axis)",
        ),
        ("if temperature <= 0:", "    raise ValueError(temperature)", "x = x / temperature", "return softmax(x, axis)"),
    ),
)


def short(chance: random.Random) -> str:
    """Return a file for 01 with one of the usual forms of each function."""
    heads = ("softmax(x, axis=-1)", "log_softmax(x, axis=-1)", "softmax_with_temperature(x, temperature, axis=-1)")
    bodies = ["".join(f"    {line}\n" for line in chance.choice(forms)) for forms in FORMS]
    return "import numpy as np\n\n" + "\n\n".join(map("def {}:\n{}".format, heads, bodies))


@pytest.mark.parametrize("students", [5, 12, 30, 100])
def test_short_functions_that_are_the_same_by_chance_are_not_listed(
    course: Course, tmp_path: Path, students: int
) -> None:
    chance = random.Random(students)
    files = {f"s{number}/softmax.py": short(chance) for number in range(students)}
    assert alike(course, course.module("01_softmax"), tmp_path, files) == []


def test_the_same_comments_in_short_functions_are_listed(course: Course, tmp_path: Path) -> None:
    chance = random.Random(1)
    files = {f"s{number}/softmax.py": short(chance) for number in range(30)}
    remarks = "".join(f"# remark {number} of mine, which nobody else would put so\n" for number in range(8))
    for who in (4, 17):
        files[f"s{who}/softmax.py"] += remarks
    (group,) = alike(course, course.module("01_softmax"), tmp_path, files)
    assert (group.submissions, group.alike) == (("s17", "s4"), "words")


def test_a_solution_of_a_third_of_the_class_is_not_listed(course: Course, tmp_path: Path) -> None:
    module = course.module("03_attention")
    found = right(module)
    case = found["honest-physicist_bra_ket"]
    many = {f"s{number:02}/{module.slug}.py": case.code + f"\n# {number}\n" for number in range(len(found) // 2)}
    assert alike(course, module, tmp_path, handed_in(module, found) | many) == []


def test_the_work_of_a_group_is_one_file(course: Course, tmp_path: Path) -> None:
    module = course.module("03_attention")
    code = right(module)["honest-physicist_bra_ket"].code
    write(tmp_path / "class", {"team/attention.py": code, "dee/attention.py": other_comments(code)})
    write(tmp_path, {"map.csv": "folder,student,module\nteam,ana,\nteam,ben,\n"})
    names = tmp_path / "map.csv"
    map_of_names = read_map(course, names, names.read_bytes())
    for places, expected in (("team",), []), (("team", "dee"), [("ana", "ben", "dee")]):
        paths = [tmp_path / "class"] if "dee" in places else [tmp_path / "class" / "team"]
        found = find_submissions(course, paths, module, "latest", tmp_path / "scratch", name_map=map_of_names)
        assert [one.submissions for one in find_copies(course, found.handed_in)] == expected


def test_files_are_not_compared_each_with_each(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = course.module("03_attention")
    compared: list[int] = []
    own = copies._Index._own

    def noted(index: copies._Index, number: int, kinds: tuple[str, ...]) -> dict[tuple[str, int], float]:
        compared.append(number)
        return own(index, number, kinds)

    monkeypatch.setattr(copies._Index, "_own", noted)
    found = right(module)
    alike(course, module, tmp_path, handed_in(module, found))
    turns = 2 * len(found)  # each file once for its code, and once for its words
    assert turns <= len(compared) < turns + len(found), "of more than 200 pairs"


def test_groups_of_students_who_are_not_graded_again_are_kept(course: Course, tmp_path: Path) -> None:
    module = course.module("03_attention")
    group = CopyGroup(module.name, "code", 0.9, ("ana", "ben"))
    code = right(module)["honest-physicist_bra_ket"].code
    assert alike(course, module, tmp_path / "one", {"ana/attention.py": code}, [group]) == [group]
    both = {"ana/attention.py": code, "ben/attention.py": "x = 1\n"}
    assert alike(course, module, tmp_path / "both", both, [group]) == []


def test_what_is_no_python_and_what_is_a_notebook_is_read(course: Course, tmp_path: Path) -> None:
    module = course.module("03_attention")
    code = right(module)["honest-physicist_bra_ket"].code
    magic = as_notebook(code).replace('"import', '"%matplotlib inline\\nimport', 1)
    files = {"a/attention.py": code, "b/attention.ipynb": magic, "c/attention.py": "def (\n\0", "d/attention.py": ""}
    (group,) = alike(course, module, tmp_path, files)
    assert group.submissions == ("a", "b")


def test_a_class_is_compared_when_it_is_graded(grade: Grade, tiny: Path, tmp_path: Path) -> None:
    own = "".join(f"# this is the remark number {number} of mine\n" for number in range(9))
    files = {"ana/tiny.py": TINY + own, "ben/tiny.py": own + TINY, "cy/tiny.py": TINY}
    write(tmp_path / "class", files)
    out = tmp_path / "out"
    grade(tmp_path / "class", "--to", out)
    (group,) = read_copies(FileStore(out))
    assert group.submissions == ("ana", "ben")
    shown = run_attn("stats", out, cwd=tiny).stdout
    assert f"Files that are alike. Nothing is decided: read them side by side.\n  ana, ben: {group.text[:40]}" in shown
    hidden = run_attn("stats", out, "--anonymous", cwd=tiny).stdout
    assert "  student-" in hidden[hidden.index("Files that are alike") :]
    assert not {"ana", "ben"} & set(re.findall(r"\w+", hidden))
    before = (out / "copies.json").read_text()
    grade(tmp_path / "class", "--to", out, "--resume")
    assert (out / "copies.json").read_text() == before
    write(tmp_path / "class", {"ben/tiny.py": TINY})
    grade(tmp_path / "class", "--to", out)
    assert read_copies(FileStore(out)) == ()
    assert [one["submissions"] for one in json.loads((out / "earlier" / "copies.json").read_text())] == [["ana", "ben"]]
    assert re.search("alike|copies", (out / "grades.csv").read_text()) is None, "it is no part of a grade"


@pytest.mark.parametrize(
    "hostile",
    [
        "X = 0x" + "f" * 5000,  # Python does not write it in decimal
        "%magic\n" * 1000 + TINY,
        "x = 1\n" * 300_000,
        "(" * 5000,
        "\0",
    ],
    ids=["a long number", "magic", "a huge file", "depth", "a zero byte"],
)
def test_no_file_stops_the_comparison(hostile: str) -> None:
    assert prints_of([hostile]).file == prints_of([hostile + "\n"]).file


def test_what_goes_wrong_costs_the_list_and_no_mark(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> list[CopyGroup]:
        raise ValueError("what nobody thought of")

    monkeypatch.setattr(batch, "find_copies", fails)
    with Results(FileStore(tmp_path / "out")) as results:
        assert Batch(course, [], results).settle().marks is not None
    assert "files that are alike could not be listed" in capsys.readouterr().err
