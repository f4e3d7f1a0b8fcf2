"""The tables of tests/data/: `python -m tests.case_tables` writes a README.md into each family, and one of them all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from tests.cases import FAMILIES, FOLDER, Case, about_group, cases

README = "README.md"
HEAD = """# Submissions whose verdict is known

Each folder is a family. Its README.md lists what each case shows, and its verdict. `tests/cases.py` reads all of them
and says how a case is written. After a change, `python -m tests.case_tables` writes the tables again.

| family | cases | what they are |
|---|---|---|
"""
REST = """
`attack_prelude.py` is what every attack begins with, `cheat_bases/` what most cheats of a module keep of a right
submission. `courses/` has [small courses](courses/README.md).
"""


def written() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each table."""
    rows = [
        f"| [{name}]({name}/{README}) | {len(cases(name))} | {family.about}. |" for name, family in FAMILIES.items()
    ]
    yield README, HEAD + "\n".join(rows) + "\n" + REST
    for name in FAMILIES:
        yield f"{name}/{README}", _table(name)


def _table(name: str) -> str:
    family, found = FAMILIES[name], cases(name)
    head = f"# {len(found)} {name}\n\n{family.about}.\n"
    if family.expected:
        rows = [_row(name, group, list(members)) for group, members in groupby(found, lambda case: case.group)]
        head += f"\nExpected of each: {family.expected}.\n"
        return f"{head}\n| file | cases | what they show |\n|---|---|---|\n{''.join(rows)}"
    lines = [f"| {case.group} | {case.name} | {_text(case.shows)} | {case.expected} |\n" for case in found]
    return f"{head}\n| file | case | what it shows | expected |\n|---|---|---|---|\n{''.join(lines)}"


def _row(family: str, group: str, members: list[Case]) -> str:
    file = FOLDER / family / f"{group}.py"
    about = f"{about_group(file)} " if file.is_file() and about_group(file) else ""
    return f"| {group} | {len(members)} | {_text(about + '; '.join(case.shows for case in members))} |\n"


def _text(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


if __name__ == "__main__":
    for path, text in written():
        (FOLDER / path).write_text(text, encoding="utf-8")
