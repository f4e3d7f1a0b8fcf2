"""What a student's file has of its own: the shape of its code without names and layout, and its own words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from grader.core.syntax import parse

GRAM = 16  # tokens in a row that must be the same
WINDOW = 6  # grams of which one is kept: winnowing finds every shared run of GRAM + WINDOW - 1 tokens
SHORTEST = 40  # tokens of a function: a shorter one has only few right forms
FEWEST_WORDS, FEWEST_LETTERS = 4, 16  # of a line of a comment or text that says something
LINE = 12  # characters of a line of code that counts where two files are the same
MOST = 200_000  # characters of a file that is compared: more is no work of a student, and takes long to parse
_PRIME, _BASE = (1 << 61) - 1, 1_000_003
_FIRST = pow(_BASE, GRAM, _PRIME)  # the weight of the token that leaves a gram
_NAME, _ATTRIBUTE = "name ", "attribute "  # mark a token that may be a chosen name
_CHOSEN = "v"
_COMMENT = re.compile(r"#(.*)")
_MAGIC = re.compile(r"^([ \t]*)(?:[%!].*|.*\?[ \t]*)$", re.MULTILINE)  # a line that only a notebook understands
_WORD = re.compile(r"\w+")
_LEFT_OUT = frozenset(("returns", "annotation", "type_comment", "type_params"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


@dataclass(frozen=True)
class Prints:
    """Numbers that stand for parts of a file. `file` is the same for two files with the same text.

    The parts are runs of code, lines of comments and texts, chosen names, and lines as they were written.
    """

    file: int = 0
    code: frozenset[int] = frozenset()
    texts: frozenset[int] = frozenset()
    names: frozenset[int] = frozenset()
    lines: frozenset[int] = frozenset()


def prints_of(cells: Sequence[str]) -> Prints:
    """Return the prints of a file, or of the cells of a notebook. What is not Python has no code and no names.

    Of a huge file, only the text counts: parsing it would take long, and no student writes so much by hand.
    """
    lines = [line for cell in cells for each in cell.splitlines() if (line := each.strip())]
    file = _number.__wrapped__("\n".join(lines))  # no cache for whole files
    if sum(map(len, cells)) > MOST:
        return Prints(file)
    reader = _Reader([tree for cell in cells if (tree := _tree(cell)) is not None])
    code = {gram for part in reader.parts if len(part) >= SHORTEST for gram in _winnowed(reader.shown(part))}
    comments = (match[1] for cell in cells for match in _COMMENT.finditer(cell))
    texts = {_number(line) for text in (*comments, *reader.texts) for line in _said(text)}
    names = {_number(name) for name in reader.chosen if len(name) > 1}
    return Prints(
        file,
        frozenset(code),
        frozenset(texts),
        frozenset(names),
        frozenset(_number(line) for line in lines if len(line) >= LINE),
    )


def texts_of(text: str) -> frozenset[int]:
    """Return the prints of the lines of a text, such as a lesson."""
    return frozenset(map(_number, _said(text)))


@lru_cache(maxsize=1 << 14)  # most words of a class are the same
def _number(text: str) -> int:
    """Return the same number for a text in every run, so that the list is the same, too."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest(), "big")


def _tree(cell: str) -> ast.Module | None:
    """Return a cell as a tree, without the lines that only a notebook understands; None if it is not Python."""
    for text in (cell, _MAGIC.sub(r"\1pass", cell)):
        try:
            return parse(text)
        except SyntaxError:
            continue
        except (ValueError, RecursionError, MemoryError):
            return None
    return None


def _said(text: str) -> Iterator[str]:
    """Yield each line of a text as its words, if it has some."""
    for line in text.splitlines():
        words = _WORD.findall(line.lower())
        if len(words) >= FEWEST_WORDS and sum(map(len, words)) >= FEWEST_LETTERS:
            yield " ".join(words)


class _Reader:
    """Reads the trees of a file: the tokens of each function, and the names and texts that its author chose."""

    def __init__(self, trees: Sequence[ast.Module]) -> None:
        self._own: set[str] = set()
        self._attributes: set[str] = set()  # that the author chose
        self.texts: list[str] = []
        self.parts: list[list[str]] = []
        self._modules: dict[str, str] = {}
        for tree in trees:
            self._read(tree)

    @property
    def chosen(self) -> set[str]:
        """The names that the author chose."""
        return self._own | self._attributes

    def shown(self, part: Sequence[str]) -> list[str]:
        """Return the tokens of a part with the same word for every chosen name."""
        return [self._shown(token) for token in part]

    def _shown(self, token: str) -> str:
        if token.startswith(_NAME):
            name = token.removeprefix(_NAME)
            return _CHOSEN if name in self._own else self._modules.get(name, name)
        if token.startswith(_ATTRIBUTE):
            name = token.removeprefix(_ATTRIBUTE)
            return _CHOSEN if name in self._attributes else name
        return token

    def _read(self, tree: ast.Module) -> None:
        """Collect the tokens in order. A function inside another one belongs to it; a method is a part of its own."""
        outside: list[str] = []
        self.parts.append(outside)
        todo: list[tuple[ast.AST, list[str]]] = [(tree, outside)]
        while todo:
            node, part = todo.pop()
            if isinstance(node, _FUNCTIONS) and part is outside:
                part = []
                self.parts.append(part)
            inside = self._noted(node, part)
            todo += [(one, part) for one in reversed(inside)]

    def _noted(self, node: ast.AST, part: list[str]) -> list[ast.AST]:
        """Add the token of a node to its part, and return the nodes in it."""
        if isinstance(node, ast.Name):
            part.append(_NAME + node.id)
            if isinstance(node.ctx, ast.Store):
                self._own.add(node.id)
            return []
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self.texts.append(node.value)
            part.append(_constant(node.value))
            return []
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._modules |= {one.asname or one.name.split(".")[0]: one.name for one in node.names}
            return []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            self.texts += [node.value.value] if isinstance(node.value.value, str) else []
            return []
        return self._of_others(node, part)

    def _of_others(self, node: ast.AST, part: list[str]) -> list[ast.AST]:
        """Add the kind of a node and the names in it."""
        part.append(type(node).__name__)
        inside: list[ast.AST] = []
        for field in node._fields:
            value = None if field in _LEFT_OUT else getattr(node, field, None)
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, str):
                    part.append(self._named(node, one))
                elif isinstance(one, ast.AST) and not isinstance(one, ast.expr_context):
                    inside.append(one)
        return inside

    def _named(self, node: ast.AST, name: str) -> str:
        """Return the token of a name in a node that is no variable, and note who chose it."""
        if isinstance(node, ast.keyword):
            return name
        if not isinstance(node, ast.Attribute):
            self._own.add(name)
            self._attributes |= {name} if isinstance(node, _DEFINITIONS) else set()
            return _CHOSEN
        if isinstance(node.ctx, ast.Store):
            self._attributes.add(name)
        return _ATTRIBUTE + name


def _constant(value: object) -> str:
    """Return the token of a constant. Python writes no integer of thousands of digits in decimal."""
    if isinstance(value, str):
        return "s"
    return hex(value) if type(value) is int else repr(value)


def _winnowed(tokens: Sequence[str]) -> Iterator[int]:
    """Yield the smallest gram of each window of grams."""
    grams, gram = [], 0
    for at, token in enumerate(tokens):
        gram = (gram * _BASE + _number(token)) % _PRIME
        if at >= GRAM:
            gram = (gram - _number(tokens[at - GRAM]) * _FIRST) % _PRIME
        if at >= GRAM - 1:
            grams.append(gram)
    last = -1
    for at in range(len(grams) - WINDOW + 1):
        if last < at:  # the smallest has left the window
            last = min(range(at, at + WINDOW), key=grams.__getitem__)
        elif grams[at + WINDOW - 1] < grams[last]:
            last = at + WINDOW - 1
        else:
            continue
        yield grams[last]
