"""`attn init`: a workspace is complete or not there, what is in the folder already stays, and it can be updated."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import __version__
from grader.core.new_folder import FolderError
from grader.course.course import Course, read_course
from grader.course.course_file import read_course_file
from grader.workspace.init import MARK, make_workspace, update_from_installed
from grader.workspace.progress import progress_of, record_report
from grader.workspace.update_bundle import UpdateError
from tests.pages.made import made_report


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_workspace_is_a_bundle_of_every_module(course: Course, tmp_path: Path) -> None:
    made = make_workspace(course, tmp_path / "a" / "work")
    workspace = read_course(tmp_path / "a" / "work")
    assert files_in(workspace.root) == set(made)
    assert workspace.is_bundle
    assert [one.name for one in workspace.all_modules] == [one.name for one in course.all_modules]
    assert read_course_file(workspace.root).rules == {}
    assert all(one.stub.read_text() == course.stub_text(course.module(one.name)) for one in workspace.all_modules)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["work"]


def test_what_git_and_a_virtual_environment_keep_stays(course: Course, tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".gitignore").write_text(".venv\n")
    make_workspace(course, tmp_path)
    assert (tmp_path / ".gitignore").read_text() == ".venv\n"
    assert read_course(tmp_path).modules


@pytest.mark.parametrize(
    ("name", "problem"),
    [("mine.txt", "is not empty: it has mine.txt"), (".vscode", "is not empty"), ("modules", "already has a course")],
)
def test_a_folder_with_something_else_is_refused(course: Course, tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(FolderError, match=problem):
        make_workspace(course, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_is_refused(course: Course, tmp_path: Path) -> None:
    (tmp_path / "work").write_text("precious")
    with pytest.raises(FolderError, match="is a file"):
        make_workspace(course, tmp_path / "work")


@pytest.mark.parametrize("is_new", [True, False])
def test_an_interruption_leaves_nothing(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    to = tmp_path / "work"
    if not is_new:
        to.mkdir()
    rename = Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        if target.name in ("modules", "work"):
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_workspace(course, to)
    assert list(tmp_path.rglob("*")) == ([] if is_new else [to])


def test_the_modules_come_last(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine may stop in between. Without modules, `attn init` runs again."""
    moved: list[str] = []
    rename = Path.rename

    def noted(path: Path, target: Path) -> Path:
        moved.append(target.name)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", noted)
    make_workspace(course, tmp_path)
    assert moved[-1] == "modules"
    assert len(moved) > 1


def test_an_update_from_the_installed_package_keeps_the_work(course: Course, tmp_path: Path) -> None:
    make_workspace(course, tmp_path / "work")
    workspace = read_course(tmp_path / "work")
    module = workspace.modules[0]
    module.lesson.write_text("old")
    module.stub.write_text("mine = 1\n")
    (workspace.root / "constraints.txt").write_text("numpy==1\n")
    (workspace.root / MARK).write_text("0.9.0")
    settings = module.folder / "module.toml"
    settings.write_text(f"{settings.read_text()}# of an older version\n")
    second = workspace.modules[1]
    second.stub.write_text("mine = 2\n")
    for tested in (module, second):
        record_report(workspace, tested, made_report(module=tested.name))
    done = update_from_installed(course, workspace)
    assert done.modules[0].updated == ("lesson", "settings")
    # Its checks may ask for something else now; those of the other module do not.
    assert [progress_of(workspace, one).tested is None for one in (module, second)] == [True, False]
    assert done.modules[0].kept == (module.stub.name,)
    assert module.stub.read_text() == "mine = 1\n"
    assert set(done.others) == {"constraints.txt"}
    assert done.install == ""
    assert (workspace.root / MARK).read_text() == __version__


def test_only_what_init_made_is_updated_without_a_bundle(course: Course, tmp_path: Path) -> None:
    make_workspace(course, tmp_path / "work")
    workspace = read_course(tmp_path / "work")
    (workspace.root / MARK).write_text("99.0.0")
    with pytest.raises(UpdateError, match=r"is from AttnLab 99\.0\.0, which is newer than this attn"):
        update_from_installed(course, workspace)
    (workspace.root / MARK).unlink()
    with pytest.raises(UpdateError, match=r"name the newer bundle: attn update week2\.zip"):
        update_from_installed(course, workspace)
