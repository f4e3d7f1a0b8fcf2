"""A course: its modules and the paths of their solutions and hidden suites."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.course.api import Api, read_api
from grader.course.course_file import COURSE_FILE, find_root
from grader.course.golden import read_golden
from grader.course.module import FOLDER, CourseError, Module, module_error, read_module
from grader.course.stub import StubError, make_stub


@dataclass(frozen=True)
class Course:
    """A folder with `modules/`. A full course also has `solutions/` and `tests/hidden/`."""

    root: Path
    modules: tuple[Module, ...]
    optional: tuple[Module, ...] = ()  # beyond the course: found by name, and in no list and no total

    @property
    def all_modules(self) -> tuple[Module, ...]:
        """The modules of the course, then those beyond it."""
        return (*self.modules, *self.optional)

    @property
    def is_bundle(self) -> bool:
        """Whether this is a student's copy, without solutions and hidden suites."""
        return not (self.root / "solutions").is_dir()

    def module(self, name: str) -> Module:
        """Return a module by its name, slug or number: `01_warm_up`, `warm_up`, `01` or `1`."""
        for module in self.all_modules:
            if name in (module.name, module.slug, module.name[:2], str(module.order)):
                return module
        known = [module.name for module in self.modules]
        import difflib  # only for a module that does not exist

        close = difflib.get_close_matches(name, [*known, *(module.slug for module in self.modules)], 1)
        hint = f"Did you mean {close[0]}?" if close else f"The modules are {', '.join(known)}"
        raise CourseError(self.root / "modules", "", f"there is no module {name!r}", hint, usage=True)

    def solution(self, module: Module) -> Path:
        """Return the path of the reference solution, even if it does not exist."""
        return self.root / "solutions" / module.name / f"{module.slug}.py"

    def stub_text(self, module: Module) -> str:
        """Return the stub made from a module's solution."""
        path = self.solution(module)
        try:
            return make_stub(path.read_bytes().decode("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise CourseError(path, "", f"cannot be read: {error}", "Every module needs a solution") from None
        except StubError as error:
            raise CourseError(path, f"line {error.line}", error.problem, "Pair every BEGIN with one END") from None

    def api(self, module: Module) -> Api:
        """Return the names that a module requires. They never come from the file that the student edits."""
        if self.is_bundle:
            return read_golden(module).api
        try:
            return read_api(self.stub_text(module))
        except SyntaxError as error:
            path = self.solution(module)
            raise CourseError(path, f"line {error.lineno}", "its stub is not Python", "Fix the solution") from None

    def hidden_suite(self, module: Module) -> Path:
        """Return the path of the hidden suite, even if it does not exist."""
        return self.root / "tests" / "hidden" / f"test_{module.name}.py"

    def gpu_suite(self, module: Module) -> Path | None:
        """Return the path of the checks that need a GPU; None if the module has none."""
        path = self.root / "tests" / "hidden" / f"gpu_{module.name}.py"
        return path if path.is_file() else None


def find_course(start: Path, *, or_empty: bool = False) -> Course:
    """Return the course or bundle that contains a folder. `or_empty` allows a course that has no module yet."""
    if (root := find_root(start)) is not None:
        return read_course(root)
    start = start.resolve()
    if empty := next((one for one in (start, *start.parents) if (one / COURSE_FILE).is_file()), None):
        if or_empty:
            return Course(empty, ())
        raise CourseError(empty, "", "has no module yet", "Make one: attn dev new NAME", usage=True)
    problem, fix = "is not inside an AttnLab course", "Run this in a folder that has `modules/`, or make one"
    raise CourseError(start, "", problem, f"{fix}: `attn init DIR` or `attn course new DIR`", usage=True)


def read_course(root: Path) -> Course:
    """Read every module of a course. The first mistake raises a CourseError."""
    folders = sorted(path.parent for path in (root / "modules").glob("*/module.toml"))
    found = [read_module(folder) for folder in folders]
    modules = tuple(module for module in found if not module.needs_gpu)
    course = Course(root, modules, tuple(module for module in found if module.needs_gpu))
    numbers: dict[int, Module] = {}
    for module in found:
        if (twin := numbers.setdefault(module.order, module)) is not module:
            raise module_error(
                module.folder, "order", f"{twin.name} has the same order", "Change one of the two numbers"
            )
        _check_requires(course, module)
        _check_fallbacks(course, module)
    return course


def _check_requires(course: Course, module: Module) -> None:
    earlier = [other.name for other in course.modules if other.order < module.order]
    for name in module.requires:
        # A bundle may have a module without the modules it requires.
        if name not in earlier and not (course.is_bundle and FOLDER.fullmatch(name)):
            fix = f"Use an earlier module: {', '.join(earlier) or 'there is none, so write requires = []'}"
            raise module_error(module.folder, "requires", f"{name!r} is not an earlier module", fix)


def _check_fallbacks(course: Course, module: Module) -> None:
    earlier = [other.slug for other in course.modules if other.order < module.order]
    for slug in module.fallback:
        if slug not in earlier and not course.is_bundle:  # a bundle may have a module without the earlier one
            fix = f"Use the name of an earlier module: {', '.join(earlier) or 'there is none, so remove this line'}"
            raise module_error(module.folder, f"fallback.{slug}", f"{slug!r} is not an earlier module", fix)
