"""The rules of one run of `attn grade`: for each module its options, then `course.toml`, then what is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from grader.classroom.lateness import read_due
from grader.classroom.module_rules import FILES, FileRule, KeptFile, ModuleRules, SavedRules, read_kept
from grader.classroom.rules import Rules, RulesError
from grader.course.course import Course

Choice = Literal[
    "kept", "given"
]  # where it is unclear which rules are meant: those of before, or only those of this run


class UnclearRulesError(RulesError):
    """It cannot be known which rules are meant. Nothing was changed."""


@dataclass(frozen=True)
class RunRules:
    """What is known of the rules of a run, before it is known which modules it grades."""

    course: Course
    given: Rules
    of_course: Rules
    saved: SavedRules
    resume: bool = False
    choice: Choice | None = None

    @cached_property
    def now(self) -> Rules:
        """The options of this run and the rules of the course, without what was kept."""
        rules = self._with_due().or_else(self.of_course)
        read_due(self.course, rules.due)  # a mistake is told before anything is graded
        return rules

    def _with_due(self) -> Rules:
        """Return the options with the due dates of the course for modules that --due does not name."""
        named = [text.rpartition("=")[0].strip() for text in self.given.due]
        if not self.given.due or "" in named:  # a date for all modules replaces every date
            return self.given
        modules = {self.course.module(name).name for name in named}
        others = tuple(text for text in self.of_course.due if text.rpartition("=")[0] not in modules)
        return dataclasses.replace(self.given, due=(*others, *self.given.due))

    def before(self, module: str) -> ModuleRules:
        """Return what a module keeps of its last grading, if this run continues it. If that is unclear, ask."""
        if not self.resume or self.choice == "given":
            return ModuleRules()
        if self.saved.unclear(module) and self.choice is None:
            self._require_clear(module)
        return self.saved.of(module)

    def _require_clear(self, module: str) -> None:
        """Ask which rules are meant if the marks of a module may have been made by others than those kept."""
        mine, kept = _of_module(self.now.only(module)), _of_module(self.saved.of(module).rules)
        if mine.or_else(kept) == mine and (mine.due or not self.saved.graded[module]):
            return
        shown = " ".join(f"{name} {text}".strip() for name, text in kept.as_options().items()) or "none"
        there = ", ".join(sorted(self.saved.graded))
        raise UnclearRulesError(
            f"the rules of {module} are not known. An earlier AttnLab kept only those of its last run ({shown}), and "
            f"the results have {there}. If those are right for {module}, add --rules kept. If only the options of this "
            "command and course.toml count, add --rules given"
        )

    def of(self, module: str) -> ModuleRules:
        """Return the rules of a module in this run, with their files."""
        mine, before = self.now.only(module), self.before(module)
        rules = mine.or_else(before.rules)
        files: dict[str, KeptFile] = {}
        for name in FILES:
            path = getattr(rules, name)
            if path is not None:
                is_new = getattr(mine, name) is not None
                files[name] = read_kept(path) if is_new else self._kept(module, name, path, before.files)
        return ModuleRules(rules, files)

    def _kept(self, module: str, name: FileRule, path: str, files: Mapping[str, KeptFile]) -> KeptFile:
        """Return a file that was used before. If it is another one now, ask which is meant."""
        kept = files.get(name)
        if kept is None or (name == "roster" and Path(path).is_file()):  # a roster is of the class, and people join it
            return read_kept(path)
        try:
            changed = Path(path).read_bytes() != kept.data
        except OSError:  # gone, or on another machine
            changed = False
        if changed and self.choice is None:
            raise UnclearRulesError(
                f"{path} has changed since {module} was graded with it. To use it as it is now, add --{name} {path}. "
                "To go on with what was in it then, add --rules kept"
            )
        return kept

    def finding(self, modules: Iterable[str]) -> ModuleRules:
        """Return the rules by which submissions are found. All modules of a run must have the same."""
        found = {module: self.of(module).finding() for module in modules}
        different = list(found)
        first = next(iter(found.values()), None)
        if first is None:
            rules = self.now
            return ModuleRules(
                rules, {name: read_kept(path) for name in FILES if (path := getattr(rules, name))}
            ).finding()
        for module in different[1:]:
            if found[module] != first:
                raise UnclearRulesError(_different(different[0], first, module, found[module]))
        return first


def _of_module(rules: Rules) -> Rules:
    """Return the rules that can be those of one module only. The others are the same for the class."""
    return dataclasses.replace(rules, roster=None, name=None, section=None)


def _different(one: str, first: ModuleRules, other: str, second: ModuleRules) -> str:
    """Return why two modules cannot be graded together."""
    before, after = first.rules.as_options(), second.rules.as_options()
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    what = " and ".join(names) or "files of the same name"
    fix = "Grade one of them at a time with --module, or give the options again for both"
    return f"{one} and {other} were graded with different {what}. {fix}"
