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

from grader.core.atomic_file import write_bytes_atomically
from grader.course.course import Course
from grader.course.module import Module
from grader.platforms.container.files import content, grading_files, package_lists
from grader.platforms.gradescope.autograder import SETTINGS, Settings

_SCRIPTS = {"setup.sh": "setup.sh", "run_autograder": "run_autograder.sh"}
_PLAIN, _PROGRAM = 0o644, 0o755


class AutograderError(Exception):
    """An autograder that does not give full marks to the solution, and its output."""


def make_autograder(course: Course, settings: Settings) -> bytes:
    """Return the zip of a module's autograder; the same course gives the same bytes."""
    module = course.module(settings.module)
    files = {name: _script(path) for name, path in _SCRIPTS.items()}
    files |= package_lists(course, module) | grading_files(course, module)
    files[SETTINGS] = (json.dumps(settings.as_json(), indent=1) + "\n").encode()
    return _zip(files)


def write_autograder(data: bytes, path: Path) -> None:
    """Write the zip so that only its owner can read it: it contains the solution and the hidden suite."""
    write_bytes_atomically(path, data, secret=True)


def try_autograder(data: bytes, course: Course, module: Module) -> float:
    """Run a zip here on the solution, as Gradescope would; return the score, or raise if it is not full marks."""
    with tempfile.TemporaryDirectory(prefix="attn-") as temporary:
        root = Path(temporary)
        unpack(data, root)
        (root / "submission" / f"{module.slug}.py").write_bytes(content(course.solution(module)))
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
