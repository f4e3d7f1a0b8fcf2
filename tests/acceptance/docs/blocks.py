"""The fenced blocks of the documentation.

A block of commands is run by `running.py`. An HTML comment just above it may say what cannot be seen on the page:
`<!-- not run: why -->`, or `<!-- by hand: command -->` for what the reader does between two blocks without being told
the command. A block that begins with ```python file=solutions/… is the text of that file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.conftest import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", *(f"docs/{p.name}" for p in sorted(ROOT.glob("docs/*.md"))))
SHELL = {"sh", "bash", "shell", "console", "zsh"}
OTHERS = {"text", "json", "toml", "python", "markdown", "mermaid", "sql"}
_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")
_NOTE = re.compile(r"^<!-- (?P<kind>not run|by hand): (?P<words>.+) -->$")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_STATUS = re.compile(r"#.*\bexit status (\d)")


@dataclass(frozen=True)
class Command:
    """One command of a block, on one or more lines, and the exit status that its comment announces."""

    text: str
    line: int
    status: int


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: str
    line: int
    language: str
    file: str
    text: str
    above: str
    not_run: str
    by_hand: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_shell(self) -> bool:
        return self.language in SHELL

    @property
    def commands(self) -> Iterator[Command]:
        """The commands of a shell block; in a console block they follow a $, and the rest is output."""
        lines = iter(enumerate(self.text.splitlines(), self.line + 1))
        for number, line in lines:
            if self.language == "console" and not line.startswith("$ "):
                continue
            text = line.removeprefix("$ ") if self.language == "console" else line
            while text.endswith("\\"):
                text += "\n" + next(lines)[1]
            if ends := _HEREDOC.search(text):
                while text.rpartition("\n")[2] != ends[1]:
                    text += "\n" + next(lines)[1]
            if text.strip() and not text.lstrip().startswith("#"):
                said = _STATUS.search(text)
                yield Command(text, number, int(said[1]) if said else 0)


def blocks_of(page: str, text: str | None = None) -> list[Block]:
    """Return the blocks of a page, in order; a fence that is not closed is an error."""
    found: list[Block] = []
    lines = ((ROOT / page).read_text(encoding="utf-8") if text is None else text).splitlines()
    numbered = iter(enumerate(lines, 1))
    for number, line in numbered:
        if (fence := _FENCE.match(line)) is None:
            continue
        inside: list[str] = []
        for _, content in numbered:
            if content.strip() == "```":
                break
            inside.append(content.removeprefix(fence["indent"]))
        else:
            raise ValueError(f"{page}:{number}: this block is never closed")
        notes, above = _notes(lines[: number - 1])
        language, _, rest = fence["info"].strip().partition(" ")
        found.append(
            Block(
                page,
                number,
                language,
                rest.removeprefix("file=") if rest.startswith("file=") else "",
                "".join(f"{one}\n" for one in inside),
                above,
                next((words for kind, words in notes if kind == "not run"), ""),
                tuple(words for kind, words in notes if kind == "by hand"),
            )
        )
    return found


def _notes(before: list[str]) -> tuple[list[tuple[str, str]], str]:
    """Return the comments just above a block, and the paragraph above them."""
    notes: list[tuple[str, str]] = []
    while before and (not before[-1].strip() or _NOTE.match(before[-1])):
        if note := _NOTE.match(before.pop()):
            notes.insert(0, (note["kind"], note["words"]))
    paragraph: list[str] = []
    while before and before[-1].strip():
        paragraph.insert(0, before.pop())
    return notes, "\n".join(paragraph)


def all_blocks() -> list[Block]:
    """Return every block of every page."""
    return [block for page in PAGES for block in blocks_of(page)]


def inline_code(page: str) -> Iterator[str]:
    """Yield the inline code of a page, outside of its blocks."""
    text = re.sub(r"(?ms)^ *```.*?^ *```$", "", (ROOT / page).read_text(encoding="utf-8"))
    for found in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
        yield " ".join(found[1].split())
