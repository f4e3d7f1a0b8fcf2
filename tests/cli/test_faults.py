"""Commands in hostile surroundings: one sentence with a next step, exit status 2 or 3, and no traceback."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.main import run
from cli.ui.system_faults import system_sentence
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from tests.cli.conftest import EXECUTABLE
from tests.conftest import write

Fault = Callable[[Path], None]
R = "../reports"
GRADED = {
    "stats": ["stats", R],
    "review": ["review", R],
    "mark": ["mark", "ana", "tiny", "--points", "3", "--because", "x", "-r", R],
    "csv": ["export", "csv", R, "--out", "../out.csv"],
    "canvas": ["export", "canvas", R, "--out", "../out.csv"],
    "moodle": ["export", "moodle", R, "--out", "../out.csv", "--worksheet", "../sheet.csv"],
    "junit": ["export", "junit", R, "--out", "../out.xml"],
    "junit each": ["export", "junit", R, "--out", "../out", "--each"],
    "grade": ["grade", "../class", "--to", R, "--resume", "--allow-unjailed"],
    "anonymous": ["stats", R, "--anonymous"],
}
SHEET = "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)\nParticipant 1,ana,,10.00,-\n"


def folder_at(name: str) -> Fault:
    """Put a folder where a file should be."""

    def make(root: Path) -> None:
        path = root / name
        if path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
        write(root, {f"{name}/something": "x"})

    return make


def bytes_at(name: str, data: bytes = b"\xff\xfe{") -> Fault:
    """Put bytes that are no text where a file should be."""

    def make(root: Path) -> None:
        path = root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return make


# Each fault, the commands that meet it, and words of their message.
FAULTS: dict[str, tuple[Fault, list[str], str]] = {
    "class list is a folder": (
        folder_at("reports/grades.json"),
        ["stats", "mark", "csv", "canvas", "moodle", "junit"],
        "To write it again, run: attn grade",
    ),
    "class list is damaged": (
        bytes_at("reports/grades.json"),
        ["stats", "mark", "csv", "canvas", "moodle", "junit"],
        "To write it again, run: attn grade",
    ),
    "class list is gone": (
        lambda root: (root / "reports" / "grades.json").unlink(),
        ["mark", "csv", "canvas", "moodle", "junit"],
        "To finish it, run: attn grade",
    ),
    "rules are a folder": (folder_at("reports/rules.json"), ["review", "canvas", "moodle", "grade"], "restore it"),
    "rules are damaged": (
        bytes_at("reports/rules.json"),
        ["review", "canvas", "moodle", "grade", "anonymous"],
        "restore it from a backup",
    ),
    "decisions are damaged": (
        bytes_at("reports/decisions.json"),
        ["review", "mark", "grade"],
        "restore it from a backup",
    ),
    "overrides are a folder": (
        folder_at("reports/overrides.csv"),
        ["stats", "mark", "csv", "canvas", "moodle", "junit", "grade"],
        "restore it from a backup",
    ),
    "overrides are damaged": (
        bytes_at("reports/overrides.csv"),
        ["stats", "mark", "csv", "canvas", "moodle", "junit", "grade"],
        "restore it from a backup",
    ),
    "journal is a folder": (folder_at("reports/journal.jsonl"), ["mark", "grade"], "or name another folder"),
    "a report is a folder": (
        folder_at("reports/01_tiny/ana.json"),
        ["stats", "review", "junit", "moodle"],
        ". ",
    ),
    "a report is damaged": (
        bytes_at("reports/01_tiny/ana.json"),
        ["stats", "review", "junit", "moodle"],
        "--resume",
    ),
    "the output is a folder": (
        folder_at("out.csv"),
        ["csv", "canvas", "moodle"],
        "is a directory",
    ),
    "the folder of the output is a file": (
        bytes_at("out"),
        ["junit each"],
        "../out",
    ),
    "the worksheet is a folder": (folder_at("sheet.csv"), ["moodle"], "is a directory"),
    "course.toml is a folder": (folder_at("course/course.toml"), ["grade"], "Make it a file that you can read"),
    "course.toml is damaged": (bytes_at("course/course.toml"), ["grade"], "Save it as UTF-8"),
    "the roster is gone": (
        bytes_at("course/course.toml", b'roster = "none.csv"'),
        ["grade"],
        "Name a CSV file",
    ),
    "module.toml is damaged": (
        bytes_at("course/modules/01_tiny/module.toml"),
        ["stats", "grade"],
        "Save it as UTF-8 text",
    ),
    "the secrets are a file": (
        bytes_at("course/.attnlab", b"x"),
        ["anonymous"],
        "Name another path",
    ),
    "a secret is damaged": (bytes_at("course/.attnlab/pseudonyms"), ["anonymous"], "Restore it from a backup"),
    "a secret is empty": (bytes_at("course/.attnlab/salt", b"\n"), ["grade"], "Restore it from a backup"),
    "a secret is a folder": (folder_at("course/.attnlab/salt"), ["grade"], "move the folder away"),
    "a hidden suite has a syntax error": (
        bytes_at("course/tests/hidden/test_01_tiny.py", b"import os\ndef (:\n"),
        ["grade"],
        "test_01_tiny.py: line 2: cannot be collected: SyntaxError: invalid syntax. Fix the suite",
    ),
}
CASES = [(fault, name) for fault, (_, names, _) in FAULTS.items() for name in names]


@pytest.fixture(scope="module")
def graded(built: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course, a class of one, and its reports."""
    root = tmp_path_factory.mktemp("faults")
    shutil.copytree(built.root, root / "course")
    write(root, {"class/ana/tiny.py": "def tiny(x):\n    return x + x\n", "sheet.csv": SHEET})
    words = [EXECUTABLE, "grade", "../class", "--to", R, "--allow-unjailed"]
    done = subprocess.run(words, cwd=root / "course", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def root(graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = Path(shutil.copytree(graded, tmp_path / "copy"))
    monkeypatch.chdir(copy / "course")
    return copy


def attn_here(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> int:
    """Run `attn` in this process, as its main function does. Its output streams are put back."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["attn", *words])
        patch.setattr(sys, "stdout", sys.stdout)
        patch.setattr(sys, "stderr", sys.stderr)
        return run()


@pytest.mark.parametrize("name", GRADED)
def test_every_command_works_without_a_fault(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert (root / "reports").is_dir()
    assert attn_here(monkeypatch, GRADED[name]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(("fault", "name"), CASES)
def test_a_fault_is_one_sentence_with_a_next_step(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: str, name: str
) -> None:
    FAULTS[fault][0](root)
    status = attn_here(monkeypatch, GRADED[name])
    printed = capsys.readouterr()
    assert status in (2, 3), printed
    assert "Traceback" not in printed.err
    said = [line for line in printed.err.splitlines() if line.startswith(("Error: ", "attn: "))]
    said = [line for line in said if "was proved" not in line]  # a suite that a fault changed is newer than its proof
    assert len(said) == 1, printed.err
    assert FAULTS[fault][2] in " ".join(printed.err.split())


def without_room() -> None:
    """Let this process write no byte to any file, like a full disk."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize("name", ["mark", "csv", "canvas", "moodle", "junit", "junit each", "grade"])
def test_a_full_disk_is_one_sentence_and_changes_nothing(root: Path, name: str) -> None:
    before = {path: path.read_bytes() for path in (root / "reports").rglob("*.*") if path.is_file()}
    done = subprocess.run(
        [EXECUTABLE, *GRADED[name]], capture_output=True, text=True, check=False, preexec_fn=without_room
    )
    assert done.returncode in (2, 3), done
    assert "Traceback" not in done.stderr
    assert not [path for path in root.glob("out*")]
    assert {path: path.read_bytes() for path in (root / "reports").rglob("*.*") if path.is_file()} == before


@pytest.mark.parametrize("words", [["stats", R], ["review", R], ["--help"]])
def test_full_standard_output_is_one_sentence(root: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([EXECUTABLE, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "attn: the disk is full. Make room, then run it again\n"), root


def test_stats_of_a_module_without_reports_says_which_there_are(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(root / "course" / "modules" / "01_tiny", root / "course" / "modules" / "02_more")
    path = root / "course" / "modules" / "02_more" / "module.toml"
    path.write_text(path.read_text().replace("order = 1", "order = 2"))
    assert attn_here(monkeypatch, ["stats", R, "-m", "2"]) == 2
    assert "../reports has no reports of 02_more. It has reports of 01_tiny" in capsys.readouterr().err


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        write_atomically(pipe, "grades")
        assert reader.communicate()[0] == "grades"
    assert pipe.is_fifo()


def test_an_error_of_the_system_names_the_file_and_the_next_step() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "grades.csv")
    assert system_sentence(full) == "grades.csv: the disk is full. Make room, then run it again"
    odd = OSError(errno.EXDEV, "Invalid cross-device link", "a", None, "b")
    assert system_sentence(odd) == "b: Invalid cross-device link. Check the path and this machine, then run it again"
    bare = OSError(errno.ENOENT, "No usable temporary directory found")
    assert system_sentence(bare).startswith("No usable temporary directory found. Check")


def test_a_wrong_address_of_a_database_is_one_sentence(root: Path) -> None:
    pytest.importorskip("nbgrader")
    from grader.platforms.nbgrader import CourseDirError
    from grader.platforms.nbgrader.gradebook import open_gradebook

    for url in ("nonsense", "nonsense://x", f"sqlite:///{root}/nowhere/x.db"):
        with (
            pytest.raises(CourseDirError, match=r"^the gradebook cannot be opened: .*\. Check the URL") as caught,
            open_gradebook(url, "attention"),
        ):
            pass
        assert "\n" not in str(caught.value)


def test_ctrl_c_in_an_import_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    class Field:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def imports(**_: object) -> None:  # as Python 3.11 does where a class of a module is made
        type("Result", (), {"field": Field()})

    monkeypatch.setattr("cli.main.attn.main", imports)
    assert run() == 130
