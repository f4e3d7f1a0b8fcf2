"""The tables of `docs/authoring-reference.md`, written again from the code: `python -m cli.author.authoring_reference`.

The page has words by hand between the tables. A table stands between two comments, the first with its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.complexity.arguments import KINDS
from grader.complexity.contract import METERS
from grader.complexity.contract_reader import KEYS

PAGE = Path(__file__).parent.parent.parent / "docs" / "authoring-reference.md"
_TABLE = re.compile(r"(<!-- table: (?P<name>[a-z ]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def with_tables(page: str) -> str:
    """Return the page with every table as the code has it now."""
    return _TABLE.sub(lambda found: f"{found[1]}\n{_written(TABLES[found['name']]())}\n{found[3]}", page)


def _keys() -> Iterator[tuple[str, str]]:
    yield "key", "says"
    yield from ((f"`{key}`", meaning) for key, meaning in KEYS.items())


def _kinds() -> Iterator[tuple[str, str]]:
    yield "argument", "is"
    yield from ((f"`{kind.form}`", kind.meaning) for kind in KINDS.values())


def _meters() -> Iterator[tuple[str, str]]:
    yield "meter", "counts"
    yield from ((f"`{meter}`", meaning) for meter, meaning in METERS.items())


TABLES: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "keys of a contract": _keys,
    "kinds of arguments": _kinds,
    "meters": _meters,
}


def _written(rows: Iterator[tuple[str, str]]) -> str:
    head, *others = ((cell.replace("|", r"\|") for cell in row) for row in rows)
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ("---", "---"), *others))


def main() -> None:
    """Write the tables again."""
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
