"""What a student types and reads on the way through modules 01 to 04, with three mistakes in each.

`python -m tests.acceptance.journey.effort [TREE]` goes the way twice, with single commands and with `attn watch`, and
prints the counts. TREE is another checkout to compare with; its watch completes a module with c and then n.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.course.course import Course, read_course
from grader.course.module import Module
from tests.acceptance.journey.student import WIDTH
from tests.acceptance.journey.terminal import Terminal

ROOT = Path(__file__).parents[3]
ROWS = 24
MISTAKES: Mapping[str, tuple[str, str, str]] = {
    "01_softmax": ("whole_array", "log_of_base_two", "multiplies_by_temperature"),
    "02_loop_attention": ("zip_stops_early", "no_scaling", "mask_ignored"),
    "03_attention": ("k_t_reverses_all_axes", "softmax_over_queries", "mask_inverted"),
    "04_masks": ("causal_upper_triangle", "padding_true_is_blocked", "mask_after_softmax"),
}
_COMMAND = "import sys; sys.path.insert(0, {root!r}); from cli.main import main; main()"
_LAST = "q quit"


@dataclass
class Effort:
    """What was typed, and the rows of every screen; `unnamed` are mistakes whose screen does not have their name."""

    commands: int = 0
    keys: int = 0
    screens: list[int] = field(default_factory=list)
    wide: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)

    def reads(self, text: str) -> str:
        """Count a screen."""
        lines = text.strip("\n").splitlines()
        self.screens.append(len(lines))
        self.wide += [line for line in lines if len(line) > WIDTH and "AttnLab in" not in line]
        return text

    def looks_for(self, mistake: str, text: str) -> None:
        """Note a mistake that is not named."""
        self.unnamed += [] if f"({mistake})" in " ".join(text.split()) else [mistake]

    def __str__(self) -> str:
        """Return the counts in a line."""
        long = sum(rows > ROWS for rows in self.screens)
        return (
            f"{self.commands} commands, {self.keys} keys, {len(self.screens)} screens, {sum(self.screens)} rows, "
            f"the longest {max(self.screens)}, {long} over {ROWS}; not named: {', '.join(self.unnamed) or 'none'}"
        )


@dataclass(frozen=True)
class Way:
    """The way through the modules of a checkout, in a workspace of its own."""

    tree: Course
    bundle: Course

    def with_commands(self) -> Effort:
        """Go the way with a command for each step."""
        effort = Effort()
        self._runs(effort)
        for module in self._modules():
            self._runs(effort, "start", module.slug)
            for mistake, wrong in self._wrong(module):
                module.stub.write_text(wrong, encoding="utf-8")
                effort.looks_for(mistake, self._runs(effort, "test", module.slug))
            shutil.copy(self.tree.solution(self.tree.module(module.name)), module.stub)
            self._runs(effort, "test", module.slug)
            self._runs(effort, "complete", module.slug)
        return effort

    def with_watch(self, go_on: str) -> Effort:
        """Go the way in `attn watch`; `go_on` are the keys from full marks to the next module."""
        effort = Effort(commands=1)
        terminal = self._terminal("watch")
        terminal.expect(_LAST)
        terminal.expect(_LAST)
        for module in self._modules():
            for mistake, wrong in self._wrong(module):
                effort.looks_for(mistake, self._saves(effort, terminal, module, wrong))
            right = self.tree.solution(self.tree.module(module.name)).read_text(encoding="utf-8")
            self._saves(effort, terminal, module, right)
            for key in go_on:
                start = len(terminal.text)
                effort.keys += 1
                terminal.type(key)
                terminal.expect(_LAST)
                shown = terminal.text[start:]
                effort.reads(shown[max(shown.rfind(f"{module.name} · "), 0) :])  # before it, the screen was cleared
        terminal.type("q")
        effort.keys += 1
        terminal.finish()
        return effort

    def _modules(self) -> list[Module]:
        return [self.bundle.module(name) for name in MISTAKES]

    def _wrong(self, module: Module) -> Iterator[tuple[str, str]]:
        """Yield the mistakes in a module, each with a complete file that has it."""
        own = self.tree.module(module.name)
        ways = {one.name: one for one in read_misconceptions(self.tree, own)}
        for name in MISTAKES[module.name]:
            (text,) = as_submission(self.tree, own, ways[name]).sources[module.slug].cells
            yield name, text

    def _terminal(self, *arguments: str) -> Terminal:
        root = str(self.tree.root)
        command = [sys.executable, "-c", _COMMAND.format(root=root), *arguments]
        return Terminal(command, self.bundle.root, {"PYTHONPATH": root, "ATTN_WARM": "0"})

    def _runs(self, effort: Effort, *arguments: str) -> str:
        terminal = self._terminal(*arguments)
        terminal.finish()
        effort.commands += 1
        return effort.reads(_last_of_each_line(terminal.text))

    def _saves(self, effort: Effort, terminal: Terminal, module: Module, text: str) -> str:
        """Save a file and return the screen that comes."""
        module.stub.write_text(text, encoding="utf-8")
        terminal.expect(f"{module.name} · ")
        start = terminal.text.rindex(f"{module.name} · ")
        terminal.expect(_LAST)
        return effort.reads(terminal.text[start:])


def _last_of_each_line(text: str) -> str:
    """Return what stays on the screen where a line was rewritten in place."""
    return re.sub(r"[^\n]*\r(?!\n)", "", text)


def way_in(tree: Path, folder: Path) -> Way:
    """Return the way through a checkout, in a new workspace in a folder."""
    shutil.copytree(tree / "modules", folder / "modules", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(tree / "course.toml", folder)
    return Way(read_course(tree), read_course(folder))


def main() -> None:
    """Print what both ways cost."""
    tree = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    for name in ("commands", "watch"):
        with tempfile.TemporaryDirectory() as folder:
            way = way_in(tree, Path(folder))
            effort = way.with_commands() if name == "commands" else way.with_watch("n" if tree == ROOT else "cn")
            sys.stdout.write(f"{name}: {effort}\n")


if __name__ == "__main__":
    main()
