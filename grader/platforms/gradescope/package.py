"""The zip of a Gradescope autograder: two scripts, the grader, and the files of the course for one module."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import grader
from grader.core.atomic_file import write_bytes_atomically
from grader.course.course import Course
from grader.course.engine import CONSTRAINTS, versions_for
from grader.course.loading import earlier_solutions
from grader.course.module import CourseError, Module, read_text
from grader.course.seeds import secret_salt
from grader.platforms.gradescope.autograder import COURSE, SETTINGS, Settings

# The packages that the grader imports. pyproject.toml has them too, with those that the command needs.
REQUIREMENTS = ("numpy>=2.0", "psutil>=5.9.6", "pytest>=8.4")
TORCH = "torch>=2.6"
_SCRIPTS = {"setup.sh": "setup.sh", "run_autograder": "run_autograder.sh"}
_PLAIN, _PROGRAM = 0o644, 0o755


class AutograderError(Exception):
    """An autograder that does not give full marks to the solution, and its output."""


def make_autograder(course: Course, settings: Settings) -> bytes:
    """Return the zip of a module's autograder; the same course gives the same bytes."""
    module = course.module(settings.module)
    files = {name: _script(path) for name, path in _SCRIPTS.items()}
    torch = [TORCH] if module.backend == "torch" else []
    files["requirements.txt"] = "\n".join([*REQUIREMENTS, *torch, ""]).encode()
    files[CONSTRAINTS] = versions_for(course.root).encode()
    files[SETTINGS] = (json.dumps(settings.as_json(), indent=1) + "\n").encode()
    package = Path(grader.__file__).parent
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[f"grader/{path.relative_to(package).as_posix()}"] = path.read_bytes()
    for path in _course_files(course, module):
        files[f"{COURSE}/{path.relative_to(course.root).as_posix()}"] = _read(path)
    files[f"{COURSE}/.attnlab/salt"] = f"{secret_salt(course)}\n".encode()  # hidden inputs as in `attn grade`
    return _zip(files)


def _course_files(course: Course, module: Module) -> list[Path]:
    """Return the files that grading reads: all of the module, and what identifies the other modules."""
    named = [
        (one.folder / "module.toml", one.golden, *one.fallbacks.values()) for one in course.modules
    ]  # a course is read only if its fallbacks are there
    others = [path for paths in named for path in paths if path.is_file()]
    own = [module.folder / "module.toml", module.stub, module.checks, module.probes, module.golden]
    own += [*module.fallbacks.values(), course.solution(module), course.hidden_suite(module)]
    imported = earlier_solutions(course, module, read_text(course.solution(module)))
    for earlier in course.modules:
        if earlier.slug in {*imported, *module.fallback}:
            own.append(course.solution(earlier))
        if earlier.slug in module.fallback:  # its own checks decide whether the fallback stands in
            own += [earlier.stub, earlier.checks, earlier.probes, course.hidden_suite(earlier)]
    return list(dict.fromkeys([*others, *own]))


def write_autograder(data: bytes, path: Path) -> None:
    """Write the zip so that only its owner can read it: it contains the solution and the hidden suite."""
    write_bytes_atomically(path, data, secret=True)


def try_autograder(data: bytes, course: Course, module: Module) -> float:
    """Run a zip here on the solution, as Gradescope would; return the score, or raise if it is not full marks."""
    with tempfile.TemporaryDirectory(prefix="attn-") as temporary:
        root = Path(temporary)
        unpack(data, root)
        (root / "submission" / f"{module.slug}.py").write_bytes(_read(course.solution(module)))
        process = run_unpacked(root)
        results = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
        if results.get("score") != module.points:
            last = process.stderr.strip().rpartition("\n")[2]  # the sentence below a traceback
            output = f"{results.get('score', 'no score')}: {results['output'].strip()} {last}".strip()
            raise AutograderError(f"the autograder gives the solution of {module.name} {output}")
        return module.points


def unpack(data: bytes, root: Path) -> None:
    """Unpack a zip and make the folders that Gradescope makes below /autograder."""
    for name in ("source", "submission", "results"):
        (root / name).mkdir()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(root / "source")
        (root / "run_autograder").write_bytes(archive.read("run_autograder"))
    (root / "run_autograder").chmod(_PROGRAM)


def run_unpacked(root: Path) -> subprocess.CompletedProcess[str]:
    """Run an unpacked autograder with this Python instead of the one that setup.sh installs."""
    environment = {**os.environ, "AUTOGRADER_ROOT": str(root), "ATTNLAB_PYTHON": sys.executable}
    command = ["bash", str(root / "run_autograder")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _script(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        fix = "An autograder needs the complete course. Run `attn dev build`, or restore the file"
        raise CourseError(path, "", f"cannot be read ({error.strerror})", fix) from None


def _zip(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name)  # always with the same date
            info.create_system = 3
            info.external_attr = (0o100000 | (_PROGRAM if name in _SCRIPTS else _PLAIN)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, files[name])
    return file.getvalue()
