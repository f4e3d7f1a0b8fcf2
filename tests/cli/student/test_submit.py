"""`attn reset`, `attn update` and `attn submit`: no work is lost, and the zip is graded like the files."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.course import read_course
from grader.course.notebook import make_notebook
from grader.submission.own_file import own_file
from grader.workspace.backup import reset, undo
from grader.workspace.submit import verify
from grader.workspace.update import update
from tests.cli.conftest import EXECUTABLE, Attn
from tests.conftest import ROOT
from tests.quick import some_cases

FOLDER = Path("modules") / "01_softmax"
SOLUTION = (ROOT / "solutions" / "01_softmax" / "softmax.py").read_text()
STUB = (ROOT / FOLDER / "softmax.py").read_text()
NOTEBOOK = make_notebook(SOLUTION, "softmax")
# Right but for rows that are masked out altogether, so that some visible checks pass and some fail.
BY_MYLAB = """
from mylab.softmax import softmax

def masked_softmax(scores, mask, axis=-1):
    return softmax(np.where(mask, scores, -np.inf), axis)
"""


def script(bundle: Path) -> Path:
    return bundle / FOLDER / "softmax.py"


def notebook(bundle: Path) -> Path:
    return bundle / FOLDER / "softmax.ipynb"


def snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below a folder with its content and time, without the files of `attn` itself."""
    files = [path for path in root.rglob("*") if path.is_file() and ".attnlab" not in path.parts]
    return {str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def aged(path: Path, text: str, seconds: int) -> None:
    path.write_text(text)
    os.utime(path, (1_700_000_000 - seconds, 1_700_000_000 - seconds))


def in_terminal(cwd: Path, answers: str, *arguments: str) -> tuple[int, str]:
    """Run `attn` in a terminal that it can ask in, and return its exit status and its output."""
    pty = pytest.importorskip("pty")  # not on Windows
    ours, theirs = pty.openpty()
    os.write(ours, answers.encode())
    command = [EXECUTABLE, *arguments]
    with os.fdopen(ours, "wb"), os.fdopen(theirs, "rb") as terminal:
        done = subprocess.run(command, cwd=cwd, stdin=terminal, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


# attn reset


def test_a_reset_keeps_what_was_there_and_can_be_undone_and_that_too(attn: Attn, bundle: Path) -> None:
    aged(script(bundle), "mine = 1\n", 50)
    aged(notebook(bundle), NOTEBOOK, 10)
    before = snapshot(bundle)
    done = attn("reset", "softmax", "--yes", cwd=bundle)
    assert done.returncode == 0
    assert f"{FOLDER / 'softmax.py'} is the original stub again." in done.stdout
    assert f"{FOLDER / 'softmax.ipynb'} was removed" in done.stdout
    kept = bundle / ".attnlab" / "backups" / "01_softmax" / "0001"
    assert str(kept.relative_to(bundle)) in done.stdout
    assert (kept / "softmax.py").read_text() == "mine = 1\n"
    assert (kept / "softmax.ipynb").read_text() == NOTEBOOK
    assert script(bundle).read_bytes() == STUB.encode()
    assert "not started" in attn("status", cwd=bundle).stdout
    assert attn("reset", "softmax", "--undo", cwd=bundle).returncode == 0
    assert snapshot(bundle) == before  # with the times, so the notebook counts again
    assert own_file(read_course(bundle).modules[0]) == notebook(bundle)
    attn("reset", "softmax", "--undo", cwd=bundle)
    assert (script(bundle).read_text(), notebook(bundle).exists()) == (STUB, False)
    attn("reset", "softmax", "--undo", cwd=bundle)
    assert snapshot(bundle) == before


def test_a_backup_that_lost_its_times_still_says_which_file_counts(attn: Attn, bundle: Path) -> None:
    aged(script(bundle), "mine = 1\n", 10)
    aged(notebook(bundle), NOTEBOOK, 50)
    attn("reset", "softmax", "--yes", cwd=bundle)
    kept = bundle / ".attnlab" / "backups" / "01_softmax" / "0001"
    for path in kept.iterdir():
        os.utime(path, (0, 0 if path.suffix == ".py" else 100))
    course = read_course(bundle)
    undo(course, course.modules[0])
    assert own_file(course.modules[0]) == script(bundle)


def test_an_untouched_module_is_left_alone(attn: Attn, bundle: Path) -> None:
    done = attn("reset", "1", cwd=bundle)
    assert (done.returncode, done.stdout) == (0, "01_softmax is unchanged; there is nothing to reset.\n")
    assert not (bundle / ".attnlab").exists()


def test_work_behind_an_untouched_notebook_is_no_untouched_module(attn: Attn, bundle: Path) -> None:
    script(bundle).write_text(SOLUTION)
    notebook(bundle).write_text(make_notebook(STUB, "softmax"))
    assert attn("reset", "softmax", cwd=bundle).returncode == 2
    attn("reset", "softmax", "--yes", cwd=bundle)
    assert (bundle / ".attnlab" / "backups" / "01_softmax" / "0001" / "softmax.py").read_text() == SOLUTION


def test_a_missing_stub_comes_back_without_a_question(attn: Attn, bundle: Path) -> None:
    script(bundle).unlink()
    done = attn("reset", "softmax", "--json", cwd=bundle)
    assert json.loads(done.stdout) == {
        "module": "01_softmax",
        "written": ["softmax.py"],
        "removed": [],
        "backup": None,
        "restored": None,
    }
    assert script(bundle).read_text() == STUB


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["softmax"], "use --yes. Nothing was changed"),
        (["softmax", "--undo"], "there is no backup of 01_softmax"),
        (["sotfmax"], "Did you mean softmax?"),
    ],
)
def test_a_wrong_reset_changes_nothing(attn: Attn, bundle: Path, arguments: list[str], words: str) -> None:
    script(bundle).write_text(SOLUTION)
    before = snapshot(bundle)
    done = attn("reset", *arguments, cwd=bundle)
    assert done.returncode == 2
    assert words in done.stderr
    assert snapshot(bundle) == before


def test_a_reset_asks_in_a_terminal(bundle: Path) -> None:
    script(bundle).write_text(SOLUTION)
    status, words = in_terminal(bundle, "n\n", "reset", "softmax")
    assert (status, script(bundle).read_text()) == (1, SOLUTION)
    assert "Put the original stub of 01_softmax back?" in words
    status, _ = in_terminal(bundle, "y\n", "reset", "softmax")
    assert (status, script(bundle).read_text()) == (0, STUB)


def test_a_backup_that_cannot_be_made_stops_the_reset(attn: Attn, bundle: Path) -> None:
    script(bundle).write_text(SOLUTION)
    (bundle / ".attnlab").mkdir()
    (bundle / ".attnlab" / "backups").write_text("in the way")
    assert attn("reset", "softmax", "--yes", cwd=bundle).returncode == 3
    assert script(bundle).read_text() == SOLUTION


# attn update


@pytest.fixture
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A newer bundle: a lesson and a check have changed, and so has the stub of 01_softmax."""
    root = tmp_path_factory.mktemp("newer") / "week2"
    shutil.copytree(ROOT / "modules", root / "modules")
    edit(root / FOLDER / "README.md", lambda text: text + "\nOne more thing.\n")
    edit(root / FOLDER / "checks.py", lambda text: text + "\n# and a comment\n")
    change_stub(root)
    return root


def edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))


def change_stub(root: Path) -> None:
    golden = root / FOLDER / "golden.json"
    document = json.loads(golden.read_text())
    document["stub"] = STUB + "\n# a newer stub\n"
    golden.write_text(json.dumps(document))
    script(root).write_text("somebody = 'has worked in this copy'\n")


def zipped(folder: Path, inside: str = "") -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for one in sorted(folder.rglob("*")):
            file.write(one, Path(inside) / one.relative_to(folder))
    return path


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "inside",
    [
        pytest.param(None, id="folder"),
        pytest.param("", id="zip", marks=pytest.mark.exhaustive),
        pytest.param("week2", id="zip around a folder"),
    ],
)
def test_an_update_renews_what_is_untouched(attn: Attn, bundle: Path, newer: Path, inside: str | None) -> None:
    shutil.rmtree(bundle / "modules" / "04_masks")
    done = attn("update", newer if inside is None else zipped(newer, inside), cwd=bundle)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "01_softmax: updated: lesson, checks, golden file; softmax.py was untouched and is the new stub"
    )
    assert lines[1:4] == ["02_loop_attention: nothing new", "03_attention: nothing new", "04_masks: new"]
    assert all(line.endswith(": nothing new") for line in lines[4:])
    assert script(bundle).read_text() == STUB + "\n# a newer stub\n"
    assert "One more thing." in (bundle / FOLDER / "README.md").read_text()
    assert (bundle / "modules" / "04_masks" / "masks.py").read_text() == (
        ROOT / "modules" / "04_masks" / "masks.py"
    ).read_text()
    assert [path.name for path in (bundle / ".attnlab").iterdir() if path.name.startswith("update-")] == []
    states = [entry["state"] for entry in json.loads(attn("status", "--json", cwd=bundle).stdout)]
    assert set(states) == {"untouched"}
    assert "01_softmax: nothing new" in attn("update", newer, cwd=bundle).stdout


@pytest.mark.exhaustive
def test_an_update_keeps_the_students_work_with_its_time(attn: Attn, bundle: Path, newer: Path) -> None:
    aged(script(bundle), SOLUTION, 50)
    aged(notebook(bundle), make_notebook("mine = 1\n", "softmax"), 90)
    before = snapshot(bundle)
    attn("test", "softmax", cwd=bundle)
    done = attn("update", newer, cwd=bundle)
    assert "your softmax.py and softmax.ipynb were kept" in done.stdout
    assert "the new one is softmax.py.new, to compare with yours (it is not graded)" in done.stdout
    after = snapshot(bundle)
    for name in ("softmax.py", "softmax.ipynb"):
        assert after[str(FOLDER / name)] == before[str(FOLDER / name)]
    assert (bundle / FOLDER / "softmax.py.new").read_text() == STUB + "\n# a newer stub\n"
    assert "changed, not tested yet" in attn("status", cwd=bundle).stdout  # by the new checks
    graded = attn("grade", bundle / FOLDER, "--json", cwd=ROOT)
    assert graded.returncode == 0, graded.stderr
    assert "softmax.py.new" not in graded.stdout + graded.stderr
    edit(bundle / FOLDER / "softmax.py.new", lambda text: text + "notes = 1\n")
    edit(bundle / FOLDER / "golden.json", lambda text: text.replace("a newer stub", "an older one"))
    attn("update", newer, cwd=bundle)
    assert "notes = 1" in (bundle / FOLDER / "softmax.py.new").read_text()
    assert (bundle / FOLDER / "softmax.py.new2").is_file()


@pytest.mark.exhaustive
def test_an_untouched_notebook_is_renewed_and_does_not_begin_to_count(attn: Attn, bundle: Path, newer: Path) -> None:
    aged(script(bundle), SOLUTION, 50)
    aged(notebook(bundle), make_notebook(STUB, "softmax"), 90)
    done = attn("update", newer, cwd=bundle)
    assert "softmax.ipynb was untouched and is the new stub; your softmax.py was kept" in done.stdout
    assert "a newer stub" in notebook(bundle).read_text()
    assert own_file(read_course(bundle).modules[0]) == script(bundle)
    with_notes = json.loads(make_notebook(STUB + "\n# a newer stub\n", "softmax"))
    with_notes["cells"].append({"cell_type": "markdown", "source": ["my notes"]})
    notebook(bundle).write_text(json.dumps(with_notes))
    change_stub(newer)
    edit(newer / FOLDER / "golden.json", lambda text: text.replace("a newer stub", "the newest stub"))
    assert "softmax.ipynb were kept" in attn("update", newer, cwd=bundle).stdout
    assert "my notes" in notebook(bundle).read_text()


@pytest.mark.exhaustive
def test_a_newer_tool_comes_with_its_command(attn: Attn, bundle: Path, newer: Path) -> None:
    (newer / "attnlab-9.1.0-py3-none-any.whl").write_bytes(b"a wheel")
    (newer / "constraints.txt").write_text("numpy==2.0\n")
    done = attn("update", newer, cwd=bundle)
    assert "python -m pip install -c constraints.txt attnlab-9.1.0-py3-none-any.whl" in done.stdout
    assert (bundle / "attnlab-9.1.0-py3-none-any.whl").read_bytes() == b"a wheel"
    edit(newer / FOLDER / "module.toml", lambda text: "colour = 3\n" + text)
    done = attn("update", newer, cwd=bundle)
    assert done.returncode == 2
    assert "install that first, then update" in done.stderr


def without(name: str) -> Callable[[Path], object]:
    return lambda root: (root / FOLDER / name).unlink()


def rewritten(name: str, change: Callable[[str], str]) -> Callable[[Path], object]:
    return lambda root: edit(root / "modules" / name, change)


def twice(root: Path, name: str, other: str) -> None:
    shutil.copytree(root / "modules" / name, root / "modules" / other)
    edit(root / "modules" / other / "module.toml", lambda text: text.replace("order = 4", "order = 14"))


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no module": (lambda root: shutil.rmtree(root / "modules"), "is not a bundle"),
    "no golden file": (without("golden.json"), "modules/01_softmax has no golden.json"),
    "golden file cut short": (rewritten("01_softmax/golden.json", lambda text: text[:99]), "is missing or broken"),
    "of an older kind": (
        rewritten("01_softmax/golden.json", lambda text: text.replace('"schema": 2', '"schema": 1')),
        "an older format",
    ),
    "module.toml": (rewritten("04_masks/module.toml", lambda text: text + "]"), "is not TOML"),
    "hints": (rewritten("04_masks/hints.toml", lambda text: text + "\n[x]\n"), "needs nudge, pointer, worked"),
    "checks": (rewritten("04_masks/checks.py", lambda text: text + "\ndef f(:"), "cannot be used"),
    "the same number": (
        lambda root: shutil.copytree(root / "modules" / "04_masks", root / "modules" / "03_masks"),
        "cannot be used",
    ),
    "the same name": (lambda root: twice(root, "04_masks", "14_masks"), "two modules called masks"),
    "an older tool": (lambda root: (root / "attnlab-0.0.1-py3-none-any.whl").touch(), "is older than your copy"),
    "solutions": (lambda root: (root / "solutions").mkdir(), "is a full course, not a bundle"),
}


@pytest.mark.parametrize(("spoil", "words"), some_cases(BROKEN, every=3))
def test_a_bundle_that_cannot_be_used_changes_nothing(
    attn: Attn, bundle: Path, newer: Path, spoil: Callable[[Path], object], words: str
) -> None:
    spoil(newer)
    before = snapshot(bundle)
    done = attn("update", newer, cwd=bundle)
    assert done.returncode == 2
    assert words in done.stderr
    assert ".attnlab" not in done.stderr  # it names the bundle, not where it was tried
    assert snapshot(bundle) == before


def linked(file: zipfile.ZipFile) -> None:
    link = zipfile.ZipInfo("modules/01_softmax/README.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file.writestr(link, "/etc/passwd")


BAD_ZIPS: dict[str, tuple[Callable[[zipfile.ZipFile], None], str]] = {
    "leads out": (lambda file: file.writestr("../modules/01_softmax/module.toml", "x"), "points outside the zip"),
    "absolute": (lambda file: file.writestr("/modules/01_softmax/module.toml", "x"), "points outside the zip"),
    "a link": (linked, "has a link"),
    "a bomb": (lambda file: file.writestr("modules/01_softmax/README.md", "#" * (99 << 20)), "is too large"),
    "something else": (lambda file: file.writestr("notes.txt", "hello"), "it has no modules"),
}


@pytest.mark.parametrize(("fill", "words"), some_cases(BAD_ZIPS, every=3))
def test_a_hostile_zip_changes_nothing(
    attn: Attn, bundle: Path, fill: Callable[[zipfile.ZipFile], None], words: str
) -> None:
    with zipfile.ZipFile(bundle / "week2.zip", "w", zipfile.ZIP_DEFLATED) as file:
        fill(file)
    before = snapshot(bundle.parent)
    done = attn("update", "week2.zip", cwd=bundle)
    assert done.returncode == 2
    assert words in done.stderr
    assert snapshot(bundle.parent) == before


def test_what_is_no_newer_bundle_is_said(attn: Attn, bundle: Path, course_copy: object) -> None:
    del course_copy
    (bundle / "torn.zip").write_bytes(b"PK\x03\x04 torn")
    for source, words in {
        ".": "is this course itself",
        "nowhere": "neither a folder nor a zip",
        "torn.zip": "cannot be read as a zip",
        "modules/01_softmax": "is not a bundle",
    }.items():
        done = attn("update", source, cwd=bundle)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    done = attn("update", bundle, cwd=bundle / "course")
    assert (done.returncode, "`git pull`" in done.stderr) == (2, True)


def test_an_update_that_fails_half_way_is_taken_back(attn: Attn, bundle: Path, newer: Path) -> None:
    shutil.rmtree(bundle / "modules" / "02_loop_attention")
    edit(newer / "modules" / "04_masks" / "README.md", lambda text: text + "\nMore.\n")
    (bundle / "modules" / "04_masks" / "README.md").unlink()
    (bundle / "modules" / "04_masks" / "README.md").mkdir()  # a file cannot take its place
    before = snapshot(bundle)
    done = attn("update", newer, cwd=bundle)
    assert done.returncode == 3
    assert "nothing was changed" in done.stderr
    assert snapshot(bundle) == before
    assert not (bundle / "modules" / "02_loop_attention").exists()


def interrupting(at: Path) -> Callable[[Path, Path], Path]:
    """Return a `Path.replace` that is interrupted, once, when it comes to one file."""
    replace = Path.replace
    waiting = [at]

    def run(path: Path, target: Path) -> Path:
        if target in waiting:
            waiting.remove(target)
            raise KeyboardInterrupt
        return replace(path, target)

    return run


def test_an_interrupted_update_or_reset_is_taken_back(
    bundle: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aged(notebook(bundle), NOTEBOOK, 50)
    before = snapshot(bundle)
    course = read_course(bundle)
    monkeypatch.setattr(Path, "replace", interrupting(bundle / FOLDER / "golden.json"))
    with pytest.raises(KeyboardInterrupt):
        update(course, newer)
    assert snapshot(bundle) == before
    monkeypatch.setattr(Path, "replace", interrupting(script(bundle)))
    with pytest.raises(KeyboardInterrupt):
        reset(course, course.modules[0])
    assert snapshot(bundle) == before


# attn submit


def visible(report: dict[str, object]) -> dict[str, str]:
    checks = report["checks"]
    assert isinstance(checks, list)
    return {check["name"]: check["outcome"] for check in checks if check["suite"] == "visible"}


@pytest.mark.exhaustive  # two modules tested and graded
def test_what_is_handed_in_is_graded_as_the_student_saw_it(attn: Attn, bundle: Path) -> None:
    notebook(bundle).write_text(NOTEBOOK)
    masks = bundle / "modules" / "04_masks" / "masks.py"
    masks.write_text((ROOT / "solutions" / "04_masks" / "masks.py").read_text() + BY_MYLAB)
    refused = attn("submit", "--student", "ana b.c@x", cwd=bundle)
    assert refused.returncode == 1
    assert "or use --anyway" in refused.stderr
    assert list(bundle.glob("*.zip")) == []
    done = attn("submit", "--anyway", cwd=bundle)  # whose it is, is remembered
    assert done.returncode == 0
    assert "in the zip: softmax.ipynb (newer than softmax.py)" in done.stdout
    assert "03_attention               not started" in done.stdout
    path = bundle / "ana b.c@x.zip"
    with zipfile.ZipFile(path) as file:
        assert set(file.namelist()) == {"01_softmax/softmax.ipynb", "04_masks/masks.py", "manifest.json"}
        manifest = json.loads(file.read("manifest.json"))
    seen = {name: visible(json.loads(attn("test", name, "--json", cwd=bundle).stdout)) for name in ("1", "4")}
    reports = json.loads(attn("grade", path, "--json", "--allow-unjailed").stdout)
    assert [(one["submission"], one["module"]) for one in reports] == [
        ("ana b.c@x", "01_softmax"),
        ("ana b.c@x", "04_masks"),
    ]
    assert [visible(one) for one in reports] == list(seen.values())
    assert set(seen["1"].values()) == {"passed"}
    assert {"passed", "failed"} <= set(seen["4"].values())
    assert (manifest["schema"], manifest["student"]) == (1, "ana b.c@x")
    for outcomes, entry in zip(seen.values(), manifest["modules"].values(), strict=True):
        assert (entry["passed"], entry["total"]) == (list(outcomes.values()).count("passed"), len(outcomes))
    assert "all 5 visible checks pass" in attn("status", cwd=bundle).stdout


def test_a_module_is_tested_with_what_is_in_the_zip_only(attn: Attn, bundle: Path) -> None:
    masks = bundle / "modules" / "04_masks" / "masks.py"
    masks.write_text((ROOT / "solutions" / "04_masks" / "masks.py").read_text() + BY_MYLAB)
    done = attn("submit", "--student", "ana", cwd=bundle)  # softmax is untouched, so it does not go in
    assert done.returncode == 1
    assert "No module named 'mylab.softmax'" in done.stdout


@pytest.mark.exhaustive
def test_a_second_zip_replaces_the_first_but_nothing_else(attn: Attn, bundle: Path) -> None:
    script(bundle).write_text(SOLUTION)
    first = json.loads(attn("submit", "--student", "ana", "--json", cwd=bundle).stdout)
    assert (first["written"], first["trouble"]) == ("ana.zip", {})
    script(bundle).write_text(SOLUTION + "\n# more\n")
    second = json.loads(attn("submit", "--json", cwd=bundle).stdout)
    assert second["manifest"] != first["manifest"]
    verify(bundle / "ana.zip", second["manifest"])
    with pytest.raises(OSError, match="differs from what was written"):
        verify(bundle / "ana.zip", first["manifest"])
    for name, owner in {"other.zip": "is not", "ben.zip": "is the submission of ben"}.items():
        with zipfile.ZipFile(bundle / name, "w") as file:
            file.writestr("holiday.txt", "photos")
            if name == "ben.zip":
                file.writestr("manifest.json", json.dumps({"schema": 1, "student": "ben", "attnlab": "0"}))
        before = snapshot(bundle)
        done = attn("submit", "--to", name, cwd=bundle)
        assert done.returncode == 2
        assert owner in done.stderr or "not from `attn submit`" in done.stderr
        assert snapshot(bundle) == before
    (bundle / "out").mkdir()
    assert attn("submit", "--to", "out", cwd=bundle).returncode == 0
    assert (bundle / "out" / "ana.zip").is_file()
    assert "hw is not ana" in attn("submit", "--to", "out/hw.zip", cwd=bundle).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "your id is needed"),
        (["--student", ""], "1 to 64 characters"),
        (["--student", "a" * 65], "1 to 64 characters"),
        (["--student", "../ana"], "only, not '/'"),
        (["--student", "a\nb"], "only, not"),
        (["--student", ".ana"], "must begin with a letter or a digit"),
        (["--student", " ana"], "must begin with a letter or a digit"),
        (["--student", "ana "], "must not end with a space"),
        (["--student", "Con"], "Windows"),
        (["--student", "softmax"], "is the name of a module"),
        (["--student", "ana", "--to", "ana.txt"], "It must end in .zip"),
        (["--student", "ana", "--to", "nowhere/ana.zip"], "there is no folder"),
    ],
)
def test_wrong_options_write_nothing(attn: Attn, bundle: Path, arguments: list[str], words: str) -> None:
    script(bundle).write_text(SOLUTION)
    before = snapshot(bundle)
    done = attn("submit", *arguments, cwd=bundle)
    assert done.returncode == 2
    assert words in done.stderr
    assert snapshot(bundle) == before


@pytest.mark.exhaustive
def test_nothing_begun_or_something_missing_is_said(attn: Attn, bundle: Path) -> None:
    done = attn("submit", "--student", "Zoë", cwd=bundle)
    assert (done.returncode, "no module has been started" in done.stderr) == (1, True)
    script(bundle).write_text(SOLUTION)
    (bundle / "modules" / "04_masks" / "masks.py").unlink()
    done = attn("submit", cwd=bundle)
    assert (done.returncode, "masks.py is missing" in done.stdout) == (1, True)
    assert attn("submit", "--anyway", cwd=bundle).returncode == 0
    assert (bundle / "Zoë.zip").is_file()


def test_an_untouched_notebook_before_finished_work_is_not_handed_in_silently(attn: Attn, bundle: Path) -> None:
    aged(script(bundle), SOLUTION, 50)
    aged(notebook(bundle), make_notebook(STUB, "softmax"), 10)
    done = attn("submit", "--student", "ana", cwd=bundle)
    assert done.returncode == 1
    assert "newer than softmax.py" in done.stdout


def test_a_file_the_grader_would_refuse_is_refused_here(attn: Attn, bundle: Path) -> None:
    script(bundle).write_text(SOLUTION + "#" * (3 << 20))
    done = attn("submit", "--student", "ana", "--anyway", cwd=bundle)
    assert done.returncode == 1
    assert "the limit for a .py file is 2 MB" in done.stderr
    assert not (bundle / "ana.zip").exists()


@pytest.mark.exhaustive
def test_a_terminal_is_asked_who_and_whether(bundle: Path) -> None:
    script(bundle).write_text(STUB + "\n# begun\n")
    status, words = in_terminal(bundle, "ana\nn\n", "submit")
    assert status == 1
    assert "Your id" in words
    assert "Hand in anyway?" in words
    assert not (bundle / "ana.zip").exists()
    status, words = in_terminal(bundle, "y\n", "submit")
    assert status == 0
    assert "ana.zip: 1 module of ana; the zip was read back and is complete." in words


@pytest.mark.parametrize("command", ["reset", "update", "submit"])
def test_help_is_light_and_teaches_by_example(command: str) -> None:
    code = (
        f"import sys; sys.argv = ['attn', {command!r}, '--help']\nfrom cli.main import run; run()\n"
        "print(sorted({'numpy', 'pytest', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"attn {command} " in done.stdout.replace("Usage: attn", "")
    assert done.stdout.endswith("[]\n")
