"""`attn grade`: its output and its exit status."""

from __future__ import annotations

import json
import re
import shutil
import signal
import stat
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from grader.course.course import Course
from tests.cli.conftest import EXECUTABLE, Attn
from tests.conftest import ROOT, tier_here, write
from tests.quick import some_cases
from tests.waiting import wait_until

SOLUTION = ROOT / "solutions" / "01_softmax" / "softmax.py"
STUB = ROOT / "modules" / "01_softmax" / "softmax.py"


def test_full_marks_exit_0(attn: Attn) -> None:
    done = attn("grade", SOLUTION)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"score 46 / 46 (graded, sandbox: {tier_here()})" in done.stdout


def test_less_than_full_marks_exit_1(attn: Attn) -> None:
    done = attn("grade", STUB)
    assert done.returncode == 1
    assert "score 0 / 46" in done.stdout


def test_json_is_one_array_of_reports_and_nothing_else(attn: Attn, tmp_path: Path) -> None:
    (tmp_path / "ana.py").write_bytes(SOLUTION.read_bytes())
    (tmp_path / "ben.py").write_text("print('noise')\nimport sys; sys.stderr.write('more')\n")
    done = attn("grade", tmp_path, "--module", "softmax", "--json")
    reports = json.loads(done.stdout)
    assert [(report["submission"], report["score"]) for report in reports] == [("ana", 46.0), ("ben", 0.0)]
    assert done.returncode == 1


@pytest.mark.exhaustive
def test_the_same_file_graded_by_two_processes_gives_the_same_bytes(attn: Attn, tmp_path: Path) -> None:
    odd = tmp_path / "odd.py"
    odd.write_text(
        "class T: pass\ndef softmax(x, axis=-1):\n    raise ValueError(f'{T()} {hash(str(x))} {set(\"xyz\")}')\n"
    )
    texts = []
    for run in ("one", "two"):
        attn("grade", odd, "-m", "1", "--to", tmp_path / run)
        data = json.loads((tmp_path / run / "01_softmax" / "odd.json").read_text())
        data["timing"] = None
        texts.append(json.dumps(data))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py"], "there is no such file or folder"),
        (["README.md"], "is not a script, a notebook, a zip or a folder"),
        ([], "Missing argument"),
        ([str(SOLUTION), "--module", "sotfmax"], "Did you mean softmax?"),
    ],
)
def test_usage_mistakes_exit_2(attn: Attn, arguments: list[str], words: str) -> None:
    done = attn("grade", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "has work in several places (ana/softmax.py, ben/softmax.py). If it is a class, add --class-zip."),
        (["--class-zip", "--student", "ana"], "use only one of them"),
        (["--student", " "], "--student needs a name"),
    ],
)
def test_unclear_owner_exits_2(attn: Attn, tmp_path: Path, options: list[str], words: str) -> None:
    with zipfile.ZipFile(tmp_path / "hw.zip", "w") as file:
        for name in ("ana/softmax.py", "ben/softmax.py"):
            file.writestr(name, "x = 1")
    done = attn("grade", tmp_path / "hw.zip", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_class_zip_needs_a_zip(attn: Attn, tmp_path: Path) -> None:
    done = attn("grade", tmp_path, "--class-zip")
    assert (done.returncode, "--class-zip needs a zip" in done.stderr) == (2, True)


def test_student_option_names_the_student(attn: Attn, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ben.zip", "w") as file:
        file.writestr("ben/softmax.py", SOLUTION.read_text())
        file.writestr("ben/old/softmax.py", SOLUTION.read_text())
    done = attn("grade", tmp_path / "ben.zip", "--student", "ana", "--json")
    assert [report["submission"] for report in json.loads(done.stdout)] == ["ana"]


def test_an_empty_folder_is_nothing_to_grade(attn: Attn, tmp_path: Path) -> None:
    done = attn("grade", tmp_path)
    assert done.returncode == 2
    assert "nothing to grade" in done.stderr


def test_a_fault_of_the_course_exits_3(attn: Attn, tmp_path: Path) -> None:
    for name in ("modules", "solutions", "tests/hidden"):
        shutil.copytree(ROOT / name, tmp_path / name)
    suite = tmp_path / "tests" / "hidden" / "test_01_softmax.py"
    suite.write_text(suite.read_text() + "\n\ndef test_unmarked(student):\n    pass\n")
    done = attn("grade", SOLUTION, cwd=tmp_path)
    assert done.returncode == 3
    assert "test_unmarked: has no @worth" in done.stderr
    suite.write_text(
        suite.read_text()
        .replace(
            "def test_softmax_square_rows(student, rng):", "def test_softmax_square_rows(student, rng):\n    1 / 0\n", 1
        )
        .replace("\n\ndef test_unmarked(student):\n    pass\n", "")
    )
    done = attn("grade", SOLUTION, cwd=tmp_path)
    assert done.returncode == 3
    assert "GRADER FAULT" in done.stdout
    assert "– / 46" in done.stdout


def test_outside_a_course_exit_2_says_where_to_go(attn: Attn, tmp_path: Path) -> None:
    done = attn("grade", SOLUTION, cwd=tmp_path)
    assert done.returncode == 2
    assert "not inside an AttnLab course" in done.stderr


@pytest.mark.exhaustive  # one of the class never returns
def test_a_class_is_a_table_with_progress_beside_it(attn: Attn, tmp_path: Path) -> None:
    done = attn("grade", ROOT / "examples" / "class", "--to", tmp_path / "reports")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    rows = {line.split()[0]: line for line in lines[1 : lines.index("")]}
    assert list(rows) == ["ana", "ben", "chloe", "dev", "emil", "farah", "goran", "hana", "ines", "jun"]
    for name in ("ana", "chloe", "dev"):  # three styles, one of them a notebook with a scratch cell
        assert rows[name].endswith("46 / 46")
    assert "did not return in the time allowed" in rows["goran"]
    assert "not importable" in rows["hana"]
    assert lines[-1] == f"10 submissions: 3 with full marks, 7 with less (sandbox: {tier_here()})"
    shown = done.stdout.replace(f"(sandbox: {tier_here()})", "(sandbox: strict)")
    assert f"```text\n{shown}```" in (ROOT / "README.md").read_text()  # what the README says it prints
    assert re.search(r"graded 1 of 10: \w+ \([0-9.]+ a second, [0-9]+ (?:s|min) left\)", done.stderr)
    assert "graded 10 of 10: " in done.stderr
    assert len(list((tmp_path / "reports" / "01_softmax").glob("*.json"))) == 10


def zipped(name: str, text: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(name, text)

    return make


def linked(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        link = zipfile.ZipInfo("softmax.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")


def giant(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 << 20)


BAD_INPUT: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "not UTF-8": ("eve.py", lambda path: path.write_bytes(b"x = '\x81'\n"), "eve.py is not UTF-8 text"),
    "a syntax error": ("eve.py", lambda path: path.write_text("def f(:"), "SyntaxError"),
    "a notebook that is not JSON": ("eve.ipynb", lambda path: path.write_text("{"), "the notebook is not JSON"),
    "a zip that leads out": ("eve.zip", zipped("../softmax.py", "x = 1"), "has a path that points outside the zip"),
    "a zip with a link": ("eve.zip", linked, "has a link"),
    "a zip bomb": ("eve.zip", zipped("softmax.py", "#" * (200 << 20)), "is too large"),
    "a zip that is none": ("eve.zip", lambda path: path.write_text("PK"), "cannot be read as a zip"),
    "50 MB": ("eve.py", giant, "the limit for a .py file is 2 MB"),
}


@pytest.mark.parametrize(("name", "make", "words"), some_cases(BAD_INPUT, every=3, slow=["a zip bomb"]))
def test_bad_input_is_named_and_other_submissions_are_graded(
    attn: Attn, tmp_path: Path, name: str, make: Callable[[Path], object], words: str
) -> None:
    (tmp_path / "ana.py").write_bytes(SOLUTION.read_bytes())
    make(tmp_path / name)
    done = attn("grade", tmp_path, "--module", "softmax", "--json")
    assert done.returncode == 1
    ana, *others = json.loads(done.stdout)
    assert (ana["submission"], ana["score"]) == ("ana", 46.0)
    if name.endswith(".zip"):  # nobody knows what is in it: there is no report, but a reason
        assert others == []
        assert words in done.stderr
        assert "1 could not be graded" in done.stderr
        return
    (eve,) = others
    assert (eve["submission"], eve["status"], eve["score"], eve["max_score"]) == ("eve", "not_importable", 0.0, 46.0)
    assert words in eve["message"]


def test_a_folder_named_like_the_file_is_nothing_to_grade(attn: Attn, tmp_path: Path) -> None:
    (tmp_path / "softmax.py").mkdir()
    done = attn("grade", tmp_path / "softmax.py")
    assert done.returncode == 2
    assert "is a folder, not a file" in done.stderr


def test_a_name_of_the_wrong_kind_costs_only_its_own_points(attn: Attn, tmp_path: Path) -> None:
    (tmp_path / "softmax.py").write_text(SOLUTION.read_text() + "\n\nlog_softmax = 3\n")
    done = attn("grade", tmp_path / "softmax.py", "--json")
    (report,) = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["status"] == "graded"
    lost = {check["target"] for check in report["checks"] if check["outcome"] != "passed"}
    assert lost == {"log_softmax"}
    assert "'int' object is not callable" in next(c["detail"] for c in report["checks"] if c["target"] == "log_softmax")


def test_ctrl_c_leaves_no_process_and_no_half_report(tiny: Course, tmp_path: Path) -> None:
    # The hidden suite stops at zoe and waits for the signal, however fast or slow the machine is.
    waiting = tmp_path / "waiting"
    hidden = tiny.hidden_suite(tiny.modules[0])
    first = "    x = rng.normal(size=(3, 4))\n"
    assert first in hidden.read_text()
    wait = f"        import pathlib, time\n        pathlib.Path({str(waiting)!r}).touch()\n        time.sleep(1000)\n"
    at_zoe = f"    if float(student.tiny(np.array([7.0]))[0]) == 49.0:\n{wait}"
    hidden.write_text(hidden.read_text().replace(first, first + at_zoe))
    folder = write(
        tmp_path / "class",
        {"ana/tiny.py": "def tiny(x):\n    return x + x\n", "zoe/tiny.py": "def tiny(x):\n    return x ** 2\n"},
    )
    out = tmp_path / "out"
    command = [EXECUTABLE, "grade", str(folder), "-j", "1", "--to", str(out), "--allow-unjailed"]
    running = subprocess.Popen(
        command,
        cwd=tiny.root,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # the process that runs the tests may ignore it
    )
    wait_until("the check at zoe", waiting.exists, by=running)
    children = psutil.Process(running.pid).children(recursive=True)
    assert children
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate()
    assert running.returncode == 130
    assert "graded 1 of 2: ana" in errors
    assert "interrupted" in errors
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    assert [path.name for path in (out / "01_tiny").iterdir()] == ["ana.json"]
    assert json.loads((out / "01_tiny" / "ana.json").read_text())["score"] == 10.0


def test_an_unwritable_folder_is_reported_before_grading(attn: Attn, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    done = attn("grade", SOLUTION, "--to", tmp_path / "taken" / "below")
    assert done.returncode == 2
    assert "cannot write reports to" in done.stderr
    assert done.stdout == ""  # said before anything was graded


def test_other_reports_are_written_if_one_cannot_be(attn: Attn, tmp_path: Path) -> None:
    for name in ("ana", "ben", "cy"):
        (tmp_path / f"{name}.py").write_bytes(SOLUTION.read_bytes())
    (tmp_path / "out" / "01_softmax" / "ben.json").mkdir(parents=True)
    done = attn("grade", tmp_path, "-m", "1", "--to", tmp_path / "out")
    assert done.returncode == 3
    assert "the report and the grade of ben could not be written" in done.stderr
    assert "3 submissions: 3 with full marks" in done.stdout
    assert (tmp_path / "out" / "01_softmax" / "cy.json").is_file()
