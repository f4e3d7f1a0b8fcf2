"""The provenance of a report: everything that could change the report if it changes."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import grader
from grader.core.machine import environment
from grader.core.syntax import parse
from grader.course.course import Course
from grader.course.module import Module
from grader.course.seeds import secret_salt
from grader.grading.executor import uses_gpu
from grader.submission.submission import Submission, submission_hash

_WORDS = {
    "submission": "the submission changed",
    "checks": "the checks of the module changed",
    "grader": "AttnLab itself changed",
}


@dataclass(frozen=True)
class Provenance:
    """Hashes of what a report was made from, and the versions of the software that made it."""

    submission: str
    checks: str
    grader: str
    environment: dict[str, str | None]

    def changes_to(self, later: Provenance) -> list[str]:
        """Describe what is different in a later provenance."""
        changed = [words for name, words in _WORDS.items() if getattr(self, name) != getattr(later, name)]
        names = dict.fromkeys([*self.environment, *later.environment])
        before, after = self.environment, later.environment
        return changed + [
            f"{name} changed from {before.get(name)} to {after.get(name)}"
            for name in names
            if before.get(name) != after.get(name)
        ]


class ProvenanceReader:
    """The provenance of the reports of a class: hashes the course once, when grading begins."""

    def __init__(self, course: Course, modules: Iterable[str], *, gpu_name: str | None = None) -> None:
        self._checks = {name: _checks_hash(course, course.module(name)) for name in modules}
        self._grader = grader_hash()
        self._environments = {name: _environment(course, course.module(name), gpu_name) for name in modules}

    def of(self, submission: Submission) -> Provenance:
        """Return the provenance of the report of one submission."""
        return self.of_hash(submission.module, submission_hash(submission))

    def of_hash(self, module: str, submission: str) -> Provenance:
        """Return the provenance of the report of a submission that is known by its hash."""
        return Provenance(submission, self._checks[module], self._grader, self._environments[module])


def _environment(course: Course, module: Module, gpu_name: str | None) -> dict[str, str | None]:
    """Return the versions that matter to a module; that of torch only if the module uses torch."""
    found = {name: version for name, version in environment().items() if name != "torch" or module.backend == "torch"}
    return found | ({"gpu": gpu_name} if gpu_name and uses_gpu(course, module) else {})


def _checks_hash(course: Course, module: Module) -> str:
    # All solutions, because a solution may use those of earlier modules.
    solutions = [course.solution(other) for other in course.modules]
    own = [module.folder / name for name in ("module.toml", "checks.py", "probes.py", "golden.json")]
    own += module.fallbacks.values()
    for other in course.modules:
        if other.slug in module.fallback:  # its checks decide whether the fallback stands in
            own += [other.checks, course.hidden_suite(other), other.folder / "module.toml"]
    gpu = filter(None, [course.gpu_suite(module)])
    salt = secret_salt(course) + _files_hash(*_imported_helpers(module.probes))
    return _files_hash((*own, course.hidden_suite(module), *gpu, *solutions), course.root, salt)


def _imported_helpers(path: Path) -> tuple[list[Path], Path]:
    """Return the files of the course's own package that a file imports, and the folder that `grader` is in, too."""
    beside = Path(grader.__file__).parent.parent
    try:
        tree = parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):  # there is no such file, or grading says what is wrong with it
        return [], beside
    names = sorted(node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    files = [beside / f"{name.replace('.', '/')}.py" for name in names if not name.startswith("grader.")]
    return [one for one in files if one.is_file()], beside


def grader_hash() -> str:
    """Return the hash of AttnLab itself, as it is on this disk."""
    package = Path(grader.__file__).parent
    return _files_hash(sorted(package.rglob("*.py")), package)


def _files_hash(paths: Iterable[Path], root: Path, salt: str = "") -> str:
    digest = hashlib.sha256(salt.encode())
    for path in paths:
        data = path.read_bytes() if path.is_file() else b"missing"
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()
