"""What is installed: the wheel has what a student needs and nothing else, and a student can begin with only it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.authoring.bundle import CARRIED, make_bundle, text_leaks, wheel_leaks
from grader.authoring.wheel import LIB
from grader.course.course import Course
from grader.course.engine import WHEEL
from grader.course.student_files import carried_files
from tests.acceptance.own_course import Author, foreign_files, hand_in, lent_extras, wheel_problems
from tests.cli.conftest import EXECUTABLE
from tests.cli.web.made import RUNTIME
from tests.conftest import ROOT, needs_jail

# What a build takes from a clone.
SOURCES = ("cli", "grader", "modules")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "constraints.txt", "course.toml")
START = {"attnlab.pth", "attnlab/__init__.py", "attnlab/__main__.py"}
SOLVED = ("01_softmax", "02_loop_attention")
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is built: setuptools leaves files beside it."""
    root = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, root)
    return root


@pytest.fixture(scope="module")
def dist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel built from it."""
    return build(source, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return dist / WHEEL


def build(source: Path, to: Path, *options: str) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(to), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return to


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel, without what pip keeps about it."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


def test_the_wheel_has_the_two_packages_and_the_students_side_of_the_course(course: Course, wheel: Path) -> None:
    files = contents(wheel)
    packages = {
        f"{LIB}/{path.relative_to(ROOT).as_posix()}"
        for name in ("cli", "grader")
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.is_relative_to(ROOT / "cli" / "installed")
    }
    carried = {f"{CARRIED}/{name}" for name in carried_files(course)}
    assert files.keys() == START | packages | carried
    assert {name.split("/")[1] for name in carried_files(course) if name.startswith("modules/")} == {
        module.name for module in course.all_modules
    }
    kinds = {Path(name).name for name in carried_files(course)}
    assert {"README.md", "checks.py", "probes.py", "hints.toml", "golden.json", "module.toml", "steps.svg"} <= kinds
    assert {"fallback.py", "softmax.py", "course.toml", "constraints.txt"} <= kinds


def test_the_wheel_leaks_nothing(course: Course, wheel: Path) -> None:
    assert list(wheel_leaks(course, wheel)) == []
    salt = ROOT / ".attnlab" / "salt"
    for name, data in contents(wheel).items():
        assert not {"solutions", "hidden", ".attnlab"} & set(Path(name).parts), name
        assert not salt.is_file() or salt.read_bytes().strip() not in data, name


def test_a_leak_in_the_wheel_is_found(course: Course, wheel: Path, tmp_path: Path) -> None:
    leaky = Path(shutil.copy(wheel, tmp_path))
    module = course.modules[0]
    with zipfile.ZipFile(leaky, "a") as archive:
        archive.write(course.solution(module), f"{CARRIED}/modules/{module.name}/notes.md")
        archive.write(course.hidden_suite(module), f"{LIB}/cli/suite.py")
        archive.writestr("solutions.txt", "")
    found = "\n".join(wheel_leaks(course, leaky))
    assert "notes.md contains a line of the solution of 01_softmax" in found
    assert "suite.py contains a part of the hidden suite of 01_softmax" in found
    assert "contains solutions.txt, which is not a file of cli or grader" in found


def test_the_sdist_leaks_nothing(course: Course, dist: Path) -> None:
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        files = {one.name: archive.extractfile(one) for one in archive.getmembers() if one.isfile()}
        texts = {name: file.read().decode("utf-8", "replace") for name, file in files.items() if file is not None}
    found = [leak for leak in text_leaks(course, texts) if "grader/authoring/misconceptions.py" not in leak]
    assert found == []  # that file reads misconceptions, and is none
    assert {name.split("/")[1] for name in texts if name.count("/") > 1} == {*SOURCES, "attnlab.egg-info"}


def test_what_lies_in_a_clone_is_not_in_the_wheel(course: Course, source: Path, wheel: Path, tmp_path: Path) -> None:
    module = course.modules[0]
    dirty = shutil.copytree(source, tmp_path / "source")
    shutil.copy(course.solution(module), dirty / "modules" / module.name / module.stub.name)
    (dirty / "modules" / module.name / "mine.py").write_text("x = 1\n")
    (dirty / "build" / "lib" / "cli").mkdir(parents=True)
    (dirty / "build" / "lib" / "cli" / "left.py").write_text("x = 1\n")
    assert contents(build(dirty, tmp_path / "dist", "--wheel") / WHEEL) == contents(wheel)


def without_network(command: list[str]) -> list[str]:
    """Return a command that runs without a network, in its own network namespace if this machine allows that."""
    unshare = ["unshare", "--user", "--map-root-user", "--net"]
    allowed = (
        shutil.which("unshare") and subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
    )
    return [*unshare, *command] if allowed else command


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A fresh virtual environment: run a command in it."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    path = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "VIRTUAL_ENV": str(folder)}
    path.pop("PYTHONPATH", None)

    def run(*command: object, cwd: Path, status: int = 0, network: bool = False) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in command]
        words[0] = shutil.which(words[0], path=path["PATH"]) or words[0]
        if not network:
            words = without_network(words)
        done = subprocess.run(words, cwd=cwd, env=path, capture_output=True, text=True, check=False)
        assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.mark.exhaustive
def test_the_two_commands_of_a_bundles_readme_work(environment: Run, course: Course, tmp_path: Path) -> None:
    bundle = make_bundle(course, course.modules[:1], tmp_path / "week1")
    (block,) = re.findall(r"```sh\n(.*?)```", (bundle / "README.md").read_text(), re.DOTALL)
    install, test = block.strip().splitlines()
    environment("sh", "-c", install, cwd=bundle, network=True)
    assert "5 not written yet" in environment("sh", "-c", test, cwd=bundle, status=1).stdout
    shutil.copy(course.solution(course.modules[0]), bundle / "modules" / "01_softmax")
    assert "5 of 5 visible checks pass." in environment("sh", "-c", test, cwd=bundle).stdout
    refused = environment("attn", "init", "course", cwd=tmp_path, status=2).stderr
    assert "carries no course of its own" in refused


@pytest.fixture(scope="module")
def installed(environment: Run, wheel: Path) -> Run:
    """The same environment with only the wheel, in the versions of constraints.txt."""
    environment("python", *PIP, "uninstall", "--yes", "attnlab", cwd=ROOT)
    environment("python", *PIP, "install", "-c", "constraints.txt", wheel, cwd=ROOT, network=True)
    return environment


@pytest.mark.exhaustive
def test_from_the_wheel_to_full_marks(installed: Run, course: Course, tmp_path: Path) -> None:
    needs_jail()
    shown = installed("attn", "init", "course", cwd=tmp_path).stdout
    assert "  cd course\n  attn start softmax\n" in shown
    work = tmp_path / "course"
    assert (work / "README.md").read_text().count("attn test softmax\n") == 1
    installed("attn", "start", "softmax", cwd=work)
    assert "not written yet" in installed("attn", "test", "softmax", cwd=work, status=1).stdout
    asked = installed("attn", "test", "torch_attention", cwd=work, status=3).stderr
    assert "python -m pip install -c constraints.txt torch" in asked
    for name in SOLVED:
        module = course.module(name)
        shutil.copy(course.solution(module), work / "modules" / name)
        installed("attnlab", "complete", module.slug, cwd=work)
    assert "updated" not in installed("attn", "update", cwd=work).stdout
    installed("attn", "submit", "--student", "ana", cwd=work)
    command = [EXECUTABLE, "grade", str(work / "ana.zip"), "--to", str(tmp_path / "reports")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in SOLVED:
        report = json.loads((tmp_path / "reports" / name / "ana.json").read_text())
        assert (report["score"], report["environment"]["attnlab"]) == (report["max_score"], WHEEL.split("-")[1])


@pytest.mark.exhaustive
def test_a_course_of_another_subject_from_nothing(installed: Run, wheel: Path, tmp_path: Path) -> None:
    """Without a clone and without a network: made, proved, released, given to a student, and a class graded."""
    author = Author(installed, tmp_path)
    assert "attn course new DIR" in author("attn", status=2)
    author("attn", "course", "new", "words", "--title", "Words and texts")
    author.home = course = tmp_path / "words"
    author("attn", "dev", "new", "shouting", "--example", "words")
    assert author("attn", "dev", "check").count(": sound (") == 2
    author("python", "-m", "pytest", "-q")
    author("attn", "release", "--bundle", "word_counts", "2", "--to", "../week1")
    author("attn", "release", "--bundle", "1", "--to", "../pinned", "--engine", "pinned")
    assert f"constraints.txt attnlab=={WHEEL.split('-')[1]}\n" in (tmp_path / "pinned" / "README.md").read_text()
    assert not list((tmp_path / "pinned").glob("*.whl"))
    author("attn", "export", "gradescope", "word_counts", "--out", "../autograder.zip")
    author("attn", "export", "github", "workflow", "word_counts", "--out", "../classroom.yml")
    hand_in(course, "01_word_counts", tmp_path / "class")
    assert "counts_each_word_once: ben" in author("attn", "grade", "../class", "--to", "reports", status=1)
    (tmp_path / "pages").mkdir()
    author("attn", "dashboard", "reports", "--to", "../pages/class.html")
    author("attn", "feedback", "reports", "--to", "../pages/feedback")
    assert "<title>Words and texts: dashboard</title>" in (tmp_path / "pages" / "class.html").read_text()
    assert "pip install 'attnlab[site]'" in author("attn", "release", "--web", "../site", "1", status=2)
    assert "pip install 'attnlab[instructor]'" in author("attn", "course", "init", "../classroom", status=2)
    made = tmp_path / "week1" / WHEEL
    assert list(wheel_problems(made)) == []
    ours, published = contents(made), contents(wheel)
    assert ours.items() <= published.items()
    left_out = {name.removeprefix(f"{LIB}/").split("/")[1] for name in published.keys() - ours.keys()}
    assert left_out == {"course", "attention"}
    author.home = tmp_path / "week1"
    author("python", *PIP, "install", "--no-deps", "--force-reinstall", "--no-index", made)
    try:
        assert "1 not written yet" in author("attn", "test", status=1)
        shutil.copy(
            course / "solutions" / "01_word_counts" / "word_counts.py", author.home / "modules" / "01_word_counts"
        )
        assert "1 of 1 visible checks pass." in author("attn", "test", "word_counts")
        assert "Words and texts in " in author("attn")
        assert "carries no course of its own" in author("attn", "init", "../other", status=2)
        author("python", "-m", "pip", "show", "attnlab")
    finally:
        author("python", *PIP, "install", "--no-deps", "--force-reinstall", "--no-index", wheel)
    assert author.foreign == []
    assert list(foreign_files(tmp_path)) == []


@pytest.mark.exhaustive
def test_the_forms_that_need_an_extra_work_for_another_subject(installed: Run, tmp_path: Path) -> None:
    """For nbgrader and a browser. The extras are those of this machine: to install them again takes minutes."""
    author = Author(installed, tmp_path)
    author("attn", "course", "new", "words")
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    with lent_extras(Path(author("python", "-c", where).strip())):
        author.home = tmp_path / "words"
        author("attn", "course", "init", "../classroom")
        author("attn", "release", "word_counts", "--to", "../classroom")
        author("attn", "release", "word_counts", "--web", "../site", "--runtime", RUNTIME, network=True)
    assert (tmp_path / "classroom" / "release" / "01_word_counts" / WHEEL).is_file()
    assert "<title>Words</title>" in (tmp_path / "site" / "index.html").read_text()
    with zipfile.ZipFile(next((tmp_path / "site" / "python").glob("engine-*.zip"))) as engine:
        assert not [name for name in engine.namelist() if "cli/attention" in name]
    assert author.foreign == []
    assert list(foreign_files(tmp_path)) == []


@pytest.mark.exhaustive
def test_another_package_called_cli_or_grader_does_no_harm(installed: Run, tmp_path: Path) -> None:
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(installed("python", "-c", where, cwd=tmp_path).stdout.strip())
    others = [packages / name for name in ("cli", "grader")]
    try:
        for other in others:
            other.mkdir()
            (other / "__init__.py").write_text("raise SystemExit('not ours')\n")
        installed("attn", "init", "course", cwd=tmp_path)
        assert "5 not written yet" in installed("attn", "test", "1", cwd=tmp_path / "course", status=1).stdout
        installed("python", "-m", "attnlab", "status", cwd=tmp_path / "course")
    finally:
        for other in others:
            shutil.rmtree(other)


@pytest.mark.exhaustive
def test_uvx_gives_a_workspace_that_works(wheel: Path, tmp_path: Path) -> None:
    def uvx(*arguments: str, cwd: Path, status: int = 0, offline: bool = False) -> str:
        command = [sys.executable, "-m", "uv", "tool", "run", *(["--offline"] if offline else [])]
        command += ["--with-requirements", str(pins), "--from", str(wheel), "attnlab", *arguments]
        done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    pins = tmp_path / "pins.txt"
    pins.write_text(re.findall(r"^numpy==.*\n", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0])
    variables = os.environ | {"UV_CACHE_DIR": str(tmp_path / "cache")}
    assert "  cd course\n  uvx attnlab start softmax\n" in uvx("init", "course", cwd=tmp_path)
    work = tmp_path / "course"
    assert "5 not written yet" in uvx("test", "softmax", cwd=work, status=1, offline=True)
    shutil.copy(ROOT / "solutions" / "01_softmax" / "softmax.py", work / "modules" / "01_softmax")
    assert "5 of 5 visible checks pass." in uvx("test", "softmax", cwd=work, offline=True)
